// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// exec/plan: any bytes as a plan file. What is printed of a plan reads as the same plan.
#include "fuzz.h"

#include "base/text.h"
#include "exec/plan.h"

#include <string.h>

static void add_lines(struct plan *plan, char *lines)
{
    for (char *line = lines; *line;) {
        char *end = strchr(line, '\n');
        *end = '\0';
        FUZZ_CHECK(plan_add(plan, line, "again") == TAPML_OK);
        line = end + 1;
    }
}

static void check_print(const struct plan *plan)
{
    struct text first;
    struct text second;
    struct plan *again = NULL;
    text_init(&first);
    text_init(&second);
    plan_print(plan, &first);
    plan_print(plan, &second);
    FUZZ_CHECK(plan_create(&again) == TAPML_OK);
    add_lines(again, second.data);
    text_clear(&second);
    plan_print(again, &second);
    FUZZ_CHECK(strcmp(first.data, second.data) == 0);
    plan_destroy(again);
    text_release(&first);
    text_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan *plan = NULL;
    fuzz_begin();
    if (!fuzz_refused(plan_load(fuzz_file(data, size), &plan))) {
        check_print(plan);
        FUZZ_CHECK(plan_place(plan, "tapml.silu", "layers.0/mlp/silu", PLAN_PREFILL));
        FUZZ_CHECK(plan_place(plan, "org.example.op", "layers.31/attn/k_proj", PLAN_DECODE));
        plan_destroy(plan);
    }
    fuzz_end();
    return 0;
}
