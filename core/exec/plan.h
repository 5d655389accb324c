// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which backend runs which op: rules, the last match wins. A plan is text, and every plan can run.
//
//   * -> source
//   op=rms_norm -> gpu                            # a comment
//   instance=layers.[0-3]/attn/* phase=decode -> gpu
//
// A file has one rule a line; in an INI each is the value of a key `rule`. `op=` and `instance=`
// are globs; `op=` matches the short or the full name.
//
// One thread. TAPML_INVALID names a rule that cannot be read; TAPML_NO_MEMORY.
#pragma once

#include "base/text.h"
#include "graph/graph.h"

enum plan_phase { PLAN_PREFILL, PLAN_DECODE, PLAN_PHASES };

struct plan;

// A plan with all ops on the source; `plan_copy` copies the rules. The caller owns the plan;
// `plan_destroy` accepts NULL.
tapml_status plan_create(struct plan **out_plan) STATUS_USED;
void plan_destroy(struct plan *plan);
tapml_status plan_copy(const struct plan *plan, struct plan **out_plan) STATUS_USED;

// Adds a rule such as "op=silu -> gpu". `where` stands before errors: "run.ini:12".
tapml_status plan_add(struct plan *plan, const char *rule, const char *where) STATUS_USED;

// Reads a plan's text: rules of any length, one a line, with comments and empty lines. `name` and
// the line's number stand before errors. The caller owns the plan.
tapml_status plan_parse(const char *text, const char *name, struct plan **out_plan) STATUS_USED;

// Reads a plan file of at most 1 MiB, as `plan_parse` does. The caller owns the plan.
tapml_status plan_load(const char *path, struct plan **out_plan) STATUS_USED;

// Whether rules can name an instance of that name: it is not empty, and has no blanks and nothing
// that a glob reads. [any]
int plan_can_name(const char *instance);

// Appends the rules, one a line, as `plan_parse` reads them. The status of `out_text` reports a
// failure.
void plan_print(const struct plan *plan, struct text *out_text);

// The name of the place where an op runs: "source", or a target's name. Lives as long as the plan.
const char *plan_place(const struct plan *plan,
                       const char *op_name,
                       const char *instance,
                       enum plan_phase phase);

// The place of every op of a graph as an index into `places` (the first is the source's name).
// TAPML_NOT_FOUND for a place that is not among them, or a rule whose selectors match nothing in
// the graph (with the nearest instance). `out_places` has op_count entries for each phase, prefill
// first.
tapml_status plan_resolve(const struct plan *plan,
                          const struct graph *graph,
                          const char *const *places,
                          uint32_t place_count,
                          uint8_t *out_places) STATUS_USED;
