# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium over the DevTools protocol, on a pipe: no port, no library."""
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu-sandbox", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-pipe"]
TIMEOUT_S = 120


def find():
    """The browser's path, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One browser with one page. What the page asked for and complained of is kept."""

    def __init__(self, flags=("--disable-gpu",)):
        self.profile = tempfile.mkdtemp(prefix="tapml-chromium-")
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        # The protocol has descriptors 3 and 4.
        command = f'exec "$0" "$@" 3<&{to_read} 4>&{from_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", command, find(), *FLAGS, *flags, f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, env={**os.environ, "XDG_RUNTIME_DIR": self.profile})
        os.close(to_read)
        os.close(from_write)
        self.to, self.from_ = to_write, from_read
        self.buffer = b""
        self.number = 0
        self.session = None
        self.requests = []
        self.complaints = []
        self.loads = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self.from_)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self, deadline):
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.from_], [], [], max(0, deadline - time.monotonic()))
            piece = os.read(self.from_, 1 << 16) if ready else b""
            if not piece:
                raise TimeoutError("Chromium does not answer")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def keep(self, message):
        """Takes what happened by itself."""
        name, parameters = message.get("method"), message.get("params", {})
        if name == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif name == "Runtime.exceptionThrown":
            self.complaints.append(parameters["exceptionDetails"]["text"])
        elif name == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        elif name == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif name == "Page.loadEventFired":
            self.loads += 1

    def call(self, method, **parameters):
        """Calls a method of the protocol and gives its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            answer = self.read(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]
            self.keep(answer)

    def show(self, width, height, dark=False):
        """Sets the size of the window, the colour scheme, and whether it is a phone."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if width < 500 else 1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", media="screen",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        """Loads a page and waits until it is loaded."""
        self.requests.clear()
        self.complaints.clear()
        loads = self.loads
        self.call("Page.navigate", url=url)
        deadline = time.monotonic() + TIMEOUT_S
        while self.loads == loads:
            self.keep(self.read(deadline))

    def value(self, expression):
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")
