// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "config/shard.h"

#include "base/text.h"
#include "choose/split.h"
#include "config/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_TEXT = 24 };

// What starts processes and numbers them, from `first` on. The first one whose `rank` is set
// counts: mpirun of Open MPI in a job of Slurm leaves Slurm's variables as they are.
static const struct shard_engine {
    const char *name, *rank, *size;
    uint32_t first;
} ENGINES[] = {
    {"the environment", "TAPML_SHARD", "TAPML_SHARDS", 1},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", 0},
    {"PMI", "PMI_RANK", "PMI_SIZE", 0},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", 0},
    {"PMIx", "PMIX_RANK", "TAPML_SHARDS", 0},
    {"Kubernetes", "JOB_COMPLETION_INDEX", "TAPML_SHARDS", 0},
};
enum { ENGINES_ALL = sizeof(ENGINES) / sizeof(*ENGINES) };

static const char *get(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static tapml_status read_number(const char *name, int64_t least, int64_t *out_value)
{
    const char *value = get(name);
    if (value && text_parse_i64(value, out_value) == TAPML_OK && *out_value >= least &&
        *out_value <= SPLIT_SHARDS_MAX) {
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID,
                       "--shard auto: %s is '%.40s', expected a number from %d to %d", name,
                       value ? value : "", (int)least, SPLIT_SHARDS_MAX);
}

static tapml_status read_engine(const struct shard_engine *engine, struct case_shard *out_shard)
{
    int64_t rank = 0, size = 0;
    TAPML_TRY(read_number(engine->rank, engine->first, &rank));
    if (!get(engine->size)) {
        return status_fail(TAPML_INVALID,
                           "--shard auto: %s says by %s which shard this is, and %s does not say "
                           "of how many; set it",
                           engine->name, engine->rank, engine->size);
    }
    TAPML_TRY(read_number(engine->size, 1, &size));
    rank += 1 - engine->first;
    if (rank > size) {
        return status_fail(TAPML_INVALID, "--shard auto: %s is '%s', and %s is '%s'", engine->rank,
                           get(engine->rank), engine->size, get(engine->size));
    }
    *out_shard = (struct case_shard){(uint32_t)rank, (uint32_t)size};
    return TAPML_OK;
}

static const struct shard_engine *find_engine(void)
{
    for (size_t i = 0; i < ENGINES_ALL; i++) {
        const int is_batch = strcmp(ENGINES[i].rank, "SLURM_PROCID") == 0 && !get(ENGINES[i].size);
        if (get(ENGINES[i].rank) && !is_batch) { // The script of a job is rank 0 of no step.
            return &ENGINES[i];
        }
    }
    return NULL;
}

// The place of a task in its array, from 0. `*out_count` is 0 outside of an array.
static tapml_status read_array(int64_t *out_place, int64_t *out_count)
{
    int64_t id = 0, least = 0, step = 1;
    *out_place = *out_count = 0;
    if (!get("SLURM_ARRAY_TASK_ID")) {
        return TAPML_OK;
    }
    if (text_parse_i64(get("SLURM_ARRAY_TASK_ID"), &id) != TAPML_OK ||
        (get("SLURM_ARRAY_TASK_MIN") &&
         text_parse_i64(get("SLURM_ARRAY_TASK_MIN"), &least) != TAPML_OK)) {
        return status_fail(TAPML_INVALID,
                           "--shard auto: SLURM_ARRAY_TASK_ID is '%.40s', expected "
                           "a number",
                           get("SLURM_ARRAY_TASK_ID"));
    }
    TAPML_TRY(read_number("SLURM_ARRAY_TASK_COUNT", 1, out_count));
    if (get("SLURM_ARRAY_TASK_STEP")) {
        TAPML_TRY(read_number("SLURM_ARRAY_TASK_STEP", 1, &step));
    }
    if (id < least || (id - least) % step != 0 || (id - least) / step >= *out_count) {
        return status_fail(TAPML_INVALID,
                           "--shard auto: task %lld is none of an array of %lld tasks in a row; "
                           "submit it as --array=1-%lld, or give --shard I/N",
                           (long long)id, (long long)*out_count, (long long)*out_count);
    }
    *out_place = (id - least) / step;
    return TAPML_OK;
}

// The script of a job runs once, whatever the job has.
static tapml_status refuse_batch(void)
{
    const char *tasks = get("SLURM_NTASKS");
    int64_t count = 0;
    return tasks && text_parse_i64(tasks, &count) == TAPML_OK && count > 1
               ? status_fail(TAPML_PRECONDITION,
                             "--shard auto: this job of Slurm has %lld tasks, and its script is "
                             "none of them; put `srun` before the command",
                             (long long)count)
               : TAPML_OK;
}

static tapml_status read_environment(struct case_shard *out_shard)
{
    const struct shard_engine *engine = find_engine();
    struct case_shard shard = {1, 1};
    int64_t place = 0, count = 0;
    if (engine != &ENGINES[0]) { // Which says all of it.
        TAPML_TRY(read_array(&place, &count));
    }
    if (engine) {
        TAPML_TRY(read_engine(engine, &shard));
    } else {
        TAPML_TRY(refuse_batch());
    }
    if (!engine && count == 0) {
        return status_fail(TAPML_PRECONDITION,
                           "--shard auto: nothing has numbered this process (Slurm, Open MPI, "
                           "PMIx, Kubernetes, or TAPML_SHARD and TAPML_SHARDS); give --shard I/N");
    }
    if (count > 0) { // Each task of an array may have several of a step.
        const int64_t all = count * shard.count;
        if (all > SPLIT_SHARDS_MAX) {
            return status_fail(TAPML_INVALID, "--shard auto: %lld shards, at most %d are possible",
                               (long long)all, SPLIT_SHARDS_MAX);
        }
        shard = (struct case_shard){(uint32_t)(place * shard.count + shard.index), (uint32_t)all};
    }
    *out_shard = shard;
    return TAPML_OK;
}

tapml_status shard_read(const char *word, struct case_shard *out_shard)
{
    const char *slash = strchr(word, '/');
    char number[NUMBER_TEXT];
    int64_t index = 0, count = 0;
    if (strcmp(word, "auto") == 0) {
        return read_environment(out_shard);
    }
    const size_t length = slash ? (size_t)(slash - word) : sizeof(number);
    if (length < sizeof(number)) {
        (void)snprintf(number, sizeof(number), "%.*s", (int)length, word);
        if (text_parse_i64(number, &index) == TAPML_OK &&
            text_parse_i64(slash + 1, &count) == TAPML_OK && index >= 1 && index <= count &&
            count <= SPLIT_SHARDS_MAX) {
            *out_shard = (struct case_shard){(uint32_t)index, (uint32_t)count};
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID,
                       "--shard is '%.40s', expected 'auto' or a part of how many, such as '1/8' "
                       "to '8/8'",
                       word);
}

tapml_status shard_take(const struct options *options, struct case_shard *out_shard)
{
    const char *word = options_get(options, "--shard");
    *out_shard = (struct case_shard){0, 0};
    if (!word && options_get(options, "--into")) {
        return status_fail(TAPML_INVALID, "--into is where a shard writes: give --shard I/N too");
    }
    return word ? shard_read(word, out_shard) : TAPML_OK;
}
