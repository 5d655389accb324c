// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/sources.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "tokenizer/description.h"
#include "tokenizer/rwkv.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer/tiktoken.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { FILE_SIZE_MAX = 256 << 20, NAME_MAX_BYTES = 256 };

typedef tapml_status (*read_fn)(const char *folder, const char *name, struct parts *parts);

struct source {
    const char *glob; // The name of the file.
    read_fn read;
};

// -- Files -------------------------------------------------------------------------------------

// The first name of the folder, by the alphabet, that matches. Returns 0 if there is none.
static int find_name(const char *folder, const char *glob, char out_name[NAME_MAX_BYTES])
{
    DIR *entries = opendir(folder);
    int found = 0;
    const struct dirent *entry = entries ? readdir(entries) : NULL;
    for (; entry; entry = readdir(entries)) {
        const int is_earlier = !found || strcmp(entry->d_name, out_name) < 0;
        if (strlen(entry->d_name) < NAME_MAX_BYTES && is_earlier &&
            text_glob(glob, entry->d_name)) {
            (void)snprintf(out_name, NAME_MAX_BYTES, "%s", entry->d_name);
            found = 1;
        }
    }
    if (entries) {
        (void)closedir(entries);
    }
    return found;
}

static tapml_status
read_file(const char *folder, const char *name, char **out_data, size_t *out_size)
{
    char *path = file_join(folder, name);
    const tapml_status status =
        path ? file_read(path, FILE_SIZE_MAX, out_data, out_size) : status_no_memory();
    alloc_free(path);
    return status;
}

static tapml_status load_json(const char *folder, const char *name, json_t **out_root)
{
    char *path = file_join(folder, name);
    const tapml_status status = path ? json_file_load(path, out_root) : status_no_memory();
    alloc_free(path);
    return status;
}

// As load_json, but a file that is not there gives NULL.
static tapml_status load_optional(const char *folder, const char *name, json_t **out_root)
{
    char *path = file_join(folder, name);
    tapml_status status = path ? TAPML_OK : status_no_memory();
    *out_root = NULL;
    if (path && file_exists(path)) {
        status = json_file_load(path, out_root);
    }
    alloc_free(path);
    return status;
}

// -- Added tokens of tokenizer_config.json -----------------------------------------------------

static const char *content_of(const json_t *token)
{
    return json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
}

// {"5": {"content": "<s>", ...}} as [{"id": 5, "content": "<s>", ...}].
static json_t *list_tokens(const json_t *config)
{
    json_t *map = json_object_get(config, "added_tokens_decoder");
    json_t *list = json_array();
    const char *key = NULL;
    json_t *token = NULL;
    json_object_foreach(map, key, token)
    {
        int64_t id = -1;
        json_t *copy = json_copy(token);
        if (text_parse_i64(key, &id) != TAPML_OK) {
            id = -1; // Which is refused by name.
        }
        if (!copy || json_object_set_new(copy, "id", json_integer(id)) != 0 ||
            json_array_append_new(list, copy) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static tapml_status add_listed(json_t *tokens, struct parts *parts)
{
    const tapml_status status =
        tokens ? added_create(parts->name, tokens, parts->normalizer, &parts->added)
               : status_no_memory();
    json_decref(tokens);
    return status;
}

static tapml_status add_tokens(const char *folder, struct parts *parts)
{
    json_t *config = NULL;
    TAPML_TRY(load_optional(folder, "tokenizer_config.json", &config));
    const tapml_status status = add_listed(list_tokens(config), parts);
    json_decref(config);
    return status;
}

// -- What the code of Qwen's first tokenizer has and its files do not --------------------------

// The special tokens are those behind the ranks, unless a list says otherwise.
static json_t *list_qwen(const json_t *config, json_int_t first)
{
    static const char *const named[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    enum { NAMED = sizeof(named) / sizeof(*named), EXTRA = 205 };
    json_t *tokens = list_tokens(config);
    if (json_array_size(tokens) > 0) {
        return tokens;
    }
    for (int i = 0; tokens && i < NAMED + EXTRA; ++i) {
        char extra[32];
        (void)snprintf(extra, sizeof(extra), "<|extra_%d|>", i - NAMED);
        json_t *token = json_pack("{s:s, s:I, s:b}", "content", i < NAMED ? named[i] : extra, "id",
                                  first + i, "special", 1);
        if (!token || json_array_append_new(tokens, token) != 0) {
            json_decref(tokens);
            return NULL;
        }
    }
    return tokens;
}

// Texts are composed.
static tapml_status add_qwen(const json_t *config, struct parts *parts)
{
    size_t count = 0;
    const struct vocabulary_token *ranks = vocabulary_all(parts->vocabulary, &count);
    json_t *composed = json_pack("{s:s}", "type", "NFC");
    const tapml_status status = composed
                                    ? normalizer_create(parts->name, composed, &parts->normalizer)
                                    : status_no_memory();
    json_decref(composed);
    return status == TAPML_OK ? add_listed(list_qwen(config, ranks[count - 1].id + 1), parts)
                              : status;
}

static int is_qwen_class(const json_t *config)
{
    const char *name = json_string_value(json_object_get(config, "tokenizer_class"));
    return name && strcmp(name, "QWenTokenizer") == 0;
}

// -- Kinds of files ----------------------------------------------------------------------------

static tapml_status read_description(const char *folder, const char *name, struct parts *parts)
{
    char *data = NULL;
    size_t size = 0;
    TAPML_TRY(read_file(folder, name, &data, &size));
    const tapml_status status = description_parse(data, size, parts);
    alloc_free(data);
    return status;
}

// A tokenizer.model may be a list of ranks.
static tapml_status read_model(const char *folder, const char *name, struct parts *parts)
{
    char *data = NULL;
    size_t size = 0;
    TAPML_TRY(read_file(folder, name, &data, &size));
    tapml_status status = sentencepiece_is(data, size) ? sentencepiece_read(data, size, parts)
                                                       : tiktoken_read(data, size, 0, parts);
    alloc_free(data);
    return status == TAPML_OK ? add_tokens(folder, parts) : status;
}

static tapml_status read_tekken(const char *folder, const char *name, struct parts *parts)
{
    char *data = NULL;
    size_t size = 0;
    TAPML_TRY(read_file(folder, name, &data, &size));
    const tapml_status status = tiktoken_read_tekken(data, size, parts);
    alloc_free(data);
    return status;
}

static tapml_status read_ranks(const char *folder, const char *name, struct parts *parts)
{
    char *data = NULL;
    size_t size = 0;
    json_t *config = NULL;
    TAPML_TRY(load_optional(folder, "tokenizer_config.json", &config));
    tapml_status status = read_file(folder, name, &data, &size);
    if (status == TAPML_OK) {
        status = tiktoken_read(data, size, strncmp(name, "qwen", strlen("qwen")) == 0, parts);
    }
    if (status == TAPML_OK) {
        status = is_qwen_class(config) ? add_qwen(config, parts)
                                       : add_listed(list_tokens(config), parts);
    }
    alloc_free(data);
    json_decref(config);
    return status;
}

static tapml_status read_rwkv(const char *folder, const char *name, struct parts *parts)
{
    char *data = NULL;
    size_t size = 0;
    TAPML_TRY(read_file(folder, name, &data, &size));
    const tapml_status status = rwkv_read(data, size, parts);
    alloc_free(data);
    return status;
}

// Appends the lines of a text to a list or, with their numbers, to a map.
static tapml_status add_lines(const struct parts *parts, char *data, json_t *list, json_t *map)
{
    json_int_t number = 0;
    for (char *line = data; *line;) {
        char *end = line + strcspn(line, "\n");
        char *next = *end ? end + 1 : end;
        end -= end > line && end[-1] == '\r' ? 1 : 0;
        *end = '\0';
        const int is_merge = *line && (number > 0 || strncmp(line, "#version", 8) != 0);
        if (map && json_object_get(map, line)) {
            return status_fail(TAPML_INVALID, "%s:%lld: expected a token once, found '%.64s' again",
                               parts->name, (long long)number + 1, line);
        }
        const int failed = map        ? json_object_set_new(map, line, json_integer(number))
                           : is_merge ? json_array_append_new(list, json_string(line))
                                      : 0;
        if (failed) {
            return status_fail(TAPML_INVALID, "%s:%lld: expected UTF-8", parts->name,
                               (long long)number + 1);
        }
        ++number;
        line = next;
    }
    return TAPML_OK;
}

static int has_id(const json_t *tokens, json_int_t id)
{
    for (size_t i = 0; i < json_array_size(tokens); ++i) {
        if (json_integer_value(json_object_get(json_array_get(tokens, i), "id")) == id) {
            return 1;
        }
    }
    return 0;
}

// The tokens that the configuration names by their role, or that of GPT-2, are special where they
// are in the vocabulary, listed or not.
static tapml_status add_roles(json_t *tokens, const json_t *config, const json_t *vocab)
{
    static const char *const keys[] = {"bos_token",  "eos_token", "unk_token", "pad_token",
                                       "mask_token", "cls_token", "sep_token"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); ++i) {
        const char *named = content_of(json_object_get(config, keys[i]));
        const char *content = named || config ? named : "<|endoftext|>";
        const json_t *id = content ? json_object_get(vocab, content) : NULL;
        if (!json_is_integer(id) || has_id(tokens, json_integer_value(id))) {
            continue;
        }
        json_t *token = json_pack("{s:s, s:I, s:b}", "content", content, "id",
                                  json_integer_value(id), "special", 1);
        if (!token || json_array_append_new(tokens, token) != 0) {
            return status_no_memory();
        }
    }
    return TAPML_OK;
}

// Takes the members of a tokenizer.json that the older files mean; `root` is released.
static tapml_status read_built(const char *folder, json_t *root, struct parts *parts)
{
    json_t *config = NULL;
    tapml_status status =
        root ? load_optional(folder, "tokenizer_config.json", &config) : status_no_memory();
    json_t *tokens = status == TAPML_OK ? list_tokens(config) : NULL;
    if (status == TAPML_OK && (!tokens || json_object_set(root, "added_tokens", tokens) != 0)) {
        status = status_no_memory();
    }
    if (status == TAPML_OK) {
        status =
            add_roles(tokens, config, json_object_get(json_object_get(root, "model"), "vocab"));
    }
    if (status == TAPML_OK) {
        status = description_read(root, NULL, parts);
    }
    json_decref(tokens);
    json_decref(config);
    json_decref(root);
    return status;
}

// vocab.json and merges.txt: the byte-level tokenizer of GPT-2.
static tapml_status read_merges(const char *folder, const char *name, struct parts *parts)
{
    json_t *vocab = NULL;
    json_t *merges = json_array();
    char *data = NULL;
    size_t size = 0;
    tapml_status status = merges ? load_json(folder, name, &vocab) : status_no_memory();
    if (status == TAPML_OK) {
        status = read_file(folder, "merges.txt", &data, &size);
    }
    if (status == TAPML_OK) {
        status = add_lines(parts, data, merges, NULL);
    }
    alloc_free(data);
    if (status != TAPML_OK) {
        json_decref(vocab);
        json_decref(merges);
        return status;
    }
    return read_built(folder,
                      json_pack("{s:{s:s, s:b}, s:{s:s}, s:{s:s, s:o, s:o}}", "pre_tokenizer",
                                "type", "ByteLevel", "add_prefix_space", 0, "decoder", "type",
                                "ByteLevel", "model", "type", "BPE", "vocab", vocab, "merges",
                                merges),
                      parts);
}

// vocab.txt: the WordPiece tokenizer of BERT, in lower case unless tokenizer_config.json denies it.
static tapml_status build_bert(const char *folder, json_t *vocab, json_t **out_root)
{
    json_t *config = NULL;
    const tapml_status status = load_optional(folder, "tokenizer_config.json", &config);
    if (status != TAPML_OK) {
        json_decref(vocab);
        return status;
    }
    const json_t *lowers = json_object_get(config, "do_lower_case");
    const json_t *cls = json_object_get(vocab, "[CLS]");
    const json_t *sep = json_object_get(vocab, "[SEP]");
    json_t *root =
        json_pack("{s:{s:s, s:b, s:b, s:b}, s:{s:s}, s:{s:s, s:s, s:b}}", "normalizer", "type",
                  "BertNormalizer", "clean_text", 1, "handle_chinese_chars", 1, "lowercase",
                  !json_is_false(lowers), "pre_tokenizer", "type", "BertPreTokenizer", "decoder",
                  "type", "WordPiece", "prefix", "##", "cleanup", 1);
    if (root && cls && sep) {
        (void)json_object_set_new(root, "post_processor",
                                  json_pack("{s:s, s:[s, I], s:[s, I]}", "type", "BertProcessing",
                                            "cls", "[CLS]", json_integer_value(cls), "sep", "[SEP]",
                                            json_integer_value(sep)));
    }
    json_t *model = json_pack("{s:s, s:o}", "type", "WordPiece", "vocab", vocab);
    if (!root || !model || json_object_set_new(root, "model", model) != 0) {
        json_decref(root);
        root = NULL;
    }
    json_decref(config);
    *out_root = root;
    return root ? TAPML_OK : status_no_memory();
}

static tapml_status read_words(const char *folder, const char *name, struct parts *parts)
{
    char *data = NULL;
    size_t size = 0;
    json_t *root = NULL;
    json_t *vocab = json_object();
    tapml_status status = vocab ? read_file(folder, name, &data, &size) : status_no_memory();
    if (status == TAPML_OK) {
        status = add_lines(parts, data, NULL, vocab);
    }
    alloc_free(data);
    if (status != TAPML_OK) {
        json_decref(vocab);
        return status;
    }
    TAPML_TRY(build_bert(folder, vocab, &root));
    return read_built(folder, root, parts);
}

static const struct source sources[] = {
    {"tokenizer.json", read_description}, {"tokenizer.model", read_model},
    {"spiece.model", read_model},         {"sentencepiece.bpe.model", read_model},
    {"tekken.json", read_tekken},         {"*.tiktoken", read_ranks},
    {"vocab.json", read_merges},          {"vocab.txt", read_words},
    {"rwkv_vocab_*.txt", read_rwkv},
};

// Returns NULL if the folder has none of the files.
static const struct source *find_source(const char *folder, char out_name[NAME_MAX_BYTES])
{
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); ++i) {
        if (find_name(folder, sources[i].glob, out_name)) {
            return &sources[i];
        }
    }
    return NULL;
}

int sources_exist(const char *folder)
{
    char name[NAME_MAX_BYTES];
    return find_source(folder, name) != NULL;
}

// -- What begins and ends a text ---------------------------------------------------------------

// The id of the token that tokenizer_config.json names, else that of the file; -1: none
static int32_t
find_id(const struct parts *parts, const json_t *config, const char *key, int32_t own)
{
    const char *content = content_of(json_object_get(config, key));
    if (!content) {
        return own;
    }
    const int32_t id = added_id(parts->added, content);
    return id >= 0 ? id : vocabulary_find_text(parts->vocabulary, content);
}

static tapml_status add_ends(const json_t *config, struct parts *parts)
{
    const json_t *begins = json_object_get(config, "add_bos_token");
    const int32_t begin = find_id(parts, config, "bos_token", parts->begin);
    const int32_t end = find_id(parts, config, "eos_token", parts->end);
    if ((json_is_boolean(begins) ? json_is_true(begins) : parts->adds_begin) && begin >= 0) {
        TAPML_TRY(ids_add(&parts->templates.before, begin));
    }
    if (json_is_true(json_object_get(config, "add_eos_token")) && end >= 0) {
        TAPML_TRY(ids_add(&parts->templates.after, end));
    }
    return TAPML_OK;
}

static tapml_status complete(const char *folder, struct parts *parts)
{
    json_t *config = NULL;
    TAPML_TRY(parts_complete(parts));
    if (parts->templates.is_stated) {
        return TAPML_OK;
    }
    TAPML_TRY(load_optional(folder, "tokenizer_config.json", &config));
    const tapml_status status = add_ends(config, parts);
    json_decref(config);
    return status;
}

tapml_status sources_read(const char *folder, struct parts *out_parts)
{
    char name[NAME_MAX_BYTES];
    const struct source *source = find_source(folder, name);
    *out_parts = (struct parts){.name = NULL};
    if (!source) {
        return status_fail(TAPML_NOT_FOUND,
                           "%s: expected a tokenizer.json or another tokenizer, found none",
                           folder);
    }
    char *path = file_join(folder, name);
    tapml_status status = path ? parts_init(out_parts, path) : status_no_memory();
    alloc_free(path);
    TAPML_TRY(status);
    TAPML_TRY(source->read(folder, name, out_parts));
    return complete(folder, out_parts);
}
