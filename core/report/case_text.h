// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A case of a store as text: what is in its tensors, and what targets made of it. One thread; the
// status of the text reports a lack of memory, all other failures are those that are named.
#pragma once

#include "base/text.h"
#include "verify/verdict.h"

struct carved_case;

// "case 12: layers.0/norm, tapml.rms_norm, decode, step 3": one line.
void case_text_print_name(const struct carved_case *item, struct text *out);

// A line for each argument: type, shape, and of what has values the least, the largest, mean, root
// mean square and the count of those that are not finite. Of a written state and of what is read
// and written there are two, before and after.
void case_text_print_arguments(const struct carved_case *item, struct text *out);

// What a target made of it: verdict, and for each output the error as a root of the NMSE, as a
// signal-to-noise ratio in dB (-10 log10 NMSE), as the cosine of both and in units in the last
// place; the first elements that are beyond the limit, expected beside computed.
void case_text_print_verdict(const char *target, const struct verdict *verdict, struct text *out);

enum { CASE_TEXT_VALUES_MAX = 4096 };

// The values of one argument, all or a slice of it (tensor/slice.h), an element a line.
// TAPML_INVALID if there is no such argument with values, if the slice does not fit, or if it has
// more than CASE_TEXT_VALUES_MAX elements.
tapml_status case_text_print_values(const struct carved_case *item,
                                    const char *name,
                                    const char *slice,
                                    struct text *out) STATUS_USED;
