#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""test_watch_hour.py SECONDS [KILLS [SEED]]: a service watches while plugins, options, models, prompts and a driver change,
and is killed at moments that are drawn. It misses nothing and repeats nothing.

The changes are drawn by the seed, each kind at least once: a plugin that is compiled anew with another constant, an honest
one or one that makes it wrong; a remark, an option and a fault in the INI; other prompts; other weights; another driver
(SwiftShader or lavapipe, PoCL's devices where they are not), for which the service is started again, as a driver is
updated; and two of them, the second while a look at the first is under way. After each, what the rows of the store say is
compared with the results themselves: one row of `look`, which names the change; a row of `looked` for each case whose result
is another one, and for no other; no result that was made since the change is made again, however often the service was
killed. In the end the verdicts are those of a run that begins anew, and a simulation of the triggers finds what was found.
"""
import json
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time

import rig
import test_watch

SECONDS = float(sys.argv[1])
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
OUTSIDE = os.path.join(rig.SOURCE, "tests", "outside")
TOOLS = os.path.join(rig.SOURCE, "sdk", "tools")
PATIENCE_S = 300  # For a change to be seen, on a machine with other work.
KEPT_LOOKS = 1000  # Cases looked at are kept for so many looks: LOOKED_LOOKS of core/store/looked.h.
IDLE_S = 3  # Without a look, after which none comes for what was seen.
LINES = 30  # Of the service's last words, if a change is not seen.
LOOK_S = 5  # About what a look takes, until some were seen.
PROMPTS = ("1 5 7 9", "11", "3 1 4 1 5 9", "27 18 28", "8 6 4 2 8 6 4 2 1")
KINDS = ("remark", "fault", "option", "honest", "spoilt", "prompts", "model", "driver", "both")
DRIVERS = (
    ("vulkan", "VK_ICD_FILENAMES", ("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json", "/usr/lib/chromium/vk_swiftshader_icd.json")),
    ("opencl", "POCL_DEVICES", ("pthread", "basic")),
)


def find_driver():
    """The first of DRIVERS that is two on this machine."""
    for component, variable, values in DRIVERS:
        names = [rig.host("devices", component, env={variable: value}).stdout for value in values]
        if all(component + ":" in name for name in names) and names[0] != names[1]:
            return component, variable, values
    raise rig.Skip("no driver that has two forms")


def replace(path, data):
    """Puts a file into its place at once, as those do who mean well."""
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)


class Plugin:
    """A stranger's plugin, compiled through the SDK of the tree, with two constants: how its memory is aligned, which
    changes no result, and a factor of its products."""

    def __init__(self, folder):
        self.folder, self.work = os.path.join(folder, "plugin"), os.path.join(folder, "plugin-work")
        self.align, self.factor = 64, "1.0f"
        os.makedirs(self.folder)
        os.makedirs(self.work)
        self.manifest = os.path.join(self.folder, "org.example.outside-hour.tapml")
        opdefs = [os.path.join(OUTSIDE, "scale.opdef")] + [
            os.path.join(rig.SOURCE, "sdk", "ops", f"{op}.opdef") for op in ("embed", "gather_rows", "linear")]
        with open(os.path.join(OUTSIDE, "backend.ini.in"), encoding="utf-8") as file:
            text = file.read().replace("@SUFFIX@", "-hour").replace("@MINOR@", "0")
        self.ini = os.path.join(self.work, "plugin.ini")
        with open(self.ini, "w", encoding="utf-8") as file:  # Its limits are those of the reference.
            file.write("".join(line + "\n" for line in text.splitlines() if not line.startswith("calibrates")))
        self.tool("opgen", "header", self.at("ops.h"), *opdefs)
        self.tool("opgen", "tables", self.at("ops.c"), "--include=ops.h", *opdefs)
        self.tool("manifest", "note", self.at("note.h"), self.ini)
        self.build()

    def at(self, name):
        return os.path.join(self.work, name)

    @staticmethod
    def tool(name, *words):
        subprocess.run([sys.executable, os.path.join(TOOLS, name), *words], check=True)

    def build(self):
        with open(os.path.join(OUTSIDE, "backend.c"), encoding="utf-8") as file:
            text = file.read()
        for old, new in (("ALIGN = 64,", f"ALIGN = {self.align},"), (" + bias;", f" * {self.factor} + bias;")):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        with open(self.at("backend.c"), "w", encoding="utf-8") as file:
            file.write(text)
        library = self.at("outside-hour.so")
        subprocess.run(["cc", "-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-ffp-contract=off",
                        "-Wl,--build-id,-z,now,-z,relro,-z,nodelete,-Bsymbolic", "-I", self.work,
                        "-I", os.path.join(rig.SOURCE, "sdk", "include"), "-DOUTSIDE_SUFFIX=\"-hour\"",
                        "-DOUTSIDE_NOTE=\"note.h\"", "-DOUTSIDE_OPS=\"ops.h\"", "-o", library, self.at("backend.c"),
                        self.at("ops.c")], check=True)
        self.tool("manifest", "write", self.at("plugin.tapml"), library)
        for made, path in ((library, os.path.join(self.folder, "outside-hour.so")), (self.at("plugin.tapml"), self.manifest)):
            with open(made, "rb") as file:
                replace(path, file.read())


class Service:
    """`tapml-host watch`, and the environment that it is started in."""

    def __init__(self, ini):
        self.ini, self.variables, self.child, self.kills = ini, {}, None, 0
        self.log = ini + ".log"  # A pipe that nobody reads would hold it up.

    def start(self):
        with open(self.log, "a", encoding="utf-8") as log:
            self.child = test_watch.serve(self.ini, "--interval", "30", env=self.variables, stderr=log)

    def said(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read()[-4000:]

    def state(self):
        """The service and all processes below it as the kernel sees them (a stack is root's to read), and its last words."""
        lines, left = [], [self.child.pid]
        while left:
            pid = left.pop(0)
            status = read_of(pid, "status")
            state = next((line for line in status.splitlines() if line.startswith("State:")), "State: gone")
            lines.append(f"process {pid} {read_of(pid, 'comm')}: {state}, waits in {read_of(pid, 'wchan') or '-'}")
            lines += ["    " + line for line in read_of(pid, "stack").splitlines()]
            left += children_of(pid)
        with open(self.log, encoding="utf-8") as log:
            return "\n".join(lines + log.read().splitlines()[-LINES:])

    def looks(self):
        """The processes that look, which a kill of the service ends, too."""
        return children_of(self.child.pid)

    def end(self, number):
        looks = self.looks()
        self.child.send_signal(number)
        self.child.wait(timeout=PATIENCE_S)
        deadline = time.monotonic() + PATIENCE_S
        while any(is_alive(pid) for pid in looks):
            assert time.monotonic() < deadline, f"a look outlives its service: {looks}"
            time.sleep(0.01)

    def kill(self):
        self.end(signal.SIGKILL)
        self.kills += 1
        self.start()


def read_of(pid, name):
    """What a file of a process says, or nothing."""
    try:
        with open(f"/proc/{pid}/{name}", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def children_of(pid):
    """The processes that a process has started, with any of its threads."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    return [int(child) for thread in threads for child in read_of(pid, f"task/{thread}/children").split()]


def is_alive(pid):
    return read_of(pid, "stat").rpartition(")")[2].split()[:1] not in ([], ["Z"])


class Watched:
    """The run as its user changes it."""

    def __init__(self, folder, draw):
        self.folder, self.random, self.dir = folder, draw, os.path.join(folder, "run")
        self.told = os.path.join(folder, "told")
        self.plugin = Plugin(folder)
        self.component, self.variable, self.values = find_driver()
        self.model = os.path.join(folder, "model")
        shutil.copytree(os.path.join(rig.DATA, "models", "llama"), self.model)
        self.remarks, self.has_fault, self.is_reduced, self.driver, self.prompts = 0, False, False, 0, [PROMPTS[0], PROMPTS[1]]
        self.ini = self.write(folder, self.dir)
        self.service = Service(self.ini)
        self.service.variables = {self.variable: self.values[0]}

    def write(self, folder, dir_, command=True):
        os.makedirs(folder, exist_ok=True)
        prompts = os.path.join(folder, "prompts.txt")
        data = "".join(f"ids: {prompt}\n" for prompt in self.prompts).encode()
        if not os.path.exists(prompts) or open(prompts, "rb").read() != data:
            replace(prompts, data)
        text = rig.RUN.format(dir=dir_, prompts=prompts, decode=2, model=self.model, source="reference",
                              target="reference:f32-blocked")
        text = text.replace("[offload]", ("activations = f16\n" if self.is_reduced else "") + "\n[offload]")
        text += f"[target.own]\nbackend = outside-target-hour\n[target.driver]\nbackend = {self.component}\n"
        text += f"[plugins]\nload = {self.plugin.manifest}\n"
        text += "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n" if self.has_fault else ""
        text += f"[watch]\non-change = echo $TAPML_LOOK $TAPML_WORSE $TAPML_BETTER >> {self.told}\n" if command else ""
        path = os.path.join(folder, "run.ini")
        data = (text + "; a remark\n" * self.remarks).encode()
        if not os.path.exists(path) or open(path, "rb").read() != data:
            replace(path, data)
        return path

    def change(self, kind, look_s):
        """Makes a change; gives what looks at it say of its causes, and whether verdicts are to be (worse, better): None where
        that is not known before."""
        turned = None
        if kind == "remark":
            self.remarks, turned = self.remarks + 1, (False, False)
        elif kind in ("fault", "both"):
            self.has_fault = not self.has_fault
            turned = (self.has_fault, not self.has_fault)
        elif kind == "option":
            self.is_reduced = not self.is_reduced
        elif kind == "prompts":
            self.prompts = self.random.sample([prompt for prompt in PROMPTS if prompt != self.prompts[-1]], 2)
        elif kind == "model":
            self.change_weights()
            return ("model.safetensors changed",), None
        elif kind == "driver":
            self.driver = 1 - self.driver
            self.service.end(signal.SIGTERM)
            assert self.service.child.returncode == 0, self.service.said()
            self.service.variables = {self.variable: self.values[self.driver]}
            self.service.start()
            return ("the driver of driver was",), None
        if kind in ("honest", "spoilt"):
            return self.change_plugin(kind)
        self.write(self.folder, self.dir)
        if kind == "both":
            time.sleep(self.random.uniform(0, look_s))
            return (*self.change_plugin("honest")[0], "run.ini changed"), turned
        return ("prompts.txt changed" if kind == "prompts" else "run.ini changed",), turned

    def change_plugin(self, kind):
        plugin, turned = self.plugin, (False, False)
        if kind == "honest":
            plugin.align = 64 if plugin.align > 1024 else 2 * plugin.align
        else:
            plugin.factor = "1.0f" if plugin.factor != "1.0f" else "1.01f"
            turned = (plugin.factor != "1.0f", plugin.factor == "1.0f")
        plugin.build()
        return ("the plugin of own has another build",), turned

    def change_weights(self):
        """Another file of weights, whose last tensor is other."""
        path = os.path.join(self.model, "model.safetensors")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        at = len(data) - 4 * self.random.randint(1, 64)
        value, = struct.unpack_from("<f", data, at)
        struct.pack_into("<f", data, at, value * 1.25 + 0.01)
        replace(path, bytes(data))


def results(dir_, name="run.tapmlrun"):
    """(target, key of a case): what computed its results, and their times, which may be the same by chance. Empty without a
    store."""
    try:
        connection = sqlite3.connect(f"file:{os.path.join(dir_, name)}?mode=ro", uri=True)
        found = connection.execute("SELECT target, lower(hex(key)), time_ns, outcome, implementation, device, driver, options "
                                   "FROM result JOIN \"case\" ON id = case_id ORDER BY 1, 2, 3").fetchall()
        connection.close()
    except sqlite3.Error:
        return {}
    times = {}
    for target, key, *result in found:
        times.setdefault((target, key), []).append(tuple(result))
    return times


def looks_after(dir_, id_):
    try:
        return rig.rows(dir_, f"SELECT id, cause, remaining, worse, better FROM look WHERE id > {id_} ORDER BY id")
    except sqlite3.Error:
        return []  # Neither store nor table is there yet, or a store has just been set aside.


def others(now, before):
    """What ran anew: what does not run, since a target does not have the op, has no time that would tell."""
    return {name: made for name, made in now.items() if before.get(name) != made and made[0][1] == "ran"}


class Hour:
    """The changes one after the other, and what is known of the results before each."""

    def __init__(self, folder):
        self.random = random.Random(SEED)
        self.watched = Watched(folder, self.random)
        self.service, self.dir = self.watched.service, self.watched.dir
        self.look_s, self.began, self.count = LOOK_S, time.monotonic(), 0
        self.known, self.kinds = {}, []

    def wait_for_looks(self, after, causes, made):
        """Waits for rows that name the causes; the service is killed on the way as often as it is due."""
        deadline, due, idle_since = time.monotonic() + PATIENCE_S, self.draw_kill(), 0
        while True:
            now = time.monotonic()
            rows = looks_after(self.dir, after)
            is_seen = all(any(cause in row[1] for row in rows) for cause in causes)
            idle_since = (idle_since or now) if is_seen and not self.service.looks() else 0
            # One change needs no more than its row. Of two, files of the second may be found by a look of their own.
            if is_seen and (len(causes) == 1 or (idle_since and now - idle_since > IDLE_S)):
                return rows
            assert self.service.child.poll() is None, self.service.said()
            assert now < deadline, f"change {len(self.kinds)}, {self.kinds[-1:]}, was not seen: {rows}\n{self.state()}"
            if due and now >= due and not is_seen:
                self.service.kill()
                made.append(others(results(self.dir), self.known))
                due = self.draw_kill()
            time.sleep(0.02)

    def state(self):
        """What there is to see of a change that was not seen."""
        known = looks_after(self.dir, 0)
        return (f"{len(known)} rows of looks, the last {known[-1:]}, expected behind {self.count}; files: "
                f"{', '.join(sorted(os.listdir(self.dir)))}\n{self.service.state()}")

    def draw_kill(self):
        """When the next kill comes, if one is due."""
        share = (time.monotonic() - self.began) / SECONDS
        is_due = self.service.kills < KILLS and self.service.kills <= KILLS * share
        return time.monotonic() + self.random.uniform(0, 1.2 * self.look_s) if is_due else 0

    def settle(self, causes, turned):
        """Waits until a change is seen, and compares rows with results."""
        began, kills, made = time.monotonic(), self.service.kills, []
        rows = self.wait_for_looks(self.count, causes, made)
        seen = rig.rows(self.dir, f"SELECT target, key, cause FROM looked WHERE look > {self.count}")
        self.count += len(rows)
        self.check_rows(rows, causes, turned)
        now = results(self.dir)
        changed = others(now, self.known)
        ran = [row[:2] for row in seen if row[2] != "gone" and now[row[:2]][0][1] == "ran"]
        assert len(ran) == len(set(ran)), "a case is seen once"
        assert set(ran) == set(changed), f"rows of {len(ran)} cases that ran, and {len(changed)} have other results"
        assert {row[:2] for row in seen if row[2] == "gone"} == set(self.known) - set(now), "what is gone"
        for killed in made:  # What was made before a kill, since the change, is what there is now.
            twice = [name for name in killed if name in now and now[name] != killed[name]]
            assert not twice, f"made again after a kill: {twice[:3]} of {len(killed)}"
        if self.service.kills == kills:
            self.look_s = (3 * self.look_s + time.monotonic() - began) / 4
        self.known = now
        print(f"# {time.monotonic() - self.began:.0f} s, {self.service.kills} kills: look {self.count}: "
              f"{' | '.join(row[1] for row in rows)[:70]}: {len(changed)} of {len(now)} ran, those of {sum(map(bool, made))} "
              f"kills among them, {sum(row[3] for row in rows)} worse, {sum(row[4] for row in rows)} better", flush=True)

    def check_rows(self, rows, causes, turned):
        assert rows[-1][0] == self.count, rows
        for cause in causes:
            assert sum(cause in row[1] for row in rows) == 1, f"a change is seen once: {cause}: {rows}"
        assert len(rows) == 1 or len(causes) > 1, f"no look is repeated: {rows}"
        assert rows[-1][2] == 0, f"nothing is left: {rows}"
        found = (any(row[3] for row in rows), any(row[4] for row in rows))
        assert turned is None or found == turned, (turned, rows)
        assert rig.rows(self.dir, "SELECT count(*) FROM (SELECT 1 FROM result GROUP BY target, case_id HAVING count(*) > 1)"
                        ) == [(0,)]
        assert rig.rows(self.dir, "SELECT (SELECT count(*) FROM result) - 3 * (SELECT count(*) FROM \"case\")") == [(0,)], \
            "each case has a result on each target"

    def is_over(self):
        return (time.monotonic() - self.began >= SECONDS and self.service.kills >= KILLS and not set(KINDS) - set(self.kinds))

    def run(self):
        self.service.start()
        self.settle(("the first look",), (False, False))
        kinds = []
        while not self.is_over():
            kinds = kinds or self.random.sample(KINDS, len(KINDS))
            kind = kinds.pop()
            self.kinds.append(kind)
            self.settle(*self.watched.change(kind, self.look_s))
            time.sleep(self.random.uniform(0, 0.2 * self.look_s))
        # A last look begins anew, and finds nothing.
        self.service.kill()
        for is_looking in (True, False):
            test_watch.wait_for(self.service.child, lambda: bool(self.service.looks()) == is_looking, "a look")
        assert not looks_after(self.dir, self.count), "no look is repeated"
        self.service.end(signal.SIGTERM)


def check_told(hour):
    """The command was told of each look with turned verdicts, twice if it was killed while it told, and of no other."""
    turned = {row[0]: row[1:] for row in rig.rows(hour.dir, "SELECT id, worse, better FROM look WHERE worse + better > 0")}
    told = {}
    if os.path.exists(hour.watched.told):
        with open(hour.watched.told, encoding="utf-8") as file:
            for line in file:
                look, *counts = map(int, line.split())
                assert turned.get(look) == tuple(counts), (line, turned.get(look))
                told[look] = told.get(look, 0) + 1
    assert set(told) == set(turned), (told, turned)
    assert sum(told.values()) - len(told) <= hour.service.kills, told


def check_verdicts(hour, folder):
    verdicts = "SELECT target, hex(key), verdict FROM judged JOIN \"case\" ON id = case_id ORDER BY 1, 2, 3"
    ini = hour.watched.write(folder, os.path.join(folder, "run"), command=False)
    done = rig.host("watch", "--config", ini, "--once", env=hour.service.variables)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert rig.rows(hour.dir, verdicts) == rig.rows(os.path.join(folder, "run"), verdicts)


def check_simulation(hour):
    """The triggers of the record find what was found, at once, and run what ran."""
    done = rig.check(rig.host("watch", "--simulate", "--config", hour.watched.ini, "--triggers", "identity", "--json"), 0)
    found = json.loads(done.stdout)
    ran = rig.rows(hour.dir, "SELECT count(*) FROM looked WHERE cause IN ('new', 'change')")[0][0]
    assert found["looks"] == min(hour.count, KEPT_LOOKS) and found["regressions"] > 0, found
    for policy in found["policies"][1:]:
        assert policy["replays"] == ran and policy["found"] == found["regressions"], found
        assert policy["late_looks"]["most"] == 0 and policy["unknown_replays"] == 0, found
    print("# " + "\n# ".join(rig.host("watch", "--simulate", "--config", hour.watched.ini).stdout.splitlines()), flush=True)


@rig.plain
def changes_are_seen_once_and_nothing_is_repeated(folder):
    rig.need("cc", shutil.which("cc"))
    hour = Hour(folder)
    try:
        hour.run()
    finally:
        if hour.service.child and hour.service.child.poll() is None:
            hour.service.end(signal.SIGKILL)
    print(f"# {hour.count} looks, {hour.service.kills} kills, {len(hour.kinds)} changes: "
          + ", ".join(f"{hour.kinds.count(kind)} {kind}" for kind in KINDS), flush=True)
    check_told(hour)
    check_verdicts(hour, os.path.join(folder, "fresh"))
    check_simulation(hour)


if __name__ == "__main__":
    rig.main([changes_are_seen_once_and_nothing_is_repeated], needs=["reference"])
