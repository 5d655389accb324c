#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Pages that are not there, go away, are strangers, or lie; with `runs`, the embedded model on a page whose browser is
killed; with `beside-others`, moved to a page completely, alone and in conf/all.ini."""
import base64
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import browser
import rig

DEADLINE_S = 120
RUN_S = 480  # A whole run in a page, on a processor that other tests use.
TWO_TARGETS = "webgpu\n\n[target.cpu]\nbackend = reference:f32-blocked"
BY_HAND = "\n[component.webgpu]\nbrowser = none\n"


# -- Processes -------------------------------------------------------------------------------------

def processes():
    """Name, parent and group of each process."""
    found = {}
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
                name, parent, group = re.match(r"\d+ \((.*)\) \S (\d+) (\d+) ", file.read(), re.DOTALL).groups()
            found[int(process)] = name, int(parent), int(group)
        except OSError:
            pass  # It has ended.
    return found


def browsers_of(pid):
    """The browsers that a host or its workers have started: the leaders of their groups. A helper whose parent has
    ended is a child of the worker's supervisor, too."""
    known, found = processes(), []
    for process, (name, parent, group) in known.items():
        if "chrom" in name and group == process and "chrom" not in known.get(parent, ("", 0))[0]:
            while parent not in (0, pid):
                parent = known.get(parent, ("", 0))[1]
            found += [process] if parent == pid else []
    return found


def profile_of(process):
    """The folder that a browser writes to; it may be on its way to its program still."""
    def find():
        with open(f"/proc/{process}/cmdline", encoding="utf-8", errors="replace") as file:
            return re.search(r"--user-data-dir=([^\0]+)", file.read())
    return wait_for("a profile", find).group(1)


def wait_for(what, condition):
    """What a condition gives once it gives something."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen")


def start(ini, log):
    return subprocess.Popen([rig.HOST, "--config", ini], stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def read(log):
    with open(log.name, encoding="utf-8") as file:
        return file.read()


def end(host):
    """Ends a host that still runs."""
    if host.poll() is None:
        host.kill()
    host.wait()


# -- A stranger's WebSocket ------------------------------------------------------------------------

def request(port, path, origin, protocol="tapml"):
    """Asks for a WebSocket; the connection and the first line of the answer."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    key = base64.b64encode(os.urandom(16)).decode()
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade",
             f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
    lines += [f"Sec-WebSocket-Protocol: {protocol}"] if protocol else []
    connection.sendall("\r\n".join(lines + ([f"Origin: {origin}"] if origin else []) + ["", ""]).encode())
    try:
        answer = connection.recv(4096)
    except ConnectionError:
        answer = b""
    return connection, answer.split(b"\r\n")[0].decode()


def message(payload):
    """A binary message of a client."""
    size = len(payload)
    head = bytes([0x82, 0x80 | size]) if size < 126 else bytes([0x82, 0x80 | 126]) + struct.pack(">H", size)
    return head + b"\0\0\0\0" + payload


def get(port, path):
    """The first line of what is served."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        return connection.recv(4096).split(b"\r\n")[0].decode()


def address_in(log):
    """Port and token of the address that a host prints."""
    found = wait_for("an address", lambda: re.search(r"open http://127\.0\.0\.1:(\d+)/\?([0-9a-f]{32}) in a browser", read(log)))
    return int(found.group(1)), found.group(2)


# -- Tests -----------------------------------------------------------------------------------------

def everything_moves_and_the_text_is_the_same(folder):
    ini, dir_ = rig.write_run(folder, target="webgpu", count=1, decode=3)
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stdout, "0 blamed, 0 unsupported, 0 left on the source", "0 not compared", "end to end: agrees")
    with open(os.path.join(dir_, "plan-gpu.txt"), encoding="utf-8") as file:
        assert file.read().splitlines()[1:] == ["* -> gpu"]
    with open(os.path.join(rig.TINY, "expected.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    for case in cases[:1]:
        done = rig.check(rig.host("generate", "--plan", os.path.join(dir_, "plan-gpu.txt"), "--prompt", case["prompt"],
                                  "--count", "48", "--json"), 0)
        assert json.loads(done.stdout)["ids"] == case["ids"], done.stdout


def a_killed_browser_loses_its_target_alone(folder):
    ini, dir_ = rig.write_run(folder, target=TWO_TARGETS, count=1, decode=2)
    with tempfile.NamedTemporaryFile(dir=folder) as log:
        host = start(ini, log)
        try:
            wait_for("a replay on the page", lambda: host.poll() is not None or
                     os.path.exists(os.path.join(dir_, "run.tapmlrun")) and "replay on gpu" in read(log))
            for process in browsers_of(host.pid):
                os.killpg(process, signal.SIGKILL)
            code = host.wait(DEADLINE_S)
        finally:
            end(host)
        text = read(log)
    assert code == 3, f"exit {code}\n{text}"
    lost = [line for line in text.splitlines() if "'gpu'" in line]
    assert len(lost) == 1 and re.search(r"target 'gpu' is given up: .*was killed by signal 9", lost[0]), text
    rig.contains(text, "instances on cpu", "end to end: agrees")
    assert "instances on gpu" not in text, text


def write_all(folder, extra=""):
    """conf/all.ini with fewer prompts, which are shorter."""
    dir_, path = os.path.join(folder, "run"), os.path.join(folder, "all.ini")
    with open(os.path.join(rig.SOURCE, "conf", "all.ini"), encoding="utf-8") as file:
        text = file.read()
    for key, value in (("dir", dir_), ("prompts", rig.tiny_prompts(folder, 1)), ("decode", "2"), ("path", rig.TINY)):
        text = re.sub(f"^{key} = .*", f"{key} = {value}", text, count=1, flags=re.M)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + extra)
    return path, dir_


def verdicts(dir_):
    """The targets that a run has results of: every case was judged on each, and passed."""
    carved, = rig.rows(dir_, 'SELECT count(*) FROM "case"')[0]
    judged = dict(rig.rows(dir_, "SELECT target, count(DISTINCT case_id) FROM judged GROUP BY target"))
    assert set(judged.values()) == {carved}, (carved, judged)
    assert rig.rows(dir_, "SELECT DISTINCT verdict FROM judged") == [("pass",)]
    return set(judged)


def given_up(folder, ini, dir_):
    """Runs until the page has computed a case, and kills the browser; what the run says."""
    with tempfile.NamedTemporaryFile(dir=folder) as log:
        host = start(ini, log)
        try:
            wait_for("a replay on the page", lambda: host.poll() is not None or
                     rig.rows(dir_, "SELECT count(*) FROM judged WHERE target = 'webgpu'")[0][0] > 0)
            for process in browsers_of(host.pid):
                os.killpg(process, signal.SIGKILL)
            code = host.wait(DEADLINE_S)
        finally:
            end(host)
        text = read(log)
    assert code == 3, f"exit {code}\n{text}"
    return text


def one_carving_serves_opencl_vulkan_and_a_page(folder):
    """First on a machine without the browser; then it is killed in a case, which accuses no op; then it does the rest."""
    for component in ("opencl", "vulkan"):
        rig.need(component, rig.usable(component))
    ini, dir_ = write_all(folder)
    with tempfile.TemporaryDirectory() as programs:
        os.symlink(shutil.which("ld"), os.path.join(programs, "ld"))  # PoCL links kernels with it.
        done = rig.check(rig.host("--config", ini, env={"PATH": programs}), 3)
    rig.contains(done.stdout, "\nwebgpu = webgpu is given up: ", "there is no program 'chromium' in PATH",
                 "76 of 76 instances on opencl, 0 blamed", "76 of 76 instances on vulkan, 0 blamed")
    assert len([line for line in done.stderr.splitlines() if "target 'webgpu' is given up: " in line]) == 1, done.stderr
    assert verdicts(dir_) == {"opencl", "vulkan"}
    text = given_up(folder, ini, dir_)
    assert re.search(r"target 'webgpu' is given up: .*was killed by signal 9", text), text
    assert re.search(r"^verdict +right +right +given up *$", text, re.M) and "blamed: " not in text, text
    assert not rig.rows(dir_, "SELECT * FROM judged WHERE verdict <> 'pass'")
    done = rig.check(rig.host("--config", ini), 0)
    assert re.search(r"^verdict +right +right +right *$", done.stdout, re.M), done.stdout
    assert verdicts(dir_) == {"opencl", "vulkan", "webgpu"}
    calls, = rig.rows(dir_, "SELECT count(*) FROM call")[0]
    assert f"{calls} calls" not in done.stderr, "it was carved again"


@rig.plain
@rig.slow
def a_killed_host_takes_its_browser_along_and_the_next_one_its_profile(folder):
    ini, _ = rig.write_run(folder, target="webgpu", count=1, decode=2)
    with tempfile.NamedTemporaryFile(dir=folder) as log:
        host = start(ini, log)
        try:
            process, = wait_for("a browser", lambda: browsers_of(host.pid))
            left = profile_of(process)
        finally:
            end(host)
        wait_for("the browser's end", lambda: not os.path.exists(f"/proc/{process}"))
    foreign = f"/tmp/tapml-page-{os.getpid() % 1000000:06}"
    os.mkdir(foreign)
    with tempfile.NamedTemporaryFile(dir=folder) as log:
        held = os.open(foreign, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        host = start(ini, log)
        try:
            process, = wait_for("a browser", lambda: browsers_of(host.pid))
            profile = profile_of(process)
            assert os.path.isdir(profile) and os.path.isdir(foreign)
            assert not os.path.exists(left), "the profile of the killed host is still there"
            host.terminate()
            host.wait(DEADLINE_S)
        finally:
            end(host)
            os.close(held)
            os.rmdir(foreign)
    assert not os.path.exists(profile), "the profile of a host that ended is still there"


def only_the_token_and_the_page_itself_open(folder):
    ini, _ = rig.write_run(folder, target="webgpu", count=1, decode=2, extra=BY_HAND)
    with tempfile.NamedTemporaryFile(dir=folder) as log:
        host = start(ini, log)
        try:
            port, token = address_in(log)
            own = f"http://127.0.0.1:{port}"
            assert " 404" in get(port, "/") and " 404" in get(port, f"/?{token[:-1]}x")
            assert " 404" in get(port, f"/other?{token}")
            assert " 200" in get(port, f"/?{token}")
            for path, origin, protocol in (
                    (f"/?{token[:-1]}", own, "tapml"), ("/", own, "tapml"), ("/", own, None), (f"/?{token}", own, None),
                    (f"/?{token}", own, "chat"), (f"/?{token}", own, "http"), (f"/?{token}", own, "tapml, http"),
                    (f"/?{token}", own, "http, tapml"), (f"/?{token}", "http://example.org", "tapml"),
                    (f"/?{token}", None, "tapml"), (f"/?{token}", own + "0", "tapml"), (f"/?{token}", "null", "tapml"),
                    (f"/?{token}", own.replace("http", "https"), "tapml"), (f"/?{token}", own, "x" * 3000)):
                connection, answer = request(port, path, origin, protocol)
                connection.close()
                assert " 403" in answer, (path, origin, protocol, answer)
            connection, answer = request(port, f"/?{token}", own)
            assert " 101" in answer, answer
            second, answer = request(port, f"/?{token}", own)
            second.close()
            assert " 403" in answer, "a second connection was taken"
            connection.sendall(message(b"what is this?"))
            code = host.wait(DEADLINE_S)
            connection.close()
        finally:
            end(host)
        text = read(log)
    assert code != 0, text
    rig.contains(text, "webgpu: what it sends are no frames of the wire")


def a_page_without_a_device_is_reported(folder):
    text = b"the browser has no WebGPU\x1b[31m\0"
    payload = struct.pack("<IQI", 1, 0, len(text)) + text
    frame = struct.pack("<IHHQII", 0x4c504154, 3, 6, 0, len(payload), 0) + payload
    ini, _ = rig.write_run(folder, target="webgpu", count=1, decode=2, extra=BY_HAND)
    with tempfile.NamedTemporaryFile(dir=folder) as log:
        host = start(ini, log)
        try:
            port, token = address_in(log)
            connection, _ = request(port, f"/?{token}", f"http://127.0.0.1:{port}")
            connection.sendall(message(frame))
            assert host.wait(DEADLINE_S) == 3
            connection.close()
        finally:
            end(host)
        rig.contains(read(log), "the page cannot compute: the browser has no WebGPU?[31m")


def a_missing_browser_is_reported(folder):
    ini, _ = rig.write_run(folder, target="webgpu", extra="\n[component.webgpu]\nbrowser = no-such-browser\n")
    done = rig.check(rig.host("--config", ini), 3)
    rig.contains(done.stderr, "no program 'no-such-browser' in PATH")
    ini, _ = rig.write_run(folder, target="webgpu", extra="\n[component.webgpu]\nbrowser = /bin/false\n")
    done = rig.check(rig.host("--config", ini), 3)
    rig.contains(done.stderr, "the browser '/bin/false' ended with status 1 at its start")


@rig.plain
def the_page_reports_who_opened_it_what_it_does(folder):
    ini, _ = rig.write_small_run(folder, target="webgpu", extra=BY_HAND)
    with tempfile.NamedTemporaryFile(dir=folder) as log:
        host = start(ini, log)
        try:
            port, token = address_in(log)
            with browser.Browser(["--enable-unsafe-webgpu"]) as page:
                page.show(390, 844, dark=True)
                page.open(f"http://127.0.0.1:{port}/?{token}")
                wait_for("launches", lambda: host.poll() is not None or page.value("counts.launches") > 100)
                assert host.poll() is None, read(log)
                page.value("show()")
                shown = page.value("document.body.innerText")
                assert page.value("document.documentElement.scrollWidth <= innerWidth"), "wider than a phone"
                dark = page.value("getComputedStyle(document.body).backgroundColor")
                page.show(1280, 900)
                assert page.value("getComputedStyle(document.body).backgroundColor") != dark
                assert host.wait(RUN_S) == 0
                wait_for("the end", lambda: "ended the connection" in page.value("document.title"))
                assert page.complaints == [], page.complaints
                assert all(f"//127.0.0.1:{port}/" in url or url.startswith("data:") for url in page.requests), page.requests
        finally:
            end(host)
        assert host.returncode == 0, read(log)
    rig.contains(shown, "Connected", "swiftshader", "emulated on the CPU", "embed", "launches a second")
    assert token not in shown


RUNS = [a_killed_browser_loses_its_target_alone]
BESIDE_OTHERS = [everything_moves_and_the_text_is_the_same, one_carving_serves_opencl_vulkan_and_a_page]
PAGES = [a_killed_host_takes_its_browser_along_and_the_next_one_its_profile, only_the_token_and_the_page_itself_open,
         a_page_without_a_device_is_reported, a_missing_browser_is_reported, the_page_reports_who_opened_it_what_it_does]

if __name__ == "__main__":
    chosen = {"runs": RUNS, "beside-others": BESIDE_OTHERS, "pages": PAGES}[sys.argv[1]]
    rig.main(chosen, needs=["reference", "webgpu"])
