#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""check_abi.py COMPILER: the headers of the ABI are what sdk/abi has recorded of them. Speaks TAP.

Each check is also given copies of the headers that are changed in one way, which it must see.
"""
import os
import re
import shutil
import subprocess
import sys

import rig

sys.path.insert(0, os.path.join(rig.SOURCE, "tools"))
import abi_layout  # The generator of the records.

COMPILER = sys.argv[1:]
RECORDED = sorted((name for name in os.listdir(abi_layout.RECORDS) if re.fullmatch(r"layout-\d+\.\d+\.h", name)),
                  key=lambda name: [int(number) for number in re.findall(r"\d+", name)])

# A member at the end of a struct: what the rules allow.
APPENDED = ("backend.h", "} tapml_limits;", "    uint32_t appended;\n    uint32_t appended_too;\n} tapml_limits;")

# Header, text, what replaces it, and what the layouts say of that.
CHANGED = {
    "inserted": ("op.h", "    const char *name; // \"tapml.rms_norm\"", "    const void *inserted;\n    const char *name; //",
                 "tapml_op.name moved"),
    "removed": ("backend.h", "    uint32_t grid;         // Workgroups on one axis.\n", "", "'grid'"),
    "removed at the end": ("backend.h", "    uint32_t half;         // TAPML_LIMITS_HALF_*\n", "", "'half'"),
    "retyped": ("op.h", "    uint32_t version;\n", "    int32_t version;\n", "tapml_op.version has another type"),
    "retyped to another size": ("tensor.h", "    uint32_t rank;  ", "    uint64_t rank;  ",
                                "tapml_tensor.rank has another size"),
    "another parameter": ("backend.h", "tapml_status (*buffer_unmap)(tapml_object *buffer, tapml_call *call);",
                          "tapml_status (*buffer_unmap)(tapml_object *buffer, tapml_call *call, uint32_t more);",
                          "tapml_backend.buffer_unmap has another type"),
    "reordered": ("plugin.h", "    const char *host_name;\n    const char *host_version;\n",
                  "    const char *host_version;\n    const char *host_name;\n", "tapml_query.host_name moved"),
    "appended to a frozen struct": ("backend.h", "} tapml_point;", "    uint64_t appended;\n} tapml_point;",
                                    "tapml_point is frozen"),
    "another scalar type": ("abi.h", "typedef int32_t tapml_status;", "typedef int64_t tapml_status;",
                            "tapml_status is another type"),
    "another number": ("op.h", "#define TAPML_E_WEIGHT      (1u << 1)", "#define TAPML_E_WEIGHT      (1u << 9)",
                       "TAPML_E_WEIGHT has another value"),
    "another id": ("backend.h", '"tapml.counters/1"', '"tapml.counters/2"', "TAPML_COUNTERS is another text"),
}
# Those that debug information shows: an id is not in it.
WITNESSED = ("inserted", "removed", "removed at the end", "retyped", "another parameter", "reordered",
             "appended to a frozen struct")

# Members that minor 7 put into the padding of an earlier minor, where pointers have 32 bits. An earlier plugin seems to
# have them there. It was seen when layouts were first compared; until 1.0 it may stay.
IN_PADDING = {("tapml_tensor", "spans", "ILP32")}


def changed(folder, *changes):
    """A copy of the headers in which a text stands in place of another; each change is (header, old, new, ...)."""
    include = os.path.join(folder, "include")
    shutil.rmtree(include, ignore_errors=True)
    shutil.copytree(abi_layout.INCLUDE, include)
    for header, old, new, *_ in changes:
        path = os.path.join(include, "tapml", header)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert text.count(old) == 1, f"'{old}' stands {text.count(old)} times in {header}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
    return include


def record(name):
    with open(os.path.join(abi_layout.RECORDS, name), encoding="utf-8") as file:
        return file.read()


# ---- layouts ---------------------------------------------------------------------------------------


def against_records(include, command):
    """What a compiler says of the headers behind which all recorded layouts are included."""
    text = abi_layout.umbrella(include) + "".join(f'#include "{os.path.join(abi_layout.RECORDS, name)}"\n' for name in RECORDED)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (done.stderr == ""), done.stderr
    return done.stderr


def in_model(include, model):
    return against_records(include, abi_layout.compiler(include, model) + ["-fsyntax-only", "-ferror-limit=0"])


def need_clang():
    rig.need("clang", shutil.which("clang"))


def the_compiler_sees_the_recorded_layouts(_):
    include = abi_layout.INCLUDE
    said = against_records(include, [*COMPILER, "-std=c11", "-Wall", "-Wextra", "-fsyntax-only", "-I" + include, "-x", "c", "-"])
    assert not said, said


def layouts_hold_in_each_data_model(_):
    need_clang()
    for model in abi_layout.MODELS:
        said = in_model(abi_layout.INCLUDE, model)
        assert not said, f"{model}: {said}"


def layouts_admit_an_appended_member(folder):
    need_clang()
    include = changed(folder, APPENDED)
    for model in abi_layout.MODELS:
        said = in_model(include, model)
        assert not said, f"{model}: {said}"


def layouts_see_every_other_change(folder):
    need_clang()
    include = changed(folder, *CHANGED.values())
    for model in abi_layout.MODELS:
        said = in_model(include, model)
        for name, (_, _, _, sentence) in CHANGED.items():
            assert sentence in said, f"{name}, {model}: '{sentence}' is not in: {said}"


# ---- what is not recorded --------------------------------------------------------------------------


def unrecorded(include):
    """The rows in which the layout of these headers and the record of their minor differ."""
    name, text = abi_layout.layout(include)
    assert name in RECORDED, f"sdk/abi/{name} is not there: tools/abi_layout.py layout"
    rows, recorded = text.splitlines(), record(name).splitlines()
    return [f"sdk/abi/{name} lacks {row}" for row in rows if row not in recorded] + \
           [f"sdk/abi/{name} has {row}" for row in recorded if row not in rows]


def headers_are_recorded(_):
    need_clang()
    found = unrecorded(abi_layout.INCLUDE)
    assert not found, "\n".join(found)
    assert abi_layout.layout(abi_layout.INCLUDE)[1] in map(record, RECORDED), "the rows stand in another order"


def a_member_that_is_not_recorded_is_seen(folder):
    need_clang()
    found = unrecorded(changed(folder, APPENDED))
    assert any("lacks MEMBER(tapml_limits, appended," in line for line in found), found


def records_are_complete(_):
    """The build compiles each of them, and the ledger ends with the minor of the headers."""
    with open(os.path.join(rig.SOURCE, "tests", "headers", "layouts.c"), encoding="utf-8") as file:
        text = file.read()
    for name in RECORDED:
        rig.contains(text, f"sdk/abi/{name}\"")
    with open(os.path.join(rig.SOURCE, "docs", "plugin-abi.md"), encoding="utf-8") as file:
        ledger = file.read().split("\n## Ledger\n")[1].split("\n## ")[0]
    minors = [int(minor) for minor in re.findall(r"^\| (\d+) \|", ledger, re.MULTILINE)]
    assert minors == list(range(len(minors))), f"minors of the ledger: {minors}"
    need_clang()
    assert abi_layout.minor_of(abi_layout.INCLUDE)[1] == minors[-1], f"the ledger ends with {minors[-1]}"


def table(text):
    """Struct to its (sizes, {member: offsets}), each for every data model, of a layout's text."""
    found = {}
    for struct, sizes in re.findall(r"^(?:SIZED|FROZEN)\((\w+), ([\d, ]+)\);$", text, re.MULTILINE):
        found[struct] = dict(zip(abi_layout.MODELS, map(int, sizes.split(", ")))), {}
    for struct, member, numbers in re.findall(r"^MEMBER\((\w+), ([\w.]+), ((?:\d+, ){6})", text, re.MULTILINE):
        offsets = map(int, numbers.split(", ")[0:6:2])
        found[struct][1][member] = dict(zip(abi_layout.MODELS, offsets))
    return found


def in_padding(include):
    """(struct, member, data model) of what begins before the end that the struct had without it."""
    today = table(abi_layout.layout(include)[1])
    return {(struct, member, model) for name in RECORDED for struct, (sizes, members) in table(record(name)).items()
            for member, offsets in today[struct][1].items() if member not in members
            for model in abi_layout.MODELS if offsets[model] < sizes[model]}


def members_are_appended_behind_padding(folder):
    """A size that reaches over padding would say that a member in it is there."""
    need_clang()
    found = in_padding(abi_layout.INCLUDE)
    assert found == IN_PADDING, f"in the padding of a recorded minor: {found}, expected {IN_PADDING}"
    include = changed(folder, ("backend.h", "} tapml_device_info;", "    uint32_t appended;\n} tapml_device_info;"))
    assert in_padding(include) - IN_PADDING == {("tapml_device_info", "appended", "ILP32")}


# ---- the witness -----------------------------------------------------------------------------------


def suppressions(name, include):
    """Admits members behind the last one that a recorded layout has, of structs with a size of their own. Only of those
    that have such members, since abidiff admits any other change of a struct that it finds here; the layouts see it."""
    text = record(name)
    recorded, structs = table(text), abi_layout.declarations(include)[0]
    grown = [struct for struct in re.findall(r"^SIZED\((\w+)", text, re.MULTILINE)
             if len(structs[struct]) > len(recorded[struct][1])]
    last = {struct: list(recorded[struct][1])[-1] for struct in grown}
    return "".join(f"[suppress_type]\n  name = {struct}\n  type_kind = struct\n"
                   f"  has_data_member_inserted_between = {{offset_after({last[struct]}), end}}\n" for struct in grown)


def abidiff(folder, include):
    """What abidiff finds between each recorded witness and the one of these headers; "" where it admits all."""
    library, rules, found = os.path.join(folder, "witness.so"), os.path.join(folder, "appended.suppr"), ""
    abi_layout.build_witness(include, library, COMPILER)
    witnesses = [name for name in sorted(os.listdir(abi_layout.RECORDS)) if name.endswith(".abi")]
    assert witnesses, "no witness is recorded"
    for name in witnesses:
        with open(rules, "w", encoding="utf-8") as file:
            file.write(suppressions(name.replace("witness", "layout").replace(".abi", ".h"), include))
        # A member of another type and the same size counts as harmless there.
        done = subprocess.run(["abidiff", "--harmless", "--suppressions", rules, os.path.join(abi_layout.RECORDS, name), library],
                              capture_output=True, text=True, check=False)
        assert done.returncode in (0, 4, 8, 12), f"abidiff: exit {done.returncode}: {done.stderr}"
        found += done.stdout if done.returncode else ""
    return found


def need_abidiff():
    need_clang()
    rig.need("abidiff", shutil.which("abidiff"))


def the_witness_is_the_recorded_one(folder):
    need_abidiff()
    found = abidiff(folder, abi_layout.INCLUDE)
    assert not found, found
    assert any(name.endswith("-{}.{}.abi".format(*abi_layout.minor_of(abi_layout.INCLUDE)))
               for name in os.listdir(abi_layout.RECORDS)), "no witness of this minor: tools/abi_layout.py witness"


def the_witness_admits_an_appended_member(folder):
    need_abidiff()
    found = abidiff(folder, changed(folder, APPENDED))
    assert not found, found


def the_witness_shows_every_other_change(folder):
    need_abidiff()
    for name in WITNESSED:
        assert abidiff(folder, changed(folder, CHANGED[name])), f"{name}: abidiff admits it"
    assert abidiff(folder, changed(folder, APPENDED, CHANGED["inserted"])), "abidiff admits both"


if __name__ == "__main__":
    rig.main([the_compiler_sees_the_recorded_layouts, layouts_hold_in_each_data_model, layouts_admit_an_appended_member,
              layouts_see_every_other_change, headers_are_recorded, a_member_that_is_not_recorded_is_seen,
              records_are_complete, members_are_appended_behind_padding, the_witness_is_the_recorded_one,
              the_witness_admits_an_appended_member, the_witness_shows_every_other_change])
