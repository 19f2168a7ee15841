package main

import (
	"math/rand/v2"
	"strings"
)

// A noun is an English noun with its translation and the translation's gender.
type noun struct {
	word, other string
	feminine    bool
}

// An adjective is an English adjective with its translations, masculine and feminine.
type adjective struct{ word, masculine, feminine string }

var (
	nouns = []noun{
		{"cat", "chat", false}, {"dog", "chien", false}, {"house", "maison", true}, {"book", "livre", false},
		{"table", "table", true}, {"bird", "oiseau", false}, {"car", "voiture", true}, {"tree", "arbre", false},
		{"door", "porte", true}, {"garden", "jardin", false}, {"flower", "fleur", true}, {"king", "roi", false},
	}
	adjectives = []adjective{
		{"black", "noir", "noire"}, {"green", "vert", "verte"}, {"small", "petit", "petite"}, {"big", "grand", "grande"},
		{"old", "vieux", "vieille"}, {"white", "blanc", "blanche"},
	}
	verbs        = [][2]string{{"sees", "voit"}, {"finds", "trouve"}, {"likes", "aime"}, {"sells", "vend"}, {"paints", "peint"}, {"follows", "suit"}}
	adverbs      = [][2]string{{"today", "aujourdhui"}, {"often", "souvent"}, {"here", "ici"}, {"again", "encore"}}
	prepositions = [][2]string{{"with", "avec"}, {"behind", "derriere"}, {"without", "sans"}}
)

// Sentence returns a sentence and its translation into French words in the order of another grammar: the
// adverb comes first, the verb last, adjectives stand behind their nouns, and articles and adjectives
// have the noun's gender.
func Sentence(r *rand.Rand) (source, target []string) {
	subject, s := phrase(r)
	object, o := phrase(r)
	v := pick(r, verbs)
	source = append(append(subject, v[0]), object...)
	target = append(s, o...)
	if r.IntN(2) == 0 {
		p := pick(r, prepositions)
		place, l := phrase(r)
		source = append(append(source, p[0]), place...)
		target = append(append(target, p[1]), l...)
	}
	target = append(target, v[1])
	if r.IntN(2) == 0 {
		a := pick(r, adverbs)
		source = append(source, a[0])
		target = append([]string{a[1]}, target...)
	}
	return source, target
}

// phrase returns an article, perhaps adjectives, and a noun, and their translation.
func phrase(r *rand.Rand) (source, target []string) {
	n := pick(r, nouns)
	article := r.IntN(2)
	source = []string{[]string{"the", "a"}[article]}
	if n.feminine {
		target = []string{[]string{"la", "une"}[article], n.other}
	} else {
		target = []string{[]string{"le", "un"}[article], n.other}
	}
	for range r.IntN(3) {
		a := pick(r, adjectives)
		source = append(source, a.word)
		if n.feminine {
			target = append(target, a.feminine)
		} else {
			target = append(target, a.masculine)
		}
	}
	return append(source, n.word), target
}

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// The tokens that every vocabulary begins with.
const pad, unknown, begin, end = 0, 1, 2, 3

// A Vocabulary numbers the words of both languages.
type Vocabulary struct {
	Words   []string
	numbers map[string]int
}

// NewVocabulary returns all words of the grammar.
func NewVocabulary() *Vocabulary {
	v := &Vocabulary{numbers: map[string]int{}}
	add := func(words ...string) {
		for _, w := range words {
			if _, ok := v.numbers[w]; !ok {
				v.numbers[w] = len(v.Words)
				v.Words = append(v.Words, w)
			}
		}
	}
	add("<pad>", "<unknown>", "<begin>", "<end>", "the", "a", "le", "la", "un", "une")
	for _, n := range nouns {
		add(n.word, n.other)
	}
	for _, a := range adjectives {
		add(a.word, a.masculine, a.feminine)
	}
	for _, list := range [][][2]string{verbs, adverbs, prepositions} {
		for _, pair := range list {
			add(pair[:]...)
		}
	}
	return v
}

// Encode returns the numbers of words.
func (v *Vocabulary) Encode(words []string) []int {
	out := make([]int, len(words))
	for i, w := range words {
		n, ok := v.numbers[w]
		if !ok {
			n = unknown
		}
		out[i] = n
	}
	return out
}

// Decode returns the words of numbers as a text.
func (v *Vocabulary) Decode(tokens []int) string {
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = v.Words[t]
	}
	return strings.Join(words, " ")
}
