package main

// The numbers are the same on every backend and with any number of threads.
func Example() {
	main()
	// Output:
	// step  1  cost 1.3089
	// step  2  cost 1.0120
	// step  3  cost 0.9451
	// step  4  cost 0.9138
	// step  5  cost 0.8947
	// step  6  cost 0.8812
	// step  7  cost 0.8708
	// step  8  cost 0.8623
	// step  9  cost 0.8550
	// step 10  cost 0.8486
	// final w, first five: [-0.4824 -0.1606  1.5042  0.4561  0.5061]
	// final b: -0.0916
	// target:     [0 0 0 1]
	// prediction: [0 0 0 1]
}
