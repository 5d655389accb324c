#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A stranger's plugins against an installed tree: built from its pkg-config file alone, found, refused where
they are corrupted, and taken through a whole run. Speaks TAP.

    run.py --build BUILD [--sanitize VALUE] [--compiler COMMAND]
"""
import json
import math
import os
import random
import re
import shlex
import shutil
import sqlite3
import struct
import subprocess
import sys

import tree
from tree import call, expect, find

VOCABULARY, WIDTH, SCALE = 32, 8, 1.5
PROMPTS = [[1, 2, 3], [7], [30, 4, 4, 19, 0]]
DECODE = 4
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

[target.other]
backend = outside-target{variant}
require = all
"""
OPS = {"tapml.embed", "org.example.scale", "tapml.gather_rows", "tapml.linear"}


# ---- the tree --------------------------------------------------------------------------------------


def build_outside(place, source, sanitize, compiler):
    """The stranger's project, in a copy, so that nothing of the repository is near."""
    shutil.copytree(source, place["source"])
    environment = dict(os.environ, PKG_CONFIG_PATH=place["pkgconfig"], PKG_CONFIG_LIBDIR=place["pkgconfig"])
    if compiler:
        environment["CC"] = compiler
    call(["meson", "setup", place["build"], place["source"], f"-Db_sanitize={sanitize}",
          f"--prefix={place['prefix']}"], environment)
    output = call(["ninja", "-C", place["build"]], environment)
    expect("warning:" not in output, "the outside project builds with warnings:\n" + output)
    call(["meson", "install", "-C", place["build"], "--no-rebuild", "--quiet"], environment)


# ---- states ----------------------------------------------------------------------------------------


def states(place, *arguments):
    """Component (or the file, where it cannot be read) to (state, sentence), as the installed host tells them."""
    lines = json.loads(call([place["host"], "plugins", "--json", *arguments], place["environment"]))
    return {line["component"] or line["plugin"]: (line["state"], line["sentence"]) for line in lines}


def manifest(place, variant):
    return os.path.join(place["build"], f"org.example.outside{variant}.tapml")


def check_models(place):
    """The list of published models is found beside the host."""
    model, = json.loads(call([place["host"], "models", "--json", "gpt2"], place["environment"]))
    expect(model["hub"] == "openai-community/gpt2" and model["state"] == "opens", str(model))


def check_conf(place):
    """The installed runs of the embedded model name it where it is, and are right from any folder."""
    empty = os.path.join(place["folder"], "empty")
    os.makedirs(empty)
    for name in ("quickstart.ini", "from-cpu.ini", "to-cpu.ini", "way-back.ini", "vulkan.ini"):
        with open(find(place["folder"], name), encoding="utf-8") as file:
            text = file.read()
        expect("models/tiny" not in text, f"{name} has a path of the source tree")
        path = os.path.join(empty, name)
        with open(path, "w", encoding="utf-8") as file:  # The tree lies below a folder here.
            file.write(re.sub(r"= (/\S*/tapml/1/tiny)", lambda found: "= " + os.path.join(
                place["prefix"], "share", "tapml", "1", "tiny"), text))
        done = subprocess.run([place["host"], "--check-config", path], env=place["environment"], capture_output=True,
                              text=True, check=False)
        lacks = done.returncode == 3 and re.fullmatch(r".* is no-(driver|device): .*\n", done.stdout)
        expect(done.returncode == 0 or (name == "vulkan.ini" and lacks), f"{name}: {done.stdout}{done.stderr}")


def check_pages(place):
    """Each link of an installed page leads to a file of the tree; code in a page is none."""
    folder = os.path.dirname(find(os.path.join(place["prefix"], "share", "doc"), "CHANGELOG.md"))
    dead, count = [], 0
    for base, _, names in os.walk(folder):
        for name in sorted(names):
            if not name.endswith(".md"):
                continue
            with open(os.path.join(base, name), encoding="utf-8") as file:
                text = re.sub(r"^```.*?^```$", "", file.read(), flags=re.MULTILINE | re.DOTALL)
            for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
                if "://" not in link and not link.startswith("mailto:"):
                    count += 1
                    if not os.path.exists(os.path.join(base, link)):
                        dead.append(f"{os.path.relpath(os.path.join(base, name), folder)}: {link}")
    expect(count > 100, f"only {count} links were found")
    expect(not dead, "links of installed pages that lead nowhere: " + ", ".join(dead))


def check_hardening(place):
    """Programs lie anywhere in memory, and what they bind to is read-only once they have begun."""
    for name in ("tapml-host", "tapml-worker", "tapml-plugin-check"):
        said = call(["readelf", "-W", "-h", "-l", "-d", os.path.join(place["prefix"], "bin", name)])
        for word in ("DYN (", "GNU_RELRO", "NOW"):
            expect(word in said, f"{name}: readelf does not say '{word}'")
        expect(not re.search(r"GNU_STACK.* RWE ", said), f"{name}: its stack can be executed")


def check_manuals(place):
    """Manual pages and completions are where man and shells look for them; a build with a sanitizer has none."""
    share = os.path.join(place["prefix"], "share")
    paths = ["man/man1/tapml-host.1", "man/man1/tapml-opgen.1", "man/man5/tapml-run.ini.5", "man/man5/tapml-opdef.5",
             "bash-completion/completions/tapml-host", "zsh/site-functions/_tapml-host",
             "fish/vendor_completions.d/tapml-host.fish"]
    missing = [path for path in paths if not os.path.isfile(os.path.join(share, path))]
    expect(len(missing) == (0 if place["sanitize"] == "none" else len(paths)), f"not installed in share: {missing}")


def check_found(place):
    found = states(place)
    for component in ("outside", "outside-target", "outside_demo", "persimmon", "reference"):
        expect(found.get(component) == ("usable", ""), f"{component}: {found.get(component)}")


def check_library_alone(place):
    """By the note of a library that no folder of the search has; the installed one of the same id is passed over."""
    library = os.path.join(place["folder"], "alone", "outside.so")
    os.makedirs(os.path.dirname(library))
    shutil.copy(os.path.join(place["build"], "outside.so"), library)
    found = json.loads(call([place["host"], "plugins", "--json", "--plugin", library], place["environment"]))
    tiers = {(line["tier"], line["state"]) for line in found if line["component"] == "outside"}
    expect(tiers == {(1, "usable"), (4, "shadowed")}, f"tiers and states: {tiers}")


def variable(place, name):
    """A variable of the SDK's pkg-config file."""
    return call(["pkg-config", "--variable=" + name, "tapml-plugin-1"],
                dict(place["environment"], PKG_CONFIG_LIBDIR=place["pkgconfig"])).strip()


def check_draft(place, kind, code, sentence):
    """A kind that is a draft is called one when its note is made."""
    path = os.path.join(place["folder"], "draft.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write("[plugin]\nformat = 1\nid = org.example.draft\nversion = 1.0.0\nlibrary = draft.so\nabi = 1.0\n"
                   f"[component.draft]\nkind = {kind}\n")
    done = subprocess.run([variable(place, "manifest_tool"), "note", path + ".h", path], capture_output=True, text=True,
                          check=False)
    is_told = sentence in done.stderr if sentence else not done.stderr
    expect(done.returncode == code and is_told, f"exit code {done.returncode}: {done.stderr}")


def check_newer(place):
    """A plugin that needs the minor after that of the header."""
    minor = variable(place, "abi_minor")
    header = open(find(place["prefix"], "abi.h"), encoding="utf-8").read()
    expect(f"#define TAPML_ABI_MINOR {minor}u" in header, f"pkg-config says abi_minor '{minor}'")
    check_refused(place, "-newer-abi", "wrong-abi", f"needs the ABI 1.{int(minor) + 1}, this host has 1.{minor}")


def check_handles(place):
    """The target imports memory of the host, as tapml-plugin-check sees it; the other one needs not."""
    found = call([variable(place, "check"), "--only", "B-10", os.path.join(place["build"], "outside.so")], place["environment"])
    expect(re.findall(r"(?m)^(\w+) +B-10 +(\S+):", found) == [("skipped", "outside"), ("passed", "outside-target")], found)


def check_refused(place, variant, state, sentence):
    for component in ("outside", "outside-target"):
        found = states(place, "--plugin", manifest(place, variant))[component + variant]
        expect(found[0] == state and sentence in found[1], f"{component}{variant}: {found}")


def check_lie(place, number, old, new, sentence):
    """A manifest that says something else than its library."""
    folder = os.path.join(place["folder"], f"lie-{number}")
    os.makedirs(folder)
    shutil.copy(os.path.join(place["build"], "outside.so"), folder)
    text = open(manifest(place, ""), encoding="utf-8").read()
    expect(old in text, f"the manifest has no '{old}'")
    path = os.path.join(folder, "lie.tapml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new, 1))
    found = json.loads(call([place["host"], "plugins", "--json", "--plugin", path], place["environment"]))
    lines = [line for line in found if line["manifest"] == path]
    expect(len(lines) == 2, f"two components, found {lines}")
    for line in lines:
        expect(line["state"] == "mismatch" and sentence in line["sentence"], str(line))


# ---- a whole run -----------------------------------------------------------------------------------


def rounded(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def make_model(folder):
    """A checkpoint of two tensors; gives them back as rows."""
    os.makedirs(folder)
    draw = random.Random(20260101)
    tensors = {name: [[rounded(draw.uniform(-1, 1)) for _ in range(WIDTH)] for _ in range(VOCABULARY)]
               for name in ("embed.weight", "head.weight")}
    header, data = {}, b""
    for name, rows in tensors.items():
        packed = b"".join(struct.pack(f"<{WIDTH}f", *row) for row in rows)
        header[name] = {"dtype": "F32", "shape": [VOCABULARY, WIDTH], "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
    config = {"model_type": "outside_demo", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "embedding_scale": SCALE}
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)
    return tensors


def greedy(tensors, ids):
    """What the model says, by the formulas: it looks at the last token alone."""
    out = []
    for _ in range(DECODE):
        hidden = [rounded(SCALE * value) for value in tensors["embed.weight"][(out or ids)[-1]]]
        logits = [math.fsum(h * w for h, w in zip(hidden, row)) for row in tensors["head.weight"]]
        out.append(logits.index(max(logits)))
    return out


def write_run(place, name, variant, observers="", more=""):
    """The INI of a run in a folder of its own, with that variant's target and its observers. Gives folder and file."""
    folder = os.path.join(place["folder"], name)
    os.makedirs(folder)
    prompts, ini = os.path.join(folder, "prompts.txt"), os.path.join(folder, "run.ini")
    with open(prompts, "w", encoding="utf-8") as file:
        file.writelines("ids: " + " ".join(map(str, ids)) + "\n" for ids in PROMPTS)
    text = INI.format(dir=folder, prompts=prompts, decode=DECODE, model=place["model"], variant=variant)
    text += (f"observers = {observers}\n" if observers else "") + more
    if variant:
        text += f"\n[plugins]\nload = {manifest(place, variant)}\n"
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text)
    return folder, ini


def carve_and_replay(place, variant, code):
    """A whole run with that variant's target. Gives the store."""
    folder, ini = write_run(place, "run" + variant, variant)
    call([place["host"], "--config", ini], place["environment"], code)
    return sqlite3.connect(os.path.join(folder, "run.tapmlrun"))


def verdicts_of(store):
    """Op to the set of its cases' verdicts."""
    found = {}
    for op, verdict in store.execute('SELECT op, verdict FROM judged JOIN "case" ON case_id = "case".id'):
        found.setdefault(op, set()).add(verdict)
    return found


def check_run(place):
    place["model"] = os.path.join(place["folder"], "model")
    tensors = place["tensors"] = make_model(place["model"])
    store = carve_and_replay(place, "", 0)
    verdicts = verdicts_of(store)
    expect(verdicts == {op: {"pass"} for op in OPS}, f"verdicts: {verdicts}")
    found = {tuple(json.loads(ids)): json.loads(tokens)
             for ids, tokens in store.execute("SELECT ids, greedy FROM prompt")}
    for ids in PROMPTS:
        expect(found.get(tuple(ids)) == greedy(tensors, ids), f"greedy after {ids}: {found}")
    store.close()


def check_described_decoder(place):
    """A type that no plugin of the project has, against what Hugging Face computes."""
    model = os.path.join(os.environ["TAPML_TEST_DATA"], "outside", "persimmon")
    said = call([place["host"], "eval", "--model", model, "--backend", "reference"], place["environment"])
    expect(said.count("agrees") == 3, said)


def check_wrong_result(place):
    store = carve_and_replay(place, "-wrong-result", 1)
    verdicts = verdicts_of(store)
    expect(verdicts == {op: {"fail" if op == "org.example.scale" else "pass"} for op in OPS}, f"verdicts: {verdicts}")
    store.close()


# ---- observers -------------------------------------------------------------------------------------


def observed_run(place, name, variant, observers, deed, code):
    """A run whose target is observed. Gives its folder and what the host says on both streams."""
    more = f"[component.outside_replace]\ndeed = {deed}\n[component.outside_secret]\ndeed = {deed}\n"
    more += f"[component.outside_count]\nfile = {place['folder']}/{name}.txt\n"
    folder, ini = write_run(place, name, variant, observers, more)
    done = subprocess.run([place["host"], "--config", ini], env=place["environment"], capture_output=True, text=True,
                          check=False)
    said = done.stdout + done.stderr
    expect(done.returncode == code, f"exit code {done.returncode}, expected {code}\n{said}")
    return folder, said


def check_count(place):
    """An observer sees the calls of its place alone; the report names it."""
    folder, _ = observed_run(place, "counted", "", "outside_count", "", 0)
    with open(os.path.join(place["folder"], "counted.txt"), encoding="utf-8") as file:
        (name, calls, scaled), = [line.split() for line in file]
    expect(name == "other" and 0 < int(scaled) < int(calls), f"'{name}' has {calls} calls, {scaled} of scale")
    path = os.path.join(folder, "report.json")
    call([place["host"], "report", folder, "--json", path], place["environment"], 0)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    expect(report["targets"][0]["observers"] == "org.example.outside-observer/outside_count 1.0.0", str(report["targets"]))
    expect(report["source"]["observers"] == "", str(report["source"]))


def next_command(place, said):
    """The words of the command with which a run's output ends, for the installed host."""
    program, *words = shlex.split(re.search(r"^next: (.*)$", said, re.MULTILINE)[1])
    expect(program == "tapml-host", said)
    return [place["host"], *words]


def check_replaced(place, deed):
    """What a target computes wrongly is right where an observer computes it; without it, the same run finds it. The
    command that the run prints finds the plugin and the observer again."""
    name = "replaced-" + deed
    folder, said = observed_run(place, name, "-wrong-result", "outside_replace", deed, 0)
    expect("may replace what 'other' computes" in said, said)
    words = next_command(place, said)
    expect(manifest(place, "-wrong-result") in words, f"the plugin is not named: {words}")
    ids = json.loads(call(words[:-2] + ["--ids", "1 2 3", "--count", str(DECODE), "--json"], place["environment"]))["ids"]
    expect(ids[3:] == greedy(place["tensors"], [1, 2, 3]), f"the plan of the run gives other tokens: {ids}")
    without = [word for word in words[:-2] if word not in ("--plugin", manifest(place, "-wrong-result"))]
    call(without + ["--ids", "1 2 3"], place["environment"], 2)
    ini = os.path.join(folder, "run.ini")
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("observers = outside_replace\n", ""))
    said = call([place["host"], "--config", ini], place["environment"], 1)
    expect("scale is wrong" in said, said)
    call(next_command(place, said), place["environment"], 1)


def check_failure(place, number, observer, deed, sentence):
    """A failure is that of the observer, under its whole name, and no operator is blamed."""
    _, said = observed_run(place, f"failed-{number}", "", observer, deed, 3)
    expect(f"observer 'org.example.outside-observer/{observer}': {sentence}" in said, said)
    expect("is wrong" not in said, said)


def check_unknown_observers(place):
    for number, (names, sentence) in enumerate([("outside_cont", "did you mean 'outside_count'?"),
                                                ("outside", "expected an observer"),
                                                ("outside_count outside_count", "is named twice")]):
        folder, ini = write_run(place, f"unknown-{number}", "", names)
        for arguments in (["--config", ini], ["--check-config", ini]):
            done = subprocess.run([place["host"], *arguments], env=place["environment"], capture_output=True, text=True,
                                  check=False)
            said = done.stdout + done.stderr
            expect(done.returncode == 2 and sentence in said, f"{done.returncode}: {said}")
        expect(not os.path.exists(os.path.join(folder, "run.tapmlrun")), "a refused run has a store")


# ---- comparers -------------------------------------------------------------------------------------


def compared_run(place, name, variant, code, deed=""):
    """A run with a comparer. Gives its folder and what the host says."""
    more = f"[component.outside_compare]\ndeed = {deed}\n" if deed else ""
    folder, ini = write_run(place, name, variant, "", more)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("[run]\n", "[run]\ncomparers = outside_compare\n"))
    done = subprocess.run([place["host"], "--config", ini], env=place["environment"], capture_output=True, text=True,
                          check=False)
    expect(done.returncode == code, f"exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return folder, done.stdout + done.stderr


def measures_of(place, folder, code):
    """Op to what the report says of its measures."""
    path = os.path.join(folder, "report.json")
    call([place["host"], "report", folder, "--json", path], place["environment"], code)
    with open(path, encoding="utf-8") as file:
        target, = json.load(file)["targets"]
    return {item["op"]: item for item in target["measures"]}


def check_compared(place):
    """A measure is kept of each output, and says what the errors say; no verdict depends on it."""
    folder, _ = compared_run(place, "compared", "-wrong-result", 1)
    found = measures_of(place, folder, 1)
    expect(set(found) == OPS, f"measures of {set(found)}")
    for op, item in found.items():
        is_wrong = op == "org.example.scale"
        expect(item["comparer"] == "org.example.outside-comparer/outside_compare 1.0.0", str(item))
        expect(item["limit"] == 1e-4 and item["outputs"] > 0, str(item))
        expect((item["worst"] > 1e-4) == is_wrong and (item["beyond"] > 0) == is_wrong, str(item))
    with open(os.path.join(folder, "report.html"), encoding="utf-8") as file:
        expect("Measures of plugins" in file.read(), "the page has no measures")
    store = sqlite3.connect(os.path.join(folder, "run.tapmlrun"))
    case, = store.execute("SELECT case_id FROM measure WHERE value > 1e-4 LIMIT 1").fetchone()
    said = call([place["host"], "show", os.path.join(folder, "run.tapmlrun"), "--case", str(case)], place["environment"])
    expect("of the largest, limit 0.0001 (org.example.outside-comparer/outside_compare 1.0.0)" in said, said)
    said = call([place["host"], "replay", os.path.join(folder, "run.tapmlrun"), "--backend", "outside:f32",
                 "--comparer", "outside_compare"], place["environment"])
    expect("(of the largest)" in said, said)
    store.close()


def check_compared_later(place):
    """Results without a measure are replayed when a comparer is named; those that have one are not."""
    folder, ini = write_run(place, "compared-later", "")
    counts = []
    for old, new in (("", ""), ("[run]\n", "[run]\ncomparers = outside_compare\n"), ("", "")):
        with open(ini, encoding="utf-8") as file:
            text = file.read()
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text.replace(old, new, 1))
        done = subprocess.run([place["host"], "--config", ini], env=place["environment"], capture_output=True, text=True,
                              check=False)
        expect(done.returncode == 0, done.stdout + done.stderr)
        counts += re.findall(r"(\d+) cases and \d+ derived ones, (\d+) and \d+ of them now", done.stdout + done.stderr)
    cases = counts[0][0]
    expect(counts == [(cases, cases), (cases, cases), (cases, "0")], str(counts))
    expect(set(measures_of(place, folder, 0)) == OPS, "not all are measured")


def check_comparer_failure(place):
    """A comparer that fails ends the run under its name, and no operator is blamed."""
    _, said = compared_run(place, "compared-fails", "", 3, "fails")
    expect("comparer 'org.example.outside-comparer/outside_compare': this one has no measure" in said, said)
    expect("is wrong" not in said, said)


# ---- encodings -------------------------------------------------------------------------------------


def encoded_run(place, name, word, code):
    """A run whose weights are in an encoding. Gives its folder and what the host says."""
    folder, ini = write_run(place, name, "")
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("[model]\n", f"[model]\nweights = {word}\n"))
    done = subprocess.run([place["host"], "--config", ini], env=place["environment"], capture_output=True, text=True,
                          check=False)
    expect(done.returncode == code, f"exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return folder, done.stdout + done.stderr


def check_encoded(place):
    """Weights are powers of two in a run; it tells their losses, and its cases are replayed where the plugin is."""
    folder, said = encoded_run(place, "encoded", "powers", 0)
    expect(" weights as powers, " in said, said)
    store = sqlite3.connect(os.path.join(folder, "run.tapmlrun"))
    losses = [loss for loss, in store.execute("SELECT relative FROM loss")]
    store.close()
    # A value next to a power of two is at most a factor of the root of two away, what is rounded to 0 aside.
    expect(losses and all(0.05 < loss < 0.3 for loss in losses), str(losses))
    call([place["host"], "replay", os.path.join(folder, "run.tapmlrun"), "--backend", "outside:f32"], place["environment"])


def check_unknown_encoding(place):
    """A word that is none is refused with the nearest, that of a plugin among them."""
    _, said = encoded_run(place, "encoded-wrong", "power", 2)
    expect("[model] weights: expected stored, q8_0, " in said and "did you mean 'powers'?" in said, said)


# ---- policies --------------------------------------------------------------------------------------


def ordered_run(place, folder, ini, first, code):
    """Runs with the policy that moves `first` first. Gives the kinds in the order of their moves, and what is said."""
    with open(ini, encoding="utf-8") as file:
        text = re.sub(r"\n\[offload\](.|\n)*", "", file.read())
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text + f"\n[offload]\npolicy = outside_order\n[component.outside_order]\nfirst = {first}\n")
    call([place["host"], "--check-config", ini], place["environment"])
    done = subprocess.run([place["host"], "--config", ini], env=place["environment"], capture_output=True, text=True,
                          check=False)
    said = done.stdout + done.stderr
    expect(done.returncode == code, f"exit code {done.returncode}, expected {code}\n{said}")
    store = sqlite3.connect(os.path.join(folder, "run.tapmlrun"))
    steps = [step.split()[1] for step, in store.execute("SELECT step FROM step WHERE step LIKE 'move %' ORDER BY id")]
    store.close()
    return steps, said


def check_ordered(place):
    """Kinds are moved in the order of the policy. A run that goes on in another order begins its steps anew."""
    folder, ini = write_run(place, "ordered", "")
    for first in ("gather_rows", "embed"):
        steps, _ = ordered_run(place, folder, ini, "tapml." + first, 0)
        expect(steps[0] == first and len(steps) == len(OPS) and len(set(steps)) == len(OPS), f"{first} first: {steps}")
    path = os.path.join(folder, "report.json")
    call([place["host"], "report", folder, "--json", path], place["environment"])
    with open(path, encoding="utf-8") as file:
        policy = json.load(file)["run"]["policy"]
    expect(policy == "org.example.outside-policy/outside_order 1.0.0", policy)


def check_wrong_order(place):
    folder, ini = write_run(place, "disordered", "")
    _, said = ordered_run(place, folder, ini, "twice", 3)
    expect("policy 'org.example.outside-policy/outside_order': its order of 4 kinds has " in said, said)


# ---- policies that choose, order cases, and decide -------------------------------------------------


def chosen_run(place, name, code, deed=""):
    """A run whose cases a policy chooses and orders. Gives its folder and what is said."""
    more = "\n[select]\nbudget = 5\npolicy = outside_frequent\n[order]\npolicy = outside_frequent\n"
    more += f"[component.outside_frequent]\ndeed = {deed}\n" if deed else ""
    folder, ini = write_run(place, name, "", more=more)
    call([place["host"], "--check-config", ini], place["environment"])
    done = subprocess.run([place["host"], "--config", ini], env=place["environment"], capture_output=True, text=True,
                          check=False)
    said = done.stdout + done.stderr
    expect(done.returncode == code, f"exit code {done.returncode}, expected {code}\n{said}")
    return folder, said


def check_chosen(place):
    """What most cases are like is chosen, and the report says who has chosen, and that there is no certificate."""
    who = "org.example.outside-frequent/outside_frequent 1.0.0"
    folder, said = chosen_run(place, "chosen", 0)
    expect(f"in the order of the policy {who}, chosen by the policy {who}, without a certificate" in said, said)
    store = sqlite3.connect(os.path.join(folder, "run.tapmlrun"))
    counts = dict(store.execute("SELECT signature, count(*) FROM feature GROUP BY signature"))
    chosen = [counts[signature] for signature, in store.execute(
        "SELECT signature FROM judged JOIN feature USING (case_id)")]
    store.close()
    best = sorted((count for count in counts.values() for _ in range(count)), reverse=True)[:5]
    expect(sorted(chosen, reverse=True) == best, f"{chosen} of {counts}")
    path = os.path.join(folder, "report.json")
    call([place["host"], "report", folder, "--json", path], place["environment"])
    with open(path, encoding="utf-8") as file:
        target, = json.load(file)["targets"]
    selection = target["selection"]
    expect((selection["budget"], selection["policy"], selection["share"]) == ("5", who, None), str(selection))
    expect(target["counts"]["not_run"] == sum(counts.values()) - 5, str(target["counts"]))
    by = ["--policy", "outside_frequent", "--order", "outside_frequent"]
    done = subprocess.run([place["host"], "select", folder, "--budget", "5", "--json", *by], env=place["environment"],
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stderr)
    listed = json.loads(done.stdout)
    expect(f"chosen by the policy {who}, without a certificate" in listed["sentence"], listed["sentence"])
    expect(sorted((counts[case["signature"]] for case in listed["chosen"]), reverse=True) == best, done.stdout)


def check_built(place):
    """A search of plans asks a policy for plans; one that has none is refused."""
    folder = os.path.join(place["folder"], "built")
    os.makedirs(folder)
    paths = {name: os.path.join(folder, name) for name in ("run", "run.ini", "ids.txt", "text.txt", "trials.tapmlrun")}
    with open(paths["ids.txt"], "w", encoding="utf-8") as file:
        file.write("ids: 5 17 3 9\n")
    with open(paths["text.txt"], "w", encoding="utf-8") as file:
        file.write("One morning, Ada went to the river and saw a bird. " * 4)
    tiny = os.path.join(place["prefix"], "share", "tapml", "1", "tiny")
    with open(paths["run.ini"], "w", encoding="utf-8") as file:
        file.write(f"[run]\ndir = {paths['run']}\nprompts = {paths['ids.txt']}\ndecode = 2\ncapacity = 16\n"
                   f"[model]\npath = {tiny}\n[source]\nbackend = reference\n"
                   "[target.other]\nbackend = reference:f64\nisolation = never\n")
    for words in (["--carve"], ["rank", "--over", "op", "--by", "time"]):
        call([place["host"], *words, "--config", paths["run.ini"]], place["environment"])
    words = [place["host"], "plan", "search", "--config", paths["run.ini"], "--text", paths["text.txt"], "--context", "16",
             "--chunks", "2", "--trials", "4", "--store", paths["trials.tapmlrun"], "--json", "--builder"]
    found = json.loads(call([*words, "outside_frequent"], place["environment"]))
    expect(found["measured"] == 4 and found["best"] is not None, str(found))
    done = subprocess.run([*words, "outside_order"], env=place["environment"], capture_output=True, text=True, check=False)
    expect(done.returncode == 2 and "has no function 'build'" in done.stderr, f"{done.returncode}: {done.stderr}")


def check_wrong_choice(place, number, deed, sentence):
    _, said = chosen_run(place, f"wrong-choice-{number}", 3, deed)
    expect("policy 'org.example.outside-frequent/outside_frequent': " + sentence in said, said)


def check_driver_change(place):
    """A change of the driver makes what is stale run; what changed before has waited for it."""
    folder, ini = write_run(place, "driver-change", "", more="\n[watch]\ntriggers = policy:outside_driver_change\n")
    with open(ini, encoding="utf-8") as file:
        text = file.read()

    def look(driver, more=""):
        with open(ini, "w", encoding="utf-8") as file:
            file.write(text + more)
        said = call([place["host"], "watch", "--config", ini, "--once"],
                    dict(place["environment"], OUTSIDE_DRIVER=driver))
        return said, tuple(map(int, re.search(r"(\d+) of (\d+) cases had no fresh result, (\d+) ran now, (\d+) are left",
                                              said).groups()))

    who = "policy: org.example.outside-driver_change/outside_driver_change 1.0.0"
    said, (stale, count, ran, left) = look("1.0")
    expect(f"{who}: nothing is known yet" in said and (stale, ran, left) == (count, count, 0), said)
    harmless = "[fault.1]\ntarget = other\nop = linear\nkind = scale 1\n"
    said, (stale, _, ran, left) = look("1.0", harmless)
    expect(0 < stale < count and (ran, left) == (0, stale) and who not in said, said)
    said, found = look("1.1", harmless)
    expect(f"{who}: the driver of other is 1.1" in said and found == (count, count, count, 0), said)
    said, found = look("1.1", harmless + "; a remark\n")
    expect(found == (0, count, 0, 0) and who not in said, said)
    with open(os.path.join(folder, "watch.html"), encoding="utf-8") as file:
        expect("the driver of other is 1.1" in file.read(), "the page does not say why it ran")


# ---- all of it -------------------------------------------------------------------------------------

BUILD_ID = "build-id = "
CHECKS = [
    ("the installed host finds the plugins and the architecture", check_found),
    ("the installed host finds the list of published models", check_models),
    ("the runs of the embedded model are right where they are", check_conf),
    ("links of pages lead somewhere", check_pages),
    ("programs are hardened", check_hardening),
    ("manual pages and completions are installed", check_manuals),
    ("a library alone is known by its note", check_library_alone),
    ("a needed minor that is not there", check_newer),
    ("a kind that is a draft", check_draft, "org.example.thing/1-draft1", 0, "'org.example.thing/1-draft1' is a draft"),
    ("a kind that looks like a draft", check_draft, "org.example.thing-draft", 1, "a draft is written as"),
    ("a kind that is no draft", check_draft, "org.example.over-draft/1", 0, ""),
    ("a missing symbol", check_refused, "-no-symbol", "malformed", "no symbol 'tapml_plugin_query_v1'"),
    ("a changed parameter list", check_refused, "-changed-op", "refused", "tapml.linear"),
    ("no driver", check_refused, "-no-driver", "no-driver", "liboutside-driver.so.1 not found"),
    ("a manifest with another id", check_lie, 1, "id = org.example.outside", "id = org.example.inside", "org.example.inside"),
    ("a manifest of another build", check_lie, 2, BUILD_ID, BUILD_ID + "00", "the library is the build"),
    ("a manifest of another library", check_lie, 3, "library = outside.so", "library = inside.so", "inside.so"),
    ("a manifest with an option more", check_lie, 4, "calibrates = f64", "calibrates = f32 f64", "calibrates"),
    ("memory of the host is imported", check_handles),
    ("carve, replay, compare and offload with an op of its own", check_run),
    ("a decoder that is described agrees with Hugging Face", check_described_decoder),
    ("a target whose own op computes something else", check_wrong_result),
    ("an observer counts calls", check_count),
    ("an observer makes a call", check_replaced, "makes"),
    ("an observer mends a result", check_replaced, "mends"),
    ("an observer that fails", check_failure, 1, "outside_replace", "fails", "it is out of order"),
    ("an observer that makes a call without a result", check_failure, 2, "outside_replace", "makes nothing",
     "it has made a call of 'org.example.scale' and not written 'y'"),
    ("an observer that writes and makes no call", check_failure, 3, "outside_replace", "writes too early",
     "it has written 'y' of a call of 'org.example.scale', and not made the call"),
    ("an observer that writes what goes in", check_failure, 4, "outside_replace", "writes what goes in",
     "parameter 'x' of 'org.example.scale'"),
    ("an observer that replaces and does not say so", check_failure, 5, "outside_secret", "mends",
     "it writes 'y' of 'org.example.scale', and its traits do not say that it replaces"),
    ("observers that there are not", check_unknown_observers),
    ("a comparer measures all outputs", check_compared),
    ("a comparer that is named later", check_compared_later),
    ("a comparer that fails", check_comparer_failure),
    ("weights in an encoding of a plugin", check_encoded),
    ("an encoding that there is not", check_unknown_encoding),
    ("a policy orders the moves", check_ordered),
    ("a policy whose order is none", check_wrong_order),
    ("a policy chooses and orders cases", check_chosen),
    ("a policy builds plans", check_built),
    ("a policy that exceeds the budget", check_wrong_choice, 1, "lavish", "its choice has "),
    ("a policy whose worth is no number", check_wrong_choice, 2, "nan", "the worth of number "),
    ("a policy that orders a case twice", check_wrong_choice, 3, "twice", "its order of 5 cases has number "),
    ("a policy waits for a driver", check_driver_change),
]


def prepare(folder, arguments):
    place = tree.place(folder, arguments)
    place["source"] = os.path.join(folder, "source")
    place["build"] = os.path.join(folder, "build")
    build_outside(place, os.path.dirname(os.path.abspath(__file__)), arguments.sanitize, arguments.compiler)
    return place


if __name__ == "__main__":
    sys.exit(tree.report("it builds against an installed tree", prepare, CHECKS))
