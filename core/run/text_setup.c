// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/text_setup.h"

#include "exec/plan.h"

enum { CALL = 128, CONTEXT_MAX = 1 << 24 };

tapml_status text_setup_chunks(const struct setup *setup,
                               const struct options *options,
                               const char *model,
                               int64_t context,
                               struct text_chunks *out_chunks)
{
    const char *path = options_get(options, "--text");
    int64_t most = 0;

    if (path == NULL) {
        return status_fail(TAPML_INVALID, "no text: give --text FILE");
    }
    if (setup_vocabulary(setup) == 0) {
        return status_fail(TAPML_INVALID,
                           "the model '%s' gives no 'logits', as an encoder: it has no perplexity",
                           model);
    }
    if (setup->tokenizer == NULL) {
        return setup->no_text != NULL
                   ? status_fail(TAPML_INVALID, "%s", setup->no_text)
                   : status_fail(TAPML_INVALID, "the model '%s' has no tokenizer", model);
    }
    if (context == 0) {
        TAPML_TRY(text_chunks_default_context(model, &context));
    }
    TAPML_TRY(options_i64(options, "--context", context, TEXT_CHUNKS_CONTEXT_LEAST, CONTEXT_MAX,
                          &context));
    TAPML_TRY(options_i64(options, "--chunks", INT64_MAX, 1, INT64_MAX, &most));
    return text_chunks_read(setup->tokenizer, path, context, most, out_chunks);
}

struct session_options text_setup_session(const struct setup *setup,
                                          const struct plan *plan,
                                          const struct text_chunks *chunks)
{
    return (struct session_options){.model = setup->model,
                                    .places = setup->places,
                                    .place_count = setup->place_count,
                                    .plan = plan,
                                    .capacity = chunks->context,
                                    .chunk = chunks->context < CALL ? chunks->context : CALL};
}

// -- What is compared with ---------------------------------------------------------------------

tapml_status
text_setup_check_base(const struct setup *setup, const struct model *model, const char *folder)
{
    const int64_t expected = setup_vocabulary(setup), found = setup_vocabulary_of(model);

    return found == expected ? TAPML_OK
                             : status_fail(TAPML_INVALID,
                                           "the base '%s' has logits of %lld tokens, expected %lld",
                                           folder, (long long)found, (long long)expected);
}

// A model on a place of its own, which has its weights.
static tapml_status open_model(struct setup *setup,
                               const struct options *given,
                               const char *folder,
                               struct session_options *options,
                               struct text_setup_base *base)
{
    struct model_options model = {.folder = folder};

    TAPML_TRY(setup_read_model(setup, given, &model));
    model.delta = NULL; // What they change is measured against the model without.
    model.adapter = NULL;
    TAPML_TRY(model_open(setup->registry, &model, &base->model));
    TAPML_TRY(text_setup_check_base(setup, base->model, model.folder));
    TAPML_TRY(setup_place(setup, "base", setup->places[0]->settings.backend));
    options->model = base->model;
    options->places = &setup->places[setup->place_count - 1];
    options->place_count = 1;
    return TAPML_OK;
}

tapml_status text_setup_open_base(struct setup *setup,
                                  const struct options *options,
                                  const char *folder,
                                  const struct session_options *beside,
                                  struct text_setup_base *out_base)
{
    struct session_options session = *beside;

    *out_base = (struct text_setup_base){.model = NULL};
    TAPML_TRY(plan_create(&out_base->plan));
    session.plan = out_base->plan;
    if (folder != NULL) {
        TAPML_TRY(open_model(setup, options, folder, &session, out_base));
    }
    return session_create(&session, &out_base->session);
}

void text_setup_close_base(struct setup *setup, struct text_setup_base *base)
{
    session_destroy(base->session);
    plan_destroy(base->plan);
    while (base->model != NULL && setup->place_count > 0) {
        place_destroy(setup->places[--setup->place_count]);
    }
    model_close(base->model);
    *base = (struct text_setup_base){.model = NULL};
}
