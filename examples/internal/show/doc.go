// Package show is how the examples show a training: a line of progress on a terminal or
// in a log file, and a picture of the loss with room for what an example adds.
//
// The drawing is its own, on golang.org/x/image: a curve over a logarithmic axis, texts and
// dots. A plotting library would bring a dozen modules for it.
package show
