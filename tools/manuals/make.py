# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual pages of a program and its completions for shells, from what the program says of itself.

    make.py [--see PAGES] --program PROGRAM OUT...
    make.py [--see PAGES] --version VERSION [--variable NAME] --script SCRIPT OUT...

PROGRAM answers --describe, SCRIPT has parser(). OUT is a page by its ending (tapml-host.1; tapml-run.ini.5 of a file that
the program describes), a completion for fish by .fish, for zsh by _ before it, else one for bash. PAGES are all pages that
there are, with commas between. The variable NAME of `pkg-config` has the path of a tool of the SDK.
"""
import argparse
import os
import re
import sys

import bash
import described
import fish
import roff
import zsh


def page_of(path):
    """("tapml-run.ini", 5) of some/folder/tapml-run.ini.5; None of what is no page."""
    match = re.fullmatch(r"(.*)\.([15])", os.path.basename(path))
    return match and (match.group(1), int(match.group(2)))


def text_of(program, path, see):
    """What stands in an output."""
    page = page_of(path)
    others = [other for other in see if other != page]
    if page and page[1] == 1:
        return roff.program_page(program, page[0], others)
    if page:
        return roff.file_page(next(form for form in program.files if form.name == page[0]), program.version, others)
    name = os.path.basename(path)
    return (fish if name.endswith(".fish") else zsh if name.startswith("_") else bash).script(program)


def make(args):
    program = described.of_program(args.program) if args.program else described.of_script(args.script, args.version)
    if args.variable:
        program.own.description += (f"\nIt is installed with the SDK: `pkg-config --variable={args.variable} "
                                    "tapml-plugin-1` prints its path.")
    forms = sorted((form.name, 5) for form in program.files)
    pages = sorted(filter(None, map(page_of, args.out)))
    if [page for page in pages if page[1] == 5] != forms:
        raise described.Wrong(f"{program.own.name} describes the files {forms}, but is to have the pages {pages}")
    see = sorted(page_of(page) for page in args.see.split(",") if page)
    for path in args.out:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text_of(program, path, see))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--program", metavar="PROGRAM")
    source.add_argument("--script", metavar="SCRIPT")
    parser.add_argument("--version", metavar="VERSION", default="")
    parser.add_argument("--variable", metavar="NAME")
    parser.add_argument("--see", metavar="PAGES", default="")
    parser.add_argument("out", metavar="OUT", nargs="+")
    args = parser.parse_args()
    try:
        make(args)
    except (described.Wrong, OSError) as wrong:
        print(f"manuals: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
