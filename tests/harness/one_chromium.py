#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command in which all starts of Chromium are tabs of one browser, which costs a second each otherwise.

    one_chromium.py COMMAND...

The command finds a program `chromium` in PATH that is this script: it opens its address, the last argument, in a new
tab of the browser that stands ready, closes the tabs that were open before, and stays until it is killed. Without
Chromium the command is run as it is, and says itself what is missing.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

FLAGS = ["--headless=new", "--enable-unsafe-webgpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage",
         "--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--remote-debugging-port=0"]
START_S = 60


def ask(port, path, method="GET"):
    """What the browser answers on its DevTools port."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/json/{path}", method=method)
    with urllib.request.urlopen(request, timeout=START_S) as answer:
        return answer.read()


def show(port, address):
    """Opens a tab in place of all others."""
    before = json.loads(ask(port, "list"))
    ask(port, "new?" + urllib.parse.quote(address, safe=""), "PUT")
    for tab in before:
        ask(port, "close/" + tab["id"])
    signal.pause()


def port_of(browser, profile):
    """The port that a browser has chosen."""
    path = os.path.join(profile, "DevToolsActivePort")
    end = time.monotonic() + START_S
    while browser.poll() is None and time.monotonic() < end:
        if os.path.exists(path) and open(path, encoding="utf-8").read().strip():
            return open(path, encoding="utf-8").readline().strip()
        time.sleep(0.05)
    sys.exit("Chromium does not come up")


def run(command, chromium, folder):
    """Runs the command beside a browser; the exit status."""
    flags = FLAGS + (["--no-sandbox"] if os.geteuid() == 0 else [])
    browser = subprocess.Popen([chromium, *flags, f"--user-data-dir={folder}/profile", "about:blank"], start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "HOME": folder, "TMPDIR": folder, "XDG_RUNTIME_DIR": folder})
    try:
        port = port_of(browser, os.path.join(folder, "profile"))
        tab = os.path.join(folder, "chromium")
        with open(tab, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} -I {os.path.abspath(__file__)} --tab {port} "$@"\n')
        os.chmod(tab, 0o755)
        return subprocess.run(command, check=False, env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]}).returncode
    finally:
        os.killpg(browser.pid, signal.SIGKILL)
        browser.wait()


def main(arguments):
    if arguments[:1] == ["--tab"]:
        return show(arguments[1], arguments[-1])
    chromium = shutil.which("chromium")
    if chromium is None:
        return subprocess.run(arguments, check=False).returncode
    with tempfile.TemporaryDirectory(prefix="tapml-chromium-", ignore_cleanup_errors=True) as folder:
        return run(arguments, chromium, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
