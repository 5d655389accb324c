#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""check_identity.py SOURCE COMPILER...

Changes a constant in each file of sdk/gpu and of plugins/opencl in turn, in a copy of the tree, and asks what the digests
of the ops are then (sdk/tools/identity, and the expansions of the kernels that a plugin embeds): those of all ops that
the file can affect must be others, and those of ops that have nothing to do with it the same. Speaks TAP.
"""
import functools
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE, COMPILER = sys.argv[1], sys.argv[2:]
VARIANTS = [[f"-DK_VARIANT={bits}"] for bits in (0, 8, 1, 16, 64, 128, 1024, 2048, 4096, 8192, 256, 512)]
LANGUAGES = {"k_cuda.h": "CUDA", "k_glsl.h": "GLSL", "k_msl.h": "MSL", "k_opencl.h": "OPENCL", "k_wgsl.h": "WGSL",
             "k_meta.h": "META"}
NUMBER = re.compile(r"(?<![\w.\"])\d+(?=u?\b)")


def load_tool():
    loader = importlib.machinery.SourceFileLoader("identity", os.path.join(SOURCE, "sdk/tools/identity"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("identity", loader))
    loader.exec_module(module)
    return module


def run_tool(tool, tree, *args):
    out = os.path.join(tree, "out")
    sys.argv[1:] = [args[0], out, *args[1:]]
    if tool.main() != 0:
        sys.exit("identity refused the sources")
    with open(out, encoding="utf-8") as file:
        return file.read()


def ops_of(tool, tree):
    """{op: (digest, kernels)} as the plugin for OpenCL has them."""
    gpu = os.path.join(tree, "sdk/gpu")
    driver = run_tool(tool, tree, "sources", "DRIVER", os.path.join(tree, "plugins/opencl"))
    text = run_tool(tool, tree, "ops", "--kernels", gpu + "/kernels", "--shared", tree + "/sdk/include", gpu,
                    "--without", gpu + "/dialect", gpu + "/kernels", "--ops", gpu + "/ops")
    return {op: (digest + driver, kernels.split())
            for op, digest, kernels in re.findall(r'\{"([\w.]+)", "(\w+)", "([^"]*)"\}', text)}


def expand(tree, kernel, language, defines):
    """What the preprocessor makes of a kernel in a variant."""
    path = os.path.join(tree, "sdk/gpu/kernels", kernel + ".k")
    done = subprocess.run([*COMPILER, "-E", "-P", "-undef", "-nostdinc", "-x", "c", "-I", tree + "/sdk/gpu/dialect",
                           *defines, "-DK_TARGET=K_" + language, path], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else "refused"


@functools.cache
def expand_before(kernel, language, variant):
    return expand(SOURCE, kernel, language, VARIANTS[variant])


def differs(tree, kernel, language, variant):
    return expand(tree, kernel, language, VARIANTS[variant]) != expand_before(kernel, language, variant)


def changes(path):
    """Texts of a file with one number of its code more by one; at last, other changes."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    at = 0
    for line in text.splitlines(keepends=True):
        code = "" if re.match(r"\s*(//|#\s*(include|pragma))", line) else line.split("//")[0]
        for match in NUMBER.finditer(code):
            begin, end = at + match.start(), at + match.end()
            yield text[:begin] + str(int(match.group(0)) + 1) + text[end:]
        at += len(line)
    for last in list(re.finditer(r"^(?!//|#).*?(\w+)", text, re.M))[-1:]:
        yield text[:last.end(1)] + "_" + text[last.end(1):]  # Where no constant is: a name is another one.
    yield " + 1;".join(text.rsplit(";", 1))


def affected_by_code(tool, path):
    """Ops whose digest must change with a source of C; None: all."""
    if "/sdk/gpu/ops/" not in path or not path.endswith(".c"):
        return None
    source = tool.Source(path)
    return {"tapml." + name for name in source.ops} if source.ops else None


def check_code(tool, tree, path, before):
    """The first constant of a source; where it stands in the function of an op, that op is affected."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    source_before = tool.Source(path)
    changed = next(changes(path))
    with open(path, "w", encoding="utf-8") as file:
        file.write(changed)
    expected = affected_by_code(tool, path)
    if expected is not None:
        source = tool.Source(path)
        own = {"tapml." + name for name in source.ops if source.ops[name] != source_before.ops.get(name)}
        expected = own or expected
    after = ops_of(tool, tree)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    differ = {op for op in before if before[op] != after.get(op)}
    missing = (set(before) if expected is None else expected) - differ
    return "" if not missing else f"fresh after a change: {', '.join(sorted(missing))}"


@functools.cache
def files_of(kernel, target):
    """What the preprocessor reads for a kernel, as make would have it."""
    return subprocess.run([*COMPILER, "-M", "-undef", "-nostdinc", "-x", "c", "-I", SOURCE + "/sdk/gpu/dialect", "-DK_VARIANT=73",
                           "-DK_TARGET=K_" + target,
                           os.path.join(SOURCE, "sdk/gpu/kernels", kernel + ".k")],
                          capture_output=True, text=True, check=True).stdout


def users_of(path, kernels):
    """Kernels that are expanded with a file."""
    name = os.path.basename(path)
    if path.endswith(".k"):
        return [name[:-2]]
    return [kernel for kernel in kernels if "/" + name in files_of(kernel, LANGUAGES.get(name, "OPENCL"))]


def find_difference(tree, path, users, language):
    """Changes the file until a kernel is expanded to something else, most often in the first variant; gives which are."""
    every = list(changes(path))
    for variant in range(len(VARIANTS)):
        for changed in every:
            with open(path, "w", encoding="utf-8") as file:
                file.write(changed)
            found = [kernel for kernel in users if differs(tree, kernel, language, variant)]
            if found:
                return found
    return []


def check_kernel(tree, path, before, kernels):
    """Some constant of a kernel or of the dialect changes an expansion, and with it an op."""
    users = users_of(path, kernels)[:6]
    if not users:
        return "no kernel is expanded with it"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    differ = find_difference(tree, path, users, LANGUAGES.get(os.path.basename(path), "OPENCL"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if not differ:
        return "no constant of it is in what a plugin embeds"
    orphans = [kernel for kernel in differ if not any(kernel in named for _, named in before.values())]
    return f"no op has the digest of {', '.join(orphans)}" if orphans else ""


def main():
    tool = load_tool()
    failed = 0
    with tempfile.TemporaryDirectory() as tree:
        for folder in ("sdk/gpu", "sdk/include", "plugins/opencl"):
            shutil.copytree(os.path.join(SOURCE, folder), os.path.join(tree, folder), copy_function=shutil.copyfile)
        before = ops_of(tool, tree)
        kernels = sorted(name[:-2] for name in os.listdir(os.path.join(tree, "sdk/gpu/kernels")) if name.endswith(".k"))
        paths = sorted(os.path.join(folder, name) for part in ("sdk/gpu", "plugins/opencl")
                       for folder, _, names in os.walk(os.path.join(tree, part)) for name in names
                       if name.endswith((".c", ".h", ".k", ".def")))
        print(f"1..{len(paths)}")
        for number, path in enumerate(paths, 1):
            is_kernel = "/kernels/" in path or "/dialect/" in path
            problem = check_kernel(tree, path, before, kernels) if is_kernel else check_code(tool, tree, path, before)
            print(("not ok" if problem else "ok") + f" {number} - {os.path.relpath(path, tree)}", flush=True)
            if problem:
                print("# " + problem)
                failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
