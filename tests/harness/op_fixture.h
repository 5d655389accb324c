// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "harness/operand.h"

// One call of an op, to be run on any device: layouts, values and attributes, one for each
// parameter of the schema. What is left zero is an optional tensor left out, or the number 0.
enum { OP_FIXTURE_PARAMS_MAX = 16 };

struct op_fixture_argument {
    struct operand_spec tensor; // Rank 0 is no tensor.
    int64_t i64;
    double f64;

    // Further panels of a weight, each a tensor of some of its rows, ended by rank 0; or NULL. Of a
    // parameter that is a list: its other tensors.
    const struct operand_spec *panels;
};

struct op_fixture {
    const tapml_op *op;
    uint32_t output; // The parameter that is read, of those that are written.
    struct op_fixture_argument arguments[OP_FIXTURE_PARAMS_MAX];
};

// Runs `fixture` and reads its output, dense, into `values`. The test fails where the device says
// that it cannot, where the call fails, or where a byte changes that is no value of the output.
void op_fixture_run(const struct op_fixture *fixture, struct plugin *plugin, double *values);

// Runs `fixture` where it must fail, with `code`, and gives the message back in `call`.
void op_fixture_fail(const struct op_fixture *fixture,
                     struct plugin *plugin,
                     tapml_status code,
                     tapml_call *call);

// What the device answers to it.
tapml_support op_fixture_supports(const struct op_fixture *fixture, struct plugin *plugin);

// Dense tensors, of one to three axes.
struct operand_spec op_fixture_row(uint32_t dtype, int64_t a, const double *values);
struct operand_spec op_fixture_rows(uint32_t dtype, int64_t a, int64_t b, const double *values);
struct operand_spec
op_fixture_heads(uint32_t dtype, int64_t a, int64_t b, int64_t c, const double *values);

// The same tensor behind `lead` elements, with `gap` more between the rows of its last axis, and
// the outer axes further apart by as much again.
struct operand_spec op_fixture_spread(struct operand_spec spec, size_t lead, int64_t gap);

// `count` numbers between -1 and 1, a few up to 8 times as large, rounded to `dtype`: always the
// same ones for a `seed`. For OPERAND_ENCODED what a block can have.
// To be freed.
double *op_fixture_values(uint64_t seed, uint32_t dtype, size_t count);
