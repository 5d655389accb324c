# SPDX-FileCopyrightText: 2026 The TapML authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of cheats.c and honest.c: how each is called, and what it is."""

NORM = "x weight y x.rows x.width eps:f32"

# Entry and verdict.
CHEATS = [
    ("zeros", "wrong"),
    ("copies_input", "wrong"),
    ("same_number", "wrong"),
    ("cached_by_address", "cached by address"),
    ("cached_by_call", "depends on earlier calls"),
    ("drifts", "wrong after some calls"),
    ("works_late", "works on after it was done"),
    ("works_a_little_late", "works on after it was done"),
    ("adds_to_output", "reads old memory"),
    ("scales_input", "changes its inputs"),
    ("half_precision", "lower precision"),
    ("shown_width", "right at the shown shapes only"),
    ("shown_values", "right with the shown values only"),
    ("writes_behind", "writes outside its outputs"),
    ("leaves_last", "leaves outputs unwritten"),
    ("scratch_of_before", "wrong after some calls"),
    ("crashes_on_call", "wrong after some calls"),
    ("never_returns", "no answer within the deadline"),
]

# Entry, op, arguments and more options.
HONEST = [
    *((entry, "rms_norm", NORM, ()) for entry in ("plain", "in_double", "four_chains", "backwards", "output_as_scratch",
                                                  "plans_by_shape", "in_threads", "by_reciprocal")),
    ("with_status", "rms_norm", "x weight y x.rows:i32 x.width:i32 eps", ("--returns", "int")),
    ("add", "add", "a b y y.count", ()),
    ("silu", "silu", "x y y.count", ()),
    ("linear", "linear", "x w y x.rows x.width w.0", ()),
]
