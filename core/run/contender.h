// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A contender: a model, in an encoding, under a plan, that is measured chunk by chunk over a text.
// What is not said of it is as in the options of the command, which are those of
// run/plan_setup.h and run/text_setup.h.
//
// - kl: how far the probabilities of the next token are from those of a base, in nats
//   (run/kl_divergence.h).
// - perplexity: -log of the probability of the token that follows, in nats (run/perplexity.h).
// - speed: nanoseconds that a token takes in decode, behind a prefill of half a chunk. A few tokens
//   before the first chunk, which are not measured, warm up the device.
//
// One thread, that of the backends. Failures are those of models, files, plugins and backends, and
// TAPML_NO_MEMORY.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct device_file;
struct options;

// Words of `rank --by`, in this order.
enum contender_measure { CONTENDER_KL, CONTENDER_PERPLEXITY, CONTENDER_SPEED };
#define CONTENDER_MEASURES "kl perplexity speed"
const char *contender_measure_name(enum contender_measure measure);

// What a contender is. All is borrowed.
struct contender {
    const char *name;                   // For people.
    const char *model, *weights, *plan; // Words of these options; NULL: those of the command.
    const char *rules; // Those of the plan, in place of what its file has, which need not be there;
                       // or NULL. Contenders that differ in these alone share what is open.
};

// How contenders are measured. All is borrowed.
struct contender_options {
    const char *program;
    const struct options *options;
    enum contender_measure measure;
    const char *base; // Of kl: the model of the base, on the source; NULL: the contender's own.
    const struct device_file *fits; // Whose memory is asked for; or NULL.
    int64_t context;                // Tokens of a chunk without --context; 0: the model's own.
};

// What is known of a contender before it runs.
struct contender_look {
    char (*keys)[HASH_TEXT]; // Of each chunk: what its value depends on (store/trial.h).
    size_t chunk_count;
    int64_t context;       // Tokens of a chunk.
    double bytes_of_token; // Of the text, in the mean.
    uint64_t bytes;        // On the device of `fits`: weights, states and activations of a chunk.
                           // Under a plan those that ops away from the source read.
};

struct contender_session;

// Looks at a contender, which is opened for that. What is found is in `arena`. Nothing is run;
// weights are encoded only to learn `bytes`. TAPML_UNIMPLEMENTED if no weight takes the encoding.
// `*io_session` is NULL or what an earlier call, or contender_open, has left there: it is used
// again where both contenders differ in rules alone, else closed. The caller closes what is there
// at the end, after a failure, too; words of options and contenders outlive it.
tapml_status contender_look(const struct contender_options *options,
                            const struct contender *contender,
                            struct contender_session **io_session,
                            struct arena *arena,
                            struct contender_look *out_look) STATUS_USED;

// What a chunk gave.
struct contender_trial {
    double value;
    double beside; // kl: as of perplexity. speed: nanoseconds of a token of the prefill. Else NaN.
    uint64_t time_ns; // That it took, with the base.
};

// Opens a contender to run, with `*io_session` likewise. `contender_close` accepts NULL.
tapml_status contender_open(const struct contender_options *options,
                            const struct contender *contender,
                            struct contender_session **io_session) STATUS_USED;
void contender_close(struct contender_session *session);

// Measures a chunk, counted from 0. TAPML_INVALID for logits of which no probabilities follow; what
// `interrupt_check` says.
tapml_status contender_try(struct contender_session *session,
                           size_t chunk,
                           struct contender_trial *out_trial) STATUS_USED;
