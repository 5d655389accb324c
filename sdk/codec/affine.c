// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "affine.h"

#include "number.h"
#include "quants.h"

#include <math.h>
#include <string.h>

struct affine {
    unsigned char scale[2], min[2]; // As f16.
    uint8_t quants[AFFINE_VALUES];  // Without a sign.
};

static const struct affine_form *form_of(const struct codec *codec)
{
    return codec->form;
}

// What stands for zero where quants are centred.
static int middle_of(const struct affine_form *form)
{
    return 1 << (form->bits - 1);
}

// -- Values ------------------------------------------------------------------------------------

static void show(const struct affine *affine, int middle, struct codec_block *out_block)
{
    out_block->group_values = AFFINE_VALUES;
    out_block->has_mins = middle == 0;
    out_block->scales[0] = number_read_half(affine->scale);
    if (out_block->has_mins) {
        out_block->mins[0] = number_read_half(affine->min);
    }
    for (uint32_t i = 0; i < AFFINE_VALUES; i++) {
        out_block->quants[i] = (float)(affine->quants[i] - middle);
    }
}

// The value of the largest magnitude becomes -`middle` times a scale that may be negative.
static void find_centred(const double *values, int middle, struct affine *out_affine)
{
    number_write_half((float)(number_extreme(values, AFFINE_VALUES) / -middle), out_affine->scale);
    const double inverse = number_inverse(number_read_half(out_affine->scale));

    for (uint32_t i = 0; i < AFFINE_VALUES; i++) {
        out_affine->quants[i] =
            (uint8_t)(number_round(values[i] * inverse, -middle, middle - 1) + middle);
    }
}

// The least value becomes quant 0, the largest one quant `most`.
static void find_between(const double *values, int most, struct affine *out_affine)
{
    double least = values[0], largest = values[0];

    for (uint32_t i = 1; i < AFFINE_VALUES; i++) {
        least = fmin(least, values[i]);
        largest = fmax(largest, values[i]);
    }
    number_write_half((float)((largest - least) / most), out_affine->scale);
    number_write_half((float)least, out_affine->min);
    const double inverse = number_inverse(number_read_half(out_affine->scale));
    const double min = number_read_half(out_affine->min);

    for (uint32_t i = 0; i < AFFINE_VALUES; i++) {
        out_affine->quants[i] = (uint8_t)number_round((values[i] - min) * inverse, 0, most);
    }
}

// Sets the min with which centred quants are no longer centred. It is exact, unless it is too large
// for an f16: then this returns 0.
static int set_min(struct affine *affine, int middle)
{
    number_write_half(number_read_half(affine->scale) * (float)-middle, affine->min);
    return isfinite(number_read_half(affine->min)) != 0;
}

// -- Bytes -------------------------------------------------------------------------------------

static void
get_piece(const struct affine_form *form, const unsigned char *bytes, struct affine *out_affine)
{
    memcpy(out_affine->scale, bytes, sizeof(out_affine->scale));
    bytes += sizeof(out_affine->scale);
    if (!form->is_centred) {
        memcpy(out_affine->min, bytes, sizeof(out_affine->min));
        bytes += sizeof(out_affine->min);
    }
    const unsigned char *lows = bytes + (form->bits == 5 ? AFFINE_FIFTH_BYTES : 0);

    quants_read_halves(lows, AFFINE_VALUES, out_affine->quants);
    if (form->bits == 5) {
        quants_read_fifth_bits(bytes, AFFINE_VALUES, out_affine->quants);
    }
}

static void
put_piece(const struct affine_form *form, const struct affine *affine, unsigned char *out_bytes)
{
    memcpy(out_bytes, affine->scale, sizeof(affine->scale));
    out_bytes += sizeof(affine->scale);
    if (!form->is_centred) {
        memcpy(out_bytes, affine->min, sizeof(affine->min));
        out_bytes += sizeof(affine->min);
    }
    if (form->bits == 5) {
        quants_write_fifth_bits(affine->quants, AFFINE_VALUES, out_bytes);
        out_bytes += AFFINE_FIFTH_BYTES;
    }
    quants_write_halves(affine->quants, AFFINE_VALUES, out_bytes);
}

static void put_spans(const struct affine_form *form,
                      const struct affine *affine,
                      unsigned char *const *out_spans)
{
    quants_write_pairs(affine->quants, AFFINE_VALUES, *out_spans++);
    if (form->bits == 5) {
        quants_write_fifth_bits(affine->quants, AFFINE_VALUES, *out_spans++);
    }
    memcpy(*out_spans++, affine->scale, sizeof(affine->scale));
    memcpy(*out_spans, affine->min, sizeof(affine->min));
}

// -- The functions of codecs -------------------------------------------------------------------

void affine_read_piece(const struct codec *codec,
                       const unsigned char *const *spans,
                       struct codec_block *out_block)
{
    const struct affine_form *form = form_of(codec);
    struct affine affine;

    get_piece(form, spans[0], &affine);
    show(&affine, form->is_centred ? middle_of(form) : 0, out_block);
}

void affine_write_piece(const struct codec *codec,
                        const double *values,
                        unsigned char *const *out_spans)
{
    const struct affine_form *form = form_of(codec);
    struct affine affine;

    if (form->is_centred) {
        find_centred(values, middle_of(form), &affine);
    } else {
        find_between(values, 2 * middle_of(form) - 1, &affine);
    }
    put_piece(form, &affine, out_spans[0]);
}

int affine_spread_piece(const struct codec *codec,
                        const unsigned char *const *spans,
                        unsigned char *const *out_spans)
{
    const struct affine_form *form = form_of(codec);
    struct affine affine;

    get_piece(form, spans[0], &affine);
    const int is_exact = !form->is_centred || set_min(&affine, middle_of(form));

    put_spans(form, &affine, out_spans);
    return is_exact;
}

void affine_read_spans(const struct codec *codec,
                       const unsigned char *const *spans,
                       struct codec_block *out_block)
{
    struct affine affine;

    quants_read_pairs(*spans++, AFFINE_VALUES, affine.quants);
    if (form_of(codec)->bits == 5) {
        quants_read_fifth_bits(*spans++, AFFINE_VALUES, affine.quants);
    }
    memcpy(affine.scale, *spans++, sizeof(affine.scale));
    memcpy(affine.min, *spans, sizeof(affine.min));
    show(&affine, 0, out_block);
}

void affine_write_spans(const struct codec *codec,
                        const double *values,
                        unsigned char *const *out_spans)
{
    const struct affine_form *form = form_of(codec);
    struct affine affine;

    find_centred(values, middle_of(form), &affine);
    (void)set_min(&affine, middle_of(form)); // Values below the limit have one.
    put_spans(form, &affine, out_spans);
}
