// Package hostile calls every exported function and method of the module with
// random and hostile arguments and demands a value, an error or a panic with
// *[weft.Error], soon, and nothing else. It is tests only; the doc comment of
// TestHostile tells how to run more calls, and one again.
package hostile
