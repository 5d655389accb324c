# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""What manual pages and completions are made of: a program as it describes itself.

A program in C prints it as JSON, by --describe (core/run/manual.h). One in Python has `parser()`, an argparse parser,
and may have FORMAT, the keys of the file that it reads.
"""
import argparse
import dataclasses
import importlib.machinery
import importlib.util
import json
import re
import subprocess

# What may stand for a value, by the word that --help has for it. All else but words in small letters with '|' between is
# refused, so that whoever adds a word says here what it is.
FILE, DIR, PATH, COMMAND, KEY, ANY = "file", "dir", "path", "command", "key", "any"
VALUES = {
    FILE: "FILE LIBRARY PLUGIN STORE",
    DIR: "DIR",
    PATH: "PATH BASE DUMP FINE",
    COMMAND: "COMMAND",
    KEY: "KEY",
    ANY: "ADDRESS B BACKEND CHECK COMPONENT DAY DEVICE ENCODING I GLOB ID IDS LEVEL MIB N NAME NMSE NUMBER PAIR PART PATTERN PROCESS RATE RUN SECONDS SETTING SIZE SQL TAG TEXT TIME TYPE URL WORDS",
}
KINDS = {word: kind for kind, words in VALUES.items() for word in words.split()}


class Wrong(Exception):
    """A description that nothing can be made of."""


@dataclasses.dataclass
class Option:
    names: list  # ["-h", "--help"]
    value: str   # As --help has it; or "".
    help: str

    @property
    def name(self):
        return self.names[-1]

    def takes(self):
        """A kind, or a list of words; None for a switch."""
        return takes(self.value) if self.value else None


@dataclasses.dataclass
class Command:
    name: str
    about: str          # A few words.
    usage: list         # Each form, whole.
    description: str    # Paragraphs with line breaks between.
    options: list
    operands: list = dataclasses.field(default_factory=list)  # (words of --help, help), where there is more to say.

    @property
    def is_option(self):
        return self.name.startswith("--")


@dataclasses.dataclass
class Program:
    own: Command
    version: str
    commands: list
    exit_codes: list  # (number, words)
    files: list       # Of FileFormat.


@dataclasses.dataclass
class FileFormat:
    name: str
    title: str
    about: str
    sections: list  # Dicts: title, help, takes_any_key, keys; a key has name, takes, example, help, and what else is so.


def takes(value):
    """What a word of --help stands for: a kind, or the words themselves."""
    value = value.removesuffix(" ...")
    if re.fullmatch(r"[a-z0-9_]+(\|[a-z0-9_]+)+", value):
        return value.split("|")
    kinds = {KINDS.get(word) for word in re.findall(r"[A-Z]+", value)}
    if not kinds or None in kinds:
        raise Wrong(f"tools/manuals/described.py does not know what '{value}' stands for")
    return kinds.pop() if len(kinds) == 1 else ANY


def operands(command):
    """What stands alone in the forms of a command, by its place: a list of sets of kinds and words; and whether the last
    may be repeated."""
    places, repeats = [], False
    for form in command.usage:
        words = re.sub(r"[][]", "", form).split()[1:]
        words = words[1:] if words[:1] == [command.name] and not command.is_option else words
        found, index = [], 0
        while index < len(words):
            option = next((option for option in command.options if words[index] in option.names), None)
            if words[index] == "..." or (found and words[index] == found[-1] and words[index + 1:index + 2] == ["..."]):
                repeats = True
            elif option:
                index += bool(option.value)
            elif words[index] != "|":
                found.append(words[index])
            index += 1
        for place, word in enumerate(found):
            places += [set()] if place == len(places) else []
            kind = word if word.islower() else takes(word)
            places[place] |= set(kind) if isinstance(kind, list) else {kind}
    return places, repeats


# ---- a program in C --------------------------------------------------------------------------------


def from_command(row):
    options = [Option([*filter(None, [option.get("short")]), option["name"]], option.get("value", ""), option["help"])
               for option in row["options"]]
    return Command(row["name"], row["about"], row["usage"], row["description"], options)


def of_program(path):
    described = json.loads(subprocess.run([path, "--describe"], capture_output=True, text=True, check=True).stdout)
    return Program(from_command(described["own"]), described["version"], [from_command(row) for row in described["commands"]],
                   [(row["code"], row["means"]) for row in described["exit_codes"]],
                   [FileFormat(**row) for row in described["files"]])


# ---- a program in Python ---------------------------------------------------------------------------


def value_of(action):
    """What stands behind an option, or in the place of an operand, as --help has it."""
    if action.nargs == 0:
        return ""
    words = action.metavar or ("|".join(action.choices) if action.choices else action.dest.upper())
    return words + " ..." * (action.nargs in ("+", "*"))


def from_parser(parser, name, about):
    """argparse has no other way to ask a parser what it takes than by its actions."""
    actions = [action for action in parser._actions if not isinstance(action, argparse._SubParsersAction)]
    options = [Option(action.option_strings, value_of(action), action.help) for action in actions if action.option_strings]
    more = [(value_of(action), action.help) for action in actions if not action.option_strings]
    usage = " ".join(parser.format_usage().split()[1:])
    return Command(name, about, [usage], parser.description or "", options, more)


def of_script(path, version):
    loader = importlib.machinery.SourceFileLoader("script", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("script", loader))
    loader.exec_module(module)
    parser = module.parser()
    title, *rest = [" ".join(part.split()) for part in parser.description.split("\n\n")]
    own = from_parser(parser, parser.prog, title.rstrip("."))
    own.description = "\n".join(rest or [title])
    verbs = next((action for action in parser._actions if isinstance(action, argparse._SubParsersAction)), None)
    commands = [from_parser(verbs.choices[verb.dest], verb.dest, verb.help) for verb in verbs._choices_actions] if verbs else []
    return Program(own, version, commands, [(0, "success"), (1, "the input is wrong"), (2, "usage")],
                   [from_format(module.FORMAT)] if hasattr(module, "FORMAT") else [])


def from_format(form):
    sections = []
    for section in form["sections"]:
        keys = [{"name": name, "takes": takes_, "example": example, "help": help_, "needed": name in section["needed"]}
                for name, (takes_, example, help_) in section["keys"].items()]
        sections.append({"title": section["title"], "help": section["help"], "keys": keys})
    return FileFormat(form["name"], form["title"], form["about"], sections)


# ---- what a shell offers ---------------------------------------------------------------------------


def offered(kinds, program):
    """What to offer for a value or an operand, of which `kinds` are kinds and words: FILE, DIR, PATH, ANY or a list."""
    words = []
    for kind in sorted(kinds):
        words += {COMMAND: [command.name for command in program.commands], KEY: key_words(program)}.get(kind, [])
        words += [kind] if kind not in VALUES else []
    for kind in (PATH, FILE, DIR):
        if kind in kinds:
            return PATH if {FILE, DIR} <= kinds else kind
    return words or ANY


def key_words(program):
    """Sections, and keys with their section, as --explain takes them: 'run', 'run.chunk', 'target.backend'."""
    out = []
    for form in program.files:
        for section in form.sections:
            stem = section["title"].partition(".")[0]
            out += [stem] + [f"{stem}.{key['name']}" for key in section["keys"]]
    return out


def value_offered(option, program):
    """The same of an option's value; None for a switch."""
    kind = option.takes()
    return None if kind is None else kind if isinstance(kind, list) else offered({kind}, program)


def operands_offered(command, program):
    places, repeats = operands(command)
    return [offered(place, program) for place in places], repeats


def option_commands(program):
    """The commands that are options, the first of which is what options alone mean; and the options that may stand in
    place of a command: those of the program, and these."""
    commands = [command for command in program.commands if command.is_option]
    own = [next(option for option in command.options if option.name == command.name) for command in commands]
    return commands, program.own.options + [dataclasses.replace(option, help=command.about)
                                            for option, command in zip(own, commands)]
