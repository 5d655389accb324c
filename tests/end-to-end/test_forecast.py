#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Forecasts: a model scaled so that f16 overflows in two ops, and limits against what a device then refuses."""
import json
import os
import shutil
import struct
import sys
import time

import browser
import rig

WEBGPU = os.path.join(rig.SOURCE, "conf", "devices", "webgpu-default.ini")
SCALE = 2.0 ** 17  # Exact in bf16, so the scaled model computes the same numbers but for two ops.
IDS = "0 352 528 13"


def scaled(folder, factors):
    """The embedded model with tensors of bf16 times powers of two."""
    model = os.path.join(folder, "model")
    shutil.copytree(rig.TINY, model, copy_function=shutil.copyfile)
    path = os.path.join(model, "model.safetensors")
    with open(path, "r+b") as file:
        length, = struct.unpack("<Q", file.read(8))
        table = json.loads(file.read(length))
        for name, factor in factors.items():
            begin, end = table[name]["data_offsets"]
            assert table[name]["dtype"] == "BF16", table[name]
            file.seek(8 + length + begin)
            words = struct.unpack(f"<{(end - begin) // 2}H", file.read(end - begin))
            values = struct.unpack(f"<{len(words)}f", b"".join(struct.pack("<HH", 0, word) for word in words))
            data = struct.pack(f"<{len(words)}f", *(value * factor for value in values))
            file.seek(8 + length + begin)
            file.write(b"".join(data[at + 2:at + 4] for at in range(0, len(data), 4)))
    return model


def forecast(folder, *words, code=0, model=rig.TINY, device=WEBGPU):
    """The JSON document and the text of a forecast that ends with `code`."""
    path = os.path.join(folder, "forecast.json")
    done = rig.check(rig.host("forecast", "--model", model, "--device", device, "--json", path, *words), code)
    with open(path, encoding="utf-8") as file:
        return json.load(file), done.stdout


def whole_device(folder, text):
    path = os.path.join(folder, "device.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def device(folder, text):
    return whole_device(folder, "[device]\nname = made up\nsource = a test\n" + text)


def two_ops_that_overflow_are_named_and_no_others(folder):
    up, down = ("model.layers.1.mlp.up_proj.weight", "model.layers.1.mlp.down_proj.weight")
    model = scaled(folder, {up: SCALE, down: 1 / SCALE})
    prompts = rig.tiny_prompts(folder, 4)
    document, text = forecast(folder, "--prompts", prompts, code=1, model=model)
    named = [(item["type"], item["instance"]) for item in document["ranges"]]
    assert named == [("f16", "layers.1/mlp/up_proj"), ("f16", "layers.1/mlp/mul")], document["ranges"]
    for item in document["ranges"]:
        assert item["leaves"] and not item["loses"] and item["largest"] > 65504, item
        assert 0 < item["beyond"] < item["values"], item
    assert document["verdict"] == {"is_clear": False, "refused": 0, "leave_f16": 2, "lose_f16": 0, "leave_bf16": 0,
                                   "lose_bf16": 0}, document["verdict"]
    assert text.startswith("WebGPU, default limits: 2 ops leave the range of f16; memory unknown\n"), text
    rig.contains(text, "1 instance, layers.1/mlp/up_proj: largest")
    document, text = forecast(folder, "--prompts", prompts)
    assert document["ranges"] == [] and document["verdict"]["is_clear"], document
    assert text.startswith("WebGPU, default limits: no op leaves a range"), text


def an_op_below_the_normal_numbers_loses(folder):
    """The other way round: all values of two ops become subnormal in f16, and bf16 keeps them."""
    up, down = ("model.layers.1.mlp.up_proj.weight", "model.layers.1.mlp.down_proj.weight")
    model = scaled(folder, {up: 1 / SCALE, down: SCALE})
    document, text = forecast(folder, "--ids", IDS, code=1, model=model)
    named = [(item["type"], item["instance"]) for item in document["ranges"]]
    assert named == [("f16", "layers.1/mlp/up_proj"), ("f16", "layers.1/mlp/mul")], document["ranges"]
    assert all(item["loses"] and not item["leaves"] and item["below"] > 0 for item in document["ranges"]), document
    rig.contains(text, "2 ops lose precision in f16", "below the normal numbers")


def predicted_refusals(folder):
    """The tokens of a call whose logits are larger than a binding of the Vulkan device, and the ops that are forecast to
    be refused in such calls, by the figures that its driver reports."""
    rig.need("vulkan", rig.usable("vulkan"))
    dump = rig.check(rig.host("devices", "--dump", "vulkan"), 0).stdout
    rig.contains(dump, "source = tapml-host devices --dump vulkan:", "binding = ", "groups = ", "f16 = ")
    binding = int(dump.split("binding = ")[1].split()[0])
    tokens = binding // (619 * 4) + 1
    rig.need("a device with bindings of at most 256 MiB", binding <= 1 << 28)  # Else the call takes too much memory.
    path = os.path.join(folder, "vulkan.ini")
    with open(path, "w", encoding="utf-8") as file:
        file.write(dump)
    document, _ = forecast(folder, "--ids", IDS, "--capacity", str(tokens), "--chunk", str(tokens), code=1, device=path)
    refused = [item for item in document["limits"] if item["kind"] == "refused"]
    assert all(item["limit"] == binding < item["needed"] for item in refused), refused
    assert 0 < len(refused) < document["ops"], refused
    return tokens, {item["instance"] for item in refused}


def limits_are_those_that_the_device_refuses(folder):
    """The ops that the steps of a call have on the source, as the device itself answers."""
    tokens, predicted = predicted_refusals(folder)
    plan = os.path.join(folder, "plan.txt")
    with open(plan, "w", encoding="utf-8") as file:
        file.write("* -> gpu\n")
    done = rig.check(rig.host("graph", "--model", rig.TINY, "--steps", "--plan", plan, "--target", "gpu=vulkan",
                              "--tokens", str(tokens)), 0)
    calls = [line.split() for line in done.stdout.splitlines() if line.startswith("call")]
    refused = {words[2] for words in calls if words[1] == "source:"}
    assert "head" in refused and predicted == refused, (predicted, refused)


def a_run_refuses_what_is_forecast(folder):
    """The same of a whole run, which carves, replays and offloads with such calls."""
    tokens, predicted = predicted_refusals(folder)
    ini, _ = rig.write_run(folder, source="cpu", target="vulkan", count=1, decode=1)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(text.replace("capacity = 128", f"capacity = {tokens}").replace("chunk = 64", f"chunk = {tokens}"))
    document = os.path.join(folder, "refused.json")
    done = rig.check(rig.host("--config", ini, "--json", document, timeout=3600), 0)
    with open(document, encoding="utf-8") as file:
        instances = json.load(file)["targets"][0]["instances"]
    refused = {item["instance"] for item in instances if item["state"] == "unsupported"}
    assert predicted == refused, (predicted, refused)
    rig.contains(done.stdout, "0 blamed", f"{len(refused)} left on the source", "end to end: agrees")


def figures_decide_what_is_named(folder):
    """Each figure, at a value that the model exceeds, names the ops that exceed it."""
    def kinds(text, *words, code=0):
        document, _ = forecast(folder, "--ids", IDS, *words, code=code, device=device(folder, text))
        found = {}
        for item in document["limits"]:
            found.setdefault(item["kind"], set()).add(item["op"])
        return document, found

    document, found = kinds("[memory]\nbinding = 100000\nalignment = 64\n[kernel]\nitems = 64\ngroups = 100\nshared = 600\n",
                            "--chunk", "32")
    assert found["panels"] == {"embed", "linear"} and "refused" not in found, found
    assert found["shared"] == {"linear"}, found  # Rows of 352 values, those of 128 fit.
    assert found["folded"] == {"linear", "silu", "mul"}, found
    _, found = kinds("[kernel]\nbindings = 3\n", code=1)
    assert found == {"refused": {"rope", "attention"}}, found
    _, found = kinds("[arithmetic]\nf16 = none\n", "--activations", "f16", code=1)
    assert len(found["refused"]) == 10, found
    _, found = kinds("[arithmetic]\nf16 = storage\n", "--activations", "f16")
    assert found == {}, found
    memory = document["memory"]
    assert memory["weights"] == 1793792 and memory["states"] == 256 * 64 * 4 * 8 and memory["fits"] is None, memory
    assert memory["all"] == memory["weights"] + memory["states"] + memory["activations"], memory
    document, _ = kinds(f"[memory]\nbytes = {memory['all'] - 1}\n", "--chunk", "32", code=1)
    assert document["memory"]["fits"] is False and not document["verdict"]["is_clear"], document["memory"]


def times_follow_from_bandwidth_rate_and_launches(folder):
    def decode(text):
        document, _ = forecast(folder, "--ids", IDS, device=device(folder, text))
        return document["times"][1]

    moved = decode("[memory]\nbandwidth = 2\n")
    assert abs(moved["seconds"] - moved["bytes"] / 2e9) < 1e-9 and moved["has_bandwidth"] and not moved["has_rate"], moved
    computed = decode("[arithmetic]\nf32-rate = 3\n")
    assert abs(computed["seconds"] - computed["operations"] / 3e9) < 1e-9, computed
    launched = decode("[memory]\nbandwidth = 2\n[kernel]\nlaunch = 10\n")
    assert abs(launched["seconds"] - moved["seconds"] - launched["launches"] * 1e-5) < 1e-9, launched
    assert decode("")["seconds"] is None
    # Every weight but the table, of which a row is read, and all rows of the states.
    weights, table, states = 1793792, 619 * 128 * 2, 256 * 64 * 4 * 8
    assert weights - table + states < moved["bytes"] < 1.1 * (weights - table + states), moved


def quantised_weights_stay_as_they_are(folder):
    model = os.path.join(rig.DATA, "models", "quantised_fp8_blocks")
    document, _ = forecast(folder, "--ids", "1 5 7", model=model, device=device(folder, "[memory]\nbandwidth = 1\n"))
    stored = os.path.getsize(os.path.join(model, "model.safetensors"))
    assert 0.9 * stored < document["memory"]["weights"] < stored, (document["memory"], stored)


def saved_by_the_page():
    """What the page saves that is opened as a file."""
    with browser.Browser(["--enable-unsafe-webgpu"]) as page:
        page.open("file://" + os.path.join(rig.SOURCE, "plugins", "webgpu", "page.html"))
        end = time.monotonic() + browser.TIMEOUT_S
        while not page.value("at('file').href") and time.monotonic() < end:
            time.sleep(0.05)
        saved = page.value("fetch(at('file').href).then((file) => file.text())")
        assert "No host" in page.value("document.title") and not page.complaints, page.complaints
        return saved


def a_browser_says_what_it_grants(folder):
    rig.need("webgpu", rig.usable("webgpu"))
    dumped = rig.check(rig.host("devices", "--dump", "webgpu"), 0).stdout
    document, _ = forecast(folder, "--ids", IDS, device=whole_device(folder, dumped))
    assert document["device"]["sources"] == ["tapml-host devices --dump webgpu:page"], document["device"]
    rig.contains(dumped, "\nbinding = ", "\nitems = ", "\nshared = ", "\ngroups = ", "\nf16 = ")
    saved = saved_by_the_page()
    for key in ("name", "driver", "binding", "items", "shared", "groups"):
        line = next(line for line in dumped.splitlines() if line.startswith(key + " = "))
        assert line in saved.splitlines(), (line, saved)
    document, _ = forecast(folder, "--ids", IDS, device=whole_device(folder, saved))
    assert document["device"]["sources"] == ["the page of tapml's webgpu, opened on the device"], document["device"]


def a_run_forecasts_its_devices(folder):
    """The documents of a run's devices are those of the command; they are on its page, and made once."""
    section = "[forecast.{}]\ndevice = {}\nactivations = {}\n"
    ini, dir_ = rig.write_small_run(folder, extra=section.format("web", WEBGPU, "f32") + section.format(
        "small", device(folder, "[memory]\nbytes = 100\nbandwidth = 1\n"), "f16"))
    made = os.path.join(folder, "report.json")
    done = rig.check(rig.host("--config", ini, "--json", made), 0)
    rig.contains(done.stderr, "forecast: web: WebGPU, default limits: no op", "forecast: small: made up: ",
                 "the model does not fit")
    with open(made, encoding="utf-8") as file:
        forecasts = json.load(file)["forecasts"]
    assert [(item["name"], item["activations"]) for item in forecasts] == [("web", "f32"), ("small", "f16")], forecasts
    small, _ = forecast(folder, "--ids", "1 5 7 9", "--count", "2", "--capacity", str(forecasts[1]["capacity"]), "--chunk",
                        str(forecasts[1]["chunk"]), "--activations", "f16", "--backend", "reference", code=1,
                        model=os.path.join(rig.DATA, "models", "llama"), device=os.path.join(folder, "device.ini"))
    assert {**small, "model": ""} == {**{key: value for key, value in forecasts[1].items() if key != "name"}, "model": ""}
    with open(os.path.join(dir_, "report.html"), encoding="utf-8") as file:
        rig.contains(file.read(), "What other devices would make of the model", "<bdi>small</bdi>", "made up: ")
    before = rig.rows(dir_, "SELECT * FROM forecast ORDER BY position")
    rig.contains(rig.check(rig.host("--config", ini), 0).stderr, "forecast: small: made up: ")
    assert rig.rows(dir_, "SELECT * FROM forecast ORDER BY position") == before
    device(folder, "[memory]\nbytes = 1000000000\n")
    rig.contains(rig.check(rig.host("--config", ini), 0).stderr, "the model fits")


def devices_are_listed(folder):
    done = rig.check(rig.host("devices"), 0)
    rig.contains(done.stdout, "reference:f32  ", "reference:f64  ")
    assert not rig.usable("webgpu") or "webgpu  opens its device when it is named\n" in done.stdout, done.stdout
    rig.contains(rig.check(rig.host("devices", "reference"), 0).stdout, "reference:f16-rounded")
    rig.contains(rig.check(rig.host("devices", "referense"), 2).stderr,
                 "no plugin has a component 'referense', did you mean 'reference'?")
    rig.contains(rig.check(rig.host("devices", "--dump", "reference:f31"), 2).stderr, "f31")
    dumped = rig.check(rig.host("devices", "--dump", "reference:f64"), 0).stdout
    forecast(folder, "--ids", IDS, device=whole_device(folder, dumped))


def what_is_asked_for_wrongly_is_refused(folder):
    model = ("--model", rig.TINY)
    unknown = device(folder, "[memory]\nbandwith = 1\n")
    ini, dir_ = rig.write_small_run(folder, extra=f"[forecast.a b]\ndevice = {unknown}\n[forecast.none]\n")
    rig.check(rig.host("--config", ini), 2)
    done = rig.check(rig.host("--check-config", ini), 2)
    rig.contains(done.stderr + done.stdout, "'a b' cannot be the name of a forecast", "[forecast.a b]",
                 "'bandwith' in [memory]", "[forecast.none]")
    assert not os.path.exists(dir_), "a refusal leaves something behind"
    for words, piece in [
            (model, "give --device FILE"),
            (("--device", WEBGPU), "give --model PATH"),
            ((*model, "--device", unknown), "device.ini:5: unknown key 'bandwith' in [memory], did you mean 'bandwidth'?"),
            ((*model, "--device", WEBGPU, "--capacity", "4", "--chunk", "5"), "--chunk is 5, expected at most the capacity, 4"),
            ((*model, "--device", WEBGPU, "--ids", "1 2", "--prompts", "x"), "give either --prompts or --ids"),
            ((*model, "--device", WEBGPU, "--ids", "1 x"), "--ids:1: "),
            ((*model, "--device", WEBGPU, "--ids", "1\n2"), "--ids is one prompt, expected a line"),
            ((*model, "--device", WEBGPU, "--ids", "1 2 3", "--capacity", "4", "--count", "2"), "expected a prompt of at most 2 tokens"),
            (("--model", os.path.join(rig.DATA, "models", "llama"), "--device", WEBGPU), "has no prompts.txt")]:
        rig.contains(rig.check(rig.host("forecast", *words), 2).stderr, piece)


if __name__ == "__main__":
    FIRST = [two_ops_that_overflow_are_named_and_no_others, an_op_below_the_normal_numbers_loses,
             limits_are_those_that_the_device_refuses, figures_decide_what_is_named,
             times_follow_from_bandwidth_rate_and_launches, a_run_forecasts_its_devices,
             quantised_weights_stay_as_they_are, devices_are_listed, a_browser_says_what_it_grants,
             what_is_asked_for_wrongly_is_refused]
    rig.main([a_run_refuses_what_is_forecast] if sys.argv[1:] == ["run"] else FIRST)
