#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""tapml-host serve: a run on another machine is attached to one that carves."""
import contextlib
import glob
import os
import signal
import time

import far
import rig
from test_shared_carving import CASES, JUDGED, PROMPTS, start, usual, write


def two_hosts(folder):
    """A machine that serves and one that attaches, whose users are paired."""
    big, small = far.Machine(os.path.join(folder, "big")), far.Machine(os.path.join(folder, "small"))
    waiting = big.start(rig.HOST, "pair", "--listen", "127.0.0.1:0", "--name", "small")
    calling = small.start(rig.HOST, "pair", f"tapml://127.0.0.1:{far.port_of(waiting)}", "--name", "big")
    for process in (calling, waiting):
        out, errors = process.communicate("y\n", timeout=30)
        assert process.returncode == 0, (out, errors)
    return big, small


@contextlib.contextmanager
def served(machine, dir_):
    """Its folder of a run, which need not have anything; gives the process and the port."""
    os.makedirs(dir_, exist_ok=True)
    process = machine.start(rig.HOST, "serve", dir_, "--listen", "127.0.0.1:0")
    try:
        yield process, far.port_of(process)
    finally:
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=30)
        assert process.returncode in (0, -signal.SIGKILL), (out, errors)


def carved(folder):
    """A run that shares nothing, and has carved all."""
    ini, dir_ = rig.write_small_run(folder, ids=PROMPTS, decode=6)
    rig.check(rig.host("--config", ini, "--carve"), 0)
    return dir_


def attach(folder, machine, port, code=1, *options, **more):
    """A run that takes over what is served at a port; gives what it said, and its folder."""
    ini, dir_ = write(folder, f"tapml://127.0.0.1:{port}", **more)
    return rig.check(rig.host("--config", ini, *options, env=machine.env), code), dir_


@contextlib.contextmanager
def ended(process):
    """Kills it, whatever happens: one that is stopped would be waited for."""
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def a_run_is_attached_to_one_that_carves(folder):
    """Which has stopped in the middle for a while; cases come as they are carved, and targets replay them meanwhile."""
    big, small = two_hosts(folder)
    ini, dir_ = rig.write_small_run(os.path.join(folder, "there"), ids=PROMPTS, decode=6)
    with served(big, dir_) as (_, port), ended(start(ini, "--carve")) as first:
        while not glob.glob(f"{dir_}/run.tapmlrun"):
            assert first.poll() is None, first.communicate()
        first.send_signal(signal.SIGSTOP)
        own, own_dir = write(os.path.join(folder, "here"), f"tapml://127.0.0.1:{port}")
        with ended(small.start(rig.HOST, "--config", own, "--side-by-side")) as second:
            said = ""
            while "carves the same" not in said:
                line = second.stderr.readline()
                said += line
                assert line, said
            first.send_signal(signal.SIGCONT)
            out, errors = second.communicate(timeout=120)
            assert second.returncode == 1 and "\ncarve: " not in errors, (out, errors)
        first.communicate(timeout=60)
        assert first.returncode == 0
    rig.contains(errors, f"carved by others: {len(PROMPTS)} prompts, ", f"from 'tapml://127.0.0.1:{port}'")
    assert (rig.rows(own_dir, CASES), rig.rows(own_dir, JUDGED)) == usual()
    assert rig.rows(own_dir, "SELECT DISTINCT run FROM prompt") == rig.rows(dir_, "SELECT DISTINCT run FROM prompt")
    assert not glob.glob(f"{own_dir}/attached*"), "what was sent is left behind"


def a_cut_and_a_new_start_cost_nothing(folder):
    big, small = two_hosts(folder)
    dir_ = carved(os.path.join(folder, "there"))
    with contextlib.ExitStack() as stack:
        process, port = stack.enter_context(served(big, dir_))
        link = far.Link(port)
        ini, own_dir = write(os.path.join(folder, "here"), f"tapml://127.0.0.1:{link.own_port}")
        run = small.start(rig.HOST, "--config", ini)
        while link.forwarded < 100000:
            assert run.poll() is None, run.communicate()
            time.sleep(0.001)
        process.kill()
        link.cut()
        _, link.port = stack.enter_context(served(big, dir_))
        out, errors = run.communicate(timeout=120)
        assert run.returncode == 1 and "\ncarve: " not in errors, (out, errors)
    assert (rig.rows(own_dir, CASES), rig.rows(own_dir, JUDGED)) == usual()


def what_nobody_carves_any_more_is_carved_here(folder):
    big, small = two_hosts(folder)
    ini, dir_ = rig.write_small_run(os.path.join(folder, "there"), ids=PROMPTS, decode=6)
    with start(ini, "--carve") as first:
        while not os.path.exists(f"{dir_}/run.tapmlrun") or not rig.rows(dir_, "SELECT 1 FROM sqlite_master WHERE name = 'prompt'"):
            assert first.poll() is None, first.stdout.read()
        first.kill()
    with served(big, dir_) as (_, port):
        done, own_dir = attach(os.path.join(folder, "here"), small, port)
    rig.contains(done.stderr, "carve: ")
    assert (rig.rows(own_dir, CASES), rig.rows(own_dir, JUDGED)) == usual()


def others_are_refused(folder):
    big, small = two_hosts(folder)
    dir_ = carved(os.path.join(folder, "there"))
    stranger = far.Machine(os.path.join(folder, "stranger"))
    with served(big, dir_) as (_, port):
        done, _ = attach(os.path.join(folder, "decode"), small, port, 2, decode=5)
        rig.contains(done.stderr, f"tapml://127.0.0.1:{port} refuses: the run there is another one: model, weights, prompts")
        done, _ = attach(os.path.join(folder, "stranger-run"), stranger, port, 2)
        rig.contains(done.stderr, "shows a key that is not paired")
        ini, _ = rig.write_small_run(os.path.join(folder, "target"), target=f"reference:f32-blocked\nurl = tapml://127.0.0.1:{port}")
        done = rig.check(rig.host("--config", ini, env=small.env), 3)
        rig.contains(done.stderr, "it is 'tapml-host serve', which has cases and no device")
    worker = far.Machine(os.path.join(folder, "worker"))
    assert [end[0] for end in far.pair(small, worker)] == [0, 0]
    with far.listening(worker) as (_, port):
        done, _ = attach(os.path.join(folder, "at-worker"), small, port, 2)
        rig.contains(done.stderr, "is a worker, which has no cases: 'tapml-host serve' has")


def what_cannot_be_served_is_refused(folder):
    for args, words in (((folder,), "the folder of one run and --listen expected"),
                        ((os.path.join(folder, "x"), "--listen", "127.0.0.1:0"), "expected the folder of a run, found nothing"),
                        ((folder, "--listen", "box"), "box")):
        rig.contains(rig.check(rig.host("serve", *args), 2).stderr, words)
    ini, _ = write(os.path.join(folder, "bad"), "tapml://box")
    rig.contains(rig.check(rig.host("--config", ini), 2).stderr, "[source] shared: ")


if __name__ == "__main__":
    rig.main([a_run_is_attached_to_one_that_carves, a_cut_and_a_new_start_cost_nothing,
              what_nobody_carves_any_more_is_carved_here, others_are_refused, what_cannot_be_served_is_refused],
             needs=["reference"])
