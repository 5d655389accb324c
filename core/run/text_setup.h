// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What commands open that measure a model by a text: the text in chunks, sessions with room for
// one, and what the model is compared with.
//
// One thread. Failures are those of files, models and backends, TAPML_NO_MEMORY, and TAPML_INVALID
// for options that are none and models that do not go together.
#pragma once

#include "exec/session.h"
#include "run/setup.h"
#include "run/text_chunks.h"

struct plan;

// The options by which a text is cut.
#define TEXT_SETUP_OPTIONS                                                                         \
    {"--text", "FILE", "the text, in UTF-8"},                                                      \
        {"--context", "N",                                                                         \
         "tokens of a chunk, 512 by default or as many as the model was made for"},                \
    {                                                                                              \
        "--chunks", "N", "the first N chunks alone"                                                \
    }

// Reads the text of these options by the setup's tokenizer. `model` is the folder of the setup's
// model; `context` is the default of --context, 0 the model's own. The caller releases the chunks.
tapml_status text_setup_chunks(const struct setup *setup,
                               const struct options *options,
                               const char *model,
                               int64_t context,
                               struct text_chunks *out_chunks) STATUS_USED;

// A session of the setup's model on all of its places, by calls of at most 128 tokens.
struct session_options text_setup_session(const struct setup *setup,
                                          const struct plan *plan,
                                          const struct text_chunks *chunks);

// What a model is compared with.
struct text_setup_base {
    struct model *model; // NULL: that of the setup.
    struct plan *plan;
    struct session *session;
};

// Opens the model of `folder`, as a user writes it, in f32 on a place of its own on the source's
// backend; NULL: the setup's model on the source alone. `beside` is the session that is measured.
// The caller closes the base also after a failure.
tapml_status text_setup_open_base(struct setup *setup,
                                  const struct options *options,
                                  const char *folder,
                                  const struct session_options *beside,
                                  struct text_setup_base *out_base) STATUS_USED;

// Whether a model of `folder` can be a base: TAPML_INVALID if its logits are not as wide as those
// of the setup's model.
tapml_status text_setup_check_base(const struct setup *setup,
                                   const struct model *model,
                                   const char *folder) STATUS_USED;

// Closes a base; where it has a model, the setup's places, too, one of which has its weights:
// sessions over them are gone by then. A zeroed base is allowed.
void text_setup_close_base(struct setup *setup, struct text_setup_base *base);
