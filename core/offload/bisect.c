// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "offload/bisect.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <string.h>

// The bounds of part `index` of `parts` nearly equal ones.
static size_t part_begin(size_t count, size_t parts, size_t index)
{
    return count * index / parts;
}

// Tests each part alone, then each part's complement. Where one fails, it becomes the set, and
// `parts` is what ddmin goes on with; 0 where none did.
struct round {
    uint32_t *members;
    size_t count;
    size_t parts;
    uint32_t *candidate; // Room for all members.
    bisect_test_fn test;
    void *user;
};

static size_t take(struct round *round, size_t index, int complement)
{
    const size_t begin = part_begin(round->count, round->parts, index);
    const size_t end = part_begin(round->count, round->parts, index + 1);
    size_t taken = 0;

    for (size_t i = 0; i < round->count; i++) {
        if ((i >= begin && i < end) != complement) {
            round->candidate[taken++] = round->members[i];
        }
    }
    return taken;
}

static tapml_status try_parts(struct round *round, int complement, int *out_fails)
{
    *out_fails = 0;
    for (size_t index = 0; index < round->parts && !*out_fails; index++) {
        const size_t taken = take(round, index, complement);

        if (taken == 0 || taken == round->count) {
            continue;
        }
        TAPML_TRY(round->test(round->user, round->candidate, taken, out_fails));
        if (*out_fails) {
            memcpy(round->members, round->candidate, taken * sizeof(*round->members));
            round->count = taken;
        }
    }
    return TAPML_OK;
}

tapml_status bisect_minimise(uint32_t *members, size_t *count, bisect_test_fn test, void *user)
{
    ASSERT(*count > 0);
    struct round round = {
        .members = members, .count = *count, .parts = 2, .test = test, .user = user};
    tapml_status status = TAPML_OK;

    round.candidate = alloc_array(*count, sizeof(*members));
    if (round.candidate == NULL) {
        return status_no_memory();
    }
    while (round.count > 1 && status == TAPML_OK) {
        int fails = 0;

        round.parts = round.parts < round.count ? round.parts : round.count;
        status = try_parts(&round, 0, &fails);
        if (status == TAPML_OK && fails) {
            round.parts = 2;
            continue;
        }
        if (status == TAPML_OK && round.parts > 2) {
            status = try_parts(&round, 1, &fails);
        }
        if (status == TAPML_OK && fails) {
            round.parts = round.parts > 3 ? round.parts - 1 : 2;
            continue;
        }
        if (round.parts == round.count) {
            break;
        }
        round.parts *= 2;
    }
    alloc_free(round.candidate);
    *count = round.count;
    return status;
}
