#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Gives every CUDA text to NVIDIA's compiler, for the oldest architecture of each generation, as the plugin does.

    check_nvrtc.py [--all] NAME.VARIANT.cuda...

--all: for every architecture that the compiler offers. What a text may use differs between generations; within one it
only grows.

Exit status 77 where NVRTC is not installed; TAPML_REQUIRE with `nvrtc` in it makes a failure of that.
"""
import concurrent.futures
import ctypes
import os
import re
import sys

import check_texts

NAMES = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "/usr/local/cuda/lib64/libnvrtc.so"]


def library():
    for name in NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def architectures(nvrtc, is_all):
    count = ctypes.c_int()
    assert nvrtc.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
    archs = (ctypes.c_int * count.value)()
    assert nvrtc.nvrtcGetSupportedArchs(archs) == 0
    oldest = {arch // 10: arch for arch in sorted(archs, reverse=True)}
    return sorted(archs) if is_all else sorted(oldest.values())


def log_of(nvrtc, program):
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value + 1)
    nvrtc.nvrtcGetProgramLog(program, log)
    return log.value.decode(errors="replace")


def compile_one(nvrtc, path, text, arch):
    """The complaint about a text for one architecture, or nothing."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel", 0, None, None) == 0
    words = [b"--gpu-architecture=sm_%d" % arch, b"--fmad=false"]
    code = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    if code == 0:
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    complaint = log_of(nvrtc, program)[:2000] if code else "" if size.value else "no machine code"
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return f"{path}, sm_{arch}: {complaint}" if complaint else ""


def check(path, is_all):
    """The complaints about one text, each of one architecture."""
    nvrtc = library()
    lines = [f"#define {name} {value}" for name, value in check_texts.constants(path).items()]
    text = ("\n".join(lines) + "\n" + open(path, encoding="utf-8").read()).encode()
    return [line for line in (compile_one(nvrtc, path, text, arch) for arch in architectures(nvrtc, is_all)) if line]


def main(argv):
    is_all = "--all" in argv[1:2]
    paths = argv[2:] if is_all else argv[1:]
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    nvrtc = library()
    if nvrtc is None:
        print(f"nvrtc: {len(paths)} texts not compiled, not installed: {' '.join(NAMES)}")
        return 1 if "nvrtc" in re.split(r"[ ,]", os.environ.get("TAPML_REQUIRE", "")) else check_texts.SKIP
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count()) as pool:
        complaints = [line for lines in pool.map(check, paths, [is_all] * len(paths)) for line in lines]
    print("\n".join(complaints))
    archs = " ".join(str(arch) for arch in architectures(nvrtc, is_all))
    print(f"nvrtc: {len(paths)} texts for the architectures {archs}, {len(complaints)} refused")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
