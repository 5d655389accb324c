// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/argument.h"

#include "base/arena.h"
#include "store/case.h"
#include "store/content.h"
#include "store/list.h"
#include "store/row.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"

#include <math.h>
#include <string.h>

struct word {
    const char *text;
    uint32_t code;
};

static const struct word KINDS[] = {
    {"none", TAPML_V_NONE},       {"in", TAPML_P_TENSOR_IN},
    {"out", TAPML_P_TENSOR_OUT},  {"inout", TAPML_P_TENSOR_INOUT},
    {"list", TAPML_P_TENSORS_IN}, {"i64", TAPML_P_I64},
    {"f64", TAPML_P_F64},
};

static const struct word EFFECTS[] = {
    {"optional", TAPML_E_OPTIONAL},
    {"weight", TAPML_E_WEIGHT},
    {"state-read", TAPML_E_STATE_READ},
    {"state-write", TAPML_E_STATE_WRITE},
};

enum {
    KIND_COUNT = (int)(sizeof(KINDS) / sizeof(*KINDS)),
    EFFECT_COUNT = (int)(sizeof(EFFECTS) / sizeof(*EFFECTS))
};

static int is_tensor(const struct case_argument *argument)
{
    return argument->kind != TAPML_V_NONE && argument->kind != TAPML_P_I64 &&
           argument->kind != TAPML_P_F64;
}

static const char *kind_text(uint32_t kind)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        if (KINDS[i].code == kind) {
            return KINDS[i].text;
        }
    }
    return "?";
}

static tapml_status kind_find(const char *text, uint32_t *out_kind)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        if (strcmp(KINDS[i].text, text) == 0) {
            *out_kind = KINDS[i].code;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID, "unknown kind '%.30s'", text);
}

static void effects_print(struct text *out, uint32_t effects)
{
    for (int i = 0; i < EFFECT_COUNT; i++) {
        if ((effects & EFFECTS[i].code) != 0) {
            text_format(out, "%s%s", out->length > 0 ? " " : "", EFFECTS[i].text);
        }
    }
}

static tapml_status effects_parse(const char *text, uint32_t *out_effects)
{
    uint32_t effects = 0;
    const char *at = text;
    while (*at != 0) {
        const size_t length = strcspn(at, " ");
        const uint32_t before = effects;
        for (int i = 0; i < EFFECT_COUNT; i++) {
            if (strlen(EFFECTS[i].text) == length && memcmp(EFFECTS[i].text, at, length) == 0) {
                effects |= EFFECTS[i].code;
            }
        }
        if (effects == before) {
            return status_fail(TAPML_INVALID, "unknown effect in '%.60s'", text);
        }
        at += length + (at[length] == ' ');
    }
    *out_effects = effects;
    return TAPML_OK;
}

// Contents that are kept whole. Those of a weight are its base value, which has no shape of its
// own.
static struct content whole_content(const struct case_argument *argument, int64_t *shape)
{
    if ((argument->effects & TAPML_E_WEIGHT) != 0) {
        shape[0] = (int64_t)(argument->base_bytes / dtype_bytes(argument->dtype));
        return (struct content){.dtype = argument->dtype, .rank = 1, .shape = shape};
    }
    case_content_shape(argument, shape);
    return (struct content){.dtype = argument->dtype, .rank = argument->rank, .shape = shape};
}

static void put_tensor_columns(struct row *row,
                               const struct case_argument *argument,
                               const char *shape,
                               const char *stride)
{
    row_put_text(row, encoding_name(argument->encoding, argument->dtype));
    row_put_text(row, shape);
    row_put_text(row, stride);
    row_put_i64(row, (int64_t)argument->offset_bytes);
    row_put_i64(row, (int64_t)argument->base_bytes);
    row_put_text(row, argument->origin);
    if (case_is_state(argument)) {
        row_put_i64(row, argument->region_begin);
        row_put_i64(row, argument->region_end);
        row_put_i64(row, argument->kept_begin);
        row_put_i64(row, argument->kept_end);
    } else {
        row->at += 4;
    }
}

static void put_key(struct row *row, const struct hash *key)
{
    if (key) {
        row_put_hash(row, *key);
    } else {
        row_put_null(row);
    }
}

struct line {
    int64_t case_id;
    uint32_t position;
    const struct case_argument *argument;
    const struct hash *before, *after; // NULL where there is none.
    struct text effects, shape, stride;
};

static tapml_status insert_line(struct store *store, const struct line *line)
{
    const struct case_argument *argument = line->argument;
    struct row row;
    TAPML_TRY(row_begin(store,
                        "INSERT INTO argument"
                        " (case_id, position, param, kind, effects, i, d, dtype, shape, stride,"
                        " offset_bytes, base_bytes, origin, region_begin, region_end, kept_begin,"
                        " kept_end, before, after)"
                        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                        "writing an argument", &row));
    row_put_i64(&row, line->case_id);
    row_put_i64(&row, line->position);
    row_put_text(&row, argument->name);
    row_put_text(&row, kind_text(argument->kind));
    row_put_text(&row, line->effects.data);
    if (argument->kind == TAPML_P_I64) {
        row_put_i64(&row, argument->i);
    } else {
        row_put_null(&row);
    }
    row_put_f64(&row, argument->kind == TAPML_P_F64 ? argument->d : NAN);
    if (is_tensor(argument)) {
        put_tensor_columns(&row, argument, line->shape.data, line->stride.data);
    } else {
        row.at += 10;
    }
    put_key(&row, line->before);
    put_key(&row, line->after);
    return row_run(&row);
}

static tapml_status write_line(struct store *store, struct line *line)
{
    const struct case_argument *argument = line->argument;
    text_init(&line->effects);
    text_init(&line->shape);
    text_init(&line->stride);
    effects_print(&line->effects, argument->effects);
    list_print(&line->shape, argument->shape, is_tensor(argument) ? argument->rank : 0);
    list_print(&line->stride, argument->stride, is_tensor(argument) ? argument->rank : 0);
    tapml_status status = text_status(&line->effects);
    status = status == TAPML_OK ? text_status(&line->shape) : status;
    status = status == TAPML_OK ? text_status(&line->stride) : status;
    if (status == TAPML_OK) {
        status = insert_line(store, line);
    }
    text_release(&line->effects);
    text_release(&line->shape);
    text_release(&line->stride);
    return status;
}

static tapml_status write_page(
    struct store *store, const struct line *line, const char *moment, int64_t page, struct hash key)
{
    struct row row;
    TAPML_TRY(row_begin(store, "INSERT INTO page VALUES (?, ?, ?, ?, ?)", "writing a page", &row));
    row_put_i64(&row, line->case_id);
    row_put_i64(&row, line->position);
    row_put_text(&row, moment);
    row_put_i64(&row, page);
    row_put_hash(&row, key);
    return row_run(&row);
}

// Rows `*first` to `out_shape[0]` rows further of the page that `*first` is in. Returns their
// offset in the contents.
static uint64_t page_part(const struct case_argument *argument, int64_t first, int64_t *out_shape)
{
    int64_t row_elements = 0;
    case_content_shape(argument, out_shape);
    // The product of all axes was checked: this one fails only where there are no rows.
    (void)shape_count(out_shape + 1, argument->rank - 1, &row_elements);
    const int64_t rest = argument->kept_end - first;
    out_shape[0] = rest < CASE_PAGE_ROWS ? rest : CASE_PAGE_ROWS;
    return (uint64_t)((first - argument->kept_begin) * row_elements) * dtype_bytes(argument->dtype);
}

static tapml_status
write_pages(struct store *store, const struct line *line, const char *moment, const void *contents)
{
    const struct case_argument *argument = line->argument;
    for (int64_t row = argument->kept_begin; row < argument->kept_end; row += CASE_PAGE_ROWS) {
        int64_t shape[TAPML_MAX_RANK];
        const unsigned char *data = contents;
        data += page_part(argument, row, shape);
        const struct content content = {argument->dtype, argument->rank, shape};
        struct hash key;
        TAPML_TRY(content_put(store, &content, data, &key));
        TAPML_TRY(write_page(store, line, moment, row / CASE_PAGE_ROWS, key));
    }
    return TAPML_OK;
}

static tapml_status write_state(struct store *store, struct line *line)
{
    TAPML_TRY(write_line(store, line));
    if (line->argument->before) {
        TAPML_TRY(write_pages(store, line, "before", line->argument->before));
    }
    return line->argument->after ? write_pages(store, line, "after", line->argument->after)
                                 : TAPML_OK;
}

static tapml_status write_whole(struct store *store, struct line *line)
{
    const struct case_argument *argument = line->argument;
    int64_t shape[TAPML_MAX_RANK];
    const struct content content = whole_content(argument, shape);
    struct hash before;
    struct hash after;
    if (argument->before) {
        TAPML_TRY(content_put(store, &content, argument->before, &before));
        line->before = &before;
    }
    if (argument->after) {
        TAPML_TRY(content_put(store, &content, argument->after, &after));
        line->after = &after;
    }
    return write_line(store, line);
}

tapml_status argument_write(struct store *store,
                            int64_t case_id,
                            uint32_t position,
                            const struct case_argument *argument)
{
    struct line line = {.case_id = case_id, .position = position, .argument = argument};
    TAPML_TRY(case_check_argument(argument));
    if (!is_tensor(argument)) {
        return write_line(store, &line);
    }
    return case_is_state(argument) ? write_state(store, &line) : write_whole(store, &line);
}

// The columns of an argument and the keys of its contents.
struct found {
    struct case_argument argument;
    struct hash before, after;
    int has_before, has_after;
};

static tapml_status
parse_tensor(struct row *row, struct arena *arena, struct case_argument *argument)
{
    size_t rank = 0;
    size_t stride_rank = 0;
    argument->encoding = encoding_find(row_text(row, 5));
    argument->dtype = argument->encoding ? TAPML_U8 : dtype_find(row_text(row, 5));
    TAPML_TRY(list_parse(row_text(row, 6), argument->shape, TAPML_MAX_RANK, &rank));
    TAPML_TRY(list_parse(row_text(row, 7), argument->stride, TAPML_MAX_RANK, &stride_rank));
    if (rank != stride_rank || argument->dtype == 0) {
        return status_fail(TAPML_INVALID, "type, shape and strides do not fit each other");
    }
    argument->rank = (uint32_t)rank;
    argument->offset_bytes = (uint64_t)row_i64(row, 8);
    argument->base_bytes = (uint64_t)row_i64(row, 9);
    argument->origin = arena_text(arena, row_text(row, 10));
    argument->region_begin = row_i64(row, 11);
    argument->region_end = row_i64(row, 12);
    argument->kept_begin = row_i64(row, 13);
    argument->kept_end = row_i64(row, 14);
    return argument->origin ? TAPML_OK : status_no_memory();
}

static tapml_status parse_line(struct row *row, struct arena *arena, struct found *out_found)
{
    struct found found = {.argument = {.name = arena_text(arena, row_text(row, 0))}};
    if (!found.argument.name) {
        return status_no_memory();
    }
    TAPML_TRY(kind_find(row_text(row, 1), &found.argument.kind));
    TAPML_TRY(effects_parse(row_text(row, 2), &found.argument.effects));
    found.argument.i = row_i64(row, 3);
    found.argument.d = row_f64(row, 4);
    if (is_tensor(&found.argument)) {
        TAPML_TRY(parse_tensor(row, arena, &found.argument));
    }
    found.has_before = row_hash(row, 15, &found.before);
    found.has_after = row_hash(row, 16, &found.after);
    *out_found = found;
    return TAPML_OK;
}

static tapml_status read_line(struct store *store,
                              int64_t case_id,
                              uint32_t position,
                              struct arena *arena,
                              struct found *out_found)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT param, kind, effects, i, d, dtype, shape, stride, offset_bytes,"
                        " base_bytes, origin, region_begin, region_end, kept_begin, kept_end,"
                        " before, after FROM argument WHERE case_id = ? AND position = ?",
                        "reading an argument", &row));
    row_put_i64(&row, case_id);
    row_put_i64(&row, position);
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return status_fail(TAPML_NOT_FOUND, "the case has no argument %u", position);
    }
    const tapml_status status = parse_line(&row, arena, out_found);
    row_end(&row);
    return status;
}

// Where a page lies, for its readers.
struct state_place {
    struct store *store;
    int64_t case_id;
    uint32_t position;
    const char *moment;
    struct arena *arena;
};

static tapml_status count_pages(const struct state_place *place, int64_t *out_count)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(place->store,
                        "SELECT count(*) FROM page"
                        " WHERE case_id = ? AND position = ? AND moment = ?",
                        "counting pages", &row));
    row_put_i64(&row, place->case_id);
    row_put_i64(&row, place->position);
    row_put_text(&row, place->moment);
    TAPML_TRY(row_next(&row, &has));
    *out_count = has ? row_i64(&row, 0) : 0;
    row_end(&row);
    return TAPML_OK;
}

static tapml_status page_key(const struct state_place *place, int64_t page, struct hash *out_key)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(place->store,
                        "SELECT key FROM page"
                        " WHERE case_id = ? AND position = ? AND moment = ? AND page = ?",
                        "reading a page", &row));
    row_put_i64(&row, place->case_id);
    row_put_i64(&row, place->position);
    row_put_text(&row, place->moment);
    row_put_i64(&row, page);
    TAPML_TRY(row_next(&row, &has));
    const int is_key = has && row_hash(&row, 0, out_key);
    if (has) {
        row_end(&row);
    }
    return is_key ? TAPML_OK
                  : status_fail(TAPML_INVALID, "page %lld '%s' is missing", (long long)page,
                                place->moment);
}

static tapml_status read_page(const struct state_place *place,
                              const struct case_argument *argument,
                              int64_t first,
                              const void **out_data)
{
    int64_t shape[TAPML_MAX_RANK];
    struct hash key;
    (void)page_part(argument, first, shape); // Only the shape is wanted.
    const struct content content = {argument->dtype, argument->rank, shape};
    TAPML_TRY(page_key(place, first / CASE_PAGE_ROWS, &key));
    return content_get(place->store, key, &content, place->arena, out_data);
}

// Pages are read before the memory for all of them is asked for: rows that a hostile file only
// claims to have cost nothing.
static tapml_status read_pages(const struct state_place *place,
                               const struct case_argument *argument,
                               const void **out_contents)
{
    const int64_t rows = argument->kept_end - argument->kept_begin;
    const int64_t expected = rows / CASE_PAGE_ROWS + (rows % CASE_PAGE_ROWS != 0);
    int64_t count = 0;
    TAPML_TRY(count_pages(place, &count));
    if (count != expected) {
        return status_fail(TAPML_INVALID, "it has %lld pages '%s', expected %lld", (long long)count,
                           place->moment, (long long)expected);
    }
    const void **pages = arena_array(place->arena, (size_t)count, sizeof(*pages));
    if (!pages) {
        return status_no_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t first = argument->kept_begin + i * CASE_PAGE_ROWS;
        TAPML_TRY(read_page(place, argument, first, &pages[i]));
    }
    unsigned char *contents = arena_new(place->arena, argument->content_bytes);
    if (!contents) {
        return status_no_memory();
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t shape[TAPML_MAX_RANK];
        const int64_t first = argument->kept_begin + i * CASE_PAGE_ROWS;
        const uint64_t begin = page_part(argument, first, shape);
        const uint64_t end = i + 1 < count ? page_part(argument, first + CASE_PAGE_ROWS, shape)
                                           : argument->content_bytes;
        memcpy(contents + begin, pages[i], end - begin);
    }
    *out_contents = contents;
    return TAPML_OK;
}

static tapml_status read_state(struct state_place *place, struct case_argument *argument)
{
    place->moment = "before";
    TAPML_TRY(read_pages(place, argument, &argument->before));
    if (!case_is_output(argument)) {
        return TAPML_OK;
    }
    place->moment = "after";
    return read_pages(place, argument, &argument->after);
}

// The bytes of a weight that is known by name, where the store is a bundle.
static tapml_status read_weight(const struct state_place *place, struct case_argument *argument)
{
    struct row row;
    struct hash key;
    int has = 0;
    TAPML_TRY(row_begin(place->store,
                        "SELECT weight.key FROM weight JOIN tensor USING (key) WHERE name = ?",
                        "looking up a weight", &row));
    row_put_text(&row, argument->origin);
    TAPML_TRY(row_next(&row, &has));
    const int is_key = has && row_hash(&row, 0, &key);
    if (has) {
        row_end(&row);
    }
    int64_t shape[TAPML_MAX_RANK];
    const struct content content = whole_content(argument, shape);
    return is_key ? content_get(place->store, key, &content, place->arena, &argument->before)
                  : TAPML_OK;
}

static tapml_status read_whole(const struct state_place *place, struct found *found)
{
    struct case_argument *argument = &found->argument;
    int64_t shape[TAPML_MAX_RANK];
    const struct content content = whole_content(argument, shape);
    if (found->has_before) {
        TAPML_TRY(
            content_get(place->store, found->before, &content, place->arena, &argument->before));
    }
    if (found->has_after) {
        TAPML_TRY(
            content_get(place->store, found->after, &content, place->arena, &argument->after));
    }
    return case_is_reference(argument) ? read_weight(place, argument) : TAPML_OK;
}

static tapml_status read_contents(struct state_place *place, struct found *found)
{
    struct case_argument *argument = &found->argument;
    if (!is_tensor(argument)) {
        return TAPML_OK;
    }
    TAPML_TRY(case_check_layout(argument));
    TAPML_TRY(case_trim_base(argument));
    TAPML_TRY(case_content_bytes(argument, &argument->content_bytes));
    return case_is_state(argument) ? read_state(place, argument) : read_whole(place, found);
}

tapml_status argument_read(struct store *store,
                           int64_t case_id,
                           uint32_t position,
                           struct arena *arena,
                           struct case_argument *out_argument)
{
    struct state_place place = {store, case_id, position, "", arena};
    struct found found;
    TAPML_TRY(read_line(store, case_id, position, arena, &found));
    tapml_status status = read_contents(&place, &found);
    if (status == TAPML_OK) {
        status = case_check_argument(&found.argument);
    }
    if (status != TAPML_OK) {
        return status_explain(status, "argument '%.60s'", found.argument.name);
    }
    *out_argument = found.argument;
    return TAPML_OK;
}
