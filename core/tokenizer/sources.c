// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/sources.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "gguf/gguf.h"
#include "gguf/gguf_tokenizer.h"
#include "tokenizer/description.h"
#include "tokenizer/rwkv.h"
#include "tokenizer/sentencepiece.h"
#include "tokenizer/special.h"
#include "tokenizer/tiktoken.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { FILE_SIZE_MAX = 256 << 20, NAME_MAX_BYTES = 256 };

// A file of a folder, and what stands beside it.
struct source_file {
    const char *folder, *name;
    char *path;
    char *data; // Ended by a zero byte; a reader may take it apart.
    size_t size;
    const json_t *config; // tokenizer_config.json; NULL: there is none.
};

typedef tapml_status (*read_fn)(const struct source_file *file, struct parts *parts);

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

static void unload(struct source_file *file)
{
    alloc_free(file->path);
    alloc_free(file->data);
}

// Reads a file; `unload` frees it.
static tapml_status
load(const char *folder, const char *name, const json_t *config, struct source_file *out_file)
{
    struct source_file file = {
        .folder = folder, .name = name, .path = file_join(folder, name), .config = config};
    const tapml_status status = file.path
                                    ? file_read(file.path, FILE_SIZE_MAX, &file.data, &file.size)
                                    : status_no_memory();
    if (status != TAPML_OK) {
        unload(&file);
        return status;
    }
    *out_file = file;
    return TAPML_OK;
}

// Cuts the line that begins at `*at` off a text and moves `*at` behind it. Returns NULL at the end.
static char *take_line(char **at)
{
    char *line = *at;
    if (*line == '\0') {
        return NULL;
    }
    char *end = line + strcspn(line, "\n");
    *at = *end ? end + 1 : end;
    *end = '\0';
    if (end > line && end[-1] == '\r') {
        end[-1] = '\0';
    }
    return line;
}

static tapml_status check_lines(const struct source_file *file)
{
    return utf8_is_valid(file->data, file->size) && !memchr(file->data, '\0', file->size)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: expected a text of UTF-8 without zero bytes",
                             file->path);
}

// -- Added tokens of tokenizer_config.json -----------------------------------------------------

static tapml_status
add_token(const struct parts *parts, const char *key, const json_t *token, json_t *list)
{
    int64_t id = -1;
    if (!json_is_object(token) || text_parse_i64(key, &id) != TAPML_OK) {
        return status_fail(TAPML_INVALID,
                           "%s: tokenizer_config.json: expected an object for each id of "
                           "'added_tokens_decoder', found '%.64s'",
                           parts->name, key);
    }
    json_t *copy = json_copy((json_t *)(uintptr_t)token); // Which changes nothing.
    const int is_set = copy && json_object_set_new(copy, "id", json_integer(id)) == 0;
    const int is_added = is_set && json_array_append(list, copy) == 0;
    json_decref(copy);
    return is_added ? TAPML_OK : status_no_memory();
}

// Appends {"5": {"content": "<s>", ...}} to a list, as {"id": 5, "content": "<s>", ...}.
static tapml_status list_tokens(const struct parts *parts, const json_t *config, json_t *list)
{
    json_t *map = json_object_get(config, "added_tokens_decoder");
    const char *key = NULL;
    json_t *token = NULL;
    json_object_foreach(map, key, token)
    {
        TAPML_TRY(add_token(parts, key, token, list));
    }
    return TAPML_OK;
}

// Creates the added tokens of a list, which is released.
static tapml_status create_added(struct parts *parts, tapml_status listed, json_t *tokens)
{
    const tapml_status status =
        listed == TAPML_OK ? added_create(parts->name, tokens, parts->normalizer, &parts->added)
                           : listed;
    json_decref(tokens);
    return status;
}

static tapml_status add_tokens(const struct source_file *file, struct parts *parts)
{
    json_t *tokens = json_array();
    return create_added(
        parts, tokens ? list_tokens(parts, file->config, tokens) : status_no_memory(), tokens);
}

// -- What the code of Qwen's first tokenizer has and its files do not --------------------------

static int is_qwen_class(const json_t *config)
{
    const char *name = json_string_value(json_object_get(config, "tokenizer_class"));
    return name && strcmp(name, "QWenTokenizer") == 0;
}

// The special tokens are those behind the ranks, unless a list says otherwise.
static tapml_status list_qwen(const struct parts *parts, const json_t *config, json_t *tokens)
{
    static const char *const named[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
    enum { NAMED = sizeof(named) / sizeof(*named), EXTRA = 205 };
    size_t count = 0;
    const struct vocabulary_token *ranks = vocabulary_all(parts->vocabulary, &count);
    const json_int_t first = (json_int_t)ranks[count - 1].id + 1;
    TAPML_TRY(list_tokens(parts, config, tokens));
    if (json_array_size(tokens) > 0) {
        return TAPML_OK;
    }
    for (int i = 0; i < NAMED + EXTRA; ++i) {
        char extra[32];
        (void)snprintf(extra, sizeof(extra), "<|extra_%d|>", i - NAMED);
        json_t *token = json_pack("{s:s, s:I, s:b}", "content", i < NAMED ? named[i] : extra, "id",
                                  first + i, "special", 1);
        if (!token || json_array_append_new(tokens, token) != 0) {
            return status_no_memory();
        }
    }
    return TAPML_OK;
}

// Texts are composed.
static tapml_status add_qwen(const struct source_file *file, struct parts *parts)
{
    json_t *composed = json_pack("{s:s}", "type", "NFC");
    const tapml_status status = composed
                                    ? normalizer_create(parts->name, composed, &parts->normalizer)
                                    : status_no_memory();
    json_decref(composed);
    TAPML_TRY(status);
    json_t *tokens = json_array();
    return create_added(parts, tokens ? list_qwen(parts, file->config, tokens) : status_no_memory(),
                        tokens);
}

// -- Kinds of files ----------------------------------------------------------------------------

static tapml_status read_description(const struct source_file *file, struct parts *parts)
{
    return description_parse(file->data, file->size, parts);
}

// A tokenizer.model may be a list of ranks.
static tapml_status read_model(const struct source_file *file, struct parts *parts)
{
    TAPML_TRY(sentencepiece_is(file->data, file->size)
                  ? sentencepiece_read(file->data, file->size, parts)
                  : tiktoken_read(file->data, file->size, TIKTOKEN_CL100K, parts));
    return add_tokens(file, parts);
}

static tapml_status read_tekken(const struct source_file *file, struct parts *parts)
{
    return tiktoken_read_tekken(file->data, file->size, parts);
}

static tapml_status read_ranks(const struct source_file *file, struct parts *parts)
{
    const int is_qwen = strncmp(file->name, "qwen", strlen("qwen")) == 0;
    TAPML_TRY(
        tiktoken_read(file->data, file->size, is_qwen ? TIKTOKEN_QWEN : TIKTOKEN_CL100K, parts));
    return is_qwen_class(file->config) ? add_qwen(file, parts) : add_tokens(file, parts);
}

// What Kimi's models have: lines as in *.tiktoken, with words of its own.
static tapml_status read_kimi(const struct source_file *file, struct parts *parts)
{
    TAPML_TRY(tiktoken_read(file->data, file->size, TIKTOKEN_KIMI, parts));
    return add_tokens(file, parts);
}

static tapml_status read_rwkv(const struct source_file *file, struct parts *parts)
{
    return rwkv_read(file->data, file->size, parts);
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

// What GPT-2 and BERT have for a role that no file names; NULL: none.
static const char *default_token(const char *role)
{
    static const char *const tokens[][2] = {
        {"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"unk_token", "[UNK]"},
        {"pad_token", "[PAD]"},         {"mask_token", "[MASK]"},       {"cls_token", "[CLS]"},
        {"sep_token", "[SEP]"},
    };
    for (size_t i = 0; i < sizeof(tokens) / sizeof(*tokens); ++i) {
        if (strcmp(role, tokens[i][0]) == 0) {
            return tokens[i][1];
        }
    }
    return NULL;
}

// The tokens that the configuration names by their role are special where they are in the
// vocabulary, listed or not; if it does not name them, those that GPT-2 or BERT has by default.
static tapml_status add_roles(json_t *tokens, const json_t *config, const json_t *vocab)
{
    for (size_t i = 0; special_roles[i]; ++i) {
        const json_t *named = json_object_get(config, special_roles[i]);
        const char *content = named ? special_content(named) : default_token(special_roles[i]);
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

// Takes `root`, the members of a tokenizer.json that an older file means; NULL: without memory.
static tapml_status read_built(const struct source_file *file, json_t *root, struct parts *parts)
{
    const json_t *vocab = json_object_get(json_object_get(root, "model"), "vocab");
    json_t *tokens = json_array();
    tapml_status status = root && tokens && json_object_set(root, "added_tokens", tokens) == 0
                              ? list_tokens(parts, file->config, tokens)
                              : status_no_memory();
    if (status == TAPML_OK) {
        status = add_roles(tokens, file->config, vocab);
    }
    if (status == TAPML_OK) {
        status = description_read(root, NULL, parts);
    }
    json_decref(tokens);
    json_decref(root);
    return status;
}

// The lines of merges.txt, but for the version that the first one may name.
static tapml_status list_merges(const struct source_file *file, json_t *merges)
{
    static const char version[] = "#version";
    char *at = file->data;
    TAPML_TRY(check_lines(file));
    for (char *line = take_line(&at); line; line = take_line(&at)) {
        const int is_version = line == file->data && strncmp(line, version, strlen(version)) == 0;
        if (*line && !is_version && json_array_append_new(merges, json_string(line)) != 0) {
            return status_no_memory();
        }
    }
    return TAPML_OK;
}

// vocab.json and merges.txt: the byte-level tokenizer of GPT-2.
static tapml_status read_merges(const struct source_file *file, struct parts *parts)
{
    struct source_file listed;
    json_t *vocab = NULL;
    TAPML_TRY(load(file->folder, "merges.txt", NULL, &listed));
    json_t *merges = json_array();
    tapml_status status = merges ? list_merges(&listed, merges) : status_no_memory();
    unload(&listed);
    if (status == TAPML_OK) {
        status = json_file_parse(file->path, file->data, file->size, &vocab);
    }
    if (status != TAPML_OK) {
        json_decref(merges);
        return status;
    }
    return read_built(file,
                      json_pack("{s:{s:s, s:b}, s:{s:s}, s:{s:s, s:o, s:o}}", "pre_tokenizer",
                                "type", "ByteLevel", "add_prefix_space", 0, "decoder", "type",
                                "ByteLevel", "model", "type", "BPE", "vocab", vocab, "merges",
                                merges),
                      parts);
}

// The lines of vocab.txt, with their numbers from 0 on.
static tapml_status list_words(const struct source_file *file, json_t *vocab)
{
    json_int_t number = 0;
    char *at = file->data;
    TAPML_TRY(check_lines(file));
    for (char *line = take_line(&at); line; line = take_line(&at)) {
        if (json_object_get(vocab, line)) {
            return status_fail(TAPML_INVALID, "%s:%lld: expected a token once, found '%.64s' again",
                               file->path, (long long)number + 1, line);
        }
        if (json_object_set_new(vocab, line, json_integer(number++)) != 0) {
            return status_no_memory();
        }
    }
    return TAPML_OK;
}

// What BERT puts around a text, if the vocabulary has it; else null.
static json_t *pack_ends(const json_t *vocab)
{
    const json_t *cls = json_object_get(vocab, "[CLS]");
    const json_t *sep = json_object_get(vocab, "[SEP]");
    return cls && sep
               ? json_pack("{s:s, s:[s, I], s:[s, I]}", "type", "BertProcessing", "cls", "[CLS]",
                           json_integer_value(cls), "sep", "[SEP]", json_integer_value(sep))
               : json_null();
}

// vocab.txt: the WordPiece tokenizer of BERT, in lower case unless tokenizer_config.json denies it.
static tapml_status read_words(const struct source_file *file, struct parts *parts)
{
    const int lowers = !json_is_false(json_object_get(file->config, "do_lower_case"));
    json_t *vocab = json_object();
    const tapml_status status = vocab ? list_words(file, vocab) : status_no_memory();
    if (status != TAPML_OK) {
        json_decref(vocab);
        return status;
    }
    return read_built(file,
                      json_pack("{s:{s:s, s:b, s:b, s:b}, s:{s:s}, s:{s:s, s:s, s:b}, s:o, "
                                "s:{s:s, s:o}}",
                                "normalizer", "type", "BertNormalizer", "clean_text", 1,
                                "handle_chinese_chars", 1, "lowercase", lowers, "pre_tokenizer",
                                "type", "BertPreTokenizer", "decoder", "type", "WordPiece",
                                "prefix", "##", "cleanup", 1, "post_processor", pack_ends(vocab),
                                "model", "type", "WordPiece", "vocab", vocab),
                      parts);
}

static const struct source sources[] = {
    {"tokenizer.json", read_description},
    {"tokenizer.model", read_model},
    {"spiece.model", read_model},
    {"sentencepiece.bpe.model", read_model},
    {"tekken.json", read_tekken},
    {"*.tiktoken", read_ranks},
    {"tiktoken.model", read_kimi},
    {"vocab.json", read_merges},
    {"vocab.txt", read_words},
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
    if (gguf_is(folder)) {
        return gguf_tokenizer_exists(folder);
    }
    char name[NAME_MAX_BYTES];
    return find_source(folder, name) != NULL;
}

// -- What begins and ends a text ---------------------------------------------------------------

// The id of the token that tokenizer_config.json names, else that of the file; -1: none.
static int32_t
find_id(const struct parts *parts, const json_t *config, const char *key, int32_t own)
{
    const char *content = special_content(json_object_get(config, key));
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

static tapml_status
read_file(const struct source *source, const struct source_file *file, struct parts *parts)
{
    TAPML_TRY(parts_init(parts, file->path));
    TAPML_TRY(source->read(file, parts));
    TAPML_TRY(parts_complete(parts));
    return parts->templates.is_stated ? TAPML_OK : add_ends(file->config, parts);
}

// -- GGUF --------------------------------------------------------------------------------------

// Reads what a folder would have, made of the metadata of a file.
static tapml_status read_made(const char *path, const json_t *config, struct parts *parts)
{
    enum gguf_tokenizer_kind kind = GGUF_TOKENIZER_NONE;
    struct text made;
    text_init(&made);
    struct source_file file = {.folder = path, .name = path, .config = config};
    tapml_status status = gguf_tokenizer_load(path, &kind, &made);
    file.data = made.data;
    file.size = made.length;
    if (status == TAPML_OK) {
        status = parts_init(parts, path);
    }
    if (status == TAPML_OK) {
        status = kind == GGUF_TOKENIZER_DESCRIPTION ? read_description(&file, parts)
                 : kind == GGUF_TOKENIZER_PIECES
                     ? read_model(&file, parts)
                     : status_fail(TAPML_NOT_FOUND, "%s: expected a tokenizer, found none", path);
    }
    text_release(&made);
    TAPML_TRY(status);
    TAPML_TRY(parts_complete(parts));
    return parts->templates.is_stated ? TAPML_OK : add_ends(config, parts);
}

static tapml_status read_gguf(const char *path, struct parts *parts)
{
    json_t *config = NULL;
    TAPML_TRY(gguf_tokenizer_config(path, &config));
    const tapml_status status = read_made(path, config, parts);
    json_decref(config);
    return status;
}

tapml_status sources_read(const char *folder, struct parts *out_parts)
{
    *out_parts = (struct parts){.name = NULL};
    if (gguf_is(folder)) {
        return read_gguf(folder, out_parts);
    }
    char name[NAME_MAX_BYTES];
    const struct source *source = find_source(folder, name);
    struct source_file file;
    json_t *config = NULL;
    if (!source) {
        return status_fail(TAPML_NOT_FOUND,
                           "%s: expected a tokenizer.json or another tokenizer, found none",
                           folder);
    }
    TAPML_TRY(json_file_find(folder, "tokenizer_config.json", &config));
    tapml_status status = load(folder, name, config, &file);
    if (status == TAPML_OK) {
        status = read_file(source, &file, out_parts);
        unload(&file);
    }
    json_decref(config);
    return status;
}
