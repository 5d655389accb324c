#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and completions of shells have each command, option and key that --help and --explain have, and no other.

Pages are formatted, and scripts read, by the programs that are here: bash always, groff, man, zsh and fish where they are
installed.
"""
import functools
import glob
import os
import re
import shutil
import subprocess
import sys

import rig

MANUALS = os.path.join(rig.BUILD, "tools", "manuals")
WORKER = os.path.join(rig.BUILD, "tapml-worker")
CHECK = os.path.join(rig.BUILD, "tapml-plugin-check")
TOOLS = os.path.join(rig.SOURCE, "sdk", "tools")
ROW = re.compile(r"^  (?:(-\w), )?(--[\w-]+)(?: ([^\s\[]\S*))?(?=  |$)", re.MULTILINE)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=100, **more)


def equal(found, expected, what):
    assert found == expected, f"{what}: too many {sorted(found - expected)}, missing {sorted(expected - found)}"


# ---- what --help says ------------------------------------------------------------------------------


def options_of(text):
    """{option: its value or ''}, short forms too, of the rows of a help."""
    found = {}
    for short, name, value in ROW.findall(text):
        found[name] = value
        found.update({short: value} if short else {})
    return found


def help_of(*command):
    done = run(*command, "--help")
    assert done.returncode == 0 and not done.stderr, (command, done.stderr)
    return done.stdout


@functools.cache
def host_commands():
    """The options of each command of tapml-host; those of the program itself under ''."""
    usage, about, own, commands, _ = help_of(rig.HOST).strip().split("\n\n")
    names = re.findall(r"^  (\S+)", commands, re.MULTILINE)
    assert len(names) > 20 and usage.startswith("usage: tapml-host") and about.startswith("Takes")
    return {"": options_of(own), **{name: options_of(rig.check(rig.host("help", name), 0).stdout) for name in names}}


def words_of(value):
    return set(value.split("|")) if "|" in value else set()


# ---- pages -----------------------------------------------------------------------------------------


def sections(page):
    """{heading: the tags of its .TP, without fonts}, of a page."""
    found, heading, is_tag = {}, "", False
    for line in read(MANUALS, page).splitlines():
        line = re.sub(r"\\f[BIR]|\\&", "", line).replace("\\-", "-")
        match = re.match(r"\.S[HS] (.*)", line)
        if match:
            heading = match.group(1).strip('"')
            found[heading] = []
        elif is_tag:
            found[heading].append(line)
        is_tag = line == ".TP"
    return found


def tagged_options(tags):
    """{option: value} as options_of gives them."""
    return options_of("".join(f"  {tag}\n" for tag in tags))


def the_pages_of_programs_have_what_help_has(folder):
    page = sections("tapml-host.1")
    headings = set(page) - {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "SEE ALSO"}
    equal(headings, set(host_commands()) - {""}, "commands of tapml-host.1")
    for command, options in host_commands().items():
        found = tagged_options(page[command or "OPTIONS"])
        assert found == options, f"{command}: {found} in the page, {options} in --help"
    for program in (WORKER, CHECK):
        assert tagged_options(sections(os.path.basename(program) + ".1")["OPTIONS"]) == options_of(help_of(program))
    codes = re.findall(r"(\d+)\s", help_of(rig.HOST).rpartition("Exit codes:")[2])
    assert page["EXIT STATUS"] == codes and len(codes) == 6, (page["EXIT STATUS"], codes)


def the_pages_of_tools_have_what_help_has(folder):
    for name in ("opgen", "manifest", "identity"):
        tool = os.path.join(TOOLS, name)
        page = sections(f"tapml-{name}.1")
        verbs = re.findall(rf"^usage: {name} (\w+) ", help_of(tool), re.MULTILINE)
        assert len(verbs) >= 2, verbs
        equal(set(page) - {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "COMMANDS", "EXIT STATUS", "SEE ALSO"}, set(verbs),
              name)
        for verb in verbs:
            equal(set(tagged_options(page[verb])), set(options_of(help_of(tool, verb))), f"{name} {verb}")
    assert tagged_options(sections("tapml-opgen.1")["tables"])["--include"] == "FILE"


def keys_of(page):
    """{section: its keys}"""
    return {heading.strip("[]"): {tag.partition(" = ")[0] for tag in tags}
            for heading, tags in sections(page).items() if heading.startswith("[")}


def the_pages_of_files_have_every_key(folder):
    explained = re.findall(r"^\[(\S+)\] (\S+)", rig.check(rig.host("--explain"), 0).stdout, re.MULTILINE)
    found = keys_of("tapml-run.ini.5")
    equal({(section, key) for section, keys in found.items() for key in keys}, set(explained), "tapml-run.ini.5")
    assert found["component.ID"] == set() and len(explained) > 30

    path = os.path.join(folder, "wrong.opdef")
    for section in ("op", "param.NAME"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"[{section}]\nno-key = 1\n")
        known = run(os.path.join(TOOLS, "opgen"), "header", os.devnull, path).stderr.rpartition("known are: ")[2]
        equal(keys_of("tapml-opdef.5")[section], set(known.split()), f"[{section}] of tapml-opdef.5")


def the_page_of_manifests_has_every_key(folder):
    found = keys_of("tapml-plugin.ini.5")
    used = {}
    for path in glob.glob(os.path.join(rig.SOURCE, "plugins", "*", "plugin.ini")):
        for section, body in re.findall(r"^\[([^].]*)[^]]*\]\n([^[]*)", read(path), re.MULTILINE):
            used.setdefault(section, set()).update(re.findall(r"^(\S+) =", body, re.MULTILINE))
    for section, title in (("plugin", "plugin"), ("component", "component.ID")):
        equal(used[section] - found[title], set(), f"keys of plugins that tapml-plugin.ini.5 lacks in [{title}]")
    text = read(rig.SOURCE, "docs", "plugin-abi.md")
    bullets = text.partition("The keys of a component:")[2].partition("Unknown keys")[0]
    listed = {key for heads in re.findall(r"^- ((?:`[^`]+`(?:, )?)+)", bullets, re.MULTILINE)
              for key in re.findall(r"`([a-z0-9-]+)", heads)}
    equal(found["component.ID"] - {"kind", "title"}, listed, "docs/plugin-abi.md and tapml-plugin.ini.5")


def installed(program):
    if shutil.which(program) is None:
        raise rig.Skip(f"no {program}")


def all_pages():
    pages = sorted(glob.glob(os.path.join(MANUALS, "*.[15]")))
    assert len(pages) == 12, pages
    return pages


def groff_has_no_warning(folder):
    installed("groff")
    for page in all_pages():
        done = run("groff", "-man", "-ww", "-z", page)
        assert done.returncode == 0 and not done.stderr, (page, done.stderr)


def man_shows_the_pages(folder):
    installed("man")
    for page in all_pages():
        done = run("man", "--warnings", "-l", page, env={**os.environ, "LC_ALL": "C", "MANWIDTH": "100", "MANPAGER": "cat"})
        if "minimized" in done.stdout or "nroff" in done.stderr:
            raise rig.Skip("this man does not format pages: " + (done.stderr or done.stdout).splitlines()[0])
        assert done.returncode == 0 and not done.stderr, (page, done.stderr)
        name = os.path.basename(page).rpartition(".")[0]
        rig.contains(done.stdout, "NAME\n       " + name + " - ")
        assert not re.search(r"\\[-f&e]", done.stdout), page
        if name == "tapml-host":
            rig.contains(done.stdout, "tapml-host graph --model PATH [--format text|dot]", "\n       --pool cls|mean|last\n")


# ---- bash ------------------------------------------------------------------------------------------


def offers(program, lines, folder):
    """What bash offers for the last word of each line, a list of words: a list of lists. `program` may be a path."""
    path, program = os.path.join(MANUALS, program), os.path.basename(program)
    function = "_" + program.replace("-", "_")
    script = [f"source {path} || exit 9", f"cd '{folder}' || exit 9"]
    for line in lines:
        words = " ".join("'" + word + "'" for word in [program, *line])
        script += [f"COMP_WORDS=({words}); COMP_CWORD={len(line)}; {function}", "printf '%s\\n' \"${COMPREPLY[@]}\" --END"]
    done = run("bash", "--norc", "-c", "\n".join(script))
    assert done.returncode == 0 and not done.stderr, done.stderr
    out = [part.splitlines() for part in done.stdout.split("--END\n")[:-1]]
    assert len(out) == len(lines), (len(out), len(lines))
    return [[word for word in part if word] for part in out]


def bash_offers_each_option_and_no_other(folder):
    for program in ("tapml-host", "tapml-worker"):
        done = run("bash", "-n", os.path.join(MANUALS, program))
        assert done.returncode == 0 and not done.stderr, done.stderr
    commands = list(host_commands())
    named = [name for name in commands if name]
    before = [[word for word in (name, host_commands()[name].get(name) and "x") if word] for name in commands]
    found = offers("tapml-host", [[*words, "-"] for words in before], folder)
    for name, words in zip(commands, found):
        expected = set(host_commands()[name]) | (set() if name else {name for name in named if name.startswith("--")})
        equal(set(words), expected, f"'{name}' of bash")
        assert len(words) == len(set(words)), words
    equal(set(offers("tapml-host", [[""]], folder)[0]), set(named), "commands of bash")
    equal(set(offers("tapml-host", [["help", ""]], folder)[0]), set(named), "commands of help")
    for program in (WORKER, CHECK):
        name = os.path.basename(program)
        equal(set(offers(name, [["-"]], folder)[0]), set(options_of(help_of(program))), name)


def bash_offers_values(folder):
    for name in ("a file", "run.ini"):
        with open(os.path.join(folder, name), "w", encoding="utf-8"):
            pass
    os.mkdir(os.path.join(folder, "results"))
    rows = [(name, option, value) for name, options in host_commands().items() if name
            for option, value in options.items() if value]
    assert len(rows) > 100
    separate = offers("tapml-host", [[name, option, ""] for name, option, _ in rows], folder)
    joined = offers("tapml-host", [[name, option, "=", ""] for name, option, _ in rows], folder)
    folders, files = {"results"}, {"a file", "run.ini", "results"}
    kinds = {"FILE": files, "PATH": files, "STORE": files, "DIR": folders}
    for (name, option, value), words, same in zip(rows, separate, joined):
        equal(set(words), words_of(value) or kinds.get(value, set()), f"{name} {option} {value}")
        assert sorted(words) == sorted(same), (name, option, words, same)
    assert sum("|" in value for _, _, value in rows) >= 10


def bash_offers_what_stands_alone(folder):
    os.mkdir(os.path.join(folder, "results"))
    with open(os.path.join(folder, "run.tapmlrun"), "w", encoding="utf-8"):
        pass
    for line, expected in {
            ("report", ""): "results", ("replay", ""): "results run.tapmlrun", ("store", ""): "inline merge remove",
            ("replay", "--backend", "x", ""): "results run.tapmlrun", ("replay", "--case", "=", "1", "ru"): "run.tapmlrun",
            ("store", "merge", ""): "results", ("store", "merge", "a", "b", "c", ""): "results",
            ("store", "merge", "a", "--into", "b", "r"): "results", ("export", "run.tapmlrun", ""): "results",
            ("gen",): "generate", ("graph", "--format", "d"): "dot", ("graph", "--format", "=", "d"): "dot",
            ("--config", "run.ini", "--js"): "--json", ("--config", "=", "run"): "run.tapmlrun",
            ("--markdown", "--explain", "run.ch"): "run.chunk", ("--explain", "target.req"): "target.require",
            ("--check-config", "run.ini", "--js"): "", ("ops", ""): " ".join(sorted(host_commands()["ops"])),
            ("models", "--nonsense", "x", "y", "z", "--js"): "--json"}.items():
        words = offers("tapml-host", [list(line)], folder)[0]
        assert " ".join(sorted(words)) == expected, (line, words, expected)


# ---- zsh and fish ----------------------------------------------------------------------------------


def zsh_specifications(text):
    """The options of the specifications of _arguments in a piece of a script."""
    found = set()
    for many, one in re.findall(r"^ *'(?:\([^)]*\)'\{([^}]*)\}|\*?(--[\w-]+))", text, re.MULTILINE):
        found |= set(many.split(",")) if many else {one}
    return found


def the_script_of_zsh_has_each_option_and_no_other(folder):
    script = read(MANUALS, "_tapml-host")
    assert script.startswith("#compdef tapml-host\n")
    branches = dict(re.findall(r"^    \((\S+)\)\n(.*?)^      ;;", script, re.MULTILINE | re.DOTALL))
    branches[""] = branches.pop("''")
    equal(set(branches), set(host_commands()), "commands of zsh")
    first = {name for name in host_commands() if name.startswith("--")}
    for name, options in host_commands().items():
        equal(zsh_specifications(branches[name]), set(options) | (set() if name else first), f"'{name}' of zsh")
        for option, value in options.items():
            if "|" in value:
                rig.contains(branches[name], f":({value.replace('|', ' ')})'")
    equal(set(re.findall(r"^        '([\w-]+):", branches[""], re.MULTILINE)), set(host_commands()) - first - {""}, "commands")
    equal(zsh_specifications(read(MANUALS, "_tapml-worker")), set(options_of(help_of(WORKER))), "tapml-worker of zsh")


def zsh_reads_its_scripts(folder):
    installed("zsh")
    for name in ("_tapml-host", "_tapml-worker"):
        done = run("zsh", "-f", "-n", os.path.join(MANUALS, name))
        assert done.returncode == 0 and not done.stderr, done.stderr


def fish_options(lines):
    return {dash + name for line in lines for flag, dash in (("-l", "--"), ("-s", "-"))
            for name in re.findall(rf" {flag} (\S+)", line.partition(" -d ")[0])}


def the_script_of_fish_has_each_option_and_no_other(folder):
    lines = {}
    for name, line in re.findall(r"^complete -c tapml-host -n '__tapml_host_is (\S+)'(.*)$", read(MANUALS, "tapml-host.fish"),
                                 re.MULTILINE):
        lines.setdefault(name.strip('"'), []).append(line)
    equal(set(lines), set(host_commands()), "commands of fish")
    first = {name for name in host_commands() if name.startswith("--")}
    for name, options in host_commands().items():
        equal(fish_options(lines[name]), set(options) | (set() if name else first), f"'{name}' of fish")
        for option, value in options.items():
            if "|" in value:
                row = next(line for line in lines[name] if f" -l {option[2:]} " in line)
                rig.contains(row, f" -x -a '{value.replace('|', ' ')}' ")
    equal({name for line in lines[""] for name in re.findall(r"^ -a (\S+)", line)}, set(host_commands()) - first - {""},
          "commands")
    equal(fish_options(read(MANUALS, "tapml-worker.fish").splitlines()), set(options_of(help_of(WORKER))), "tapml-worker")


def fish_offers_options_and_values(folder):
    installed("fish")
    for line, expected in {"tapml-host graph --format ": {"dot", "text"}, "tapml-host gen": {"generate"},
                           "tapml-host store m": {"merge"}, "tapml-host --explain run.ch": {"run.chunk"},
                           "tapml-host --json x --ju": {"--junit"},
                           "tapml-host ops --": {name for name in host_commands()["ops"] if name.startswith("--")}}.items():
        done = run("fish", "--no-config", "-c", f"source {os.path.join(MANUALS, 'tapml-host.fish')}; complete -C '{line}'",
                   cwd=folder)
        assert done.returncode == 0 and not done.stderr, done.stderr
        equal({word.partition("\t")[0] for word in done.stdout.splitlines()}, expected, line)


# ---- what joins ------------------------------------------------------------------------------------

SCRIPT = """
import argparse

def parser():
    made = argparse.ArgumentParser(prog="tapml-sketch", description="Sketches.\\n\\nIn two\\nlines.")
    verbs = made.add_subparsers(metavar="COMMAND")
    draw = verbs.add_parser("draw", help="draws", description="Draws.")
    draw.add_argument("--tool", choices=["pen", "brush"], help="with what")
    draw.add_argument("--on", metavar="{value}", help="on what")
    draw.add_argument("out", metavar="DIR", help="where")
    verbs.add_parser("wipe", help="wipes")
    return made
"""


def make_sketch(folder, value):
    path = os.path.join(folder, "sketch")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SCRIPT.replace("{value}", value))
    outputs = [os.path.join(folder, name) for name in ("tapml-sketch.1", "tapml-sketch", "_tapml-sketch", "tapml-sketch.fish")]
    make = os.path.join(rig.SOURCE, "tools", "manuals", "make.py")
    return run(sys.executable, "-B", make, "--see", "tapml-host.1", "--version", "1", "--script", path, *outputs)


def a_program_in_python_joins(folder):
    done = make_sketch(folder, "FILE")
    assert done.returncode == 0, done.stderr
    os.mkdir(os.path.join(folder, "results"))
    page = sections(os.path.join(folder, "tapml-sketch.1"))
    assert tagged_options(page["draw"]) == {"-h": "", "--help": "", "--tool": "pen|brush", "--on": "FILE"}, page
    assert "wipe" in page and page["draw"][0] == "DIR", page
    found = offers(os.path.join(folder, "tapml-sketch"),
                   [[""], ["draw", "--tool", ""], ["draw", ""], ["draw", "--on", "r"], ["wipe", "-"]], folder)
    assert [" ".join(words) for words in found] == ["draw wipe", "pen brush", "results", "results", "-h --help"], found


def a_value_that_nobody_knows_is_refused(folder):
    done = make_sketch(folder, "PAPER")
    assert done.returncode == 1, done
    rig.contains(done.stderr, "tools/manuals/described.py does not know what 'PAPER' stands for")


if __name__ == "__main__":
    if not os.path.isdir(MANUALS):
        print("1..0 # SKIP this build folder makes no manual pages")
        sys.exit(0)
    rig.main([the_pages_of_programs_have_what_help_has, the_pages_of_tools_have_what_help_has,
              the_pages_of_files_have_every_key, the_page_of_manifests_has_every_key, groff_has_no_warning,
              man_shows_the_pages, bash_offers_each_option_and_no_other, bash_offers_values, bash_offers_what_stands_alone,
              the_script_of_zsh_has_each_option_and_no_other, zsh_reads_its_scripts,
              the_script_of_fish_has_each_option_and_no_other, fish_offers_options_and_values,
              a_program_in_python_joins, a_value_that_nobody_knows_is_refused])
