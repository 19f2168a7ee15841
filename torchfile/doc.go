// Package torchfile reads and writes the files of torch.save: checkpoints of PyTorch, whose
// names end in .pt, .pth or .bin.
//
// Such a file holds a pickle, a program that makes Python objects, and the memory of tensors.
// [Load] runs no code of the file. It knows the containers of Python, PyTorch's tensors,
// and the numbers and arrays of NumPy, and makes Go values of them:
//
//	Python                                   Go
//	None, bool, str                          nil, bool, string
//	int                                      int64; *big.Int if that is too small
//	float, complex                           float64, complex128
//	bytes, bytearray                         []byte
//	list, tuple, set and frozenset           []any, [Tuple], [Set]
//	dict, OrderedDict, defaultdict, Counter  *[Dict]
//	torch.Tensor, Parameter                  *weft.Tensor; *[Raw] if weft lacks its element type
//	torch.Size, torch.device, torch.dtype    [Size], [Device], weft.DType
//	scalars and arrays of NumPy              as bool, int, float, complex; *weft.Tensor
//	a class or a function                    [Global], by its name
//	an object of any other class             *[Object], which is data alone
//
// Tensors that share memory in PyTorch share it here: a write through one shows in the other.
// Strides stay as they are. A Parameter requires gradients.
//
// [ReadFile] reads the tensors of a state dict by name, which is what nn.LoadState takes, and
// models.Load reads such files by itself.
//
// [WriteFile] writes a file that torch.load reads, also with weights_only=True.
//
// # Formats
//
// Both formats are read: the zip file that PyTorch writes since version 1.6, and the one before.
// TorchScript files and pickles of whole modules hold programs. They give a [*ModuleError], which
// says how to save the weights instead.
//
// # Bad input
//
// The reader trusts nothing. Memory and time are linear in the size of the file: values that are
// used twice are made once, containers that hold themselves and views beyond their memory
// are refused. Entries of the zip file may not be compressed, as PyTorch does not compress them.
// Names of entries are never names of files. Errors are *[FormatError], *[UnsupportedError] and
// *[ModuleError].
package torchfile
