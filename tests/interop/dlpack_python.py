# SPDX-License-Identifier: MIT
"""libflynn for Python's array libraries, by ctypes: what interop_numpy.py and interop_gpu.py share.

FLYNN_LIBRARY names the shared object. `Array` speaks Python's DLPack protocol (__dlpack__, __dlpack_device__), so that
np.from_dlpack, cupy.from_dlpack and torch.from_dlpack take it; Device.take goes the other way.
"""
import ctypes
import os

CODES = {"u8": 0, "i32": 1, "i64": 2, "f32": 3, "f64": 4}
NAMES = {code: name for name, code in CODES.items()}
FULL, SAME, VALID = 0, 1, 2
WRONG_DEVICE, ARGUMENT = 3, 1


class DLTensor(ctypes.Structure):
    """As dlpack.h has it; only what is read here must be named, but the size counts."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManagedTensor(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = [("dl_tensor", DLTensor), ("manager_ctx", ctypes.c_void_p), ("deleter", Deleter)]

# Functions that run Python's code on the way (a deleter may) must not hold its lock: CDLL lets it go.
flynn = ctypes.CDLL(os.environ["FLYNN_LIBRARY"])
flynn.fl_last_error.restype = ctypes.c_char_p
flynn.fl_array_data.restype = ctypes.c_void_p
flynn.fl_array_shape.restype = ctypes.c_int64
for function in (flynn.fl_array_data, flynn.fl_array_ndim, flynn.fl_array_dtype, flynn.fl_array_free,
                 flynn.fl_device_close, flynn.fl_device_wait):
    function.argtypes = [ctypes.c_void_p]
flynn.fl_array_shape.argtypes = [ctypes.c_void_p, ctypes.c_int]
flynn.fl_convolve.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
                              ctypes.c_void_p]

capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype = ctypes.py_object
capsule_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
get_pointer = ("PyCapsule_GetPointer", ctypes.pythonapi)
capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(get_pointer)
pointer_in = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(get_pointer)  # while it is destroyed
capsule_is = ctypes.pythonapi.PyCapsule_IsValid
capsule_is.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
capsule_rename = ctypes.pythonapi.PyCapsule_SetName
capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
FRESH, USED = b"dltensor", b"used_dltensor"  # Python's names; kept alive here, as a capsule only points to its name


class Refused(Exception):
    def __init__(self, status):
        super().__init__(flynn.fl_last_error().decode())
        self.status = status


def must(status):
    if status:
        raise Refused(status)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def delete_if_fresh(capsule):
    """A capsule's end: a tensor that no library took is given back."""
    if capsule_is(capsule, FRESH):
        tensor = ctypes.cast(pointer_in(capsule, FRESH), ctypes.POINTER(DLManagedTensor))
        tensor.contents.deleter(tensor)


class Array:
    """An fl_array that this object owns."""

    def __init__(self, handle):
        self.handle = handle

    def free(self):
        flynn.fl_array_free(self.handle)
        self.handle = None

    data = property(lambda self: flynn.fl_array_data(self.handle))
    dtype = property(lambda self: NAMES[flynn.fl_array_dtype(self.handle)])
    shape = property(lambda self: tuple(flynn.fl_array_shape(self.handle, d)
                                        for d in range(flynn.fl_array_ndim(self.handle))))

    def tensor(self):
        tensor = ctypes.POINTER(DLManagedTensor)()
        must(flynn.fl_array_to_dlpack(ctypes.c_void_p(self.handle), ctypes.byref(tensor)))
        return tensor

    def view(self, start, shape):
        handle = ctypes.c_void_p()
        numbers = ctypes.c_int64 * len(start)
        must(flynn.fl_array_view(ctypes.c_void_p(self.handle), numbers(*start), numbers(*shape), ctypes.byref(handle)))
        return Array(handle.value)

    def __dlpack__(self, **_):
        return capsule_new(ctypes.cast(self.tensor(), ctypes.c_void_p), FRESH, delete_if_fresh)

    def __dlpack_device__(self):
        tensor = self.tensor()
        device = tensor.contents.dl_tensor.device_type, tensor.contents.dl_tensor.device_id
        tensor.contents.deleter(tensor)
        return device


class Device:
    def __init__(self, resource):
        handle = ctypes.c_void_p()
        must(flynn.fl_device_open(resource.encode(), ctypes.byref(handle)))
        self.handle = handle.value

    def create(self, dtype, shape):
        handle = ctypes.c_void_p()
        must(flynn.fl_array_create(ctypes.c_void_p(self.handle), CODES[dtype], len(shape),
                                   (ctypes.c_int64 * len(shape))(*shape), ctypes.byref(handle)))
        return Array(handle.value)

    def take_capsule(self, capsule):
        handle = ctypes.c_void_p()
        must(flynn.fl_array_from_dlpack(ctypes.c_void_p(self.handle), ctypes.c_void_p(capsule_pointer(capsule, FRESH)),
                                        ctypes.byref(handle)))
        capsule_rename(capsule, USED)  # taken over: the capsule's end no longer deletes it
        return Array(handle.value)

    def take(self, array, **how):
        """The array of another library, without a copy."""
        return self.take_capsule(array.__dlpack__(**how))

    def convolve(self, image, kernel, mode, out):
        must(flynn.fl_convolve(self.handle, image.handle, kernel.handle, mode, out.handle, None))

    def wait(self):
        must(flynn.fl_device_wait(self.handle))

    def close(self):
        flynn.fl_device_close(self.handle)
