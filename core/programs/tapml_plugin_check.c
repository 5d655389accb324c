// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// tapml-plugin-check: tries a plugin's binary against the rules of the plugin ABI, each check in a
// process of its own, without the sources of the plugin or of a host.

#include "base/alloc.h"
#include "base/file.h"
#include "config/options.h"
#include "kit/kit_expectation.h"
#include "kit/kit_list.h"
#include "kit/kit_process.h"
#include "kit/kit_report.h"
#include "kit/kit_subject.h"
#include "link/supervisor.h"
#include "report/report_files.h"
#include "run/manual.h"
#include "run/outcome.h"

#include <tapml/backend.h>

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_NOTHING = 77, SEED = 1, SOAK_S = 60, SOAK_S_MAX = 30 * 24 * 3600 };

static const struct options_spec specs[] = {
    {"--level", "static|load|contract|numerics|models|hostile|soak",
     "checks up to this level; all but soak by default"},
    {"--only", "PATTERN", "checks whose id matches, as 'E-*'; may be repeated"},
    {"--component", "ID", "one component of the plugin; all by default"},
    {"--device", "ID", "the device of backends; the first one by default"},
    {"--expect", "FILE", "the checks that are known to fail, each with a reason"},
    {"--host-minor", "N", "stands in for a host of this minor of the ABI"},
    {"--replay", "FILE", "judges devices by the cases of a store or a bundle, too"},
    {"--soak", "SECONDS", "how long level soak lasts on each device; 60 by default"},
    {"--seed", "N", "of sizes, offsets and bytes; 1 by default"},
    {"--json", "FILE", "writes the results as JSON, too"},
    {"--junit", "FILE", "writes them as JUnit's XML"},
    {"--tap", NULL, "prints the Test Anything Protocol instead of lines for people"},
    {"--list", NULL, "lists the checks, and makes none"},
    {"--in-process", NULL, "makes the checks in this process, for a debugger"},
    {"--make", "CHECK", "makes one check in this process and prints its result: used by itself"},
    {"--under", "PROCESS", "ends when this process does: with --make"},
    {"--describe", NULL, "prints what it takes as JSON"},
    {"--version", NULL, "prints the version"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

static const struct options_manual manual = {
    .usage =
        "tapml-plugin-check PLUGIN [--level LEVEL] [--component ID] [--device ID] [--replay FILE]",
    .about = "Checks a plugin, the library or its manifest, against the rules of the plugin ABI "
             "that a machine can see. Each check runs in a process of its own with a time limit, "
             "so a plugin that crashes or hangs fails one check.\n"
             "Exit status: 0 nothing failed, 1 something did, 2 usage, 3 the environment lacks "
             "something, 77 there is no driver or device to check.",
    .specs = specs,
};

// The checks of a plugin on their way.
struct plugin_checking {
    const struct options *options;
    struct kit_task task;
    struct kit_subject subject; // As far as it can be read.
    struct ini expected;        // Of --expect.
    int is_read;
    int level;
    struct kit_item *items;
    size_t count, capacity;
};

// -- Which checks ------------------------------------------------------------------------------

static int is_wanted(const struct plugin_checking *checking, const struct kit_check *check)
{
    const char *pattern = options_at(checking->options, "--only", 0);

    if (check->level == KIT_MODELS && check->what == NULL && checking->task.replay == NULL) {
        return 0; // Nothing to replay.
    }
    if (pattern == NULL) {
        return (int)check->level <= checking->level;
    }
    for (size_t i = 0; pattern != NULL; pattern = options_at(checking->options, "--only", ++i)) {
        if (fnmatch(pattern, check->id, 0) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_of(const struct kit_check *check, const struct manifest_component *component)
{
    const int is_backend = strcmp(component->kind, TAPML_KIND_BACKEND) == 0;

    if (check->scope == KIT_OF_OTHER) {
        return !is_backend && (check->kind == NULL || strcmp(check->kind, component->kind) == 0);
    }
    return check->scope == KIT_OF_COMPONENT || (check->scope == KIT_OF_BACKEND && is_backend);
}

static int is_of_components(const struct kit_check *check)
{
    return check->scope != KIT_OF_FILE && check->scope != KIT_OF_PLUGIN;
}

// -- Making them -------------------------------------------------------------------------------

static tapml_status print(const struct plugin_checking *checking, const struct kit_item *item)
{
    struct text line;

    text_init(&line);
    if (options_get(checking->options, "--tap") == NULL) {
        kit_report_line(item, &line);
    }
    const tapml_status status = text_print(&line);

    (void)fflush(stdout);
    return status;
}

// The ground of a check that has not passed, or NULL.
static const struct kit_item *find_lost_ground(const struct plugin_checking *checking,
                                               const struct kit_check *check,
                                               const char *component)
{
    for (size_t i = 0; check->scope != KIT_OF_FILE && i < checking->count; i++) {
        const struct kit_item *item = &checking->items[i];
        const int is_its = item->component[0] == '\0' ||
                           (component != NULL && strcmp(item->component, component) == 0);
        const int is_ground =
            item->check->ground == KIT_GROUND ||
            (item->check->ground == KIT_GROUND_OF_LEVEL && check->level == item->check->level + 1);

        if (is_ground && is_its && kit_result_is_wrong(&item->result)) {
            return item;
        }
    }
    return NULL;
}

static tapml_status
make(struct plugin_checking *checking, const struct kit_check *check, const char *component)
{
    struct kit_task task = checking->task;

    if (!alloc_grow((void **)&checking->items, &checking->capacity, checking->count,
                    sizeof(*checking->items))) {
        return status_no_memory();
    }
    struct kit_item *item = &checking->items[checking->count];

    const struct kit_item *ground = find_lost_ground(checking, check, component);

    *item = (struct kit_item){.check = check, .component = component != NULL ? component : ""};
    task.component = component;
    if (ground != NULL) {
        kit_result_skip(&item->result, "%s has not passed", ground->check->id);
    } else if (options_get(checking->options, "--in-process") != NULL && check->hides_drivers) {
        kit_result_skip(&item->result, "drivers are hidden from other processes only");
    } else if (options_get(checking->options, "--in-process") != NULL) {
        kit_process_run(&task, check, &item->result);
    } else {
        TAPML_TRY(kit_process_make(&task, check, &item->result, &item->time_ns));
    }
    kit_expectation_apply(&checking->expected, check, component, &item->result);
    checking->count++;
    return print(checking, item);
}

static tapml_status make_of_components(struct plugin_checking *checking,
                                       const struct kit_check *check)
{
    const struct manifest *manifest = &checking->subject.manifest;
    const char *only = options_get(checking->options, "--component");

    for (uint32_t i = 0; i < manifest->component_count; i++) {
        if (is_of(check, &manifest->components[i]) &&
            (only == NULL || strcmp(only, manifest->components[i].id) == 0)) {
            TAPML_TRY(make(checking, check, manifest->components[i].id));
        }
    }
    return TAPML_OK;
}

// A plugin whose manifest cannot be read has no components that are known; the first check says so.
static tapml_status make_all(struct plugin_checking *checking)
{
    const struct kit_check *check = NULL;

    if (!checking->is_read) {
        return make(checking, kit_list_at(0), NULL);
    }
    for (size_t i = 0; (check = kit_list_at(i)) != NULL; i++) {
        if (is_wanted(checking, check)) {
            TAPML_TRY(is_of_components(check) ? make_of_components(checking, check)
                                              : make(checking, check, NULL));
        }
    }
    return checking->count > 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "no check that was asked for is about this plugin; "
                                            "--list lists all");
}

// -- What they came to -------------------------------------------------------------------------

static tapml_status print_document(const struct plugin_checking *checking, const json_t *document)
{
    const char *json = options_get(checking->options, "--json");
    const char *junit = options_get(checking->options, "--junit");
    struct text text;

    if (json != NULL) {
        TAPML_TRY(report_files_write_json(document, json));
    }
    if (junit != NULL) {
        TAPML_TRY(report_files_write_as(document, kit_report_junit, junit));
    }
    text_init(&text);
    if (options_get(checking->options, "--tap") != NULL) {
        kit_report_tap(document, &text);
    } else {
        kit_report_summary(document, &text);
    }
    return text_print(&text);
}

static tapml_status report(const struct plugin_checking *checking)
{
    const struct manifest *manifest = &checking->subject.manifest;
    const struct kit_head head = {
        .plugin = checking->is_read ? manifest->id : checking->task.plugin,
        .build_id = checking->is_read ? manifest->build_id : "",
        .path = checking->task.plugin,
        .device = checking->task.device != NULL ? checking->task.device : "",
        .minor = checking->task.minor,
        .seed = checking->task.seed};
    json_t *document = NULL;

    TAPML_TRY(kit_report_create(&head, checking->items, checking->count, &document));
    const tapml_status status = print_document(checking, document);

    json_decref(document);
    return status;
}

// Without a driver or a device there is nothing to say of a component: neither right nor wrong.
static int conclude(const struct plugin_checking *checking)
{
    size_t wrong = 0, good = 0, skipped = 0;

    for (size_t i = 0; i < checking->count; i++) {
        const struct kit_item *item = &checking->items[i];

        wrong += kit_result_is_wrong(&item->result);
        if (is_of_components(item->check)) {
            good += kit_result_is_good(&item->result);
            skipped += item->result.outcome == KIT_SKIPPED;
        }
    }
    return wrong > 0 ? OUTCOME_WRONG : skipped > 0 && good == 0 ? EXIT_NOTHING : OUTCOME_OK;
}

// -- The command line --------------------------------------------------------------------------

static tapml_status read_options(struct plugin_checking *checking)
{
    const struct options *options = checking->options;
    const char *level = options_get(options, "--level");
    int64_t minor = 0, seed = 0, soak_s = 0;

    if (options->plain_count != 1) {
        return status_fail(TAPML_INVALID, "one library or manifest expected, %zu given",
                           options->plain_count);
    }
    checking->level = level != NULL ? kit_check_find_level(level) : KIT_HOSTILE;
    if (checking->level < 0) {
        return status_fail(TAPML_INVALID,
                           "--level is '%s', expected 'static', 'load', 'contract', 'numerics', "
                           "'models', 'hostile' or 'soak'",
                           level);
    }
    TAPML_TRY(
        options_i64(options, "--host-minor", TAPML_ABI_MINOR, 0, TAPML_ABI_MINOR + 1, &minor));
    TAPML_TRY(options_i64(options, "--seed", SEED, 0, INT64_MAX, &seed));
    checking->task.plugin = options->plain[0];
    checking->task.component = options_get(options, "--component");
    checking->task.device = options_get(options, "--device");
    TAPML_TRY(options_i64(options, "--soak", SOAK_S, 1, SOAK_S_MAX, &soak_s));
    checking->task.soak_s = (uint64_t)soak_s;
    checking->task.replay = options_get(options, "--replay");
    checking->task.minor = (uint32_t)minor;
    checking->task.seed = (uint64_t)seed;
    return TAPML_OK;
}

static tapml_status find_component(const struct plugin_checking *checking)
{
    const char *wanted = options_get(checking->options, "--component");
    const struct manifest *manifest = &checking->subject.manifest;
    uint32_t i = 0;

    while (wanted != NULL && i < manifest->component_count &&
           strcmp(manifest->components[i].id, wanted) != 0) {
        i++;
    }
    return wanted == NULL || !checking->is_read || i < manifest->component_count
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "the plugin has no component '%s'", wanted);
}

// What is no file is a mistake of the user, and one that cannot be read one of the plugin.
static tapml_status check_plugin(struct plugin_checking *checking)
{
    const char *expected = options_get(checking->options, "--expect");
    tapml_status status = report_files_try(options_get(checking->options, "--json"),
                                           options_get(checking->options, "--junit"));

    TAPML_TRY(status);
    if (expected != NULL) {
        TAPML_TRY(kit_expectation_read(expected, &checking->expected));
    }
    status = kit_subject_read(checking->task.plugin, &checking->subject);
    checking->is_read = status == TAPML_OK;
    if (status == TAPML_NOT_FOUND || status == TAPML_NO_MEMORY) {
        return status;
    }
    TAPML_TRY(find_component(checking));
    TAPML_TRY(make_all(checking));
    return report(checking);
}

static void list(void)
{
    const struct kit_check *check = NULL;

    for (size_t i = 0; (check = kit_list_at(i)) != NULL; i++) {
        (void)printf("%-5s %-9s %s\n", check->id, kit_check_level_name(check->level), check->about);
    }
}

static enum outcome describe(void)
{
    static const struct outcome_meaning exit_codes[] = {
        {OUTCOME_OK, "nothing failed"},
        {OUTCOME_WRONG, "a check failed, crashed or timed out"},
        {OUTCOME_USAGE, "usage"},
        {OUTCOME_ENVIRONMENT, "the environment lacks something"},
        {EXIT_NOTHING, "there is no driver or device to check"},
        {0, NULL},
    };
    const struct manual all = {
        .own = {"tapml-plugin-check", "check a plugin of tapml-host by its binary", &manual},
        .exit_codes = exit_codes,
    };

    return outcome_report(manual_print(&all));
}

static int run(const struct options *options, const char *program)
{
    struct plugin_checking checking = {.options = options, .task = {.program = program}};
    const char *make_one = options_get(options, "--make");

    if (options_get(options, "--help") != NULL) {
        return (int)outcome_report(options_help(&manual));
    }
    if (options_get(options, "--version") != NULL) {
        (void)puts("tapml-plugin-check " TAPML_VERSION);
        return OUTCOME_OK;
    }
    if (options_get(options, "--describe") != NULL) {
        return (int)describe();
    }
    if (options_get(options, "--list") != NULL) {
        list();
        return OUTCOME_OK;
    }
    tapml_status status = read_options(&checking);

    if (status == TAPML_OK) {
        status = make_one != NULL ? kit_process_serve(&checking.task, make_one)
                                  : check_plugin(&checking);
    }
    const int outcome = status != TAPML_OK ? (int)outcome_report(status) : conclude(&checking);

    kit_subject_release(&checking.subject);
    ini_release(&checking.expected);
    alloc_free(checking.items);
    return outcome;
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    struct options options;

    outcome_set_program("tapml-plugin-check");
    tapml_status status = options_parse(specs, argc - 1, argv + 1, &options);
    const char *program = file_of_program(path, sizeof(path));
    const char *parent = status == TAPML_OK ? options_get(&options, "--under") : NULL;

    if (status == TAPML_OK && program == NULL) {
        status = status_fail(TAPML_UNAVAILABLE, "/proc does not say which file runs");
    }
    if (parent != NULL) {
        status = supervisor_begin(strtol(parent, NULL, 10));
    }
    if (status != TAPML_OK) {
        return (int)outcome_report(status);
    }
    const int outcome = run(&options, program);
    const enum outcome finished = outcome_finish(OUTCOME_OK); // Whether all that was printed came.

    return finished != OUTCOME_OK && outcome == OUTCOME_OK ? (int)finished : outcome;
}
