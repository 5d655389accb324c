#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Gives every WGSL text to headless Chromium: a shader module and a compute pipeline of each.

    check_wgsl.py NAME.VARIANT.wgsl...

A page, served on 127.0.0.1, fetches the texts with their constants bound, compiles them on SwiftShader and
posts each name, and at last what was refused. Where the adapter lacks shader-f16, the texts that want it are
compiled with f32 for f16, and counted. Exit status 77, with the reason, where Chromium or its adapter is
missing; TAPML_REQUIRE=wgsl makes a failure of that.
"""
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

from check_texts import SKIP, constants, has_subgroups

FLAGS = ["--headless=new", "--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
         "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-gpu-sandbox"]
SILENCE_S = 240  # for which the page may compile one text

PAGE = """<!doctype html><meta charset="utf-8"><title>kernels</title><script type="module">
const post = (answer) => fetch('/answer', {method: 'POST', body: JSON.stringify(answer)});
const complaints = [];

let widened = 0;

async function compile(device, {name, code, subgroups}) {
  if (subgroups && !device.features.has('subgroups')) {
    throw new Error('the adapter has no subgroups');
  }
  if (code.includes('enable f16;') && !device.features.has('shader-f16')) {
    code = code.replace('enable f16;', 'alias f16 = f32;');
    widened++;
  }
  device.pushErrorScope('validation');
  const module = device.createShaderModule({code});
  const info = await module.getCompilationInfo();
  const messages = info.messages.filter((m) => m.type === 'error').map((m) => `${m.lineNum}:${m.linePos} ${m.message}`);
  if (messages.length === 0) {
    await device.createComputePipelineAsync({layout: 'auto', compute: {module}});
  }
  const error = await device.popErrorScope();
  if (error && messages.length === 0) {
    messages.push(error.message);
  }
  if (messages.length > 0) {
    throw new Error(messages.join('; '));
  }
}

try {
  const texts = await (await fetch('/texts')).json();
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) {
    await post({missing: 'Chromium gives no WebGPU adapter'});
  } else {
    const device = await adapter.requestDevice({requiredFeatures: ['subgroups', 'shader-f16'].filter((f) => adapter.features.has(f))});
    for (const text of texts) {
      try {
        await compile(device, text);
      } catch (error) {
        complaints.push(`${text.name}: ${error.message}`);
      }
      await fetch('/compiled', {method: 'POST', body: text.name});
    }
    await post({count: texts.length, complaints, widened});
  }
} catch (error) {
  await post({complaints: [`the page failed: ${error.message}`]});
}
</script>"""


def bound(path):
    """A text as a driver gives it to the interface: its constants behind it."""
    lines = [f"const {name}: u32 = {value};\n" for name, value in constants(path).items()]
    code = open(path, encoding="utf-8").read() + "".join(lines)
    return {"name": os.path.basename(path), "code": code, "subgroups": has_subgroups(path)}


class Server(http.server.ThreadingHTTPServer):
    """Serves the page and the texts, and keeps the answer."""

    def __init__(self, texts):
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages = {"/": ("text/html", PAGE), "/texts": ("application/json", json.dumps(texts))}
        self.answer = None
        self.is_heard = threading.Event()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        kind, body = self.server.pages.get(self.path, ("text/plain", ""))
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path == "/answer":
            self.server.answer = json.loads(body)
        self.send_response(204)
        self.end_headers()
        self.server.is_heard.set()

    def log_message(self, format, *arguments):
        """Says nothing: the answer is what counts."""


def ask(chromium, texts):
    """The answer of the page, or None where it never came."""
    server = Server(texts)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [chromium, *FLAGS, f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "XDG_RUNTIME_DIR": profile})
        while server.answer is None and server.is_heard.wait(SILENCE_S):
            server.is_heard.clear()
        browser.terminate()
        try:
            browser.wait(10)
        except subprocess.TimeoutExpired:
            browser.kill()
            browser.wait()
    server.shutdown()
    return server.answer


def skip(count, reason):
    print(f"wgsl: {count} texts not compiled: {reason}")
    return 1 if "wgsl" in re.split(r"[ ,]", os.environ.get("TAPML_REQUIRE", "")) else SKIP


def main(paths):
    if not paths:
        print(__doc__, file=sys.stderr)
        return 2
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        return skip(len(paths), "chromium is not installed")
    answer = ask(chromium, [bound(path) for path in paths])
    if answer is None:
        print(f"wgsl: Chromium has said nothing for {SILENCE_S} seconds")
        return 1
    if "missing" in answer:
        return skip(len(paths), answer["missing"])
    print("\n".join(answer["complaints"]))
    print(f"wgsl: {len(paths)} texts, {len(answer['complaints'])} refused, {answer['widened']} with f32 for f16")
    return 1 if answer["complaints"] or answer.get("count") != len(paths) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
