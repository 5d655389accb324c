// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/run_file.h"
#include "run_ini.h"

static void refused(const char *text, const char *sentence)
{
    struct run_config config;

    cr_assert_eq(load(text, &config), TAPML_INVALID, "'%s' was accepted", text);
    cr_assert_not_null(strstr(status_message(), sentence), "'%s' lacks '%s'", status_message(),
                       sentence);
}

Test(run_file, defaults_stand_where_keys_are_absent)
{
    struct run_config config;

    cr_assert_eq(load(WHOLE, &config), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(config.dir, "d");
    cr_assert_str_eq(config.source.backend, "a:b");
    cr_assert_eq(config.decode, 32);
    cr_assert_eq(config.capacity, 256);
    cr_assert_eq(config.chunk, 128);
    cr_assert_eq(config.offload_prompts, 8);
    cr_assert_eq(config.keep_all, 0);
    cr_assert_eq(config.mode, LOOP_MIXED);
    cr_assert_not(config.targets[0].is_guarded);
    cr_assert_eq(config.targets[0].activation, ACTIVATION_F32);
    cr_assert_eq(config.target_count, 1u);
    cr_assert_str_eq(config.targets[0].name, "gpu");
    run_config_release(&config);
}

Test(run_file, a_budget_and_an_order_choose)
{
    struct run_config config;

    cr_assert_eq(load(WHOLE, &config), TAPML_OK, "%s", status_message());
    cr_assert_null(run_config_choice(&config));
    run_config_release(&config);
    cr_assert_eq(load(WHOLE "[order]\npolicy = carved\n", &config), TAPML_OK);
    cr_assert_null(run_config_choice(&config));
    run_config_release(&config);
    cr_assert_eq(load(WHOLE "[select]\nbudget = 2%\n[order]\npolicy = cover\n", &config), TAPML_OK,
                 "%s", status_message());
    cr_assert_eq(run_config_choice(&config)->budget.kind, BUDGET_SHARE);
    cr_assert_eq(run_config_choice(&config)->order, CHOICE_COVER);
    run_config_release(&config);
    refused(WHOLE "[select]\nbudget = some\n", "budget is 'some', expected a number of cases");
    cr_assert_eq(
        load(WHOLE "[order]\npolicy = quick\n[select]\nbudget = 5\npolicy = x/y\n", &config),
        TAPML_OK);
    cr_assert_str_eq(config.order_policy, "quick");
    cr_assert_str_eq(config.select_policy, "x/y");
    cr_assert_eq(run_config_choice(&config)->order, CHOICE_AUTO);
    run_config_release(&config);
    refused(WHOLE "[select]\npolicy = quick\n", "expected 'budget' beside it");
}

Test(run_file, what_is_watched_has_triggers_and_a_budget)
{
    struct run_config config;

    cr_assert_eq(load(WHOLE, &config), TAPML_OK, "%s", status_message());
    cr_assert_eq(config.watch.is_on, 1U << WATCH_IDENTITY);
    cr_assert_eq(config.watch.budget.kind, BUDGET_ALL);
    cr_assert_eq(config.watch.interval_s, 300);
    cr_assert_null(config.watch.command);
    run_config_release(&config);
    cr_assert_eq(load(WHOLE "[watch]\ntriggers = cost drift:3\nensemble = majority\n"
                            "budget = 600s\ninterval = 5\non-change = true\n",
                      &config),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(config.watch.is_on, 1U << WATCH_COST | 1U << WATCH_DRIFT);
    cr_assert_eq(config.watch.drift, 3);
    cr_assert_eq(config.watch.ensemble, WATCH_MAJORITY);
    cr_assert_eq(config.watch.budget.kind, BUDGET_SECONDS);
    cr_assert_str_eq(config.watch.command, "true");
    run_config_release(&config);
    refused(WHOLE "[watch]\ntriggers = identty\n", "did you mean 'identity'?");
    refused(WHOLE "[watch]\nbudget = some\n", "budget is 'some'");
    refused(WHOLE "[watch]\ninterval = 0\n", "interval");
}

Test(run_file, an_unknown_name_is_refused_with_the_nearest)
{
    refused(WHOLE "[run]\npromts = q\n", "did you mean 'prompts'?");
    refused(WHOLE "[runn]\ndir = q\n", "did you mean [run]?");
    refused(WHOLE "[target.gpu]\nbackends = q\n", "did you mean 'backend'?");
}

Test(run_file, what_is_missing_is_named)
{
    refused(MODEL SOURCE, "[run] has no 'dir'");
    refused(HEAD SOURCE, "[model] has no 'path'");
    refused(HEAD MODEL, "[source] has no 'backend'");
    refused(HEAD MODEL SOURCE "[target.gpu]\nrequire = all\n", "[target.gpu] has no 'backend'");
}

#define CASES "[run]\ndir = d\n[source]\nstore = x.tapmlrun\n"

Test(run_file, beside_a_store_nothing_is_needed_that_runs_a_model)
{
    struct run_config config;

    cr_assert_eq(load(CASES "[model]\npath = m\n[target.gpu]\nbackend = x\n", &config), TAPML_OK,
                 "%s", status_message());
    cr_assert_str_eq(config.store, "x.tapmlrun");
    cr_assert_null(config.prompts);
    cr_assert_null(config.source.backend);
    run_config_release(&config);
    refused(CASES "backend = a:b\n", "'backend' in [source] means nothing beside 'store'");
    refused(CASES "[model]\nweights = q4_0\n", "'weights' in [model] means nothing");
    refused(CASES "[plan]\nrule = * -> source\n", "'rule' in [plan] means nothing");
    refused(CASES "[offload]\nprompts = 2\n", "'prompts' in [offload] means nothing");
    refused("[run]\ndir = d\ndecode = 4\n[source]\nstore = x\n", "'decode' in [run] means nothing");
}

Test(run_file, values_are_checked)
{
    refused(HEAD "decode = many\n" MODEL SOURCE, ":4: [run] decode: expected a whole number");
    refused(HEAD "chunk = 257\n" MODEL SOURCE, ":4: [run] chunk: expected at most the capacity");
    refused(HEAD "decode = 257\n" MODEL SOURCE, "[run] decode: expected at most the capacity");
    refused(HEAD "capacity = 31\n" MODEL SOURCE, "[run] capacity: expected at least 'decode'");
    refused(HEAD "dir = e\n" MODEL SOURCE, "expected 'dir' once in [run], found it in line 2");
    refused(HEAD "capacity = 0\n" MODEL SOURCE, "from 1 to");
    refused(HEAD "keep = some\n" MODEL SOURCE, "expected 'first' or 'all'");
    refused(WHOLE "isolation = sometimes\n", "found 'sometimes'");
    refused(WHOLE "guard = yes\n", "expected 'off' or 'on', found 'yes'");
    refused(WHOLE "activations = bf16\n", "expected 'f32' or 'f16', found 'bf16'");
    refused(WHOLE "[offload]\nmode = both\n", "found 'both'");
    refused(WHOLE "[target.source]\nbackend = x\n", "cannot be the name of a target");
}

Test(run_file, modes_guards_and_activations_are_read)
{
    struct run_config config;

    cr_assert_eq(
        load(WHOLE "guard = on\nactivations = f16\n[offload]\nmode = cumulative\n", &config),
        TAPML_OK, "%s", status_message());
    cr_assert_eq(config.mode, LOOP_CUMULATIVE);
    cr_assert(config.targets[0].is_guarded);
    cr_assert_eq(config.targets[0].activation, ACTIVATION_F16);
    run_config_release(&config);
}

Test(run_file, faults_are_read_in_the_order_of_the_file)
{
    struct run_config config;

    cr_assert_eq(load("[fault.b]\ntarget = gpu\nkind = nan\n" WHOLE
                      "[fault.a]\ntarget = gpu\nop = attention\ninstance = layers.2/*\n"
                      "kind = argument window +1\nfrom-call = 3\nprobability = 0.5\nseed = 9\n",
                      &config),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(config.fault_count, 2u);
    const struct fault_rule *first = &config.faults[0].rule;
    const struct fault_rule *second = &config.faults[1].rule;

    cr_assert_str_eq(config.faults[0].target, "gpu");
    cr_assert_str_eq(first->name, "fault.b");
    cr_assert_str_eq(first->op, "*");
    cr_assert_str_eq(first->instance, "*");
    cr_assert_eq(first->kind, FAULT_NAN);
    cr_assert_eq(first->from_call, 1);
    cr_assert_eq(first->probability, 1);
    cr_assert_eq(first->seed, 1u);
    cr_assert_str_eq(second->op, "attention");
    cr_assert_str_eq(second->instance, "layers.2/*");
    cr_assert_str_eq(second->argument, "window");
    cr_assert_eq(second->from_call, 3);
    cr_assert_eq(second->probability, 0.5);
    cr_assert_eq(second->seed, 9u);
    run_config_release(&config);
}

// Whatever becomes of the original.
Test(run_file, a_copy_has_the_faults_of_its_targets)
{
    struct run_config config, copy;

    cr_assert_eq(load(WHOLE "[fault.a]\ntarget = gpu\nkind = nan\n", &config), TAPML_OK, "%s",
                 status_message());
    copy = config;
    memset(&config, 0, sizeof(config));
    cr_assert_eq(copy.targets[0].fault_count, 1u);
    cr_assert_eq(copy.targets[0].faults[0].kind, FAULT_NAN);
    cr_assert_str_eq(copy.targets[0].faults[0].name, "fault.a");
    run_config_release(&copy);
}

Test(run_file, faults_are_checked)
{
    refused(WHOLE "[fault.1]\nkind = nan\n", "[fault.1] has no 'target'");
    refused(WHOLE "[fault.1]\ntarget = gpu\n", "[fault.1] has no 'kind'");
    refused(WHOLE "[fault.1]\ntarget = gpv\nkind = nan\n", "did you mean 'gpu'?");
    refused(WHOLE "[fault.1]\ntarget = gpu\nkinds = nan\n", "did you mean 'kind'?");
    refused(WHOLE "[fault.1]\ntarget = gpu\nkind = non\n",
            "[fault.1] kind: unknown kind 'non', did");
    refused(WHOLE "[fault.1]\ntarget = gpu\nkind = nan\nfrom-call = 0\n", "from 1 to");
    refused(WHOLE "[fault.1]\ntarget = gpu\nkind = nan\nseed = -1\n", "from 0 to");
    refused(WHOLE "[fault.1]\ntarget = gpu\nkind = nan\nprobability = 0\n", "above 0, at most 1");
    refused(WHOLE "[fault.1]\ntarget = gpu\nkind = nan\nprobability = 2\n", "above 0, at most 1");
    refused(WHOLE "[fault]\ntarget = gpu\n", "unknown section [fault], did you mean [fault.N]?");
}

Test(run_file, a_survey_reads_what_it_can)
{
    struct run_config config;
    struct problems problems;
    char path[sizeof(RUN_INI_PATH)];

    write_ini(HEAD "decode = many\n" SOURCE "[target.gpu]\n", path);
    problems_init(&problems);
    cr_assert_eq(run_file_survey(path, &problems, &config), TAPML_OK);
    cr_assert_eq(problems.count, 3, "%s", problems.text.data);
    cr_assert_str_eq(config.source.backend, "a:b");
    cr_assert_null(config.model);
    cr_assert_eq(config.decode, 32);
    cr_assert_eq(config.target_count, 1u);
    cr_assert_eq(run_config_room(&config), 224u);
    run_config_release(&config);
    problems_release(&problems);
    (void)unlink(path);
}

Test(run_file, a_chunk_that_nobody_named_follows_the_capacity)
{
    struct run_config config;

    cr_assert_eq(load(HEAD "capacity = 40\n" MODEL SOURCE, &config), TAPML_OK);
    cr_assert_eq(config.chunk, 40);
    cr_assert_eq(run_config_room(&config), 8u);
    run_config_release(&config);
}

#define TARGET "[target.far]\nbackend = reference\n"

Test(run_file, knows_where_a_target_on_another_machine_is)
{
    struct run_config config;

    cr_assert_eq(load(WHOLE TARGET "listen = 0.0.0.0:7700\npatience = 5\n", &config), TAPML_OK,
                 "%s", status_message());
    cr_assert_str_eq(config.targets[1].isolation.listen, "0.0.0.0:7700");
    cr_assert_null(config.targets[1].isolation.url);
    cr_assert_eq(config.targets[1].isolation.patience_s, 5);
    run_config_release(&config);
    refused(WHOLE TARGET "listen = 7700\n", "'7700' is no address");
    refused(WHOLE TARGET "url = box:1\n", "'box:1' is no address of a worker");
    refused(WHOLE TARGET "url = tapml://box:1\nlisten = :1\n", "expected either 'url'");
}

Test(run_file, places_have_rates)
{
    struct run_config config;

    cr_assert_eq(load(HEAD MODEL SOURCE "rate = 0.10 EUR/h\n" TARGET "rate = 2.50 USD/h\n"
                                        "[target.gpu]\nbackend = x\n",
                      &config),
                 TAPML_OK, "%s", status_message());
    struct rate rate = run_config_rate(&config, "source");

    cr_expect_eq(rate.per_hour, 0.1);
    cr_expect_str_eq(rate.currency, "EUR");
    rate = run_config_rate(&config, config.targets[0].name);
    cr_expect_eq(rate.per_hour, 2.5);
    rate = run_config_rate(&config, "gpu");
    cr_expect_not(rate_is_known(&rate));
    run_config_release(&config);
    refused(WHOLE "rate = 2.50\n", "[target.gpu] rate: expected an amount and a currency");
    refused(HEAD MODEL SOURCE "rate = much USD/h\n", "[source] rate: expected an amount");
}
