// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/delta_codec.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "model/delta_levels.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <math.h>
#include <string.h>
#include <zstd.h>

enum { PIECE = 4096, LEVEL = 6, DIGITS = 1 << 16 };

uint64_t delta_codec_bytes(const struct delta_form *form)
{
    switch (form->kind) {
    case DELTA_SPARSE:
        return sizeof(float) + (form->count + 7) / 8 + form->kept * sizeof(uint16_t);
    case DELTA_24Q2:
    case DELTA_24Q4:
        return delta_levels_bytes(form);
    case DELTA_XOR:
    case DELTA_KINDS:
        break;
    }
    return form->count * dtype_bytes(form->dtype);
}

// -- Bits --------------------------------------------------------------------------------------

static void split(const struct delta_form *form,
                  const unsigned char *base,
                  const unsigned char *fine,
                  unsigned char *body)
{
    const uint64_t size = dtype_bytes(form->dtype);
    for (uint64_t p = 0; p < size; ++p) {
        for (uint64_t i = 0; i < form->count; ++i) {
            *body++ = base[i * size + p] ^ fine[i * size + p];
        }
    }
}

static void join(const struct delta_form *form,
                 const unsigned char *base,
                 const unsigned char *body,
                 unsigned char *fine)
{
    const uint64_t size = dtype_bytes(form->dtype);
    for (uint64_t p = 0; p < size; ++p) {
        for (uint64_t i = 0; i < form->count; ++i) {
            fine[i * size + p] = base[i * size + p] ^ *body++;
        }
    }
}

// -- The largest changes -----------------------------------------------------------------------

static uint64_t piece_of(const struct delta_form *form, uint64_t begin)
{
    return form->count - begin < PIECE ? form->count - begin : PIECE;
}

static const void *at(const struct delta_form *form, const void *data, uint64_t index)
{
    return (const unsigned char *)data + index * dtype_bytes(form->dtype);
}

// The changes of a piece, in f32.
static void changes_of(const struct delta_form *form,
                       const void *base,
                       const void *fine,
                       uint64_t begin,
                       float *out_changes)
{
    double from[PIECE], to[PIECE];
    const uint64_t count = piece_of(form, begin);
    convert_to_f64(form->dtype, at(form, base, begin), count, from);
    convert_to_f64(form->dtype, at(form, fine, begin), count, to);
    for (uint64_t i = 0; i < count; ++i) {
        out_changes[i] = (float)(to[i] - from[i]);
    }
}

// Magnitudes have the order of their bits.
static uint32_t magnitude(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
    return bits & 0x7fffffff;
}

// Which changes stay: those above `bits`, and the first `equal` of those that are it.
struct threshold {
    uint32_t bits;
    uint64_t equal;
};

// The digit in which the `*io_rest`-th largest of a histogram lies, and what remains of it there.
static uint32_t digit_of(const uint64_t *histogram, uint64_t *io_rest)
{
    uint32_t digit = DIGITS - 1;
    while (digit > 0 && histogram[digit] < *io_rest) {
        *io_rest -= histogram[digit--];
    }
    return digit;
}

static tapml_status find_threshold(const struct delta_form *form,
                                   const void *base,
                                   const void *fine,
                                   struct threshold *out_threshold)
{
    float changes[PIECE];
    uint64_t *histogram = alloc_array(DIGITS, sizeof(*histogram));
    if (!histogram) {
        return status_no_memory();
    }
    uint32_t upper = 0;
    uint64_t rest = form->kept;
    for (int pass = 0; pass < 2; ++pass) {
        memset(histogram, 0, DIGITS * sizeof(*histogram));
        for (uint64_t begin = 0; begin < form->count; begin += PIECE) {
            changes_of(form, base, fine, begin, changes);
            for (uint64_t i = 0; i < piece_of(form, begin); ++i) {
                const uint32_t bits = magnitude(changes[i]);
                if (pass == 0) {
                    ++histogram[bits >> 16];
                } else if (bits >> 16 == upper) {
                    ++histogram[bits & (DIGITS - 1)];
                }
            }
        }
        if (pass == 0) {
            upper = digit_of(histogram, &rest);
        } else {
            out_threshold->bits = upper << 16 | digit_of(histogram, &rest);
            out_threshold->equal = rest;
        }
    }
    alloc_free(histogram);
    return TAPML_OK;
}

// The parts of a body of DELTA_SPARSE. The values stand at any address.
struct sparse {
    float factor;
    const unsigned char *bits, *values;
};

static tapml_status
make_sparse(struct delta_form *form, const void *base, const void *fine, unsigned char *body)
{
    float changes[PIECE], largest = 0;
    struct threshold threshold = {0, 0};
    unsigned char *bits = body + sizeof(float);
    unsigned char *values = bits + (form->count + 7) / 8;
    TAPML_TRY(find_threshold(form, base, fine, &threshold));
    memset(bits, 0, (form->count + 7) / 8);
    for (uint64_t begin = 0; begin < form->count; begin += PIECE) {
        changes_of(form, base, fine, begin, changes);
        for (uint64_t i = 0; i < piece_of(form, begin); ++i) {
            largest = fmaxf(largest, fabsf(changes[i]));
        }
    }
    form->kept = 0;
    for (uint64_t begin = 0; begin < form->count; begin += PIECE) {
        changes_of(form, base, fine, begin, changes);
        for (uint64_t i = 0; i < piece_of(form, begin); ++i) {
            const uint32_t size = magnitude(changes[i]);
            const int is_equal = size == threshold.bits && threshold.equal > 0;
            if (size == 0 || (size <= threshold.bits && !is_equal)) {
                continue;
            }
            threshold.equal -= (uint64_t)is_equal;
            bits[(begin + i) / 8] |= (unsigned char)(1U << ((begin + i) % 8));
            const uint16_t value = convert_f32_to_f16(changes[i] / largest);
            memcpy(values + form->kept++ * sizeof(value), &value, sizeof(value));
        }
    }
    memcpy(body, &largest, sizeof(largest));
    return TAPML_OK;
}

static struct sparse sparse_of(const struct delta_form *form, const unsigned char *body)
{
    struct sparse sparse = {.bits = body + sizeof(float),
                            .values = body + sizeof(float) + (form->count + 7) / 8};
    memcpy(&sparse.factor, body, sizeof(sparse.factor));
    return sparse;
}

static tapml_status check_sparse(const struct delta_form *form, const struct sparse *sparse)
{
    const uint64_t bytes = (form->count + 7) / 8;
    uint64_t kept = 0;
    for (uint64_t i = 0; i < bytes; ++i) {
        kept += (uint64_t)__builtin_popcount(sparse->bits[i]);
    }
    const int has_more = form->count % 8 != 0 && sparse->bits[bytes - 1] >> (form->count % 8) != 0;
    if (kept != form->kept || has_more || !isfinite(sparse->factor)) {
        return status_fail(
            TAPML_INVALID, "expected a finite factor and %llu changes, found %g and %llu%s",
            (unsigned long long)form->kept, (double)sparse->factor, (unsigned long long)kept,
            has_more ? ", some beyond the last value" : "");
    }
    return TAPML_OK;
}

static tapml_status apply_sparse(const struct delta_form *form,
                                 const void *base,
                                 const unsigned char *body,
                                 unsigned char *fine)
{
    double values[PIECE];
    struct sparse sparse = sparse_of(form, body);
    TAPML_TRY(check_sparse(form, &sparse));
    for (uint64_t begin = 0; begin < form->count; begin += PIECE) {
        const uint64_t count = piece_of(form, begin);
        convert_to_f64(form->dtype, at(form, base, begin), count, values);
        for (uint64_t i = 0; i < count; ++i) {
            if (sparse.bits[(begin + i) / 8] >> ((begin + i) % 8) & 1) {
                uint16_t value = 0;
                memcpy(&value, sparse.values, sizeof(value));
                sparse.values += sizeof(value);
                values[i] += (double)sparse.factor * (double)convert_f16_to_f32(value);
            }
        }
        convert_from_f64(form->dtype, values, count, fine + begin * dtype_bytes(form->dtype));
    }
    return TAPML_OK;
}

// -- All kinds ---------------------------------------------------------------------------------

tapml_status
delta_codec_make(struct delta_form *io_form, const void *base, const void *fine, void *out_body)
{
    if (io_form->kind == DELTA_XOR) {
        split(io_form, base, fine, out_body);
        return TAPML_OK;
    }
    ASSERT(io_form->kind == DELTA_SPARSE && io_form->kept <= io_form->count && io_form->count > 0);
    return make_sparse(io_form, base, fine, out_body);
}

tapml_status
delta_codec_apply(const struct delta_form *form, const void *base, const void *body, void *out_fine)
{
    switch (form->kind) {
    case DELTA_SPARSE:
        return apply_sparse(form, base, body, out_fine);
    case DELTA_24Q2:
    case DELTA_24Q4:
        return delta_levels_apply(form, base, body, out_fine);
    case DELTA_XOR:
    case DELTA_KINDS:
        break;
    }
    join(form, base, body, out_fine);
    return TAPML_OK;
}

tapml_status
delta_codec_pack(const void *body, uint64_t bytes, void **out_packed, uint64_t *out_bytes)
{
    const size_t bound = ZSTD_compressBound((size_t)bytes);
    void *packed = ZSTD_isError(bound) ? NULL : alloc_raw(bound);
    const size_t size = packed ? ZSTD_compress(packed, bound, body, (size_t)bytes, LEVEL) : 0;
    if (!packed || ZSTD_isError(size)) {
        alloc_free(packed);
        return status_no_memory(); // The bound is large enough.
    }
    *out_packed = packed;
    *out_bytes = size;
    return TAPML_OK;
}

tapml_status
delta_codec_unpack(const void *packed, uint64_t packed_bytes, void *out_body, uint64_t bytes)
{
    const size_t found = ZSTD_decompress(out_body, (size_t)bytes, packed, (size_t)packed_bytes);
    if (ZSTD_isError(found)) {
        return status_fail(TAPML_INVALID, "expected %llu bytes by zstd, found: %s",
                           (unsigned long long)bytes, ZSTD_getErrorName(found));
    }
    return found == bytes ? TAPML_OK
                          : status_fail(TAPML_INVALID, "expected %llu bytes by zstd, found %zu",
                                        (unsigned long long)bytes, found);
}
