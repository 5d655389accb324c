// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/options.h"
#include "config/shard.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// All that may have numbered the process that runs the tests.
static void begin(void)
{
    static const char *const names[] = {"TAPML_SHARD",
                                        "TAPML_SHARDS",
                                        "OMPI_COMM_WORLD_RANK",
                                        "PMI_RANK",
                                        "SLURM_PROCID",
                                        "SLURM_STEP_NUM_TASKS",
                                        "PMIX_RANK",
                                        "JOB_COMPLETION_INDEX",
                                        "SLURM_ARRAY_TASK_ID",
                                        "SLURM_ARRAY_TASK_MIN",
                                        "SLURM_ARRAY_TASK_STEP",
                                        "SLURM_ARRAY_TASK_COUNT",
                                        "SLURM_NTASKS"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        cr_assert_eq(unsetenv(names[i]), 0);
    }
}

TestSuite(shard, .init = begin);

static void set(const char *name, const char *value)
{
    cr_assert_eq(setenv(name, value, 1), 0);
}

static void expect(const char *word, uint32_t index, uint32_t count)
{
    struct case_shard shard = {0, 0};
    cr_assert_eq(shard_read(word, &shard), TAPML_OK, "%s: %s", word, status_message());
    cr_expect_eq(shard.index, index, "%s: %u", word, shard.index);
    cr_expect_eq(shard.count, count, "%s: %u", word, shard.count);
}

static void refused(const char *word, tapml_status status, const char *sentence)
{
    struct case_shard shard = {7, 9};
    cr_assert_eq(shard_read(word, &shard), status, "%s", word);
    cr_expect_not_null(strstr(status_message(), sentence), "%s", status_message());
    cr_expect_eq(shard.index, 7, "it is written on success only");
}

Test(shard, a_part_of_how_many)
{
    expect("1/1", 1, 1);
    expect("3/8", 3, 8);
    expect("8/8", 8, 8);
    expect("4096/4096", 4096, 4096);
}

Test(shard, what_is_no_part_is_refused)
{
    static const char *const words[] = {
        "",   "3",  "0/8", "9/8",  "-1/8", "1/0",  "1/4097",
        "/8", "3/", "a/b", "1/8x", "1//8", "AUTO", "111111111111111111111111111/8"};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        refused(words[i], TAPML_INVALID, "expected 'auto' or a part of how many");
    }
}

Test(shard, nothing_has_numbered_this_process)
{
    refused("auto", TAPML_PRECONDITION, "nothing has numbered this process");
}

Test(shard, slurm_numbers_the_tasks_of_a_step)
{
    set("SLURM_PROCID", "2");
    set("SLURM_STEP_NUM_TASKS", "8");
    set("SLURM_NTASKS", "16");
    expect("auto", 3, 8);
    expect("1/2", 1, 2); // What is given counts.
}

// The script is told the number of tasks, and would replay the first part alone.
Test(shard, the_script_of_a_job_is_no_task_of_it)
{
    set("SLURM_PROCID", "0");
    set("SLURM_NTASKS", "8");
    refused("auto", TAPML_PRECONDITION, "put `srun` before the command");
}

Test(shard, slurm_numbers_the_tasks_of_an_array)
{
    set("SLURM_PROCID", "0");
    set("SLURM_NTASKS", "1");
    set("SLURM_ARRAY_TASK_ID", "14");
    set("SLURM_ARRAY_TASK_MIN", "10");
    set("SLURM_ARRAY_TASK_COUNT", "4");
    set("SLURM_ARRAY_TASK_STEP", "2");
    expect("auto", 3, 4);
    set("SLURM_STEP_NUM_TASKS", "2"); // Two in each of them.
    set("SLURM_PROCID", "1");
    expect("auto", 6, 8);
    set("SLURM_ARRAY_TASK_ID", "13"); // Of --array=10,13,40,41.
    refused("auto", TAPML_INVALID, "submit it as --array=1-4");
    set("SLURM_ARRAY_TASK_ID", "18");
    refused("auto", TAPML_INVALID, "task 18 is none of an array of 4 tasks in a row");
}

Test(shard, mpirun_in_a_job_of_slurm_counts)
{
    set("SLURM_PROCID", "0");
    set("SLURM_STEP_NUM_TASKS", "1");
    set("OMPI_COMM_WORLD_RANK", "4");
    set("OMPI_COMM_WORLD_SIZE", "5");
    expect("auto", 5, 5);
}

Test(shard, kubernetes_and_pmix_do_not_say_of_how_many)
{
    set("JOB_COMPLETION_INDEX", "0");
    refused("auto", TAPML_INVALID, "TAPML_SHARDS does not say of how many");
    set("TAPML_SHARDS", "3");
    expect("auto", 1, 3);
    set("PMIX_RANK", "2");
    expect("auto", 3, 3);
    set("TAPML_SHARD", "2"); // From 1 on, and before all others.
    set("SLURM_ARRAY_TASK_ID", "9");
    expect("auto", 2, 3);
}

Test(shard, numbers_that_do_not_fit_are_refused)
{
    set("OMPI_COMM_WORLD_RANK", "5");
    set("OMPI_COMM_WORLD_SIZE", "5");
    refused("auto", TAPML_INVALID, "OMPI_COMM_WORLD_RANK is '5', and OMPI_COMM_WORLD_SIZE is '5'");
    set("OMPI_COMM_WORLD_RANK", "one");
    refused("auto", TAPML_INVALID, "OMPI_COMM_WORLD_RANK is 'one', expected a number from 0");
    set("OMPI_COMM_WORLD_RANK", "0");
    set("OMPI_COMM_WORLD_SIZE", "0");
    refused("auto", TAPML_INVALID, "OMPI_COMM_WORLD_SIZE is '0', expected a number from 1");
}

Test(shard, a_folder_needs_a_shard)
{
    static const struct options_spec specs[] = {
        SHARD_OPTION, SHARD_INTO_OPTION, {NULL, NULL, NULL}};
    struct options options;
    struct case_shard shard = {7, 7};

    cr_assert_eq(options_parse(specs, 0, NULL, &options), TAPML_OK);
    cr_assert_eq(shard_take(&options, &shard), TAPML_OK);
    cr_expect_eq(shard.count, 0);
    cr_assert_eq(options_parse(specs, 1, (char *[]){"--into=x"}, &options), TAPML_OK);
    cr_assert_eq(shard_take(&options, &shard), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "give --shard I/N too"));
    cr_assert_eq(options_parse(specs, 2, (char *[]){"--into=x", "--shard=2/3"}, &options),
                 TAPML_OK);
    cr_assert_eq(shard_take(&options, &shard), TAPML_OK);
    cr_expect_eq(shard.index, 2);
}
