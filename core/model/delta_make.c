// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta_make.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "model/delta.h"
#include "model/delta_levels.h"
#include "model/safetensors_writer.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PIECE = 4096 };

struct delta_making {
    const struct delta_make_options *options;
    struct safetensors_writer *writer;
    struct text list; // Of "tensors" in the JSON text.
    struct delta_make_counts counts;
    double changes, errors; // Sums of squares, of lossy tensors.
};

// A tensor of both.
struct delta_pair {
    const struct checkpoint_tensor *base, *fine;
    struct delta_form form;
    double *moments; // Of the inputs of its products; NULL: they are not known.
};

// -- Which tensors -----------------------------------------------------------------------------

static tapml_status check_alike(const struct delta_pair *pair)
{
    char base[128], fine[128];
    const tapml_tensor *x = &pair->base->tensor, *y = &pair->fine->tensor;
    if (x->dtype == y->dtype && x->rank == y->rank &&
        (x->rank == 0 || memcmp(x->shape, y->shape, x->rank * sizeof(*x->shape)) == 0)) {
        return TAPML_OK;
    }
    shape_text(x->shape, x->rank, base, sizeof(base));
    shape_text(y->shape, y->rank, fine, sizeof(fine));
    return status_fail(TAPML_INVALID,
                       "tensor '%s': expected %s of %s in the fine-tune, as the base has it, found "
                       "%s of %s",
                       pair->fine->name, base, dtype_name(x->dtype), fine, dtype_name(y->dtype));
}

static tapml_status
read_pair(const struct delta_making *making, size_t index, struct delta_pair *out_pair)
{
    struct delta_pair pair = {.fine = checkpoint_at(making->options->fine, index)};
    uint64_t count = 0;
    pair.base = checkpoint_find(making->options->base, pair.fine->name);
    if (!pair.base) {
        return status_fail(TAPML_INVALID, "tensor '%s' is in the fine-tune and not in the base",
                           pair.fine->name);
    }
    TAPML_TRY(delta_count_values(pair.base, &count));
    TAPML_TRY(delta_count_values(pair.fine, &count));
    TAPML_TRY(check_alike(&pair));
    pair.form =
        (struct delta_form){.kind = DELTA_XOR, .dtype = pair.fine->tensor.dtype, .count = count};
    *out_pair = pair;
    return TAPML_OK;
}

static tapml_status check_names(const struct delta_make_options *options)
{
    for (size_t i = 0; i < checkpoint_count(options->base); ++i) {
        const char *name = checkpoint_at(options->base, i)->name;
        if (!checkpoint_find(options->fine, name)) {
            return status_fail(TAPML_INVALID, "tensor '%s' is in the base and not in the fine-tune",
                               name);
        }
    }
    return TAPML_OK;
}

// -- A tensor ----------------------------------------------------------------------------------

// Adds the squares of fine - base, or infinity where a value is not finite.
static double squares(const struct delta_form *form, const void *base, const void *fine)
{
    double x[PIECE], y[PIECE], sum = 0;
    const uint64_t size = dtype_bytes(form->dtype);
    for (uint64_t begin = 0; begin < form->count; begin += PIECE) {
        const uint64_t left = form->count - begin, count = left < PIECE ? left : PIECE;
        convert_to_f64(form->dtype, (const unsigned char *)base + begin * size, count, x);
        convert_to_f64(form->dtype, (const unsigned char *)fine + begin * size, count, y);
        for (uint64_t i = 0; i < count; ++i) {
            const double change = y[i] - x[i];
            sum += isfinite(change) && fabs(change) <= (double)FLT_MAX ? change * change : INFINITY;
        }
    }
    return sum;
}

// The most changes that may stay.
static uint64_t kept_of(const struct delta_making *making, uint64_t count)
{
    const double kept = ceil((double)count * making->options->density);
    return making->options->kind != DELTA_SPARSE || kept >= (double)count ? count
           : kept < 1                                                     ? 1
                                                                          : (uint64_t)kept;
}

// Norms, biases and tables of other types are few bytes, and stay exact.
static int may_lose(const struct delta_making *making, const struct delta_pair *pair)
{
    return making->options->kind != DELTA_XOR && pair->fine->tensor.rank >= 2 &&
           pair->fine->tensor.dtype != TAPML_F64 && dtype_is_float(pair->fine->tensor.dtype) &&
           isfinite(squares(&pair->form, pair->base->data, pair->fine->data));
}

static void
list(struct delta_making *making, const struct delta_pair *pair, const void *made, double lost)
{
    char base[HASH_TEXT], fine[HASH_TEXT];
    struct text *text = &making->list;
    hash_text(hash_bytes(pair->base->data, (size_t)pair->base->bytes), base);
    hash_text(hash_bytes(made, (size_t)pair->fine->bytes), fine);
    text_append(text, text->length > 0 ? ",\n{\"name\":" : "\n{\"name\":");
    text_append_json(text, pair->fine->name);
    text_format(text,
                ",\"kind\":\"%s\",\"dtype\":\"%s\",\"count\":%" PRIu64 ",\"kept\":%" PRIu64
                ",\"base\":\"%s\",\"fine\":\"%s\"",
                delta_form_word(pair->form.kind), dtype_name(pair->form.dtype), pair->form.count,
                pair->form.kept, base, fine);
    if (pair->form.kind != DELTA_XOR && isfinite(lost)) {
        text_format(text, ",\"lost\":%.9g,\"of\":\"%s\"", lost,
                    pair->moments ? "outputs" : "values");
    }
    text_append(text, "}");
}

static tapml_status
write_body(struct delta_making *making, const struct delta_pair *pair, const void *body)
{
    void *packed = NULL;
    uint64_t bytes = 0;
    TAPML_TRY(delta_codec_pack(body, delta_codec_bytes(&pair->form), &packed, &bytes));
    const int64_t shape[] = {(int64_t)bytes};
    const tapml_status status = safetensors_writer_add(
        making->writer,
        &(struct safetensors_writer_tensor){pair->fine->name, "U8", shape, 1, packed, bytes});
    alloc_free(packed);
    return status;
}

// Of one that is not exact, of whose products inputs may be known.
static tapml_status
account_loss(struct delta_making *making, const struct delta_pair *pair, const void *made)
{
    const struct delta_form *form = &pair->form;
    const struct delta_effect values = {.lost = squares(form, made, pair->fine->data),
                                        .whole = squares(form, pair->base->data, pair->fine->data)};
    struct delta_effect effect = values;
    if (pair->moments) {
        const struct delta_calibration_tensor tensor = {
            .form = form, .base = pair->base->data, .fine = pair->fine->data, .made = made};
        effect = (struct delta_effect){.lost = 0};
        TAPML_TRY(delta_calibration_weigh(&making->options->calibration, pair->moments, &tensor,
                                          &effect));
        ++making->counts.calibrated;
        making->counts.effect.lost += effect.lost;
        making->counts.effect.whole += effect.whole;
    }
    making->changes += values.whole;
    making->errors += values.lost;
    ++making->counts.lossy;
    list(making, pair, made, delta_calibration_part(&effect));
    return TAPML_OK;
}

// What the delta makes of the base, as a reader will: of an exact one the fine-tune itself.
static tapml_status
account(struct delta_making *making, const struct delta_pair *pair, const void *body)
{
    const struct delta_form *form = &pair->form;
    if (form->kind == DELTA_XOR) {
        list(making, pair, pair->fine->data, 0);
        ++making->counts.exact;
        return TAPML_OK;
    }
    void *made = alloc_raw((size_t)pair->fine->bytes);
    if (!made) {
        return status_no_memory();
    }
    tapml_status status = delta_codec_apply(form, pair->base->data, body, made);
    if (status == TAPML_OK) {
        status = account_loss(making, pair, made);
    }
    alloc_free(made);
    return status;
}

// Makes the body of a pair whose kind is known, and what its inputs were.
static tapml_status
make_body(const struct delta_making *making, struct delta_pair *pair, void *body)
{
    const struct delta_calibration *calibration = &making->options->calibration;
    if (delta_levels_bits(pair->form.kind) == 0) {
        return delta_codec_make(&pair->form, pair->base->data, pair->fine->data, body);
    }
    TAPML_TRY(
        delta_calibration_find(calibration, pair->fine->name, pair->form.columns, &pair->moments));
    return delta_calibration_make(calibration, pair->moments, &pair->form, pair->base->data,
                                  pair->fine->data, body);
}

static tapml_status add_changed(struct delta_making *making, struct delta_pair *pair)
{
    if (may_lose(making, pair)) {
        pair->form.kind = making->options->kind;
        pair->form.kept = kept_of(making, pair->form.count);
        pair->form.columns = delta_count_columns(pair->fine);
    }
    void *body = alloc_raw((size_t)delta_codec_bytes(&pair->form));
    if (!body) {
        return status_no_memory();
    }
    tapml_status status = make_body(making, pair, body);
    if (status == TAPML_OK) {
        status = account(making, pair, body);
    }
    if (status == TAPML_OK) {
        status = write_body(making, pair, body);
    }
    alloc_free(body);
    alloc_free(pair->moments);
    checkpoint_leave(making->options->base, pair->base);
    checkpoint_leave(making->options->fine, pair->fine);
    return status;
}

static tapml_status add_pair(struct delta_making *making, size_t index)
{
    struct delta_pair pair;
    TAPML_TRY(read_pair(making, index, &pair));
    making->counts.fine_bytes += pair.fine->bytes;
    if (pair.fine->bytes == 0 ||
        memcmp(pair.base->data, pair.fine->data, (size_t)pair.fine->bytes) == 0) {
        ++making->counts.same;
        return TAPML_OK;
    }
    return add_changed(making, &pair);
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status add_text(struct delta_making *making)
{
    struct text text;
    text_init(&text);
    text_append(&text, "{\"format\":\"" DELTA_FORMAT "\",\"tensors\":[");
    text_append(&text, making->list.data);
    text_append(&text, "]}\n");
    tapml_status status = text_status(&making->list);
    status = status == TAPML_OK ? text_status(&text) : status;
    if (status == TAPML_OK) {
        const int64_t shape[] = {(int64_t)text.length};
        status = safetensors_writer_add(
            making->writer, &(struct safetensors_writer_tensor){DELTA_TENSOR, "U8", shape, 1,
                                                                text.data, text.length});
    }
    text_release(&text);
    return status;
}

static tapml_status add_all(struct delta_making *making)
{
    const size_t count = checkpoint_count(making->options->fine);
    for (size_t i = 0; i < count; ++i) {
        TAPML_TRY(add_pair(making, i));
        TAPML_TRY(delta_calibration_tell(&making->options->calibration, i + 1, count));
    }
    return add_text(making);
}

static tapml_status write_all(struct delta_making *making, const char *path)
{
    uint64_t room = safetensors_writer_room(DELTA_TENSOR);
    for (size_t i = 0; i < checkpoint_count(making->options->fine); ++i) {
        room += safetensors_writer_room(checkpoint_at(making->options->fine, i)->name);
    }
    TAPML_TRY(safetensors_writer_open(path, room, &making->writer));
    const tapml_status status = add_all(making);
    if (status != TAPML_OK) {
        safetensors_writer_drop(making->writer);
        return status;
    }
    return safetensors_writer_end(making->writer, &making->counts.file_bytes);
}

tapml_status delta_make(const struct delta_make_options *options,
                        const char *path,
                        struct delta_make_counts *out_counts)
{
    struct delta_making making = {.options = options};
    TAPML_TRY(check_names(options));
    text_init(&making.list);
    const tapml_status status = write_all(&making, path);
    text_release(&making.list);
    TAPML_TRY(status);
    making.counts.lost = delta_calibration_part(
        &(struct delta_effect){.lost = making.errors, .whole = making.changes});
    *out_counts = making.counts;
    return TAPML_OK;
}
