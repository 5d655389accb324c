// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/conduct_kind.h"

static const char *const names[CONDUCT_KINDS] = {
    "right",
    "unsupported",
    "fails",
    "no answer within the deadline",
    "wrong after some calls",
    "cached by address",
    "depends on earlier calls",
    "works on after it was done",
    "reads old memory",
    "changes its inputs",
    "writes outside its outputs",
    "leaves outputs unwritten",
    "lower precision",
    "right at the shown shapes only",
    "right with the shown values only",
    "faster than its bytes allow",
    "wrong",
};

const char *conduct_kind_name(enum conduct_kind kind)
{
    return names[kind];
}
