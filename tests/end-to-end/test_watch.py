#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""`tapml-host watch`: what changed runs again, what did not is left alone, and what turned is told once, however it is killed."""
import json
import os
import re
import signal
import subprocess
import time

import rig

FAULT = "[fault.1]\ntarget = gpu\nop = silu\nkind = scale 1.5\n"
LINE = re.compile(r"^(\d+) of (\d+) cases had no fresh result, (\d+) ran now, (\d+) are left; (\d+) worse, (\d+) better$", re.M)


def write(folder, extra="", **more):
    return rig.write_small_run(folder, extra=extra, **more)


def look(ini, code=0, *options):
    """(stale, all, ran, left, worse, better) of a look, and what it printed."""
    done = rig.check(rig.host("watch", "--config", ini, "--once", *options), code)
    found = LINE.search(done.stdout)
    assert found, done.stdout + done.stderr
    return tuple(map(int, found.groups())), done


def cases_of(dir_, op):
    return rig.rows(dir_, f"SELECT count(*) FROM \"case\" WHERE op = 'tapml.{op}'")[0][0]


def only_what_depends_on_it_runs_again(folder):
    ini, dir_ = write(folder)
    counts, done = look(ini)
    assert counts == (80, 80, 80, 0, 0, 0), counts
    rig.contains(done.stdout, "watch: the first look; identity: 80 of 80")
    write(folder, "; a remark\n")
    counts, done = look(ini)
    assert counts[:3] == (0, 80, 0), counts
    rig.contains(done.stdout, "run.ini changed\n")
    write(folder, FAULT)
    counts, done = look(ini, 1)
    silu = cases_of(dir_, "silu")
    assert counts == (silu, 80, silu, 0, silu, 0), counts
    rig.contains(done.stdout, "worse: silu on gpu at layers.0/mlp/silu prefill: pass, now fail, margin ", ", expected ")
    assert look(ini)[0] == (0, 80, 0, 0, 0, 0), "it was told"
    write(folder, FAULT.replace("silu", "rms_norm"))
    counts, done = look(ini, 1)
    assert counts[2] == silu + cases_of(dir_, "rms_norm") and counts[5] == silu, counts
    with open(os.path.join(dir_, "watch.html"), encoding="utf-8") as page:
        rig.contains(page.read(), 'http-equiv="refresh"', "run.ini changed", "<td class=\"bad\">fail</td>", ", expected ")


def another_option_stales_its_target_alone(folder):
    more = "[target.other]\nbackend = reference:f64\n"
    ini, _ = write(folder, more)
    assert look(ini)[0][:3] == (160, 160, 160)
    write(folder, more + "activations = f16\n")
    counts, done = look(ini)
    assert counts[:3] == (80, 160, 80), done.stdout


def other_prompts_keep_what_stays(folder):
    """The verdicts are those of a new run, and of the old ones none is computed again."""
    ids = ("1 5 7 9", "2 3 4 5 6 7 8 9 10")
    ini, dir_ = write(folder, ids=ids)
    look(ini)
    write(folder, ids=(ids[0], "11"))
    counts, done = look(ini)
    rig.contains(done.stdout, "its cases were carved anew; ", " results of cases that stayed were kept")
    kept = int(re.search(r"(\d+) results of cases that stayed", done.stdout)[1])
    assert kept >= 80 and counts[2] == counts[1] - kept, (counts, kept)
    assert not os.path.exists(os.path.join(dir_, "before.tapmlrun"))
    _, fresh = write(os.path.join(folder, "fresh"), ids=(ids[0], "11"))
    rig.check(rig.host("--config", os.path.join(folder, "fresh", "run.ini")), 0)
    verdicts = "SELECT hex(key), verdict, margin FROM judged JOIN \"case\" ON id = case_id ORDER BY 1"
    same = [(key, verdict) for key, verdict, _ in rig.rows(dir_, verdicts)]
    assert same == [(key, verdict) for key, verdict, _ in rig.rows(fresh, verdicts)]


def a_budget_leaves_the_rest_for_the_next_look(folder):
    ini, dir_ = write(folder)
    ran = [look(ini, 0, "--budget", "30")[0][2] for _ in range(4)]
    assert ran == [30, 30, 20, 0], ran
    write(folder, FAULT + "[watch]\nbudget = 1\n")
    counts, _ = look(ini, 1)
    assert counts[2:5] == (1, cases_of(dir_, "silu") - 1, 1), counts
    assert json.loads(rig.host("status", dir_, "--json").stdout)["targets"][0]["replayed"] == 80 - counts[3]


def what_select_leaves_out_is_no_case_of_a_look(folder):
    """It has no result, so that it would count as a fresh one."""
    ini, _ = write(folder, "[select]\nbudget = 30\n")
    assert [look(ini)[0][:4] for _ in range(2)] == [(30, 30, 30, 0), (0, 30, 0, 0)]


def a_run_goes_on_where_a_look_was(folder):
    ini, dir_ = write(folder)
    look(ini)
    done = rig.check(rig.host("--config", ini), 0)
    rig.contains(done.stderr, "80 cases and ", ", 0 and ")
    assert look(ini)[0][:3] == (0, 80, 0)
    assert rig.rows(dir_, "SELECT count(*) FROM offload WHERE finished_s > 0") == [(1,)]


def a_command_is_told_once_and_again_if_it_fails(folder):
    told = os.path.join(folder, "told")
    command = f"[watch]\non-change = echo \"$TAPML_LOOK $TAPML_WORSE $TAPML_OP $TAPML_AFTER\" >> {told}; test -e {told}.ok\n"
    ini, dir_ = write(folder, command)
    look(ini)
    assert not os.path.exists(told)
    write(folder, command + FAULT)
    _, done = look(ini, 1)
    rig.contains(done.stderr, "the command of 'on-change' ended with exit status 1")
    with open(told + ".ok", "w", encoding="utf-8"):
        pass
    for _ in range(2):
        look(ini, 1 if _ == 0 else 0)
    silu = cases_of(dir_, "silu")
    with open(told, encoding="utf-8") as file:
        assert file.read().splitlines() == [f"2 {silu} tapml.silu fail"] * 2


def triggers_wait_and_samples_tell(folder):
    ini, dir_ = write(folder, "[watch]\ntriggers = cost\n")
    counts, _ = look(ini)
    assert counts[2:4] == (80, 0), "what nobody has watched does not wait"
    write(folder, "[watch]\ntriggers = identity drift:2\nsample = 80\n")
    assert look(ini)[0] == (0, 80, 0, 0, 0, 0)
    rig.change_store(dir_, "UPDATE watched SET margin = 0.9 WHERE op = 'tapml.linear' AND target = 'gpu'")
    counts, done = look(ini)
    rig.contains(done.stdout, "drift: a margin has moved by a factor of ")
    assert counts[2] == cases_of(dir_, "linear"), counts
    write(folder, FAULT + "[watch]\ntriggers = cost\n")
    assert look(ini)[0][2] == 0
    rig.change_store(dir_, "UPDATE watched SET stale_s = 1 WHERE stale_s > 0")
    counts, done = look(ini, 1)
    rig.contains(done.stdout, "cost: ", " s at risk, ")
    assert counts[2] == cases_of(dir_, "silu"), counts


def serve(ini, *options, env=None, stderr=subprocess.PIPE):
    return subprocess.Popen([rig.HOST, "watch", "--config", ini, *options], stdout=subprocess.DEVNULL, stderr=stderr,
                            text=True, env={**os.environ, **(env or {})})


def wait_for(child, condition, what, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert child.poll() is None, child.communicate()
        try:
            if condition():
                return
        except rig.sqlite3.Error:
            pass  # The store or its tables are not there yet.
        time.sleep(0.01)
    raise AssertionError(f"{seconds} s passed without: {what}")


def looks(dir_, where="1"):
    return rig.rows(dir_, f"SELECT count(*) FROM look WHERE {where}")[0][0]


def a_service_sees_a_file_change_and_ends_within_a_second(folder):
    ini, dir_ = write(folder)
    child = serve(ini, "--interval", "600")
    wait_for(child, lambda: looks(dir_) == 1, "the first look")
    write(folder, FAULT)
    wait_for(child, lambda: looks(dir_, "worse > 0") == 1, "a look at a changed file")
    began = time.monotonic()
    child.send_signal(signal.SIGTERM)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors
    assert time.monotonic() - began < (10 if rig.SANITIZED else 3), "a loaded machine has three seconds"
    assert rig.rows(dir_, "PRAGMA integrity_check") == [("ok",)]


def a_configuration_that_is_written_while_it_looks_is_not_missed(folder):
    """The first look ends while the file is half written, so that nobody can say which files to wait for."""
    ini, dir_ = write(folder)
    child = serve(ini, "--interval", "600", stderr=subprocess.DEVNULL)
    wait_for(child, lambda: rig.rows(dir_, "SELECT count(*) FROM result")[0][0] > 0, "a replayed case")
    with open(ini, "w", encoding="utf-8") as file:
        file.write("[run\n")
    wait_for(child, lambda: looks(dir_) == 1, "the first look")
    time.sleep(0.5)
    write(folder, FAULT)
    wait_for(child, lambda: looks(dir_, "worse > 0") == 1, "a look at the mended file", 45)  # A minute: of itself.
    child.kill()
    child.communicate()


def killed_at_any_moment_it_misses_nothing_and_repeats_nothing(folder):
    """A service that is killed again and again while it replays: each case runs once, what turned is told once."""
    told = os.path.join(folder, "told")
    ids = tuple(" ".join(str(1 + (7 * row + at) % 60) for at in range(3 + row)) for row in range(6))
    watch = f"[watch]\non-change = echo $TAPML_WORSE >> {told}\n"
    ini, dir_ = write(folder, watch, ids=ids, decode=4)
    everything, done = 0, "SELECT count(*) FROM result"
    for _ in range(4):
        child = serve(ini, "--interval", "600")
        before = everything
        wait_for(child, lambda: rig.rows(dir_, done)[0][0] > before or looks(dir_) > 0, "a replayed case")
        child.kill()
        child.communicate()
        everything = rig.rows(dir_, done)[0][0]
    counts, _ = look(ini)
    assert counts[2] == counts[1] - everything, f"{everything} of {counts[1]} had run, and {counts[2]} ran then"
    write(folder, watch + FAULT, ids=ids, decode=4)
    child = serve(ini, "--interval", "600")
    wait_for(child, lambda: looks(dir_, "worse > 0") == 1, "what turned is written")
    child.kill()
    child.communicate()
    look_ = rig.host("watch", "--config", ini, "--once")
    assert look_.returncode in (0, 1) and ", 0 ran now, 0 are left; 0 worse" in look_.stdout, look_.stdout + look_.stderr
    with open(told, encoding="utf-8") as file:
        lines = file.read().split()
    assert set(lines) == {str(cases_of(dir_, "silu"))} and len(lines) <= 2, lines


if __name__ == "__main__":
    rig.main([only_what_depends_on_it_runs_again, another_option_stales_its_target_alone, other_prompts_keep_what_stays,
              a_budget_leaves_the_rest_for_the_next_look, what_select_leaves_out_is_no_case_of_a_look, a_run_goes_on_where_a_look_was,
              a_command_is_told_once_and_again_if_it_fails, triggers_wait_and_samples_tell,
              a_service_sees_a_file_change_and_ends_within_a_second,
              a_configuration_that_is_written_while_it_looks_is_not_missed,
              killed_at_any_moment_it_misses_nothing_and_repeats_nothing], needs=["reference"])
