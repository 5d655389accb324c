// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/perplexity.h"

#include "base/alloc.h"
#include "run/interrupt.h"

#include <math.h>

// The logits of a call, a row for each of its tokens.
struct logits {
    const float *values;
    int64_t width;
};

static tapml_status
step(struct session *session, const int32_t *ids, int64_t count, struct logits *out_logits)
{
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    TAPML_TRY(session_step(session, ids, count, NULL, 0));
    TAPML_TRY(session_output(session, "logits", &out_logits->values, shape, &rank));
    if (rank != 2 || shape[0] != count) {
        return status_fail(TAPML_INVALID, "'logits' have no row for each of %lld tokens",
                           (long long)count);
    }
    out_logits->width = shape[1];
    return TAPML_OK;
}

static tapml_status score(struct perplexity *perplexity,
                          const struct log_softmax *computed,
                          const struct log_softmax *base,
                          int32_t next)
{
    if (next < 0 || next >= computed->width) {
        return status_fail(TAPML_INVALID,
                           "the model has logits of %lld tokens, and the text has token %d",
                           (long long)computed->width, next);
    }
    const double surprise = -log_softmax_at(computed, next);

    if (isinf(surprise)) {
        return status_fail(TAPML_INVALID, "token %d, which follows, is impossible", next);
    }
    running_mean_add(&perplexity->surprise, surprise);
    return base != NULL ? kl_divergence_add(&perplexity->divergence, base, computed, next)
                        : TAPML_OK;
}

// A row of a call, whose logits are those behind which the text has the token `next`.
static tapml_status score_row(struct perplexity *perplexity,
                              const struct logits *computed,
                              const struct logits *base,
                              int64_t row,
                              int32_t next)
{
    struct log_softmax rows[2];

    TAPML_TRY(
        log_softmax_make(computed->values + row * computed->width, computed->width, &rows[0]));
    if (base == NULL) {
        return score(perplexity, &rows[0], NULL, next);
    }
    const tapml_status status =
        log_softmax_make(base->values + row * base->width, base->width, &rows[1]);

    return status == TAPML_OK ? score(perplexity, &rows[0], &rows[1], next)
                              : status_explain(status, "of the base");
}

// `count` tokens at position `at` of a chunk, all of them scored.
static tapml_status run_call(const struct perplexity_options *options,
                             const int32_t *ids,
                             int64_t at,
                             int64_t count,
                             struct perplexity *perplexity)
{
    struct logits computed, base;

    TAPML_TRY(step(options->session, ids + at, count, &computed));
    if (options->base != NULL) {
        TAPML_TRY(step(options->base, ids + at, count, &base));
    }
    for (int64_t row = 0; row < count; row++) {
        const int64_t position = at + row;
        const tapml_status status = score_row(
            perplexity, &computed, options->base != NULL ? &base : NULL, row, ids[position + 1]);

        if (status != TAPML_OK) {
            return status_explain(status, "chunk %lld, position %lld",
                                  (long long)perplexity->chunk + 1, (long long)position);
        }
    }
    return interrupt_check();
}

// The first half of a chunk, whose logits nobody reads.
static tapml_status
begin(struct session *session, const int32_t *ids, const struct text_chunks *chunks)
{
    TAPML_TRY(session_begin(session, chunks->context));
    TAPML_TRY(session_feed(session, ids, text_chunks_first(chunks)));
    return interrupt_check();
}

static tapml_status
run_chunk(const struct perplexity_options *options, int32_t *ids, struct perplexity *perplexity)
{
    const struct text_chunks *chunks = options->chunks;
    const int64_t end = chunks->context - 1; // The last token has no successor.

    text_chunks_copy(chunks, perplexity->chunk, ids);
    TAPML_TRY(begin(options->session, ids, chunks));
    if (options->base != NULL) {
        TAPML_TRY(begin(options->base, ids, chunks));
    }
    for (int64_t at = text_chunks_first(chunks); at < end; at += options->call) {
        const int64_t left = end - at;

        TAPML_TRY(
            run_call(options, ids, at, left < options->call ? left : options->call, perplexity));
    }
    return TAPML_OK;
}

tapml_status perplexity_run(const struct perplexity_options *options,
                            struct perplexity *out_perplexity)
{
    const struct text_chunks *chunks = options->chunks;
    int32_t *ids = alloc_array((size_t)chunks->context, sizeof(*ids));
    tapml_status status = ids != NULL ? TAPML_OK : status_no_memory();

    *out_perplexity = (struct perplexity){0};
    while (status == TAPML_OK && out_perplexity->chunk < chunks->chunk_count) {
        status = run_chunk(options, ids, out_perplexity);
        if (status == TAPML_OK) {
            out_perplexity->chunk++;
            if (options->after_chunk != NULL) {
                options->after_chunk(options->user, out_perplexity);
            }
        }
    }
    alloc_free(ids);
    return status;
}

void perplexity_release(struct perplexity *perplexity)
{
    kl_divergence_release(&perplexity->divergence);
}

double perplexity_value(const struct running_mean *surprise)
{
    return exp(surprise->mean);
}

double perplexity_error(const struct running_mean *surprise)
{
    return perplexity_value(surprise) * running_mean_error(surprise);
}
