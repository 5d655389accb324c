// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta_beside.h"

#include "base/arena.h"
#include "model/checkpoint.h"
#include "model/delta.h"
#include "model/delta_levels.h"
#include "tensor/encoding.h"

static const double factor = 1.0 / DELTA_LEVELS_UNIT;

// The tensors that are kept beside their weights.
struct delta_joining {
    struct checkpoint *checkpoint;
    struct checkpoint_tensor *changes;
    struct checkpoint_adapter *adapters;
    size_t count;
};

static tapml_status
make_change(struct delta_joining *joining, const struct delta_item *item, void *body, int *out_fits)
{
    struct arena *arena = checkpoint_arena(joining->checkpoint);
    const struct checkpoint_tensor *weight = checkpoint_find(joining->checkpoint, item->name);
    struct delta_form form = item->form;
    struct checkpoint_tensor change = *weight;
    form.columns = delta_count_columns(weight);
    *out_fits = delta_levels_fit_blocks(&form, body);
    if (!*out_fits) {
        return TAPML_OK;
    }
    change.adapter = NULL;
    change.name = arena_format(arena, "%s.delta", weight->name);
    change.tensor.dtype = TAPML_U8;
    change.tensor.encoding = encoding_find(form.kind == DELTA_24Q2 ? "gguf.q4_0/1" : "gguf.q5_0/1");
    TAPML_TRY(encoding_bytes(change.tensor.encoding, TAPML_U8, change.tensor.shape,
                             change.tensor.rank, &change.bytes));
    void *data = checkpoint_copy(joining->checkpoint, change.bytes,
                                 (size_t)encoding_align(change.tensor.encoding));
    if (!change.name || !data) {
        return status_no_memory();
    }
    delta_levels_write_blocks(&form, body, data);
    change.data = data;
    joining->changes[joining->count] = change;
    joining->adapters[joining->count++] = (struct checkpoint_adapter){
        .module = weight->name, .weight = weight->name, .down = change.name, .factor = factor};
    return TAPML_OK;
}

static tapml_status join_item(struct delta_joining *joining, const struct delta_item *item)
{
    const struct checkpoint_tensor *weight = checkpoint_find(joining->checkpoint, item->name);
    int fits = 0;
    if (delta_levels_bits(item->form.kind) > 0 && weight && weight->tensor.rank == 2) {
        void *body = NULL;
        TAPML_TRY(delta_check(item, weight, &body));
        const tapml_status status = make_change(joining, item, body, &fits);
        delta_release_body(body);
        TAPML_TRY(status);
    }
    return fits ? TAPML_OK : delta_apply_item(item, joining->checkpoint);
}

// Tensors are found until others are added.
static tapml_status add_changes(const struct delta_joining *joining)
{
    for (size_t i = 0; i < joining->count; ++i) {
        TAPML_TRY(checkpoint_add_tensor(joining->checkpoint, &joining->changes[i]));
    }
    TAPML_TRY(checkpoint_finish(joining->checkpoint));
    for (size_t i = 0; i < joining->count; ++i) {
        if (checkpoint_find(joining->checkpoint, joining->adapters[i].weight)->adapter) {
            return status_fail(TAPML_UNIMPLEMENTED,
                               "tensor '%s': expected a weight to which nothing is added, found "
                               "one with an adapter",
                               joining->adapters[i].weight);
        }
        checkpoint_set_adapter(joining->checkpoint, &joining->adapters[i]);
    }
    return TAPML_OK;
}

static tapml_status join(const struct delta *delta, struct checkpoint *checkpoint)
{
    struct arena *arena = checkpoint_arena(checkpoint);
    struct delta_joining joining = {
        .checkpoint = checkpoint,
        .changes = arena_array(arena, delta_count(delta) + 1, sizeof(*joining.changes)),
        .adapters = arena_array(arena, delta_count(delta) + 1, sizeof(*joining.adapters))};
    if (!joining.changes || !joining.adapters) {
        return status_no_memory();
    }
    for (size_t i = 0; i < delta_count(delta); ++i) {
        TAPML_TRY(join_item(&joining, delta_at(delta, i)));
    }
    checkpoint_set_change(checkpoint, delta_hash(delta));
    return add_changes(&joining);
}

tapml_status delta_beside_join(const char *path, struct checkpoint *checkpoint)
{
    struct delta *delta = NULL;
    tapml_status status = delta_open(path, &delta);
    if (status == TAPML_OK) {
        status = join(delta, checkpoint);
    }
    delta_close(delta);
    return status == TAPML_OK ? TAPML_OK : status_explain(status, "delta '%s'", path);
}
