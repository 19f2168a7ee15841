package tokenizers

import "unicode/utf8"

// The classes of Grapheme_Cluster_Break in unicode.bin.
const (
	clusterOther = iota
	clusterCR
	clusterLF
	clusterControl
	clusterExtend
	clusterZWJ
	clusterRegional
	clusterPrepend
	clusterSpacing
	clusterL
	clusterV
	clusterT
	clusterLV
	clusterLVT
)

// graphemeEnd returns where the extended grapheme cluster that begins at start ends (UAX 29).
func graphemeEnd(s string, start int) int {
	r, n := utf8.DecodeRuneInString(s[start:])
	flags := flagsOf(r)
	at := start + n
	regional := 0
	// pictographic: an emoji and marks came last. conjunct: a consonant and marks did, with a linker if linked.
	pictographic, conjunct, linked := false, false, false
	for {
		class := flags >> clusterShift & clusterMask
		if class == clusterRegional {
			regional++
		} else {
			regional = 0
		}
		pictographic = flags&isPictographic != 0 || pictographic && (class == clusterExtend || class == clusterZWJ)
		switch {
		case flags&isConsonant != 0:
			conjunct, linked = true, false
		case flags&isLinker != 0:
			linked = true
		case flags&isConjunctExtend == 0:
			conjunct = false
		}
		if at == len(s) {
			return at
		}
		r, n = utf8.DecodeRuneInString(s[at:])
		next := flagsOf(r)
		if !joins(class, next, pictographic, conjunct && linked, regional%2 == 1) {
			return at
		}
		flags = next
		at += n
	}
}

// joins reports whether a character of class before and one of flags next are in one cluster.
func joins(before, next uint32, pictographic, linked, oddRegional bool) bool {
	after := next >> clusterShift & clusterMask
	switch {
	case before == clusterCR:
		return after == clusterLF
	case before == clusterLF || before == clusterControl || after == clusterCR || after == clusterLF || after == clusterControl:
		return false
	case before == clusterL && (after == clusterL || after == clusterV || after == clusterLV || after == clusterLVT),
		(before == clusterLV || before == clusterV) && (after == clusterV || after == clusterT),
		(before == clusterLVT || before == clusterT) && after == clusterT:
		return true
	case after == clusterExtend, after == clusterZWJ, after == clusterSpacing, before == clusterPrepend:
		return true
	case linked && next&isConsonant != 0:
		return true
	case before == clusterZWJ && pictographic && next&isPictographic != 0:
		return true
	}
	return before == clusterRegional && after == clusterRegional && oddRegional
}
