// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/chosen_cases.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/log.h"
#include "choose/choice.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/stored_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_TEXT = 256, NUMBER_TEXT = 32 };

static const double SECOND_NS = 1e9;

static tapml_status set(struct store *store, const char *target, const char *what, const char *text)
{
    char name[NAME_TEXT];
    (void)snprintf(name, sizeof(name), "select.%.200s%s", target, what);
    return metadata_set(store, name, text);
}

static tapml_status set_all(const struct verdict_options *options,
                            const char *sentence,
                            const char *budget,
                            const char *share,
                            const char *policy)
{
    TAPML_TRY(set(options->store, options->target, "", sentence));
    TAPML_TRY(set(options->store, options->target, ".budget", budget));
    TAPML_TRY(set(options->store, options->target, ".policy", policy));
    return set(options->store, options->target, ".share", share);
}

static tapml_status note(const struct verdict_options *options, const struct case_choice *choice)
{
    char sentence[CHOICE_TEXT] = "", budget[BUDGET_TEXT] = "", share[NUMBER_TEXT] = "";
    const char *policy = "";
    if (choice && choice->has_selected) {
        choice_print(choice, sentence);
        budget_print(&options->choice->budget, budget);
        policy = choice->selected_by ? choice->selected_by : "";
        if (!choice->selected_by) { // A policy gives no certificate.
            (void)snprintf(share, sizeof(share), "%.6f", choice->selected.certificate.share);
        }
    }
    TAPML_TRY(store_begin(options->store));
    tapml_status status = set_all(options, sentence, budget, share, policy);
    status = status == TAPML_OK ? store_commit(options->store) : status;
    if (status != TAPML_OK) {
        store_rollback(options->store);
    }
    return status;
}

// Whether an earlier start has chosen, which this one does not.
static int has_note(const struct verdict_options *options)
{
    char name[NAME_TEXT];
    (void)snprintf(name, sizeof(name), "select.%.200s", options->target);
    return !options->fresh && metadata_get(options->store, name) != NULL;
}

static void log_choice(const struct verdict_options *options, const struct case_choice *choice)
{
    char sentence[CHOICE_TEXT];
    choice_print(choice, sentence);
    log_say("choose for %s: %s", options->target, sentence);
    if (choice->has_times) {
        log_say("predicted on %s: %.3g s of calls, from %zu times of %s; held-out times are within "
                "a factor of %.2f in half of the cases",
                options->target, choice->seconds, choice->times.known,
                choice->is_of_target ? "this target" : "the source", choice->times.factor);
    }
}

// What runs behind what is known.
static void list_ids(const struct case_choice *choice, struct chosen_cases *chosen)
{
    for (size_t i = 0; i < choice->count; i++) {
        if (choice->cases[i].has_result) {
            chosen->ids[chosen->count++] = choice->cases[i].id;
        }
    }
    chosen->known = chosen->count;
    for (size_t i = 0; i < choice->chosen; i++) {
        const struct feature_case *item = &choice->cases[choice->order[i]];
        if (!item->has_result) {
            chosen->ids[chosen->count++] = item->id;
        }
    }
}

static tapml_status
choose(const struct verdict_options *options, struct arena *arena, struct chosen_cases *chosen)
{
    struct case_choice choice;
    TAPML_TRY(choice_make(options->store,
                          &(struct choice_options){.settings = *options->choice,
                                                   .target = options->target,
                                                   .keep = 1,
                                                   .find_failures = options->find_failures,
                                                   .user = options->user},
                          arena, &choice));
    ASSERT(choice.count == chosen->all);
    log_choice(options, &choice);
    list_ids(&choice, chosen);
    chosen->is_balanced = choice.policy == CHOICE_BALANCE;
    if (options->choice->budget.kind == BUDGET_SECONDS) {
        chosen->deadline_ns =
            clock_now_ns() + (uint64_t)(options->choice->budget.amount * SECOND_NS);
    }
    return note(options, &choice);
}

static tapml_status copy_ids(struct store *store, struct arena *arena, struct chosen_cases *chosen)
{
    int64_t *ids = NULL;
    TAPML_TRY(stored_case_ids(store, &ids, &chosen->all));
    chosen->stored = arena_array(arena, chosen->all + 1, sizeof(*ids));
    chosen->ids = arena_array(arena, chosen->all + 1, sizeof(*ids));
    const int has_memory = chosen->stored && chosen->ids;
    if (has_memory && chosen->all > 0) {
        memcpy(chosen->stored, ids, chosen->all * sizeof(*ids));
    }
    alloc_free(ids);
    return has_memory ? TAPML_OK : status_no_memory();
}

tapml_status chosen_cases_list(const struct verdict_options *options,
                               struct arena *arena,
                               struct chosen_cases *out_chosen)
{
    struct chosen_cases chosen = {.all = 0};
    ASSERT(!options->choice || (!options->ids && !options->fresh));
    TAPML_TRY(copy_ids(options->store, arena, &chosen));
    if (options->ids) {
        chosen.ids = arena_array(arena, options->id_count + 1, sizeof(*chosen.ids));
        if (!chosen.ids) {
            return status_no_memory();
        }
        memcpy(chosen.ids, options->ids, options->id_count * sizeof(*chosen.ids));
        chosen.count = options->id_count;
    } else if (options->choice) {
        TAPML_TRY(choose(options, arena, &chosen));
    } else {
        memcpy(chosen.ids, chosen.stored, chosen.all * sizeof(*chosen.ids));
        chosen.count = chosen.all;
        TAPML_TRY(has_note(options) ? note(options, NULL) : TAPML_OK);
    }
    *out_chosen = chosen;
    return TAPML_OK;
}

int chosen_cases_is_over(const struct chosen_cases *chosen, size_t index)
{
    return chosen->deadline_ns > 0 && index >= chosen->known &&
           clock_now_ns() > chosen->deadline_ns;
}

struct placed {
    int64_t id;
    size_t place;
};

static int by_id(const void *a, const void *b)
{
    const struct placed *one = a, *other = b;
    return one->id < other->id ? -1 : one->id > other->id;
}

struct sorted {
    struct verdict verdict;
    size_t place;
};

static int by_place(const void *a, const void *b)
{
    const struct sorted *one = a, *other = b;
    return one->place < other->place ? -1 : one->place > other->place;
}

static void sort_by(const struct placed *places,
                    size_t all,
                    struct sorted *sorted,
                    struct verdict_list *io_list)
{
    for (size_t i = 0; i < io_list->count; i++) {
        const struct placed *found = bsearch(&(struct placed){.id = io_list->items[i].case_id},
                                             places, all, sizeof(*places), by_id);
        sorted[i] = (struct sorted){io_list->items[i], found ? found->place : all};
    }
    qsort(sorted, io_list->count, sizeof(*sorted), by_place);
    for (size_t i = 0; i < io_list->count; i++) {
        io_list->items[i] = sorted[i].verdict;
    }
}

tapml_status chosen_cases_sort(const struct chosen_cases *chosen, struct verdict_list *io_list)
{
    struct arena *arena = arena_create();
    struct placed *places = arena ? arena_array(arena, chosen->all + 1, sizeof(*places)) : NULL;
    struct sorted *sorted = arena ? arena_array(arena, io_list->count + 1, sizeof(*sorted)) : NULL;
    const int has_memory = places && sorted;
    for (size_t i = 0; has_memory && i < chosen->all; i++) {
        places[i] = (struct placed){chosen->stored[i], i};
    }
    if (has_memory && io_list->count > 0 && chosen->all > 0) {
        qsort(places, chosen->all, sizeof(*places), by_id);
        sort_by(places, chosen->all, sorted, io_list);
    }
    arena_destroy(arena);
    return has_memory ? TAPML_OK : status_no_memory();
}
