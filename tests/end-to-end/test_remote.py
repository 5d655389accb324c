#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A target on another machine: pairing, what runs find, and who is not let in (`short`); runs that are cut, and whose host or
worker is killed (`disturbed`)."""
import os
import random
import resource
import socket
import ssl
import subprocess
import sys
import time

import events
import far
import killing
import rig
import test_kill

CUTS = 20
CROWD = 1000  # Connections at once.


def machines(folder):
    """A host and a worker that are paired."""
    host, worker = far.Machine(os.path.join(folder, "near")), far.Machine(os.path.join(folder, "far"))
    ends = far.pair(host, worker)
    assert [end[0] for end in ends] == [0, 0], ends
    return host, worker


def write(folder, port, name="run", **more):
    target = f"reference:f32-blocked\nurl = tapml://127.0.0.1:{port}"
    return test_kill.short_run(folder, name, **{"target": target, **more})


def start(host, ini):
    return host.start(rig.HOST, "--config", ini, "--threads", "1")


def run(host, ini, code=1, *more):
    return rig.check(rig.host("--config", ini, "--threads", "1", *more, env=host.env), code)


def pairing_needs_both_people(folder):
    host, worker = far.Machine(os.path.join(folder, "near")), far.Machine(os.path.join(folder, "far"))
    ends = far.pair(host, worker, ("y", "n"))
    codes = [end[1].split("code: ")[1].split()[0] for end in ends]
    assert codes[0] == codes[1] and len(codes[0]) == 17, codes
    assert [end[0] for end in ends] == [0, 130] or ends[1][0] != 0, ends
    rig.contains(ends[1][2], "the codes were not confirmed")
    with far.listening(worker) as (_, port):
        done = rig.host("--config", write(folder, port)[0], env=host.env)
        assert done.returncode == 3, (done.returncode, done.stderr)
        rig.contains(done.stderr, "target 'gpu' cannot be opened", "is this user paired there?")
    listed = rig.check(rig.host("pair", env=host.env), 0).stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["(this", "phone"], listed
    rig.check(rig.host("pair", "--remove", "phone", env=host.env), 0)
    rig.contains(rig.check(rig.host("pair", "--remove", "phone", env=host.env), 2).stderr, "there is no peer 'phone'")


def expect_trace(path, port, forwarded):
    """Each message has its bytes, as many as went over the connection, and each op what its arguments would have taken."""
    made = events.read(path)
    found = events.tracks(made)
    name = f"tapml://127.0.0.1:{port}"
    calls = [span for span in found[name + "/sent"] if span["cat"] == "call"]
    totals = {event["name"]: event["args"] for event in made if event["ph"] == "C"}  # The last ones stay.
    assert {span["name"] for span in calls} == set(totals) and len(totals) > 3, totals.keys()
    assert any(span["args"].get("detail", "").startswith("layers.0/") for span in calls)
    for op, args in totals.items():
        assert args["both_ways"] == sum(span["args"].get("both_ways", 0) for span in calls if span["name"] == op), op
    for track in ("sent", "answers"):
        events.expect_nesting(found[f"{name}/{track}"])
    messages = [span for track in ("sent", "received") for span in found[f"{name}/{track}"] if span["cat"] == "message"]
    told = sum(span["args"]["bytes"] for span in messages)
    assert forwarded / 2 < told <= forwarded, (told, forwarded)
    assert all(args["bytes"] > 0 < args["both_ways"] for args in totals.values()), totals


def it_finds_what_a_local_run_finds(folder):
    expected = test_kill.undisturbed(folder)
    host, worker = machines(folder)
    with far.listening(worker) as (_, port):
        link = far.Link(port)
        sent = []
        for name in ("first", "second"):
            ini, dir_ = write(folder, link.own_port, name)
            trace = os.path.join(folder, name + ".json")
            before = link.forwarded
            run(host, ini, 1, "--trace-link", trace)
            killing.check_whole(dir_)
            expect_trace(trace, link.own_port, link.forwarded - before)
            test_kill.same(dir_, expected, name)
            sent.append(link.forwarded - before)
        link.close()
        assert sent[1] < sent[0], sent  # What the worker has seen is not sent again.


def cuts_lose_nothing(folder):
    expected = test_kill.undisturbed(folder)
    host, worker = machines(folder)
    chance = random.Random(1)
    cuts = 0
    with far.listening(worker) as (_, port):
        link = far.Link(port)
        while cuts < CUTS:
            ini, dir_ = write(folder, link.own_port, f"run{cuts}")
            with start(host, ini) as process:
                while process.poll() is None:
                    time.sleep(chance.uniform(0.02, 0.3))
                    link.is_down = chance.random() < 0.3
                    link.cut()
                    cuts += 1
                    if link.is_down:
                        time.sleep(chance.uniform(0, 0.3))
                        link.is_down = False
                said = process.communicate()
            assert process.returncode == 1, said
            killing.check_whole(dir_)
            test_kill.same(dir_, expected, f"after {cuts} cuts")
        link.close()


def killed_workers_are_survived(folder):
    """The worker process of a session, and all of the far program."""
    expected = test_kill.undisturbed(folder)
    host, worker = machines(folder)
    chance = random.Random(2)
    with far.listening(worker) as (serving, port):
        for name in ("first", "second"):
            ini, dir_ = write(folder, port, name)
            with start(host, ini) as process:
                while process.poll() is None:
                    time.sleep(chance.uniform(1, 3))
                    killing.kill_all(killing.workers_of(serving.pid)[:1])
                said = process.communicate()
            assert process.returncode == 1, said
            test_kill.same(dir_, expected, name)
    with far.listening(worker) as (serving, port):
        ini, dir_ = write(folder, port, "third")
        with start(host, ini) as process:
            time.sleep(0.5)
            serving.kill()
            serving.wait()
            killing.wait_until_gone(serving.pid)
            with far.listening(worker, port=port):
                said = process.communicate(timeout=120)
        assert process.returncode == 1, said
        test_kill.same(dir_, expected, "third")


def a_killed_host_goes_on(folder):
    expected = test_kill.undisturbed(folder)
    host, worker = machines(folder)
    chance = random.Random(3)
    with far.listening(worker) as (_, port):
        ini, dir_ = write(folder, port)
        for _ in range(5):
            with start(host, ini) as process:
                try:
                    process.wait(chance.uniform(0.1, 0.8))
                except subprocess.TimeoutExpired:
                    process.kill()
        run(host, ini)
        killing.check_whole(dir_)
        test_kill.same(dir_, expected, "a killed host")


def what_is_wrong_there_is_said(folder):
    host, worker = machines(folder)
    with far.listening(worker) as (_, port):
        for target, sentence in (("refrence", "refrence"), ("reference:f33", "f33")):
            ini, _ = write(folder, port, target.replace(":", ""), target=f"{target}\nurl = tapml://127.0.0.1:{port}")
            done = rig.host("--config", ini, env=host.env)
            assert done.returncode in (2, 3), (done.returncode, done.stderr)
            rig.contains(done.stderr, "target 'gpu'", sentence)
    ini, _ = write(folder, port, "nobody")  # Nothing listens any more.
    begin = time.monotonic()
    done = rig.check(rig.host("--config", ini, env=host.env), 3)
    rig.contains(done.stderr, "target 'gpu' cannot be opened", "cannot be reached: Connection refused")
    assert time.monotonic() - begin < 60
    ini, _ = write(folder, port, "address", target="reference\nurl = http://127.0.0.1:80")
    rig.contains(rig.host("--config", ini, env=host.env).stderr, "is no address of a worker: expected tapml://HOST:PORT")


def context(version=ssl.TLSVersion.TLSv1_3):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    made.minimum_version = made.maximum_version = version
    return made


def answer(port, data, tls=None):
    """What the worker says to a stranger, until it closes the connection."""
    said = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as end:
            with tls.wrap_socket(end) if tls else end as connection:
                connection.sendall(data)
                while piece := connection.recv(4096):
                    said += piece
    except (OSError, ssl.SSLError) as error:
        assert not isinstance(error, TimeoutError), error
    return said


def strangers_get_nothing(folder):
    """And the real host goes on meanwhile."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, most), most))
    expected = test_kill.undisturbed(folder)
    host, worker = machines(folder)
    stranger = far.Machine(os.path.join(folder, "stranger"))
    rig.host("pair", env=stranger.env)  # Makes its key.
    key = os.path.join(stranger.env["XDG_CONFIG_HOME"], "tapml", "key.pem")
    greeting = b"TAPSTRM1" + bytes(288)
    with_key = context()
    with_key.load_cert_chain(key)
    with far.listening(worker) as (_, port):
        ini, dir_ = write(folder, port)
        with start(host, ini) as process:
            for data, tls in ((b"GET / HTTP/1.0\r\n\r\n", None), (os.urandom(4096), None), (greeting, context()),
                              (greeting, context(ssl.TLSVersion.TLSv1_2)), (greeting, with_key), (b"", None)):
                said = answer(port, data, tls)
                assert len(said) <= 7, said  # An alert of TLS at most.
            crowd = [socket.create_connection(("127.0.0.1", port)) for _ in range(CROWD)]
            said = process.communicate(timeout=120)
            for end in crowd:
                end.close()
        assert process.returncode == 1, said
        test_kill.same(dir_, expected, "beside strangers")


TESTS = {"short": [pairing_needs_both_people, it_finds_what_a_local_run_finds, what_is_wrong_there_is_said,
                   strangers_get_nothing],
         "disturbed": [cuts_lose_nothing, killed_workers_are_survived, a_killed_host_goes_on]}

if __name__ == "__main__":
    rig.main(TESTS[sys.argv[1]], needs=["reference"])
