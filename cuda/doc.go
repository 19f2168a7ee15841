// Package cuda makes NVIDIA's GPUs known to weft. A program imports it for its effect:
//
//	import _ "weft/cuda"
//
// It is a module of its own. While neither module has a public address, a program's go.mod names its
// folder beside that of weft:
//
//	go mod edit -require weft/cuda@v0.0.0 -replace weft/cuda=../weft/cuda
//
// It needs a driver of CUDA 12.0 or newer and a GPU of compute capability 8.0 or newer. No
// toolkit and no C compiler is needed: the package loads the driver's library at run time, without
// cgo. That is libcuda.so.1 on Linux, from the loader's path or one of the usual folders, and
// nvcuda.dll on Windows. Programs that import it are linked dynamically on Linux, against glibc.
//
// The import itself touches no driver. The first use of a device does; where there is no driver
// or no GPU, that use fails with an error that says what was looked for and where, and everything
// else runs as before.
package cuda
