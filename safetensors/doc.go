// Package safetensors reads and writes the safetensors format: named tensors
// and a map of strings in one file.
//
// A file is the length of its header (8 bytes, little-endian), the header, which
// is a JSON object from names to dtype, shape and byte range, and the data:
// little-endian, row-major, each byte in exactly one tensor. [Write] produces,
// byte for byte, the file that the reference library would, with the keys of the
// metadata sorted; the same tensors always give the same bytes.
//
// Element types that weft has become tensors. Floats of 8 bits come as their bytes, in
// tensors of uint8; [File.Floats] converts them. [Map] leaves tensors in the file. Tensors of the other types of the format, which are F4 and F6, and of
// types that it may get, can be listed. Asking for one gives an [*UnsupportedError];
// [ReadFile] leaves them out and says so with a [*LeftOutError].
//
// The reader trusts nothing. These give a [*FormatError]: a header longer than 100 MB; JSON of
// any other form than the format's; a key given twice; a shape that overflows or does not match
// its byte range; ranges that overlap, leave holes or do not end with the file. A file that ends
// early gives an error that wraps io.ErrUnexpectedEOF. Memory is taken only for data that is
// there.
//
// The format is described at https://github.com/huggingface/safetensors.
package safetensors
