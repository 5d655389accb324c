// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_encodings.h"

#include "base/alloc.h"
#include "base/random.h"
#include "kit/kit_device.h"
#include "kit/kit_subject.h"
#include "plugin/encoding_table.h"
#include "plugin/process.h"
#include "tensor/encoding.h"

#include <math.h>
#include <string.h>

enum { LIMIT_S = 60, DRAWN_BLOCKS = 64, MARGIN_BYTES = 64, SEED = 9 };

static const float LARGEST = 65519;

// A block in memory of its own: each span between margins that are not to be written, the second of
// which is shorter by `shift`, as the first one is longer.
struct held_block {
    size_t shift;
    unsigned char *memory[TAPML_ENCODING_SPANS_MAX];
    unsigned char *spans[TAPML_ENCODING_SPANS_MAX];
};

struct encodings_trial {
    const tapml_weight_encoding *table;
    struct held_block first, second;
    struct kit_result *result;
};

// -- Blocks ------------------------------------------------------------------------------------

static int hold(const tapml_encoding *layout, size_t shift, struct held_block *out_block)
{
    *out_block = (struct held_block){.shift = shift};
    for (uint32_t i = 0; i < layout->n_spans; i++) {
        out_block->memory[i] = alloc_array(layout->spans[i]->block_bytes + 2 * MARGIN_BYTES, 1);
        if (out_block->memory[i] == NULL) {
            return 0;
        }
        out_block->spans[i] = out_block->memory[i] + MARGIN_BYTES + shift;
    }
    return 1;
}

static void release(struct held_block *block)
{
    for (uint32_t i = 0; i < TAPML_ENCODING_SPANS_MAX; i++) {
        alloc_free(block->memory[i]);
    }
}

static size_t size_of(const tapml_encoding *layout, uint32_t span)
{
    return layout->spans[span]->block_bytes + 2 * (size_t)MARGIN_BYTES;
}

// Fills a block with `byte`, margins and all.
static void poison(const tapml_encoding *layout, struct held_block *block, int byte)
{
    for (uint32_t i = 0; i < layout->n_spans; i++) {
        memset(block->memory[i], byte, size_of(layout, i));
    }
}

// Whether the margins still have `byte`.
static int has_margins(const tapml_encoding *layout, const struct held_block *block, int byte)
{
    for (uint32_t i = 0; i < layout->n_spans; i++) {
        const size_t size = size_of(layout, i);
        const size_t begin = MARGIN_BYTES + block->shift;

        for (size_t k = 0; k < size; k++) {
            k = k == begin ? k + layout->spans[i]->block_bytes : k;
            if (block->memory[i][k] != byte) {
                return 0;
            }
        }
    }
    return 1;
}

static int are_equal(const tapml_encoding *layout,
                     const struct held_block *first,
                     const struct held_block *second)
{
    for (uint32_t i = 0; i < layout->n_spans; i++) {
        if (memcmp(first->spans[i], second->spans[i], layout->spans[i]->block_bytes) != 0) {
            return 0;
        }
    }
    return 1;
}

// -- Values ------------------------------------------------------------------------------------

// Zeros, one value, the largest magnitudes, tiny ones, and what is drawn.
static void draw(uint64_t number, struct random *random, uint32_t count, float *out_values)
{
    for (uint32_t i = 0; i < count; i++) {
        const float drawn = (float)random_between(random, -1, 1);

        out_values[i] = number == 0   ? 0
                        : number == 1 ? 1.5F
                        : number == 2 ? (i % 2 == 0 ? LARGEST : -LARGEST)
                        : number == 3 ? drawn * 1e-30F
                                      : drawn * ldexpf(1, (int)(number % 24) - 12);
    }
}

static int are_finite(const float *values, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && isfinite(values[i])) {
        i++;
    }
    return i == count;
}

// Encodes values over two poisons, which have to become the same bytes.
static void encode_twice(struct encodings_trial *trial, const float *values)
{
    const tapml_encoding *layout = trial->table->layout;

    poison(layout, &trial->first, 0x55);
    poison(layout, &trial->second, 0xaa);
    trial->table->encode(values, trial->first.spans);
    trial->table->encode(values, trial->second.spans);
    if (!has_margins(layout, &trial->first, 0x55) || !has_margins(layout, &trial->second, 0xaa)) {
        kit_result_fail(trial->result, "'encode' writes outside of the bytes of its block");
    } else if (!are_equal(layout, &trial->first, &trial->second)) {
        kit_result_fail(trial->result, "'encode' leaves bytes of its block as they were, or writes "
                                       "others for the same values");
    }
}

static void decode_twice(struct encodings_trial *trial)
{
    const tapml_encoding *layout = trial->table->layout;
    const unsigned char *const *spans = (const unsigned char *const *)trial->first.spans;
    const unsigned char *const *others = (const unsigned char *const *)trial->second.spans;
    float values[TAPML_ENCODING_VALUES_MAX + 1], again[TAPML_ENCODING_VALUES_MAX + 1];
    const uint32_t count = layout->block_values;

    values[count] = again[count] = -7;
    trial->table->decode(spans, values);
    trial->table->decode(others, again);
    if (values[count] != -7) {
        kit_result_fail(trial->result, "'decode' writes more than the %u values of a block", count);
    } else if (memcmp(values, again, count * sizeof(*values)) != 0) {
        kit_result_fail(trial->result, "'decode' reads other values from the same bytes");
    } else if (!are_equal(layout, &trial->first, &trial->second)) {
        kit_result_fail(trial->result, "'decode' writes to the block that it reads");
    } else if (!are_finite(values, count)) {
        kit_result_fail(trial->result, "values below 65520 become some that are not finite");
    }
}

// One value among others that are all the same: none of them becomes what that one should, while it
// does not. However coarse an encoding is, it may make them equal, and exchange none.
static void try_place(struct encodings_trial *trial, uint32_t place, float value, float others)
{
    const tapml_encoding *layout = trial->table->layout;
    float values[TAPML_ENCODING_VALUES_MAX];

    for (uint32_t i = 0; i < layout->block_values; i++) {
        values[i] = i == place ? value : others;
    }
    poison(layout, &trial->first, 0x55);
    trial->table->encode(values, trial->first.spans);
    trial->table->decode((const unsigned char *const *)trial->first.spans, values);
    const float missed = fabsf(values[place] - value);

    for (uint32_t i = 0; i < layout->block_values; i++) {
        if (fabsf(values[i] - value) + fabsf(value - others) / 2 < missed) {
            kit_result_fail(trial->result,
                            "value %u of a block of %u, %g among values of %g, is read as value "
                            "%u: %u is %g, %u is %g",
                            place, layout->block_values, (double)value, (double)others, i, place,
                            (double)values[place], i, (double)values[i]);
            return;
        }
    }
}

// With zeros, which an encoding of signs alone does not have, and with signs.
static void try_places(struct encodings_trial *trial)
{
    for (uint32_t i = 0;
         i < trial->table->layout->block_values && kit_result_is_good(trial->result); i++) {
        try_place(trial, i, 1, 0);
        if (kit_result_is_good(trial->result)) {
            try_place(trial, i, -1, 1);
        }
    }
}

static void try_blocks(struct encodings_trial *trial)
{
    const uint64_t mode = process_float_mode();
    struct random random;

    random_init(&random, SEED);
    for (uint64_t i = 0; i < DRAWN_BLOCKS && kit_result_is_good(trial->result); i++) {
        float values[TAPML_ENCODING_VALUES_MAX];

        draw(i, &random, trial->table->layout->block_values, values);
        encode_twice(trial, values);
        if (kit_result_is_good(trial->result)) {
            decode_twice(trial);
        }
    }
    try_places(trial);
    if (process_float_mode() != mode) {
        process_set_float_mode(mode);
        kit_result_fail(trial->result, "it leaves another floating-point mode behind");
    }
}

static void blocks_are_whole(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;

    if (kit_device_open_root(subject, io_result, &device)) {
        struct encodings_trial trial = {.table = (const void *)device.table, .result = io_result};

        if (encoding_table_check(trial.table) != TAPML_OK) {
            kit_result_skip(io_result, "its table is not whole");
        } else if (hold(trial.table->layout, 0, &trial.first) &&
                   hold(trial.table->layout, 1, &trial.second)) {
            try_blocks(&trial);
        } else {
            kit_result_fail(io_result, "out of memory");
        }
        release(&trial.first);
        release(&trial.second);
    }
    kit_device_close(&device);
}

// -- The table ---------------------------------------------------------------------------------

static const struct kit_check CHECKS[] = {
    {.id = "K-09",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_OTHER,
     .kind = TAPML_KIND_ENCODING,
     .about = "blocks are written whole, and read as the same finite values, each in its place",
     .limit_s = LIMIT_S,
     .run = blocks_are_whole},
    {.id = NULL},
};

const struct kit_check *kit_encodings_checks(void)
{
    return CHECKS;
}
