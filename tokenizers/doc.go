// Package tokenizers turns text into the ids that language models read, and ids into text, with the results of Hugging
// Face's library of that name.
//
// [Load] reads a tokenizer.json, or a folder that has one. Models are BPE (on characters, on bytes, with bytes as the
// last resort), WordPiece, Unigram and WordLevel, with every normalizer, pre-tokenizer, post-processor and decoder that
// the file format has.
//
// [Tokenizer.Encode] returns an [Encoding]: ids, the tokens that they stand for, the bytes of the text that each comes
// from, and masks. [Tokenizer.EncodeBatch] encodes many texts on all processors, padded and cut to one length, as
// tensors [batch, steps]. [Tokenizer.Decode] is the way back, [Tokenizer.DecodeStream] for one id at a time.
//
// # What is the same and what is not
//
// Ids, tokens, offsets, word ids, masks and decoded text equal the results of tokenizers 0.23.3. testdata/make.py makes
// tokenizers of the kinds of BERT, GPT-2, RoBERTa, Llama, T5, XLM-R, Whisper and CLIP, and texts of many scripts with
// random characters, and the tests compare all of it. What differs:
//   - Offsets are bytes, as Go slices text. [Encoding.RuneOffsets] returns the library's, which are characters.
//   - Text that is not UTF-8 is encoded with U+FFFD in the place of each byte that is not.
//   - Overflowing parts have no overflowing parts of their own. The library repeats some there.
//   - Dropout of merges, which is for training, is refused.
//
// The tables of characters are measured on the library, which follows several versions of Unicode at once.
package tokenizers
