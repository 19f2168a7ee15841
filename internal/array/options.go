package array

// Or returns *p, or def if p is nil: the value of an option whose default is not 0.
func Or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

// Options returns the options of a call, or the zero value if opts is empty. It panics with *Error
// if opts has more than one element.
func Options[T any](op string, opts []T) (o T) {
	if len(opts) > 1 {
		Failf(op, "opts", "are %d structs, want one", len(opts))
	}
	if len(opts) == 1 {
		o = opts[0]
	}
	return o
}
