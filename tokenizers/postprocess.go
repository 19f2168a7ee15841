package tokenizers

// A postProcessor adds special tokens to encodings.
type postProcessor interface {
	// added returns the number of tokens that are added to one text, or to two.
	added(pair bool) int
	// process returns the encodings that are put together; texts are what each was encoded from.
	process(parts []*Encoding, texts []string, addSpecial bool) []*Encoding
}

type processorSequence []postProcessor

func (seq processorSequence) added(pair bool) int {
	n := 0
	for _, p := range seq {
		n += p.added(pair)
	}
	return n
}

func (seq processorSequence) process(parts []*Encoding, texts []string, addSpecial bool) []*Encoding {
	for _, p := range seq {
		parts = p.process(parts, texts, addSpecial)
	}
	return parts
}

// A template is a list of texts and special tokens, for one text and for two.
type template struct{ single, pair []templatePart }

// A templatePart is text number sequence, or special tokens where that is -1.
type templatePart struct {
	sequence, typeID int
	tokens           *Encoding
}

func (t template) parts(pair bool) []templatePart {
	if pair {
		return t.pair
	}
	return t.single
}

func (t template) added(pair bool) int {
	n := 0
	for _, p := range t.parts(pair) {
		if p.sequence < 0 {
			n += p.tokens.Len()
		}
	}
	return n
}

func (t template) process(parts []*Encoding, _ []string, addSpecial bool) []*Encoding {
	var out []*Encoding
	for _, p := range t.parts(len(parts) > 1) {
		if p.sequence < 0 {
			if addSpecial {
				out = append(out, p.tokens)
			}
			continue
		}
		if p.sequence >= len(parts) {
			continue
		}
		e := *parts[p.sequence]
		if p.typeID != p.sequence {
			e.TypeIDs = make([]int, e.Len())
			e.setTypes(p.typeID)
		}
		out = append(out, &e)
	}
	return out
}

// A namedToken is a token with its id, ["[SEP]", 102] in a file.
type namedToken struct {
	token string
	id    int
}

func (n namedToken) encoding(typeID int) *Encoding {
	return special([]int{n.id}, []string{n.token}, typeID)
}

// A bertProcessor makes [CLS] a [SEP] b [SEP].
type bertProcessor struct{ sep, cls namedToken }

func (b bertProcessor) added(pair bool) int {
	if pair {
		return 3
	}
	return 2
}

func (b bertProcessor) process(parts []*Encoding, _ []string, addSpecial bool) []*Encoding {
	if !addSpecial {
		return parts
	}
	out := []*Encoding{b.cls.encoding(0), parts[0], b.sep.encoding(0)}
	if len(parts) > 1 {
		out = append(out, parts[1], b.sep.encoding(1))
	}
	return out
}

// A robertaProcessor makes <s> a </s></s> b </s>, all of type 0.
type robertaProcessor struct {
	sep, cls         namedToken
	trim, addedSpace bool
}

func (r robertaProcessor) added(pair bool) int {
	if pair {
		return 4
	}
	return 2
}

func (r robertaProcessor) process(parts []*Encoding, texts []string, addSpecial bool) []*Encoding {
	for i, e := range parts {
		if r.trim && i < len(texts) {
			e.trim(texts[i], r.addedSpace)
		}
		e.setTypes(0)
		for _, o := range e.Overflowing {
			if addSpecial {
				o.setTypes(0)
			}
		}
	}
	if !addSpecial {
		return parts
	}
	out := []*Encoding{r.cls.encoding(0), parts[0], r.sep.encoding(0)}
	if len(parts) > 1 {
		out = append(out, r.sep.encoding(0), parts[1], r.sep.encoding(0))
	}
	return out
}

// A byteLevelProcessor trims offsets.
type byteLevelProcessor struct{ trim, addedSpace bool }

func (byteLevelProcessor) added(bool) int { return 0 }

func (b byteLevelProcessor) process(parts []*Encoding, texts []string, _ bool) []*Encoding {
	for i, e := range parts {
		if b.trim && i < len(texts) {
			e.trim(texts[i], b.addedSpace)
		}
	}
	return parts
}
