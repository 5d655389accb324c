// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/shared_carving.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/table.h"
#include "config/run_config.h"
#include "model/checkpoint.h"
#include "run/carved_copy.h"
#include "run/carving.h"
#include "run/case_reach.h"
#include "run/outcome.h"
#include "run/progress.h"
#include "run/run_lock.h"
#include "run/setup.h"
#include "store/merge.h"
#include "store/prompt.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/weight.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    LOOK_NS = 300000000, // Between two looks of a run that waits.
    PUBLISH_LEAST_S = 2, // Between two times that a carver publishes, and
    PUBLISH_PART = 10    // the part of its time that this may take: a tenth.
};

struct shared_carving {
    const struct run_config *config;
    struct setup *setup;
    struct store *store;
    const struct prompts *prompts;
    struct run_lock *lock;   // Of the run.
    struct run_lock *carver; // Of the shared folder; NULL: another run has it.
    struct arena *arena;     // Of the texts.
    struct arena *scratch;   // Of a look.
    char key[HASH_TEXT];
    const char *folder, *path; // Of the shared store; from another machine: of what it sends.
    struct case_reach *reach;  // To another machine; or NULL.
    int is_carved;             // There nobody carves any more.
    struct stat seen;          // The file of the shared store, when it was taken over last.
    int is_left_out;           // What is there is of no use, and nothing is shared.
    int is_damaged;            // The user was told so.
    uint64_t next_publish_ns;
    char told[CASE_REACH_WHO_TEXT];   // Who carves, as the user was told; "".
    int64_t prompt_count, case_count; // That came from another run.
};

// -- Who shares with whom ------------------------------------------------------------------------

static int is_url(const struct shared_carving *shared)
{
    return strncmp(shared->config->shared, "tapml://", strlen("tapml://")) == 0;
}

static tapml_status find_paths(struct shared_carving *shared)
{
    const char *folder = shared->config->shared;
    struct arena *arena = shared->arena;

    TAPML_TRY(carved_copy_settle_key(shared->store, shared->config, shared->key));
    if (is_url(shared)) {
        shared->path = arena_format(arena, "%s/attached.tapmlrun", shared->config->dir);
        return shared->path != NULL ? case_reach_open(folder, &shared->reach) : status_no_memory();
    }
    shared->folder = arena_format(arena, "%s/%s", folder, shared->key);
    shared->path = arena_format(arena, "%s/%s/run.tapmlrun", folder, shared->key);
    TAPML_TRY(shared->folder != NULL && shared->path != NULL ? TAPML_OK : status_no_memory());
    TAPML_TRY(file_make_folder(folder));
    return file_make_folder(shared->folder);
}

static size_t count_missing(const struct shared_carving *shared)
{
    size_t count = 0;

    for (size_t i = 0; i < shared->prompts->count; i++) {
        const struct prompt *prompt = &shared->prompts->items[i];

        count += !prompt->is_repeated && !prompt_is_carved(shared->store, prompt->id);
    }
    return count;
}

// -- What others have carved ---------------------------------------------------------------------

static void leave_out(struct shared_carving *shared, const char *why)
{
    log_line(LOG_WARNING, "this run shares no carving with others: %s", why);
    shared->is_left_out = 1;
}

static void name_carver(struct shared_carving *shared, const char *who)
{
    if (strcmp(shared->told, who) != 0) {
        log_say("%s carves the same: its cases are taken over", who);
        (void)snprintf(shared->told, sizeof(shared->told), "%s", who);
    }
}

static tapml_status list_names(struct store *store, struct arena *arena, struct table *out_names)
{
    struct weight_row *rows = NULL;
    size_t count = 0;

    TAPML_TRY(weight_list(store, arena, &rows, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(table_set(out_names, rows[i].name, i));
    }
    return TAPML_OK;
}

// Of the weights that are new to the run: the key of a model has samples of them alone.
static tapml_status
check_new_weights(struct shared_carving *shared, struct store *other, const struct table *known)
{
    const struct checkpoint *checkpoint = model_checkpoint(shared->setup->model);
    struct weight_row *rows = NULL;
    size_t count = 0, at = 0;
    int is_same = 1;

    TAPML_TRY(weight_list(other, shared->scratch, &rows, &count));
    for (size_t i = 0; i < count && is_same; i++) {
        if (!table_find(known, rows[i].name, &at)) {
            TAPML_TRY(
                weight_is_same(&rows[i], checkpoint_find(checkpoint, rows[i].name), &is_same));
            if (!is_same) {
                char why[512];

                (void)snprintf(
                    why, sizeof(why), "'%.200s' is of weights with other bytes, '%.100s' for one",
                    shared->reach != NULL ? shared->config->shared : shared->path, rows[i].name);
                leave_out(shared, why);
            }
        }
    }
    return TAPML_OK;
}

static tapml_status check_weights(struct shared_carving *shared, struct store *other)
{
    struct table known;

    table_init(&known);
    tapml_status status = list_names(shared->store, shared->scratch, &known);

    status = status == TAPML_OK ? check_new_weights(shared, other, &known) : status;
    table_release(&known);
    return status;
}

static void tell(void *user, const char *sentence)
{
    (void)user;
    log_line(LOG_WARNING, "two carvings of one key disagree: %s", sentence);
}

static tapml_status merge_other(struct shared_carving *shared, struct store *other)
{
    struct merge_counts counts = {0};

    TAPML_TRY(check_weights(shared, other));
    if (!shared->is_left_out) {
        TAPML_TRY(merge_cases(shared->store, other, tell, NULL, &counts));
        shared->prompt_count += counts.prompts;
        shared->case_count += counts.cases;
    }
    return TAPML_OK;
}

// Who carves next replaces it.
static void warn_damaged(struct shared_carving *shared)
{
    if (!shared->is_damaged) {
        log_line(LOG_WARNING, "carved again, as if it were not there: %s", status_message());
        shared->is_damaged = 1;
    }
}

static tapml_status take_file(struct shared_carving *shared)
{
    struct store *other = NULL;
    tapml_status status = store_open_to_read(shared->path, &other);

    status = status == TAPML_OK ? merge_other(shared, other) : status;
    store_close(other);
    if (status == TAPML_INVALID) {
        warn_damaged(shared);
        return TAPML_OK;
    }
    return status;
}

// A store in which nothing was new, though it was asked for.
static tapml_status check_sent(const struct shared_carving *shared)
{
    return shared->is_left_out
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "'%s' has sent %s", shared->config->shared,
                             shared->is_damaged ? "what is no store that can be read"
                                                : "a store without a prompt that is lacking");
}

// Asks the other machine until it has nothing new.
static tapml_status take_from_machine(struct shared_carving *shared)
{
    struct case_reach_answer answer = {.has_store = 1};
    struct hash *prompts = NULL;
    size_t count = 0;

    while (answer.has_store && !shared->is_left_out) {
        arena_reset(shared->scratch);
        TAPML_TRY(prompt_list_carved(shared->store, shared->scratch, &prompts, &count));
        TAPML_TRY(
            case_reach_ask(shared->reach, shared->key, prompts, count, shared->path, &answer));
        const int64_t before = shared->prompt_count;
        const tapml_status status = answer.has_store ? take_file(shared) : TAPML_OK;

        (void)unlink(shared->path);
        TAPML_TRY(status);
        TAPML_TRY(answer.has_store && shared->prompt_count == before ? check_sent(shared)
                                                                     : TAPML_OK);
    }
    shared->is_carved = !answer.is_carving;
    if (answer.is_carving) {
        name_carver(shared, answer.who);
    }
    return TAPML_OK;
}

// Whether the file is another one than at the last look: it is replaced, and never changed.
static int is_new(struct shared_carving *shared)
{
    struct stat about;

    if (stat(shared->path, &about) != 0 ||
        (about.st_ino == shared->seen.st_ino && about.st_dev == shared->seen.st_dev &&
         about.st_mtim.tv_sec == shared->seen.st_mtim.tv_sec &&
         about.st_mtim.tv_nsec == shared->seen.st_mtim.tv_nsec)) {
        return 0;
    }
    shared->seen = about;
    return 1;
}

// Takes what is there by now.
static tapml_status take_over(struct shared_carving *shared)
{
    if (shared->is_left_out) {
        return TAPML_OK;
    }
    arena_reset(shared->scratch);
    return shared->reach != NULL ? take_from_machine(shared)
           : is_new(shared)      ? take_file(shared)
                                 : TAPML_OK;
}

// -- What this run has carved --------------------------------------------------------------------

// A store that is complete takes the place of the one that is there. So it never changes where
// others read it, be it on another machine, over a file system whose locks and mappings are not
// those of this one. The run itself needs none of it: a failure is a warning.
static void publish(struct shared_carving *shared)
{
    const uint64_t begin_ns = clock_now_ns();

    if (shared->is_left_out || shared->carver == NULL) {
        return;
    }
    if (carved_copy_write(shared->store, NULL, 0, shared->path) != TAPML_OK) {
        leave_out(shared, status_message());
    }
    const uint64_t end_ns = clock_now_ns(), pause_ns = PUBLISH_PART * (end_ns - begin_ns);
    const uint64_t least_ns = PUBLISH_LEAST_S * UINT64_C(1000000000);

    shared->next_publish_ns = end_ns + (pause_ns > least_ns ? pause_ns : least_ns);
}

static void publish_in_time(void *user)
{
    struct shared_carving *shared = user;

    if (clock_now_ns() >= shared->next_publish_ns) {
        publish(shared);
    }
}

static tapml_status carve(struct shared_carving *shared)
{
    const struct carving_listener listener = {.carved = publish_in_time, .user = shared};
    const tapml_status status = carving_run_told(shared->config, shared->setup, shared->store,
                                                 shared->prompts, shared->lock, &listener);

    if (status == TAPML_OK) {
        publish(shared);
    }
    return status;
}

// -- Waiting -------------------------------------------------------------------------------------

// Takes the shared folder, or says who has it.
static tapml_status take_folder(struct shared_carving *shared)
{
    struct run_lock_state state;
    char who[CASE_REACH_WHO_TEXT];
    tapml_status status = TAPML_UNAVAILABLE;

    TAPML_TRY(run_lock_read(shared->folder, &state));
    if (!state.is_held) {
        status = run_lock_take(shared->folder, &shared->carver);
        if (status != TAPML_UNAVAILABLE) {
            return status;
        }
        TAPML_TRY(run_lock_read(shared->folder, &state)); // Another run may have been faster.
    }
    if (!state.is_held) {
        return status;
    }
    (void)snprintf(who, sizeof(who), "process %" PRId64 " on '%s'", state.process, state.machine);
    name_carver(shared, who);
    return TAPML_OK;
}

// Takes over what another run carves, until nothing is missing, or nobody carves any more.
static tapml_status wait_for_others(struct shared_carving *shared)
{
    static const struct timespec pause = {.tv_nsec = LOOK_NS};
    const size_t all = shared->prompts->count;
    struct progress progress;
    size_t missing = 0;

    progress_begin(&progress, "carved by others", 0);
    progress.unit = "prompts";
    progress.lock = shared->lock;
    TAPML_TRY(take_over(shared));
    while ((missing = count_missing(shared)) > 0 && !shared->is_left_out) {
        TAPML_TRY(shared->reach == NULL ? take_folder(shared) : TAPML_OK);
        if (shared->carver != NULL || shared->is_carved) {
            break;
        }
        TAPML_TRY(progress_show(&progress, all - missing, all));
        (void)nanosleep(&pause, NULL);
        TAPML_TRY(take_over(shared));
    }
    TAPML_TRY(shared->carver != NULL ? take_over(shared) : TAPML_OK); // Its carver's last words.
    if (shared->prompt_count > 0) {
        progress_end(&progress, "%" PRId64 " prompts, %" PRId64 " cases, from '%s'",
                     shared->prompt_count, shared->case_count,
                     shared->reach != NULL ? shared->config->shared : shared->path);
    }
    return TAPML_OK;
}

static tapml_status run(struct shared_carving *shared)
{
    TAPML_TRY(find_paths(shared));
    TAPML_TRY(wait_for_others(shared));
    return count_missing(shared) > 0 ? carve(shared) : TAPML_OK;
}

tapml_status shared_carving_run(const struct run_config *config,
                                struct setup *setup,
                                struct store *store,
                                const struct prompts *prompts,
                                struct run_lock *lock)
{
    struct shared_carving shared = {.config = config,
                                    .setup = setup,
                                    .store = store,
                                    .prompts = prompts,
                                    .lock = lock,
                                    .arena = arena_create(),
                                    .scratch = arena_create()};
    const tapml_status status =
        shared.arena != NULL && shared.scratch != NULL ? run(&shared) : status_no_memory();

    run_lock_end(shared.carver, (int)outcome_of(status),
                 status == TAPML_OK ? "" : status_message());
    run_lock_release(shared.carver);
    case_reach_close(shared.reach);
    arena_destroy(shared.scratch);
    arena_destroy(shared.arena);
    return status;
}
