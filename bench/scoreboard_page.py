# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""docs/scoreboard.md, from the results of bench/scoreboard."""
import re
import statistics
import textwrap

import board

EXACT = 0.97  # Of the faults, at least, have the right op named, drivers as drivers.
COST = 3      # Carving runs that localising may take, in the median.

HEAD = """# The scoreboard

Written by `bench/scoreboard` ([bench](../bench/README.md)); not edited by hand.

A fault is a change of one source, of which one plugin is built again, or an injected one ([injected
faults](faults.md)). The host runs on the changed plugin as on any target. What is wrong is decided by bits alone: an
operator is wrong if one of its outputs, in any kept or derived case, differs from what the unchanged plugin computes
on the same device, or if memory beside one is written. A driver is wrong, too, where the run does not come to its end.
Any other change that alters no bit is harmless, and whoever is accused then is innocent: among the drawn ones these
are equivalent texts, and code that the cases do not reach. A fault that is missed stays on the board. A description of
a model is shared by source and target; there the host is `tapml-host eval` ([the judge](judge.md)), with what single
modules compute where `tests/data/judge` has that. "One of several operators" is not an exact name.

Beside the host, other rules judge the same outputs of the same cases:

| rule | which cases | what fails |
|---|---|---|
| first call, last argument | the first kept case of an op and shape | the last output: rtol 1e-2, atol 1 |
| relative 1e-5 | all kept cases | any output, beyond 1e-5, relative and absolute |
| NMSE 5e-4, NMSE 1e-7 | uniform values in [-1, 1], the shapes of the kept cases | any output |

"First instance" counts the faults that some kept case shows; an operator that refuses its calls since the change is
detected where the host leaves it on the source, and has none. "Innocents" are instances of right operators that are
accused; of a wrong driver every accused instance is one. "Executions" of the host are the operator executions of
localising as a multiple of the carving run, those of other rules are calls; both are medians. "Seconds" are processor
seconds in the median, of the whole run for the host, of the judged cases for other rules.
"""


def is_harmless(result):
    """Changes that harm nobody are those that are planted as such, and drawn ones that change no bit."""
    return result["fault"]["kind"] == "harmless" or (not result["ops"] and not result["driver"])


def ran(results):
    return [result for result in results if result["outcome"] == "ran"]


def faulty(results):
    return [result for result in ran(results) if not is_harmless(result)]


def paragraph(text):
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def share(count, of):
    return f"{count} of {of} ({100 * count / of:.0f} %)" if of else "none"


def middle(values):
    return f"{statistics.median(values):.3g}" if values else ""


def table_of(results):
    """Of each rule a line."""
    wrong = faulty(results)
    right = [result for result in ran(results) if is_harmless(result)]
    lines = ["| rule | detected | right op | first instance | innocents | harmless accused | executions | seconds |",
             "|---|---|---|---|---|---|---|---|"]
    for rule in board.RULES:
        said = [result["said"][rule] for result in wrong]
        firsts = [one["first"] for one in said if one["first"]]
        alarms = sum(result["said"][rule]["detected"] for result in right)
        shown = sum(bool(result["first"]) for result in wrong if not result["driver"])
        lines.append(f"| {rule} | {share(sum(one['detected'] for one in said), len(said))} "
                     f"| {share(sum(one['right'] for one in said), len(said))} "
                     f"| {share(firsts.count('yes'), shown)} "
                     f"| {sum(one['innocents'] for one in said)} | {share(alarms, len(right))} "
                     f"| {middle([one['executions'] for one in said if one['detected']])} "
                     f"| {middle([one['seconds'] for one in said])} |")
    return "\n".join(lines)


def verdict(result):
    said = result["said"]["ours"]
    if is_harmless(result):
        return "ACCUSED" if said["detected"] else "passes"
    if not said["detected"]:
        return "MISSED"
    if said["innocents"]:
        return f"MISNAMED, {said['innocents']} innocent"
    if not said["right"]:
        return "found, NOT NAMED"
    return "named, not the first" if said["first"] == "no" else "named"


def others(result):
    """Which of the other rules detect it."""
    detecting = [rule.partition(",")[0] for rule in board.RULES[1:] if result["said"][rule]["detected"]]
    return "all" if len(detecting) == len(board.RULES) - 1 else ", ".join(detecting) or "none"


def line_of(result):
    fault = result["fault"]
    wrong = "driver" if result["driver"] else " ".join(op.removeprefix("tapml.") for op in result["ops"][:4]) or "-"
    where = fault["path"] or "injected"
    on = f"{fault['model']}, {fault['target']}"
    fields = [fault["name"], fault["like"], where, on, wrong, verdict(result), others(result)]
    return "| " + " | ".join(fields) + " |"


def is_bad(result):
    said = result["said"]["ours"]
    if is_harmless(result):
        return said["detected"]
    return not said["detected"] or not said["right"] or said["innocents"] > 0 or said["first"] == "no"


def describe_bad(result):
    said = result["said"]["ours"]
    wrong = "the driver" if result["driver"] else ", ".join(result["ops"]) or "nothing"
    blamed = ", ".join(f"{instance} ({op})" for instance, op, _ in result["blamed"][:6]) or "nobody"
    text = f"{verdict(result)}. Wrong: {wrong}"
    text += f", first {result['first']}" if result["first"] else ""
    text += f"; {result['cases']} of {result['of']} cases have other bits. Accused: {blamed}."
    text += f" {said['note']}." if said["note"] else ""
    text += f" On {result['fault']['model']}, {result['fault']['target']}."
    return f"### {result['fault']['name']}\n\n{paragraph(text)}\n\n```\n{result['diff']}\n```\n"


def groups(results, seeds):
    """(heading, results) of the parts of the board."""
    parts = [("All", results), ("Planted", [result for result in results if result["fault"]["kind"] != "drawn"])]
    for seed in seeds:
        own = [result for result in results if result["fault"]["name"].startswith(f"seed {seed},")]
        parts.append((f"Drawn, seed {seed}", own))
    return [(heading, part) for heading, part in parts if part]


def counts(results, asked):
    """How much of the board there is, and on what it ran."""
    there = ran(results)
    devices = {}
    for result in there:
        devices[result["fault"]["target"]] = devices.get(result["fault"]["target"], 0) + 1
    not_built = sum(result["outcome"] == "not built" for result in results)
    models = sorted({result["fault"]["model"] for result in there})
    text = f"{len(results)} of {len(asked)} changes were tried: {len(there)} ran, {not_built} did not compile"
    if len(results) < len(asked):
        text += f", and {len(asked) - len(results)} have not been tried: the board is not complete"
    text += ". Targets: " + ", ".join(f"{target} {count}" for target, count in sorted(devices.items()))
    wrong = len(faulty(results))
    named = {name for result in there for name in re.findall(r"^gpu = (.+), plugin", result["report"], re.M)}
    text += f". Devices: {', '.join(sorted(named))}. Models: {', '.join(models)}"
    return paragraph(text + f". {wrong} of those that ran are faults, {len(there) - wrong} harmless.") + "\n"


def write(results, asked, seeds):
    text = HEAD + "\n## What was run\n\n" + counts(results, asked)
    for heading, part in groups(results, seeds):
        text += f"\n## {heading}\n\n{table_of(part)}\n"
    bad = [result for result in ran(results) if is_bad(result)]
    text += "\n## What the host missed or misnamed\n\n"
    text += "\n".join(describe_bad(result) for result in bad) or "Nothing.\n"
    text += "\n## All changes\n\n| change | like | source | model, target | wrong | host | others that detect it |\n"
    text += "|---|---|---|---|---|---|---|\n"
    return text + "\n".join(line_of(result) for result in ran(results)) + "\n"


def untrue(results):
    """What of the promises is not true."""
    said = [result["said"]["ours"] for result in faulty(results)]
    lines = [f"{verdict(result)}: {result['fault']['name']}" for result in ran(results) if is_bad(result) and
             (is_harmless(result) or not result["said"]["ours"]["detected"] or result["said"]["ours"]["innocents"] > 0)]
    if said and sum(one["right"] for one in said) < EXACT * len(said):
        named = share(sum(one["right"] for one in said), len(said))
        lines.append(f"{named} are named exactly, less than {100 * EXACT:.0f} %")
    costs = [one["executions"] for one in said if one["right"]]
    if costs and statistics.median(costs) > COST:
        lines.append(f"localising costs {statistics.median(costs):.2f} carving runs in the median")
    return lines
