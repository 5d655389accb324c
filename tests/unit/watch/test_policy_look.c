// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../store/new_store.h"
#include "harness/policies.h"
#include "plugin/policy.h"
#include "store/target.h"
#include "watch/policy_look.h"

static struct registry *registry;
static struct policy *policy;
static struct target_row target = {.name = "gpu",
                                   .backend = "cpu",
                                   .activations = "f32",
                                   .faults = "",
                                   .goal = "",
                                   .component = "cpu",
                                   .device = "0",
                                   .device_name = "",
                                   .driver = "1.0",
                                   .plugin = "",
                                   .plugin_version = "",
                                   .build = "00",
                                   .identity = "cpu 1.0",
                                   .implementations = "",
                                   .given_up = ""};

static void write_target(void)
{
    MUST(store_begin(store));
    MUST(target_declare(store, &target, 1));
    MUST(target_describe(store, &target));
    MUST(store_commit(store));
}

static void begin(void)
{
    make_store();
    registry = policies_of_the_zoo();
    MUST(policy_create(registry, "sin_wise_policy", POLICY_TRIGGER, &policy));
    write_target();
}

static void end(void)
{
    policy_destroy(policy);
    policies_close(registry);
    remove_store();
}

TestSuite(policy_look, .init = begin, .fini = end);

static struct trigger_facts ask(const struct watched_files *files)
{
    struct trigger_facts facts = {.all = 8, .stale = 8, .drift = 1};

    MUST(policy_look_ask(policy, store, files, arena, &facts));
    return facts;
}

static void keep(const struct watched_files *files)
{
    MUST(store_begin(store));
    MUST(policy_look_keep(store, files));
    MUST(store_commit(store));
}

static const char NAME[] = "org.example.sin_wise_policy/sin_wise_policy 1.0.0";

Test(policy_look, changes_are_those_since_all_was_fresh)
{
    struct watched_files files = {.count = 0};
    struct trigger_facts facts = ask(&files);

    cr_expect(facts.policy_fires, "the first look");
    cr_expect_str_eq(facts.policy_said, NAME);
    facts = ask(&files);
    cr_expect(facts.policy_fires, "nothing was fresh since");
    keep(&files);
    cr_expect_not(ask(&files).policy_fires);

    // A file is no change of a target.
    MUST(watched_files_add(&files, scratch_text(&scratch, "run.ini", "x")));
    cr_expect_not(ask(&files).policy_fires);

    // A change stays one until all is fresh.
    target.driver = "1.1";
    write_target();
    for (int i = 0; i < 2; i++) {
        facts = ask(&files);
        cr_expect(facts.policy_fires);
        cr_expect_str_eq(facts.policy_said, "org.example.sin_wise_policy/sin_wise_policy 1.0.0: "
                                            "a target is another one");
        reopen();
    }
    keep(&files);
    cr_expect_not(ask(&files).policy_fires);
    watched_files_release(&files);
}

Test(policy_look, a_target_that_was_not_there_is_a_change)
{
    struct watched_files files = {.count = 0};

    keep(&files);
    cr_expect_not(ask(&files).policy_fires);
    target.name = "another";
    write_target();
    cr_expect(ask(&files).policy_fires);
    keep(&files);
    cr_expect_not(ask(&files).policy_fires);
}

Test(policy_look, an_answer_that_is_none_is_the_policy_s)
{
    struct watched_files files = {.count = 0};
    struct trigger_facts facts = {.all = 8};
    struct policy *vague = NULL;

    MUST(policy_create(registry, "sin_vague_policy", POLICY_TRIGGER, &vague));
    cr_expect_eq(policy_look_ask(vague, store, &files, arena, &facts), TAPML_INTERNAL);
    cr_expect_not_null(strstr(status_message(), "sin_vague_policy': its answer is 7"));
    cr_expect_null(facts.policy_said);
    policy_destroy(vague);
}
