// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/store_source.h"

#include "base/arena.h"
#include "base/log.h"
#include "config/run_config.h"
#include "model/checkpoint.h"
#include "run/case_weights.h"
#include "run/progress.h"
#include "run/run_metadata.h"
#include "run/setup.h"
#include "store/bundle.h"
#include "store/carved.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/weight.h"
#include "verify/verdicts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SENTENCE_TEXT = 512 };

// The first of the disagreements.
static void keep_first(void *user, const char *sentence)
{
    char *first = user;

    if (*first == '\0') {
        (void)snprintf(first, SENTENCE_TEXT, "%s", sentence);
    }
}

static int is_same_file(const char *left, const char *right)
{
    struct stat a, b;

    return stat(left, &a) == 0 && stat(right, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

static tapml_status
take_over(struct store *store, struct store *other, struct merge_counts *out_counts)
{
    char first[SENTENCE_TEXT] = "";

    if (bundle_is(other)) {
        return status_fail(TAPML_INVALID,
                           "[source] store: '%s' is a bundle, which `tapml-host replay` replays",
                           store_path(other));
    }
    TAPML_TRY(merge_cases(store, other, keep_first, first, out_counts));
    return out_counts->disagreements == 0
               ? TAPML_OK
               : status_fail(TAPML_PRECONDITION,
                             "'%s' holds cases that '%s' has no longer, %" PRId64
                             " of them; the first: %s; give this run another [run] dir, or remove "
                             "that one",
                             store_path(store), store_path(other), out_counts->disagreements,
                             first);
}

// Nothing to replay would be nothing that is wrong.
static tapml_status expect_cases(struct store *store, const struct run_config *config)
{
    struct carved_counts counts;

    TAPML_TRY(carved_count(store, &counts));
    return counts.cases > 0
               ? TAPML_OK
               : status_fail(TAPML_PRECONDITION,
                             "[source] store: '%s' has %" PRIu64 " calls and none is a case that "
                             "could be replayed",
                             config->store, counts.calls);
}

tapml_status store_source_settle(struct store *store,
                                 const struct run_config *config,
                                 const struct setup *setup,
                                 struct merge_counts *out_counts)
{
    struct store *other = NULL;

    *out_counts = (struct merge_counts){0};
    if (is_same_file(config->store, store_path(store))) {
        return status_fail(TAPML_INVALID,
                           "[source] store: '%s' is the store of this very run; give it another "
                           "[run] dir",
                           config->store);
    }
    TAPML_TRY(store_open_to_read(config->store, &other));
    const tapml_status status = take_over(store, other, out_counts);

    store_close(other);
    TAPML_TRY(status);
    TAPML_TRY(expect_cases(store, config));
    return run_metadata_settle_cases(store, config, setup);
}

// -- Weights -----------------------------------------------------------------------------------

static tapml_status check_weight(const struct run_config *config,
                                 const struct weight_row *row,
                                 const struct checkpoint *checkpoint)
{
    const struct checkpoint_tensor *tensor =
        checkpoint != NULL ? checkpoint_find(checkpoint, row->name) : NULL;
    int is_same = 0;

    if (row->is_inline) {
        return TAPML_OK;
    }
    TAPML_TRY(weight_is_same(row, tensor, &is_same));
    return is_same
               ? TAPML_OK
               : status_fail(TAPML_PRECONDITION,
                             "[source] store: '%s' refers to weight '%.200s', which %s; give "
                             "the folder of the weights as [model] path",
                             config->store, row->name,
                             checkpoint == NULL ? "is not in it, and its checkpoint is not there"
                             : tensor == NULL   ? "the checkpoint does not have"
                                                : "has other bytes in the checkpoint");
}

static tapml_status check_weights(struct store *store,
                                  const struct run_config *config,
                                  const struct checkpoint *checkpoint,
                                  struct arena *arena)
{
    struct weight_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(weight_list(store, arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(check_weight(config, &rows[i], checkpoint));
    }
    return TAPML_OK;
}

tapml_status store_source_weights(struct store *store,
                                  const struct run_config *config,
                                  struct setup *setup,
                                  struct checkpoint **out_checkpoint)
{
    struct arena *arena = arena_create();

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = case_weights_open(setup, store, config->model, out_checkpoint);

    if (status == TAPML_OK) {
        status = check_weights(store, config, *out_checkpoint, arena);
    }
    arena_destroy(arena);
    return status;
}

// -- What the source has computed --------------------------------------------------------------

// As COMPONENT:DEVICE in the setup's arena, or NULL: nothing calibrates. The metadata of the run
// say which component does, and its devices, of which the first is exact.
static const char *find_exact_device(struct store *store, const struct setup *setup)
{
    const char *devices = metadata_get(store, "limits.devices");
    const char *device =
        devices != NULL && *devices != '\0' ? arena_text(setup->arena, devices) : NULL;
    const char *component = metadata_get(store, "limits.component");

    return device != NULL && component != NULL
               ? arena_format(setup->arena, "%s:%.*s", component, (int)strcspn(device, " "), device)
               : NULL;
}

static void warn(const struct verdict_list *list)
{
    const size_t failed = verdict_count_failed(list->items, list->count);
    size_t first = 0;

    while (first < list->count && verdict_count_failed(&list->items[first], 1) == 0) {
        first++;
    }
    if (failed > 0) {
        log_line(LOG_WARNING,
                 "%zu of %zu cases are not what their op computes, and say nothing about a target; "
                 "the first: %s (%s): %s",
                 failed, list->count, list->items[first].instance, list->items[first].op_name,
                 list->items[first].reason);
    }
}

static tapml_status show(void *user, size_t done, size_t all)
{
    return progress_show(user, done, all);
}

tapml_status store_source_check(struct store *store,
                                struct setup *setup,
                                const struct checkpoint *checkpoint,
                                struct run_lock *lock,
                                struct verdict_list *out_list)
{
    const struct place_settings settings = {.name = STORE_SOURCE_ORACLE,
                                            .backend = find_exact_device(store, setup)};
    struct place *place = NULL;
    struct progress progress;

    *out_list = (struct verdict_list){0};
    if (settings.backend == NULL) {
        return TAPML_OK;
    }
    progress_begin(&progress, "check cases", 0);
    progress.lock = lock;
    TAPML_TRY(setup_add_place(setup, &settings, &place));
    TAPML_TRY(setup_open_place(setup, place));
    TAPML_TRY(verdicts_make(&(struct verdict_options){.registry = setup->registry,
                                                      .store = store,
                                                      .target = settings.name,
                                                      .backend = place->backend,
                                                      .checkpoint = checkpoint,
                                                      .progress = show,
                                                      .user = &progress},
                            out_list));
    progress_end(&progress, "%zu cases, %zu of them now, on %s: %zu are not what their op computes",
                 out_list->count, out_list->replayed, settings.backend,
                 verdict_count_failed(out_list->items, out_list->count));
    warn(out_list);
    return TAPML_OK;
}
