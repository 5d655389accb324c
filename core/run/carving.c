// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/carving.h"

#include "base/alloc.h"
#include "carve/recorder.h"
#include "exec/run.h"
#include "run/progress.h"
#include "store/prompt.h"
#include "store/store.h"

#include <inttypes.h>

struct carving {
    const struct run_config *config;
    const struct setup *setup;
    struct place *source; // Under the recorder, which it owns.
    struct session *session;
    struct recorder *recorder;
    const struct prompt *prompt;
    struct progress *progress; // Counts tokens, which cost much the same.
    size_t done, all;
    struct recorder_counts counts;
};

// Tokens that are fed for a prompt which does not end early.
static size_t tokens_of(const struct carving *carving, const struct prompt *prompt)
{
    return prompt->count + (carving->config->decode > 1 ? (size_t)carving->config->decode - 1 : 0);
}

// A feed in chunks is several calls of one step. Beginning a step commits the one before, so that
// an interruption finds it written.
static tapml_status begin_step(void *user, int64_t step, int32_t next_id)
{
    const struct carving *carving = user;
    const size_t fed = step == 0 ? 0 : carving->prompt->count + (size_t)step - 1;

    (void)next_id;
    TAPML_TRY(recorder_begin_step(carving->recorder, carving->prompt->id, step,
                                  step == 0 ? "prefill" : "decode",
                                  step == 0 ? (int64_t)carving->prompt->count : 1));
    return progress_show(carving->progress, carving->done + fed, carving->all);
}

static tapml_status carve_prompt(struct carving *carving, int64_t index, int32_t *greedy)
{
    const struct special *special = &carving->setup->special;
    int64_t count = 0;

    TAPML_TRY(run_greedy(carving->session,
                         &(struct run_options){.ids = carving->prompt->ids,
                                               .count = (int64_t)carving->prompt->count,
                                               .decode = carving->config->decode,
                                               .end = special->end,
                                               .end_count = special->end_count,
                                               .before_step = begin_step,
                                               .user = carving},
                         greedy, &count));
    return recorder_end_prompt(carving->recorder,
                               &(struct carved_prompt){.index = index,
                                                       .text = carving->prompt->text,
                                                       .ids = carving->prompt->ids,
                                                       .id_count = (int64_t)carving->prompt->count,
                                                       .greedy = greedy,
                                                       .greedy_count = count});
}

static void
count_tokens(struct carving *carving, struct store *store, const struct prompts *prompts)
{
    for (size_t i = 0; i < prompts->count; i++) {
        const size_t tokens = tokens_of(carving, &prompts->items[i]);

        carving->all += tokens;
        carving->progress->skipped += prompt_is_carved(store, prompts->items[i].id) ? tokens : 0;
    }
    carving->done = carving->progress->skipped;
}

// Carves the missing ones of the prompts from `begin` to before `end`.
static tapml_status carve_between(struct carving *carving,
                                  struct store *store,
                                  const struct prompts *prompts,
                                  size_t begin,
                                  size_t end)
{
    int32_t *greedy = alloc_array((size_t)carving->config->decode + 1, sizeof(*greedy));
    tapml_status status = greedy != NULL ? TAPML_OK : status_no_memory();

    for (size_t i = begin; i < end && status == TAPML_OK; i++) {
        carving->prompt = &prompts->items[i];
        if (!prompt_is_carved(store, carving->prompt->id)) {
            status = carve_prompt(carving, (int64_t)i, greedy);
            carving->done += tokens_of(carving, carving->prompt);
        }
        if (status == TAPML_OK) {
            status = progress_show(carving->progress, carving->done, carving->all);
        }
    }
    alloc_free(greedy);
    return status;
}

static tapml_status make_session(struct carving *carving)
{
    struct plan *plan = NULL;

    TAPML_TRY(plan_create(&plan));
    const tapml_status status =
        session_create(&(struct session_options){.model = carving->setup->model,
                                                 .places = &carving->source,
                                                 .place_count = 1,
                                                 .plan = plan,
                                                 .capacity = carving->config->capacity,
                                                 .chunk = carving->config->chunk},
                       &carving->session);

    plan_destroy(plan);
    return status;
}

// From `begin` on, the first prompt that the store has, or (0) has not.
static size_t
find_prompt(struct store *store, const struct prompts *prompts, size_t begin, int is_carved)
{
    while (begin < prompts->count &&
           prompt_is_carved(store, prompts->items[begin].id) != is_carved) {
        begin++;
    }
    return begin;
}

// A stretch of missing prompts is carved as it was when those behind it were not there: so the same
// cases are kept again.
static tapml_status carve_stretch(struct carving *carving,
                                  struct store *store,
                                  const struct prompts *prompts,
                                  size_t begin,
                                  size_t end)
{
    const struct place *source = carving->setup->places[0];
    struct recorder_made made = {
        .options = {.store_path = store_path(store),
                    .checkpoint = model_checkpoint(carving->setup->model),
                    .keep_all = carving->config->keep_all,
                    .prompts_end = (int64_t)end},
    };
    const struct place_link link = recorder_link(&made);

    TAPML_TRY(place_wrap(source, &source->settings, &link, 1, &carving->source));
    carving->recorder = made.recorder;
    tapml_status status = make_session(carving);

    if (status == TAPML_OK) {
        status = carve_between(carving, store, prompts, begin, end);
    }
    if (status == TAPML_OK) {
        status = recorder_finish(carving->recorder);
    }
    const struct recorder_counts counts = recorder_counts(carving->recorder);

    carving->counts.calls += counts.calls;
    carving->counts.kept += counts.kept;
    carving->counts.bytes_seen += counts.bytes_seen;
    carving->counts.bytes_kept += counts.bytes_kept;
    session_destroy(carving->session);
    carving->session = NULL;
    place_destroy(carving->source);
    carving->source = NULL;
    carving->recorder = NULL;
    return status;
}

tapml_status carving_run(const struct run_config *config,
                         struct setup *setup,
                         struct store *store,
                         const struct prompts *prompts,
                         struct run_lock *lock)
{
    struct progress progress;
    struct carving carving = {.config = config, .setup = setup, .progress = &progress};

    size_t begin = find_prompt(store, prompts, 0, 0);

    if (begin == prompts->count) {
        return TAPML_OK;
    }
    progress_begin(&progress, "carve", 0);
    progress.unit = "tokens";
    progress.lock = lock;
    count_tokens(&carving, store, prompts);
    while (begin < prompts->count) {
        const size_t end = find_prompt(store, prompts, begin, 1);

        TAPML_TRY(carve_stretch(&carving, store, prompts, begin, end));
        begin = find_prompt(store, prompts, end, 0);
    }
    progress_end(
        &progress, "%zu prompts, %" PRIu64 " calls, %" PRIu64 " cases kept, %.1f of %.1f MB",
        prompts->count, carving.counts.calls, carving.counts.kept,
        (double)carving.counts.bytes_kept * 1e-6, (double)carving.counts.bytes_seen * 1e-6);
    return TAPML_OK;
}
