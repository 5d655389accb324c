// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_tokenizer.h"

#include "base/alloc.h"
#include "base/json_file.h"
#include "base/utf8.h"
#include "gguf/gguf.h"
#include "gguf/gguf_tables.h"

#include <stdio.h>
#include <string.h>

#define KEY(name) "tokenizer.ggml." name

enum { WORD_BYTES_MAX = 64, ID_ROLES_MAX = 8 };

// Types of tokens.
enum { NORMAL = 1, UNKNOWN = 2, CONTROL = 3, USER = 4, UNUSED = 5, BYTE = 6 };

// sentencepiece_model.proto: field numbers with their types of wire.
enum { WIRE_NUMBER = 0, WIRE_BYTES = 2, WIRE_FLOAT = 5 };
enum { MODEL_PIECES = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum {
    TRAINER_TYPE = 3,
    TRAINER_FALLBACK = 35,
    TRAINER_UNKNOWN = 40,
    TRAINER_BEGIN = 41,
    TRAINER_END = 42
};
enum { NORMALIZER_MAP = 2, NORMALIZER_PREFIX = 3, NORMALIZER_EXTRA = 4, NORMALIZER_ESCAPE = 5 };
enum { TYPE_UNIGRAM = 1, TYPE_BPE = 2 };

struct gguf_tokens {
    struct gguf *gguf;
    json_t *table; // tokenizers.json
    struct gguf_text *texts;
    const struct gguf_value *types, *scores; // NULL: there are none.
    size_t count;
    char model[WORD_BYTES_MAX]; // "": none.
};

// -- Reading -----------------------------------------------------------------------------------

static void close_tokens(struct gguf_tokens *tokens)
{
    gguf_close(tokens->gguf);
    json_decref(tokens->table);
    alloc_free(tokens->texts);
}

// Copies the text of a key; "" if there is none that fits.
static void copy_word(const struct gguf *gguf, const char *key, char out_word[WORD_BYTES_MAX])
{
    struct gguf_text text = {"", 0};
    const int is_there = gguf_find_text(gguf, key, &text) && text.length < WORD_BYTES_MAX;
    (void)snprintf(out_word, WORD_BYTES_MAX, "%.*s", is_there ? (int)text.length : 0, text.bytes);
    utf8_make_plain(out_word);
}

// The kind of a tokenizer; empty if there is none, for which files have two words.
static void copy_model(const struct gguf *gguf, char out_model[WORD_BYTES_MAX])
{
    copy_word(gguf, KEY("model"), out_model);
    if (strcmp(out_model, "none") == 0 || strcmp(out_model, "no_vocab") == 0) {
        out_model[0] = '\0';
    }
}

static tapml_status
fail_key(const struct gguf_tokens *tokens, const char *key, const char *expected)
{
    return status_fail(TAPML_INVALID, "%s: key '%s': expected %s, found another value",
                       gguf_path(tokens->gguf), key, expected);
}

// An array with a value for each token, or NULL.
static tapml_status find_list(const struct gguf_tokens *tokens,
                              const char *key,
                              int is_integer,
                              const struct gguf_value **out_value)
{
    const struct gguf_value *value = gguf_find(tokens->gguf, key);
    int64_t integer = 0;
    double number = 0;
    *out_value = value;
    if (!value || tokens->count == 0) {
        return TAPML_OK;
    }
    const int is_list = value->is_array && value->count == tokens->count &&
                        (is_integer ? gguf_value_integer(value, 0, &integer)
                                    : gguf_value_number(value, 0, &number));
    return is_list ? TAPML_OK : fail_key(tokens, key, "an array with a number for each token");
}

static tapml_status read_texts(struct gguf_tokens *tokens)
{
    const struct gguf_value *value = gguf_find(tokens->gguf, KEY("tokens"));
    if (!value || !value->is_array || value->type != GGUF_TEXT || value->count > INT32_MAX) {
        return fail_key(tokens, KEY("tokens"), "an array of texts");
    }
    const unsigned char *at = value->data;
    tokens->texts = alloc_array((size_t)value->count + 1, sizeof(*tokens->texts));
    if (!tokens->texts) {
        return status_no_memory();
    }
    for (uint64_t i = 0; i < value->count; ++i) {
        tokens->texts[tokens->count++] = gguf_value_next_text(&at);
    }
    TAPML_TRY(find_list(tokens, KEY("token_type"), 1, &tokens->types));
    return find_list(tokens, KEY("scores"), 0, &tokens->scores);
}

static tapml_status open_tokens(const char *path, struct gguf_tokens *tokens)
{
    *tokens = (struct gguf_tokens){.count = 0};
    TAPML_TRY(gguf_open(path, &tokens->gguf));
    copy_model(tokens->gguf, tokens->model);
    if (!tokens->model[0]) {
        return TAPML_OK;
    }
    TAPML_TRY(gguf_tables_load_named("tokenizers", &tokens->table));
    return read_texts(tokens);
}

static int64_t type_of(const struct gguf_tokens *tokens, size_t id)
{
    int64_t type = NORMAL;
    return tokens->types && gguf_value_integer(tokens->types, id, &type) ? type : NORMAL;
}

// The id of a role, or -1.
static int64_t id_of(const struct gguf_tokens *tokens, const char *key)
{
    int64_t id = -1;
    const int is_there = gguf_find_integer(tokens->gguf, key, &id);
    return is_there && id >= 0 && (uint64_t)id < tokens->count ? id : -1;
}

// The truth value of a key, or `fallback`.
static int flag_of(const struct gguf_tokens *tokens, const char *key, int fallback)
{
    int64_t flag = fallback;
    (void)gguf_find_integer(tokens->gguf, key, &flag);
    return flag != 0;
}

int gguf_tokenizer_exists(const char *path)
{
    struct gguf *gguf = NULL;
    char model[WORD_BYTES_MAX] = "";
    if (gguf_open(path, &gguf) == TAPML_OK) {
        copy_model(gguf, model);
        gguf_close(gguf);
    }
    return model[0] != '\0';
}

// -- tokenizer.json ----------------------------------------------------------------------------

// Appends a member of an object and a comma, if it is there.
static void append_member(struct text *out, const json_t *object, const char *name)
{
    const json_t *member = json_object_get(object, name);
    if (member) {
        text_format(out, "\"%s\":", name);
        json_file_print(out, member, JSON_COMPACT);
        text_append(out, ",");
    }
}

// What the splitting pattern of a name is; an alias is that of another name.
static tapml_status find_pattern(const struct gguf_tokens *tokens, const json_t **out_pattern)
{
    char name[WORD_BYTES_MAX];
    copy_word(tokens->gguf, KEY("pre"), name);
    const json_t *patterns = json_object_get(tokens->table, "patterns");
    const json_t *found = json_object_get(patterns, name);
    if (json_is_string(found)) {
        found = json_object_get(patterns, json_string_value(found));
    }
    if (!found) {
        return status_fail(TAPML_INVALID,
                           "%s: key '" KEY("pre") "': the splitting pattern '%s' is unsupported",
                           gguf_path(tokens->gguf), name);
    }
    *out_pattern = found;
    return TAPML_OK;
}

static void append_vocab(const struct gguf_tokens *tokens, struct text *out)
{
    text_append(out, "\"vocab\":{");
    for (size_t i = 0; i < tokens->count; ++i) {
        text_append(out, i > 0 ? "," : "");
        text_append_json_bytes(out, tokens->texts[i].bytes, tokens->texts[i].length);
        text_format(out, ":%zu", i);
    }
    text_append(out, "}");
}

static tapml_status append_merges(const struct gguf_tokens *tokens, struct text *out)
{
    const struct gguf_value *merges = gguf_find(tokens->gguf, KEY("merges"));
    const unsigned char *at = merges ? merges->data : NULL;
    if (merges && (!merges->is_array || merges->type != GGUF_TEXT)) {
        return fail_key(tokens, KEY("merges"), "an array of texts");
    }
    text_append(out, "\"merges\":[");
    for (uint64_t i = 0; merges && i < merges->count; ++i) {
        const struct gguf_text merge = gguf_value_next_text(&at);
        text_append(out, i > 0 ? "," : "");
        text_append_json_bytes(out, merge.bytes, merge.length);
    }
    text_append(out, "]");
    return TAPML_OK;
}

// Tokens of the user and of control are cut out of a text.
static void append_added(const struct gguf_tokens *tokens, struct text *out)
{
    const char *comma = "";
    text_append(out, "\"added_tokens\":[");
    for (size_t i = 0; i < tokens->count; ++i) {
        const int64_t type = type_of(tokens, i);
        if (type == CONTROL || type == USER || type == UNKNOWN) {
            text_format(out, "%s{\"id\":%zu,\"special\":%s,\"content\":", comma, i,
                        type == USER ? "false" : "true");
            text_append_json_bytes(out, tokens->texts[i].bytes, tokens->texts[i].length);
            text_append(out, "}");
            comma = ",";
        }
    }
    text_append(out, "]");
}

static tapml_status write_bpe(const struct gguf_tokens *tokens, struct text *out)
{
    const json_t *pattern = NULL;
    TAPML_TRY(find_pattern(tokens, &pattern));
    text_append(out, "{");
    append_member(out, pattern, "normalizer");
    append_member(out, pattern, "pre_tokenizer");
    text_append(out, "\"decoder\":{\"type\":\"ByteLevel\"},\"model\":{\"type\":\"BPE\",");
    if (json_is_true(json_object_get(pattern, "ignore_merges"))) {
        text_append(out, "\"ignore_merges\":true,");
    }
    append_vocab(tokens, out);
    text_append(out, ",");
    TAPML_TRY(append_merges(tokens, out));
    text_append(out, "},");
    append_added(tokens, out);
    text_append(out, "}");
    return TAPML_OK;
}

// Converters mark the words that begin another one by U+2581, where vocab.txt marks those that go
// on by "##".
static void append_word(const struct gguf_text *word, struct text *out)
{
    static const char begins[] = "\xe2\x96\x81";
    const size_t mark = strlen(begins);
    const int is_special =
        word->length > 1 && word->bytes[0] == '[' && word->bytes[word->length - 1] == ']';
    struct text plain;
    text_init(&plain);
    if (word->length >= mark && memcmp(word->bytes, begins, mark) == 0) {
        text_append_bytes(&plain, word->bytes + mark, word->length - mark);
    } else {
        text_append(&plain, is_special ? "" : "##");
        text_append_bytes(&plain, word->bytes, word->length);
    }
    text_append_json_bytes(out, plain.data, plain.length);
    out->failed |= plain.failed;
    text_release(&plain);
}

static void
append_end(const struct gguf_tokens *tokens, const char *name, int64_t id, struct text *out)
{
    text_format(out, ",\"%s\":[", name);
    text_append_json_bytes(out, tokens->texts[id].bytes, tokens->texts[id].length);
    text_format(out, ",%lld]", (long long)id);
}

// The id of a role; if there is none, that of the token of this text, or -1.
static int64_t id_or_token(const struct gguf_tokens *tokens, const char *key, const char *text)
{
    int64_t id = id_of(tokens, key);
    for (size_t i = 0; id < 0 && i < tokens->count; ++i) {
        const struct gguf_text *token = &tokens->texts[i];
        id = token->length == strlen(text) && memcmp(token->bytes, text, token->length) == 0
                 ? (int64_t)i
                 : -1;
    }
    return id;
}

static tapml_status write_words(const struct gguf_tokens *tokens, struct text *out)
{
    const int64_t begin = id_or_token(tokens, KEY("cls_token_id"), "[CLS]");
    const int64_t end = id_or_token(tokens, KEY("seperator_token_id"), "[SEP]"); // Spelled so.
    text_append(out, "{");
    append_member(out, json_object_get(tokens->table, "words"), "normalizer");
    append_member(out, json_object_get(tokens->table, "words"), "pre_tokenizer");
    append_member(out, json_object_get(tokens->table, "words"), "decoder");
    if (begin >= 0 && end >= 0) {
        text_append(out, "\"post_processor\":{\"type\":\"BertProcessing\"");
        append_end(tokens, "cls", begin, out);
        append_end(tokens, "sep", end, out);
        text_append(out, "},");
    }
    text_append(out, "\"model\":{\"type\":\"WordPiece\",\"vocab\":{");
    for (size_t i = 0; i < tokens->count; ++i) {
        text_append(out, i > 0 ? "," : "");
        append_word(&tokens->texts[i], out);
        text_format(out, ":%zu", i);
    }
    text_append(out, "}},");
    append_added(tokens, out);
    text_append(out, "}");
    return TAPML_OK;
}

// -- tokenizer.model ---------------------------------------------------------------------------

static void append_varint(struct text *out, uint64_t number)
{
    do {
        const char byte = (char)((number & 0x7f) | (number > 0x7f ? 0x80 : 0));
        text_append_bytes(out, &byte, 1);
        number >>= 7;
    } while (number > 0);
}

static void append_number(struct text *out, unsigned field, uint64_t number)
{
    append_varint(out, field << 3 | WIRE_NUMBER);
    append_varint(out, number);
}

static void append_bytes(struct text *out, unsigned field, const void *bytes, size_t count)
{
    append_varint(out, field << 3 | WIRE_BYTES);
    append_varint(out, count);
    text_append_bytes(out, bytes, count);
}

static void
append_piece(const struct gguf_tokens *tokens, size_t id, struct text *piece, struct text *out)
{
    double score = 0;
    (void)(tokens->scores && gguf_value_number(tokens->scores, id, &score));
    const float single = (float)score;
    uint32_t bits = 0;
    memcpy(&bits, &single, sizeof(bits));
    const unsigned char little[] = {bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff, bits >> 24};
    text_clear(piece);
    append_bytes(piece, PIECE_TEXT, tokens->texts[id].bytes, tokens->texts[id].length);
    append_varint(piece, PIECE_SCORE << 3 | WIRE_FLOAT);
    text_append_bytes(piece, little, sizeof(little));
    append_number(piece, PIECE_TYPE, (uint64_t)type_of(tokens, id));
    append_bytes(out, MODEL_PIECES, piece->data, piece->length);
}

static tapml_status append_map(const struct gguf_tokens *tokens, struct text *normalizer)
{
    const struct gguf_value *map = gguf_find(tokens->gguf, KEY("precompiled_charsmap"));
    if (map && (!map->is_array || gguf_value_item_bytes(map->type) != 1)) {
        return fail_key(tokens, KEY("precompiled_charsmap"), "an array of bytes");
    }
    if (map && map->count > 0) {
        append_bytes(normalizer, NORMALIZER_MAP, map->data, (size_t)map->count);
    }
    return TAPML_OK;
}

static tapml_status
append_model(const struct gguf_tokens *tokens, int is_unigram, struct text *part, struct text *out)
{
    const int64_t ids[] = {id_of(tokens, KEY("unknown_token_id")),
                           id_of(tokens, KEY("bos_token_id")), id_of(tokens, KEY("eos_token_id"))};
    for (size_t i = 0; i < tokens->count; ++i) {
        append_piece(tokens, i, part, out);
    }
    text_clear(part);
    append_number(part, TRAINER_TYPE, is_unigram ? TYPE_UNIGRAM : TYPE_BPE);
    append_number(part, TRAINER_FALLBACK, 1);
    append_number(part, TRAINER_UNKNOWN, (uint64_t)ids[0]);
    append_number(part, TRAINER_BEGIN, (uint64_t)ids[1]);
    append_number(part, TRAINER_END, (uint64_t)ids[2]);
    append_bytes(out, MODEL_TRAINER, part->data, part->length);
    text_clear(part);
    TAPML_TRY(append_map(tokens, part));
    append_number(part, NORMALIZER_PREFIX, (uint64_t)flag_of(tokens, KEY("add_space_prefix"), 1));
    append_number(part, NORMALIZER_EXTRA,
                  (uint64_t)flag_of(tokens, KEY("remove_extra_whitespaces"), is_unigram));
    append_number(part, NORMALIZER_ESCAPE, 1);
    append_bytes(out, MODEL_NORMALIZER, part->data, part->length);
    return text_status(part);
}

static tapml_status write_pieces(const struct gguf_tokens *tokens, int is_unigram, struct text *out)
{
    struct text part;
    text_init(&part);
    const tapml_status status = append_model(tokens, is_unigram, &part, out);
    text_release(&part);
    return status;
}

// -- Either ------------------------------------------------------------------------------------

static tapml_status
write_file(const struct gguf_tokens *tokens, enum gguf_tokenizer_kind *out_kind, struct text *out)
{
    const char *kind =
        json_string_value(json_object_get(json_object_get(tokens->table, "models"), tokens->model));
    *out_kind = GGUF_TOKENIZER_NONE;
    if (!tokens->model[0]) {
        return TAPML_OK;
    }
    if (!kind) {
        return status_fail(TAPML_INVALID,
                           "%s: key '" KEY("model") "': the tokenizer '%s' is unsupported",
                           gguf_path(tokens->gguf), tokens->model);
    }
    *out_kind = GGUF_TOKENIZER_DESCRIPTION;
    if (strcmp(kind, "bytes") == 0) {
        return write_bpe(tokens, out);
    }
    if (strcmp(kind, "words") == 0) {
        return write_words(tokens, out);
    }
    *out_kind = GGUF_TOKENIZER_PIECES;
    return write_pieces(tokens, strcmp(kind, "unigram") == 0, out);
}

tapml_status
gguf_tokenizer_load(const char *path, enum gguf_tokenizer_kind *out_kind, struct text *out)
{
    struct gguf_tokens tokens;
    tapml_status status = open_tokens(path, &tokens);
    if (status == TAPML_OK) {
        status = write_file(&tokens, out_kind, out);
    }
    close_tokens(&tokens);
    return status == TAPML_OK ? text_status(out) : status;
}

// -- Special tokens ----------------------------------------------------------------------------

static int set(json_t *config, const char *key, json_t *value)
{
    return value && json_object_set_new(config, key, value) == 0;
}

static json_t *string_of(const struct gguf_text *text)
{
    return utf8_is_valid(text->bytes, text->length) ? json_stringn(text->bytes, text->length)
                                                    : json_null();
}

// The tokens that have a role, as texts.
static int add_roles(const struct gguf_tokens *tokens, json_t *config)
{
    static const char *const roles[][2] = {
        {"bos_token", KEY("bos_token_id")},     {"eos_token", KEY("eos_token_id")},
        {"unk_token", KEY("unknown_token_id")}, {"sep_token", KEY("seperator_token_id")},
        {"pad_token", KEY("padding_token_id")}, {"cls_token", KEY("cls_token_id")},
        {"mask_token", KEY("mask_token_id")},
    };
    int done = 1;
    for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); ++i) {
        const int64_t id = id_of(tokens, roles[i][1]);
        done = done && (id < 0 || set(config, roles[i][0], string_of(&tokens->texts[id])));
    }
    return done;
}

// The ids that begin and end a text.
static int add_ids(const struct gguf_tokens *tokens, json_t *config)
{
    static const char *const ends[] = {KEY("eos_token_id"), KEY("eot_token_id"),
                                       KEY("eom_token_id")};
    int64_t id = -1;
    int done = 1;
    json_t *list = json_array();
    if (gguf_find_integer(tokens->gguf, KEY("bos_token_id"), &id) && id >= 0 && id <= INT32_MAX) {
        done = set(config, "bos_token_id", json_integer(id));
    }
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); ++i) {
        if (gguf_find_integer(tokens->gguf, ends[i], &id) && id >= 0 && id <= INT32_MAX) {
            done = done && json_array_append_new(list, json_integer(id)) == 0;
        }
    }
    return set(config, "eos_token_id", list) && done;
}

// Tokens of control, as those of SentencePiece are in no text of their own.
static int add_controls(const struct gguf_tokens *tokens, json_t *config)
{
    char key[32];
    json_t *map = json_object();
    int done = map != NULL;
    for (size_t i = 0; i < tokens->count; ++i) {
        const int64_t type = type_of(tokens, i);
        if (done && (type == CONTROL || type == UNKNOWN)) {
            (void)snprintf(key, sizeof(key), "%zu", i);
            done =
                set(map, key,
                    json_pack("{s:o, s:b}", "content", string_of(&tokens->texts[i]), "special", 1));
        }
    }
    return set(config, "added_tokens_decoder", map) && done;
}

static int add_template(const struct gguf_tokens *tokens, json_t *config)
{
    struct gguf_text template;
    return !gguf_find_text(tokens->gguf, "tokenizer.chat_template", &template) ||
           set(config, "chat_template", string_of(&template));
}

// Whether texts begin with a token where the file does not say so.
static int begins_by_default(const struct gguf_tokens *tokens)
{
    char name[WORD_BYTES_MAX];
    copy_word(tokens->gguf, KEY("pre"), name);
    const json_t *patterns = json_object_get(tokens->table, "patterns");
    const json_t *found = json_object_get(patterns, name);
    const char *alias = json_string_value(found);
    return json_is_true(
        json_object_get(alias ? json_object_get(patterns, alias) : found, "begins"));
}

static int add_flags(const struct gguf_tokens *tokens, json_t *config)
{
    static const char *const flags[][2] = {{"add_bos_token", KEY("add_bos_token")},
                                           {"add_eos_token", KEY("add_eos_token")}};
    int done = 1;
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); ++i) {
        if (gguf_find(tokens->gguf, flags[i][1])) {
            done = done && set(config, flags[i][0], json_boolean(flag_of(tokens, flags[i][1], 0)));
        }
    }
    if (!json_object_get(config, "add_bos_token") && begins_by_default(tokens)) {
        done = done && set(config, "add_bos_token", json_true());
    }
    return done;
}

tapml_status gguf_tokenizer_config(const char *path, json_t **out_config)
{
    struct gguf_tokens tokens;
    json_t *config = json_object();
    tapml_status status = open_tokens(path, &tokens);
    if (status == TAPML_OK) {
        const int done = config && add_roles(&tokens, config) && add_ids(&tokens, config) &&
                         add_controls(&tokens, config) && add_template(&tokens, config) &&
                         add_flags(&tokens, config);
        status = done ? TAPML_OK : status_no_memory();
    }
    close_tokens(&tokens);
    if (status != TAPML_OK) {
        json_decref(config);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}
