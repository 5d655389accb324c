// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A run of an INI file, opened: what `tapml-host --config` and `tapml-host watch` begin with. The
// configuration is loaded and the plugins are searched for by the command; this module opens model,
// prompts, places and store, takes the lock of the folder, and sees to it that the store has the
// cases.
//
// One thread. Failures are those of what is opened: they name files, keys and devices.
#pragma once

#include "config/run_config.h"
#include "model/prompts.h"
#include "run/carving.h"
#include "run/policies.h"
#include "run/run_judge.h"
#include "run/setup.h"
#include "run/shard_cases.h"
#include "run/target_pool.h"
#include "verify/verdict.h"

struct opened_run {
    struct run_config config; // Loaded by the command, as
    struct setup setup;       // this is opened. Both are released with the run.
    struct run_lock *lock;
    struct store *store;
    struct checkpoint *weights;          // Of a run over cases, without a model; or NULL.
    const struct checkpoint *checkpoint; // These, or those of the model.
    struct verdict_list refuted;         // Of a run over cases: those that are no evidence.
    struct comparers *comparers;         // Of plugins; or NULL.
    struct policies policies;            // The same.
    struct prompts prompts;
    struct case_shard shard; // Set by opened_run_be_shard; none.
    struct shard_cases shard_cases;
    int is_of_others; // Of a shard: the file has [source] store.
    struct run_judge judge;
    struct carving_share carving; // Of a process of the source: its share; none.
    struct place *source;
    struct place *targets[RUN_CONFIG_TARGETS_MAX]; // As many as the configuration has; NULL: left
                                                   // to another process (opened_run_join).
    size_t members[RUN_CONFIG_TARGETS_MAX];        // Of the pool of each, which it has now.
    int is_incomplete;                             // Some target was not there, or went away.
    int is_checked;                                // The source was.
};

// Makes a configuration that is loaded that of a shard, before the run is opened: its cases are
// those of the run's store, or of [source] store, which is only read then; its folder is one of its
// own, in `into` or, if that is NULL, in that of the run. Texts are in the arena of the setup,
// which is open. TAPML_PRECONDITION if the run has no store yet.
tapml_status opened_run_be_shard(struct opened_run *run,
                                 const struct case_shard *shard,
                                 const char *into) STATUS_USED;

// Makes a configuration that is loaded that of one of the processes of its source, the `index`th
// from 0, before the run is opened: it has no target, and a folder of its own below that of the
// run. Texts are in the arena of the setup, which is open.
tapml_status opened_run_be_source(struct opened_run *run, uint32_t index) STATUS_USED;

// In such a process: carves its share of the prompts.
tapml_status opened_run_carve_share(struct opened_run *run) STATUS_USED;

// Opens model and prompts or the cases of somebody else, places, folder, lock and store. The files
// `json` and `junit`, or NULL, are tried for writing. Of several targets some may be lost after it.
tapml_status
opened_run_open(struct opened_run *run, const char *json, const char *junit) STATUS_USED;

// The same in a process that does one target, the `index`th, of a run that another process has
// opened: nothing of the folder is locked, made or removed, and of the targets it has that one.
tapml_status opened_run_join(struct opened_run *run, size_t index) STATUS_USED;

// The same as the `member`th of the pool of that target.
tapml_status
opened_run_join_member(struct opened_run *run, size_t index, size_t member) STATUS_USED;

// In such a process, once all cases are there: takes what `opened_run_fill` finds.
tapml_status opened_run_take(struct opened_run *run) STATUS_USED;

// Compares the metadata of the run with those of the store, which has them after it.
// TAPML_PRECONDITION if the store holds a run of another model, other prompts, or of another [run].
// Nothing is done for cases of somebody else.
tapml_status opened_run_settle(struct opened_run *run) STATUS_USED;

// How many prompts of an open run its store does not have; equal ones are one.
size_t opened_run_missing(const struct opened_run *run);

// Checks the source of an open run, which has the metadata of the run in its store then, before
// anything is carved. Done by opened_run_fill where it was not. Nothing is done for cases of
// somebody else.
tapml_status opened_run_check_source(struct opened_run *run) STATUS_USED;

// Sees to it that the store has the metadata of the run and its cases: takes what processes of the
// source have carved and carves what is missing, or takes the cases of [source] store.
tapml_status opened_run_fill(struct opened_run *run) STATUS_USED;

// What jobs of targets stand on, for who needs no judge. All of it is the run's.
struct run_judge_options opened_run_made_of(struct opened_run *run);

// Notes what this start has held of the source so far, if the run has one and this start has added
// rows to the store (run/place_usage.h).
tapml_status opened_run_note_source(struct opened_run *run) STATUS_USED;

// Opens the judge of the run's targets, if it has some.
tapml_status opened_run_judge(struct opened_run *run) STATUS_USED;

// Says what the `index`th target is, for the members of its pool, in the store of an open run.
tapml_status opened_run_name_kind(struct opened_run *run, size_t index) STATUS_USED;

// The device of the `index`th target, as one of its pool, if it has one.
struct target_pool opened_run_pool(struct opened_run *run, size_t index);

// Notes that a target is given up: the others go on.
tapml_status opened_run_give_up(struct opened_run *run, const struct place *target) STATUS_USED;

// The same after the failure at hand, whose message is logged.
tapml_status opened_run_lose(struct opened_run *run, struct place *target) STATUS_USED;

// Crashes of the worker of a place, if it has one; and whether a run of a target failed because its
// worker could not be kept alive, which costs no other target anything.
uint32_t opened_run_crashes(const struct place *place);
int opened_run_is_loss(const struct place *target, uint32_t crashes_before, tapml_status status);

// Logs how often each injected fault was triggered: one that never was says nothing about the tool.
void opened_run_log_faults(const struct place *target);

// Releases all of it. A run of zeros is allowed.
void opened_run_release(struct opened_run *run);
