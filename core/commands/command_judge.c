// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/arena.h"
#include "base/ini.h"
#include "base/log.h"
#include "report/conduct_data.h"
#include "report/report_files.h"
#include "run/case_weights.h"
#include "run/interrupt.h"
#include "run/op_cases.h"
#include "run/progress.h"
#include "run/setup.h"
#include "store/store.h"
#include "store/store_open.h"
#include "verify/conduct.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 50, ROUNDS_MAX = 100000, ENTRIES = 5, SEED = 1, DEADLINE_S = 10 };

static const struct options_spec specs[] = {
    {"--op", "NAME", "the op that the kernel computes: rms_norm"},
    {"--cases", "STORE", "the cases: a run's run.tapmlrun, or a bundle"},
    {"--backend", "B", "of a kernel's text: COMPONENT or COMPONENT:DEVICE"},
    {"--entry", "NAME", "of a shared library: the function; by default the op's name"},
    {"--arguments", "WORDS",
     "of a shared library: what the function takes, in its order: \"x weight y x.rows:i32\""},
    {"--returns", "void|int",
     "of a shared library: void (default), or int, which is 0 for success"},
    {"--weights", "stored|f32", "stored (default), or f32: plain weights are widened before"},
    {"--rounds", "N", "how often cases are repeated in random order, 50 by default"},
    {"--seed", "N", "of the random order, 1 by default"},
    {"--json", "FILE", "writes the verdict as JSON, too"},
    {"--hide-cases", NULL, "names and shapes of what fails, without values"},
    {"--deadline", "SECONDS", "ends a call that does not answer, 10 by default"},
    {"--model", "PATH", "the weights' folder, a name or a GGUF file; by default those of the run"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_judge_manual = {
    .usage = "tapml-host judge LIBRARY --op NAME --cases STORE --arguments WORDS\n"
             "tapml-host judge FILE --op NAME --cases STORE --backend B",
    .about = "Judges a function of a shared library, or a kernel's text, as a kernel of an "
             "op: by all cases of a store and those derived from them, in random order, "
             "many times, in fresh buffers.",
    .specs = specs,
};

// A kernel that is judged.
struct judging_kernel {
    struct options options;
    const char *op, *backend;
    char *file; // Its whole path, malloc'd.
    int64_t rounds, seed;
    struct ini ini; // The options of the component, as an INI file would have them.
    struct ini_entry entries[ENTRIES];
    const char *section;
    unsigned section_line;
    struct setup setup;
    struct store *source;
    struct op_cases cases;
    struct checkpoint *checkpoint;
    struct place *place;
    struct place_isolation isolation;
    struct progress progress;
    int widens;
    int is_wrong;
};

// -- What is asked -----------------------------------------------------------------------------

static void add_entry(struct judging_kernel *judging, const char *key, const char *value)
{
    if (value != NULL) {
        judging->entries[judging->ini.count++] =
            (struct ini_entry){.section = judging->section, .key = key, .value = value, .line = 1};
    }
}

// Whether the manifest of a component says that it can be given a kernel of this kind.
static int judges(const struct judging_kernel *judging, const char *component, const char *what)
{
    const char *kinds = registry_component_key(judging->setup.registry, component, "judges");

    return kinds != NULL && strcmp(kinds, what) == 0;
}

// The first component that computes by functions of libraries, as manifests say it.
static tapml_status find_component(struct judging_kernel *judging, const char **out_component)
{
    const struct registry *registry = judging->setup.registry;
    const size_t count = registry_count(registry);

    for (size_t i = registry_next_backend(registry, "judges", 0); i < count;
         i = registry_next_backend(registry, "judges", i + 1)) {
        const char *component = registry_at(registry, i)->component;

        if (judges(judging, component, "library")) {
            judging->backend = *out_component = component;
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_UNAVAILABLE,
                       "no plugin that was found computes by functions of libraries");
}

// That of --backend, without its device.
static tapml_status take_component(struct judging_kernel *judging, const char **out_component)
{
    const char *colon = strchr(judging->backend, ':');
    const size_t length =
        colon != NULL ? (size_t)(colon - judging->backend) : strlen(judging->backend);

    *out_component = arena_format(judging->setup.arena, "%.*s", (int)length, judging->backend);
    if (*out_component == NULL) {
        return status_no_memory();
    }
    return judges(judging, *out_component, "text")
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "backend '%s' takes no kernel's text", *out_component);
}

// The options of the component that computes, which are read when it is opened.
static tapml_status describe_kernel(struct judging_kernel *judging)
{
    const struct options *options = &judging->options;
    const char *entry = options_get(options, "--entry");
    const char *dot = strrchr(judging->op, '.');
    const char *component = NULL;
    const int is_text = judging->backend != NULL;

    TAPML_TRY(is_text ? take_component(judging, &component) : find_component(judging, &component));
    judging->section = arena_format(judging->setup.arena, "component.%s", component);
    if (judging->section == NULL) {
        return status_no_memory();
    }
    judging->ini.sections = &judging->section;
    judging->ini.section_lines = &judging->section_line;
    judging->ini.section_count = 1;
    add_entry(judging, is_text ? "kernel" : "library", judging->file);
    if (!is_text) {
        add_entry(judging, "op", judging->op);
        add_entry(judging, "entry", entry != NULL ? entry : dot != NULL ? dot + 1 : judging->op);
        add_entry(judging, "arguments", options_get(options, "--arguments"));
        add_entry(judging, "returns", options_get(options, "--returns"));
    }
    return TAPML_OK;
}

// What belongs to the other kind of kernel.
static tapml_status check_kind(const struct judging_kernel *judging)
{
    static const char *const of_library[] = {"--entry", "--arguments", "--returns"};
    const struct options *options = &judging->options;

    for (size_t i = 0; judging->backend != NULL && i < 3; i++) {
        if (options_get(options, of_library[i]) != NULL) {
            return status_fail(TAPML_INVALID,
                               "%s is for shared libraries: a kernel's text says it in comments",
                               of_library[i]);
        }
    }
    return judging->backend != NULL || options_get(options, "--arguments") != NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "--arguments is missing: what the function takes, in its order, such "
                             "as \"x y x.count:i64\"; or --backend, for a kernel's text");
}

static tapml_status require(const struct options *options, const char *name, const char **out_value)
{
    *out_value = options_get(options, name);
    return *out_value != NULL ? TAPML_OK : status_fail(TAPML_INVALID, "%s is missing", name);
}

static tapml_status read_weights(struct judging_kernel *judging)
{
    const char *word = options_get(&judging->options, "--weights");

    judging->widens = word != NULL && strcmp(word, "f32") == 0;
    return word == NULL || judging->widens || strcmp(word, "stored") == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "--weights is '%s', expected 'stored' or 'f32'", word);
}

static tapml_status read_options(struct judging_kernel *judging)
{
    const struct options *options = &judging->options;

    if (options->plain_count != 1) {
        return status_fail(TAPML_INVALID,
                           "one shared library or one text of a kernel expected, %zu given",
                           options->plain_count);
    }
    judging->file = realpath(options->plain[0], NULL);
    if (judging->file == NULL) {
        return status_fail(TAPML_NOT_FOUND, "%s: there is no such file", options->plain[0]);
    }
    TAPML_TRY(require(options, "--op", &judging->op));
    TAPML_TRY(options_i64(options, "--rounds", ROUNDS, 1, ROUNDS_MAX, &judging->rounds));
    TAPML_TRY(options_i64(options, "--seed", SEED, 0, INT64_MAX, &judging->seed));
    judging->isolation = (struct place_isolation){
        .mode = PLACE_ISOLATION_ALWAYS, .deadline_s = DEADLINE_S, .has_foreign_code = 1};
    TAPML_TRY(worker_options_read(options, &judging->isolation));
    judging->backend = options_get(options, "--backend");
    TAPML_TRY(check_kind(judging));
    return read_weights(judging);
}

static tapml_status open_cases(struct judging_kernel *judging)
{
    const char *path = NULL;

    TAPML_TRY(require(&judging->options, "--cases", &path));
    TAPML_TRY(store_open_to_read(path, &judging->source));
    TAPML_TRY(case_weights_open(&judging->setup, judging->source,
                                options_get(&judging->options, "--model"), &judging->checkpoint));
    return op_cases_copy(&(struct op_cases_options){.source = judging->source,
                                                    .op = judging->op,
                                                    .checkpoint = judging->checkpoint,
                                                    .widens = judging->widens},
                         &judging->cases);
}

// -- The judgement
// -----------------------------------------------------------------------------

static tapml_status open_fresh(void *user, struct backend **out_backend)
{
    struct judging_kernel *judging = user;
    const struct place_settings settings = {
        .name = "kernel", .backend = judging->backend, .isolation = judging->isolation};

    TAPML_TRY(interrupt_check());
    place_destroy(judging->place);
    judging->place = NULL;
    TAPML_TRY(place_create(&settings, &judging->place));
    TAPML_TRY(setup_open_place(&judging->setup, judging->place));
    *out_backend = judging->place->backend;
    return TAPML_OK;
}

static tapml_status show(void *user, size_t done, size_t all)
{
    struct judging_kernel *judging = user;

    return progress_show(&judging->progress, done, all);
}

static tapml_status print(struct judging_kernel *judging, const struct conduct_result *result)
{
    const char *path = options_get(&judging->options, "--json");
    json_t *document = NULL;
    struct text text;

    TAPML_TRY(conduct_data_create(
        &(struct conduct_data){.file = judging->options.plain[0],
                               .op = judging->cases.op,
                               .backend = judging->backend,
                               .hides_cases =
                                   options_get(&judging->options, "--hide-cases") != NULL,
                               .result = result},
        &document));
    text_init(&text);
    conduct_data_print(document, &text);
    tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        (void)fputs(text.data, stdout);
        status = path != NULL ? report_files_write_json(document, path) : TAPML_OK;
    }
    text_release(&text);
    json_decref(document);
    return status;
}

// What cannot be run at all is no verdict on the kernel.
static tapml_status conclude(struct judging_kernel *judging, const struct conduct_result *result)
{
    if (result->kind == CONDUCT_UNSUPPORTED) {
        return status_fail(TAPML_INVALID,
                           "no case of %s can be run: %s; --op is the op of the kernel, and "
                           "weights are %s",
                           judging->cases.op, result->why,
                           judging->widens ? "widened to f32"
                                           : "as stored (--weights f32 widens them)");
    }
    if (result->kind == CONDUCT_NO_ANSWER) {
        log_line(LOG_WARNING,
                 "a call may take %" PRId64
                 " s: --deadline gives more time, where a driver compiles or a machine is busy",
                 judging->isolation.deadline_s);
    }
    judging->is_wrong = result->kind != CONDUCT_RIGHT;
    return print(judging, result);
}

static tapml_status judge(struct judging_kernel *judging)
{
    const struct conduct_options options = {.verdicts = {.registry = judging->setup.registry,
                                                         .store = judging->cases.store,
                                                         .target = "kernel",
                                                         .checkpoint = judging->checkpoint},
                                            .open = open_fresh,
                                            .rounds = (uint32_t)judging->rounds,
                                            .seed = (uint64_t)judging->seed,
                                            .progress = show,
                                            .user = judging};
    struct conduct_result result;

    progress_begin(&judging->progress, "judge", 0);
    judging->progress.unit = "rounds";
    TAPML_TRY(conduct_judge(&options, &result));
    progress_end(&judging->progress, "%llu calls", (unsigned long long)result.calls);
    const tapml_status status = conclude(judging, &result);

    conduct_result_release(&result);
    return status;
}

static tapml_status run(const struct command *command, struct judging_kernel *judging)
{
    judging->ini = (struct ini){.name = "the command line", .entries = judging->entries};
    TAPML_TRY(read_options(judging));
    TAPML_TRY(report_files_try(options_get(&judging->options, "--json"), NULL));
    TAPML_TRY(setup_open(command->program, &judging->options, &judging->ini, &judging->setup));
    interrupt_watch();
    TAPML_TRY(describe_kernel(judging));
    TAPML_TRY(open_cases(judging));
    return judge(judging);
}

static void judging_kernel_release(struct judging_kernel *judging)
{
    place_destroy(judging->place);
    setup_close(&judging->setup);
    checkpoint_close(judging->checkpoint);
    op_cases_close(&judging->cases);
    store_close(judging->source);
    free(judging->file);
}

enum outcome command_judge_main(const struct command *command)
{
    struct judging_kernel judging = {.op = NULL};
    tapml_status status = options_parse(specs, command->argc, command->argv, &judging.options);

    if (status == TAPML_OK && options_get(&judging.options, "--help") != NULL) {
        return outcome_report(options_help(&command_judge_manual));
    }
    if (status == TAPML_OK) {
        status = run(command, &judging);
    }
    const enum outcome outcome = outcome_report(status);

    judging_kernel_release(&judging);
    return outcome != OUTCOME_OK ? outcome : judging.is_wrong ? OUTCOME_WRONG : OUTCOME_OK;
}
