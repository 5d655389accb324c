#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel that changes after a run has finished makes the results stale that it can affect, and no others."""
import json
import os
import re

import rig
import test_corrupted_kernels

FRESH = "SELECT case_id, verdict, margin, output, reason FROM judged ORDER BY case_id"
DERIVED = "SELECT position, case_id, label, verdict, margin, reason FROM derived ORDER BY position"
BLAMED = "SELECT instance, kind, reason FROM blame ORDER BY instance"


def counts(done):
    """Of the line that ends the replay: all cases, all derived ones, and of both those judged at this start."""
    match = re.search(r"replay on gpu: (\d+) cases and (\d+) derived ones, (\d+) and (\d+) of them now", done.stderr)
    assert match, done.stderr
    return tuple(map(int, match.groups()))


def of_op(dir_, op):
    return (rig.rows(dir_, f"SELECT count(*) FROM \"case\" WHERE op = '{op}'")[0][0],
            rig.rows(dir_, f"SELECT count(*) FROM derived JOIN \"case\" ON id = case_id WHERE op = '{op}'")[0][0])


def one(op, _first, kernel, pattern, replacement):
    def test(folder):
        ini, dir_ = rig.write_small_run(folder, target="opencl")
        first = counts(rig.check(rig.host("--config", ini), 0))
        assert first[:2] == first[2:], first
        expected = of_op(dir_, op)
        corrupted = test_corrupted_kernels.corrupt(folder, kernel, pattern, replacement)
        second = rig.check(rig.host("--config", ini, env=corrupted), 1)
        # Cases that the search for the cause kept have results from then on: of these nothing is replayed.
        assert counts(second)[2] == expected[0] > 0 and counts(second)[3] == expected[1] > 0, (counts(second), expected)
        print(f"# {op}: {counts(second)[2]} of {first[0]} cases and {counts(second)[3]} of {first[1]} derived ones replayed")
        third = rig.host("--config", ini, env=corrupted)
        assert counts(rig.check(third, 1))[2:] == (0, 0), third.stderr
        other, fresh = rig.write_small_run(os.path.join(folder, "fresh"), target="opencl")
        rig.check(rig.host("--config", other, env=corrupted), 1)
        for query in (FRESH, DERIVED, BLAMED):
            assert rig.rows(dir_, query) == rig.rows(fresh, query), query
        mended = rig.host("--config", ini)
        assert counts(rig.check(mended, 0))[2] >= expected[0], mended.stderr
        rig.contains(mended.stdout, "0 blamed, 0 unsupported, 0 left on the source")
        stale = rig.rows(dir_, f"SELECT count(DISTINCT implementation) FROM judged JOIN \"case\" ON id = case_id"
                               f" WHERE op = '{op}'")
        assert stale == [(1,)], stale
    test.__name__ = f"{op}: only its cases are replayed"
    return test


@rig.slow
def a_rebuilt_plugin_replays_nothing(folder):
    """Another build of the same sources, as a plugin that was rebuilt with a newer linker has it."""
    ini, dir_ = rig.write_small_run(folder, target="opencl")
    rig.check(rig.host("--config", ini), 0)
    before = rig.rows(dir_, FRESH)
    rebuilt = test_corrupted_kernels.corrupt(folder, b"gelu", rb"gelu\(const", b"gelu(const")  # Which leaves the text as it is.
    done = rig.check(rig.host("--config", ini, env=rebuilt), 0)
    assert counts(done)[2:] == (0, 0), done.stderr
    assert rig.rows(dir_, FRESH) == before


@rig.slow
def a_changed_limit_replays_nothing(folder):
    """Limits of a larger factor, as another host may have: verdicts follow, the target and the cases stay."""
    ini, dir_ = rig.write_small_run(folder, extra="[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n")
    rig.check(rig.host("--config", ini), 1)
    failed = "SELECT count(*) FROM judged WHERE verdict = 'fail'"
    assert rig.rows(dir_, failed) == [(4,)]
    margins = dict(rig.rows(dir_, "SELECT case_id, margin FROM judged WHERE margin > 0"))
    rig.change_store(dir_, "UPDATE \"limit\" SET ulp = ulp * 1e9, nmse = nmse * 1e9, row_error = row_error * 1e9")
    again = rig.host("--config", ini)
    assert counts(again)[2] == 0, again.stderr
    assert rig.rows(dir_, failed) == [(0,)]
    for id_, margin in rig.rows(dir_, "SELECT case_id, margin FROM judged WHERE margin > 0"):
        assert abs(margin * 1e9 / margins[id_] - 1) < 1e-6, (id_, margin, margins[id_])
    found = json.loads(rig.check(rig.host("status", dir_, "--json"), 0).stdout)
    assert found["targets"][0]["failed"] == 0 and found["targets"][0]["passed"] == 80, found


def a_source_that_computes_otherwise_is_carved_again(folder):
    ini, dir_ = rig.write_small_run(folder, source="opencl", target="reference")
    rig.check(rig.host("--config", ini), 0)
    keys = "SELECT instance, step, part, hex(key) FROM \"case\" ORDER BY 1, 2, 3, 4"
    before = rig.rows(dir_, keys)
    other = rig.check(rig.host("--config", ini), 0)
    assert "carved again" not in other.stderr, other.stderr
    corrupted = test_corrupted_kernels.corrupt(folder, *test_corrupted_kernels.FAULTS[0][2:])
    second = rig.check(rig.host("--config", ini, env=corrupted), 1)
    rig.contains(second.stderr, "carved cases otherwise than before, the first of 'tapml.silu'", "carved again")
    assert rig.rows(dir_, keys) != before
    ini, fresh = rig.write_small_run(os.path.join(folder, "fresh"), source="opencl", target="reference")
    rig.check(rig.host("--config", ini, env=corrupted), 1)
    for query in (keys, FRESH, BLAMED):
        assert rig.rows(dir_, query) == rig.rows(fresh, query), query


CHOSEN = ("tapml.rms_norm", "tapml.linear")

if __name__ == "__main__":
    norm, linear = [one(*fault) for fault in test_corrupted_kernels.FAULTS if fault[0] in CHOSEN]
    rig.main([norm, rig.slow(linear), a_rebuilt_plugin_replays_nothing, a_changed_limit_replays_nothing,
              a_source_that_computes_otherwise_is_carved_again], needs=["opencl", "reference"])
