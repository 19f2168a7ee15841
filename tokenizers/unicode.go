package tokenizers

import (
	_ "embed"
	"encoding/binary"
	"slices"
	"sync"
)

// What unicode.bin holds about a code point: five bits of category, four of grapheme cluster break, and properties.
// testdata/unicode.py writes the file and measures every table on Hugging Face's library, which draws on several
// versions of Unicode at once.
const (
	isSpace          = 1 << (10 + iota) // White_Space
	isNumeric                           // Nd, Nl, No
	isWord                              // \w of pre-tokenizer Whitespace and of single words
	isPunct                             // what BERT splits at
	isOther                             // controls, formats, private and unassigned code points, as BERT cleans them
	isNonspacing                        // Mn, as BERT strips accents
	isCombining                         // M, as StripAccents has it
	isRegexpSpace                       // \s of regular expressions
	isRegexpWord                        // \w of regular expressions
	isPictographic                      // Extended_Pictographic
	isLinker                            // Indic_Conjunct_Break=Linker
	isConsonant                         // Indic_Conjunct_Break=Consonant
	isConjunctExtend                    // Indic_Conjunct_Break=Extend
)

// categories are the names of the numbers in the lowest five bits.
var categories = []string{"Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
	"Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co"}

const (
	categoryMask = 1<<5 - 1
	clusterShift = 5
	clusterMask  = 1<<4 - 1
)

// isLetter and isNumber are \p{L} and \p{N} of regular expressions.
func isLetter(flags uint32) bool { return (flags&categoryMask)-1 < 5 }
func isNumber(flags uint32) bool { return (flags&categoryMask)-9 < 3 }

//go:embed unicode.bin
var unicodeFile []byte

// uni holds the tables after loadUnicode. Every Tokenizer is made after it.
var uni struct {
	pages        [0x1100]uint16 // index into blocks of code points that share all bits but the lowest eight
	blocks       [][256]uint32
	classes      []run // canonical combining classes
	scripts      []run
	lower        map[rune][]rune
	canonical    map[rune][]rune
	compatible   map[rune][]rune // where it differs from canonical
	compositions map[[2]rune]rune
	loadOnce     sync.Once
}

// A run says that code points from the end of the run before it to end, exclusive, have a value.
type run struct {
	end   rune
	value uint32
}

// flagsOf returns category and properties of r.
func flagsOf(r rune) uint32 {
	if uint32(r) > 0x10FFFF {
		return 0
	}
	return uni.blocks[uni.pages[uint32(r)>>8]][uint8(r)]
}

func valueIn(runs []run, r rune) uint32 {
	i, _ := slices.BinarySearchFunc(runs, r, func(x run, r rune) int {
		if x.end <= r {
			return -1
		}
		return 1
	})
	if i == len(runs) {
		return 0
	}
	return runs[i].value
}

// combiningClass returns the canonical combining class of r.
func combiningClass(r rune) uint32 {
	if r < 0x300 {
		return 0
	}
	return valueIn(uni.classes, r)
}

// scriptOf numbers scripts; 0 is none.
func scriptOf(r rune) uint32 { return valueIn(uni.scripts, r) }

func loadUnicode() {
	uni.loadOnce.Do(func() {
		data := unicodeFile
		next := func() uint32 {
			v, n := binary.Uvarint(data)
			data = data[n:]
			return uint32(v)
		}
		readRuns := func() []run {
			runs := make([]run, next())
			end := rune(0)
			for i := range runs {
				end += rune(next())
				runs[i] = run{end, next()}
			}
			return runs
		}
		readMappings := func() map[rune][]rune {
			n := next()
			table := make(map[rune][]rune, n)
			at := rune(0)
			for range n {
				at += rune(next())
				to := make([]rune, next())
				for i := range to {
					to[i] = rune(next())
				}
				table[at] = to
			}
			return table
		}
		buildBlocks(readRuns())
		uni.classes, uni.scripts = readRuns(), readRuns()
		uni.lower, uni.canonical, uni.compatible = readMappings(), readMappings(), readMappings()
		n := next()
		uni.compositions = make(map[[2]rune]rune, n)
		for range n {
			pair := [2]rune{rune(next()), rune(next())}
			uni.compositions[pair] = rune(next())
		}
	})
}

// buildBlocks fills pages and blocks from runs of flags; equal blocks are stored once.
func buildBlocks(runs []run) {
	known := map[[256]uint32]uint16{}
	var block [256]uint32
	at := 0
	for page := range uni.pages {
		for i := range block {
			for rune(page<<8|i) >= runs[at].end {
				at++
			}
			block[i] = runs[at].value
		}
		n, ok := known[block]
		if !ok {
			n = uint16(len(uni.blocks))
			known[block] = n
			uni.blocks = append(uni.blocks, block)
		}
		uni.pages[page] = n
	}
}
