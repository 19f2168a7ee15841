package sym

// LeftOut are methods of tensors that variables do not have.
var LeftOut = leftOut

// MRGSamples are the first k numbers of n substreams of variable v of the seed 12345.
func MRGSamples(v, n, k int) [][]float64 {
	s := mrgState{12345, 12345, 12345, 12345, 12345, 12345}
	for range v {
		s = s.after(&step134)
	}
	out := make([][]float64, n)
	for i := range out {
		for sub := s; len(out[i]) < k; {
			out[i] = append(out[i], float64(sub.next())*norm)
		}
		s = s.after(&step72)
	}
	return out
}
