#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A stranger's GPU driver with an operator of its own, against an installed tree: what tapml-new begins, over OpenCL, with
the op of backend.c, whose component is what the op is judged by. Speaks TAP.

    driver.py --build BUILD [--sanitize VALUE] [--compiler COMMAND]
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import run
import tree
from begun import change, no_warning, read
from tree import call, expect

OWN = "org.example.scale"
INI = """\
[run]
dir = {dir}
prompts = {prompts}
decode = {decode}
capacity = 32
chunk = 4

[model]
path = {model}

[source]
backend = outside:f64

[target.gpu]
backend = scale
require = all
{more}
[plugins]
load = {manifest}
"""
REPLACEMENTS = """\
  custom_target('replacements.c', input: files('gather_rows.k'), output: 'replacements.c', depfile: 'replacements.c.d',
                command: [gpu.get_variable('kexpand'), 'table', '@OUTPUT@', 'replacements', '@INPUT@',
                          '--language', 'opencl', '--variants', '0,256', expand_with]),
"""
# The same kernel by hand, in the language of the driver, for dense tensors.
BY_HAND = r"""
#define TEXT(lanes)                                                                                            \
    "typedef struct { uint x_at, x_n, x_s0, x_s1, y_at, y_n, y_s0, y_s1, width, count; float factor; } Params;" \
    "__kernel __attribute__((reqd_work_group_size(WG_X, 1, 1)))"                                               \
    "void scale(const Params p, __global const float *x, __global float *y) {"                                 \
    "  const uint group = get_group_id(0) + get_group_id(1) * get_num_groups(0);"                              \
    "  const uint i = group * WG_X + get_local_id(0);"                                                         \
    "  for (uint j = 0; i < p.count && j < " lanes "; j++) {"                                                  \
    "    y[(p.y_at + i) * " lanes " + j] = p.factor * x[(p.x_at + i) * " lanes " + j];"                        \
    "  }"                                                                                                      \
    "}"
static const unsigned char one[] = TEXT("1u"), four[] = TEXT("4u");
static const struct k_tune tune[] = {{"WG_X", 0, 64}, {"WG_Y", 1, 1}, {"WG_Z", 2, 1}};
static const struct k_binding bindings[] = {{"x", "f32", 0, K_ACCESS_IN}, {"y", "f32", 1, K_ACCESS_OUT}};
static const struct k_kernel by_hand[] = {
    {"scale", 0, 3, tune, 2, bindings, sizeof(struct k_scale_params), one, sizeof(one) - 1, NULL},
    {"scale", K_V_X4, 3, tune, 2, bindings, sizeof(struct k_scale_params), four, sizeof(four) - 1, NULL},
    {.name = NULL},
};
"""
# The kernel of the op, as it is begun, and what is wrong in others.
FACTOR = "VX_SPLAT(p.factor) * v"
WRONG_FACTOR = "VX_SPLAT(p.factor * 1.01f) * v"
BOUND = "if (i < p.count) {"
WRONG_BOUND = "if (i == p.count) { AX_SET(y, p.y_at + i, VX_SPLAT(7.0f)); }\n  " + BOUND


def is_there(build):
    """Whether the machine has a device of OpenCL."""
    lines = json.loads(call([os.path.join(build, "tapml-host"), "plugins", "--json"]))
    return ("opencl", "usable") in [(line["component"], line["state"]) for line in lines]


def path_of(place, name):
    return os.path.join(place["project"], name)


def build_driver(place, code=0):
    """Builds what has changed; gives what the build has printed."""
    done = subprocess.run(["ninja", "-C", path_of(place, "build")], env=place["environment"], capture_output=True, text=True,
                          check=False)
    expect(done.returncode == code, done.stdout + done.stderr)
    return done.stdout + done.stderr


def begin_driver(place):
    """What tapml-new begins, with the driver of plugins/opencl where it has a device of ordinary memory."""
    new, own = os.path.join(place["prefix"], "bin", "tapml-new"), os.path.join(os.environ["TAPML_TEST_SOURCE"], "plugins", "opencl")
    place["project"] = os.path.join(place["folder"], "driver")
    place["manifest"] = path_of(place, f"build/{OWN}.tapml")
    call([new, "gpu", "--id", OWN, "--language", "opencl", "--with-op", "--quiet", place["project"]], place["environment"])
    for name in ("aside.c", "device.c", "driver.c", "driver.h", "driver_symbols.def", "memory.c", "pipeline.c", "queue.c"):
        shutil.copy(os.path.join(own, name), place["project"])
    change(path_of(place, "meson.build"), "'device.c'", "'aside.c', 'device.c'")
    change(path_of(place, "driver.c"), '#include "sources.h"\n', '#include "op.h"\n#include "sources.h"\n')
    change(path_of(place, "driver.c"), '    .id = "opencl",\n', '    .id = "scale",\n    .own = &op_own,\n')
    for line in ("sources += custom_target('gpu_", "  'catalogue'", "  '--kembed'"):
        change(path_of(place, "meson.build"), "# " + line, line)
    change(path_of(place, "meson.build"), "'-ffp-contract=off', ", "'-ffp-contract=off', '-D_GNU_SOURCE', ")
    change(path_of(place, "op.c"), "static const struct k_kernel no_kernels[] = {{.name = NULL}};",
           "extern const struct k_kernel own_kernels[];")
    change(path_of(place, "op.c"), ".kernels = no_kernels", ".kernels = own_kernels")
    change(path_of(place, "scale.opdef"), "dtype = f32\n", "dtype = f32 f16\n")


def prepare(folder, arguments):
    place = run.prepare(folder, arguments)
    place["environment"].update(PKG_CONFIG_PATH=place["pkgconfig"], PKG_CONFIG_LIBDIR=place["pkgconfig"])
    if arguments.compiler:
        place["environment"]["CC"] = arguments.compiler
    place["model"] = os.path.join(folder, "model")
    run.make_model(place["model"])
    begin_driver(place)
    call(["meson", "setup", path_of(place, "build"), place["project"], f"-Db_sanitize={place['sanitize']}"], place["environment"])
    no_warning(build_driver(place))
    return place


# ---- runs ------------------------------------------------------------------------------------------


def run_host(place, name, code=0, more=""):
    """A run in the folder of that name, or what is left of it; gives standard output and error."""
    folder = os.path.join(place["folder"], "runs", name)
    os.makedirs(folder, exist_ok=True)
    prompts, ini = os.path.join(folder, "prompts.txt"), os.path.join(folder, "run.ini")
    with open(prompts, "w", encoding="utf-8") as file:
        file.writelines("ids: " + " ".join(map(str, ids)) + "\n" for ids in run.PROMPTS)
    with open(ini, "w", encoding="utf-8") as file:
        file.write(INI.format(dir=folder, prompts=prompts, decode=run.DECODE, model=place["model"], more=more,
                              manifest=place["manifest"]))
    done = subprocess.run([place["host"], "--config", ini], env=place["environment"], capture_output=True, text=True, check=False)
    expect(done.returncode == code, f"exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def verdicts(place, name):
    return run.verdicts_of(run.sqlite3.connect(store_of(place, name)))


def store_of(place, name):
    return os.path.join(place["folder"], "runs", name, "run.tapmlrun")


def judged_now(said):
    """Cases, and those that were judged at this start, of the line that ends the replay."""
    found = re.search(r"replay on gpu: (\d+) cases and \d+ derived ones, (\d+) and \d+ of them now", said)
    expect(found, said)
    return int(found[1]), int(found[2])


def check_run(place):
    said = run_host(place, "right")
    expect(verdicts(place, "right") == {op: {"pass"} for op in run.OPS}, f"{verdicts(place, 'right')}\n{said}")


def replay(place, *words):
    return call([place["host"], "replay", store_of(place, "stored"), "--backend", "scale", "--plugin", place["manifest"], *words],
                place["environment"])


def check_store(place):
    """The cases of the run judge the driver by themselves, too."""
    folder = os.path.dirname(store_of(place, "stored"))
    shutil.copytree(os.path.dirname(store_of(place, "right")), folder)
    call([place["host"], "store", "inline", folder], place["environment"])
    said = replay(place)
    expect(OWN in said, said)
    said = call([os.path.join(place["prefix"], "bin", "tapml-plugin-check"), "--only", "R-01", "--replay",
                 store_of(place, "stored"), place["manifest"]], place["environment"])
    expect(re.search(r"^passed +R-01", said, re.MULTILINE), said)


def check_half(place):
    """The kernel's form for f16. The reference has none, so that cases of a whole run, with other values, need another."""
    said = replay(place, "--activations", "f16")
    expect(OWN in said, said)


def check_guard(place):
    """A kernel that writes one lane group behind its output."""
    change(path_of(place, "scale.k"), BOUND, WRONG_BOUND)
    build_driver(place)
    said = run_host(place, "behind", 1)
    change(path_of(place, "scale.k"), WRONG_BOUND, BOUND)
    expect(verdicts(place, "behind")[OWN] == {"fail"}, f"{verdicts(place, 'behind')}\n{said}")
    expect("redzone after 'y' was written" in said, said)


def check_wrong(place):
    """A kernel that is wrong, in the folder of the run in which it was right, and mended again."""
    change(path_of(place, "scale.k"), FACTOR, WRONG_FACTOR)
    build_driver(place)
    cases, _ = judged_now(run_host(place, "right", 1))
    found = verdicts(place, "right")
    expect(found == {op: {"fail" if op == OWN else "pass"} for op in run.OPS}, str(found))
    change(path_of(place, "scale.k"), WRONG_FACTOR, FACTOR)
    build_driver(place)
    again, now = judged_now(run_host(place, "right"))
    expect(0 < now < again == cases, f"{now} of {again} cases were judged anew, of {cases} before")
    expect(verdicts(place, "right")[OWN] == {"pass"}, str(verdicts(place, "right")))


def check_by_hand(place):
    """A kernel that kexpand has not made, in the language of the driver."""
    change(path_of(place, "op.c"), "extern const struct k_kernel own_kernels[];\n", BY_HAND)
    change(path_of(place, "op.c"), ".kernels = own_kernels", ".kernels = by_hand")
    no_warning(build_driver(place))
    run_host(place, "by hand")
    expect(verdicts(place, "by hand")[OWN] == {"pass"}, str(verdicts(place, "by hand")))
    change(path_of(place, "op.c"), BY_HAND, "extern const struct k_kernel own_kernels[];\n")
    change(path_of(place, "op.c"), ".kernels = by_hand", ".kernels = own_kernels")


def check_replaced(place):
    """A kernel under the name of one of the SDK is what ops of the catalogue launch."""
    text = read(tree.find(place["prefix"], "gather_rows.k"))
    expect(", p.last)" in text, text)
    with open(path_of(place, "gather_rows.k"), "w", encoding="utf-8") as file:
        file.write(text.replace(", p.last)", ", 0u)"))
    change(path_of(place, "meson.build"), "  custom_target('kernels.c',", REPLACEMENTS + "  custom_target('kernels.c',")
    change(path_of(place, "op.c"), "extern const struct k_kernel own", "extern const struct k_kernel replacements[];\nextern const struct k_kernel own")
    change(path_of(place, "op.c"), ".kernels = own_kernels", ".kernels = own_kernels,\n    .replacements = replacements")
    build_driver(place)
    run_host(place, "replaced", 1)
    found = verdicts(place, "replaced")
    expect(found.pop("tapml.gather_rows") != {"pass"} and set.union(*found.values()) == {"pass"}, str(found))


def check_refused(place):
    """One that takes other parameters cannot stand there; the driver says so before anything is computed."""
    change(path_of(place, "gather_rows.k"), "FIELD(u32, last)", "FIELD(u32, last) FIELD(u32, more)")
    build_driver(place)
    state, sentence = run.states(place, "--plugin", place["manifest"])["scale"]
    expect(state == "probe-failed" and "'gather_rows' takes the place of one with other parameters" in sentence,
           f"{state}: {sentence}")


CHECKS = [
    ("a run is right, with the op on the device", check_run),
    ("its cases judge the driver without the model", check_store),
    ("its cases in f16 are right", check_half),
    ("a kernel that writes too much is found by the guard", check_guard),
    ("a kernel that is wrong fails, and makes results stale", check_wrong),
    ("a kernel by hand is right", check_by_hand),
    ("a kernel takes the place of one of the SDK", check_replaced),
    ("a kernel that cannot is refused", check_refused),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    if not is_there(parser.parse_known_args()[0].build):
        if "opencl" in os.environ.get("TAPML_REQUIRE", "").replace(",", " ").split():
            sys.exit("Bail out! opencl is required and cannot be used")
        print("1..0 # SKIP no device of OpenCL")
        return 0
    return tree.report("it is begun, and builds with a driver of OpenCL", prepare, CHECKS)


if __name__ == "__main__":
    sys.exit(main())
