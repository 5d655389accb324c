// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_rounds.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"
#include "choose/case_price.h"
#include "run/target_jobs.h"
#include "schema/catalogue.h"
#include "store/result.h"
#include "store/stored_case.h"
#include "verify/agreement.h"
#include "verify/verdict.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
    ROUNDS_IDS_MAX = 1 << 24, // Cases with larger ids are in no round: they are replayed behind.
    ROUND_CASES_MAX = 256,
    ROUND_CASES_FIRST = 16, // As long as nothing is predicted.
    ROUNDS_OPS_MAX = 512,   // Of more operators nothing is told.
    OP_NAME = 64
};

static const double ROUND_S = 1;

typedef uint64_t target_set; // One bit a target.

// What the targets have said of an operator.
struct round_op {
    char name[OP_NAME];
    target_set judged, wrong;
    target_set told_judged, told_wrong; // The same when it was told last.
};

// A target's process.
struct round_target {
    pid_t process; // 0: not known yet.
    int has_joined, has_left;
    uint64_t finished; // Its last round.
};

struct case_rounds {
    const char *const *names;
    size_t target_count;
    pthread_mutex_t lock; // Of what follows.
    struct round_target targets[CASE_ROUNDS_TARGETS_MAX];
    uint64_t round; // From 1; 0: there is none yet.
    size_t count;   // Of its cases.
    int64_t ids[ROUND_CASES_MAX];
    size_t op_count;
    struct round_op ops[ROUNDS_OPS_MAX];
    target_set done[]; // By id: who has a result.
};

// What cases take on each target, as far as it is predicted.
struct round_prices {
    struct arena *arena;
    uint64_t round;                                 // That it was made for.
    const double *seconds[CASE_ROUNDS_TARGETS_MAX]; // By id; NULL: nothing is predicted.
    size_t sizes[CASE_ROUNDS_TARGETS_MAX];
    double means[CASE_ROUNDS_TARGETS_MAX]; // For cases that were carved later.
};

struct case_seat {
    struct case_rounds *rounds;
    size_t index;
    struct store *store;
    uint64_t round; // That it is in.
    int64_t ids[ROUND_CASES_MAX];
    size_t count;

    // For who makes rounds.
    int64_t *listed;         // The cases of the store, when they were listed last, and
    size_t listed_count, at; // which of them is looked at next.
    struct round_prices prices;
};

static size_t bytes_of_rounds(void)
{
    return sizeof(struct case_rounds) + ROUNDS_IDS_MAX * sizeof(target_set);
}

static target_set bit_of(size_t target)
{
    return (target_set)1 << target;
}

// -- Who takes part ------------------------------------------------------------------------------

// A process that ends while it has the lock leaves a round that is written in one go, or none.
static int make_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);

    if (error == 0) {
        (void)pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
        (void)pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
        error = pthread_mutex_init(lock, &attributes);
        (void)pthread_mutexattr_destroy(&attributes);
    }
    return error;
}

static void take_lock(struct case_rounds *rounds)
{
    if (pthread_mutex_lock(&rounds->lock) == EOWNERDEAD) {
        (void)pthread_mutex_consistent(&rounds->lock);
    }
}

static void leave_lock(struct case_rounds *rounds)
{
    (void)pthread_mutex_unlock(&rounds->lock);
}

tapml_status
case_rounds_create(const char *const *targets, size_t count, struct case_rounds **out_rounds)
{
    ASSERT(count > 0 && count <= CASE_ROUNDS_TARGETS_MAX);
    // Pages that no case touches are never there.
    void *memory = mmap(NULL, bytes_of_rounds(), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct case_rounds *rounds = memory;

    if (memory == MAP_FAILED) {
        return status_fail(TAPML_UNAVAILABLE, "no memory that processes share: %s",
                           strerror(errno));
    }
    rounds->names = targets;
    rounds->target_count = count;
    const int error = make_lock(&rounds->lock);

    if (error != 0) {
        case_rounds_destroy(rounds);
        return status_fail(TAPML_UNAVAILABLE, "no lock that processes share: %s", strerror(error));
    }
    *out_rounds = rounds;
    return TAPML_OK;
}

void case_rounds_destroy(struct case_rounds *rounds)
{
    if (rounds != NULL) {
        (void)munmap(rounds, bytes_of_rounds());
    }
}

void case_rounds_expect(struct case_rounds *rounds, size_t index, pid_t process)
{
    ASSERT(index < rounds->target_count);
    take_lock(rounds);
    rounds->targets[index].process = process;
    leave_lock(rounds);
}

// Whether the others go on without it.
static int is_gone(const struct round_target *target)
{
    return target->has_left ||
           (target->process != 0 && kill(target->process, 0) != 0 && errno == ESRCH);
}

static target_set find_present(const struct case_rounds *rounds)
{
    target_set present = 0;

    for (size_t i = 0; i < rounds->target_count; i++) {
        present |= is_gone(&rounds->targets[i]) ? 0 : bit_of(i);
    }
    return present;
}

static int is_finished(const struct case_rounds *rounds, target_set present)
{
    for (size_t i = 0; i < rounds->target_count; i++) {
        const struct round_target *target = &rounds->targets[i];

        if ((present & bit_of(i)) != 0 &&
            (!target->has_joined || target->finished < rounds->round)) {
            return 0;
        }
    }
    return 1;
}

// -- What cases take -----------------------------------------------------------------------------

static tapml_status
take_prices(const struct case_price *price, size_t target, struct round_prices *prices)
{
    size_t size = 0;

    for (size_t i = 0; i < price->count; i++) {
        ASSERT(price->ids[i] >= 0);
        size = (size_t)price->ids[i] >= size ? (size_t)price->ids[i] + 1 : size;
    }
    double *seconds =
        size < ROUNDS_IDS_MAX ? arena_array(prices->arena, size, sizeof(*seconds)) : NULL;

    if (seconds == NULL) {
        return size < ROUNDS_IDS_MAX ? status_no_memory() : TAPML_OK;
    }
    prices->means[target] = price->work_s / (double)price->count;
    for (size_t i = 0; i < size; i++) {
        seconds[i] = prices->means[target];
    }
    for (size_t i = 0; i < price->count; i++) {
        seconds[price->ids[i]] = price->seconds[i];
    }
    prices->seconds[target] = seconds;
    prices->sizes[target] = size;
    return TAPML_OK;
}

// Whether what is known has doubled since.
static int are_stale(const struct case_seat *seat)
{
    return seat->rounds->round >= 2 * seat->prices.round;
}

static tapml_status find_prices(struct case_seat *seat)
{
    const struct choice_settings all = {.budget = {.kind = BUDGET_ALL}};
    struct round_prices *prices = &seat->prices;
    struct arena *arena = prices->arena;

    arena_reset(arena);
    *prices = (struct round_prices){.arena = arena, .round = seat->rounds->round};
    for (size_t i = 0; i < seat->rounds->target_count; i++) {
        struct case_price price;
        const tapml_status status =
            case_price_find(seat->store, seat->rounds->names[i], &all, arena, &price);

        // What the source takes says little of a device.
        if (status == TAPML_OK && price.count > 0 && !price.is_of_source) {
            TAPML_TRY(take_prices(&price, i, prices));
        } else if (status != TAPML_OK && status != TAPML_PRECONDITION &&
                   status != TAPML_NOT_FOUND) {
            return status;
        }
    }
    return TAPML_OK;
}

// Adds what a case takes on those that lack it, and returns what the slowest target has by then;
// NaN where nothing is predicted.
static double
add_price(const struct round_prices *prices, target_set lacking, int64_t id, double *io_sums)
{
    double slowest = NAN;

    for (size_t i = 0; i < CASE_ROUNDS_TARGETS_MAX; i++) {
        if ((lacking & bit_of(i)) != 0 && prices->seconds[i] != NULL) {
            io_sums[i] += (size_t)id < prices->sizes[i] ? prices->seconds[i][id] : prices->means[i];
            slowest = fmax(slowest, io_sums[i]);
        }
    }
    return slowest;
}

// -- Rounds --------------------------------------------------------------------------------------

static int is_in_rounds(int64_t id)
{
    return id >= 0 && id < ROUNDS_IDS_MAX;
}

static tapml_status list(struct case_seat *seat)
{
    alloc_free(seat->listed);
    seat->listed = NULL;
    seat->listed_count = seat->at = 0;
    return stored_case_ids(seat->store, &seat->listed, &seat->listed_count);
}

// Whether another case of the round would be one too many, of those that have `count` cases, which
// take the slowest target `seconds`.
static int is_full(size_t count, double seconds)
{
    return count == ROUND_CASES_MAX ||
           (count > 0 && (isnan(seconds) ? count >= ROUND_CASES_FIRST : seconds >= ROUND_S));
}

// Takes cases of the list that some of those who are there lack, until the round is full.
static void take_cases(struct case_seat *seat, target_set present)
{
    struct case_rounds *rounds = seat->rounds;
    double sums[CASE_ROUNDS_TARGETS_MAX] = {0}, seconds = NAN;

    for (; seat->at < seat->listed_count && !is_full(rounds->count, seconds); seat->at++) {
        const int64_t id = seat->listed[seat->at];
        const target_set lacking = is_in_rounds(id) ? present & ~rounds->done[id] : 0;

        if (lacking != 0) {
            rounds->ids[rounds->count++] = id;
            seconds = add_price(&seat->prices, lacking, id, sums);
        }
    }
}

// No round where nothing is left by now.
static tapml_status make_round(struct case_seat *seat, target_set present)
{
    struct case_rounds *rounds = seat->rounds;

    TAPML_TRY(are_stale(seat) ? find_prices(seat) : TAPML_OK);
    rounds->count = 0;
    take_cases(seat, present);
    if (rounds->count == 0) {
        TAPML_TRY(list(seat));
        take_cases(seat, present);
    }
    rounds->round += rounds->count > 0;
    return TAPML_OK;
}

// -- What targets say ----------------------------------------------------------------------------

static struct round_op *find_op(struct case_rounds *rounds, const char *name)
{
    for (size_t i = 0; i < rounds->op_count; i++) {
        if (strcmp(rounds->ops[i].name, name) == 0) {
            return &rounds->ops[i];
        }
    }
    if (rounds->op_count == ROUNDS_OPS_MAX || strlen(name) >= OP_NAME) {
        return NULL;
    }
    struct round_op *op = &rounds->ops[rounds->op_count];

    *op = (struct round_op){.judged = 0};
    (void)snprintf(op->name, sizeof(op->name), "%s", name);
    rounds->op_count++;
    return op;
}

static tapml_status note_verdicts(void *user, const struct verdict_list *verdicts)
{
    struct case_seat *seat = user;

    take_lock(seat->rounds);
    for (size_t i = 0; i < verdicts->count; i++) {
        const struct verdict *verdict = &verdicts->items[i];
        const int is_wrong = verdict->kind == VERDICT_FAIL || verdict->kind == VERDICT_ERROR;
        struct round_op *op = find_op(seat->rounds, verdict->op_name);

        if (op != NULL && (is_wrong || verdict->kind == VERDICT_PASS)) {
            op->judged |= bit_of(seat->index);
            op->wrong |= is_wrong ? bit_of(seat->index) : 0;
        }
    }
    leave_lock(seat->rounds);
    return TAPML_OK;
}

static void tell_op(const struct case_rounds *rounds, struct round_op *op)
{
    struct agreement_target targets[CASE_ROUNDS_TARGETS_MAX];
    struct text text;

    for (size_t i = 0; i < rounds->target_count; i++) {
        targets[i] =
            (struct agreement_target){.name = rounds->names[i],
                                      .opinion = (op->wrong & bit_of(i)) != 0    ? AGREEMENT_WRONG
                                                 : (op->judged & bit_of(i)) != 0 ? AGREEMENT_AGREES
                                                                                 : AGREEMENT_NONE};
    }
    text_init(&text);
    if (agreement_print(catalogue_shorten(op->name), targets, rounds->target_count, 0, &text)) {
        log_line(LOG_WARNING, "round %llu: %s", (unsigned long long)rounds->round, text.data);
    }
    text_release(&text);
    op->told_judged = op->judged;
    op->told_wrong = op->wrong;
}

static void tell(struct case_rounds *rounds)
{
    for (size_t i = 0; i < rounds->op_count; i++) {
        struct round_op *op = &rounds->ops[i];

        if (op->wrong != 0 && (op->wrong != op->told_wrong || op->judged != op->told_judged)) {
            tell_op(rounds, op);
        }
    }
}

// -- A seat --------------------------------------------------------------------------------------

static tapml_status note_results(struct case_seat *seat)
{
    struct case_rounds *rounds = seat->rounds;
    struct arena *arena = seat->prices.arena;
    int64_t *ids = NULL;
    size_t count = 0;

    TAPML_TRY(result_list_cases(seat->store, rounds->names[seat->index], arena, &ids, &count));
    take_lock(rounds);
    for (size_t i = 0; i < count; i++) {
        if (is_in_rounds(ids[i])) {
            rounds->done[ids[i]] |= bit_of(seat->index);
        }
    }
    rounds->targets[seat->index].has_joined = 1;
    leave_lock(rounds);
    return TAPML_OK;
}

tapml_status case_rounds_join(struct case_rounds *rounds,
                              size_t index,
                              struct store *store,
                              struct case_seat **out_seat)
{
    ASSERT(index < rounds->target_count);
    struct case_seat *seat = alloc_new(sizeof(*seat));

    if (seat == NULL) {
        return status_no_memory();
    }
    *seat = (struct case_seat){.rounds = rounds, .index = index, .store = store};
    seat->prices.arena = arena_create();
    if (seat->prices.arena == NULL) {
        case_rounds_leave(seat);
        return status_no_memory();
    }
    *out_seat = seat;
    return TAPML_OK;
}

void case_rounds_leave(struct case_seat *seat)
{
    if (seat != NULL) {
        take_lock(seat->rounds);
        seat->rounds->targets[seat->index].has_left = 1;
        leave_lock(seat->rounds);
        arena_destroy(seat->prices.arena);
        alloc_free(seat->listed);
        alloc_free(seat);
    }
}

// Ends the round that the seat is in, and begins the next one if all others have ended it too.
static tapml_status finish_round(struct case_seat *seat)
{
    struct case_rounds *rounds = seat->rounds;
    const target_set present = find_present(rounds);

    for (size_t i = 0; i < seat->count; i++) {
        rounds->done[seat->ids[i]] |= bit_of(seat->index);
    }
    seat->count = 0;
    rounds->targets[seat->index].finished = seat->round;
    if (!is_finished(rounds, present)) {
        return TAPML_OK;
    }
    tell(rounds);
    return make_round(seat, present);
}

static void take_round(struct case_seat *seat)
{
    const struct case_rounds *rounds = seat->rounds;

    seat->round = rounds->round;
    for (size_t i = 0; i < rounds->count; i++) {
        if ((rounds->done[rounds->ids[i]] & bit_of(seat->index)) == 0) {
            seat->ids[seat->count++] = rounds->ids[i];
        }
    }
}

static tapml_status
next_cases(void *user, const int64_t **out_ids, size_t *out_count, int *out_waits)
{
    struct case_seat *seat = user;
    struct case_rounds *rounds = seat->rounds;
    tapml_status status = TAPML_OK;

    if (!rounds->targets[seat->index].has_joined) {
        TAPML_TRY(note_results(seat));
    }
    take_lock(rounds);
    if (seat->round == rounds->round) {
        status = finish_round(seat);
    }
    if (status == TAPML_OK && seat->round < rounds->round) {
        take_round(seat);
    }
    *out_ids = seat->ids;
    *out_count = seat->count;
    *out_waits = seat->count == 0 && !is_finished(rounds, find_present(rounds));
    leave_lock(rounds);
    return status;
}

struct handed_cases case_rounds_cases(struct case_seat *seat)
{
    return (struct handed_cases){.next = next_cases, .judged = note_verdicts, .user = seat};
}
