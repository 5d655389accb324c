// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_share.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "run/target_jobs.h"
#include "store/first_case.h"
#include "store/result.h"
#include "store/stored_case.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    CLAIMS_MEMBERS_MAX = 64,
    CLAIMS_IDS_MAX = 1 << 24, // Of cases with larger ids none is claimed: the host replays them.
    CLAIMS_OPS_MAX = 1024,    // The same of ops.
    CLAIMS_AT_ONCE_MAX = 256,
    CLAIMS_PARTS = 4 // A member claims this part of its share of what is left at once.
};

// A free case is 0, one that a member has is that member's number from 1.
static const uint32_t DONE = UINT32_MAX;

struct case_claims {
    size_t members;
    _Atomic pid_t processes[CLAIMS_MEMBERS_MAX]; // 0: it has not begun.
    _Atomic uint32_t op_owners[CLAIMS_OPS_MAX];  // Of what is derived for the ops, by index.
    _Atomic uint32_t owners[];                   // By id.
};

struct case_share {
    struct case_claims *claims;
    size_t member;
    struct store *store;
    const char *target;
    struct arena *arena; // Of the list.
    int64_t *ids;        // What is handed out, and from where on.
    size_t count, at;
    int are_first;    // They are first cases of their classes, which others wait for.
    int64_t *claimed; // Of the last call.
    size_t claimed_count;
};

static size_t bytes_of_claims(void)
{
    return sizeof(struct case_claims) + CLAIMS_IDS_MAX * sizeof(uint32_t);
}

tapml_status case_share_claims_create(size_t members, struct case_claims **out_claims)
{
    ASSERT(members > 0 && members <= CLAIMS_MEMBERS_MAX);
    // Pages that no case touches are never there.
    void *memory = mmap(NULL, bytes_of_claims(), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (memory == MAP_FAILED) {
        return status_fail(TAPML_UNAVAILABLE, "no memory that processes share: %s",
                           strerror(errno));
    }
    *out_claims = memory;
    (*out_claims)->members = members;
    return TAPML_OK;
}

void case_share_claims_destroy(struct case_claims *claims)
{
    if (claims != NULL) {
        (void)munmap(claims, bytes_of_claims());
    }
}

tapml_status case_share_create(struct case_claims *claims,
                               size_t member,
                               struct store *store,
                               const char *target,
                               struct case_share **out_share)
{
    ASSERT(member < claims->members);
    struct case_share *share = alloc_new(sizeof(*share));

    if (share == NULL) {
        return status_no_memory();
    }
    *share = (struct case_share){
        .claims = claims,
        .member = member,
        .store = store,
        .target = target,
        .arena = arena_create(),
        .claimed = alloc_array(CLAIMS_AT_ONCE_MAX, sizeof(*share->claimed)),
    };
    if (share->arena == NULL || share->claimed == NULL) {
        case_share_destroy(share);
        return status_no_memory();
    }
    atomic_store(&claims->processes[member], getpid());
    *out_share = share;
    return TAPML_OK;
}

void case_share_destroy(struct case_share *share)
{
    if (share != NULL) {
        arena_destroy(share->arena);
        alloc_free(share->claimed);
        alloc_free(share);
    }
}

// -- What is left --------------------------------------------------------------------------------

static int by_value(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

    return (one > other) - (one < other);
}

static int has(const int64_t *sorted, size_t count, int64_t id)
{
    return count > 0 && bsearch(&id, sorted, count, sizeof(id), by_value) != NULL;
}

static int is_done(const struct case_claims *claims, int64_t id)
{
    return id < 0 || id >= CLAIMS_IDS_MAX || atomic_load(&claims->owners[id]) == DONE;
}

struct left {
    int64_t *results; // Sorted.
    size_t result_count;
    struct case_share *share;
};

static void add_left(const struct left *left, int64_t id)
{
    struct case_share *share = left->share;

    if (!is_done(share->claims, id) && !has(left->results, left->result_count, id)) {
        share->ids[share->count++] = id;
    }
}

static tapml_status make_room(struct case_share *share, size_t count)
{
    share->ids = arena_array(share->arena, count + 1, sizeof(*share->ids));
    share->count = share->at = 0;
    return share->ids != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status add_first(const struct left *left)
{
    struct case_share *share = left->share;
    struct first_case *firsts = NULL;
    size_t count = 0;

    TAPML_TRY(first_case_list(share->store, share->arena, &firsts, &count));
    TAPML_TRY(make_room(share, count));
    for (size_t i = 0; i < count; i++) {
        add_left(left, firsts[i].id);
    }
    share->are_first = share->count > 0;
    return TAPML_OK;
}

static tapml_status add_others(const struct left *left)
{
    struct case_share *share = left->share;
    int64_t *ids = NULL;
    size_t count = 0;

    TAPML_TRY(stored_case_ids(share->store, &ids, &count));
    const tapml_status status = make_room(share, count);

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        add_left(left, ids[i]);
    }
    alloc_free(ids);
    return status;
}

// Lists what nobody has judged: first cases, or where there are none, the others.
static tapml_status list(struct case_share *share)
{
    struct left left = {.share = share};

    arena_reset(share->arena);
    TAPML_TRY(result_list_cases(share->store, share->target, share->arena, &left.results,
                                &left.result_count));
    if (left.result_count > 0) {
        qsort(left.results, left.result_count, sizeof(*left.results), by_value);
    }
    TAPML_TRY(add_first(&left));
    return share->are_first ? TAPML_OK : add_others(&left);
}

// -- Claiming ------------------------------------------------------------------------------------

// Whether a member works: one that has not begun has claimed nothing.
static int is_alive(const struct case_claims *claims, uint32_t owner)
{
    const pid_t process = atomic_load(&claims->processes[owner - 1]);

    return process != 0 && (kill(process, 0) == 0 || errno != ESRCH);
}

static int claim(struct case_share *share, int64_t id)
{
    struct case_claims *claims = share->claims;
    uint32_t owner = atomic_load(&claims->owners[id]);

    if (owner == DONE || (owner != 0 && is_alive(claims, owner))) {
        return 0;
    }
    return atomic_compare_exchange_strong(&claims->owners[id], &owner, (uint32_t)share->member + 1);
}

static size_t at_once(const struct case_share *share)
{
    const size_t part = share->count / (CLAIMS_PARTS * share->claims->members);

    return part < 1 ? 1 : part < CLAIMS_AT_ONCE_MAX ? part : CLAIMS_AT_ONCE_MAX;
}

static void claim_some(struct case_share *share)
{
    const size_t most = at_once(share);

    while (share->at < share->count && share->claimed_count < most) {
        const int64_t id = share->ids[share->at++];

        if (claim(share, id)) {
            share->claimed[share->claimed_count++] = id;
        }
    }
}

static tapml_status
next_cases(void *user, const int64_t **out_ids, size_t *out_count, int *out_waits)
{
    struct case_share *share = user;

    for (size_t i = 0; i < share->claimed_count; i++) {
        atomic_store(&share->claims->owners[share->claimed[i]], DONE);
    }
    share->claimed_count = 0;
    claim_some(share);
    if (share->claimed_count == 0) {
        TAPML_TRY(list(share));
        claim_some(share);
    }
    *out_ids = share->claimed;
    *out_count = share->claimed_count;
    *out_waits = share->claimed_count == 0 && share->are_first;
    return TAPML_OK;
}

// What a member has taken that has ended is left to the host.
static int takes_op(void *user, size_t index)
{
    const struct case_share *share = user;
    uint32_t owner = 0;

    return index < CLAIMS_OPS_MAX &&
           atomic_compare_exchange_strong(&share->claims->op_owners[index], &owner,
                                          (uint32_t)share->member + 1);
}

struct handed_cases case_share_cases(struct case_share *share)
{
    return (struct handed_cases){.next = next_cases, .takes_op = takes_op, .user = share};
}
