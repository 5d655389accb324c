// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/wordpiece.h"

#include "base/alloc.h"
#include "tokenizer/prefixes.h"

#include <string.h>

enum { CHARACTERS_MAX = 100 };

struct wordpiece {
    struct prefixes *prefixes;
    char *mark; // Of what does not begin a word.
    int64_t characters_max;
    int32_t unknown_id;
};

static void wordpiece_destroy(void *model)
{
    struct wordpiece *wordpiece = model;
    if (wordpiece) {
        prefixes_destroy(wordpiece->prefixes);
        alloc_free(wordpiece->mark);
        alloc_free(wordpiece);
    }
}

static int64_t count_characters(const char *text, size_t length)
{
    int64_t count = 0;
    for (size_t i = 0; i < length; ++i) {
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    }
    return count;
}

// The longest token of the word from here, or NULL, and how many bytes of the word it is.
static const struct vocabulary_token *find(const struct wordpiece *wordpiece,
                                           const char *word,
                                           size_t left,
                                           int is_first,
                                           size_t *out_length)
{
    const struct vocabulary_token *longest = NULL;
    struct prefixes_walk walk;
    prefixes_start(wordpiece->prefixes, &walk);
    for (const char *at = is_first ? "" : wordpiece->mark; *at; ++at) {
        if (!prefixes_step(wordpiece->prefixes, &walk, (unsigned char)*at)) {
            return NULL;
        }
    }
    for (size_t i = 0; i < left; ++i) {
        if (!prefixes_step(wordpiece->prefixes, &walk, (unsigned char)word[i])) {
            break;
        }
        const struct vocabulary_token *match = prefixes_match(wordpiece->prefixes, &walk);
        const int ends = i + 1 == left || ((unsigned char)word[i + 1] & 0xc0) != 0x80;
        if (match && ends) {
            longest = match;
            *out_length = i + 1;
        }
    }
    return longest;
}

static tapml_status wordpiece_encode(const void *model,
                                     struct piece_work *work,
                                     const char *piece,
                                     size_t length,
                                     struct ids *out_ids)
{
    const struct wordpiece *wordpiece = model;
    const size_t before = out_ids->count;
    if (count_characters(piece, length) > wordpiece->characters_max) {
        return ids_add(out_ids, wordpiece->unknown_id);
    }
    for (size_t at = 0; at < length;) {
        size_t count = 0;
        const struct vocabulary_token *token =
            find(wordpiece, piece + at, length - at, at == 0, &count);
        if (!token) { // The word as a whole is unknown.
            out_ids->count = before;
            return ids_add(out_ids, wordpiece->unknown_id);
        }
        TAPML_TRY(ids_add(out_ids, token->id));
        at += count;
    }
    return TAPML_OK;
}

static const struct piece_encoder_type wordpiece_type = {.encode = wordpiece_encode,
                                                         .destroy = wordpiece_destroy};

static tapml_status read_options(struct wordpiece *wordpiece,
                                 const char *name,
                                 const json_t *model,
                                 const struct vocabulary *vocabulary)
{
    const char *unknown = json_string_value(json_object_get(model, "unk_token"));
    const char *mark = json_string_value(json_object_get(model, "continuing_subword_prefix"));
    const json_t *most = json_object_get(model, "max_input_chars_per_word");
    wordpiece->mark = alloc_text(mark ? mark : "##");
    wordpiece->characters_max = json_is_integer(most) ? json_integer_value(most) : CHARACTERS_MAX;
    if (!wordpiece->mark) {
        return status_no_memory();
    }
    wordpiece->unknown_id = vocabulary_find_text(vocabulary, unknown ? unknown : "[UNK]");
    return wordpiece->unknown_id != VOCABULARY_NONE
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: expected the unk_token '%.64s' in the vocabulary",
                             name, unknown ? unknown : "[UNK]");
}

tapml_status wordpiece_create(const char *name,
                              const json_t *model,
                              const struct vocabulary *vocabulary,
                              struct piece_encoder *out_encoder)
{
    size_t count = 0;
    const struct vocabulary_token *tokens = vocabulary_all(vocabulary, &count);
    struct wordpiece *wordpiece = alloc_new(sizeof(*wordpiece));
    if (!wordpiece) {
        return status_no_memory();
    }
    tapml_status status = read_options(wordpiece, name, model, vocabulary);
    if (status == TAPML_OK) {
        status = prefixes_create(tokens, count, &wordpiece->prefixes);
    }
    if (status != TAPML_OK) {
        wordpiece_destroy(wordpiece);
        return status;
    }
    *out_encoder = (struct piece_encoder){.type = &wordpiece_type, .model = wordpiece};
    return TAPML_OK;
}
