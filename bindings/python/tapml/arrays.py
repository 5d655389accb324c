# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries as an address, a type, a shape and strides."""
import collections
import ctypes

# `keep` owns the memory. Strides count elements; None is dense.
Array = collections.namedtuple("Array", "dtype shape strides address keep")

_OF_TORCH = {"torch.float32": b"f32", "torch.float16": b"f16", "torch.bfloat16": b"bf16", "torch.float64": b"f64",
             "torch.int32": b"i32", "torch.int64": b"i64", "torch.uint8": b"u8"}
_OF_NUMPY = {"f4": b"f32", "f2": b"f16", "f8": b"f64", "i4": b"i32", "i8": b"i64", "u1": b"u8"}
_OF_BUFFER = {"f": b"f32", "e": b"f16", "d": b"f64", "i": b"i32", "q": b"i64", "l": b"i64", "B": b"u8"}


def _of_torch(tensor):
    dtype = _OF_TORCH.get(str(tensor.dtype))
    tensor = tensor.detach()
    if tensor.device.type != "cpu":
        tensor = tensor.cpu()
    return Array(dtype, tuple(tensor.shape), tuple(tensor.stride()), tensor.data_ptr(), tensor)


def _of_numpy(array):
    about = array.__array_interface__
    size = int(about["typestr"][2:])
    if size > 0 and any(stride % size != 0 for stride in about["strides"] or ()):
        import numpy
        array = numpy.array(array, order="C")  # Strides count elements: fields of a record lie between them.
        about = array.__array_interface__
    dtype = _OF_NUMPY.get(about["typestr"][1:]) if about["typestr"][0] in "<|" else None
    strides = about["strides"]
    if strides is not None:
        strides = tuple(stride // size for stride in strides)
    return Array(dtype, tuple(about["shape"]), strides, about["data"][0], array)


def _of_buffer(value):
    view = memoryview(value)
    if not view.c_contiguous:
        raise TypeError("a buffer that is not contiguous is no tensor")
    whole = (ctypes.c_char * view.nbytes).from_buffer(view) if not view.readonly else view.tobytes()
    address = ctypes.addressof(whole) if not view.readonly else ctypes.cast(whole, ctypes.c_void_p).value
    return Array(_OF_BUFFER.get(view.format), tuple(view.shape), None, address, (view, whole))


def describe(value):
    """The `Array` that a value is. TypeError for what is none, or has a type that no case can hold."""
    if hasattr(value, "data_ptr"):
        array = _of_torch(value)
    elif hasattr(value, "__array_interface__"):
        array = _of_numpy(value)
    else:
        array = _of_buffer(value)
    if array.dtype is None:
        raise TypeError(f"a case holds no elements of type {getattr(value, 'dtype', type(value))}")
    return array
