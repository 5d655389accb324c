# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A worker on "another machine" for tests: with a user's folders of its own, paired, and reached over a link that can be cut."""
import contextlib
import os
import re
import select
import signal
import socket
import subprocess
import threading

import rig

WORKER = os.path.join(rig.BUILD, "tapml-worker")


class Machine:
    """The folders of a user on a machine."""

    def __init__(self, folder):
        self.folder = folder
        self.env = {"XDG_CONFIG_HOME": os.path.join(folder, "config"), "XDG_CACHE_HOME": os.path.join(folder, "cache")}
        self.inside = []  # What stands in front of a command, as for a network of its own (relay.py).

    def start(self, program, *args):
        return subprocess.Popen([*self.inside, program, *args], env={**os.environ, **self.env}, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def port_of(process):
    """What a program says that it listens at."""
    line = process.stdout.readline()
    found = re.search(r"port (\d+)", line)
    assert found, line + process.stderr.read()
    return int(found[1])


def pair(host, worker, answers=("y", "y")):
    """Pairs two machines as two people do; gives the ends of both programs: exit status, output, errors."""
    waiting = worker.start(WORKER, "--pair", "127.0.0.1:0", "--name", "laptop")
    calling = host.start(rig.HOST, "pair", f"tapml://127.0.0.1:{port_of(waiting)}", "--name", "phone")
    ends = []
    for process, answer in ((calling, answers[0]), (waiting, answers[1])):
        out, errors = process.communicate(answer + "\n", timeout=30)
        ends.append((process.returncode, out, errors))
    return ends


def pair_back(host, worker, name="phone"):
    """The same where the host waits, as for a machine that it cannot reach."""
    waiting = host.start(rig.HOST, "pair", "--listen", "127.0.0.1:0", "--name", name)
    calling = worker.start(WORKER, "--pair", f"tapml://127.0.0.1:{port_of(waiting)}", "--name", "laptop")
    ends = []
    for process in (calling, waiting):
        out, errors = process.communicate("y\n", timeout=30)
        ends.append((process.returncode, out, errors))
    return ends


def free_port():
    """One that nobody listens at, yet."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@contextlib.contextmanager
def serving(worker, *args):
    """A far worker that runs; gives the process."""
    process = worker.start(WORKER, *args)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=30)
        assert process.returncode in (0, -signal.SIGKILL), (process.returncode, out, errors)


def dialling(worker, *ports, host="127.0.0.1"):
    """A far worker that dials hosts."""
    return serving(worker, *(word for port in ports for word in ("--dial", f"tapml://{host}:{port}")))


@contextlib.contextmanager
def listening(worker, *args, host="127.0.0.1", port=0):
    """A far worker that serves; gives the process and its port."""
    with serving(worker, "--listen", f"{host}:{port}", *args) as process:
        yield process, port_of(process)


class Link:
    """Forwards connections to a port of this machine, and cuts them."""

    def __init__(self, port):
        self.port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own_port = self.listener.getsockname()[1]
        self.pairs = []
        self.is_down = False
        self.forwarded = 0  # Bytes, both ways.
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                if self.is_down:
                    near.close()
                    continue
                try:
                    far = socket.create_connection(("127.0.0.1", self.port))
                except OSError:
                    near.close()
                    continue
                for end in (near, far):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self.lock:
                    self.pairs.append((near, far))
                threading.Thread(target=self.forward, args=(near, far), daemon=True).start()

    def forward(self, near, far):
        with contextlib.suppress(OSError, ValueError):
            while True:
                for end in select.select([near, far], [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        raise OSError
                    self.forwarded += len(data)
                    (far if end is near else near).sendall(data)
        near.close()
        far.close()

    def cut(self):
        """Ends all connections, in the middle of whatever is on its way."""
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for ends in pairs:
            for end in ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.listener.close()
        self.cut()
