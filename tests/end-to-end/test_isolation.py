#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_isolation.py TARGET | test_isolation.py conf PROMPTS DECODE MODE... [-FILE]...

The same run with the target in the host, behind the link in one process, and in a worker: the same bits. And workers
that crash, are killed by their own call, hang or take too much memory: each is the verdict of its cases, and the run goes on.

With `conf`, each file of conf/ but `-FILE` that way, source and targets, with the first so many prompts and steps: all
that its store has, but for times, and the plans.
"""
import os
import re
import sys

import rig

TARGET = sys.argv[1]
MODES = ("never", "loopback", "always")
# Of all tables: what must be the same. Times are not, nor what follows from them.
WHOLE = ("SELECT name, value FROM metadata WHERE name <> 'run.name' ORDER BY 1",
         "SELECT hash, position, text, ids, greedy FROM prompt ORDER BY 1",
         "SELECT * FROM tensor ORDER BY 1",
         "SELECT * FROM weight ORDER BY 1",
         "SELECT id, key, instance, op, version, phase, shape_class, prompt, step, part, tokens FROM \"case\" ORDER BY 1",
         "SELECT * FROM argument ORDER BY 1, 2",
         "SELECT * FROM page ORDER BY 1, 2, 3, 4",
         "SELECT id, instance, prompt, step, part, phase, shape_class, kept FROM call ORDER BY 1",
         "SELECT * FROM statistic ORDER BY 1, 2",
         "SELECT target, case_id, verdict, margin, output, reason, implementation, device, driver, options, beyond, elements"
         " FROM judged ORDER BY 1, 2",
         "SELECT * FROM \"limit\" ORDER BY 1, 2, 3")
BITS = ("SELECT case_id, verdict, margin, output, reason FROM judged ORDER BY 1",
        # Which kind moves first hangs on measured times; where all have moved does not.
        "SELECT verdict, margin, reason FROM step WHERE step = 'final'")


def write(folder, name, target="", more=""):
    """A short run with these further lines in its target's section and behind it."""
    sub = os.path.join(folder, name)
    ini, dir_ = rig.write_small_run(sub, target=TARGET, ids=rig.THREE_PROMPTS)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("[offload]", target + "\n\n[offload]") + more)
    return ini, dir_


def the_same_bits(folder):
    found = {}
    for mode in MODES:
        ini, dir_ = write(folder, mode, f"isolation = {mode}")
        rig.check(rig.host("--config", ini), 0)
        with open(os.path.join(dir_, "plan-gpu.txt"), encoding="utf-8") as file:
            plan = sorted(file)
        found[mode] = [rig.rows(dir_, question) for question in BITS] + [plan]
        assert found[mode][0], "there are results"
    assert found["loopback"] == found["never"], "loopback"
    assert found["always"] == found["never"], "always"


def all_of_conf(name, prompts, decode, modes):
    def test(folder):
        with open(os.path.join(rig.SOURCE, "conf", name), encoding="utf-8") as file:
            text = re.sub(r"(?m)^path *= *", f"path = {rig.SOURCE}/", file.read())
        for component in re.findall(r"(?m)^backend *= *([^:\s]+)", text):
            rig.need(f"device of {component}", rig.usable(component))
        text = re.sub(r"(?m)^prompts *= *models.*", f"prompts = {rig.tiny_prompts(folder, prompts)}", text)
        text = re.sub(r"(?m)^prompts *= *(\d+)", lambda found: f"prompts = {min(prompts, int(found[1]))}", text)
        text = re.sub(r"(?m)^decode *=.*", f"decode = {decode}", text)
        first = None
        for mode in modes:
            dir_ = os.path.join(folder, mode)
            ini = os.path.join(folder, f"{mode}.ini")
            with open(ini, "w", encoding="utf-8") as file:
                file.write(re.sub(r"(?m)^(\[(source|target\.[^]]*)\])", rf"\1\nisolation = {mode}",
                                  re.sub(r"(?m)^dir *=.*", f"dir = {dir_}", text)))
            rig.check(rig.host("--config", ini), 0)
            found = [rig.rows(dir_, question) for question in WHOLE]
            for plan in sorted(plan for plan in os.listdir(dir_) if plan.startswith("plan-")):
                with open(os.path.join(dir_, plan), encoding="utf-8") as file:
                    found.append((plan, sorted(file)))
            first = first or found
            assert all(rows for question, rows in zip(WHOLE, found) if re.search("case|result|tensor", question)), mode
            for question, wanted, rows in zip((*WHOLE, "plan"), first, found):
                assert rows == wanted, f"{mode}: {question}: {different(wanted, rows)}"
    test.__name__ = name
    return test


def different(wanted, rows):
    """The first rows that are."""
    return next(((a, b) for a, b in zip(wanted, rows) if a != b), (len(wanted), len(rows)))


def breaks_down(kind, sentence):
    def test(folder):
        ini, dir_ = write(folder, kind, f"isolation = always\nmemory = 700\ndeadline = {4 if kind == 'hang' else 120}",
                          f"\n[fault.1]\ntarget = gpu\nop = rms_norm\ninstance = layers.1/*\nkind = {kind}\n")
        done = rig.check(rig.host("--config", ini), 1)
        assert set(re.findall(r"^blamed: (\S+)", done.stdout, re.M)) == \
            {"layers.1/attn/norm", "layers.1/mlp/norm"}, done.stdout
        reasons = rig.rows(dir_, "SELECT instance, reason FROM judged JOIN \"case\" ON id = case_id"
                                 " WHERE verdict = 'error'")
        assert reasons and all(name.startswith("layers.1/") for name, _ in reasons), reasons
        assert any(re.search(sentence, reason) and f"rms_norm at '{name}'" in reason for name, reason in reasons), reasons
        assert any(re.search(r"crashed its worker [23] times and is not called again; first: .*" + sentence, reason) for _, reason in reasons), reasons
        others = rig.rows(dir_, "SELECT count(*) FROM judged WHERE verdict != 'pass' AND verdict != 'error'")
        assert others == [(0,)], others
        again = rig.check(rig.host("replay", os.path.join(dir_, "FAULT-1.tapmlrun"), "--config", ini,
                                   "--target", "gpu"), 1)
        assert re.search(sentence, again.stdout), again.stdout
    test.__name__ = kind
    return test


def hangs_of_every_layer_are_cheap(folder):
    """Two calls of an operator that hangs cost the deadline; the others a quarter of it, and derived cases nothing."""
    ini, dir_ = write(folder, "hangs", "isolation = always\ndeadline = 8",
                      "\n[fault.1]\ntarget = gpu\nop = silu\nkind = hang\n")
    done = rig.check(rig.host("--config", ini), 1)
    assert all(name.endswith("/mlp/silu") for name in re.findall(r"^blamed: (\S+)", done.stdout, re.M)), done.stdout
    waits = re.findall(r"did not answer within (\d+)(?:\.\d+)? s", "\n".join(reason for reason, in rig.rows(
        dir_, "SELECT reason FROM judged JOIN \"case\" ON id = case_id WHERE verdict = 'error'"
              " AND reason NOT LIKE '%is not called again%' ORDER BY case_id")))
    assert waits[:2] == ["8", "8"] and set(waits[2:]) <= {"2"}, waits
    derived = rig.rows(dir_, "SELECT DISTINCT verdict, reason FROM derived JOIN \"case\" ON id = case_id WHERE op = 'tapml.silu'")
    assert derived == [("skipped", "not called: two cases of its op have hung")], derived


def needs_isolation(folder):
    ini, _ = write(folder, "needs", "isolation = never", "\n[fault.1]\ntarget = gpu\nkind = crash\n")
    done = rig.check(rig.host("--config", ini), 2)
    assert "expected isolation = always in [target.gpu]" in done.stderr, done.stderr


def main():
    if TARGET == "conf":
        prompts, decode, *words = sys.argv[2:]
        modes = [word for word in words if word in MODES]
        names = sorted(name for name in os.listdir(os.path.join(rig.SOURCE, "conf"))
                       if name.endswith(".ini") and "-" + name not in words)
        rig.main([all_of_conf(name, int(prompts), int(decode), modes) for name in names])
        return
    rig.main([the_same_bits, breaks_down("crash", r"was killed by SIGSEGV"),
              breaks_down("kill", r"was killed by SIGKILL, which this host did not send \(its own memory was \d+ MiB\)"),
              breaks_down("hang", r"did not answer within \d+(\.\d+)? s and was ended"), hangs_of_every_layer_are_cheap,
              breaks_down("memory", r"took \d+ MiB of memory, may take 700, and was ended"), needs_isolation],
             needs=["reference", TARGET.split(":")[0]])


if __name__ == "__main__":
    main()
