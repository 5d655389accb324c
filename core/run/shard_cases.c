// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/shard_cases.h"

#include "base/arena.h"
#include "base/table.h"
#include "base/text.h"
#include "choose/case_price.h"
#include "choose/choice.h"
#include "choose/split.h"
#include "store/bundle.h"
#include "store/carved.h"
#include "store/feature.h"
#include "store/label.h"
#include "store/merge.h"
#include "store/metadata.h"
#include "store/result.h"
#include "store/store.h"
#include "store/store_open.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENTENCE_TEXT = 512, NAME_TEXT = 64 };

// The limits of a class take about so many runs of its first case, in each shard that has one of
// it.
enum { SETUP_RUNS = 4 };

// The metadata of a shard: SHARDS is the number of the last split, "shard.3/8" that shard's cases.
static const char SHARDS[] = "shards";

static void print_name(const struct case_shard *shard, char out_name[NAME_TEXT])
{
    (void)snprintf(out_name, NAME_TEXT, "shard.%" PRIu32 "/%" PRIu32, shard->index, shard->count);
}

const char *
shard_cases_folder(const struct case_shard *shard, const char *folder, struct arena *arena)
{
    return arena_format(arena, "%s/shard-%" PRIu32 "-of-%" PRIu32, folder, shard->index,
                        shard->count);
}

// Cases on their way to the shards.
struct sharing {
    struct shard_cases *cases;
    struct arena *arena;
    int64_t *ids; // Of those that are split,
    struct split_item *items;
    uint32_t *shards; // and whose they are.
    struct timed_case *times;
    struct table classes; // Of op and shapes, to their numbers.
    size_t count;
};

// The time of a call on the source, 0 if it is not known.
struct timed_case {
    size_t class_, index;
    uint64_t time_ns;
};

// -- What is split -----------------------------------------------------------------------------

static tapml_status find_class(struct sharing *sharing, int64_t id, size_t *out_class)
{
    struct carved_case names;
    TAPML_TRY(label_read(sharing->cases->whole, id, sharing->arena, &names));
    const char *name = arena_format(sharing->arena, "%s/%" PRIu32 " %s", names.op_name,
                                    names.op_version, names.shape_class);
    if (name == NULL) {
        return status_no_memory();
    }
    if (table_find(&sharing->classes, name, out_class)) {
        return TAPML_OK;
    }
    *out_class = sharing->classes.count;
    return table_set(&sharing->classes, name, *out_class);
}

static tapml_status add_case(struct sharing *sharing, const struct feature_case *item)
{
    const size_t index = sharing->count;
    char key[CARVED_KEY];
    size_t class_ = 0;
    TAPML_TRY(carved_find_key(sharing->cases->whole, item->id, key));
    TAPML_TRY(find_class(sharing, item->id, &class_));
    const char *kept = arena_text(sharing->arena, key);
    if (kept == NULL) {
        return status_no_memory();
    }
    sharing->ids[index] = item->id;
    sharing->items[index] = (struct split_item){.key = kept, .class_ = (uint32_t)class_};
    sharing->times[index] = (struct timed_case){class_, index, item->source_ns};
    sharing->count++;
    return TAPML_OK;
}

static tapml_status begin(struct sharing *sharing, size_t count)
{
    sharing->ids = arena_array(sharing->arena, count + 1, sizeof(*sharing->ids));
    sharing->items = arena_array(sharing->arena, count + 1, sizeof(*sharing->items));
    sharing->times = arena_array(sharing->arena, count + 1, sizeof(*sharing->times));
    sharing->shards = arena_array(sharing->arena, count + 1, sizeof(*sharing->shards));
    return sharing->ids != NULL && sharing->items != NULL && sharing->times != NULL &&
                   sharing->shards != NULL
               ? TAPML_OK
               : status_no_memory();
}

static tapml_status take_chosen(struct sharing *sharing, const struct choice_settings *settings)
{
    struct case_choice choice;
    if (settings->budget.kind == BUDGET_SECONDS) {
        return status_fail(TAPML_INVALID, "[select] budget is a time, which is one process's: for "
                                          "--shard it is a number of cases or a share of them");
    }
    TAPML_TRY(choice_make(sharing->cases->whole,
                          &(struct choice_options){.settings = *settings, .target = ""},
                          sharing->arena, &choice));
    TAPML_TRY(begin(sharing, choice.chosen));
    for (size_t i = 0; i < choice.chosen; i++) {
        TAPML_TRY(add_case(sharing, &choice.cases[choice.order[i]]));
    }
    return TAPML_OK;
}

static tapml_status take_all(struct sharing *sharing)
{
    struct feature_case *cases = NULL;
    size_t count = 0;
    TAPML_TRY(feature_list(sharing->cases->whole, "", sharing->arena, &cases, &count));
    TAPML_TRY(begin(sharing, count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(add_case(sharing, &cases[i]));
    }
    return TAPML_OK;
}

// -- Prices ------------------------------------------------------------------------------------

static int by_class_and_time(const void *a, const void *b)
{
    const struct timed_case *one = a, *other = b;
    if (one->class_ != other->class_) {
        return one->class_ < other->class_ ? -1 : 1;
    }
    return one->time_ns < other->time_ns ? -1 : one->time_ns > other->time_ns;
}

// A case costs what the calls of its class took in the median: the clock of a single call says as
// much of what else the machine did. Numbers are whole, so that all shards have the same.
static void price_classes(struct sharing *sharing)
{
    struct timed_case *times = sharing->times;
    if (sharing->count > 0) {
        qsort(times, sharing->count, sizeof(*times), by_class_and_time);
    }
    for (size_t begin = 0, end = 0; begin < sharing->count; begin = end) {
        while (end < sharing->count && times[end].class_ == times[begin].class_) {
            end++;
        }
        const uint64_t median_ns = times[begin + (end - begin) / 2].time_ns;
        for (size_t i = begin; i < end; i++) {
            sharing->items[times[i].index].cost =
                median_ns > 0 ? median_ns + CASE_PRICE_EACH_NS : 0;
        }
    }
    split_fill_costs(sharing->items, sharing->count);
    for (size_t i = 0; i < sharing->count; i++) {
        sharing->items[i].setup = SETUP_RUNS * sharing->items[i].cost;
    }
}

// -- Splitting ---------------------------------------------------------------------------------

static uint64_t largest_of(const uint64_t *loads, uint32_t count)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < count; i++) {
        largest = loads[i] > largest ? loads[i] : largest;
    }
    return largest;
}

// Beside equal counts, which are dealt in turn, and taken where they come to less: the split weighs
// one item after the other, and may miss that.
static tapml_status measure_evenness(const struct sharing *sharing)
{
    struct shard_cases *cases = sharing->cases;
    const uint32_t count = cases->shard.count;
    uint32_t *turns = arena_array(sharing->arena, sharing->count + 1, sizeof(*turns));
    uint64_t *loads = arena_array(sharing->arena, count, sizeof(*loads));
    double all = 0;
    if (turns == NULL || loads == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < sharing->count; i++) {
        turns[i] = (uint32_t)(i % count);
    }
    TAPML_TRY(split_measure(sharing->items, sharing->count, turns, count, loads));
    const uint64_t dealt = largest_of(loads, count);

    TAPML_TRY(split_measure(sharing->items, sharing->count, sharing->shards, count, loads));
    if (dealt < largest_of(loads, count)) {
        memcpy(sharing->shards, turns, sharing->count * sizeof(*turns));
        TAPML_TRY(split_measure(sharing->items, sharing->count, turns, count, loads));
    }
    for (uint32_t i = 0; i < count; i++) {
        all += (double)loads[i];
    }
    const double mean = all > 0 ? all / count : 1;
    cases->count_cost = (double)dealt / mean;
    cases->even_cost = (double)largest_of(loads, count) / mean;
    cases->cost = (double)loads[cases->shard.index - 1] / mean;
    return TAPML_OK;
}

// Puts the ids of this shard's to the front.
static void keep_own(struct sharing *sharing)
{
    struct shard_cases *cases = sharing->cases;
    cases->chosen = sharing->count;
    for (size_t i = 0; i < sharing->count; i++) {
        if (sharing->shards[i] == cases->shard.index - 1) {
            sharing->ids[cases->own++] = sharing->ids[i];
        }
    }
}

// -- Taking over -------------------------------------------------------------------------------

static void keep_first(void *user, const char *sentence)
{
    char *first = user;
    if (*first == '\0') {
        (void)snprintf(first, SENTENCE_TEXT, "%s", sentence);
    }
}

static tapml_status note(const struct shard_cases *cases, struct store *store)
{
    char name[NAME_TEXT], number[NAME_TEXT];
    print_name(&cases->shard, name);
    (void)snprintf(number, sizeof(number), "%zu", cases->own);
    TAPML_TRY(metadata_set(store, name, number));
    (void)snprintf(number, sizeof(number), "%" PRIu32, cases->shard.count);
    return metadata_set(store, SHARDS, number);
}

static tapml_status take_over(const struct sharing *sharing, struct store *store)
{
    const struct shard_cases *cases = sharing->cases;
    char first[SENTENCE_TEXT] = "";
    struct merge_counts counts;
    const struct merge_ids own = {.items = sharing->ids, .count = cases->own};
    TAPML_TRY(merge_share(store, cases->whole, &own, keep_first, first, &counts));
    if (counts.disagreements > 0) {
        return status_fail(TAPML_PRECONDITION,
                           "'%s' holds cases that '%s' has no longer, %" PRId64
                           " of them; the first: %s; remove that folder",
                           store_path(store), store_path(cases->whole), counts.disagreements,
                           first);
    }
    TAPML_TRY(store_begin(store));
    tapml_status status = note(cases, store);
    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status
take(struct sharing *sharing, const struct choice_settings *choice, struct store *store)
{
    const struct shard_cases *cases = sharing->cases;
    if (bundle_is(cases->whole)) {
        return status_fail(TAPML_INVALID, "'%s' is a bundle, whose one case is not split",
                           store_path(cases->whole));
    }
    TAPML_TRY(choice != NULL ? take_chosen(sharing, choice) : take_all(sharing));
    price_classes(sharing);
    TAPML_TRY(split_run(sharing->items, sharing->count, cases->shard.count, sharing->shards));
    TAPML_TRY(measure_evenness(sharing));
    keep_own(sharing);
    return take_over(sharing, store);
}

tapml_status shard_cases_take(const struct case_shard *shard,
                              const char *path,
                              const struct choice_settings *choice,
                              struct store *store,
                              struct shard_cases *out_cases)
{
    struct shard_cases cases = {.shard = *shard};
    struct sharing sharing = {.cases = &cases, .arena = arena_create()};

    table_init(&sharing.classes);
    tapml_status status =
        sharing.arena != NULL ? store_open_to_read(path, &cases.whole) : status_no_memory();

    if (status == TAPML_OK) {
        status = take(&sharing, choice, store);
    }
    table_release(&sharing.classes);
    arena_destroy(sharing.arena);
    if (status != TAPML_OK) {
        shard_cases_release(&cases);
        return status;
    }
    *out_cases = cases;
    return TAPML_OK;
}

void shard_cases_release(struct shard_cases *cases)
{
    store_close(cases->whole);
    *cases = (struct shard_cases){0};
}

// -- Printing ----------------------------------------------------------------------------------

void shard_cases_print(const struct shard_cases *cases, char out_text[SHARD_CASES_TEXT])
{
    (void)snprintf(out_text, SHARD_CASES_TEXT,
                   "shard %" PRIu32 " of %" PRIu32 ": %zu of %zu cases, %.2f of the mean by "
                   "predicted time; the largest shard has %.2f, with equal counts it would have "
                   "%.2f",
                   cases->shard.index, cases->shard.count, cases->own, cases->chosen, cases->cost,
                   cases->even_cost, cases->count_cost);
}

static void print_missing_shards(struct store *store, struct text *out)
{
    const uint64_t all = metadata_count(store, SHARDS);
    struct case_shard shard = {0, (uint32_t)(all < SPLIT_SHARDS_MAX ? all : SPLIT_SHARDS_MAX)};
    char name[NAME_TEXT];
    uint32_t missing = 0;

    for (uint32_t i = 1; i <= shard.count; i++) {
        shard.index = i;
        print_name(&shard, name);
        if (metadata_get(store, name) == NULL) {
            text_append(out, missing++ == 0 ? "no shard " : ", ");
            text_format(out, "%" PRIu32, i);
        }
    }
    if (missing > 0) {
        text_format(out, " of %" PRIu32 "\n", shard.count);
    }
}

struct missing_cases {
    uint64_t all; // Cases of the store.
    struct text *out;
};

static tapml_status print_missing_cases(void *user, const char *target, uint64_t results)
{
    const struct missing_cases *missing = user;
    if (results < missing->all) {
        text_format(missing->out, "%s: %" PRIu64 " of %" PRIu64 " cases have no result\n", target,
                    missing->all - results, missing->all);
    }
    return TAPML_OK;
}

tapml_status shard_cases_print_missing(struct store *store)
{
    struct carved_counts counts;
    struct text text;
    TAPML_TRY(carved_count(store, &counts));
    text_init(&text);
    struct missing_cases missing = {counts.cases, &text};
    const tapml_status status = result_visit_targets(store, print_missing_cases, &missing);
    if (status != TAPML_OK) {
        text_release(&text);
        return status;
    }
    print_missing_shards(store, &text);
    return text_print(&text);
}
