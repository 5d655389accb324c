# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The tensors of a folder of safetensors, to see if they are those of a model in memory."""
import glob
import json
import os

import torch

from tapml.store import Error

_HEADER_BYTES_MAX = 100 << 20
_TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "I64": torch.int64,
          "I32": torch.int32, "U8": torch.uint8}


class Checkpoint:
    """The names, types, shapes and places of all tensors; bytes are read when they are compared."""

    def __init__(self, folder):
        paths = sorted(glob.glob(os.path.join(glob.escape(os.fspath(folder)), "*.safetensors")))
        if not paths:
            raise Error(f"'{folder}' has no file *.safetensors, in which weights are")
        self._tensors, self._known = {}, {}
        for path in paths:
            self._read(path)

    def _read(self, path):
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            if not 2 <= size <= _HEADER_BYTES_MAX:
                raise Error(f"'{path}' is no file of safetensors: its header has {size} bytes")
            try:
                header = json.loads(file.read(size))
                header.pop("__metadata__", None)
                for name, entry in header.items():
                    begin, end = entry["data_offsets"]
                    self._tensors[name] = (path, _TYPES.get(entry["dtype"]), tuple(entry["shape"]), 8 + size + begin, end - begin)
            except (ValueError, KeyError, TypeError, AttributeError) as problem:
                raise Error(f"'{path}' is no file of safetensors: {type(problem).__name__}: {problem}") from problem

    def has(self, name, tensor):
        """Whether the tensor of that name has these very bytes. Each name is read once: a model's weights stay."""
        if name not in self._known:
            self._known[name] = self._is_same(name, tensor)
        return self._known[name]

    def _is_same(self, name, tensor):
        path, dtype, shape, offset, size = self._tensors.get(name, (None, None, None, 0, 0))
        if dtype != tensor.dtype or shape != tuple(tensor.shape) or size != tensor.numel() * tensor.element_size():
            return False
        if size == 0:
            return True
        with open(path, "rb") as file:
            file.seek(offset)
            stored = file.read(size)
        return stored == bytes(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
