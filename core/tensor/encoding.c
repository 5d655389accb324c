// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/encoding.h"

#include "base/assert.h"
#include "base/text.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tiles.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { WORDS_MAX = 64 };

// -- What plugins bring ------------------------------------------------------------------------

// Changed while no other thread reads it.
static struct {
    struct codec codec;
    unsigned users;
} added[ENCODING_ADDED_MAX];
static size_t added_count;

static const struct codec *find_added(const char *id)
{
    for (size_t i = 0; i < added_count; i++) {
        if (strcmp(added[i].codec.encoding->id, id) == 0) {
            return &added[i].codec;
        }
    }
    return NULL;
}

static const struct codec *find_added_word(const char *word)
{
    for (size_t i = 0; i < added_count; i++) {
        if (strcmp(added[i].codec.word, word) == 0) {
            return &added[i].codec;
        }
    }
    return NULL;
}

static size_t index_of(const tapml_encoding *encoding)
{
    size_t index = 0;

    while (index < added_count && added[index].codec.encoding != encoding) {
        index++;
    }
    return index;
}

tapml_status encoding_add(const struct codec *codec)
{
    const size_t index = index_of(codec->encoding);

    if (index < added_count) {
        added[index].users++;
        return TAPML_OK;
    }
    if (encoding_find(codec->encoding->id) != NULL || encoding_find_word(codec->word) != NULL) {
        return status_fail(TAPML_INVALID, "there is another encoding '%s' or '%s'",
                           codec->encoding->id, codec->word);
    }
    if (added_count == ENCODING_ADDED_MAX) {
        return status_fail(TAPML_UNAVAILABLE, "there are %d encodings of plugins, and no more fit",
                           ENCODING_ADDED_MAX);
    }
    added[added_count].codec = *codec;
    added[added_count++].users = 1;
    return TAPML_OK;
}

void encoding_remove(const tapml_encoding *encoding)
{
    const size_t index = index_of(encoding);

    ASSERT(index < added_count);
    if (--added[index].users == 0) {
        memmove(&added[index], &added[index + 1], (--added_count - index) * sizeof(added[0]));
    }
}

int encoding_is_added(const tapml_encoding *encoding)
{
    return index_of(encoding) < added_count;
}

// -- All of them -------------------------------------------------------------------------------

static const struct codec *codec_of(const tapml_encoding *encoding)
{
    const struct codec *own = codec_find(encoding->id);
    const struct codec *codec = own != NULL ? own : find_added(encoding->id);

    ASSERT(codec != NULL && codec->encoding == encoding);
    return codec;
}

static const tapml_encoding *encoding_of(const struct codec *codec)
{
    return codec != NULL ? codec->encoding : NULL;
}

const tapml_encoding *encoding_find(const char *id)
{
    const struct codec_tiles *tiles = codec_tiles_find(id);
    const struct codec *codec = codec_find(id);

    return tiles != NULL ? tiles->encoding : encoding_of(codec != NULL ? codec : find_added(id));
}

const tapml_encoding *encoding_find_word(const char *word)
{
    const struct codec *codec = codec_find_word(word);

    return encoding_of(codec != NULL ? codec : find_added_word(word));
}

const char *encoding_name(const tapml_encoding *encoding, uint32_t dtype)
{
    return encoding ? encoding->id : dtype_name(dtype);
}

const char *encoding_word_of(const tapml_encoding *encoding)
{
    size_t i = 0;

    while (encoding_word(i) != NULL && encoding_find_word(encoding_word(i)) != encoding) {
        i++;
    }
    return encoding_word(i) != NULL ? encoding_word(i) : encoding->id;
}

const char *encoding_word(size_t index)
{
    const struct codec *codec = NULL;

    for (uint32_t i = 0; (codec = codec_at(i)) != NULL; i++) {
        if (codec->word != NULL && index-- == 0) {
            return codec->word;
        }
    }
    return index < added_count ? added[index].codec.word : NULL;
}

tapml_status encoding_read(const char *word, const tapml_encoding **out_encoding)
{
    const char *words[WORDS_MAX] = {"stored"};
    struct text list;
    size_t count = 1;

    *out_encoding = encoding_find_word(word);
    if (*out_encoding != NULL || strcmp(word, words[0]) == 0) {
        return TAPML_OK;
    }
    text_init(&list);
    for (const char *next = NULL; (next = encoding_word(count - 1)) != NULL; count++) {
        ASSERT(count + 1 < WORDS_MAX);
        words[count] = next;
        text_format(&list, ", %s", next);
    }
    tapml_status status = text_status(&list);

    if (status == TAPML_OK) {
        const char *near = text_nearest(word, words);

        status = status_fail(TAPML_INVALID,
                             "expected stored%s, or the word of a plugin that is loaded, found "
                             "'%.60s'%s%s%s",
                             list.data, word, near != NULL ? ", did you mean '" : "",
                             near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    text_release(&list);
    return status;
}

struct encoding_form
encoding_on_device(const tapml_encoding *encoding, uint32_t dtype, unsigned takes)
{
    struct encoding_form form = {encoding, dtype};

    if (tiles_are_in(encoding)) {
        if ((takes & ENCODING_TAKES_TILES) == 0) {
            form = (struct encoding_form){NULL, tiles_dtype(encoding)};
        }
    } else if (encoding != NULL && encoding_is_added(encoding)) {
        form = (struct encoding_form){NULL, TAPML_F32};
    } else if (encoding != NULL && (takes & ENCODING_TAKES_BLOCKS) == 0) {
        const struct codec *spread = codec_of(encoding)->spread;

        form.encoding = spread != NULL ? spread->encoding : encoding;
    }
    return form;
}

uint64_t encoding_align(const tapml_encoding *encoding)
{
    uint64_t align = 1;

    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        align = encoding->spans[i]->align > align ? encoding->spans[i]->align : align;
    }
    return align;
}

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

uint64_t encoding_span_begin(const tapml_encoding *encoding, uint64_t block_count, uint32_t index)
{
    uint64_t begin = 0;
    for (uint32_t i = 0; i < index; i++) {
        begin += block_count * encoding->spans[i]->block_bytes;
        if (i + 1 < encoding->n_spans) {
            begin = round_up(begin, encoding->spans[i + 1]->align);
        }
    }
    return begin;
}

tapml_status encoding_bytes(const tapml_encoding *encoding,
                            uint32_t dtype,
                            const int64_t *shape,
                            uint32_t rank,
                            uint64_t *out_bytes)
{
    // Beyond it neither the bytes of elements nor those of blocks, which are fewer, fit.
    const int64_t most = INT64_MAX / (int64_t)sizeof(uint64_t);
    int64_t count = 0;
    if (tiles_are_in(encoding)) {
        return tiles_bytes(encoding, shape, rank, out_bytes);
    }
    TAPML_TRY(shape_count(shape, rank, &count));
    if (count > most) {
        return status_fail(TAPML_INVALID, "a tensor of %lld values is too large", (long long)count);
    }
    if (!encoding) {
        *out_bytes = (uint64_t)count * dtype_bytes(dtype);
        return TAPML_OK;
    }
    if (rank == 0 || shape[rank - 1] % (int64_t)encoding->block_values != 0) {
        return status_fail(
            TAPML_INVALID, "encoding '%s' has blocks of %u values, found a row of %lld",
            encoding->id, encoding->block_values, (long long)(rank > 0 ? shape[rank - 1] : 1));
    }
    const uint64_t blocks = (uint64_t)count / encoding->block_values;
    *out_bytes = round_up(encoding_span_begin(encoding, blocks, encoding->n_spans),
                          encoding_align(encoding));
    return TAPML_OK;
}

void encoding_byte_shape(const tapml_encoding *encoding, int64_t *shape, uint32_t rank)
{
    ASSERT(encoding->n_spans == 1 && rank > 0);
    shape[rank - 1] = shape[rank - 1] / (int64_t)encoding->block_values *
                      (int64_t)encoding->spans[0]->block_bytes;
}

double encoding_loss_relative(const struct encoding_loss *loss)
{
    return loss->value_squares > 0 ? sqrt(loss->error_squares / loss->value_squares) : 0;
}

// -- Blocks ------------------------------------------------------------------------------------

// Where the spans of a tensor lie for one block.
struct encoding_block {
    unsigned char *spans[CODEC_SPANS_MAX];
};

static struct encoding_block
block_of(const tapml_encoding *encoding, void *tensor, uint64_t block_count, uint64_t index)
{
    struct encoding_block block = {{NULL}};

    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        block.spans[i] = (unsigned char *)tensor + encoding_span_begin(encoding, block_count, i) +
                         index * encoding->spans[i]->block_bytes;
    }
    return block;
}

static void decode(const struct codec *codec, const struct encoding_block *block, float *out_values)
{
    codec_decode(codec, (const unsigned char *const *)block->spans, out_values);
}

static void measure(const double *values,
                    const struct codec *codec,
                    const struct encoding_block *block,
                    struct encoding_loss *loss)
{
    float encoded[ENCODING_BLOCK_MAX];

    decode(codec, block, encoded);
    for (uint32_t i = 0; i < codec->encoding->block_values; i++) {
        const double error = fabs((double)encoded[i] - values[i]);

        loss->error_squares += error * error;
        loss->value_squares += values[i] * values[i];
        loss->error_max = error > loss->error_max ? error : loss->error_max;
    }
}

// The largest magnitude of a block can be scaled, and there is no NaN.
static int is_in_range(const double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(fabs(values[i]) < CODEC_VALUE_LIMIT)) {
            return 0;
        }
    }
    return 1;
}

tapml_status encoding_encode(const tapml_encoding *encoding,
                             uint32_t dtype,
                             const void *source,
                             uint64_t block_count,
                             void *out_target,
                             struct encoding_loss *loss)
{
    const struct codec *codec = codec_of(encoding);
    const uint32_t count = encoding->block_values;
    const unsigned char *bytes = source;
    double values[ENCODING_BLOCK_MAX];

    for (uint64_t i = 0; i < block_count; i++) {
        const struct encoding_block block = block_of(encoding, out_target, block_count, i);

        convert_to_f64(dtype, bytes + i * count * dtype_bytes(dtype), count, values);
        if (!codec->takes_all && !is_in_range(values, count)) {
            return status_fail(TAPML_INVALID,
                               "a value among %" PRIu64 " .. %" PRIu64
                               " is not below %.0f, which encoding '%s' cannot hold",
                               i * count, i * count + count - 1, CODEC_VALUE_LIMIT, encoding->id);
        }
        codec->write(codec, values, block.spans);
        measure(values, codec, &block, loss);
    }
    return TAPML_OK;
}

void encoding_decode(const tapml_encoding *encoding,
                     const void *source,
                     uint64_t block_count,
                     uint64_t block,
                     float out_values[ENCODING_BLOCK_MAX])
{
    // One struct for both ways; here it is only read.
    const struct encoding_block place =
        block_of(encoding, (void *)(uintptr_t)source, block_count, block);

    decode(codec_of(encoding), &place, out_values);
}

tapml_status encoding_spread(const tapml_encoding *from,
                             const void *source,
                             uint64_t block_count,
                             void *out_target)
{
    const struct codec *codec = codec_of(from);

    ASSERT(codec->spread != NULL);
    for (uint64_t i = 0; i < block_count; i++) {
        const struct encoding_block block =
            block_of(from, (void *)(uintptr_t)source, block_count, i);
        const struct encoding_block spread =
            block_of(codec->spread->encoding, out_target, block_count, i);

        if (!codec->spread_block(codec, (const unsigned char *const *)block.spans, spread.spans)) {
            return status_fail(TAPML_INVALID,
                               "block %" PRIu64 " of encoding '%s' has a scale that is too large "
                               "for encoding '%s'",
                               i, from->id, codec->spread->encoding->id);
        }
    }
    return TAPML_OK;
}

void encoding_slice(const tapml_encoding *encoding,
                    const void *source,
                    uint64_t block_count,
                    uint64_t first,
                    uint64_t count,
                    void *out_target)
{
    for (uint32_t i = 0; i < encoding->n_spans; i++) {
        const uint64_t block_bytes = encoding->spans[i]->block_bytes;
        const unsigned char *span =
            (const unsigned char *)source + encoding_span_begin(encoding, block_count, i);
        memcpy((unsigned char *)out_target + encoding_span_begin(encoding, count, i),
               span + first * block_bytes, count * block_bytes);
    }
}
