#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`tapml-host store merge`: halves of a run, done apart and in other ways, become the run."""
import functools
import os
import re
import shutil
import sqlite3

import rig

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
PROMPTS = ["1 5 7 9", "2 6 8 3", "4 4 1 9", "7 3 2 8"]
# A line of the table says where a case was seen; row ids mean nothing.
CASE = "instance, prompt, step, part"
SEEN = f"SELECT {CASE}, hex(key), op, phase, shape_class FROM \"case\" ORDER BY 1, 2, 3, 4"
VERDICTS = f"SELECT target, {CASE}, verdict, output, implementation FROM judged JOIN \"case\" ON id = case_id ORDER BY 1, 2, 3, 4, 5"
ERRORS = (f"SELECT target, {CASE}, param, class, is_equal, ulp, nmse, row_error, non_finite, is_outside FROM output_error"
          " JOIN \"case\" ON id = case_id ORDER BY 1, 2, 3, 4, 5, 6")
CALLS = f"SELECT {CASE}, kept, param, least, largest, mean_square, count FROM call JOIN statistic ON call_id = id ORDER BY 1, 2, 3, 4, 6"
TABLES = ("metadata", "run", "prompt", "tensor", "weight", "\"case\"", "argument", "page", "call", "statistic", "result",
          "output_error", "element", "\"limit\"", "target", "step", "blame", "offload", "derived")


def rows(dir_, sql):
    """As `rig.rows`, by a connection that leaves the log of a changed store alone."""
    connection = sqlite3.connect(f"file:{os.path.join(dir_, 'run.tapmlrun')}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def write(name, prompts, chunk):
    """The INI of a run of these prompts, all of whose calls are kept; each fits into one chunk."""
    folder = os.path.join(rig.script_folder(), name)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "these.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"ids: {prompt}\n" for prompt in prompts)
    ini, dir_ = rig.write_small_run(folder, prompts=path, extra=FAULT)
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    with open(ini, "w", encoding="utf-8") as file:
        file.write(re.sub(r"chunk *= *\d+", f"chunk = {chunk}\nkeep = all", text, count=1))
    return ini, dir_


@functools.cache
def whole():
    ini, dir_ = write("whole", PROMPTS, 64)
    rig.check(rig.host("--config", ini), 1)
    return ini, dir_


@functools.cache
def half(name, chosen, chunk):
    """A run of some of the prompts in an order of their own, then said to be of all of them: its rows and limits come
    from its own prompts alone."""
    ini, dir_ = write(name, [PROMPTS[i] for i in chosen], chunk)
    rig.check(rig.host("--config", ini), 1)
    (hash_,), = rows(whole()[1], "SELECT value FROM metadata WHERE name = 'prompts.hash'")
    changes = [f"UPDATE metadata SET value = '{hash_}' WHERE name = 'prompts.hash'"]
    for prompt, position in rows(whole()[1], "SELECT hash, position FROM prompt"):
        changes.append(f"UPDATE prompt SET position = {position} WHERE hash = '{prompt}'")
    rig.change_store(dir_, ";".join(changes))
    return dir_


def first():
    return half("first", (0, 1, 2), 64)


def second():
    return half("second", (3, 2), 16)


def merge(into, *folders, code=0):
    return rig.check(rig.host("store", "merge", *folders, "--into", into), code).stdout


def content(dir_):
    return {table: sorted(rows(dir_, f"SELECT * FROM {table}"), key=repr) for table in TABLES}


def halves_become_the_run(folder):
    into = os.path.join(folder, "run")
    ids = [dict(rows(dir_, "SELECT hex(key) || instance || prompt || step, id FROM \"case\"")) for dir_ in (whole()[1], second())]
    assert any(ids[0][key] != id_ for key, id_ in ids[1].items()), "row ids are the same"
    rig.contains(merge(into, second(), first()), "second", "first")
    for query in (SEEN, VERDICTS, ERRORS, CALLS):
        found, expected = rows(into, query), rows(whole()[1], query)
        assert found == expected and found, f"{query}: {len(found)} and {len(expected)} rows"
    assert any(row[5] == "fail" for row in rows(into, VERDICTS))
    before = content(into)
    merge(into, first(), second())
    assert content(into) == before, [table for table in TABLES if content(into)[table] != before[table]]
    # The run goes on in the merged store: nothing is carved or replayed again, and it comes to the same.
    ini, dir_ = whole()
    with open(ini, encoding="utf-8") as file:
        text = file.read()
    own = os.path.join(folder, "run.ini")
    with open(own, "w", encoding="utf-8") as file:
        file.write(text.replace(dir_, into).replace("chunk = 64", "chunk = 16"))  # As the store that came first.
    done = rig.check(rig.host("--config", own), 1)
    match = re.search(r"replay on gpu: (\d+) cases and \d+ derived ones, (\d+) and", done.stderr)
    assert match and int(match.group(1)) == len(rows(into, SEEN)) and match.group(2) == "0", done.stderr
    assert "carved again" not in done.stderr, done.stderr
    for query in (VERDICTS, "SELECT instance, kind FROM blame ORDER BY 1"):
        assert rows(into, query) == rows(dir_, query), query


def rows_that_disagree_are_each_reported(folder):
    """Three rows of the prompt that both halves have, in a copy of one of them."""
    into, other = os.path.join(folder, "into"), os.path.join(folder, "other")
    shutil.copytree(first(), into)
    shutil.copytree(second(), other)
    (shared,), = rows(other, f"SELECT hash FROM prompt WHERE hash IN"
                                 f" ({', '.join(repr(row[0]) for row in rows(into, 'SELECT hash FROM prompt'))})")
    (case, instance), *_ = rows(other, f"SELECT id, instance FROM \"case\" WHERE prompt = '{shared}' AND op = 'tapml.linear'")
    (call, seen), *_ = rows(other, f"SELECT id, instance FROM call WHERE prompt = '{shared}' AND instance LIKE '%rope%'")
    rig.change_store(other, f"UPDATE output_error SET row_error = 7 WHERE case_id = {case};"
                            f"UPDATE prompt SET greedy = '[1,2,3]' WHERE hash = '{shared}';"
                            f"UPDATE statistic SET largest = 77 WHERE call_id = {call}")
    before = {dir_: content(dir_) for dir_ in (into, other)}
    told = [line for line in merge(into, other, code=1).splitlines() if ": " in line and shared in line]
    assert len(told) == 3, told
    for piece in (f"prompt {shared}: the source chose other tokens", f"result of gpu, case of {instance}, prompt {shared}",
                  f"call of {seen}, prompt {shared}"):
        assert sum(piece in line for line in told) == 1, (piece, told)
    assert content(other) == before[other], "the store that is merged has changed"
    for table in ("output_error", "prompt", "statistic"):
        kept = content(into)[table]
        assert all(row in kept for row in before[into][table]), f"{table} has lost a row"
    cases = rows(into, f"SELECT count(*) FROM \"case\" WHERE prompt = '{shared}'")
    assert cases == rows(whole()[1], f"SELECT count(*) FROM \"case\" WHERE prompt = '{shared}'"), cases


def another_run_is_refused(folder):
    ini, dir_ = rig.write_small_run(os.path.join(folder, "other"), extra=FAULT)
    rig.check(rig.host("--config", ini), 1)
    done = rig.check(rig.host("store", "merge", first(), "--into", dir_), 2)
    rig.contains(done.stderr, "are of different runs: prompts.hash is")


if __name__ == "__main__":
    rig.main([halves_become_the_run, rows_that_disagree_are_each_reported, another_run_is_refused], needs=["reference"])
