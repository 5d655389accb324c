#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What tapml-new begins, against an installed tree: each project builds as it is, by meson and by make, without a
warning, and passes tapml-plugin-check; a backend goes on from there. Speaks TAP.

    begun.py --build BUILD [--sanitize VALUE] [--compiler COMMAND]
"""
import os
import re
import shutil
import subprocess
import sys

import run
import tree
from tree import call, expect

KINDS = {"backend": [], "gpu": [], "model": [], "op": [], "group": [], "observer": [], "comparer": [], "policy": [],
         "encoding": [],
         "component": ["--component-kind", "org.example.part/1"]}
# What else is begun; `gpu-op` is a driver with an op of its own, for which test driver does more.
MORE = {"gpu-op": ["--with-op"]}
SILU = """{
    const float *from = (const float *)(const void *)(object_of(x->buffer)->data + x->offset);
    float *to = (float *)(void *)(object_of(y->buffer)->data + y->offset);
    int64_t count = 1;

    for (uint32_t axis = 0; axis < x->rank; axis++) {
        count *= x->shape[axis];
    }
    for (int64_t i = 0; i < count; i++) {
        to[i] = from[i] / (1.0f + expf(-from[i]));
    }
    return TAPML_OK;
}
"""
EMBED = """{
    const unsigned char *of = object_of(ids->buffer)->data + ids->offset;
    float *to = (float *)(void *)(object_of(y->buffer)->data + y->offset);
    const int64_t width = y->shape[1];

    for (int64_t i = 0; i < y->shape[0] * width; i++) {
        int32_t id = 0;

        memcpy(&id, of + (size_t)(i / width) * sizeof(id), sizeof(id));
        to[i] = ops_weight(table, (uint64_t)((id + offset) * width + i % width));
    }
    return TAPML_OK;
}
"""
RUN = """\
[run]
dir = {folder}/run
prompts = {folder}/prompts.txt
decode = 2
capacity = 32
chunk = 4
[model]
path = {model}
[source]
backend = reference
[target.device]
backend = {backend}
[plugins]
load = {manifest}
"""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def change(path, old, new):
    text = read(path)
    expect(old in text, f"{path} has no '{old}'")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new, 1))


def sources(folder):
    """Of a project, without what is built."""
    for base, below, names in os.walk(folder):
        below[:] = [name for name in below if name not in ("build", "made")]
        yield from (os.path.join(base, name) for name in names)


def project(place, kind):
    return os.path.join(place["folder"], kind)


def manifest(place, kind, build="build"):
    return os.path.join(project(place, kind), build, f"org.example.begun-{kind}.tapml")


def begin(place, kind, *words):
    return [place["new"], kind.partition("-")[0], "--id", f"org.example.begun-{kind}", "--vendor", "A. Stranger",
            "--license", "MIT", *{**KINDS, **MORE}[kind], *words]


def refused(place, sentence, *words):
    done = subprocess.run(words, env=place["environment"], capture_output=True, text=True, check=False, cwd=place["folder"])
    expect(done.returncode == 1 and sentence in done.stderr, f"{words}: {done.returncode}: {done.stderr}")


# ---- as they are -----------------------------------------------------------------------------------


def prepare(folder, arguments):
    place = tree.place(folder, arguments)
    place["new"] = os.path.join(place["prefix"], "bin", "tapml-new")
    place["environment"].update(PKG_CONFIG_PATH=place["pkgconfig"], PKG_CONFIG_LIBDIR=place["pkgconfig"])
    if arguments.compiler:
        place["environment"]["CC"] = arguments.compiler
    for kind in (*KINDS, *MORE):
        call(begin(place, kind, project(place, kind)), place["environment"])
    return place


def no_warning(output):
    expect("warning" not in output, output)


def check_meson(place, kind):
    build = os.path.join(project(place, kind), "build")
    call(["meson", "setup", build, project(place, kind), f"-Db_sanitize={place['sanitize']}"], place["environment"])
    no_warning(call(["ninja", "-C", build], place["environment"]))
    said = call(["meson", "test", "-C", build, "--verbose", "--no-rebuild"], place["environment"])
    expect(re.search(r"Ok: +1\b", said), said)


def check_make(place, kind):
    command = ["make", "--no-print-directory", "-C", project(place, kind), "BUILD=made"]
    no_warning(call(command, place["environment"]))
    # What takes long was tried on the same sources by meson.
    program = os.path.join(place["prefix"], "bin", "tapml-plugin-check")
    said = call([*command, f"CHECK={program} --level contract", "check"], place["environment"])
    expect(" failed" not in said and re.search(r"begun-[\w-]+: \d+ passed", said), said)
    call([*command, f"DESTDIR={place['folder']}/{kind}-installed", "install"], place["environment"])
    tree.find(f"{place['folder']}/{kind}-installed", f"org.example.begun-{kind}.tapml")


def check_names(place):
    """The stranger's names are everywhere, those of the template nowhere."""
    for kind in (*KINDS, *MORE):
        for path in sources(project(place, kind)):
            text = read(path)
            expect(not re.search(r"TapML authors|\bsample\b|\{\{[a-z]|example\.sample", text + path), path)
            expect(not path.endswith((".c", ".h")) or text.startswith(
                "// SPDX-FileCopyrightText: A. Stranger\n// SPDX-License-Identifier: MIT\n"), f"{path}: {text[:90]}")


def check_null(place):
    """plugins/null is what is begun under its names."""
    folder, own = os.path.join(place["folder"], "null"), os.path.join(os.environ["TAPML_TEST_SOURCE"], "plugins", "null")
    call([place["new"], "backend", "--id", "org.tapml.null", "--name", "tapml-null", "--vendor", "TapML", "--ops", "none",
          "--title", "Null: ordinary memory and no operator, where a new backend begins", folder], place["environment"])
    for name in os.listdir(own):
        if name.endswith((".c", ".h", ".ini")):
            made, expected = (read(os.path.join(at, name)).split("// SPDX-License", 1)[-1] for at in (folder, own))
            expect(made.strip() == expected.strip(), f"{name} is not that of plugins/null")
    expect(not os.path.exists(os.path.join(folder, "ops")), "--ops none has made stubs")


# ---- going on --------------------------------------------------------------------------------------


def write_run(place, kind, more="", model=os.path.join(os.environ["TAPML_TEST_DATA"], "models", "llama")):
    """The file of a run whose target is the component of a project; `more` goes on from [plugins]."""
    folder = os.path.join(place["folder"], "run-" + kind)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "prompts.txt"), "w", encoding="utf-8") as file:
        file.write("ids: 1 2 3\nids: 7 5\n")
    ini = os.path.join(folder, "run.ini")
    with open(ini, "w", encoding="utf-8") as file:
        file.write(RUN.format(folder=folder, backend="begun_" + kind, manifest=manifest(place, kind),
                              model=model) + more)
    return ini


def check_written_op(place):
    """A stub that is written is an op of the device, which a run then moves, and no other."""
    folder = project(place, "backend")
    change(os.path.join(folder, "ops", "silu.c"), "{\n    return ops_unwritten(queue, call);\n}\n", SILU)
    change(os.path.join(folder, "ops", "silu.c"), '#include "../ops.h"\n', '#include "../object.h"\n#include "../ops.h"\n')
    change(os.path.join(folder, "ops", "silu.c"), '#include "catalogue.h"\n', '#include "catalogue.h"\n\n#include <math.h>\n')
    change(os.path.join(folder, "ops.h"), "#define OPS(OP)\n", "#define OPS(OP) OP(silu)\n")
    change(os.path.join(folder, "meson.build"), "dependencies: [sdk,", "dependencies: [sdk, cc.find_library('m'),")
    no_warning(call(["ninja", "-C", os.path.join(folder, "build")], place["environment"]))
    ini = write_run(place, "backend")
    said = call([place["host"], "--config", ini, "--verbose"], place["environment"])
    expect(re.search(r"^2 of \d+ instances on", said, re.MULTILINE), said)
    change(os.path.join(folder, "ops", "silu.c"), "1.0f +", "1.01f +")
    call(["ninja", "-C", os.path.join(folder, "build")], place["environment"])
    said = call([place["host"], "--config", ini], place["environment"], 1)
    expect("silu is wrong" in said, said)


def check_bf16(place):
    """An op that reads its weights by ops_weight gets those of bf16, which are refused before."""
    folder = project(place, "backend")
    store = os.path.join(place["folder"], "tiny.tapmlrun")
    shutil.copy(tree.find(place["prefix"], "tiny.tapmlrun"), store)
    change(os.path.join(folder, "ops", "embed.c"), "{\n    return ops_unwritten(queue, call);\n}\n", EMBED)
    change(os.path.join(folder, "ops", "embed.c"), '#include "../ops.h"\n', '#include "../object.h"\n#include "../ops.h"\n')
    change(os.path.join(folder, "ops", "embed.c"), '#include "catalogue.h"\n', '#include "catalogue.h"\n\n#include <string.h>\n')
    change(os.path.join(folder, "ops.h"), "#define OPS(OP) OP(silu)", "#define OPS(OP) OP(silu) OP(embed)")
    words = [place["host"], "replay", store, "--backend", "begun_backend", "--plugin", manifest(place, "backend")]
    for old, new, is_taken in [("", "", False), ("#define OPS_OF_BF16(OP)\n", "#define OPS_OF_BF16(OP) OP(embed)\n", True)]:
        change(os.path.join(folder, "ops.h"), old, new)
        no_warning(call(["ninja", "-C", os.path.join(folder, "build")], place["environment"]))
        said = call(words, place["environment"], 1)  # silu is wrong by now.
        counts = re.search(r"tapml\.embed +(.*)", said)
        expect(counts is not None and ("'table' is not dense, or neither f32 nor i32" in said) != is_taken, said)


SCALE_BY = """{
    const float *from = memory_at(x);
    float *to = memory_at(y);
    int64_t count = 1;

    for (uint32_t axis = 0; axis < x->rank; axis++) {
        count *= x->shape[axis];
    }
    for (int64_t i = 0; i < count; i++) {
        to[i] = (float)factor * from[i];
    }
    return TAPML_OK;
}
"""


def begin_caller(place):
    """The architecture of test `outside`, which calls the op of the project `op`. Gives its manifest."""
    folder = os.path.join(place["folder"], "caller")
    call([place["new"], "model", "--id", "org.example.outside-architecture", "--component", "outside_demo", folder],
         place["environment"])
    text = read(os.path.join(os.environ["TAPML_TEST_SOURCE"], "tests", "outside", "architecture.c"))
    with open(os.path.join(folder, "model.c"), "w", encoding="utf-8") as file:
        file.write(text.replace("org.example.scale", "org.example.begun_op").replace("architecture-note.h", "note.h")
                   .replace('"1.0.0"', '"0.1.0"'))
    call(["make", "-C", folder], place["environment"])
    return os.path.join(folder, "build", "org.example.outside-architecture.tapml")


def check_own_op(place):
    """An op of a begun project is judged in a run whose source computes it by its plain form, and nothing else."""
    folder, model = project(place, "op"), os.path.join(place["folder"], "checkpoint")
    source = os.path.join(folder, "op.c")
    change(source, "IS_WRITTEN = 0", "IS_WRITTEN = 1")
    change(source, read(source)[read(source).index("{\n    return memory_fail("):].partition("\n}\n")[0] + "\n}\n", SCALE_BY)
    no_warning(call(["ninja", "-C", os.path.join(folder, "build")], place["environment"]))
    run.make_model(model)
    ini = write_run(place, "op", f"load = {begin_caller(place)}\n", model)
    said = call([place["host"], "--config", ini, "--verbose"], place["environment"])
    expect(re.search(r"^1 of \d+ instances on", said, re.MULTILINE) and "org.example.begun_op" in said, said)
    change(source, "(float)factor *", "1.01f * (float)factor *")
    call(["ninja", "-C", os.path.join(folder, "build")], place["environment"])
    said = call([place["host"], "--config", ini], place["environment"], 1)
    expect("org.example.begun_op is wrong on device" in said, said)


def check_group(place):
    """The group of a begun project is one operator, which a run moves, and names where it is wrong."""
    ini = write_run(place, "group", "[group.add_norm]\nops = add rms_norm\n")
    said = call([place["host"], "--config", ini, "--verbose"], place["environment"])
    expect(re.search(r"^[34] of \d+ instances on", said, re.MULTILINE) and "group.add_norm." in said, said)
    folder = project(place, "group")
    change(os.path.join(folder, "group.c"), "a[i] + b[i]", "a[i] + 1.01f * b[i]")
    call(["ninja", "-C", os.path.join(folder, "build")], place["environment"])
    said = call([place["host"], "--config", ini], place["environment"], 1)
    expect(re.search(r"^group\.add_norm\..* are wrong on device: first at layers\.0/attn/add", said, re.MULTILINE), said)


def check_sync(place):
    """An op that the project does not know gets a stub, and nothing else is touched."""
    folder = project(place, "backend")
    before = {path: read(path) for path in sources(folder)}
    for name in ("tanh", "wkv4"):
        os.remove(os.path.join(folder, "ops", name + ".c"))
    for lists in ("meson.build", "ops.mk"):
        text = re.sub(r"  '(tanh|wkv4)(\.c)?',\n| (tanh|wkv4)\b", "", read(os.path.join(folder, "ops", lists)))
        with open(os.path.join(folder, "ops", lists), "w", encoding="utf-8") as file:
            file.write(text)
    change(os.path.join(folder, "ops", "sum.c"), "// tapml.sum 1:", "// tapml.sum 9:")
    said = call([place["new"], "--sync", folder], place["environment"])
    for sentence in ("tanh.c: new", "wkv4.c: new", "sum.c: written for version 9, the catalogue has 1", "2 of them new"):
        expect(sentence in said, said)
    expect("silu.c" not in said, said)
    change(os.path.join(folder, "ops", "sum.c"), "// tapml.sum 9:", "// tapml.sum 1:")
    expect({path: read(path) for path in sources(folder)} == before, "a sync has changed what was there")


def check_kernels(place):
    """A driver that takes the kernels in builds, with the same table as this project's."""
    folder = project(place, "gpu")
    change(os.path.join(folder, "meson.build"), "# sources += custom_target", "sources += custom_target")
    change(os.path.join(folder, "meson.build"), "#   'catalogue'", "  'catalogue'")
    change(os.path.join(folder, "meson.build"), "#   '--kembed'", "  '--kembed'")
    change(os.path.join(folder, "Makefile"), "# OBJECTS += $(BUILD)/gpu_", "OBJECTS += $(BUILD)/gpu_")
    change(os.path.join(folder, "driver.c"), "static const struct k_kernel no_kernels[] = {{.name = NULL}};",
           "extern const struct k_kernel opencl_kernels[];")
    change(os.path.join(folder, "driver.c"), ".kernels = no_kernels", ".kernels = opencl_kernels")
    no_warning(call(["ninja", "-C", os.path.join(folder, "build")], place["environment"]))
    no_warning(call(["make", "-C", folder, "BUILD=made"], place["environment"]))
    table = read(os.path.join(os.environ["TAPML_TEST_BUILD"], "sdk", "gpu", "gpu_opencl_table.c"))
    for build in ("build", "made"):
        expect(read(os.path.join(folder, build, "gpu_opencl_table.c")) == table, f"the table in {build} is another one")


def check_refusals(place):
    new, folder = place["new"], project(place, "backend")
    refused(place, "the folder is not empty", *begin(place, "backend", folder))
    refused(place, "--id is 'thing'", new, "model", "--id", "thing")
    refused(place, "--component is 'Llama-2'", new, "model", "--id", "org.example.x", "--component", "Llama-2")
    for word in ("int", "for", "main"):
        refused(place, f"'{word}', a word of C", new, "model", "--id", f"org.example.{word}")
        refused(place, f"--component is '{word}', a word of C", new, "policy", "--id", "org.example.x", "--component", word)
    refused(place, "--component-kind is 'part'", new, "component", "--id", "org.example.x", "--component-kind", "part")
    refused(place, "no op 'silo'", new, "backend", "--id", "org.example.x", "--ops", "silu,silo")
    refused(place, "expected words without quotes", new, "gpu", "--id", "org.example.x", "--vendor", 'A "B"')
    refused(place, "no ops.mk", new, "--sync", project(place, "gpu"))
    expect(not os.path.exists(os.path.join(place["folder"], "x")), "what is refused has left a folder")


CHECKS = [
    *[(f"{kind}: it builds by meson, and passes", check_meson, kind) for kind in KINDS],
    *[(f"{kind}: it builds by make, and passes", check_make, kind) for kind in (*KINDS, *MORE)],
    ("names are the author's", check_names),
    ("plugins/null is its output", check_null),
    ("sync adds what is new", check_sync),
    ("an op that is written moves, and is named when it is wrong", check_written_op),
    ("weights of bf16 are taken by a word", check_bf16),
    ("an op of one's own is judged by its plain form", check_own_op),
    ("a group moves as one operator, and is named when it is wrong", check_group),
    ("a driver takes the kernels in", check_kernels),
    ("what cannot be is refused", check_refusals),
]

if __name__ == "__main__":
    sys.exit(tree.report("a project of each kind is begun", prepare, CHECKS))
