// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "fixture.h"
#include "graph/source.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"

#include <stdio.h>
#include <stdlib.h>

static struct view plain(int64_t rows, int64_t width)
{
    return (struct view){.rank = 2, .shape = {affine_constant(rows), affine_constant(width)}};
}

static tapml_status add_weight(struct draft *draft,
                               const struct checkpoint *checkpoint,
                               const char *name,
                               struct view view,
                               uint32_t *out_index)
{
    const struct graph_value value = {.kind = GRAPH_WEIGHT, .name = name, .dtype = TAPML_F32};

    return source_add(draft, checkpoint, &value, &view, out_index);
}

Test(source, weights_come_from_the_checkpoint)
{
    static const char name[] = "model.embed_tokens.weight";
    struct checkpoint *checkpoint = NULL;
    struct draft draft;
    uint32_t index = 0;
    uint32_t again = 0;
    char folder[512];

    snprintf(folder, sizeof(folder), "%s/models/llama_bf16", getenv("TAPML_TEST_DATA"));
    fixture_ok(safetensors_open(folder, &checkpoint));
    fixture_ok(draft_init(&draft, NULL));
    fixture_ok(add_weight(&draft, checkpoint, name, plain(96, 64), &index));
    cr_assert_eq(draft.values[index].dtype, TAPML_BF16);
    cr_assert_eq(draft.values[index].data, checkpoint_find(checkpoint, name)->data);
    cr_assert_eq(draft.values[index].data_bytes, 96 * 64 * 2);
    cr_assert_eq(draft.values[index].stride[0].constant, 64);

    // A tied head asks for the same one again.
    fixture_ok(add_weight(&draft, checkpoint, name, plain(96, 64), &again));
    cr_assert_eq(again, index);
    fixture_expect(add_weight(&draft, checkpoint, name, plain(96, 32), &again), TAPML_INVALID,
                   "its shape is [96,64], expected [96,32]");
    fixture_expect(add_weight(&draft, checkpoint, "model.norm.weight", plain(64, 1), &again),
                   TAPML_INVALID, "its shape is [64], expected [64,1]");
    fixture_expect(add_weight(&draft, checkpoint, "model.none", plain(96, 64), &again),
                   TAPML_NOT_FOUND, "the checkpoint lacks it, expected [96,64]");
    draft_release(&draft);
    checkpoint_close(checkpoint);
}

Test(source, without_a_checkpoint_what_is_expected_is_recorded)
{
    struct draft draft;
    uint32_t index = 0;
    const struct view tokens = {.rank = 1, .shape = {{0, {1, 0, 0, 0}}}};
    const struct graph_value folded = {
        .kind = GRAPH_WEIGHT, .name = "w", .dtype = TAPML_F32, .fold = TAPML_FOLD_UNIT_ROWS};
    const struct view view = plain(2, 3);

    fixture_ok(draft_init(&draft, NULL));
    fixture_ok(add_weight(&draft, NULL, "any", plain(2, 3), &index));
    cr_assert_eq(draft.values[index].dtype, TAPML_F32);
    cr_assert_null(draft.values[index].data);
    cr_assert_eq(draft.values[index].data_bytes, 24);
    fixture_expect(add_weight(&draft, NULL, "t", tokens, &index), TAPML_INVALID,
                   "axis 0 must be a number");
    fixture_expect(add_weight(&draft, NULL, "large", plain((int64_t)1 << 40, 2), &index),
                   TAPML_INVALID, "too many");
    fixture_expect(source_add(&draft, NULL, &folded, &view, &index), TAPML_UNIMPLEMENTED,
                   "folding 'unit-rows' is not supported");
    draft_release(&draft);
}
