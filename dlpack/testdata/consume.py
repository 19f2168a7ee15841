"""Takes exported tensors as a C library would, and has NumPy read them.

Usage: python consume.py < IMAGES   (needs numpy 2.1 or newer; x86-64, not Windows)

The input is JSON: structs as they lie in the memory of another process, with the memory
that they lead to. Each is copied here, its pointers are moved along, and numpy.from_dlpack
takes it. Structs are declared as dlpack.h has them, not as the other side does. Output: what
NumPy reads, and whether the deleter, which is machine code, did what it must.
"""

import ctypes as c
import json
import mmap
import sys

import numpy as np


class DLDevice(c.Structure):
    _fields_ = [("device_type", c.c_int32), ("device_id", c.c_int32)]


class DLDataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class DLTensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", DLDevice), ("ndim", c.c_int32), ("dtype", DLDataType),
                ("shape", c.c_void_p), ("strides", c.c_void_p), ("byte_offset", c.c_uint64)]


class DLManagedTensor(c.Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c.c_void_p), ("deleter", c.c_void_p)]


class DLManagedTensorVersioned(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("manager_ctx", c.c_void_p), ("deleter", c.c_void_p),
                ("flags", c.c_uint64), ("dl_tensor", DLTensor)]


class Capsule:
    def __init__(self, pointer, versioned):
        self.pointer, self.name = pointer, b"dltensor_versioned" if versioned else b"dltensor"

    def __dlpack__(self, **_):
        new = c.pythonapi.PyCapsule_New
        new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
        return new(self.pointer, self.name, None)

    def __dlpack_device__(self):
        return 1, 0


def run(image):
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex(image["code"]))
    head = (c.c_uint64 * 64)()
    data = (c.c_uint64 * (len(image["data"]) // 16 + 2))()
    c.memmove(head, bytes.fromhex(image["head"]), len(image["head"]) // 2)
    c.memmove(data, bytes.fromhex(image["data"]), len(image["data"]) // 2)
    kind = DLManagedTensorVersioned if image["versioned"] else DLManagedTensor
    m = kind.from_buffer(head)
    moved = c.addressof(head) - image["headAt"]
    m.manager_ctx += moved
    m.dl_tensor.shape = (m.dl_tensor.shape or 0) + moved
    m.dl_tensor.strides = (m.dl_tensor.strides or 0) + moved
    if m.dl_tensor.data:
        m.dl_tensor.data += c.addressof(data) - image["dataAt"]
    m.deleter = c.addressof(c.c_char.from_buffer(code))
    flag = c.c_uint32.from_address(m.manager_ctx)
    before = flag.value
    x = np.from_dlpack(Capsule(c.addressof(head), image["versioned"]))
    out = {"dtype": str(x.dtype), "shape": list(x.shape), "writable": bool(x.flags.writeable),
           "bytes": np.ascontiguousarray(x).tobytes().hex()}
    if flag.value != before or before:
        raise SystemExit("the deleter was called too early")
    del x
    out["freed"] = flag.value
    return out


print(json.dumps([run(image) for image in json.load(sys.stdin)]))
