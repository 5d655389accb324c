#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Holds the house rules that no other tool holds: one small function each.

    tidy.py [--build FOLDER] [ROOT]

Prints `file:line: message` for what breaks a rule. With --build it reads the objects of a build folder
too. Exit status: 0 if all is well, 1 if a rule is broken.
"""
import argparse
import os
import re
import subprocess
import sys

# The order of the layers: an include goes to the own layer or to one further left. Nothing else in
# the project repeats this list.
LAYERS = "base tensor gguf schema device tokenizer template model graph plugin link remote exec store choose carve verify offload config run dump report watch kit commands".split()
PROGRAMS = "programs"

# Never in core/, in no form: platforms and architectures that plugins serve.
FOREIGN = {"opencl", "pocl", "vulkan", "webgpu", "cuda", "llama"}
# Component ids that are also plain words: only a string that is the id itself names a component.
PLAIN_WORDS = {"function", "reference", "cpu", "null", "metal"}

# Function, replacement, and where it may be called all the same.
BANNED = [
    (r"malloc|calloc|realloc|free|strdup|strndup", "base/alloc.h", r"core/base/alloc\.c|tests/|sdk/tools/"),
    (r"strcpy|strcat|sprintf|vsprintf", "base/text.h or snprintf", r"$^"),
    (r"strtok", "base/text.h", r"$^"),
    (r"s?rand", "base/random.h", r"$^"),
    (r"assert", "ASSERT of base/assert.h", r"sdk/tools/"),
    (r"getenv", "core/plugin/search.c and base/terminal.h, the only readers of the environment in the core",
     r"core/(config|run|commands)/|core/(plugin/search|base/terminal)\.c|sdk/gpu/cache\.c|tests/"),
]

# These hand out memory of the C library, so a file that calls one of them may call free.
HANDS_OUT = re.compile(r"\b(realpath|scandir|getline)\(")

# Tags of core/ that still have several meanings. A renamed one leaves this list; none is added.
SHARED_TAGS = set("access compiler device entry key parser part progress reading search shorts source span"
                  " trial view walk watch weights".split())
# A statement at the start of a literal, and what reads its rows.
SQL = re.compile(r'"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|BEGIN|COMMIT|ROLLBACK|WITH)\b')
SQL_HEADERS = ("sqlite3.h", "store/row.h")
MARKDOWN_COLUMNS_MAX = 120
LINES_MAX = {".c": 700, ".h": 400, ".k": 700, ".py": 700}
FUNCTION_LINES_MAX = 70
PARAMETERS_MAX = 6
FILE_BYTES_MAX = 64 * 1024
BIG_FILES = re.compile(r"tests/(data|museum)/|models/|sdk/abi/witness-|LICENSE$")
GENERATED = re.compile(r"sdk/abi/layout-\d")
UNFINISHED = re.compile(r"\b(" + "|".join(["FIX" + "ME", "TO" + "DO", "X" * 3]) + r")\b")
OUTSIDE = re.compile("|".join([r"\.\./sha" + "red", "/wo" + "rk/"]))
BACKEND_HEADINGS = ["Introduction", "Devices", "Build", "Run-time needs", "Operators", "Limits", "Since"]
MODEL_HEADINGS = ["Introduction", "Build", "Limits", "Since"]
COMMENT = r"//[^\n]*|/\*.*?\*/"
TOKEN = re.compile(COMMENT + r'|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])*'", re.DOTALL)
SUBJECT = re.compile(r"[a-z0-9_./-]+(, [a-z0-9_./-]+)*: \S")


class Tree:
    """The files of a repository: those that git knows or would add, else all but build folders."""

    def __init__(self, root):
        self.root = os.path.realpath(root)
        self.is_git = self.git("rev-parse", "--show-toplevel").strip() == self.root
        names = self.git_files() if self.is_git else self.walk()
        self.files = sorted(name for name in names if os.path.isfile(self.full(name)))
        self.texts = {}
        self.codes = {}

    def git(self, *arguments):
        try:
            done = subprocess.run(["git", "-C", self.root, *arguments], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            return ""
        return done.stdout if done.returncode == 0 else ""

    def git_files(self):
        return set(self.git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")) - {""}

    def walk(self):
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not re.match(r"build|\.git$|__pycache__", name)]
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.root)

    def full(self, name):
        return os.path.join(self.root, name)

    def has(self, name):
        return os.path.isfile(self.full(name))

    def below(self, folders, *endings):
        """The files in the folders named (a pattern), with one of the endings."""
        pattern = re.compile(folders)
        return [name for name in self.files if pattern.match(name) and name.endswith(endings or "")]

    def text(self, name):
        """The text of a file, empty for one that is not text."""
        if name not in self.texts:
            with open(self.full(name), "rb") as file:
                content = file.read()
            binary = b"\0" in content[:4096]
            self.texts[name] = "" if binary else content.decode("utf-8", "replace")
        return self.texts[name]

    def lines(self, name):
        return enumerate(self.text(name).split("\n"), 1)

    def code_lines(self, name):
        """Lines of C with comments and the insides of strings blanked out."""
        if name not in self.codes:
            self.codes[name] = TOKEN.sub(lambda match: re.sub(r"[^\n\"']", " ", match.group()), self.text(name))
        return enumerate(self.codes[name].split("\n"), 1)

    def includes(self, name):
        """(line, '"' or '<', path) of every #include."""
        for number, line in self.lines(name):
            match = re.match(r'\s*#\s*include\s*(["<])([^">]+)[">]', line)
            if match:
                yield number, match.group(1), match.group(2)


def header_of(layer, module):
    """The header of a module. Commands, one file each, share theirs."""
    return f"core/{layer}/{'command' if module.startswith('command_') else module}.h"


def core_modules(tree, ending):
    """(file, layer, module) of the files of core/ with an ending, programs aside."""
    for name in tree.below(r"core/[^/]+/", ending):
        _, layer, file = name.split("/", 2)
        if layer != PROGRAMS:
            yield name, layer, file[:-len(ending)]


def rule_layers(tree):
    """Includes of core/ run downward only."""
    for name in tree.below(r"core/[^/]+/", ".c", ".h"):
        layer = name.split("/")[1]
        rank = len(LAYERS) if layer == PROGRAMS else LAYERS.index(layer) if layer in LAYERS else None
        if rank is None:
            yield name, 1, f"'{layer}' is no layer; the layers are: {' '.join(LAYERS)}"
            continue
        for number, _, path in tree.includes(name):
            other = path.split("/")[0]
            if other in LAYERS and LAYERS.index(other) > rank:
                yield name, number, f"layer '{layer}' includes '{path}' of the higher layer '{other}'"


def rule_module_cycles(tree):
    """No module of core/ (x.h and x.c) includes itself by way of others: one can be read without the other."""
    uses = {}
    for name in tree.below(r"core/", ".c", ".h"):
        module = os.path.splitext(name)[0]
        for number, _, path in tree.includes(name):
            other = "core/" + os.path.splitext(path)[0]
            if other != module and tree.has("core/" + path):
                uses.setdefault(module, {}).setdefault(other, (name, number))
    below = {module: reached(uses, module) for module in uses}
    for module, others in uses.items():
        for other, (name, number) in others.items():
            if module in below.get(other, ()):
                yield name, number, f"'{module}' and '{other}' include each other, directly or by way of others"


def reached(uses, module):
    """The modules that a module includes, directly or by way of others."""
    found, left = set(), [module]
    while left:
        fresh = set(uses.get(left.pop(), ())) - found
        found |= fresh
        left += fresh
    return found


def rule_quoted_includes_of_core(tree):
    """A quoted include of core/ is "layer/module.h"."""
    for name in tree.below(r"core/", ".c", ".h"):
        for number, mark, path in tree.includes(name):
            if mark == '"' and not (path.split("/")[0] in LAYERS and tree.has("core/" + path)):
                yield name, number, f"'{path}' is no header of core/: write \"layer/module.h\""


def rule_plugins_know_the_sdk_only(tree):
    """Plugins and the SDK include nothing of core/, and no other plugin."""
    for name in tree.below(r"(plugins|sdk)/", ".c", ".h", ".k"):
        for number, mark, path in tree.includes(name):
            own = any(tree.has(os.path.join(folder, path)) for folder in parents(name))
            if path.split("/")[0] in LAYERS + ["core", "plugins"] and not own:
                yield name, number, f"'{path}' is not of the SDK: a plugin includes <tapml/...> and its own folder"
            if mark == '"' and not os.path.normpath(os.path.join(os.path.dirname(name), path)).startswith(home(name)):
                yield name, number, f"'{path}' leaves '{home(name)}'"


def home(name):
    """The folder of the plugin or of the SDK's library that a file belongs to."""
    parts = name.split("/")
    return "/".join(parts[:3 if parts[1] == "models" else 2]) + "/"


def parents(name):
    """The folders a file lies in, but for the outermost."""
    parts = name.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts), 1, -1)]


def component_ids(tree):
    """The ids of the components that the plugins of this tree bring."""
    for name in tree.below(r"plugins/", "plugin.ini"):
        for number, line in tree.lines(name):
            match = re.match(r"\[component\.([^]]+)\]", line)
            if match:
                yield match.group(1)


def rule_core_names_no_backend(tree):
    """No file of core/ names a backend or an architecture."""
    ids = set(component_ids(tree)) | FOREIGN
    anywhere = re.compile(r"(?<![a-z])(" + "|".join(sorted(ids - PLAIN_WORDS)) + r")(?![a-z])", re.IGNORECASE)
    literal = re.compile(r'"(' + "|".join(sorted(PLAIN_WORDS)) + r')(:[^"]*)?"')
    for name in tree.below(r"core/"):
        for number, line in tree.lines(name):
            match = anywhere.search(line) or literal.search(line)
            if match:
                yield name, number, f"core/ names '{match.group(1)}': no backend or architecture is known here"


def rule_modules(tree):
    """x.c, x.h and tests/unit/<layer>/test_x.c stand together."""
    for name, layer, module in core_modules(tree, ".c"):
        for other in (header_of(layer, module), f"tests/unit/{layer}/test_{module}.c"):
            if not tree.has(other):
                yield name, 1, f"module without '{other}'"
    shown = {header_of(layer, module) for _, layer, module in core_modules(tree, ".c")}
    for name, layer, module in core_modules(tree, ".h"):
        if name not in shown:
            yield name, 1, f"header without 'core/{layer}/{module}.c'"


def rule_unit_tests(tree):
    """Each test of a layer belongs to a module and is built."""
    built = tree.text("tests/unit/meson.build") if tree.has("tests/unit/meson.build") else ""
    for name in tree.below(r"tests/unit/(" + "|".join(LAYERS) + r")/test_", ".c"):
        layer, file = name.split("/")[2:]
        module = file[len("test_"):-len(".c")]
        if not tree.has(f"core/{layer}/{module}.c"):
            yield name, 1, f"test without 'core/{layer}/{module}.c'"
        listed = re.search(rf"'{layer}':\s*\[([^\]]*)\]", built)
        if not listed or f"'{module}'" not in listed.group(1):
            yield name, 1, f"'{module}' is not in the list of '{layer}' in tests/unit/meson.build"


def rule_other_tests(tree):
    """Every other test is named by a meson.build."""
    built = "\n".join(tree.text(name) for name in tree.below(r"tests/.*meson\.build$"))
    for name in tree.below(r"tests/(?!data/|outside/).*/test_", ".c"):
        module = os.path.basename(name)[len("test_"):-len(".c")]
        if name.split("/")[2] not in LAYERS and not re.search(rf"'([\w/]*/)?(test_)?{module}(\.c)?'", built):
            yield name, 1, "no meson.build below tests/ names it"


def rule_own_header_first(tree):
    """The first include of x.c is its own header, which proves that it is complete."""
    for name, layer, module in core_modules(tree, ".c"):
        first = next(tree.includes(name), None)
        own = header_of(layer, module)[len("core/"):]
        if first and first[2] != own:
            yield name, first[0], f"the first include is not \"{own}\""


def rule_banned_functions(tree):
    """Functions for which the project has something better."""
    for words, instead, allowed in BANNED:
        call = re.compile(rf"(?<![\w.>])({words})\s*\(")
        for name in tree.below(r"(core|sdk|plugins|tests)/", ".c", ".h"):
            if re.match(allowed, name):
                continue
            for number, line in tree.code_lines(name):
                match = call.search(line)
                if match and not (match.group(1) == "free" and HANDS_OUT.search(tree.text(name))):
                    yield name, number, f"'{match.group(1)}' is banned, use {instead}"


def rule_no_typedef_for_structs(tree):
    """A struct of core/ is `struct x`."""
    for name in tree.below(r"core/", ".c", ".h"):
        for number, line in tree.code_lines(name):
            if re.match(r"\s*typedef\s+(struct|union)\b", line):
                yield name, number, "typedef for a struct, write 'struct x'"


def rule_tags(tree):
    """A tag of a struct, union or enum has one meaning in core/, so that a search for it finds one thing."""
    first = {}
    for name in tree.below(r"core/", ".c", ".h"):
        for number, line in tree.code_lines(name):
            match = re.match(r"(struct|union|enum) (\w+) \{", line)
            if not match or match.group(2) in SHARED_TAGS:
                continue
            place = first.setdefault(match.group(2), name)
            if place != name:
                yield name, number, f"'{match.group()[:-2]}' is defined in '{place}' too"


def rule_sql_has_one_room(tree):
    """SQL, SQLite and rows of its statements stand in core/store alone."""
    for name in tree.below(r"core/(?!store/)", ".c", ".h"):
        for number, _, path in tree.includes(name):
            if path in SQL_HEADERS:
                yield name, number, f"'{path}' belongs to core/store: add a function to the module of the table"
        for number, line in tree.lines(name):
            if SQL.search(line):
                yield name, number, "SQL belongs to core/store: add a function to the module of the table"


def rule_file_length(tree):
    """Files that one can read in one go, but for those that a program has written."""
    for name in tree.files:
        limit = LINES_MAX.get(os.path.splitext(name)[1])
        count = tree.text(name).count("\n")
        if limit and count > limit and not GENERATED.match(name):
            yield name, count, f"{count} lines, at most {limit} are allowed"


def rule_function_length(tree):
    """A function's braces stand in the first column, as clang-format puts them."""
    for name in tree.below(r"(core|sdk|plugins|tests)/", ".c"):
        start = None
        for number, line in tree.lines(name):
            if line == "{":
                start = number
            elif line == "}" and start:
                if number - start - 1 > FUNCTION_LINES_MAX:
                    yield name, start, f"function of {number - start - 1} lines, at most {FUNCTION_LINES_MAX}"
                start = None


def rule_parameters(tree):
    """Few parameters, but for functions of the ABI, which have those of their table or op, and a vendor's."""
    definition = re.compile(r"^[a-z][\w *]*\b(\w+)\(([^;{}]*)\)\n\{", re.MULTILINE)
    for name in tree.below(r"(core|sdk|plugins|tests)/", ".c"):
        text = tree.text(name)
        for match in definition.finditer(text):
            count = match.group(2).count(",") + 1
            is_free = "tapml_call *" in match.group(2) or match.group(1).startswith("cublasLt")
            if count > PARAMETERS_MAX and not is_free:
                line = text.count("\n", 0, match.start()) + 1
                yield name, line, f"'{match.group(1)}' has {count} parameters, at most {PARAMETERS_MAX}"


def rule_unfinished(tree):
    """Words that mark something left over."""
    for name in tree.files:
        if re.match(r"tests/data/|models/|LICENSE", name):
            continue
        for number, line in tree.lines(name):
            match = UNFINISHED.search(line)
            if match:
                yield name, number, f"leftover '{match.group(1)}'"


def rule_licence(tree):
    """Every source begins with its two SPDX lines."""
    for name in tree.files:
        text = tree.text(name)
        if not name.endswith((".c", ".h", ".k", ".py")) and not text.startswith("#!"):
            continue
        head = "\n".join(text.split("\n")[:4])
        if "SPDX-FileCopyrightText:" not in head or "SPDX-License-Identifier:" not in head:
            yield name, 1, "no SPDX lines at the top"


def rule_environment(tree):
    """Each variable that a program reads is in docs/environment.md; tests and benches have their own."""
    page = tree.text("docs/environment.md") if "docs/environment.md" in tree.files else ""
    for name in tree.below(r"(core|plugins|sdk|bindings)/", ".c"):
        for number, line in tree.lines(name):
            for variable in re.findall(r'getenv\("(\w+)"\)|"(TAPML_[A-Z_]+)"', line):
                if page and f"`{''.join(variable)}`" not in page:
                    yield name, number, f"{''.join(variable)} is not in docs/environment.md"


def rule_header_guards(tree):
    """#pragma once within the project, guards in the SDK, two copies of which can meet."""
    for name in tree.below(r"(core|plugins|tests)/", ".h"):
        if "#pragma once" not in tree.text(name):
            yield name, 1, "no '#pragma once'"
    for name in tree.below(r"sdk/(.*/)?include/", ".h"):
        text = tree.text(name)
        if "#pragma once" in text or not re.search(r"#ifndef (\w+)\n#define \1\b", text):
            yield name, 1, "a header of the SDK has '#ifndef' guards"


def rule_file_size(tree):
    """No large file but data."""
    for name in tree.files:
        size = os.path.getsize(tree.full(name))
        if size > FILE_BYTES_MAX and not BIG_FILES.match(name):
            yield name, 1, f"{size} bytes, at most {FILE_BYTES_MAX} are allowed"


def rule_markdown_columns(tree):
    """Lines of pages end where a reader's window does; a row of a table and program output cannot be broken."""
    for name in tree.below("", ".md"):
        is_code, is_output = False, False
        for number, line in tree.lines(name):
            if re.match(r"\s*```", line):
                is_code = not is_code
                is_output = is_code and line.strip() == "```"
            elif len(line) > MARKDOWN_COLUMNS_MAX and not is_output and not re.match(r"\||\s*([-*] )?\S+$", line):
                yield name, number, f"{len(line)} columns, at most {MARKDOWN_COLUMNS_MAX} are allowed"


def rule_plugin_folders(tree):
    """A plugin has a README with the headings that a reader looks for."""
    for name in tree.below(r"plugins/", "plugin.ini"):
        folder = os.path.dirname(name)
        readme = folder + "/README.md"
        if not tree.has(readme):
            yield name, 1, f"plugin without '{readme}'"
            continue
        headings = re.findall(r"^#+ (.+?)\s*$", tree.text(readme), re.MULTILINE)
        for heading in MODEL_HEADINGS if folder.startswith("plugins/models/") else BACKEND_HEADINGS:
            if heading not in headings:
                yield readme, 1, f"no heading '{heading}'"


def rule_paths_stay_inside(tree):
    """The repository contains what it needs."""
    for name in tree.files:
        for number, line in tree.lines(name):
            match = OUTSIDE.search(line)
            if match:
                yield name, number, f"'{match.group()}' points outside the repository"


def rule_commits(tree):
    """Commit subjects read `area: do this`."""
    if not tree.is_git:
        return
    for record in tree.git("log", "--no-merges", "--format=%h%x00%B%x01").split("\1"):
        commit, _, message = record.strip("\n").partition("\0")
        if not commit:
            continue
        subject, _, rest = message.partition("\n")
        if len(subject) > 72 or subject.endswith(".") or not SUBJECT.match(subject):
            yield "commit " + commit, 1, f"'{subject}' is not 'area: do this' of at most 72 letters, no full stop"
        if rest.strip("\n") and not rest.startswith("\n"):
            yield "commit " + commit, 2, "the second line of the message is not empty"


def rule_exports(tree, build):
    """x.c exports x_* and nothing else; read from the objects of a build folder."""
    objects = {}
    for name, layer, module in core_modules(tree, ".c"):
        path = os.path.join(build, "core", f"lib{layer}.a.p", f"{layer}_{module}.c.o")
        if os.path.exists(path):
            objects[path] = name, module
    if not objects:
        yield build, 1, "no object of core/ in this build folder"
        return
    symbols = subprocess.run(["nm", "-A", "-g", "--defined-only", *objects], capture_output=True, text=True, check=True)
    for line in symbols.stdout.splitlines():  # PATH:ADDRESS KIND SYMBOL
        name, module = objects[line.rpartition(":")[0]]
        symbol = line.split()[-1]
        if symbol != module and not symbol.startswith((module + "_", "__")):
            yield name, 1, f"exports '{symbol}', which does not begin with '{module}_'"


RULES = [rule for name, rule in sorted(globals().items()) if name.startswith("rule_") and rule is not rule_exports]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", metavar="FOLDER")
    parser.add_argument("root", nargs="?", default=os.path.join(os.path.dirname(__file__), ".."), metavar="ROOT")
    arguments = parser.parse_args()
    tree = Tree(arguments.root)
    found = [place for rule in RULES for place in rule(tree)]
    if arguments.build:
        found += rule_exports(tree, arguments.build)
    for name, number, message in sorted(found):
        print(f"{name}:{number}: {message}")
    print(f"tidy: {len(tree.files)} files, {len(found)} found", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
