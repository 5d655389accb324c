// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_process.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "exec/persist.h"
#include "kit/kit_folder.h"
#include "kit/kit_hiding.h"
#include "kit/kit_list.h"
#include "kit/kit_options.h"
#include "kit/kit_subject.h"
#include "link/child.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_BYTES = 24, ARGUMENTS_MAX = 24 + 4 * KIT_OPTIONS_MAX };

// A result line begins so, whatever else a plugin has printed.
static const char MARK[] = "tapml-plugin-check\t";

// -- In the child ------------------------------------------------------------------------------

static void
prepare(struct kit_subject *subject, const struct kit_check *check, struct kit_result *io_result)
{
    subject->number = check->number;
    subject->what = check->what;
    if (check->scope == KIT_OF_FILE || !kit_result_is_good(io_result)) {
        return;
    }
    if (kit_subject_open(subject) != TAPML_OK || kit_subject_ask(subject) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
    }
}

void kit_process_run(const struct kit_task *task,
                     const struct kit_check *check,
                     struct kit_result *out_result)
{
    struct kit_subject subject;

    *out_result = (struct kit_result){.outcome = KIT_PASSED};
    if (kit_subject_read(task->plugin, &subject) != TAPML_OK) {
        kit_result_fail(out_result, "%s", status_message());
        return;
    }
    subject.component = task->component;
    subject.device = task->device;
    subject.minor = task->minor;
    subject.seed = task->seed;
    subject.replay = task->replay;
    subject.model = task->model;
    subject.soak_s = task->soak_s;
    subject.others = task->others;
    if (kit_options_read(&subject.manifest, NULL, task->options, &subject.options) != TAPML_OK) {
        kit_result_fail(out_result, "%s", status_message());
    }
    prepare(&subject, check, out_result);
    if (kit_result_is_good(out_result)) {
        check->run(&subject, out_result);
    }
    kit_subject_release(&subject);
}

// What the plugin prints goes to the error stream; the result alone is printed.
tapml_status kit_process_serve(const struct kit_task *task, const char *id)
{
    const struct kit_check *check = kit_list_find(id);
    struct kit_result result;

    if (check == NULL) {
        return status_fail(TAPML_NOT_FOUND, "there is no check '%s'", id);
    }
    const int output = dup(STDOUT_FILENO);

    if (output < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        return status_fail(TAPML_UNAVAILABLE, "there is no descriptor for the result");
    }
    kit_process_run(task, check, &result);
    utf8_make_plain(result.reason); // A line, whatever a plugin says.
    (void)fflush(stdout);
    (void)dprintf(output, "\n%s%d\t%d\t%s\n", MARK, (int)result.outcome, result.lacks_device,
                  result.reason);
    (void)close(output);
    return TAPML_OK;
}

// -- In the parent -----------------------------------------------------------------------------

// The last line that is a result; a reason has no line break.
static int read_result(const char *text, struct kit_result *out_result)
{
    const char *line = NULL;
    int outcome = 0, lacks_device = 0, length = 0;

    for (const char *at = strstr(text, MARK); at != NULL; at = strstr(at + 1, MARK)) {
        line = at + strlen(MARK);
    }
    if (line == NULL || sscanf(line, "%d\t%d%n", &outcome, &lacks_device, &length) != 2 ||
        outcome < 0 || outcome > (int)KIT_SKIPPED || line[length] != '\t') {
        return 0;
    }
    const char *reason = line + length + 1;

    out_result->outcome = (enum kit_outcome)outcome;
    out_result->lacks_device = lacks_device != 0;
    (void)snprintf(out_result->reason, sizeof(out_result->reason), "%.*s",
                   (int)strcspn(reason, "\n"), reason);
    return 1;
}

static void judge_ending(const struct child_output *output,
                         const struct kit_check *check,
                         struct kit_result *out_result)
{
    out_result->outcome = output->was_late ? KIT_TIMED_OUT : KIT_CRASHED;
    if (output->was_late) {
        (void)snprintf(out_result->reason, sizeof(out_result->reason), "it did not end within %u s",
                       check->limit_s);
    } else {
        (void)snprintf(out_result->reason, sizeof(out_result->reason), "the process %s%s%.200s",
                       output->ending[0] != '\0' ? output->ending
                                                 : "ended with exit status 0 before the check did",
                       output->last_words[0] != '\0' ? "; it wrote: " : "", output->last_words);
    }
    utf8_make_plain(out_result->reason); // A plugin's words.
}

static size_t add(const char **arguments, size_t count, const char *option, const char *value)
{
    if (value != NULL) {
        arguments[count++] = option;
        arguments[count++] = value;
    }
    return count;
}

static size_t
add_all(const char **arguments, size_t count, const char *option, const char *const *values)
{
    for (size_t i = 0; i < KIT_OPTIONS_MAX && values != NULL && values[i] != NULL; i++) {
        count = add(arguments, count, option, values[i]);
    }
    return count;
}

static tapml_status hide(const struct kit_task *task, struct kit_hiding *out_hiding)
{
    struct kit_subject subject;

    TAPML_TRY(kit_subject_read(task->plugin, &subject));
    const tapml_status status = kit_hiding_begin(&subject.manifest, out_hiding);

    kit_subject_release(&subject);
    return status;
}

tapml_status kit_process_make(const struct kit_task *task,
                              const struct kit_check *check,
                              struct kit_result *out_result,
                              uint64_t *out_time_ns)
{
    const char *arguments[ARGUMENTS_MAX] = {task->program, "--make", check->id};
    char parent[NUMBER_BYTES], minor[NUMBER_BYTES], seed[NUMBER_BYTES], soak[NUMBER_BYTES];
    struct child_output output = {.text = NULL};
    size_t count = 3;

    (void)snprintf(parent, sizeof(parent), "%ld", (long)getpid());
    (void)snprintf(minor, sizeof(minor), "%" PRIu32, task->minor);
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, task->seed);
    (void)snprintf(soak, sizeof(soak), "%" PRIu64, task->soak_s);
    count = add(arguments, count, "--under", parent); // Whatever a plugin starts ends, too.
    count = add(arguments, count, "--host-minor", minor);
    count = add(arguments, count, "--seed", seed);
    count = add(arguments, count, "--soak", check->level == KIT_SOAK ? soak : NULL);
    count = add(arguments, count, "--component", task->component);
    count = add(arguments, count, "--device", task->device);
    count = add(arguments, count, "--replay", task->replay);
    count = add(arguments, count, "--model", task->model);
    count = add_all(arguments, count, "--option", task->options);
    count = add_all(arguments, count, "--with", task->others);
    arguments[count++] = "--"; // Whatever the file is called.
    arguments[count] = task->plugin;
    const uint64_t begin_ns = clock_now_ns();

    *out_result = (struct kit_result){.outcome = KIT_PASSED};
    const uint64_t limit_s = check->limit_s + (check->level == KIT_SOAK ? task->soak_s : 0);
    struct kit_hiding hiding = {.folder = ""};
    struct kit_folder folder;
    tapml_status status = check->hides_drivers ? hide(task, &hiding) : TAPML_OK;

    kit_folder_begin(&folder);
    if (status == TAPML_OK) {
        status = persist_run(arguments, limit_s * UINT64_C(1000000000), &output);
    }
    kit_folder_end(&folder);
    kit_hiding_end(&hiding);
    TAPML_TRY(status);
    *out_time_ns = clock_now_ns() - begin_ns;
    // A process that crashes behind its check, as when the library is closed, is not right either.
    if (output.ending[0] != '\0' || output.text == NULL || !read_result(output.text, out_result)) {
        judge_ending(&output, check, out_result);
    }
    alloc_free(output.text);
    return TAPML_OK;
}
