// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "reader.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "carve/seen.h"
#include "fuzz.h"
#include "store/bundle.h"
#include "store/call_line.h"
#include "store/case.h"
#include "store/metadata.h"
#include "store/prompt.h"
#include "store/step.h"
#include "store/stored_case.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <tapml/ops.h>

#include <string.h>

static void read_bytes(const void *data, uint64_t size)
{
    static volatile unsigned char kept; // So that the bytes are read.
    unsigned char sum = 0;
    for (uint64_t i = 0; data && i < size; i++) {
        sum ^= ((const unsigned char *)data)[i];
    }
    kept = sum;
    (void)kept;
}

// A view lies in its base value, so a replay can rebuild both.
static void check_view(const struct case_argument *argument)
{
    const struct case_argument view = case_content_view(argument);
    int64_t span = 0;
    FUZZ_CHECK(shape_span(view.shape, view.stride, view.rank, &span) == TAPML_OK);
    FUZZ_CHECK(view.offset_bytes + (uint64_t)span * dtype_bytes(view.dtype) <=
               argument->base_bytes);
    FUZZ_CHECK(argument->base_bytes <= CASE_BASE_BYTES_MAX);
    FUZZ_CHECK(shape_span(argument->shape, argument->stride, argument->rank, &span) == TAPML_OK);
    FUZZ_CHECK((argument->effects & TAPML_E_WEIGHT) != 0 ||
               argument->base_bytes <=
                   CASE_SLACK_BYTES + 2 * (argument->offset_bytes +
                                           (uint64_t)span * dtype_bytes(argument->dtype)));
    FUZZ_CHECK(case_is_reference(argument) || !case_is_output(argument) || argument->after);
    read_bytes(argument->before, argument->content_bytes);
    read_bytes(argument->after, argument->content_bytes);
}

static void check_case(const struct carved_case *item)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        const struct case_argument *argument = &item->arguments[i];
        if (argument->kind >= TAPML_P_TENSOR_IN && argument->kind <= TAPML_P_TENSOR_INOUT) {
            check_view(argument);
        }
    }
    for (size_t i = 0; tapml_ops[i]; i++) {
        (void)fuzz_refused(case_check_op(item, tapml_ops[i])); // At most one of them.
    }
}

static void read_cases(struct store *store)
{
    int64_t *ids = NULL;
    size_t count = 0;
    if (fuzz_refused(stored_case_ids(store, &ids, &count))) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct carved_case item;
        struct arena *arena = arena_create();
        FUZZ_CHECK(arena);
        if (!fuzz_refused(stored_case_load(store, ids[i], arena, &item))) {
            check_case(&item);
        }
        arena_destroy(arena);
    }
    alloc_free(ids);
}

static void see(void *user, const struct call_line *call)
{
    int has_class = 0, is_wider = 0;
    FUZZ_CHECK(call->output_count <= CALL_LINE_OUTPUTS_MAX);
    FUZZ_CHECK(seen_has_class(user, call, &has_class) == TAPML_OK);
    FUZZ_CHECK(seen_is_wider(user, call, &is_wider) == TAPML_OK);
    FUZZ_CHECK(seen_add(user, call) == TAPML_OK);
}

static void read_prompt(struct store *store, struct hash prompt)
{
    int32_t *ids = NULL;
    int64_t count = 0;
    (void)prompt_is_carved(store, prompt);
    if (!fuzz_refused(prompt_greedy(store, prompt, &ids, &count))) {
        read_bytes(ids, (uint64_t)count * sizeof(*ids));
        alloc_free(ids);
    }
}

void reader_read(struct store *store)
{
    struct seen seen;
    struct step_row line;
    struct arena *arena = arena_create();
    FUZZ_CHECK(arena);
    seen_init(&seen);
    (void)bundle_is(store);
    (void)metadata_get(store, "model.hash");
    read_cases(store);
    (void)fuzz_refused(call_line_visit(store, see, &seen));
    read_prompt(store, (struct hash){1, 2});
    if (!fuzz_refused(step_find(store, "gpu", "final", arena, &line))) {
        FUZZ_CHECK(line.plan && line.reason && line.verdict);
    }
    seen_release(&seen);
    arena_destroy(arena);
}
