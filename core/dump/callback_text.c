// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/callback_text.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "dump/dump.h"
#include "tensor/dtype.h"

#include <stdlib.h>
#include <string.h>

enum { AXES = 4, LINE_MAX_BYTES = 4096, WORD = 64, SOURCES_MAX = 2, KEY_MAX = 1024 };

struct printed_block {
    struct dump_tensor tensor;
    int64_t extents[AXES]; // The fastest first.
    int64_t at[AXES];      // Of the next value.
    int depth;             // Of brackets that are open over rows.
    int64_t *indices;
    double *values;
    size_t count, index_capacity, value_capacity;
    struct dump_printed printed;
    int is_open;
};

struct text_reader {
    struct dump *dump;
    const char *name;
    size_t line;
    struct printed_block block;
};

static tapml_status refuse(const struct text_reader *reader, const char *what)
{
    return status_fail(TAPML_INVALID, "%s:%zu: %s", reader->name, reader->line, what);
}

// -- The end of a block ------------------------------------------------------------------------

static void *copy(struct arena *arena, const void *items, size_t count, size_t item_size)
{
    void *copied = arena_array(arena, count + 1, item_size);

    if (copied != NULL && count > 0) {
        memcpy(copied, items, count * item_size);
    }
    return copied;
}

static tapml_status finish_block(struct text_reader *reader)
{
    struct printed_block *block = &reader->block;
    struct arena *arena = reader->dump->arena;

    if (!block->is_open) {
        return TAPML_OK;
    }
    block->is_open = 0;
    struct dump_printed *printed = copy(arena, &block->printed, 1, sizeof(*printed));

    if (printed == NULL) {
        return status_no_memory();
    }
    printed->count = block->count;
    printed->indices = copy(arena, block->indices, block->count, sizeof(*block->indices));
    printed->values = copy(arena, block->values, block->count, sizeof(*block->values));
    block->tensor.printed = printed;
    return printed->indices != NULL && printed->values != NULL
               ? dump_add(reader->dump, &block->tensor)
               : status_no_memory();
}

// -- The line of a tensor ----------------------------------------------------------------------

// "64, 19, 1, 1}"
static int read_extents(const char *at, int64_t extents[AXES])
{
    for (int i = 0; i < AXES; i++) {
        char *end = NULL;

        extents[i] = strtoll(at, &end, 10);
        if (end == at || extents[i] < 0 || *end != (i + 1 < AXES ? ',' : '}')) {
            return 0;
        }
        at = end + 1;
    }
    return 1;
}

static const char *take(struct arena *arena, const char *from, const char *to)
{
    while (from < to && *from == ' ') {
        from++;
    }
    while (to > from && to[-1] == ' ') {
        to--;
    }
    return arena_format(arena, "%.*s", (int)(to - from), from);
}

// "embd{64, 19, 1, 1}, weight{64, 1, 1, 1}"
static tapml_status
read_sources(struct arena *arena, const char *from, const char *to, struct dump_tensor *tensor)
{
    const char **sources = arena_array(arena, SOURCES_MAX, sizeof(*sources));

    if (sources == NULL) {
        return status_no_memory();
    }
    while (tensor->source_count < SOURCES_MAX) {
        const char *brace = memchr(from, '{', (size_t)(to - from));

        if (brace == NULL) {
            break;
        }
        sources[tensor->source_count] = take(arena, from, brace);
        if (sources[tensor->source_count] == NULL) {
            return status_no_memory();
        }
        tensor->source_count++;
        const char *end = memchr(brace, '}', (size_t)(to - brace));

        from = end != NULL ? end + 1 : to;
        from += from < to && *from == ',';
    }
    tensor->sources = sources;
    return TAPML_OK;
}

// Names that count the nodes of a graph change with the graph.
static int is_counted(const char *name)
{
    return (strncmp(name, "node_", 5) == 0 || strncmp(name, "leaf_", 5) == 0) &&
           strspn(name + 5, "0123456789") == strlen(name + 5);
}

// Such a tensor is known by what it is computed from; so is a view without a name.
static tapml_status make_key(struct arena *arena, struct dump_tensor *tensor)
{
    char key[KEY_MAX];
    size_t used = 0;

    tensor->key = tensor->name;
    if (!is_counted(tensor->name) && tensor->name[0] != '(') {
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < tensor->source_count; i++) {
        const int is_known = !is_counted(tensor->sources[i]);
        const size_t length = is_known ? strlen(tensor->sources[i]) : 1;

        if (used + length + 2 < sizeof(key)) {
            memcpy(key + used, is_known ? tensor->sources[i] : "*", length);
            key[used + length] = ' ';
            used += length + 1;
        }
    }
    key[used] = '\0';
    tensor->key = arena_text(arena, key);
    return tensor->key != NULL ? TAPML_OK : status_no_memory();
}

static void settle_shape(struct printed_block *block)
{
    struct dump_tensor *tensor = &block->tensor;
    int axes = AXES;

    while (axes > 1 && block->extents[axes - 1] == 1) {
        axes--;
    }
    tensor->rank = (uint32_t)axes;
    for (int i = 0; i < axes; i++) {
        tensor->shape[i] = block->extents[axes - 1 - i];
    }
}

// What the parts of a line are; NULL: it is no line of a tensor.
struct header {
    const char *name, *name_end, *type, *type_end, *op, *op_end, *sources, *sources_end, *extents;
};

static int split_header(const char *line, struct header *out_header)
{
    const char *begin = strstr(line, "_cb_eval:");

    begin = begin != NULL ? begin + strlen("_cb_eval:") : strstr(line, "ggml_debug:");
    if (begin == NULL) {
        return 0;
    }
    begin += strncmp(begin, "ggml_debug:", 11) == 0 ? 11 : 0;
    out_header->name = begin;
    out_header->name_end = strstr(begin, " = (");
    if (out_header->name_end == NULL) {
        return 0;
    }
    out_header->type = out_header->name_end + strlen(" = (");
    out_header->type_end = strchr(out_header->type, ')');
    if (out_header->type_end == NULL) {
        return 0;
    }
    out_header->op = out_header->type_end + 1;
    out_header->op_end = strchr(out_header->op, '(');
    if (out_header->op_end == NULL) {
        return 0;
    }
    out_header->sources = out_header->op_end + 1;
    out_header->sources_end = strstr(out_header->sources, ") = {");
    if (out_header->sources_end == NULL) {
        return 0;
    }
    out_header->extents = out_header->sources_end + strlen(") = {");
    return 1;
}

static tapml_status read_header(struct text_reader *reader, const struct header *header)
{
    struct printed_block *block = &reader->block;
    struct arena *arena = reader->dump->arena;
    const char *type = NULL;

    TAPML_TRY(finish_block(reader));
    block->tensor = (struct dump_tensor){0};
    block->printed = (struct dump_printed){0};
    block->count = 0;
    block->depth = 0;
    memset(block->at, 0, sizeof(block->at));
    if (!read_extents(header->extents, block->extents)) {
        return refuse(reader, "expected four extents at its end");
    }
    block->tensor.name = take(arena, header->name, header->name_end);
    block->tensor.op = take(arena, header->op, header->op_end);
    type = take(arena, header->type, header->type_end);
    if (block->tensor.name == NULL || block->tensor.op == NULL || type == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(read_sources(arena, header->sources, header->sources_end, &block->tensor));
    TAPML_TRY(make_key(arena, &block->tensor));
    settle_shape(block);
    block->tensor.dtype = dtype_find(type) != 0 ? dtype_find(type) : TAPML_F32;
    block->is_open = 1;
    return TAPML_OK;
}

// -- Values ------------------------------------------------------------------------------------

// The width of a number's last digit.
static double unit_of(const char *word, size_t length)
{
    const char *point = memchr(word, '.', length);
    double unit = 1;

    for (const char *at = point != NULL ? point + 1 : word + length;
         at < word + length && *at >= '0' && *at <= '9'; at++) {
        unit /= 10;
    }
    return unit;
}

// As many are shown behind what is left out as before it.
static tapml_status skip(struct text_reader *reader, int axis)
{
    struct printed_block *block = &reader->block;

    if (block->at[axis] > block->extents[axis] / 2) {
        return refuse(reader, "nothing can be left out here");
    }
    block->at[axis] = block->extents[axis] - block->at[axis];
    return TAPML_OK;
}

static tapml_status add_value(struct text_reader *reader, double value)
{
    struct printed_block *block = &reader->block;
    void *indices = block->indices, *values = block->values;
    int64_t index = 0;

    for (int i = AXES - 1; i >= 0; i--) {
        if (block->at[i] >= block->extents[i] ||
            __builtin_mul_overflow(index, block->extents[i], &index) ||
            __builtin_add_overflow(index, block->at[i], &index)) {
            return refuse(reader, "there are more values than its extents say");
        }
    }
    if (!alloc_grow(&indices, &block->index_capacity, block->count, sizeof(*block->indices))) {
        return status_no_memory();
    }
    block->indices = indices;
    if (!alloc_grow(&values, &block->value_capacity, block->count, sizeof(*block->values))) {
        return status_no_memory();
    }
    block->values = values;
    block->indices[block->count] = index;
    block->values[block->count++] = value;
    block->at[0]++;
    return TAPML_OK;
}

// "[ 0.1, 0.2,   ...,  0.3 ],"
static tapml_status read_row(struct text_reader *reader, const char *at)
{
    struct printed_block *block = &reader->block;

    block->at[0] = 0;
    while (*at != '\0' && *at != ']') {
        at += strspn(at, " ,[");
        char *end = NULL;

        if (strncmp(at, "...", 3) == 0) {
            TAPML_TRY(skip(reader, 0));
            at += 3;
            continue;
        }
        const double value = strtod(at, &end);

        if (end == at) {
            break; // The closing bracket, or something else.
        }
        const double unit = unit_of(at, (size_t)(end - at));

        block->printed.unit =
            block->count == 0 || unit < block->printed.unit ? unit : block->printed.unit;
        TAPML_TRY(add_value(reader, value));
        at = end;
    }
    block->at[1]++;
    return TAPML_OK;
}

static void close_bracket(struct printed_block *block)
{
    if (block->depth > 0) {
        block->depth--;
        block->at[3 - block->depth]++; // Of planes, or of what holds them.
        block->at[2 - block->depth] = 0;
    }
}

static tapml_status read_values(struct text_reader *reader, const char *at)
{
    struct printed_block *block = &reader->block;

    at += strspn(at, " ");
    if (strncmp(at, "sum = ", 6) == 0) {
        char *end = NULL;
        const double sum = strtod(at + 6, &end);

        // One for each step of the slowest axis, of all that was before: the last is the sum.
        block->printed.sum = end != at + 6 ? sum : block->printed.sum;
        block->printed.has_sum |= end != at + 6;
        block->printed.sum_unit = unit_of(at + 6, (size_t)(end - at - 6));
        return TAPML_OK;
    }
    if (strncmp(at, "...", 3) == 0) {
        return block->depth > 0 && block->depth <= 2 ? skip(reader, 3 - block->depth) : TAPML_OK;
    }
    if (*at == '[' && at[1 + strspn(at + 1, " ")] == '\0') {
        block->depth += block->depth < 2;
    } else if (*at == '[') {
        return read_row(reader, at);
    } else if (*at == ']') {
        close_bracket(block);
    }
    return TAPML_OK;
}

// -- Lines -------------------------------------------------------------------------------------

static tapml_status read_lines(struct text_reader *reader, const char *text, size_t size)
{
    char line[LINE_MAX_BYTES];

    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end != NULL ? (size_t)(end - text) - at : size - at;
        struct header header;

        reader->line++;
        if (length < sizeof(line)) { // A longer one is none of these.
            memcpy(line, text + at, length);
            line[length] = '\0';
            if (split_header(line, &header)) {
                TAPML_TRY(read_header(reader, &header));
            } else if (reader->block.is_open) {
                TAPML_TRY(read_values(reader, line));
            }
        }
        at += length + 1;
    }
    return finish_block(reader);
}

tapml_status callback_text_add(struct dump *dump, const char *name, const char *text, size_t size)
{
    struct text_reader reader = {.dump = dump, .name = name};
    const tapml_status status = read_lines(&reader, text, size);

    alloc_free(reader.block.indices);
    alloc_free(reader.block.values);
    return status;
}
