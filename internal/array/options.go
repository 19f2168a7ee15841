package array

// Or returns *p, or def if p is nil: the value of an option whose default is not 0.
func Or[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}
