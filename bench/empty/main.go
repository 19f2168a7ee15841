// Command empty does nothing. It is the Go program that the start-up of weft is
// compared with: what is left of its time is the operating system and the Go
// runtime.
package main

func main() {}
