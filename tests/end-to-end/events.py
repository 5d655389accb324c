# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The events of a timeline's file, as tests read them."""
import collections
import json


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def names(events):
    """What processes and tracks are called, in their order."""
    return [event["args"]["name"] for event in events if event["ph"] == "M" and event["name"].endswith("_name")]


def tracks(events):
    """The spans of each track by "PROCESS/TRACK"."""
    called = {}
    for event in events:
        if event["ph"] == "M" and event["name"].endswith("_name"):
            called[event["name"], event["pid"], event["tid"]] = event["args"]["name"]
    found = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            process = called["process_name", event["pid"], 1]
            found[f"{process}/{called['thread_name', event['pid'], event['tid']]}"].append(event)
    return found


def ticks(us):
    """Whole nanoseconds."""
    return round(us * 1000)


def expect_nesting(spans):
    """Of two spans of a track one is in the other, or behind it."""
    open_ends = []
    for span in sorted(spans, key=lambda span: (ticks(span["ts"]), -ticks(span["dur"]))):
        begin, end = ticks(span["ts"]), ticks(span["ts"]) + ticks(span["dur"])
        while open_ends and open_ends[-1] <= begin:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1], span
        open_ends.append(end)
