// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/content.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/stages.h"
#include "store/list.h"
#include "store/row.h"
#include "store/store.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

#include <string.h>
#include <zstd.h>

// Compression that saves less than an eighth costs more than it brings.
enum { ZSTD_LEVEL = 1, WORTH_PARTS = 8, COMPRESS_BYTES_MIN = 128 };

// Of large contents pieces are compressed first: numbers of a model hardly ever save that much, and
// trying costs more than all else that is done with them.
enum {
    PIECES = 3,
    PIECE_BYTES = 1 << 10,
    PIECES_BYTES = PIECES * PIECE_BYTES,
    PIECES_BYTES_MIN = 4 * PIECES_BYTES
};

// A zstd block of 4 bytes stands for 128 KiB at most.
enum { EXPANSION_MAX = 1 << 15 };

// What a file can be made to hold by repeating and compressing has an end: an arena may be filled
// to `FILLED_BYTES_MAX`, and beyond it to so many times the size of the file.
enum { FILLED_TIMES_MAX = 1024, FILLED_BYTES_MAX = 256 << 20 };

static tapml_status bytes_of(const struct content *content, size_t *out_bytes)
{
    int64_t count = 0;
    TAPML_TRY(shape_count(content->shape, content->rank, &count));
    if (__builtin_mul_overflow((uint64_t)count, dtype_bytes(content->dtype), out_bytes)) {
        return status_fail(TAPML_INVALID, "a tensor of %lld elements is too large",
                           (long long)count);
    }
    return TAPML_OK;
}

tapml_status content_key(const struct content *content, const void *data, struct hash *out_key)
{
    size_t bytes = 0;
    TAPML_TRY(bytes_of(content, &bytes));
    struct text what;
    text_init(&what);
    text_append(&what, dtype_name(content->dtype));
    list_print(&what, content->shape, content->rank);
    tapml_status status = text_status(&what);
    struct hash_state *state = status == TAPML_OK ? hash_begin() : NULL;
    if (state) {
        hash_add(state, what.data, what.length);
        hash_add(state, data, bytes);
        *out_key = hash_end(state);
    } else {
        status = status_no_memory();
    }
    text_release(&what);
    return status;
}

static tapml_status is_kept(struct store *store, struct hash key, int *out_is_kept)
{
    struct row row;
    TAPML_TRY(row_begin(store, "SELECT 1 FROM tensor WHERE key = ?", "looking up a tensor", &row));
    row_put_hash(&row, key);
    TAPML_TRY(row_next(&row, out_is_kept));
    if (*out_is_kept) {
        row_end(&row);
    }
    return TAPML_OK;
}

// As ZSTD_compress, with the memory of the compression before it: for contents of a few KiB, making
// that takes longer than to compress.
static size_t
compress(struct store *store, void *packed, size_t packed_bytes, const void *data, size_t bytes)
{
    struct store_memory *memory = store_memory(store);
    if (!memory->compressor) {
        memory->compressor = ZSTD_createCCtx();
    }
    return memory->compressor ? ZSTD_compressCCtx(memory->compressor, packed, packed_bytes, data,
                                                  bytes, ZSTD_LEVEL)
                              : ZSTD_compress(packed, packed_bytes, data, bytes, ZSTD_LEVEL);
}

// Whether pieces from begin, middle and end save enough: one behind the other, since to begin a
// compression takes as long as to compress a few KiB.
static int is_worth_packing(struct store *store, const unsigned char *data, size_t bytes)
{
    unsigned char pieces[PIECES_BYTES];
    unsigned char packed[ZSTD_COMPRESSBOUND(PIECES_BYTES)];
    if (bytes < PIECES_BYTES_MIN) {
        return 1;
    }
    for (size_t i = 0; i < PIECES; i++) {
        const size_t at = (bytes - PIECE_BYTES) / (PIECES - 1) * i;
        memcpy(pieces + i * PIECE_BYTES, data + at, PIECE_BYTES);
    }
    const size_t size = compress(store, packed, sizeof(packed), pieces, sizeof(pieces));
    return size <= PIECES_BYTES - PIECES_BYTES / WORTH_PARTS; // An error is more than that.
}

// The bytes as they are written: `*out_packed` is NULL where compression does not help, and is
// freed by alloc_free.
static size_t pack(struct store *store, const void *data, size_t bytes, void **out_packed)
{
    *out_packed = NULL;
    if (bytes < COMPRESS_BYTES_MIN || !is_worth_packing(store, data, bytes)) {
        return bytes;
    }
    const size_t bound = bytes - bytes / WORTH_PARTS;
    void *packed = alloc_raw(bound);
    const size_t size = packed ? compress(store, packed, bound, data, bytes) : 0;
    if (!packed || ZSTD_isError(size)) { // Most often: the bound is too small.
        alloc_free(packed);
        return bytes;
    }
    *out_packed = packed;
    return size;
}

static tapml_status insert(struct store *store,
                           const struct content *content,
                           struct hash key,
                           const void *data,
                           size_t bytes)
{
    struct row row;
    struct text shape;
    text_init(&shape);
    list_print(&shape, content->shape, content->rank);
    void *packed = NULL;
    const size_t size = pack(store, data, bytes, &packed);
    tapml_status status = text_status(&shape);
    if (status == TAPML_OK) {
        status =
            row_begin(store, "INSERT INTO tensor VALUES (?, ?, ?, ?, ?)", "writing a tensor", &row);
    }
    if (status == TAPML_OK) {
        row_put_hash(&row, key);
        row_put_text(&row, dtype_name(content->dtype));
        row_put_text(&row, shape.data);
        row_put_text(&row, packed ? "zstd" : "raw");
        row_put_bytes(&row, packed ? packed : data, size);
        status = row_run(&row);
    }
    alloc_free(packed);
    text_release(&shape);
    return status;
}

tapml_status content_put(struct store *store,
                         const struct content *content,
                         const void *data,
                         struct hash *out_key)
{
    struct hash key;
    int kept = 0;
    size_t bytes = 0;
    TAPML_TRY(bytes_of(content, &bytes));
    TAPML_TRY(content_key(content, data, &key));
    TAPML_TRY(is_kept(store, key, &kept));
    if (!kept) {
        TAPML_TRY(insert(store, content, key, data, bytes));
    }
    *out_key = key;
    return TAPML_OK;
}

static tapml_status damaged(struct hash key, const char *what)
{
    char text[HASH_TEXT];
    hash_text(key, text);
    return status_fail(TAPML_INVALID, "tensor '%s' is damaged: %s", text, what);
}

static tapml_status check_filled(struct store *store, const struct arena *arena, size_t bytes)
{
    struct row row;
    int has = 0;
    const uint64_t filled = (uint64_t)arena_size(arena) + bytes;
    if (filled <= FILLED_BYTES_MAX) {
        return TAPML_OK;
    }
    TAPML_TRY(row_begin(store,
                        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
                        "asking for its size", &row));
    TAPML_TRY(row_next(&row, &has));
    const uint64_t file_bytes = has ? (uint64_t)row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return filled / FILLED_TIMES_MAX <= file_bytes
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "its contents would take %llu bytes, too many for a file of %llu",
                             (unsigned long long)filled, (unsigned long long)file_bytes);
}

// The bytes of the row as they were before `pack`, in `arena`.
static tapml_status
unpack(struct row *row, struct hash key, size_t bytes, struct arena *arena, void **out_data)
{
    uint64_t size = 0;
    const void *stored = row_bytes(row, 3, &size);
    const int is_raw = strcmp(row_text(row, 2), "raw") == 0;

    // What the stored bytes can hold bounds the memory that a hostile shape asks for.
    if (is_raw ? size != bytes
               : bytes / EXPANSION_MAX > size || ZSTD_getFrameContentSize(stored, size) != bytes) {
        return damaged(key, "its bytes are not those of its shape");
    }
    TAPML_TRY(check_filled(row->store, arena, bytes));
    void *data = arena_new(arena, bytes);
    if (!data) {
        return status_no_memory();
    }
    if (is_raw && bytes > 0) {
        memcpy(data, stored, bytes);
    } else if (!is_raw && ZSTD_decompress(data, bytes, stored, size) != bytes) {
        return damaged(key, "its bytes do not decompress");
    }
    *out_data = data;
    return TAPML_OK;
}

static tapml_status read_row(struct row *row,
                             struct hash key,
                             const struct content *content,
                             struct arena *arena,
                             const void **out_data)
{
    int64_t shape[SHAPE_RANK_MAX];
    size_t rank = 0;
    size_t bytes = 0;
    TAPML_TRY(list_parse(row_text(row, 1), shape, SHAPE_RANK_MAX, &rank));
    if (dtype_find(row_text(row, 0)) != content->dtype || rank != content->rank ||
        (rank > 0 && memcmp(shape, content->shape, rank * sizeof(*shape)) != 0)) {
        return damaged(key, "it has another type or shape than its argument");
    }
    TAPML_TRY(bytes_of(content, &bytes));
    void *data = NULL;
    TAPML_TRY(unpack(row, key, bytes, arena, &data));
    struct hash computed;
    TAPML_TRY(content_key(content, data, &computed));
    if (!hash_equal(key, computed)) {
        return damaged(key, "its bytes have another hash");
    }
    *out_data = data;
    return TAPML_OK;
}

static tapml_status decode_row(struct row *row,
                               struct hash key,
                               const struct content *content,
                               struct arena *arena,
                               const void **out_data)
{
    size_t bytes = 0;
    const enum stages_kind before = stages_enter(STAGES_DECODE);
    tapml_status status = read_row(row, key, content, arena, out_data);
    status = status == TAPML_OK ? bytes_of(content, &bytes) : status;
    stages_return(before, bytes);
    return status;
}

tapml_status content_get(struct store *store,
                         struct hash key,
                         const struct content *content,
                         struct arena *arena,
                         const void **out_data)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, "SELECT dtype, shape, encoding, bytes FROM tensor WHERE key = ?",
                        "reading a tensor", &row));
    row_put_hash(&row, key);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        char text[HASH_TEXT];
        hash_text(key, text);
        return status_fail(TAPML_NOT_FOUND, "tensor '%s' is not in the store", text);
    }
    const tapml_status status = decode_row(&row, key, content, arena, out_data);
    row_end(&row);
    return status;
}
