package tokenizers_test

import (
	"fmt"
	"os"
	"path/filepath"

	"weft/tokenizers"
)

// A small BERT: [CLS] and [SEP] around words, which it splits into pieces.
const bert = `{
	"normalizer": {"type": "BertNormalizer"},
	"pre_tokenizer": {"type": "BertPreTokenizer"},
	"post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]},
	"decoder": {"type": "WordPiece", "prefix": "##"},
	"added_tokens": [{"id": 1, "content": "[CLS]", "special": true}, {"id": 2, "content": "[SEP]", "special": true}],
	"model": {"type": "WordPiece", "vocab": {"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "weav": 3, "##ing": 4, "!": 5, "cafe": 6, "the": 7}}}`

func Example() {
	t, err := tokenizers.Parse([]byte(bert))
	if err != nil {
		panic(err)
	}
	text := "Weaving the Café!"
	e, err := t.Encode(text)
	if err != nil {
		panic(err)
	}
	fmt.Println(e.IDs)
	for i, o := range e.Offsets {
		fmt.Printf("%s=%q\n", e.Tokens[i], text[o.Start:o.End])
	}
	fmt.Println(t.Decode(e.IDs))
	// Output:
	// [1 3 4 7 6 5 2]
	// [CLS]=""
	// weav="Weav"
	// ##ing="ing"
	// the="the"
	// cafe="Café"
	// !="!"
	// [SEP]=""
	// weaving the cafe!
}

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "tokenizers")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "tokenizer.json")
	if err := os.WriteFile(path, []byte(bert), 0o600); err != nil {
		panic(err)
	}
	t, err := tokenizers.Load(path) // or the folder
	if err != nil {
		panic(err)
	}
	fmt.Println(t.VocabSize())
	// Output: 8
}

// A question and a long context: the context is cut, and its parts overlap by a token.
func ExampleTokenizer_EncodePair() {
	t, _ := tokenizers.Parse([]byte(bert))
	e, err := t.EncodePair("the café!", "weaving weaving", tokenizers.EncodeOpts{
		Truncation: &tokenizers.Truncation{MaxLength: 9, Strategy: tokenizers.OnlySecond, Stride: 1},
	})
	if err != nil {
		panic(err)
	}
	for _, part := range append([]*tokenizers.Encoding{e}, e.Overflowing...) {
		fmt.Println(part.Tokens, part.TypeIDs)
	}
	// Output:
	// [[CLS] the cafe ! [SEP] weav ##ing weav [SEP]] [0 0 0 0 0 1 1 1 1]
	// [[CLS] the cafe ! [SEP] weav ##ing [SEP]] [0 0 0 0 0 1 1 1]
}

func ExampleTokenizer_EncodeBatch() {
	t, _ := tokenizers.Parse([]byte(bert))
	batch, err := t.EncodeBatch([]string{"weaving!", "the café"}, tokenizers.EncodeOpts{
		Padding:    &tokenizers.Padding{Token: "[PAD]"},
		Truncation: &tokenizers.Truncation{MaxLength: 8},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(batch.IDs())
	fmt.Println(batch.AttentionMask())
	// Output:
	// [[1 3 4 5 2]
	//  [1 7 6 2 0]]
	// [[1 1 1 1 1]
	//  [1 1 1 1 0]]
}

func ExampleTokenizer_DecodeStream() {
	t, _ := tokenizers.Parse([]byte(bert))
	stream := t.DecodeStream()
	for _, id := range []int{1, 7, 3, 4, 5, 2} { // as a model gives them
		fmt.Printf("%q ", stream.Step(id))
	}
	fmt.Printf("%q\n", stream.Flush())
	// Output:
	// "" "the" " weav" "ing" "!" "" ""
}
