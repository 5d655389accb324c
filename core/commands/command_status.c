// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/sentence.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "config/options.h"
#include "exec/plan.h"
#include "run/progress.h"
#include "run/run_lock.h"
#include "store/carved.h"
#include "store/label.h"
#include "store/metadata.h"
#include "store/step.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/target.h"
#include "verify/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--ops", NULL, "prints a line for each operator of a target, too"},
    {"--json", NULL, "prints it as JSON, with all operators"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_status_manual = {
    .usage = "tapml-host status DIR [--ops] [--json]",
    .about = "Prints the progress of the run in a folder, during the run or later. Ends with 2 if "
             "the store of a run that is not at work cannot be read.",
    .specs = specs,
};

// Results that there are: of a target, or of an operator there. See verify/verdict.h.
struct result_counts {
    int64_t all, passed, failed, fresh, stale, inherited, stale_limits;
};

struct op_counts {
    const char *op;
    struct result_counts results;
};

// What the store knows of a target so far.
struct part {
    const char *name, *backend, *goal;
    struct result_counts results;
    struct op_counts *ops; // By their first cases.
    size_t op_count;
    int64_t blamed, moved;
    const char *step, *verdict; // Of the last step, or "".
    const char *given_up;       // Why it was, at the last start; or "".
};

struct overview {
    const char *folder;
    struct arena *arena; // Of the texts.
    struct run_lock_state lock;
    int has_store;
    const char *refusal;  // Why the store cannot be read, or "",
    tapml_status reading; // and the status of that.
    int64_t prompts, prompts_carved;
    int64_t calls, cases, instances;
    struct part *parts;
    size_t part_count;
};

// -- Gathering ---------------------------------------------------------------------------------

static const char *metadata_of(struct overview *overview, struct store *store, const char *name)
{
    const char *metadata = metadata_get(store, name);
    const char *copy = arena_text(overview->arena, metadata != NULL ? metadata : "");

    return copy != NULL ? copy : "";
}

struct move_count {
    const struct plan *plan;
    int64_t moved;
};

// Counts an instance if the plan gives it to the target, in some phase.
static tapml_status count_if_moved(void *user, const char *op, const char *instance)
{
    struct move_count *count = user;
    int is_moved = 0;

    for (int phase = 0; phase < PLAN_PHASES; phase++) {
        const char *place = plan_place(count->plan, op, instance, (enum plan_phase)phase);

        is_moved = is_moved || strcmp(place, "source") != 0;
    }
    count->moved += is_moved;
    return TAPML_OK;
}

// Behind the goal a plan has a rule for each instance that was reverted.
static int64_t count_blamed(const char *plan, const char *goal)
{
    const size_t length = strlen(goal);
    int64_t blamed = 0;

    plan += strncmp(plan, goal, length) == 0 ? length : 0;
    for (; *plan != '\0'; plan += strcspn(plan, "\n"), plan += *plan == '\n') {
        blamed += strncmp(plan, "instance=", strlen("instance=")) == 0;
    }
    return blamed;
}

// Before the first step, what fails alone is blamed.
static tapml_status count_failing(const struct verdict_list *list, struct part *part)
{
    struct table instances;
    tapml_status status = TAPML_OK;
    size_t ignored = 0;

    table_init(&instances);
    for (size_t i = 0; status == TAPML_OK && i < list->count; i++) {
        const struct verdict *verdict = &list->items[i];

        if (verdict_count_failed(verdict, 1) > 0) {
            part->blamed += !table_find(&instances, verdict->instance, &ignored);
            status = table_set(&instances, verdict->instance, 0);
        }
    }
    table_release(&instances);
    return status;
}

// What the last settled step has moved and blamed.
static tapml_status read_step(struct store *store, const struct step_row *row, struct part *part)
{
    struct move_count count = {0};
    struct plan *plan = NULL;

    part->step = row->step;
    part->verdict = row->verdict;
    part->blamed = count_blamed(row->plan, part->goal);
    TAPML_TRY(plan_parse(row->plan, "the plan of a step", &plan));
    count.plan = plan;
    const tapml_status status = label_visit_instances(store, count_if_moved, &count);

    part->moved = count.moved;
    plan_destroy(plan);
    return status;
}

static void count_result(const struct verdict *verdict, struct result_counts *counts)
{
    counts->all++;
    counts->passed += verdict->kind == VERDICT_PASS;
    counts->failed += (int64_t)verdict_count_failed(verdict, 1);
    counts->fresh += verdict->freshness == VERDICT_FRESH;
    counts->stale += verdict->freshness == VERDICT_OUTDATED;
    counts->inherited += verdict->freshness == VERDICT_INHERITED;
    counts->stale_limits += verdict->has_stale_limits;
}

static tapml_status
count_results(struct arena *arena, const struct verdict_list *list, struct part *part)
{
    struct table ops;
    tapml_status status = TAPML_OK;

    part->ops = arena_array(arena, list->count + 1, sizeof(*part->ops));
    if (part->ops == NULL) {
        return status_no_memory();
    }
    table_init(&ops);
    for (size_t i = 0; status == TAPML_OK && i < list->count; i++) {
        const struct verdict *verdict = &list->items[i];
        size_t index = part->op_count;

        if (!table_find(&ops, verdict->op_name, &index)) {
            status = table_set(&ops, verdict->op_name, index);
            part->ops[part->op_count++].op = arena_text(arena, verdict->op_name);
            status = part->ops[index].op != NULL ? status : status_no_memory();
        }
        count_result(verdict, &part->results);
        count_result(verdict, &part->ops[index].results);
    }
    table_release(&ops);
    return status;
}

static tapml_status read_part(struct overview *overview, struct store *store, struct part *part)
{
    struct verdict_list list = {0};
    struct step_row step;
    int has_step = 0;

    part->step = part->verdict = "";
    TAPML_TRY(step_find_settled(store, part->name, overview->arena, &step, &has_step));
    TAPML_TRY(verdict_read(store, part->name, &list));
    tapml_status status = count_results(overview->arena, &list, part);

    if (status == TAPML_OK) {
        status = has_step ? read_step(store, &step, part) : count_failing(&list, part);
    }
    verdict_list_release(&list);
    return status;
}

// A name or a sentence of a store as it is shown.
static tapml_status shorten(struct overview *overview, const char **io_text)
{
    char room[SENTENCE_QUOTED_BYTES];
    const char *shown = sentence_shorten(*io_text, room, sizeof(room));

    if (shown != *io_text) {
        *io_text = arena_text(overview->arena, shown);
    }
    return *io_text != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status read_parts(struct overview *overview, struct store *store)
{
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(target_list(store, overview->arena, &targets, &count));
    overview->parts = arena_array(overview->arena, count + 1, sizeof(*overview->parts));
    if (overview->parts == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        overview->parts[i] = (struct part){.name = targets[i].name,
                                           .backend = targets[i].backend,
                                           .goal = targets[i].goal,
                                           .given_up = targets[i].given_up};
        struct part *part = &overview->parts[i];
        const char **const shown[] = {&part->name, &part->backend, &part->step, &part->verdict,
                                      &part->given_up};

        TAPML_TRY(read_part(overview, store, part));
        for (size_t text = 0; text < sizeof(shown) / sizeof(*shown); text++) {
            TAPML_TRY(shorten(overview, shown[text]));
        }
        overview->part_count++;
    }
    return TAPML_OK;
}

static tapml_status read_store(struct overview *overview, struct store *store)
{
    struct carved_counts counts;

    TAPML_TRY(carved_count(store, &counts));
    overview->prompts_carved = (int64_t)counts.prompts;
    overview->calls = (int64_t)counts.calls;
    overview->cases = (int64_t)counts.cases;
    overview->instances = (int64_t)counts.instances;
    overview->prompts = strtoll(metadata_of(overview, store, "prompts.count"), NULL, 10);
    return read_parts(overview, store);
}

// The store is read as a whole at one moment, whatever is written meanwhile.
static tapml_status read_at_once(struct overview *overview, const char *path)
{
    struct store *store = NULL;

    TAPML_TRY(store_open_to_read(path, &store));
    tapml_status status = store_begin_to_read(store);

    if (status == TAPML_OK) {
        status = read_store(overview, store);
    }
    store_rollback(store);
    store_close(store);
    return status;
}

static tapml_status gather(struct overview *overview)
{
    char *path = file_join(overview->folder, "run.tapmlrun");

    if (path == NULL) {
        return status_no_memory();
    }
    tapml_status status = run_lock_read(overview->folder, &overview->lock);

    overview->has_store = file_exists(path);
    if (status == TAPML_OK && !overview->has_store && !overview->lock.has_text) {
        status = status_fail(TAPML_NOT_FOUND, "there is no run in '%s'", overview->folder);
    }
    if (status == TAPML_OK && overview->has_store) {
        overview->reading = read_at_once(overview, path);
    }
    if (overview->reading != TAPML_OK) {
        overview->part_count = 0; // What the lock file says is worth something by itself.
        overview->refusal = arena_text(overview->arena, status_message());
        status = overview->refusal != NULL ? TAPML_OK : status_no_memory();
    }
    alloc_free(path);
    return status;
}

// -- Telling -----------------------------------------------------------------------------------

// It came to its end, and the environment lacked a target.
static int is_incomplete(const struct run_lock_state *lock)
{
    return lock->has_ended && lock->exit_code == OUTCOME_ENVIRONMENT && *lock->message == '\0';
}

static const char *state_name(const struct overview *overview)
{
    const struct run_lock_state *lock = &overview->lock;

    if (lock->is_held) {
        return "running";
    }
    if (!lock->has_text) {
        return "not running";
    }
    if (!lock->has_ended) {
        return "killed";
    }
    return lock->exit_code == OUTCOME_OK || lock->exit_code == OUTCOME_WRONG ? "finished"
           : lock->exit_code == OUTCOME_INTERRUPTED                          ? "interrupted"
           : is_incomplete(lock)                                             ? "incomplete"
                                                                             : "failed";
}

static const char *advice(const struct run_lock_state *lock)
{
    if (!lock->has_text || lock->is_held) {
        return "";
    }
    if (!lock->has_ended || lock->exit_code == OUTCOME_INTERRUPTED) {
        return "; the same command resumes after the last finished step";
    }
    if (is_incomplete(lock)) {
        return ": a target was given up; the same command completes it when it is available";
    }
    return lock->exit_code == OUTCOME_OK      ? ": success"
           : lock->exit_code == OUTCOME_WRONG ? ": a target is wrong"
                                              : "";
}

static void print_phase(const struct run_lock_state *lock)
{
    char left[PROGRESS_TIME_TEXT];

    if (*lock->phase == '\0') {
        return;
    }
    (void)printf("  phase    %s", lock->phase);
    if (lock->all > 0) {
        (void)printf(": %" PRId64 " / %" PRId64 "%s%s", lock->done, lock->all,
                     *lock->unit != '\0' ? " " : "", lock->unit);
    }
    if (lock->is_held && !isnan(lock->left_s)) {
        progress_print_time(lock->left_s, left);
        (void)printf(", %s left", left);
    }
    if (lock->is_held) {
        progress_print_time((double)(clock_wall_s() - lock->published_s), left);
        (void)printf(" (updated %s ago)", left);
    }
    (void)printf("\n");
}

static void print_part(const struct overview *overview, const struct part *part)
{
    (void)printf(
        "  %-8s %s: %" PRId64 " of %" PRId64 " cases replayed, %" PRId64 " passed, %" PRId64
        " failed; %" PRId64 " blamed, %" PRId64 " of %" PRId64 " instances moved so far",
        part->name, part->backend, part->results.all, overview->cases, part->results.passed,
        part->results.failed, part->blamed, part->moved, overview->instances);
    if (*part->step != '\0') {
        (void)printf("; last step '%s': %s", part->step, part->verdict);
    }
    if (part->results.stale > 0) {
        (void)printf("; %" PRId64 " results are stale: the next start replays their cases",
                     part->results.stale);
    }
    if (part->results.inherited > 0) {
        (void)printf("; %" PRId64 " results are inherited from cases with the same key",
                     part->results.inherited);
    }
    if (part->results.stale_limits > 0) {
        (void)printf("; limits of %" PRId64 " results are stale: the next start measures them",
                     part->results.stale_limits);
    }
    if (*part->given_up != '\0') {
        (void)printf("; given up: %s", part->given_up);
    }
    (void)printf("\n");
}

static void print_ops(const struct part *part)
{
    int width = 24;

    for (size_t i = 0; i < part->op_count; i++) {
        width = terminal_widen(width, part->ops[i].op);
    }
    (void)printf("    %-*s %7s %7s %7s %7s %7s %9s\n", width, "operator", "results", "passed",
                 "failed", "fresh", "stale", "inherited");
    for (size_t i = 0; i < part->op_count; i++) {
        const struct result_counts *results = &part->ops[i].results;

        (void)printf("    %-*s %7" PRId64 " %7" PRId64 " %7" PRId64 " %7" PRId64 " %7" PRId64
                     " %9" PRId64 "\n",
                     width, part->ops[i].op, results->all, results->passed, results->failed,
                     results->fresh, results->stale, results->inherited);
    }
}

static void print_text(const struct overview *overview, int has_ops)
{
    const struct run_lock_state *lock = &overview->lock;
    const char *name = state_name(overview);

    (void)printf("%s: %s", overview->folder, name);
    if (lock->has_text) {
        (void)printf(", process %" PRId64 " on '%s'", lock->process, lock->machine);
    }
    (void)printf("%s\n", advice(lock));
    print_phase(lock);
    if (overview->has_store && *overview->refusal == '\0') {
        (void)printf("  carved   %" PRId64 " of %" PRId64 " prompts, %" PRId64 " calls, %" PRId64
                     " cases kept\n",
                     overview->prompts_carved, overview->prompts, overview->calls, overview->cases);
    }
    for (size_t i = 0; i < overview->part_count; i++) {
        print_part(overview, &overview->parts[i]);
        if (has_ops) {
            print_ops(&overview->parts[i]);
        }
    }
    if (*lock->message != '\0') {
        (void)printf("  error    %s\n", lock->message);
    }
    if (*overview->refusal != '\0') {
        (void)printf("  store    cannot be read now: %s\n", overview->refusal);
    }
}

static void append_member(struct text *text, const char *name, const char *value)
{
    text_format(text, ", \"%s\": ", name);
    text_append_json(text, value);
}

// A number that is not known is not there.
static void append_number(struct text *text, const char *name, double number)
{
    if (!isnan(number)) {
        text_format(text, ", \"%s\": %g", name, number);
    }
}

static void append_results(struct text *text, const struct result_counts *results)
{
    text_format(text,
                ", \"passed\": %" PRId64 ", \"failed\": %" PRId64 ", \"fresh\": %" PRId64
                ", \"stale\": %" PRId64 ", \"inherited\": %" PRId64 ", \"stale_limits\": %" PRId64,
                results->passed, results->failed, results->fresh, results->stale,
                results->inherited, results->stale_limits);
}

static void append_ops(struct text *text, const struct part *part)
{
    text_append(text, ", \"ops\": [");
    for (size_t i = 0; i < part->op_count; i++) {
        text_append(text, i > 0 ? ", {\"op\": " : "{\"op\": ");
        text_append_json(text, part->ops[i].op);
        text_format(text, ", \"results\": %" PRId64, part->ops[i].results.all);
        append_results(text, &part->ops[i].results);
        text_append(text, "}");
    }
    text_append(text, "]");
}

static void append_part(struct text *text, const struct part *part)
{
    text_append(text, "{\"name\": ");
    text_append_json(text, part->name);
    append_member(text, "backend", part->backend);
    text_format(text, ", \"replayed\": %" PRId64, part->results.all);
    append_results(text, &part->results);
    text_format(text, ", \"blamed\": %" PRId64 ", \"moved\": %" PRId64, part->blamed, part->moved);
    append_member(text, "step", part->step);
    append_member(text, "verdict", part->verdict);
    append_member(text, "given_up", part->given_up);
    append_ops(text, part);
    text_append(text, "}");
}

static tapml_status print_json(const struct overview *overview)
{
    const struct run_lock_state *lock = &overview->lock;
    struct text text;

    text_init(&text);
    text_append(&text, "{\"folder\": ");
    text_append_json(&text, overview->folder);
    append_member(&text, "state", state_name(overview));
    append_member(&text, "machine", lock->machine);
    append_member(&text, "phase", lock->phase);
    append_member(&text, "unit", lock->unit);
    text_format(&text,
                ", \"process\": %" PRId64 ", \"since\": %" PRId64 ", \"told\": %" PRId64
                ", \"done\": %" PRId64 ", \"all\": %" PRId64,
                lock->process, lock->since_s, lock->published_s, lock->done, lock->all);
    append_number(&text, "left_s", lock->is_held ? lock->left_s : NAN);
    append_number(&text, "exit", lock->has_ended ? (double)lock->exit_code : NAN);
    append_member(&text, "error", *lock->message != '\0' ? lock->message : overview->refusal);
    text_format(&text,
                ", \"prompts\": %" PRId64 ", \"prompts_carved\": %" PRId64 ", \"calls\": %" PRId64
                ", \"cases\": %" PRId64 ", \"instances\": %" PRId64 ", \"targets\": [",
                overview->prompts, overview->prompts_carved, overview->calls, overview->cases,
                overview->instances);
    for (size_t i = 0; i < overview->part_count; i++) {
        text_append(&text, i > 0 ? ", " : "");
        append_part(&text, &overview->parts[i]);
    }
    text_append(&text, "]}\n");
    return text_print(&text);
}

// A store that cannot be read is told with the rest. While the run works on it, that may pass.
static tapml_status
print_status(const char *folder, int is_json, int has_ops, enum outcome *out_outcome)
{
    struct overview overview = {.folder = folder, .refusal = "", .arena = arena_create()};
    tapml_status status = overview.arena != NULL ? gather(&overview) : status_no_memory();

    if (status == TAPML_OK && is_json) {
        status = print_json(&overview);
    } else if (status == TAPML_OK) {
        print_text(&overview, has_ops);
    }
    *out_outcome = overview.lock.is_held ? OUTCOME_OK : outcome_of(overview.reading);
    arena_destroy(overview.arena);
    return status;
}

enum outcome command_status_main(const struct command *command)
{
    struct options options;
    enum outcome outcome = OUTCOME_OK;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_status_manual));
    }
    if (status == TAPML_OK && options.plain_count != 1) {
        status = status_fail(TAPML_INVALID, "status takes the folder of a run, see --help");
    }
    if (status == TAPML_OK) {
        status = print_status(options.plain[0], options_get(&options, "--json") != NULL,
                              options_get(&options, "--ops") != NULL, &outcome);
    }
    return status != TAPML_OK ? outcome_report(status) : outcome;
}
