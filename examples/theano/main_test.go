package main

// The numbers are the same on every backend and with any number of threads.
func Example() {
	main()
	// Output:
	// Initial model:
	// [-1.8046 -1.0784 -1.4756  0.2281 -0.1731] 0.0000
	// Final model:
	// [-1.6716 -1.1582 -1.3588  0.2519 -0.1551] 0.1173
	// target values for D [1 0 1 0]
	// prediction on D     [1 0 1 0]
}
