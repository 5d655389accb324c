// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "watch/sampling.h"
#include "watch/trigger.h"
#include "watched_run.h"

#include <math.h>
#include <string.h>

TestSuite(sampling, .init = watched_run_begin, .fini = watched_run_end, .timeout = 110);

static struct sampling sample_with(size_t count, uint64_t seed, struct trigger_facts *out_facts)
{
    const struct verdict_options options = options_for(exact);
    struct sampling sampling;

    *out_facts = (struct trigger_facts){.drift = 1};
    MUST(sampling_run(&options, count, seed, arena, out_facts, &sampling));
    return sampling;
}

Test(sampling, an_unchanged_target_has_not_moved)
{
    struct trigger_facts facts;
    const struct sampling sampling = sample_with(5, 1, &facts);

    cr_expect_eq(sampling.replayed, 5);
    cr_expect_leq(sampling.op_count, 2);
    cr_expect_eq(facts.drift, 1);
    cr_expect_eq(sample_with(1000, 2, &facts).replayed, 2 * WATCHED_STEPS);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 2 * WATCHED_STEPS);
}

Test(sampling, a_verdict_or_a_time_that_moved_names_its_op)
{
    struct trigger_facts facts;

    execute("UPDATE watched SET verdict = 'fail', margin = 9 WHERE op = 'tapml.silu'");
    execute("UPDATE watched SET time_ns = 1 WHERE op = 'tapml.rms_norm'");
    struct sampling sampling = sample_with(1000, 1, &facts);

    cr_expect(isinf(facts.drift));
    cr_expect_gt(facts.performance, 10);
    MUST(sampling_forget(&sampling, store, "gpu", INFINITY, INFINITY));
    cr_expect(!sampling.ops[0].is_moved && !sampling.ops[1].is_moved);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 2 * WATCHED_STEPS);
    MUST(sampling_forget(&sampling, store, "gpu", 2, INFINITY));
    cr_expect_eq(sampling.ops[0].is_moved, strcmp(sampling.ops[0].op, "tapml.silu") == 0);
    cr_expect_neq(sampling.ops[0].is_moved, sampling.ops[1].is_moved);
    cr_expect_eq(number_of("SELECT count(*) FROM result"), WATCHED_STEPS);
    MUST(sampling_forget(&sampling, store, "gpu", 2, 0.5));
    cr_expect_eq(number_of("SELECT count(*) FROM result"), 0);
}

Test(sampling, what_is_stale_or_was_never_watched_is_no_sample)
{
    struct trigger_facts facts;

    execute("UPDATE watched SET stale_s = 5 WHERE op = 'tapml.silu'");
    execute("DELETE FROM watched WHERE op = 'tapml.rms_norm'");
    cr_expect_eq(sample_with(1000, 1, &facts).replayed, 0);
    cr_expect_eq(facts.drift, 1);
}
