// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/special.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "gguf/gguf.h"
#include "gguf/gguf_tokenizer.h"
#include "tokenizer/listing.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_SIZE_MAX = 256 << 20 };

// The files of a folder, in the order in which they are asked.
enum source { GENERATION, CONFIG, TOKENIZER_CONFIG, TOKENIZER, SOURCE_COUNT };

static const char *const source_names[SOURCE_COUNT] = {
    "generation_config.json",
    "config.json",
    "tokenizer_config.json",
    "tokenizer.json",
};

const char *const special_roles[] = {"bos_token", "eos_token", "unk_token",  "sep_token",
                                     "pad_token", "cls_token", "mask_token", NULL};

static tapml_status
add_id(const char *source, const char *key, const json_t *value, struct special *special)
{
    const json_int_t id = json_integer_value(value);
    if (!json_is_integer(value) || id < 0 || id > INT32_MAX) {
        return status_fail(TAPML_INVALID, "%s: '%s': expected an id of 31 bits", source, key);
    }
    if (special->end_count == SPECIAL_END_MAX) {
        return status_fail(TAPML_INVALID, "%s: '%s': expected at most %d ids", source, key,
                           SPECIAL_END_MAX);
    }
    special->end[special->end_count++] = (int32_t)id;
    return TAPML_OK;
}

// Ids from the two files that have numbers; the first one that has any wins.
static tapml_status add_ids(json_t *const *roots, const char *key, struct special *out_special)
{
    for (int source = GENERATION; source <= CONFIG && out_special->end_count == 0; ++source) {
        const json_t *value = json_object_get(roots[source], key);
        const char *name = source_names[source];
        if (value && !json_is_null(value) && !json_is_array(value)) {
            TAPML_TRY(add_id(name, key, value, out_special));
        }
        for (size_t i = 0; i < json_array_size(value); ++i) {
            TAPML_TRY(add_id(name, key, json_array_get(value, i), out_special));
        }
    }
    return TAPML_OK;
}

const char *special_content(const json_t *token)
{
    return json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
}

// The id of an added token: tokenizer.json lists them, tokenizer_config.json maps them.
static int32_t id_of(json_t *const *roots, const char *content)
{
    const json_t *list = json_object_get(roots[TOKENIZER], "added_tokens");
    for (size_t i = 0; i < json_array_size(list); ++i) {
        const json_t *token = json_array_get(list, i);
        const char *found = special_content(token);
        const json_int_t id = json_integer_value(json_object_get(token, "id"));
        if (found && strcmp(found, content) == 0 && id >= 0 && id <= INT32_MAX) {
            return (int32_t)id;
        }
    }
    json_t *map = json_object_get(roots[TOKENIZER_CONFIG], "added_tokens_decoder");
    const char *key = NULL;
    json_t *token = NULL;
    json_object_foreach(map, key, token)
    {
        const char *found = special_content(token);
        const long long id = strtoll(key, NULL, 10);
        if (found && strcmp(found, content) == 0 && id >= 0 && id <= INT32_MAX) {
            return (int32_t)id;
        }
    }
    return -1;
}

// The id that tokenizer_config.json names by its text, or -1.
static int32_t named_id(json_t *const *roots, const char *key)
{
    const char *content = special_content(json_object_get(roots[TOKENIZER_CONFIG], key));
    return content ? id_of(roots, content) : -1;
}

static tapml_status find_all(const char *folder, json_t *const *roots, struct special *out_special)
{
    struct special begin = {0};
    struct special special = {0};
    tapml_status status = add_ids(roots, "bos_token_id", &begin);
    if (status == TAPML_OK) {
        status = add_ids(roots, "eos_token_id", &special);
    }
    if (status != TAPML_OK) {
        return status_explain(status, "%s", folder);
    }
    special.begin = begin.end_count > 0 ? begin.end[0] : named_id(roots, "bos_token");
    if (special.end_count == 0) {
        const int32_t end = named_id(roots, "eos_token");
        special.end[0] = end;
        special.end_count = end >= 0 ? 1 : 0;
    }
    *out_special = special;
    return TAPML_OK;
}

// A tokenizer.json without its vocabulary, or NULL if there is none.
static tapml_status load_tokens(const char *folder, json_t **out_root)
{
    char *path = file_join(folder, source_names[TOKENIZER]);
    char *text = NULL;
    size_t size = 0;
    struct listing listing;
    tapml_status status = path ? TAPML_OK : status_no_memory();
    if (path && file_exists(path)) {
        status = file_read(path, FILE_SIZE_MAX, &text, &size);
    }
    if (text) {
        status = listing_parse(path, text, size, &listing, out_root);
    }
    alloc_free(text);
    alloc_free(path);
    return status;
}

// tokenizer.json is large, and read only where the others leave something open.
static tapml_status load(const char *folder, json_t **roots, struct special *out_special)
{
    struct special special = {0};
    if (gguf_is(folder)) {
        TAPML_TRY(gguf_tokenizer_config(folder, &roots[GENERATION]));
        return find_all(folder, roots, out_special);
    }
    for (int source = GENERATION; source < TOKENIZER; ++source) {
        TAPML_TRY(json_file_find(folder, source_names[source], &roots[source]));
    }
    TAPML_TRY(find_all(folder, roots, &special));
    const json_t *names = roots[TOKENIZER_CONFIG];
    const int lacks_begin =
        special.begin < 0 && special_content(json_object_get(names, "bos_token"));
    const int lacks_end =
        special.end_count == 0 && special_content(json_object_get(names, "eos_token"));
    if (lacks_begin || lacks_end) {
        TAPML_TRY(load_tokens(folder, &roots[TOKENIZER]));
        TAPML_TRY(find_all(folder, roots, &special));
    }
    *out_special = special;
    return TAPML_OK;
}

tapml_status special_load(const char *folder, struct special *out_special)
{
    json_t *roots[SOURCE_COUNT] = {NULL};
    const tapml_status status = load(folder, roots, out_special);
    for (int source = 0; source < SOURCE_COUNT; ++source) {
        json_decref(roots[source]);
    }
    return status;
}

int special_is_end(const struct special *special, int32_t id)
{
    for (size_t i = 0; i < special->end_count; ++i) {
        if (special->end[i] == id) {
            return 1;
        }
    }
    return 0;
}
