// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/case_price.h"

#include "base/arena.h"
#include "base/table.h"
#include "store/store.h"
#include "store/target.h"
#include "store/usage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SECOND_NS = 1e9;

// -- What starts say ---------------------------------------------------------------------------

static double above_zero(double value)
{
    return value > 0 ? value : 0;
}

// Sums over replays of several starts, in nanoseconds.
struct replays {
    double count, whole, busy, calls, firsts, firsts_time;
};

static void add_replays(const struct usage_cases *cases, struct replays *io_sum)
{
    io_sum->count += (double)cases->count;
    io_sum->whole += (double)cases->whole_ns;
    io_sum->busy += (double)cases->busy_ns;
    io_sum->calls += (double)cases->calls_ns;
    io_sum->firsts += (double)cases->firsts;
    io_sum->firsts_time += (double)cases->firsts_ns;
}

// The same without what first cases took beyond others, of which a mean is given for each op, in
// nanoseconds. The device had a part in it as in the rest.
static struct replays without_firsts(const struct replays *sum, double *out_first_ns)
{
    struct replays rest = *sum;
    *out_first_ns = 0;
    if (sum->firsts > 0 && sum->firsts < sum->count && sum->whole > 0) {
        const double each = above_zero(sum->whole - sum->firsts_time) / (sum->count - sum->firsts);
        *out_first_ns = above_zero(sum->firsts_time / sum->firsts - each);
        rest.whole = above_zero(sum->whole - sum->firsts * *out_first_ns);
        rest.busy *= rest.whole / sum->whole;
    }
    return rest;
}

static int by_value(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

// What another device took says nothing of the last one.
static int is_on_device(const struct usage_row *row, const struct case_price *price)
{
    return strcmp(row->device, price->device) == 0;
}

// A start as a member of a pool has it: it has replayed cases, and found their limits.
static int is_of_member(const struct usage_row *row, const struct case_price *price)
{
    return is_on_device(row, price) && row->cases.count > 0 && row->cases.limits == 0;
}

// The median of the starts of members, or of all where there is none.
static tapml_status take_starts(const struct usage_row *rows,
                                size_t count,
                                struct arena *arena,
                                struct case_price *price)
{
    double *starts = arena_array(arena, count + 1, sizeof(*starts));
    int has_members = 0;
    if (!starts) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        has_members |= rows[i].start_ns > 0 && is_of_member(&rows[i], price);
    }
    for (size_t i = 0; i < count; i++) {
        const int counts =
            has_members ? is_of_member(&rows[i], price) : is_on_device(&rows[i], price);
        if (counts && rows[i].start_ns > 0) {
            starts[price->starts++] = (double)rows[i].start_ns / SECOND_NS;
        }
    }
    qsort(starts, price->starts, sizeof(*starts), by_value);
    price->start_s = price->starts > 0 ? starts[price->starts / 2] : NAN;
    return TAPML_OK;
}

// What a case takes beside its call, and the first one of an op beyond that. Starts that measured
// limits say what transfers take.
static void take_replays(const struct usage_row *rows,
                         size_t count,
                         struct case_price *price,
                         double *out_first_s)
{
    struct replays all = {0}, members = {0};
    for (size_t i = 0; i < count; i++) {
        if (is_on_device(&rows[i], price)) {
            add_replays(&rows[i].cases, &all);
        }
        if (is_of_member(&rows[i], price)) {
            add_replays(&rows[i].cases, &members);
        }
    }
    const int has_members = members.count > 0;
    double first_ns = 0;
    const struct replays sum = has_members ? without_firsts(&members, &first_ns) : all;
    if (sum.count > 0) {
        price->transfer_s = above_zero(sum.busy - sum.calls) / sum.count / SECOND_NS;
    }
    price->is_host_assumed = !has_members;
    price->host_s = CASE_PRICE_EACH_NS / SECOND_NS;
    if (has_members) {
        price->host_s = above_zero(sum.whole - fmax(sum.busy, sum.calls)) / sum.count / SECOND_NS;
        price->call_s = sum.calls / sum.count / SECOND_NS;
    }
    *out_first_s = first_ns / SECOND_NS;
}

static tapml_status read_usage(struct store *store,
                               const char *target,
                               struct arena *arena,
                               struct case_price *price,
                               double *out_first_s)
{
    struct usage_row *rows = NULL;
    size_t count = 0;
    TAPML_TRY(usage_list(store, target, arena, &rows, &count));
    price->device = count > 0 ? rows[count - 1].device : "";
    price->rate = rate_none();
    for (size_t i = 0; i < count; i++) {
        price->rate = rate_is_known(&rows[i].rate) ? rows[i].rate : price->rate;
    }
    TAPML_TRY(take_starts(rows, count, arena, price));
    take_replays(rows, count, price, out_first_s);
    return TAPML_OK;
}

// -- Prices ------------------------------------------------------------------------------------

// Of the cases that run.
static double mean_bytes(const struct case_choice *choice)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < choice->chosen; i++) {
        const double bytes = choice->cases[choice->order[i]].row.values[FEATURE_bytes];
        sum += bytes > 0 ? bytes : 0;
        count += bytes > 0;
    }
    return count > 0 ? sum / (double)count : 0;
}

static double transfer_of(const struct feature_case *item, double mean, double transfer_s)
{
    const double bytes = item->row.values[FEATURE_bytes];
    return mean > 0 && bytes > 0 ? transfer_s * bytes / mean : transfer_s;
}

// The mean of the times that are known on the target, in seconds; 0 without any.
static double mean_call(const struct case_choice *choice)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < choice->count; i++) {
        sum += (double)choice->cases[i].target_ns / SECOND_NS;
        count += choice->cases[i].target_ns > 0;
    }
    return count > 0 ? sum / (double)count : 0;
}

// A store has one time of each case, that of the start that replayed it, whatever else the machine
// did then: how long calls take is told by those of all members.
static void price_cases(const struct case_choice *choice, struct case_price *price)
{
    const double mean = mean_bytes(choice), known = mean_call(choice);
    const double scale = known > 0 && price->call_s > 0 ? price->call_s / known : 1;
    double calls_s = 0;
    for (size_t i = 0; i < choice->chosen; i++) {
        const size_t index = choice->order[i];
        const struct feature_case *item = &choice->cases[index];
        const int is_measured = item->target_ns > 0;
        const double time_ns =
            is_measured ? (double)item->target_ns : choice->times.times_ns[index];
        const double call_s = scale * time_ns / SECOND_NS;
        price->predicted += !is_measured;
        price->ids[i] = item->id;
        price->seconds[i] = call_s + transfer_of(item, mean, price->transfer_s) + price->host_s;
        price->work_s += price->seconds[i];
        calls_s += call_s;
    }
    price->count = choice->chosen;
    price->call_s = choice->chosen > 0 ? calls_s / (double)choice->chosen : 0;
}

// The ops of the cases that run, each of which has a first case in a start.
static tapml_status
price_firsts(const struct case_choice *choice, double first_s, struct case_price *price)
{
    struct table ops;
    size_t seen = 0;
    tapml_status status = TAPML_OK;
    table_init(&ops);
    for (size_t i = 0; status == TAPML_OK && i < choice->chosen; i++) {
        const char *op = choice->cases[choice->order[i]].op;
        status = table_find(&ops, op, &seen) ? TAPML_OK : table_set(&ops, op, 1);
    }
    price->ops = ops.count;
    price->firsts_s = first_s * (double)price->ops;
    table_release(&ops);
    return status;
}

// Whether each case that runs has a time, and how good predicted ones are.
static tapml_status check_times(const struct case_choice *choice, const char *target)
{
    for (size_t i = 0; !choice->has_times && i < choice->chosen; i++) {
        if (choice->cases[choice->order[i]].target_ns == 0) {
            return status_fail(TAPML_PRECONDITION,
                               "fewer than %d times of cases are known on '%s' and on the source, "
                               "so nothing can be predicted: replay some first",
                               (int)TIME_MODEL_LEAST, target);
        }
    }
    return TAPML_OK;
}

tapml_status case_price_find(struct store *store,
                             const char *target,
                             const struct choice_settings *settings,
                             struct arena *arena,
                             struct case_price *out_price)
{
    const struct choice_options options = {.settings = *settings, .target = target};
    struct case_price price = {.factor = NAN};
    struct case_choice choice;
    double first_s = 0; // What the first case of an op takes beyond others.
    struct target_row row;
    TAPML_TRY(read_usage(store, target, arena, &price, &first_s));
    const tapml_status status = target_find(store, target, arena, &row);
    if (status != TAPML_NOT_FOUND || *price.device == '\0') { // A merged store has no targets yet.
        TAPML_TRY(status);
    }
    TAPML_TRY(choice_make(store, &options, arena, &choice));
    TAPML_TRY(check_times(&choice, target));
    price.seconds = arena_array(arena, choice.chosen + 1, sizeof(*price.seconds));
    price.ids = arena_array(arena, choice.chosen + 1, sizeof(*price.ids));
    if (!price.seconds || !price.ids) {
        return status_no_memory();
    }
    price_cases(&choice, &price);
    TAPML_TRY(price_firsts(&choice, first_s, &price));
    if (price.predicted > 0) {
        price.factor = choice.times.factor;
        price.is_of_source = !choice.is_of_target;
    }
    *out_price = price;
    return TAPML_OK;
}
