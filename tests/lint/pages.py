#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""pages.py SOURCE: what the pages say of files is so. Speaks TAP, one point a page and kind.

- code: a block that opens with a language and a path (```c core/base/text.h) stands in that file, line
  by line; a line `...` parts two excerpts, in the order of the file.
- paths: a path in backquotes, and the target of a link, exists; so does the heading that a link leads to.
- lines: a heading, and what parts the head of a table from its rows, begins a line.
"""
import os
import re
import sys

FOLDERS = ("core", "sdk", "plugins", "examples", "tests", "tools", "docs", "conf", "models", "debian", ".ci")
FENCE = re.compile(r"^```(\S*)[ \t]*(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.MULTILINE)
MISPLACED = re.compile(r"\S +(?:#{2,} \w|\|(?:-{3,}\|)+)")
QUOTED = re.compile(r"`((?:" + "|".join(re.escape(folder) for folder in FOLDERS) + r")/[\w./-]*)`")


def pages(root):
    """The pages that people wrote: those of the top folder, docs/, plugins and tests."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not re.match(r"build|run-|\.|data$|ops$", name))
        for name in sorted(names):
            if name.endswith(".md"):
                yield os.path.relpath(os.path.join(folder, name), root)


def find(lines, excerpt, start):
    """The index behind `excerpt` in `lines` from `start` on, or None."""
    for index in range(start, len(lines) - len(excerpt) + 1):
        if lines[index:index + len(excerpt)] == excerpt:
            return index + len(excerpt)
    return None


def excerpts(block):
    """The runs of lines between lines `...`, without blank lines at their ends."""
    for part in re.split(r"^[ \t]*\.\.\.[ \t]*\n", block, flags=re.MULTILINE):
        lines = [line.rstrip() for line in part.strip("\n").split("\n")]
        if any(lines):
            yield lines


def wrong_code(root, text):
    """What is quoted and does not stand where it is said to."""
    for _, path, block in FENCE.findall(text):
        if not path:
            continue
        if not os.path.isfile(os.path.join(root, path)):
            yield f"code is quoted from '{path}', which does not exist"
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            lines = [line.rstrip() for line in file]
        place = 0
        for excerpt in excerpts(block):
            after = find(lines, excerpt, place)
            if after is None:
                yield f"'{path}' does not hold, from line {place + 1} on: {excerpt[0]}"
                break
            place = after


def headings(path):
    """What links to the headings of a page end with, as forges make it."""
    with open(path, encoding="utf-8") as file:
        titles = HEADING.findall(FENCE.sub("", file.read()))
    plain = [re.sub(r"\]\([^)]*\)|[^\w\s-]", "", title.lower()) for title in titles]
    return {title.replace(" ", "-") for title in plain}


def wrong_lines(text):
    """Blocks that have run into the paragraph before them."""
    for line in FENCE.sub("", text).split("\n"):
        if MISPLACED.search(re.sub(r"`[^`]*`", "``", line)):
            yield f"a heading or a table within a line: {line}"


def wrong_paths(root, page, text):
    """Paths that are named and lead nowhere."""
    plain = FENCE.sub("", text)
    for target, heading in LINK.findall(plain):
        path = os.path.join(root, os.path.dirname(page), target) if target else os.path.join(root, page)
        if "://" in target or target.startswith("mailto:"):
            continue
        if not os.path.exists(path):
            yield f"link to '{target}', which does not exist"
        elif heading and path.endswith(".md") and heading not in headings(path):
            yield f"link to '{target}#{heading}', which is no heading there"
    for path in QUOTED.findall(plain):
        if not os.path.exists(os.path.join(root, path)):
            yield f"'{path}' does not exist"


def main():
    root = sys.argv[1]
    results = []
    for page in pages(root):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            text = file.read()
        results.append((page + ": code", list(wrong_code(root, text))))
        results.append((page + ": paths", list(wrong_paths(root, page, text))))
        results.append((page + ": lines", list(wrong_lines(text))))
    print("TAP version 13")
    print(f"1..{len(results)}")
    for number, (title, wrong) in enumerate(results, 1):
        print(f"{'not ok' if wrong else 'ok'} {number} - {title}")
        for line in wrong:
            print("# " + line)


if __name__ == "__main__":
    main()
