package cuda

import (
	"fmt"
	"strings"
	"unsafe"

	"weft/internal/cudart"
)

// A proc is a function of the driver's library.
type proc int

const (
	cuInit proc = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetAttribute
	cuDeviceTotalMem
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuModuleLoadDataEx
	cuModuleGetFunction
	cuModuleUnload
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuStreamCreateWithPriority
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamWaitEvent
	cuLaunchKernel
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemsetD8Async
	cuMemsetD16Async
	cuMemsetD32Async
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventQuery
	cuEventSynchronize
	cuEventElapsedTime
	nProcs
)

// symbols are the names in the library. A suffix _v2 stands for sizes and addresses of 64 bits:
// the macros of cuda.h append it where the plain name takes 32.
var symbols = [nProcs]string{
	cuInit: "cuInit", cuDriverGetVersion: "cuDriverGetVersion",
	cuGetErrorName: "cuGetErrorName", cuGetErrorString: "cuGetErrorString",
	cuDeviceGetCount: "cuDeviceGetCount", cuDeviceGet: "cuDeviceGet", cuDeviceGetName: "cuDeviceGetName",
	cuDeviceGetAttribute: "cuDeviceGetAttribute", cuDeviceTotalMem: "cuDeviceTotalMem_v2",
	cuDevicePrimaryCtxRetain: "cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRelease: "cuDevicePrimaryCtxRelease_v2",
	cuCtxSetCurrent: "cuCtxSetCurrent", cuMemGetInfo: "cuMemGetInfo_v2", cuMemAlloc: "cuMemAlloc_v2", cuMemFree: "cuMemFree_v2",
	cuMemHostAlloc: "cuMemHostAlloc", cuMemFreeHost: "cuMemFreeHost",
	cuModuleLoadDataEx: "cuModuleLoadDataEx", cuModuleGetFunction: "cuModuleGetFunction", cuModuleUnload: "cuModuleUnload",
	cuFuncGetAttribute: "cuFuncGetAttribute", cuFuncSetAttribute: "cuFuncSetAttribute",
	cuStreamCreateWithPriority: "cuStreamCreateWithPriority", cuStreamDestroy: "cuStreamDestroy_v2",
	cuStreamSynchronize: "cuStreamSynchronize", cuStreamWaitEvent: "cuStreamWaitEvent", cuLaunchKernel: "cuLaunchKernel",
	cuMemcpyHtoDAsync: "cuMemcpyHtoDAsync_v2", cuMemcpyDtoHAsync: "cuMemcpyDtoHAsync_v2", cuMemcpyDtoDAsync: "cuMemcpyDtoDAsync_v2",
	cuMemsetD8Async: "cuMemsetD8Async", cuMemsetD16Async: "cuMemsetD16Async", cuMemsetD32Async: "cuMemsetD32Async",
	cuEventCreate: "cuEventCreate", cuEventDestroy: "cuEventDestroy_v2", cuEventRecord: "cuEventRecord",
	cuEventQuery: "cuEventQuery", cuEventSynchronize: "cuEventSynchronize", cuEventElapsedTime: "cuEventElapsedTime",
}

// A library is the driver's library in this process. It is never unloaded.
type library struct {
	addresses [nProcs]uintptr
}

// An absentError says that the driver's library was not found, or cannot be used.
type absentError struct{ msg string }

func (e *absentError) Error() string { return e.msg }

// openLibrary loads the first of the files that can be loaded and looks up what is called.
func openLibrary(files []string) (*library, error) {
	var failures []string // of files that are there
	for _, file := range files {
		handle, err := loadFile(file)
		if err != nil {
			if !strings.Contains(err.Error(), "No such file") {
				failures = append(failures, "; "+err.Error())
			}
			continue
		}
		l := new(library)
		for p, symbol := range symbols {
			if l.addresses[p] = lookUp(handle, symbol); l.addresses[p] == 0 {
				return nil, &absentError{fmt.Sprintf("the driver's library %s lacks %s: the driver is too old", file, symbol)}
			}
		}
		return l, nil
	}
	return nil, &absentError{"no library of NVIDIA's driver can be loaded: tried " + strings.Join(files, ", ") + strings.Join(failures, "")}
}

// call calls a function of the library. Pointers to Go memory are converted to uintptr in the
// call's own argument list, which keeps what they point to alive and in its place.
//
//go:uintptrescapes
func (l *library) call(p proc, args ...uintptr) error {
	if code := callAddress(l.addresses[p], args...); code != 0 {
		return l.failed(p, code)
	}
	return nil
}

// notReady is the answer of cuEventQuery to a question, not a failure. Who polls gets it often, so
// it is made once.
var notReady = &cudart.DriverError{Call: "cuEventQuery", Code: codeNotReady, Text: "CUDA_ERROR_NOT_READY"}

// failed makes the error of a call.
func (l *library) failed(p proc, code int32) *cudart.DriverError {
	if code == codeNotReady {
		return notReady
	}
	e := &cudart.DriverError{Call: symbols[p], Code: int(code), Text: "an error that the driver has no name for"}
	// Both functions write the address of a constant.
	var name, text *byte
	if callAddress(l.addresses[cuGetErrorName], uintptr(code), uintptr(unsafe.Pointer(&name))) == 0 && name != nil {
		e.Text = cString(name)
	}
	if callAddress(l.addresses[cuGetErrorString], uintptr(code), uintptr(unsafe.Pointer(&text))) == 0 && text != nil {
		e.Text += ": " + cString(text)
	}
	return e
}

// cString copies a string that ends with a zero byte.
func cString(p *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}
