/* A stand-in for NVIDIA's driver that runs no kernel. It checks that each call has a current
   context, keeps "device" memory in the heap, and writes down what it is called with.
   With -DCUDA_H='"cuda.h"' the compiler holds each declaration to NVIDIA's. */
#ifdef CUDA_H
#include CUDA_H
#else
#include <stddef.h>
typedef int CUresult, CUdevice, CUdevice_attribute, CUfunction_attribute, CUjit_option;
typedef unsigned long long CUdeviceptr;
typedef struct c *CUcontext;
typedef struct m *CUmodule;
typedef struct f *CUfunction;
typedef struct s *CUstream;
typedef struct e *CUevent;
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 16];
static size_t used;
static const char *failing;
static int failure;
static __thread CUcontext current;

/* A note that has no room is left out. */
static void note(const char *format, ...) {
	static char lock;
	va_list a;
	va_start(a, format);
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {
	}
	if (used + 8192 < sizeof text) used += vsnprintf(text + used, 8192, format, a);
	__atomic_clear(&lock, __ATOMIC_RELEASE);
	va_end(a);
}

/* For the test. */
int fake_log(char *to, size_t n) {
	strncpy(to, text, n);
	used = 0;
	text[0] = 0;
	return 0;
}

int fake_fail(const char *call, int code) {
	failing = call;
	failure = code;
	return 0;
}

#define CONTEXT ((CUcontext)0xc0)
#define MAY_FAIL(call) \
	if (failing && !strcmp(failing, call)) return (CUresult)failure
#define ENTER(call)                                            \
	if (current != CONTEXT) return (CUresult)201;          \
	MAY_FAIL(call)

CUresult cuInit(unsigned int flags) {
	MAY_FAIL("cuInit");
	note("cuInit %u\n", flags);
	return 0;
}
CUresult cuDriverGetVersion(int *v) {
	*v = 12090;
	return 0;
}
CUresult cuGetErrorName(CUresult e, const char **p) {
	*p = e == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : e == 218 ? "CUDA_ERROR_INVALID_PTX" : NULL;
	return *p ? 0 : 1;
}
CUresult cuGetErrorString(CUresult e, const char **p) {
	*p = e == 2 ? "out of memory" : e == 218 ? "a PTX JIT compilation failed" : NULL;
	return *p ? 0 : 1;
}
CUresult cuDeviceGetCount(int *n) {
	MAY_FAIL("cuDeviceGetCount");
	*n = 2;
	return 0;
}
CUresult cuDeviceGet(CUdevice *d, int ordinal) {
	if (ordinal < 0 || ordinal > 1) return 101;
	*d = ordinal + 40;
	return 0;
}
CUresult cuDeviceGetName(char *name, int n, CUdevice d) {
	snprintf(name, n, "Fake %d", d);
	return 0;
}
CUresult cuDeviceGetAttribute(int *v, CUdevice_attribute a, CUdevice d) {
	*v = (int)a == 97 ? 232448 : 1000 * (int)a + d;
	return 0;
}
CUresult cuDeviceTotalMem_v2(size_t *n, CUdevice d) {
	*n = (5ul << 34) + d;
	return 0;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d) {
	*c = CONTEXT;
	note("retain %d\n", d);
	return 0;
}
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) {
	note("release %d\n", d);
	return 0;
}
CUresult cuCtxSetCurrent(CUcontext c) {
	current = c;
	return 0;
}
CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
	ENTER("cuMemGetInfo_v2");
	*free = 3ul << 33;
	*total = 5ul << 34;
	return 0;
}
CUresult cuMemAlloc_v2(CUdeviceptr *p, size_t n) {
	ENTER("cuMemAlloc_v2");
	note("alloc %zu\n", n);
	*p = (CUdeviceptr)calloc(1, n);
	return 0;
}
CUresult cuMemFree_v2(CUdeviceptr p) {
	ENTER("cuMemFree_v2");
	note("free\n");
	free((void *)p);
	return 0;
}
CUresult cuMemHostAlloc(void **p, size_t n, unsigned int flags) {
	ENTER("cuMemHostAlloc");
	note("pin %zu %u\n", n, flags);
	*p = calloc(1, n);
	return 0;
}
CUresult cuMemFreeHost(void *p) {
	ENTER("cuMemFreeHost");
	note("unpin\n");
	free(p);
	return 0;
}
CUresult cuModuleLoadDataEx(CUmodule *m, const void *image, unsigned int n, CUjit_option *options, void **values) {
	ENTER("cuModuleLoadDataEx");
	note("load %s, %u options %d %d, %zu bytes of log\n", (const char *)image, n, (int)options[0], (int)options[1], (size_t)values[1]);
	if (strcmp(image, "good")) {
		snprintf(values[0], (size_t)values[1], "line 7: unknown instruction\n");
		return 218;
	}
	*m = (CUmodule)0xd0;
	return 0;
}
CUresult cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name) {
	ENTER("cuModuleGetFunction");
	note("function %s of %zx\n", name, (size_t)m);
	*f = (CUfunction)0xf0;
	return 0;
}
CUresult cuModuleUnload(CUmodule m) {
	ENTER("cuModuleUnload");
	note("unload %zx\n", (size_t)m);
	return 0;
}
CUresult cuFuncGetAttribute(int *v, CUfunction_attribute a, CUfunction f) {
	ENTER("cuFuncGetAttribute");
	note("attribute %d of %zx\n", (int)a, (size_t)f);
	*v = 1024;
	return 0;
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
	ENTER("cuFuncSetAttribute");
	note("attribute %d of %zx = %d\n", (int)a, (size_t)f, v);
	return 0;
}
CUresult cuStreamCreateWithPriority(CUstream *s, unsigned int flags, int priority) {
	ENTER("cuStreamCreateWithPriority");
	note("queue %u %d\n", flags, priority);
	*s = (CUstream)0xa0;
	return 0;
}
CUresult cuStreamDestroy_v2(CUstream s) {
	ENTER("cuStreamDestroy_v2");
	note("close queue %zx\n", (size_t)s);
	return 0;
}
CUresult cuStreamSynchronize(CUstream s) {
	ENTER("cuStreamSynchronize");
	note("sync %zx\n", (size_t)s);
	return 0;
}
CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned int flags) {
	ENTER("cuStreamWaitEvent");
	note("queue %zx waits for %zx %u\n", (size_t)s, (size_t)e, flags);
	return 0;
}
CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz,
			unsigned int shared, CUstream s, void **params, void **extra) {
	ENTER("cuLaunchKernel");
	note("launch %zx (%u %u %u) (%u %u %u) %u %zx params %zx", (size_t)f, gx, gy, gz, bx, by, bz, shared, (size_t)s, (size_t)params);
	if (extra) {
		if (extra[0] != (void *)1 || extra[2] != (void *)2 || extra[4]) return 1;
		size_t n = *(size_t *)extra[3];
		note(" %zu bytes:", n);
		for (size_t i = 0; i < n; i++) note(" %d", ((unsigned char *)extra[1])[i]);
	}
	note("\n");
	return 0;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t n, CUstream s) {
	ENTER("cuMemcpyHtoDAsync_v2");
	note("in %zu %zx\n", n, (size_t)s);
	memcpy((void *)to, from, n);
	return 0;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t n, CUstream s) {
	ENTER("cuMemcpyDtoHAsync_v2");
	note("out %zu %zx\n", n, (size_t)s);
	memcpy(to, (void *)from, n);
	return 0;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
	ENTER("cuMemcpyDtoDAsync_v2");
	note("copy %zu %zx\n", n, (size_t)s);
	memcpy((void *)to, (void *)from, n);
	return 0;
}
#define FILL(name, type)                                                        \
	CUresult name(CUdeviceptr to, type v, size_t n, CUstream s) {           \
		ENTER(#name);                                                   \
		note(#name " %zu %zx\n", n, (size_t)s);                         \
		for (size_t i = 0; i < n; i++) ((type *)to)[i] = v;             \
		return 0;                                                       \
	}
FILL(cuMemsetD8Async, unsigned char)
FILL(cuMemsetD16Async, unsigned short)
FILL(cuMemsetD32Async, unsigned int)
CUresult cuEventCreate(CUevent *e, unsigned int flags) {
	ENTER("cuEventCreate");
	note("event %u\n", flags);
	*e = (CUevent)(0xe0 + (size_t)flags);
	return 0;
}
CUresult cuEventDestroy_v2(CUevent e) {
	ENTER("cuEventDestroy_v2");
	note("close event %zx\n", (size_t)e);
	return 0;
}
CUresult cuEventRecord(CUevent e, CUstream s) {
	ENTER("cuEventRecord");
	note("record %zx in %zx\n", (size_t)e, (size_t)s);
	return 0;
}
CUresult cuEventQuery(CUevent e) {
	ENTER("cuEventQuery");
	note("query %zx\n", (size_t)e);
	return 0;
}
CUresult cuEventSynchronize(CUevent e) {
	ENTER("cuEventSynchronize");
	note("sync event %zx\n", (size_t)e);
	return 0;
}
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b) {
	ENTER("cuEventElapsedTime");
	note("from %zx to %zx\n", (size_t)a, (size_t)b);
	*ms = 1.5;
	return 0;
}
