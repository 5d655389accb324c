#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The timeline of a run and of a replay: whole, nested, with the names and times of what the store has."""
import collections
import os
import signal
import subprocess
import time

import events
import rig


def run(folder, name):
    ini, dir_ = rig.write_small_run(os.path.join(folder, name), ids=rig.THREE_PROMPTS)
    path = os.path.join(folder, name + ".json")
    rig.check(rig.host("--config", ini, "--timeline", path), 0)
    return events.read(path), dir_


def of_a_run(folder):
    made, dir_ = run(folder, "one")
    found = events.tracks(made)
    assert events.names(made) == ["tapml-host", "stages", "source (reference)", "host", "gpu (reference:f32-blocked)", "host",
                             "writer", "device"], events.names(made)
    for spans in found.values():
        events.expect_nesting(spans)
    stages = [span["name"] for span in found["tapml-host/stages"] if span["cat"] == "stage"]
    assert [stage for stage in stages if stage in ("open", "load", "carve", "replay on gpu", "measure on gpu", "report")] == \
        ["open", "load", "carve", "replay on gpu", "measure on gpu", "report"], stages

    assert {span["cat"] for span in found["tapml-host/stages"]} >= {"stage", "feed", "step", "case", "replay", "read", "write"}

    # Each call that the store has is a span of the source, and the ops of the measured prompt are those of its table.
    calls = collections.Counter(span["args"]["detail"] for span in found["source (reference)/host"] if span["cat"] == "call")
    for instance, count in rig.rows(dir_, "SELECT instance, count(*) FROM call GROUP BY instance"):
        assert calls[instance] >= count > 0, (instance, calls[instance], count)
    measured = collections.Counter()
    for span in found["gpu (reference:f32-blocked)/device"]:
        measured[span["name"]] += events.ticks(span["dur"])
    assert measured == dict(rig.rows(dir_, "SELECT op, time_ns FROM timing")), measured
    written = [span["name"] for span in found["tapml-host/writer"]]
    assert written.count("case") == rig.rows(dir_, "SELECT count(*) FROM \"case\"")[0][0]

    # Stages are most of the time, one behind the other.
    spans = found["tapml-host/stages"]
    whole = max(span["ts"] + span["dur"] for span in spans) - min(span["ts"] for span in spans)
    share = sum(span["dur"] for span in spans if span["cat"] == "stage") / whole
    assert 0.5 < share <= 1, share


def names_are_those_of_another_run(folder):
    first, _ = run(folder, "one")
    second, _ = run(folder, "two")
    assert events.names(first) == events.names(second)


def of_a_replay(folder):
    _, dir_ = run(folder, "one")
    path = os.path.join(folder, "replay.json")
    store = os.path.join(dir_, "run.tapmlrun")
    rig.check(rig.host("replay", store, "--backend", "reference:f64", "--isolation", "never", "--timeline", path), 0)
    found = events.tracks(events.read(path))
    events.expect_nesting(found["tapml-host/stages"])
    cases = [span for span in found["tapml-host/stages"] if span["cat"] == "case"]
    assert len(cases) == rig.rows(dir_, "SELECT count(*) FROM \"case\"")[0][0]
    calls = sum(span["cat"] == "call" for span in found["target (reference:f64)/host"])
    assert calls >= len(cases)


def read_while_it_is_written(child, path):
    """A file that grows between two reads would be seen in parts."""
    child.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    events.read(path)
    child.send_signal(signal.SIGCONT)


def interrupted(folder):
    """By a signal that is waited for, and by a second one at once."""
    for signals in ((signal.SIGINT,), (signal.SIGINT, signal.SIGTERM)):
        own = os.path.join(folder, str(len(signals)))
        os.makedirs(own)
        ini, _ = rig.write_run(own, target="reference:f64", count=40, decode=30)
        path = os.path.join(own, "t.json")
        with subprocess.Popen([rig.HOST, "--config", ini, "--timeline", path], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True) as child:
            while child.poll() is None and (not os.path.exists(path) or os.path.getsize(path) < 300000):
                time.sleep(0.01)
            read_while_it_is_written(child, path)
            for number in signals:
                child.send_signal(number)
            _, errors = child.communicate(timeout=60)
        assert child.returncode == 130, errors
        spans = events.tracks(events.read(path))["source (reference)/host"]
        assert sum(span["cat"] == "call" for span in spans) > 100


rig.main([of_a_run, names_are_those_of_another_run, of_a_replay, interrupted])
