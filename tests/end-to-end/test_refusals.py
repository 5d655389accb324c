#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What is refused: the rows of refusals.py for the INI, files, prompts and command lines, and refused_models.py.

Beside them is what is not refused, and what a check of the configuration reports.
"""
import json
import os
import socket
import struct
import subprocess

import rig
from refusals import LLAMA, SHARDED, ROWS, row, refusal, write, ini_bytes, run_of, copy_model, model_run
from refused_models import join, split # And its rows are added.

NOBODY = 65534


# -- The INI -------------------------------------------------------------------------------------

def ini(name, pieces, changes=None, extra=b"", code=2):
    row(f"ini: {name}", code, pieces, lambda folder: run_of(folder, changes=changes, extra=extra))


def raw_ini(name, pieces, data):
    row(f"ini: {name}", 2, pieces, lambda folder: ["--config", write(os.path.join(folder, "run.ini"), data)])


ini("an unknown key", ["run.ini:14: unknown key 'promts' in [run], did you mean 'prompts'?"],
    extra="[run]\npromts = x\n")
ini("an unknown section", ["run.ini:13: unknown section [offlaod], did you mean [offload]?"],
    extra="[offlaod]\nprompts = 2\n")
ini("an unknown group", ["run.ini:13: unknown section [targt.npu], did you mean [target.npu]?"],
    extra="[targt.npu]\nbackend = x\n")
ini("a section that is like none", ["unknown section [quux], see --explain"], extra="[quux]\n")
ini("a target without a name", ["unknown section [target], did you mean [target.NAME]?"],
    extra="[target]\nbackend = reference\n")
ini("a key of another section", ["unknown key 'capacity' in [model], there is one in [run]"],
    {"model/capacity": "3"})
ini("a key twice", ["run.ini:14: expected 'decode' once in [run], found it in line 4 too"],
    extra="[run]\ndecode = 4\n")
ini("a target twice", ["expected 'backend' once in [target.gpu], found it in line 12 too"],
    extra="[target.gpu]\nbackend = reference\n")
ini("an indented line", ["run.ini:14: expected no blank at the start of a line"], extra="[offload]\n  prompts = 2\n")
ini("a value that is too long", ["run.ini:14: expected a value of at most 189 bytes for 'rule', found 190"],
    extra="[plan]\nrule=" + "x" * 190 + "\n")
ini("a line that is too long", ["run.ini:14: expected a line of at most 198 bytes, found 307"],
    extra="[plan]\nrule = " + "x" * 300 + "\n")
ini("a section name that is too long", ["run.ini:13: expected a section name of at most 49 bytes, found 50"],
    extra="[" + "x" * 50 + "]\n")
ini("a key that is too long", ["run.ini:14: expected a key of 1 to 49 bytes, found 50"],
    extra="[run]\n" + "x" * 50 + " = 1\n")
ini("a zero byte", ["run.ini:14: found a zero byte"], extra=b"[plan]\nrule = * -> g\0pu\n")
ini("a line without a value", ["run.ini:14: expected 'key = value' or '[section]', found 'rule'"], extra="[plan]\nrule\n")
ini("a section that does not close", ["run.ini:13: expected '[section]', found '[plan'"], extra="[plan\n")
ini("text behind a section", ["run.ini:13: expected nothing behind '[plan]', found 'x'"], extra="[plan] x\n")
ini("control characters command no terminal", ["unknown section [?[2J"], extra=b"[\x1b[2J]\n")
raw_ini("a key without a section", ["run.ini:1: expected a [section] before 'dir'"], "dir = x\n")
raw_ini("an empty file", ["[run] has no 'dir'"], b"")
raw_ini("UTF-16", ["run.ini:1: found a zero byte"], "[run]\n".encode("utf-16"))
raw_ini("a hundred thousand sections", ["run.ini:1: unknown section [a]", "(and 100004 more"],
        "[a]\n" + "".join(f"[s{i}]\n" for i in range(100000)))
raw_ini("too large", ["expected at most 1048576 bytes"], b"; " + b"\n" * (1 << 20))
for key, section in [("dir", "run"), ("prompts", "run"), ("path", "model"), ("backend", "source"),
                     ("backend", "target.gpu")]:
    ini(f"[{section}] without {key}", [f"[{section}] has no '{key}'"],
        {f"{section}/{key}": None, **({"target.gpu/require": "all"} if section == "target.gpu" else {})})
    ini(f"[{section}] with an empty {key}", [f"[{section}] has no '{key}'"], {f"{section}/{key}": ""})
for key, value, expected in [
        ("run/decode", "-1", "a whole number from 0 to 16777216"), ("run/decode", "3.5", "a whole number"),
        ("run/decode", "99999999999999999999", "a whole number"), ("run/decode", "", "a whole number"),
        ("run/decode", "0x10", "a whole number"), ("run/decode", "many", "a whole number"),
        ("run/capacity", "0", "a whole number from 1 to 16777216"), ("run/chunk", "0", "a whole number from 1"),
        ("run/chunk", "17", "at most the capacity, 16"), ("run/decode", "17", "at most the capacity, 16"),
        ("run/keep", "some", "'first' or 'all'"), ("model/unknown-keys", "alow", "'refuse' or 'allow'"),
        ("target.gpu/require", "none", "'any' or 'all'"), ("target.gpu/budget", "-1", "a whole number from 0"),
        ("offload/prompts", "0", "a whole number from 1")]:
    section, name = key.split("/")
    ini(f"{key} = {value}", [f"[{section}] {name}: expected {expected}", f"found '{value}'" if "at most" not in expected
                             else f"found {value}"], {key: value})
for ring in ("some", "0", "-1", "1.5", "101%", "5m"):
    ini(f"a ring of {ring}", ["[target.gpu] ring: expected 'auto', MiB from 1 to", f"or a share such as '12.5%', found '{ring}'"],
        {"target.gpu/ring": ring})
ini("slots of a ring", ["[target.gpu] slots: expected a whole number from 0 to 64"], {"target.gpu/slots": "65"})
for budget in ("some", "0", "-1", "1.5", "101%", "5m"):
    ini(f"a budget of {budget}", [f"run.ini:14: [select] budget: budget is '{budget}', expected a number of cases"],
        extra=f"[select]\nbudget = {budget}\n")
ini("an unknown order", ["[order] policy: expected 'auto', 'carved', 'balance', 'cover' or the id of a policy: ",
                         "'random'"], extra="[order]\npolicy = random\n")
ini("an axis that is none", ["run.ini:14: [check] invariance: expected axes (run, rows, chunk, verify, order, parts), found 'row', did "
                             "you mean 'rows'?"], extra="[check]\ninvariance = run, row\n")
ini("stress that is no share", ["run.ini:14: [check] stress: expected a share above 0% and at most 100%, such as '2%', found '2'"],
    extra="[check]\nstress = 2\n")
ini("a choice by a backend", ["[select] policy: the component 'reference' is of kind 'tapml.backend/1', expected a policy"],
    extra="[select]\nbudget = 2\npolicy = reference\n")
ini("a choice without a budget", ["run.ini:14: [select] policy: expected 'budget' beside it, within which 'quick' chooses"],
    extra="[select]\npolicy = quick\n")
ini("a trigger without a policy", ["[watch] triggers: expected 'policy:' and the id of a policy, found 'policy'"],
    extra="[watch]\ntriggers = policy\n")
ini("an unknown trigger", ["run.ini:14: [watch] triggers: expected triggers (identity cost drift performance policy:ID), found 'drif', "
                          "did you mean 'drift'?"], extra="[watch]\ntriggers = identity drif:2\n")
ini("a trigger with a number out of range", ["[watch] triggers: expected a number above 1 and at most 1e+06 behind ':', found "
                                            "'drift:1'"], extra="[watch]\ntriggers = drift:1\n")
ini("a number for a trigger that takes none", ["'identity' takes no number, found 'identity:2'"],
    extra="[watch]\ntriggers = identity:2\n")
ini("a budget of a watch", ["[watch] budget: budget is '0', expected a number of cases"], extra="[watch]\nbudget = 0\n")
ini("a capacity below the default of decode", ["[run] capacity: expected at least 'decode', which is 32"],
    {"run/decode": None})
ini("a target called source", ["'source' cannot be the name of a target"], extra="[target.source]\nbackend = x\n")
ini("a target with a bad name", ["run.ini:13: 'a/b' cannot be the name of a target"],
    extra="[target.a/b]\nbackend = x\n")
ini("eight targets", ["run.ini:25: expected at most 7 targets, found [target.t6] too"],
    extra="".join(f"[target.t{i}]\nbackend = reference\n" for i in range(7)))
ini("thirty-three faults", ["run.ini:109: expected at most 32 faults, found [fault.32] too"],
    extra="".join(f"[fault.{i}]\ntarget = gpu\nkind = nan\n" for i in range(33)))
for rule, said in [("* -> npu", "expected 'source' or the name of a target behind '->', found 'npu', did you mean 'gpu'?"),
                   ("* ->", "expected a place behind '->', found nothing"), ("*", "expected '-> PLACE'"),
                   ("-> gpu", "expected '*', 'op=', 'instance=' or 'phase=' before '->'"),
                   ("silu -> gpu", "expected '*', 'op=', 'instance=' or 'phase=', found 'silu'"),
                   ("opp=silu -> gpu", "found 'opp=', did you mean 'op'?"),
                   ("phase=decod -> gpu", "expected the phase 'prefill' or 'decode', found 'decod', did you mean 'decode'?"),
                   ("op=a op=b -> gpu", "'op=' is given twice"), ("* op=a -> gpu", "'*' stands alone")]:
    ini(f"rule = {rule}", ["run.ini:14: ", said], extra=f"[plan]\nrule = {rule}\n")
ini("a rule that matches nothing", ["run.ini:14: the rule 'op=slu -> gpu' matches no op of the model, did you mean 'silu'?"],
    extra="[plan]\nrule = op=slu -> gpu\n")
ini("a fault on no target", ["[fault.1] target: expected the name of a target, found 'gpuu', did you mean 'gpu'?"],
    extra="[fault.1]\ntarget = gpuu\nkind = nan\n")
ini("an unknown fault", ["run.ini:15: [fault.1] kind: unknown kind 'nann', did you mean 'nan'?"],
    extra="[fault.1]\ntarget = gpu\nkind = nann\n")
ini("a fault that strikes nothing", ["fault.1"], extra="[fault.1]\ntarget = gpu\nop = convolve\nkind = nan\n")
ini("an unknown component", ["no plugin has a component 'referense', did you mean 'reference'?"],
    {"source/backend": "referense"})
ini("a target that both listens and dials", ["expected either 'url', of a worker that listens, or 'listen'"],
    {"target.gpu/url": "tapml://board:7700", "target.gpu/listen": "0.0.0.0:7700"})
ini("a worker's address of another kind", ["'http://board' is no address of a worker: expected tapml://HOST:PORT"],
    {"target.gpu/url": "http://board"})
ini("nowhere to wait", ["'nowhere' is no address: expected HOST:PORT"], {"target.gpu/listen": "nowhere"})
ini("an unknown device", ["reference: no device 'f99', there are: 'f32'"], {"target.gpu/backend": "reference:f99"})
ini("a component that is no backend", ["the component 'llama' is of kind 'tapml.model/1', expected a backend"],
    {"source/backend": "llama"})
ini("no component at all", ["':f32' names no component"], {"source/backend": ":f32"})
ini("an unknown option", ["run.ini:14: unknown key 'sped' in [component.reference]"],
    extra="[component.reference]\nsped = 1\n")
ini("options of a misspelt component", ["no plugin has a component 'referenc', did you mean 'reference'?"],
    extra="[component.referenc]\nx = 1\n")
ini("a pool that is not there", ["run.ini:13: [target.gpu] pool: expected the NAME of a section [pool.NAME], found 'phones'"],
    {"target.gpu/pool": "phones"})
ini("labels that no device has", ["[pool.p] labels: bundles have no tag 'divice', did you mean 'device'?"],
    {"target.gpu/pool": "p", "target.gpu/share": "split"}, extra="[pool.p]\nprocesses = 2\nlabels = divice=0\n")
ini("bad tiers", ["[plugins] tiers: expected numbers from 1 to 4", "found '1 9'"], {"plugins/tiers": "1 9"})
ini("a plugin that is not there", ["absent.so', which is named by --plugin or [plugins] load, is malformed: ",
                                   "No such file or directory"], {"plugins/load": "./absent.so"})
ini("a plugin that is forbidden", ["good.so', which is named by --plugin or [plugins] load, is refused: ", "is on the list 'deny'"],
    {"plugins/deny": "org.example.*", "plugins/load": os.path.join(rig.BUILD, "tests", "zoo", "good.so")})
ini("problems are counted", ["(and 1 more, reported by --check-config)"], {"run/keep": "x", "run/decode": "x"})
ini("an unknown architecture that is named", ["no architecture 'lama'", "did you mean 'llama'?"],
    {"model/architecture": "lama"})


# -- Files that are none -------------------------------------------------------------------------

def kinds(what, place, said, absent="No such file or directory"):
    """Rows for a file at `place(folder)` that is absent, a folder, a pipe, a socket, a device, a loop."""
    def missing(path):
        return path

    def loop(path):
        os.symlink(path, path)

    def serve(path):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path)

    for name, make, why in [("absent", missing, absent), ("a folder", os.mkdir, "found a folder"),
                            ("a pipe", os.mkfifo, "found a pipe"), ("a socket", serve, ""),
                            ("a device", lambda path: os.symlink("/dev/zero", path), "found a device"),
                            ("a link to itself", loop, "Too many levels of symbolic links"),
                            ("a link to nowhere", lambda path: os.symlink(path + ".gone", path),
                             "No such file or directory")]:
        def arguments(folder, make=make):
            path, words = place(folder)
            if os.path.lexists(path):
                os.unlink(path)
            make(path)
            return words
        row(f"{what} is {name}", 2, [said, why], arguments)


def model_file(name, source=LLAMA):
    def place(folder):
        model, words = model_run(folder, source)
        return os.path.join(model, name), words
    return place


kinds("run.ini", lambda folder: (os.path.join(folder, "run.ini"), ["--config", os.path.join(folder, "run.ini")]),
      "run.ini: ")
kinds("the prompts' file", lambda folder: (os.path.join(folder, "prompts.txt"), run_of(folder)), "prompts.txt: ")
kinds("config.json", model_file("config.json"), "config.json: ")
kinds("model.safetensors", model_file("model.safetensors"), "model.safetensors", "found neither")
kinds("the index", model_file("model.safetensors.index.json", SHARDED), "model.safetensors.index.json", "found neither")
kinds("a shard", model_file("model-00002-of-00003.safetensors", SHARDED), "model-00002-of-00003.safetensors: ")
for kind, key in [("quiet_observer", "target.gpu/observers"), ("quiet_observer", "source/observers"), ("first_comparer", "run/comparers")]:
    def wrong_option(folder, name=f"sin_{kind}", key=key):
        manifest = os.path.join(rig.BUILD, "tests", "zoo", f"org.example.{name}.tapml")
        extra = f"[plugins]\nload = {manifest}\n[component.{name}]\ntimes = x\n"
        return run_of(folder, changes={"run/comparers": None, "source/observers": None, key: name}, extra=extra)
    row(f"an option of a plugin is wrong, {key}", 2, [f"sin_{kind}", "option 'times' is no number"], wrong_option)
row("the model's folder is absent", 2, ["model 'nowhere': expected a folder, found nothing"],
    lambda folder: run_of(folder, model="nowhere"))
row("the model's folder is a file", 2, ["config.json: expected a GGUF file, found another"],
    lambda folder: run_of(folder, model=os.path.join(LLAMA, "config.json")))
row("the run's folder is a file", 2, ["run", "expected a folder, found a file"],
    lambda folder: (write(os.path.join(folder, "run"), b""), run_of(folder))[1])
for name, said in [("tokenizer.json", "tokenizer.json: cannot open: Too many levels"),
                   ("generation_config.json", "generation_config.json: cannot open: Too many levels")]:
    row(f"{name} is a link to itself", 2, [said],
        lambda folder, name=name: (os.symlink(name, os.path.join(copy_model(folder), name)),
                                   run_of(folder, b"once\n", model=os.path.join(folder, "model")))[1])


def unreadable(name, place):
    """A file that its reader may not read. Root may read all, so a child does without root's rights."""
    def test(folder):
        path, words = place(folder)
        os.chmod(folder, 0o755)
        os.chmod(path, 0)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        try:
            done = subprocess.run([rig.HOST, *words], capture_output=True, text=True, timeout=60, check=False,
                                  stdin=subprocess.DEVNULL, **user)
        except PermissionError as error:
            raise rig.Skip(f"an unprivileged child cannot start here: {error}") from None
        finally:
            os.chmod(path, 0o700)
        refusal(done, 2, [os.path.basename(path), "Permission denied"])
    test.__name__ = f"{name} may not be read"
    ROWS.append(test)


unreadable("run.ini", lambda folder: (run_of(folder)[1], run_of(folder)))
unreadable("the run's folder", lambda folder: (os.mkdir(os.path.join(folder, "run")), (os.path.join(folder, "run"), run_of(folder)))[1])
unreadable("the prompts' file", lambda folder: (os.path.join(folder, "prompts.txt"), run_of(folder)))
unreadable("config.json", model_file("config.json"))
unreadable("model.safetensors", model_file("model.safetensors"))
unreadable("a shard", model_file("model-00002-of-00003.safetensors", SHARDED))
unreadable("the model's folder", model_file(""))


# -- Prompts -------------------------------------------------------------------------------------

def prompts(name, pieces, data, model=LLAMA):
    row(f"prompts: {name}", 2, ["prompts.txt", *pieces], lambda folder: run_of(folder, prompts=data, model=model))


prompts("empty", ["expected a prompt, found none"], b"")
prompts("blank lines", ["expected a prompt, found none"], b"\n  \n\r\n\t\n")
prompts("a zero byte", ["expected a text of UTF-8 without zero bytes"], b"ids: 1\0\n")
prompts("not UTF-8", ["expected a text of UTF-8"], b"caf\xe9\n", rig.TINY)
prompts("binary", ["expected a text of UTF-8"], bytes(range(256)) * 16, rig.TINY)
prompts("UTF-16", ["expected a text of UTF-8"], "hello\n".encode("utf-16"), rig.TINY)
prompts("no ids", [":1: expected at least one id"], b"ids:\n")
prompts("ids that are none", [":1: expected an integer, found 'five'"], b"ids: 5 five\n")
prompts("a negative id", [":2: expected an id of 31 bits, found '-1'"], b"ids: 1\nids: -1\n")
prompts("an id of 32 bits", [":1: expected an id of 31 bits, found '4294967296'"], b"ids: 4294967296\n")
prompts("an id of 65 bits", [":1: expected an integer of 64 bits"], b"ids: 18446744073709551616\n")
prompts("an id beyond the vocabulary", [":3: expected ids within 0 .. ", "found 99999"], b"ids: 1\nids: 2\nids: 99999\n")
prompts("too long", [":2: expected a prompt of at most 13 tokens", "found 14"], b"ids: 1\nids:" + b" 1" * 14 + b"\n")
prompts("a text that is too long", [":1: expected a prompt of at most 13 tokens"], b"once upon a time " * 50, rig.TINY)
prompts("a text of megabytes", [":1: expected a prompt of at most 13 tokens, found 8000000 bytes"], b"x" * 8000000,
        rig.TINY)
prompts("too many", [":1048577: expected at most 1048576 prompts"], b"ids: 1\n" * ((1 << 20) + 1))
prompts("too large", ["expected at most 67108864 bytes"], b"ids: 1\n" * (10 << 20))
prompts("a text without a tokenizer", [":1: expected 'ids: ...' where there is no tokenizer"], b"hello\n")


# -- Command lines -------------------------------------------------------------------------------

def words(name, pieces, *arguments, code=2):
    row(f"words: {name}", code, pieces, lambda folder: [word.replace("FOLDER", folder) for word in arguments])


words("an unknown command", ["unknown command 'carve', see --help"], "carve")
words("a command with a mistake", ["unknown command 'genrate', did you mean 'generate'?"], "genrate")
words("a file for a command", ["'my.ini' is no command: for a run 'tapml-host --config my.ini'"], "my.ini")
words("help of an unknown command", ["unknown command 'genrate', did you mean 'generate'?"], "help", "genrate")
words("an option that is a command, with a mistake", ["unknown option '--explian', did you mean '--explain'?"], "--explian", "run")
for animal, state in (("newer_abi", "wrong-abi"), ("search_path", "refused")):
    for command in (["ops"], ["graph", "--model", LLAMA]):
        words(f"{command[0]} with a plugin that is {state}",
              [f"{animal}.so', which is named by --plugin or [plugins] load, is {state}: "],
              *command, "--plugin", os.path.join(rig.BUILD, "tests", "zoo", animal + ".so"))
words("an unknown option", ["unknown option '--confg', did you mean '--config'?"], "--confg", "x")
words("an option without its value", ["option '--config' needs a value"], "--config")
words("a value for a switch", ["option '--safe' takes no value"], "--config", "x", "--safe=1")
words("something too many", ["expected no argument, found 'extra'"], "--config", "x.ini", "extra")
for command in ("generate", "eval", "graph", "ops", "plugins"):
    words(f"something too many for {command}", ["expected no argument, found 'extra'"], command, "extra")
words("no budget for a choice", ["no budget: give --budget 200, --budget 2% or --budget 600s"], "select", "FOLDER")
words("a budget that is none", ["budget is '5 cases', expected a number of cases such as '200'"], "select", "FOLDER",
      "--budget", "5 cases")
words("a choice in an unknown order", ["--order is 'random', expected one of: carved balance cover"], "select", "FOLDER",
      "--budget", "5", "--order", "random")
words("a choice by an unknown policy", ["--policy: ", "'quick'"], "select", "FOLDER", "--budget", "5", "--policy", "quick")
words("a choice of no run", ["there is no store"], "select", "FOLDER/absent", "--budget", "5")
words("nothing to tune", ["expected --config FILE, or one DIR with --backend"], "tune")
words("a folder to be tuned without a backend", ["--backend is for DIR, and needed there"], "tune", "x")
words("trials chosen by what is unknown", ["--by is 'luck', expected one of: random predictor transferred"], "tune", "x",
      "--backend", "reference", "--by", "luck")
words("nothing to rank", ["nothing to rank: give --over op, target, backend, model, encoding or plan"], "rank", "--config",
      os.path.join(rig.SOURCE, "conf", "quickstart.ini"))
words("an unknown thing to rank", ["--over is 'layer', expected one of: op target backend model encoding plan"], "rank", "--config", "x.ini",
      "--over", "layer")
words("a rank by what is unknown", ["--by is 'speed', expected one of: failures margin time"], "rank", "--config", "x.ini",
      "--over", "op", "--by", "speed")
words("a shard of none", ["--shard is '9/8', expected 'auto' or a part of how many, such as '1/8' to '8/8'"], "rank", "--config",
      "x.ini", "--over", "op", "--shard", "9/8")
words("a folder for no shard", ["--into is where a shard writes: give --shard I/N too"], "rank", "--config", "x.ini", "--over",
      "op", "--into", "x")
words("a ranking without a run", ["no run: give --config FILE"], "rank", "--over", "op")
words("a ranking of models without a text", ["no text: give --text FILE"], "rank", "--over", "model", "--model", rig.TINY)
TEXT = os.path.join(rig.TINY, "prompts.txt")
words("a ranking of plans without plans", ["no plans: give --plan FILE for each of them"], "rank", "--over", "plan",
      "--model", rig.TINY, "--text", TEXT)
words("a ranking of encodings without a model", ["no model: give --model PATH"], "rank", "--over", "encoding", "--text", TEXT)
words("a divergence of models from nothing", ["models have no base of their own to diverge from: give --base PATH"], "rank",
      "--over", "model", "--model", rig.TINY, "--text", TEXT, "--by", "kl")
words("a ranking of models of a run", ["--config is for --over op, target or backend"], "rank", "--over", "model", "--config",
      "x.ini")
words("a text for cases", ["--text is for --over model, encoding or plan"], "rank", "--over", "op", "--text", TEXT)
words("a device without memory", ["has no 'bytes' in [memory], by which to tell what fits"], "rank", "--over", "model",
      "--model", rig.TINY, "--text", TEXT, "--store", "FOLDER/rank.tapmlrun", "--fits",
      os.path.join(rig.SOURCE, "conf", "devices", "apple-m2.ini"))
words("no action of plans", ["expected plan search, plan show or plan diff"], "plan")
words("an action of plans that is none", ["expected plan search, plan show or plan diff, found 'find'"], "plan", "find")
words("a search of plans without a run", ["no run: give --config FILE"], "plan", "search")
words("a search of plans by nothing known", ["--by is 'size', expected one of: latency memory precision"], "plan", "search",
      "--config", "x.ini", "--by", "size")
words("memory that is no size", ["--memory is '2X', expected a size such as 8G or 512M"], "plan", "search", "--config", "x.ini",
      "--memory", "2X")
words("a bound without precision", ["--bound is for --by precision"], "plan", "search", "--config", "x.ini", "--bound", "1")
words("a slack without memory", ["--slack is for --by memory"], "plan", "search", "--config", "x.ini", "--slack", "1")
words("a bound that is no number", ["--bound is '-1', expected a number from 0 to 100"], "plan", "search", "--config", "x.ini",
      "--by", "precision", "--bound=-1")
words("trials of a plan that is shown", ["--trials is for plan search"], "plan", "show", "x.txt", "--trials", "3")
words("one plan to compare", ["expected: tapml-host plan diff FILE FILE"], "plan", "diff", "x.txt")
words("nothing to watch", ["nothing to watch: give --config FILE"], "watch", "--once")
words("a budget of a watch that is none", ["--budget: budget is 'some', expected a number of cases"], "watch", "--config",
      "x.ini", "--budget", "some")
words("nothing to simulate", ["nothing to simulate: give --config FILE, or the folder of a run"], "watch", "--simulate")
words("triggers without a simulation", ["--triggers is for a watch with --simulate"], "watch", "--config", "x.ini", "--triggers",
      "identity")
words("a page of a simulation", ["--page is for a watch without --simulate"], "watch", "--simulate", "--page", "x", ".")
words("an ensemble that is none", ["--ensemble is 'most', expected one of: any majority"], "watch", "--simulate", "--ensemble",
      "most", ".")
words("a simulated trigger that is none",
      ["--triggers: expected triggers (identity cost drift performance policy:ID), found 'drif'"], "watch", "--simulate",
      "--triggers", "drif", ".")
words("an interval of no time", ["--interval is '0', expected seconds, at least 1"], "watch", "--config", "x.ini",
      "--interval", "0")
words("a timeline that is in no folder", ["--timeline: cannot write '", "absent/t.json"], "--config",
      os.path.join(rig.SOURCE, "conf", "quickstart.ini"), "--timeline", "FOLDER/absent/t.json", code=3)
words("a timeline that is no file", ["--trace-link: ", "/dev/null"], "--config",
      os.path.join(rig.SOURCE, "conf", "quickstart.ini"), "--trace-link", "/dev/null")
words("threads out of range", ["option '--threads' is 0, expected 1 to 1024"], "--config",
      os.path.join(rig.SOURCE, "conf", "quickstart.ini"), "--threads", "0")
words("an unknown key to explain", ["unknown key 'chunkk', did you mean 'chunk'?"], "--explain", "chunkk")
words("two keys to explain", ["expected one key, also found 'keep'"], "--explain", "chunk", "keep")
words("a check of nothing", ["option '--check-config' needs a value"], "--check-config")
words("a check of what is absent", ["absent.ini: cannot open"], "--check-config", "FOLDER/absent.ini")
words("no prompt", ["give either --prompt or --ids"], "generate", "--model", LLAMA)
words("both prompts", ["give either --prompt or --ids"], "generate", "--model", LLAMA, "--ids", "1", "--prompt", "x")
words("an empty prompt", ["the prompt is empty"], "generate", "--model", LLAMA, "--ids", "")
words("an id that is none", ["'x' is no token id"], "generate", "--model", LLAMA, "--ids", "1 x")
words("an id beyond the vocabulary", ["99999"], "generate", "--model", LLAMA, "--ids", "99999")
words("a prompt without a tokenizer", ["has no tokenizer; give --ids"], "generate", "--model", LLAMA, "--prompt", "x")
words("a count out of range", ["option '--count' is 0, expected 1"], "generate", "--model", LLAMA, "--ids", "1",
      "--count", "0")
words("a capacity below the prompt", ["capacity"], "generate", "--model", LLAMA, "--ids", "1 2 3", "--capacity", "2")
words("a target without a name", ["--target is '=x', expected NAME=BACKEND"], "generate", "--model", LLAMA, "--ids", "1",
      "--target", "=x")
words("no model", ["no model: give --model PATH"], "eval")
for command in (["generate", "--ids", "1"], ["eval"], ["graph"]):
    words(f"an unknown architecture for {command[0]}", ["no architecture 'lama' can be used", "did you mean 'llama'?"],
          *command, "--model", LLAMA, "--architecture", "lama")
    words(f"an unknown word on keys for {command[0]}", ["--unknown-keys is 'alow', expected 'refuse' or 'allow'"],
          *command, "--model", LLAMA, "--unknown-keys", "alow")
words("an adapter that is not there", ["adapter '/nowhere'", "/nowhere/adapter_config.json"], "generate", "--model", LLAMA,
      "--ids", "1", "--adapter", "/nowhere")
words("a delta that is not there", ["delta '/nowhere'"], "generate", "--model", LLAMA, "--ids", "1", "--delta", "/nowhere")
words("a delta of nothing", ["delta takes 'make BASE FINE --out FILE'"], "delta", "make", LLAMA)
words("a store that is none", ["config.json"], "replay", os.path.join(LLAMA, "config.json"), "--backend", "reference")
words("a store that is absent", ["absent.tapmlrun"], "replay", "FOLDER/absent.tapmlrun", "--backend", "reference")
words("no store", ["one store expected, 0 given"], "replay", "--backend", "reference")
STORED = os.path.join(rig.DATA, "stores", "version-6")  # A run.
words("a comparison that ends for nothing", ["--fail-on is 'all', expected 'difference', 'broken' or 'slower'"],
      "compare", STORED, STORED, "--fail-on", "all")
words("a pair that is none", ["--pair is 'gpu', expected TARGET=TARGET"], "compare", STORED, STORED, "--pair", "gpu")
words("a day that is none", ["--expires is '2026-02-29', expected a day such as 2027-03-31, or 'never'"],
      "compare", STORED, "--write-baseline", "FOLDER/known.ini", "--expires", "2026-02-29")
words("a baseline that is absent", ["known.ini"], "compare", STORED, "--baseline", "FOLDER/known.ini")
words("a JUnit file of dumps", ["--junit is of two runs"], "compare", LLAMA, LLAMA, "--junit", "FOLDER/x.xml")
words("a pack of nothing", ["the folder of a run, --where and --out expected"], "pack", STORED)
words("a pack of an unknown column", ["no such column: verdct, did you mean 'verdict'?"],
      "pack", STORED, "--where", "verdct = 'fail'", "--out", "FOLDER/pack.tapmlrun")
words("a pack of two statements", ["a query is one statement, found more behind it"],
      "pack", STORED, "--where", "1); SELECT (1", "--out", "FOLDER/pack.tapmlrun")
words("a pack without a case", ["no case is chosen by 'op = 'tapml.none''"],
      "pack", STORED, "--where", "op = 'tapml.none'", "--out", "FOLDER/pack.tapmlrun")
words("a pack without names", ["--redact is 'names', expected 'prompts'"],
      "pack", STORED, "--where", "1", "--out", "FOLDER/pack.tapmlrun", "--redact", "names")

words("a search for an unknown tag", ["bundles have no tag 'opp', did you mean 'op'?"], "find", "FOLDER", "opp=silu")
words("a search in a folder that is absent", ["there is no file or folder '", "absent'"], "find", "FOLDER/absent")
words("a search in the store of a run", ["is the store of a run, expected a bundle or a pack"],
      "find", os.path.join(STORED, "run.tapmlrun"))
words("a replay by an id of nothing", ["no bundle or pack of this id"], "replay", "00112233")
words("devices of a run and of another machine", ["--config and --url exclude each other"],
      "devices", "--config", "x.ini", "--url", "tapml://b:1")
words("devices of two components of another machine", ["expected one COMPONENT or COMPONENT:DEVICE at most, and no --dump"],
      "devices", "a", "b", "--url", "tapml://b:1")
words("a worker that listens and dials", ["--url and --listen exclude each other"],
      "check-device", "reference", "--url", "tapml://b:1", "--listen", ":1")
words("an address to wait at that is none", ["'nowhere' is no address"], "check-device", "reference", "--listen", "nowhere")
words("a pairing that forgets and waits", ["--remove and --listen exclude each other"],
      "pair", "--remove", "a", "--listen", ":1")
words("a replay on an operator", ["'op=silu': expected a tag of devices"], "replay", "FOLDER/x.tapmlrun", "op=silu")
words("a replay of two stores", ["TAG=GLOB behind it, found 'b.tapmlrun'"], "replay", "a.tapmlrun", "b.tapmlrun")
words("a replay on one device and others", ["device=0 chooses among devices, and --backend names one"],
      "replay", "FOLDER/absent.tapmlrun", "device=0", "--backend", "reference")
words("a site of nothing", ["folders of runs and --out expected"], "publish", STORED)
words("a site by operators", ["--by is 'op', expected one of: target device"], "publish", STORED, "--out", "FOLDER/site",
      "--by", "op")
words("a site without names", ["--redact is 'names'"], "publish", STORED, "--out", "FOLDER/site", "--redact", "names")
words("a site in the folder of a run", ["has files and is no site of 'tapml-host publish'"], "publish", STORED, "--out", STORED)
words("a matrix of dumps", ["--matrix is of two runs"], "compare", LLAMA, LLAMA, "--matrix", "FOLDER/x.html")


def baseline(name, pieces, text):
    row(f"baseline: {name}", 2, pieces,
        lambda folder: ["compare", STORED, "--baseline", write(os.path.join(folder, "known.ini"), text)])


baseline("no reason", ["known.ini", "reason"], "[known.a]\nop = silu\nexpires = never\n")
baseline("no day", ["known.ini:4: [known.a] expires: expected a day such as 2027-03-31, or 'never', found 'soon'"],
         "[known.a]\nop = silu\nreason = x\nexpires = soon\n")
baseline("an unknown key", ["unknown key 'devise' in [known.a], did you mean 'device'?"],
         "[known.a]\nop = silu\ndevise = x\nreason = x\nexpires = never\n")
baseline("an unknown section", ["unknown section [knwon.a], did you mean [known.a]?"],
         "[knwon.a]\nop = silu\nreason = x\nexpires = never\n")
words("a query without a run", ["expected folders of runs and a query behind them, found 1 arguments"], "query", "SELECT 1")
words("a query of no run", ["there is no run in '"], "query", "FOLDER", "SELECT 1")
words("a query that is empty", ["the query is empty"], "query", STORED, "")
words("a query of an unknown column", ["no such column: margn, did you mean 'margin'?"], "query", STORED, "SELECT margn FROM verdicts")
words("a query of an unknown view", ["no such table: verdict, did you mean 'verdicts'?"], "query", STORED, "SELECT 1 FROM verdict")
words("a query of a table", ["no such table: result; the views are verdicts, cases"], "query", STORED, "SELECT 1 FROM result")
words("a query that is no SQL", ['near "worst": syntax error'], "query", STORED, "worst margins")
words("a query that writes", ["a query reads the views and does nothing else"], "query", STORED, "DELETE FROM verdicts")
words("a query that attaches", ["a query reads the views and does nothing else"], "query", STORED, "ATTACH 'x' AS x")
words("a query that loads", ["calls 'load_extension', which is none of the functions"], "query", STORED, "SELECT load_extension('x')")
words("two queries", ["a query is one statement, found more behind it"], "query", STORED, "SELECT 1; SELECT 2")
words("a query in two forms", ["--csv and --json are two forms: one is expected"], "query", STORED, "SELECT 1", "--csv", "--json")
words("a query without time", ["option '--seconds' is 0, expected 1 to"], "query", STORED, "SELECT 1", "--seconds", "0")
words("a query that takes too much", ["more than 8 MiB: --memory allows more"], "query", STORED, "--memory", "8",
      "SELECT group_concat(a.reason || b.reason || c.run) FROM verdicts a, verdicts b, verdicts c", code=3)


def expected(name, pieces, change):
    """`eval` with another expected.safetensors, whose tensors are all of f32 here."""
    def make(folder):
        model = copy_model(folder)
        path = os.path.join(model, "expected.safetensors")
        with open(path, "rb") as file:
            table, body = split(file.read())
        body = bytearray(body)
        write(path, join(table, bytes(change(table, body) or body)))
        return ["eval", "--model", model, "--backend", "reference"]
    row(f"expected.safetensors: {name}", 2, pieces, make)


def first_id(value):
    def change(table, body):
        entry = table["input_ids"]
        letter = {"I64": "q", "I32": "i", "F32": "f", "F64": "d"}[entry["dtype"]]
        struct.pack_into("<" + letter, body, entry["data_offsets"][0], value)
    return change


def no_ids(table, body):
    begin, end = table["input_ids"]["data_offsets"]
    for entry in table.values():
        if isinstance(entry.get("data_offsets"), list) and entry["data_offsets"][0] >= end:
            entry["data_offsets"] = [at - (end - begin) for at in entry["data_offsets"]]
    table["input_ids"].update(shape=[0], data_offsets=[begin, begin])
    return body[:begin] + body[end:]


def not_numbers(table, body):
    table["input_ids"]["dtype"] = {"I64": "F64", "I32": "F32"}[table["input_ids"]["dtype"]]
    first_id(float("nan"))(table, body)


expected("an id beyond the vocabulary", ["expected ids within 0 .. ", "found 99999"], first_id(99999))
expected("a negative id", ["tensor 'input_ids': expected ids within 0 .. ", "found -1"], first_id(-1))
expected("ids that are no numbers", ["tensor 'input_ids': expected ids within 0 .. ", "found nan"], not_numbers)
expected("no ids", ["tensor 'input_ids': expected at least one id"], no_ids)
expected("no prompt", ["tensor 'input_ids' of rank 1 expected, none found"],
         lambda table, body: table.update({"logits": table.pop("input_ids")}) and None)
expected("an unknown name", ["has 'hiddem.1', which the model does not give"],
         lambda table, body: table.update({"hiddem.1": table.pop("hidden.1")}) and None)


def plan(name, pieces, data):
    row(f"plan: {name}", 2, ["plan.txt", *pieces],
        lambda folder: ["generate", "--model", LLAMA, "--ids", "1", "--source", "reference", "--target", "gpu=reference",
                        "--plan", write(os.path.join(folder, "plan.txt"), data)])


plan("a rule without a place", [":2: expected a place behind '->'"], "# a comment\n* ->\n")
plan("a place that is none", [":1: there is no place 'gpuu', did you mean 'gpu'?"], "* -> gpuu\n")
plan("a zero byte", ["expected text, found a zero byte at 1"], b"*\0 -> gpu\n")
plan("two places", [":1: expected one place behind '->', found also 'source'"], "* -> gpu source\n")
plan("an instance that is none", ["matches no op of the model, did you mean 'layers.0/mlp/silu'?"],
     "instance=layers.0/mlp/sil -> gpu\n")
plan("too large", ["expected at most 1048576 bytes"], b"#" * ((1 << 20) + 1))


# -- What the environment lacks ------------------------------------------------------------------

def a_driver_that_is_missing_is_the_environments(folder):
    entries = json.loads(rig.host("plugins", "--json").stdout)
    if not any(entry["component"] == "opencl" for entry in entries):
        raise rig.Skip("no opencl")
    nowhere = {"OCL_ICD_VENDORS": os.path.join(folder, "none"), "OCL_ICD_FILENAMES": ""}
    done = rig.host(*run_of(folder, changes={"target.gpu/backend": "opencl"}), env=nowhere)
    refusal(done, 3, ["target 'gpu' cannot be opened: the component 'opencl' of 'org.tapml.opencl' is no-"])


def an_opening_that_fails_names_plugin_and_place(folder):
    """Whatever ends a worker, it is told whose plugin it was and what it was for."""
    plugin = ["--plugin", os.path.join(rig.BUILD, "tests", "zoo", "crashes_in_create.so")]
    who = "the component 'crashes_in_create' of 'org.example.crashes_in_create': the worker was killed by SIGSEGV"
    for changes, place in [({"target.gpu/backend": "crashes_in_create"}, "target 'gpu'"),
                           ({"source/backend": "crashes_in_create", "source/isolation": "always"}, "the source")]:
        refusal(rig.host(*run_of(folder, changes=changes), *plugin), 3, [f"{place} cannot be opened: {who}"])
    for command in (["eval", "--model", LLAMA, "--backend"], ["check-device"]):
        refusal(rig.host(*command, "crashes_in_create", *plugin), 3, [who])


# -- What is not refused -------------------------------------------------------------------------

def carriage_returns_and_a_byte_order_mark_are_fine(folder):
    write(os.path.join(folder, "prompts.txt"), b"ids: 1 2 3\r\nids: 4\r\n")
    data = b"\xef\xbb\xbf" + ini_bytes(folder, extra="[plan]\nrule = * -> gpu\n").replace(b"\n", b"\r\n")
    done = rig.check(rig.host("--check-config", write(os.path.join(folder, "run.ini"), data)), 0)
    rig.contains(done.stdout, "no problem found", "architecture 'llama'", "2, the longest of 3 tokens")


def harmless_keys_are_passed_over(folder):
    model, words_ = model_run(folder)
    path = os.path.join(model, "config.json")
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    table.update(output_attentions=True, attention_dropout=0.5, brand_new_thing=None, another_thing=False)
    write(path, json.dumps(table))
    rig.check(rig.host("--check-config", words_[1]), 0)
    table.update(sliding_gate=3)
    write(path, json.dumps(table))
    rig.check(rig.host("--check-config", words_[1]), 2)
    rig.check(rig.host("--check-config", run_of(folder, model=model, changes={"model/unknown-keys": "allow"})[1]), 0)


def a_check_reports_everything(folder):
    path = write(os.path.join(folder, "run.ini"), ini_bytes(folder, {
        "run/decode": "-1", "run/keep": "some", "model/path": "nowhere", "source/backend": "referense",
        "target.gpu/backend": "reference:f99"}, "[plan]\nrule = * -> npu\n  joined\n[runn]\n[component.reference]\nx = 1\n"))
    done = rig.check(rig.host("--check-config", path), 2)
    lines = done.stdout.splitlines()
    for piece in (":17: expected no blank", ":18: unknown section [runn]", "[run] decode: ", "[run] keep: ",
                  ":16: expected 'source' or", "[model] path: ", "[source] backend: ", "[target.gpu] backend: ",
                  "[run] prompts: ", ":20: unknown key 'x' in [component.reference]"):
        assert sum(piece in line for line in lines) == 1, f"'{piece}' is not reported once:\n{done.stdout}"
    assert all(line.startswith(path + ":") for line in lines) and done.stderr == "", done.stdout + done.stderr
    assert len(lines) == 10, done.stdout


def a_check_sees_what_the_source_lacks(folder):
    """Without computing anything: ops that a model calls, and a source that cannot be opened."""
    def lines(backend, code):
        run_of(folder)
        path = write(os.path.join(folder, "run.ini"), ini_bytes(folder, {"source/backend": backend}))
        plugin = ["--plugin", os.path.join(rig.BUILD, "tests", "zoo", backend + ".so")]
        return rig.check(rig.host("--check-config", path, *plugin), code).stdout.splitlines()
    found = lines("tame", 2)
    assert len(found) == len(set(found)) >= 8 and all("[source] backend: 'tame' has no op 'tapml." in line for line in found), found
    rig.contains("\n".join(found), "has no op 'tapml.embed', which the model calls at 'embed'", "'tapml.rms_norm'",
                 "which the model calls at 'layers.0/")
    assert "'tapml.silu'" not in "\n".join(found), found
    for name, said in [("exits_in_probe", "ended its process with exit status 0"), ("no_driver", "is no-driver: ")]:
        found = lines(name, 3)  # As the run would end.
        assert len(found) == 1, found
        rig.contains(found[0], f"[source] backend: the component '{name}' of 'org.example.{name}' is ", said)


def the_page_of_keys_is_the_table(folder):
    done = rig.check(rig.host("--explain", "--markdown"), 0)
    with open(os.path.join(rig.SOURCE, "docs", "ini.md"), encoding="utf-8") as file:
        assert file.read() == done.stdout, "write it again: tapml-host --explain --markdown > docs/ini.md"


def every_key_is_explained(folder):
    for line in rig.check(rig.host("--explain"), 0).stdout.splitlines():
        if line.startswith("["):
            name = line.split("  ")[0]
            rig.contains(rig.check(rig.host("--explain", name), 0).stdout, name + "\n", "takes", "default", "example")


if __name__ == "__main__":
    rig.main(ROWS + [a_driver_that_is_missing_is_the_environments, an_opening_that_fails_names_plugin_and_place,
                     carriage_returns_and_a_byte_order_mark_are_fine, harmless_keys_are_passed_over,
                     a_check_reports_everything, a_check_sees_what_the_source_lacks, the_page_of_keys_is_the_table, every_key_is_explained],
             needs=["reference", "llama"])
