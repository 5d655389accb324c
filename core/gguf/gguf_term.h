// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Terms over a GGUF model: how the tables of families (conf/gguf) say what a value follows from.
//
//   block_count              the value of the key ARCHITECTURE.block_count; an array becomes a list
//   /general.name            the value of the key general.name
//   12, 0.5, 'silu'          a number, a text
//   has(T), lacks(T)         whether there is a tensor T
//   extent(T, n)             extent n of tensor T, from 0 on, the last axis fastest
//   values(T)                the values of tensor T, F32, as a list
//   mul(a, b), div(a, b), sub(a, b), sqrt(a)   numbers; whole ones stay so if they can
//   same(a, b), not(a), any(list)   truth values
//   pattern(n, p, a, b)      a list of n: every p-th is `a`, the others are `b`
//   choose(list, a, b)       a list: `a` for what is true or not 0, `b` for what is false or 0
//   largest(list)            the largest number of a list, or the number itself
//   at(list, n)              an item of a list; what is no list is its own item
//   a | b                    a if it is there, else b
//
// What is not there makes the term that needs it not there either.
#pragma once

#include "base/status.h"
#include "gguf/gguf.h"

#include <jansson.h>

// Evaluates `term`. `*out_value` is NULL if it is not there; else the caller owns it. TAPML_INVALID
// for a term that is none, and for values of the model that cannot be.
tapml_status gguf_term_evaluate(const struct gguf *gguf,
                                const char *architecture,
                                const char *term,
                                json_t **out_value) STATUS_USED;

// Whether a value that a term gave counts as true: neither NULL, false, null nor 0.
int gguf_term_is_true(const json_t *value);
