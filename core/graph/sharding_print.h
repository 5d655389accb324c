// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A sharding as text, for people: how each op and each tensor is divided, who has decided it, what
// was inserted, and what that costs.
#pragma once

#include "graph/sharding_figures.h"

// Appends a line for each op that is split, each tensor that is not whole and each op that was
// inserted, then the figures; `gathered` are those of the same annotations that spread nowhere
// (`spreads_nowhere`). `graph` is what `sharding_rewrite` has made. The status of `out_text`
// reports a failure.
void sharding_print(const struct sharding *sharding,
                    const struct graph *graph,
                    const struct sharding_figures *figures,
                    const struct sharding_figures *gathered,
                    struct text *out_text);

// Appends one line: how many operators are split, the weights of each place, the bytes of a token.
void sharding_print_figures(const struct sharding *sharding,
                            const struct sharding_figures *figures,
                            struct text *out_text);
