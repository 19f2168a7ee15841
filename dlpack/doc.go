// Package dlpack exchanges tensors with C libraries in the same process without copying: it
// lays DLPack's structs out in memory, and reads structs of others. It loads no library and
// needs no cgo; how a pointer gets to the other side, and a C function is called, is up to
// a library for that, such as purego.
//
//	m, err := dlpack.Export(x, dlpack.ExportOpts{})
//	consume(m.Pointer())        // a C function that takes a DLManagedTensorVersioned*
//
//	y, err := dlpack.Import(p, dlpack.ImportOpts{Delete: func(deleter, self unsafe.Pointer) {
//		purego.SyscallN(uintptr(deleter), uintptr(self))
//	}})
//
// The structs are DLPack 1.0's with its flags, and the older DLManagedTensor. Tensors are
// in host memory (kDLCPU). All fifteen element types have a counterpart.
//
// The deleter that an exported struct has is a few bytes of machine code, which notes that it
// was called; memory goes a little later. It may be called by any thread, at any time.
package dlpack
