// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The perplexity of a model on a text, exp of the mean of -log p of each scored token, and how far
// its probabilities are from those of a base on the same text.
//
// Scored are the tokens of the second half of each chunk (run/text_chunks.h), so that each has at
// least half of a context before it, as others do it (docs/perplexity.md). Logits of one call at a
// time are in memory: those of a chunk, or of the text, are never together.
//
// One thread, that of the sessions.
#pragma once

#include "exec/session.h"
#include "run/kl_divergence.h"
#include "run/text_chunks.h"

struct perplexity {
    int64_t chunk;                // The one at hand, from 0; behind the last: how many there were.
    struct running_mean surprise; // -log p of the scored tokens so far.
    struct kl_divergence divergence; // From the base; nothing where there is none.
};

typedef void (*perplexity_chunk_fn)(void *user, const struct perplexity *perplexity);

struct perplexity_options {
    struct session *session; // Of the model that is measured, with room for a context.
    struct session *base;    // Of what it is compared with, with logits as wide; or NULL.
    const struct text_chunks *chunks;
    int64_t call;                    // Tokens of a call at most: `chunk` of both sessions.
    perplexity_chunk_fn after_chunk; // Or NULL.
    void *user;
};

// Runs all chunks. The caller releases `*out_perplexity`, also after a failure: as those of
// sessions; TAPML_INVALID for logits of which no probabilities follow, or without an entry for a
// token of the text; what `interrupt_check` says.
tapml_status perplexity_run(const struct perplexity_options *options,
                            struct perplexity *out_perplexity) STATUS_USED;
void perplexity_release(struct perplexity *perplexity);

// exp of a mean of -log p, and its standard error by the derivative: exp(m) * error of m.
double perplexity_value(const struct running_mean *surprise);
double perplexity_error(const struct running_mean *surprise);
