// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of piece encoders share: a vocabulary of a few words, and ids as a text.
#pragma once

#include "base/alloc.h"
#include "tokenizer/piece_encoder.h"
#include "tokenizer/unigram.h"
#include "tokenizer/vocabulary.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

// The words have the ids 0, 1 and so on; the last one is NULL. The caller owns the vocabulary.
static inline struct vocabulary *encoded_vocabulary(const char *const *words)
{
    struct vocabulary *vocabulary = NULL;
    cr_assert_eq(vocabulary_create("t", &vocabulary), TAPML_OK);
    for (int64_t id = 0; words[id]; ++id) {
        cr_assert_eq(vocabulary_add(vocabulary, words[id], strlen(words[id]), id), TAPML_OK);
    }
    cr_assert_eq(vocabulary_finish(vocabulary), TAPML_OK);
    return vocabulary;
}

static inline void
encoded_expect(const struct piece_encoder *encoder, const char *piece, const char *expected)
{
    struct piece_work work = {.node_capacity = 0};
    struct ids ids;
    char found[512] = "";
    ids_init(&ids);
    const tapml_status status =
        encoder->type->encode(encoder->model, &work, piece, strlen(piece), &ids);
    for (size_t i = 0; i < ids.count && status == TAPML_OK; ++i) {
        snprintf(found + strlen(found), 16, "%d ", ids.items[i]);
    }
    cr_assert_str_eq(status == TAPML_OK ? found : "refused", expected, "'%s' gives %s", piece,
                     found);
    ids_release(&ids);
    piece_encoder_work_release(&work);
}
