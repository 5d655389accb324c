// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/trials.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "config/device_file.h"
#include "store/store.h"
#include "store/trial.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    PILOT = 1, // Chunks of each contender that measure what a chunk takes, where that is not known,
    SLICE = 4, // and those of each between two looks at the clock: each look opens all of them.

    // All of them are opened in a round. Logits are the same whenever they are computed; of times
    // each round is another sample of what else the machine does.
    ROUNDS = 1,
    ROUNDS_OF_TIMES = 4
};

static const double SECOND_NS = 1e9;
static const size_t NO_ARM = SIZE_MAX;

// What a chunk of an arm gave.
struct trials_fact {
    double value, beside; // As in contender_trial.
    int is_tried;
};

struct trials_work {
    const struct trials_options *options;
    struct arena *arena;
    struct contender_options how; // With the context of all of them.
    struct trials_result trials;
    struct trials_fact *facts;          // Of each arm its chunks, as those of the contest.
    size_t *first;                      // The first of each arm.
    struct contender_session **session; // The last one that was opened, or NULL,
    size_t session_arm;                 // and whose it is: NO_ARM of none.
    int is_backward;                    // The next call takes arms from the last to the first.
};

double trials_value(const struct trials_arm *arm)
{
    return -race_value(arm->race);
}

double trials_spread(const struct trials_result *trials, const struct trials_arm *arm)
{
    return race_spread(&trials->contest.race, arm->race);
}

int trials_is_behind(const struct trials_arm *arm)
{
    return arm->behind.count > 1 && arm->behind.mean > 2 * running_mean_error(&arm->behind);
}

// -- What there is -----------------------------------------------------------------------------

static tapml_status leave_out(struct trials_work *work,
                              const struct contender *contender,
                              const char *why,
                              uint64_t bytes)
{
    struct trials_result *trials = &work->trials;

    if (why == NULL) {
        return status_no_memory();
    }
    trials->left_out[trials->left_out_count++] = (struct trials_left_out){contender, why, bytes};
    return TAPML_OK;
}

static tapml_status leave_out_large(struct trials_work *work, const struct trials_arm *arm)
{
    const struct device_file *file = work->options->contender.fits;

    return leave_out(work, arm->contender,
                     arena_format(work->arena, "it takes %" PRIu64 " bytes, '%s' has %" PRIi64,
                                  arm->look.bytes, file->name, file->memory_bytes),
                     arm->look.bytes);
}

static tapml_status look_at_one(struct trials_work *work,
                                const struct contender_options *how,
                                const struct contender *contender)
{
    struct trials_result *trials = &work->trials;
    struct trials_arm arm = {.contender = contender};
    const tapml_status status =
        contender_look(how, contender, work->session, work->arena, &arm.look);

    if (status_ends_all(status)) {
        return status;
    }
    if (status != TAPML_OK) {
        return leave_out(work, contender, arena_text(work->arena, status_message()), 0);
    }
    if (how->fits != NULL && arm.look.bytes > (uint64_t)how->fits->memory_bytes) {
        return leave_out_large(work, &arm);
    }
    trials->arms[trials->contest.race.arm_count++] = arm;
    return TAPML_OK;
}

// Looks at all contenders, by chunks of `context` tokens (0: their own). `*out_least` is the least
// context of them, and `*out_is_same` whether all have it.
static tapml_status
look_at_all(struct trials_work *work, int64_t context, int64_t *out_least, int *out_is_same)
{
    struct contender_options how = work->options->contender;
    struct trials_result *trials = &work->trials;
    int64_t least = INT64_MAX, most = 0;

    how.context = context;
    trials->contest.race.arm_count = 0;
    trials->left_out_count = 0;
    for (size_t i = 0; i < work->options->count; i++) {
        TAPML_TRY(look_at_one(work, &how, &work->options->items[i]));
    }
    for (size_t i = 0; i < trials->contest.race.arm_count; i++) {
        const int64_t own = trials->arms[i].look.context;

        least = own < least ? own : least;
        most = own > most ? own : most;
    }
    *out_least = least;
    *out_is_same = least == most;
    return TAPML_OK;
}

// Contenders are compared by chunks of one length: the least that any of them was made for.
static tapml_status find_arms(struct trials_work *work)
{
    const size_t most = work->options->count;
    struct trials_result *trials = &work->trials;
    int is_same = 0;

    trials->arms = arena_array(work->arena, most + 1, sizeof(*trials->arms));
    trials->left_out = arena_array(work->arena, most + 1, sizeof(*trials->left_out));
    if (trials->arms == NULL || trials->left_out == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(look_at_all(work, 0, &trials->context, &is_same));
    if (!is_same && trials->contest.race.arm_count > 0) {
        TAPML_TRY(look_at_all(work, trials->context, &trials->context, &is_same));
    }
    if (trials->contest.race.arm_count > 0) {
        return TAPML_OK;
    }
    return trials->left_out_count > 0
               ? status_fail(TAPML_UNAVAILABLE, "nothing can be tried: '%s': %s",
                             trials->left_out[0].contender->name, trials->left_out[0].why)
               : status_fail(TAPML_UNAVAILABLE, "there is nothing to try");
}

// -- Facts -------------------------------------------------------------------------------------

// The bits of `index` from the other end, of `bits` bits: beginnings of these numbers lie evenly
// (van der Corput 1935).
static size_t turned_bits(size_t index, unsigned bits)
{
    size_t turned = 0;

    for (unsigned i = 0; i < bits; i++) {
        turned = turned << 1 | (index >> i & 1);
    }
    return turned;
}

// The chunks of an arm in the order in which they are taken.
static void order_chunks(size_t count, size_t first, size_t *out_picks)
{
    unsigned bits = 0;
    size_t taken = 0;

    while ((size_t)1 << bits < count) {
        bits++;
    }
    for (size_t i = 0; taken < count; i++) {
        const size_t chunk = turned_bits(i, bits);

        if (chunk < count) {
            out_picks[taken++] = first + chunk;
        }
    }
}

// What the race takes: the larger the better.
static double value_of(const struct trials_work *work, const struct trials_arm *arm, double value)
{
    return work->options->is_per_byte ? -value / arm->look.bytes_of_token : -value;
}

static void set_fact(struct trials_work *work, size_t arm, size_t number, struct trial_row row)
{
    struct contest_fact *fact = &work->trials.contest.facts[number];

    fact->value = value_of(work, &work->trials.arms[arm], row.value);
    fact->time_ns = (double)row.time_ns;
    work->facts[number] = (struct trials_fact){row.value, row.beside, 1};
}

static tapml_status read_known(struct trials_work *work, size_t arm)
{
    const struct contender_look *look = &work->trials.arms[arm].look;

    for (size_t i = 0; i < look->chunk_count; i++) {
        const size_t number = work->first[arm] + i;
        struct contest_fact *fact = &work->trials.contest.facts[number];
        struct trial_row row;

        fact->value = NAN;
        TAPML_TRY(trial_find(work->options->store, look->keys[i], &row, &fact->is_known));
        if (fact->is_known) {
            set_fact(work, arm, number, row);
        }
    }
    return TAPML_OK;
}

static tapml_status make_facts(struct trials_work *work)
{
    struct trials_result *trials = &work->trials;
    struct contest *contest = &trials->contest;
    const size_t arms = contest->race.arm_count;
    size_t all = 0;

    contest->race.arms = arena_array(work->arena, arms, sizeof(*contest->race.arms));
    contest->picks = arena_array(work->arena, arms, sizeof(*contest->picks));
    work->first = arena_array(work->arena, arms + 1, sizeof(*work->first));
    if (contest->race.arms == NULL || contest->picks == NULL || work->first == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < arms; i++) {
        const size_t count = trials->arms[i].look.chunk_count;

        trials->arms[i].race = &contest->race.arms[i];
        contest->race.arms[i].count = count;
        contest->picks[i] = arena_array(work->arena, count, sizeof(*contest->picks[i]));
        if (contest->picks[i] == NULL) {
            return status_no_memory();
        }
        work->first[i] = all;
        order_chunks(count, all, contest->picks[i]);
        all += count;
    }
    work->first[arms] = all;
    contest->facts = arena_array(work->arena, all, sizeof(*contest->facts));
    work->facts = arena_array(work->arena, all, sizeof(*work->facts));
    if (contest->facts == NULL || work->facts == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < arms; i++) {
        TAPML_TRY(read_known(work, i));
    }
    return TAPML_OK;
}

// -- Running -----------------------------------------------------------------------------------

static tapml_status keep(struct trials_work *work, const struct trial_row *row)
{
    struct store *store = work->options->store;

    TAPML_TRY(store_begin(store));
    tapml_status status = trial_write(store, row);

    status = status == TAPML_OK ? store_commit(store) : status;
    if (status != TAPML_OK) {
        store_rollback(store);
    }
    return status;
}

static tapml_status try_one(struct trials_work *work, size_t arm, size_t number)
{
    const struct trials_arm *tried = &work->trials.arms[arm];
    const size_t chunk = number - work->first[arm];
    struct contender_trial trial;

    TAPML_TRY(contender_try(*work->session, chunk, &trial));
    struct trial_row row = {.name = tried->contender->name,
                            .measure = contender_measure_name(work->options->contender.measure),
                            .value = trial.value,
                            .beside = trial.beside,
                            .time_ns = (int64_t)trial.time_ns};

    memcpy(row.key, tried->look.keys[chunk], sizeof(row.key));
    set_fact(work, arm, number, row);
    work->trials.contest.spent.runs++;
    return keep(work, &row);
}

static int is_of(const struct trials_work *work, size_t arm, size_t number)
{
    return number >= work->first[arm] && number < work->first[arm + 1];
}

// An arm that cannot go on has no value for what is left, and what is open has failed with it.
static tapml_status give_up(struct trials_work *work, size_t arm, tapml_status status)
{
    if (status == TAPML_OK || status_ends_all(status)) {
        return status;
    }
    work->trials.arms[arm].failed = arena_text(work->arena, status_message());
    contender_close(*work->session);
    *work->session = NULL;
    work->session_arm = NO_ARM;
    return work->trials.arms[arm].failed != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status tell(const struct trials_work *work, size_t done)
{
    const struct trials_options *options = work->options;

    return options->progress != NULL
               ? options->progress(options->user, done, work->trials.contest.race.budget)
               : TAPML_OK;
}

// Opens an arm in the place of another one.
static tapml_status open_arm(struct trials_work *work, size_t arm)
{
    const uint64_t begin_ns = clock_now_ns();

    if (work->session_arm == arm) {
        return TAPML_OK;
    }
    const tapml_status status =
        contender_open(&work->how, work->trials.arms[arm].contender, work->session);

    work->session_arm = status == TAPML_OK ? arm : NO_ARM;

    work->trials.openings++;
    work->trials.openings_s += (double)(clock_now_ns() - begin_ns) / SECOND_NS;
    return status;
}

// Runs what is not known of the listed facts of an arm.
static tapml_status
run_arm(struct trials_work *work, size_t arm, const size_t *numbers, size_t count, size_t *done)
{
    tapml_status status = TAPML_OK;

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        if (!is_of(work, arm, numbers[i])) {
            continue;
        }
        if (!work->facts[numbers[i]].is_tried && work->trials.arms[arm].failed == NULL) {
            status = open_arm(work, arm);
            status = status == TAPML_OK ? try_one(work, arm, numbers[i]) : status;
            status = give_up(work, arm, status);
        }
        ++*done;
        status = status == TAPML_OK ? tell(work, *done) : status;
    }
    return status;
}

// There and back, so that the arm that is open is the first of the next round.
static tapml_status run_all(void *user, const size_t *numbers, size_t count, size_t done)
{
    struct trials_work *work = user;
    const size_t arms = work->trials.contest.race.arm_count;

    for (size_t i = 0; i < arms; i++) {
        TAPML_TRY(run_arm(work, work->is_backward ? arms - 1 - i : i, numbers, count, &done));
    }
    work->is_backward = !work->is_backward;
    return TAPML_OK;
}

// A chunk takes as long as the others of its arm did in the mean.
static tapml_status price(void *user, int *out_is_measured)
{
    struct trials_work *work = user;
    struct contest *contest = &work->trials.contest;

    *out_is_measured = 1;
    for (size_t arm = 0; arm < contest->race.arm_count; arm++) {
        const int is_over = work->trials.arms[arm].failed != NULL;
        struct running_mean times = {.count = 0};

        for (size_t i = work->first[arm]; i < work->first[arm + 1]; i++) {
            if (work->facts[i].is_tried) {
                running_mean_add(&times, contest->facts[i].time_ns);
            }
        }
        for (size_t i = work->first[arm]; i < work->first[arm + 1]; i++) {
            contest->facts[i].predicted_ns = work->facts[i].is_tried ? contest->facts[i].time_ns
                                             : is_over               ? 0
                                             : times.count > 0       ? times.mean
                                                                     : NAN;
        }
        *out_is_measured &= times.count > 0 || is_over;
    }
    return TAPML_OK;
}

static void take(void *user, size_t arm, size_t number)
{
    struct trials_work *work = user;
    const struct trials_fact *fact = &work->facts[number];
    struct trials_arm *taken = &work->trials.arms[arm];

    if (fact->is_tried) {
        running_mean_add(&taken->value, fact->value);
        running_mean_add(&taken->beside, fact->beside);
    }
}

// Compares an arm with the first one, by the chunks that both have taken.
static void compare(struct trials_work *work, size_t arm, size_t best)
{
    const struct contest *contest = &work->trials.contest;
    struct trials_arm *compared = &work->trials.arms[arm];
    const size_t count = compared->look.chunk_count;

    if (work->options->is_per_byte || count != work->trials.arms[best].look.chunk_count) {
        return;
    }
    // Both take the chunks in one order.
    for (size_t i = 0; i < compared->race->taken && i < contest->race.arms[best].taken; i++) {
        const struct trials_fact *own = &work->facts[contest->picks[arm][i]];
        const struct trials_fact *first = &work->facts[contest->picks[best][i]];

        if (own->is_tried && first->is_tried) {
            running_mean_add(&compared->behind, own->value - first->value);
        }
    }
}

// -- All of it ---------------------------------------------------------------------------------

static void set_contest(struct trials_work *work)
{
    const struct trials_options *options = work->options;
    struct contest *contest = &work->trials.contest;

    contest->race.method = options->method;
    contest->race.least = -INFINITY;
    contest->race.is_sample = 1;
    contest->race.rounds_most =
        options->contender.measure == CONTENDER_SPEED ? ROUNDS_OF_TIMES : ROUNDS;
    contest->budget = options->budget;
    contest->pilot = PILOT;
    contest->slice = SLICE;
    contest->explains = options->explains;
    contest->runs = "runs of a chunk";
    contest->calls = (struct contest_calls){run_all, price, take, work};
}

static tapml_status make(struct trials_work *work)
{
    TAPML_TRY(find_arms(work));
    TAPML_TRY(make_facts(work));
    set_contest(work);
    work->how = work->options->contender;
    work->how.context = work->trials.context;
    TAPML_TRY(contest_run(&work->trials.contest, work->arena));
    for (size_t i = 0; i < work->trials.contest.race.arm_count; i++) {
        compare(work, i, work->trials.contest.order[0]);
    }
    return TAPML_OK;
}

tapml_status trials_make(const struct trials_options *options,
                         struct arena *arena,
                         struct trials_result *out_trials)
{
    struct contender_session *own = NULL;
    struct trials_work work = {.options = options,
                               .arena = arena,
                               .session = options->kept != NULL ? options->kept : &own,
                               .session_arm = NO_ARM};
    const struct device_file *fits = options->contender.fits;

    if (fits != NULL && fits->memory_bytes == 0) {
        return status_fail(
            TAPML_INVALID,
            "the file of '%s' has no 'bytes' in [memory], by which to tell what fits", fits->name);
    }
    const tapml_status status = make(&work);

    contender_close(own);
    if (status == TAPML_OK) {
        *out_trials = work.trials;
    }
    return status;
}
