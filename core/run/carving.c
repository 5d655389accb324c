// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/carving.h"

#include "base/alloc.h"
#include "base/log.h"
#include "carve/recorder.h"
#include "exec/run.h"
#include "run/nonfinite_search.h"
#include "run/progress.h"
#include "store/call_line.h"
#include "store/metadata.h"
#include "store/prompt.h"
#include "store/store.h"

#include <inttypes.h>
#include <stdio.h>

enum { PHASE_TEXT = 48 };

struct carving {
    const struct run_config *config;
    const struct setup *setup;
    struct plan *plan;    // All on the source.
    struct place *source; // Under the recorder, which it owns.
    struct session *session;
    struct recorder *recorder;
    const struct prompts *prompts;
    const struct carving_share *share;       // Of the prompts; NULL: all of them.
    const struct carving_listener *listener; // Or NULL.
    const struct prompt *prompt;
    struct progress *progress; // Counts tokens, which cost much the same.
    size_t done, all;          // Tokens.
    struct recorder_counts counts;
};

// Tokens that are fed for a prompt which does not end early.
static size_t tokens_of(const struct carving *carving, const struct prompt *prompt)
{
    return prompt->count + (carving->config->decode > 1 ? (size_t)carving->config->decode - 1 : 0);
}

static struct session_options options_of(const struct carving *carving, struct place *const *source)
{
    return (struct session_options){.model = carving->setup->model,
                                    .places = source,
                                    .place_count = 1,
                                    .plan = carving->plan,
                                    .capacity = carving->config->capacity,
                                    .chunk = carving->config->chunk};
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

// A prompt, to be run without a recorder.
static struct nonfinite_run run_again(const struct carving *carving,
                                      const struct prompt *prompt,
                                      const struct session_options *options)
{
    return (struct nonfinite_run){.session = options,
                                  .ids = prompt->ids,
                                  .count = (int64_t)prompt->count,
                                  .decode = carving->config->decode,
                                  .given = &prompt->given};
}

static tapml_status carve_prompt(struct carving *carving, int64_t index, int32_t *greedy)
{
    const struct special *special = &carving->setup->special;
    const struct session_options options = options_of(carving, &carving->setup->places[0]);
    const struct nonfinite_run again = run_again(carving, carving->prompt, &options);
    const struct backend *source = carving->setup->places[0]->backend;
    const uint64_t generation = backend_generation(source);
    int64_t count = 0;

    TAPML_TRY(nonfinite_search_explain(
        run_greedy(carving->session,
                   &(struct run_options){.ids = carving->prompt->ids,
                                         .count = (int64_t)carving->prompt->count,
                                         .given = &carving->prompt->given,
                                         .decode = carving->config->decode,
                                         .end = special->end,
                                         .end_count = special->end_count,
                                         .before_step = begin_step,
                                         .user = carving},
                   greedy, &count),
        &again));
    if (backend_generation(source) != generation) { // Its states were lost amidst of the prompt.
        return status_fail(TAPML_INTERNAL,
                           "the worker of the source ended while it ran prompt %lld",
                           (long long)index + 1);
    }
    return recorder_end_prompt(carving->recorder,
                               &(struct carved_prompt){.index = index,
                                                       .text = carving->prompt->text,
                                                       .ids = carving->prompt->ids,
                                                       .id_count = (int64_t)carving->prompt->count,
                                                       .greedy = greedy,
                                                       .greedy_count = count});
}

// Equal prompts are carved once.
static int is_own(const struct carving *carving, size_t index)
{
    const struct carving_share *share = carving->share;

    return !carving->prompts->items[index].is_repeated &&
           (share == NULL || share->of[index] == share->index);
}

// Whether a prompt is to be carved: it is of the share, and not there.
static int is_missing(const struct carving *carving, struct store *store, size_t index)
{
    return is_own(carving, index) && !prompt_is_carved(store, carving->prompts->items[index].id);
}

static size_t count_own(const struct carving *carving)
{
    size_t count = 0;

    for (size_t i = 0; i < carving->prompts->count; i++) {
        count += is_own(carving, i) != 0;
    }
    return count;
}

static void count_tokens(struct carving *carving, struct store *store)
{
    for (size_t i = 0; i < carving->prompts->count; i++) {
        const size_t tokens =
            is_own(carving, i) ? tokens_of(carving, &carving->prompts->items[i]) : 0;

        carving->all += tokens;
        carving->progress->skipped += is_missing(carving, store, i) ? 0 : tokens;
    }
    carving->done = carving->progress->skipped;
}

// Carves the missing ones of the prompts from `begin` to before `end`.
static tapml_status
carve_between(struct carving *carving, struct store *store, size_t begin, size_t end)
{
    int32_t *greedy = alloc_array((size_t)carving->config->decode + 1, sizeof(*greedy));
    tapml_status status = greedy != NULL ? TAPML_OK : status_no_memory();

    for (size_t i = begin; i < end && status == TAPML_OK; i++) {
        carving->prompt = &carving->prompts->items[i];
        if (is_missing(carving, store, i)) {
            status = carve_prompt(carving, (int64_t)i, greedy);
            carving->done += tokens_of(carving, carving->prompt);
            if (status == TAPML_OK && carving->listener != NULL) {
                carving->listener->carved(carving->listener->user);
            }
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
    const struct session_options options = options_of(carving, &carving->source);

    return session_create(&options, &carving->session);
}

// From `begin` on, the first prompt that is to be carved.
static size_t find_missing(const struct carving *carving, struct store *store, size_t begin)
{
    while (begin < carving->prompts->count && !is_missing(carving, store, begin)) {
        begin++;
    }
    return begin;
}

// From `begin` on, the first prompt that the store has.
static size_t find_carved(const struct carving *carving, struct store *store, size_t begin)
{
    const struct prompts *prompts = carving->prompts;

    while (begin < prompts->count && !prompt_is_carved(store, prompts->items[begin].id)) {
        begin++;
    }
    return begin;
}

// A stretch of missing prompts is carved as it was when those behind it were not there: so the same
// cases are kept again.
static tapml_status
carve_stretch(struct carving *carving, struct store *store, size_t begin, size_t end)
{
    const struct place *source = carving->setup->places[0];
    struct recorder_made made = {
        .options = {.store_path = store_path(store),
                    .checkpoint = model_checkpoint(carving->setup->model),
                    .keep_all = carving->config->keep_all,
                    .is_share = carving->share != NULL,
                    .prompts_end = (int64_t)end},
    };
    const struct place_link link = recorder_link(&made);

    TAPML_TRY(place_wrap(source, &source->settings, &link, 1, &carving->source));
    carving->recorder = made.recorder;
    tapml_status status = make_session(carving);

    if (status == TAPML_OK) {
        status = carve_between(carving, store, begin, end);
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

// A source that somebody else has killed goes on with the prompt that was at hand, as another start
// of the run would; each prompt has its own tries.
static tapml_status
carve_persistently(struct carving *carving, struct store *store, size_t begin, size_t end)
{
    struct backend *source = carving->setup->places[0]->backend;
    struct persist persist;
    tapml_status status = TAPML_OK;

    persist_begin(&persist, source);
    do {
        const size_t next = find_missing(carving, store, begin);

        if (next > begin) {
            begin = next;
            persist_begin(&persist, source);
        }
        status = carve_stretch(carving, store, begin, end);
    } while (persist_again(&persist, &status));
    return status;
}

// The first call with a value that is not finite.
struct first_nonfinite {
    int is_found;
    struct hash prompt;
};

static void look_at(void *user, const struct call_line *call)
{
    struct first_nonfinite *first = user;

    for (uint32_t i = 0; !first->is_found && i < call->output_count; i++) {
        if (call->outputs[i].non_finite > 0) {
            *first = (struct first_nonfinite){1, call->prompt};
        }
    }
}

// The call is run again for the element.
static tapml_status warn_nonfinite(const struct carving *carving, struct store *store)
{
    const struct prompts *prompts = carving->prompts;
    struct first_nonfinite first = {.is_found = 0};
    struct nonfinite nonfinite = {.is_found = 0};
    const struct session_options options = options_of(carving, &carving->setup->places[0]);

    TAPML_TRY(call_line_visit(store, look_at, &first));
    for (size_t i = 0; first.is_found && !nonfinite.is_found && i < prompts->count; i++) {
        if (hash_equal(prompts->items[i].id, first.prompt)) {
            const struct nonfinite_run again = run_again(carving, &prompts->items[i], &options);

            TAPML_TRY(nonfinite_search(&again, &nonfinite));
        }
    }
    if (!nonfinite.is_found) {
        return TAPML_OK;
    }
    log_line(LOG_WARNING, "the source: %s", nonfinite.sentence);
    return metadata_set(store, "source.nonfinite", nonfinite.sentence); // For the report.
}

static tapml_status carve_missing(struct carving *carving, struct store *store, size_t begin)
{
    TAPML_TRY(plan_create(&carving->plan));
    while (begin < carving->prompts->count) {
        const size_t end = find_carved(carving, store, begin);

        TAPML_TRY(carve_persistently(carving, store, begin, end));
        begin = find_missing(carving, store, end);
    }
    return TAPML_OK;
}

static tapml_status carve(struct carving *carving, struct store *store, struct run_lock *lock)
{
    struct progress progress;
    char phase[PHASE_TEXT] = "carve";

    const size_t begin = find_missing(carving, store, 0);

    if (begin == carving->prompts->count) {
        return TAPML_OK;
    }
    if (carving->share != NULL) {
        (void)snprintf(phase, sizeof(phase), "carve %" PRIu32 " of %" PRIu32,
                       carving->share->index + 1, carving->share->count);
    }
    carving->progress = &progress;
    progress_begin(&progress, phase, 0);
    progress.unit = "tokens";
    progress.lock = lock;
    count_tokens(carving, store);
    tapml_status status = carve_missing(carving, store, begin);

    if (status == TAPML_OK) {
        progress_end(
            &progress, "%zu prompts, %" PRIu64 " calls, %" PRIu64 " cases kept, %.1f of %.1f MB",
            count_own(carving), carving->counts.calls, carving->counts.kept,
            (double)carving->counts.bytes_kept * 1e-6, (double)carving->counts.bytes_seen * 1e-6);
        status = warn_nonfinite(carving, store);
    }
    plan_destroy(carving->plan);
    return status;
}

tapml_status carving_run(const struct run_config *config,
                         struct setup *setup,
                         struct store *store,
                         const struct prompts *prompts,
                         struct run_lock *lock)
{
    return carve(&(struct carving){.config = config, .setup = setup, .prompts = prompts}, store,
                 lock);
}

tapml_status carving_run_told(const struct run_config *config,
                              struct setup *setup,
                              struct store *store,
                              const struct prompts *prompts,
                              struct run_lock *lock,
                              const struct carving_listener *listener)
{
    return carve(
        &(struct carving){
            .config = config, .setup = setup, .prompts = prompts, .listener = listener},
        store, lock);
}

tapml_status carving_run_share(const struct run_config *config,
                               struct setup *setup,
                               struct store *store,
                               const struct prompts *prompts,
                               const struct carving_share *share)
{
    return carve(
        &(struct carving){.config = config, .setup = setup, .prompts = prompts, .share = share},
        store, NULL);
}
