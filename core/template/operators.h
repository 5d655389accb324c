// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The operators of expressions on two values, and access to items and slices, as Python has them.
#pragma once

#include "template/datum.h"

// + - * / // % ** ~. TAPML_INVALID for kinds that the operator does not take, for overflow of 64
// bits and for a division by zero.
tapml_status operators_apply(struct budget *budget,
                             const char *operator_,
                             const struct datum *left,
                             const struct datum *right,
                             struct datum *out_value) STATUS_USED;

// -X or +X of a number.
tapml_status
operators_sign(const char *sign, const struct datum *value, struct datum *out_value) STATUS_USED;

// == != < <= > >= in, not in.
tapml_status operators_compare(struct budget *budget,
                               const char *comparison,
                               const struct datum *left,
                               const struct datum *right,
                               int *out_truth) STATUS_USED;

// object[key]: a member, an item, a character; undefined where there is none. TAPML_INVALID if the
// object is undefined.
tapml_status operators_item(struct budget *budget,
                            const struct datum *object,
                            const struct datum *key,
                            struct datum *out_value) STATUS_USED;

// object[begin:end:step] of a list or text; a bound may be none.
tapml_status operators_slice(struct budget *budget,
                             const struct datum *object,
                             const struct datum bounds[3],
                             struct datum *out_value) STATUS_USED;
