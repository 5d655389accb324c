// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/stages.h"

#include "base/assert.h"
#include "base/clock.h"

#include <string.h>
#include <time.h>

static _Thread_local struct stages *mine;

static const char *const names[STAGES_KINDS] = {
    [STAGES_OTHER] = "other",         [STAGES_READ] = "read",
    [STAGES_DECODE] = "decode",       [STAGES_PREPARE] = "prepare",
    [STAGES_UPLOAD] = "upload",       [STAGES_LAUNCH] = "launch",
    [STAGES_DEVICE] = "device",       [STAGES_FETCH] = "fetch",
    [STAGES_COMPARE] = "compare",     [STAGES_COMPARERS] = "comparers",
    [STAGES_CALIBRATE] = "calibrate", [STAGES_RECORD] = "record",
    [STAGES_SOURCE] = "source",
};

const char *stages_name(enum stages_kind kind)
{
    ASSERT(kind < STAGES_KINDS);
    return names[kind];
}

enum stages_kind stages_find(const char *name)
{
    int kind = 0;
    while (kind < STAGES_KINDS && strcmp(names[kind], name) != 0) {
        kind++;
    }
    return (enum stages_kind)kind;
}

static uint64_t processor_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void ask(struct stages *stages, uint64_t now_ns)
{
    stages->asked_ns = now_ns;
    stages->asked_processor_ns = processor_ns();
}

// How long the thread did not run since the clock was asked last.
static uint64_t waited_since(struct stages *stages, uint64_t now_ns)
{
    const uint64_t asked_ns = stages->asked_ns, asked_processor_ns = stages->asked_processor_ns;
    ask(stages, now_ns);
    const uint64_t ran_ns = stages->asked_processor_ns - asked_processor_ns;
    const uint64_t passed_ns = now_ns - asked_ns;
    return passed_ns > ran_ns ? passed_ns - ran_ns : 0;
}

// Counts the time until now for the stage at hand.
static struct stages_count *settle(struct stages *stages)
{
    struct stages_count *count = &stages->phases[stages->phase].counts[stages->kind];
    const uint64_t now_ns = clock_now_ns(), spent_ns = now_ns - stages->since_ns;
    count->wall_ns += spent_ns;
    if (spent_ns >= STAGES_LONG_NS) {
        const uint64_t waited_ns = waited_since(stages, now_ns);
        count->waiting_ns += waited_ns < spent_ns ? waited_ns : spent_ns;
    }
    stages->since_ns = now_ns;
    return count;
}

struct stages *stages_begin(struct stages *stages)
{
    struct stages *before = mine;
    if (before) {
        (void)settle(before);
    }
    *stages = (struct stages){.since_ns = clock_now_ns()};
    ask(stages, stages->since_ns);
    mine = stages;
    stages_phase(NULL);
    return before;
}

void stages_leave(struct stages *before)
{
    ASSERT(mine);
    (void)settle(mine);
    mine = before;
    if (before) {
        before->since_ns = clock_now_ns();
        ask(before, before->since_ns);
    }
}

int stages_are_kept(void)
{
    return mine != NULL;
}

static size_t find_phase(const struct stages *stages, const char *name, size_t length)
{
    size_t at = 0;
    while (at < stages->phase_count && (strlen(stages->phases[at].name) != length ||
                                        memcmp(stages->phases[at].name, name, length) != 0)) {
        at++;
    }
    return at;
}

void stages_phase(const char *name)
{
    static const char none[] = "other";
    if (!mine) {
        return;
    }
    const char *word = name ? name : none;
    size_t length = strcspn(word, " ");
    length = length < STAGES_PHASE_TEXT ? length : STAGES_PHASE_TEXT - 1;
    (void)settle(mine);
    const size_t at = find_phase(mine, word, length);
    if (at < STAGES_PHASES_MAX) {
        memcpy(mine->phases[at].name, word, length);
        mine->phase_count = at == mine->phase_count ? at + 1 : mine->phase_count;
    }
    mine->phase = at < STAGES_PHASES_MAX ? at : 0; // "other" is the first one.
}

static struct stages_fact *find_fact(struct stages *stages, const char *name)
{
    for (size_t i = 0; i < stages->fact_count; i++) {
        if (strcmp(stages->facts[i].name, name) == 0) {
            return &stages->facts[i];
        }
    }
    ASSERT(stages->fact_count < STAGES_FACTS_MAX); // Names are constants of the program.
    stages->facts[stages->fact_count] = (struct stages_fact){.name = name};
    return &stages->facts[stages->fact_count++];
}

void stages_add(const char *name, struct stages_count more)
{
    if (mine) {
        struct stages_count *count = &find_fact(mine, name)->count;
        count->visits += more.visits;
        count->bytes += more.bytes;
        count->wall_ns += more.wall_ns;
        count->waiting_ns += more.waiting_ns;
    }
}

struct stages_count stages_fact(const struct stages *stages, const char *name)
{
    for (size_t i = 0; i < stages->fact_count; i++) {
        if (strcmp(stages->facts[i].name, name) == 0) {
            return stages->facts[i].count;
        }
    }
    return (struct stages_count){0};
}

// Whether the stage at hand has another one as a part.
static int holds(enum stages_kind at_hand, enum stages_kind next)
{
    const int is_store = next == STAGES_READ || next == STAGES_DECODE || next == STAGES_RECORD;
    return at_hand == STAGES_SOURCE || (at_hand == STAGES_CALIBRATE && !is_store);
}

enum stages_kind stages_enter(enum stages_kind kind)
{
    ASSERT(kind < STAGES_KINDS);
    if (!mine) {
        return STAGES_OTHER;
    }
    const enum stages_kind before = mine->kind;
    if (before != kind && !holds(before, kind)) {
        (void)settle(mine);
        mine->kind = kind;
        mine->phases[mine->phase].counts[kind].visits++;
    }
    return before;
}

void stages_return(enum stages_kind before, uint64_t bytes)
{
    if (!mine) {
        return;
    }
    if (before == mine->kind) {
        mine->phases[mine->phase].counts[before].bytes += bytes;
    } else {
        settle(mine)->bytes += bytes;
        mine->kind = before;
    }
}
