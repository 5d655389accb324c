// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_load.h"

#include "kit/kit_subject.h"
#include "kit/process_usage.h"
#include "plugin/handshake.h"
#include "plugin/process.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LIMIT_S = 30, THREADS = 8, QUERIES = 10000, TAIL_BYTES = 64, POISON = 0xdb };

// -- Help ---------------------------------------------------------------------------------------

static void fail_by_message(struct kit_result *io_result)
{
    kit_result_fail(io_result, "%s", status_message());
}

// Whatever is checked next needs an answer.
static const tapml_plugin *ask(const struct kit_subject *subject, struct kit_result *io_result)
{
    const tapml_query question = kit_subject_question(subject->minor);
    const tapml_plugin *plugin = NULL;
    const tapml_status status = subject->query(&question, &plugin);

    if (status != TAPML_OK || plugin == NULL) {
        kit_result_fail(io_result, "it does not answer the query: %s",
                        status == TAPML_OK ? "no description" : status_name(status));
        return NULL;
    }
    return plugin;
}

// -- The same answer ---------------------------------------------------------------------------

struct asking {
    tapml_plugin_query_fn query;
    const tapml_plugin *expected;
    atomic_int different;
};

static void *ask_often(void *argument)
{
    struct asking *asking = argument;
    const tapml_query question = kit_subject_question(TAPML_ABI_MINOR);

    for (int i = 0; i < QUERIES; i++) {
        const tapml_plugin *plugin = NULL;

        if (asking->query(&question, &plugin) != TAPML_OK || plugin != asking->expected) {
            atomic_store(&asking->different, 1);
        }
    }
    return NULL;
}

static void answers_alike(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct asking asking = {.query = subject->query, .expected = ask(subject, io_result)};
    pthread_t threads[THREADS];
    int count = 0;

    while (asking.expected != NULL && count < THREADS &&
           pthread_create(&threads[count], NULL, ask_often, &asking) == 0) {
        count++;
    }
    for (int i = 0; i < count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    if (atomic_load(&asking.different)) {
        kit_result_fail(io_result, "it gives several descriptions: the query is to be constant, "
                                   "from any thread");
    }
}

// -- Queries of other sizes --------------------------------------------------------------------

// A question with `size` bytes that end where memory ends, so that a byte behind it is a crash.
static tapml_query *put_at_an_end(size_t size, const tapml_query *question)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *memory =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0) {
        return NULL;
    }
    unsigned char *begin = memory + page - size;

    memset(begin, POISON, size);
    memcpy(begin, question, size < sizeof(*question) ? size : sizeof(*question));
    memcpy(begin, &(tapml_hdr){.struct_size = (uint32_t)size}, sizeof(tapml_hdr));
    return (tapml_query *)(void *)begin;
}

static void takes_a_longer_query(const struct kit_subject *subject, struct kit_result *io_result)
{
    enum { BYTES = sizeof(tapml_query) + TAIL_BYTES };
    const tapml_query question = kit_subject_question(subject->minor);
    const tapml_query *longer = put_at_an_end(BYTES, &question);
    const tapml_plugin *plugin = NULL;

    if (longer == NULL) {
        kit_result_skip(io_result, "there is no memory for it: %s", strerror(errno));
    } else if (subject->query(longer, &plugin) != TAPML_OK || plugin == NULL) {
        kit_result_fail(io_result,
                        "it refuses a query of %d bytes, which is longer than it knows: what is "
                        "behind the members that it knows is to be ignored",
                        (int)BYTES);
    }
}

// One that ends before its last member; memory ends there, too.
static void refuses_a_shorter_query(const struct kit_subject *subject, struct kit_result *io_result)
{
    enum { BYTES = offsetof(tapml_query, host_name) };
    const tapml_query question = kit_subject_question(subject->minor);
    const tapml_query *shorter = put_at_an_end(BYTES, &question);
    const tapml_plugin *plugin = NULL;

    if (shorter == NULL) {
        kit_result_skip(io_result, "there is no memory for it: %s", strerror(errno));
        return;
    }
    const tapml_status status = subject->query(shorter, &plugin);

    if (status != TAPML_ABI_MISMATCH) {
        kit_result_fail(io_result,
                        "it answers '%s' to a query of %d bytes, which is shorter than minor 0 has "
                        "it; expected 'ABI mismatch'",
                        status_name(status), (int)BYTES);
    }
}

// -- Hosts of other minors ---------------------------------------------------------------------

static void answers_each_minor(const struct kit_subject *subject, struct kit_result *io_result)
{
    const tapml_plugin *first = ask(subject, io_result);

    // A host that is newer than this one asks with a number that nobody knows yet.
    for (uint32_t minor = 0; first != NULL && minor <= TAPML_ABI_MINOR + 1; minor++) {
        const tapml_query question = kit_subject_question(minor);
        const tapml_plugin *plugin = NULL;
        const tapml_status status = subject->query(&question, &plugin);

        if (minor >= first->abi_needed && (status != TAPML_OK || plugin == NULL)) {
            kit_result_fail(io_result, "it does not answer a host of minor %u, and needs %u", minor,
                            first->abi_needed);
        }
    }
}

// -- What it says ------------------------------------------------------------------------------

static void description_is_whole(const struct kit_subject *subject, struct kit_result *io_result)
{
    const tapml_plugin *plugin = ask(subject, io_result);

    if (plugin != NULL && (handshake_check_sizes(plugin) != TAPML_OK ||
                           handshake_compare_words(&subject->manifest, plugin) != TAPML_OK)) {
        fail_by_message(io_result);
    }
}

static int has_twin(const tapml_plugin *plugin, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++) {
        if (strcmp(plugin->components[i]->id, plugin->components[index]->id) == 0) {
            return 1;
        }
    }
    return 0;
}

static void words_are_there(const struct kit_subject *subject, struct kit_result *io_result)
{
    const tapml_plugin *plugin = ask(subject, io_result);

    if (plugin == NULL || handshake_check_sizes(plugin) != TAPML_OK) {
        return; // H-05 says so.
    }
    if (plugin->reserved != 0) {
        kit_result_fail(io_result, "its description has %u as `reserved`, expected 0",
                        plugin->reserved);
    }
    if (plugin->vendor == NULL || plugin->license == NULL) {
        kit_result_fail(io_result, "its description has no %s",
                        plugin->vendor == NULL ? "vendor" : "license");
    }
    for (uint32_t i = 0; i < plugin->n_components; i++) {
        if (plugin->components[i]->title == NULL) {
            kit_result_fail(io_result, "component '%s' has no title", plugin->components[i]->id);
        }
        if (has_twin(plugin, i)) {
            kit_result_fail(io_result, "two components are called '%s'", plugin->components[i]->id);
        }
    }
}

// -- What stays --------------------------------------------------------------------------------

static void report_changes(struct process_state *state, struct kit_result *io_result)
{
    struct text changes, handlers;

    text_init(&changes);
    text_init(&handlers);
    process_restore(state, &changes, &handlers);
    if (changes.length > 0 || handlers.length > 0) {
        kit_result_fail(io_result, "opening and asking it changes the process: %s%s%s",
                        changes.data, changes.length > 0 && handlers.length > 0 ? ", " : "",
                        handlers.data);
    }
    text_release(&changes);
    text_release(&handlers);
}

static void leaves_the_process_alone(const struct kit_subject *subject,
                                     struct kit_result *io_result)
{
    struct kit_subject own = *subject; // Opened here, and by nobody before.
    struct process_state state;

    process_save(&state);
    if (kit_subject_open(&own) == TAPML_OK) {
        (void)ask(&own, io_result);
    } else {
        fail_by_message(io_result);
    }
    report_changes(&state, io_result);
}

static void report_usage(const struct process_usage *before, struct kit_result *io_result)
{
    struct process_usage after;

    if (process_usage_read(&after) != TAPML_OK) {
        kit_result_skip(io_result, "%s", status_message());
    } else if (after.threads > before->threads) {
        kit_result_fail(io_result, "the query makes a thread: it is to be pure");
    } else if (after.descriptors > before->descriptors) {
        kit_result_fail(io_result, "the query leaves %zu descriptors open: it is to be pure",
                        after.descriptors - before->descriptors);
    } else if (after.children > before->children) {
        kit_result_fail(io_result, "the query starts a process: it is to be pure");
    }
}

static void makes_nothing(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_subject own = *subject;
    struct process_usage before;

    if (process_usage_read(&before) != TAPML_OK) {
        kit_result_skip(io_result, "%s", status_message());
        return;
    }
    if (kit_subject_open(&own) != TAPML_OK) {
        fail_by_message(io_result);
        return;
    }
    (void)ask(&own, io_result);
    report_usage(&before, io_result);
}

// Both standard streams into a file that has no name.
static void prints_nothing(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_subject own = *subject;
    const int words = memfd_create("words", MFD_CLOEXEC);
    const int output = dup(STDOUT_FILENO), errors = dup(STDERR_FILENO);

    if (words < 0 || output < 0 || errors < 0) {
        kit_result_skip(io_result, "there is no descriptor for it: %s", strerror(errno));
        return;
    }
    (void)fflush(stdout);
    (void)dup2(words, STDOUT_FILENO);
    (void)dup2(words, STDERR_FILENO);
    if (kit_subject_open(&own) == TAPML_OK) {
        (void)ask(&own, io_result);
    } else {
        fail_by_message(io_result);
    }
    (void)fflush(stdout);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(errors, STDERR_FILENO);
    if (lseek(words, 0, SEEK_END) > 0) {
        kit_result_fail(io_result, "opening and asking it prints something: a plugin says what it "
                                   "has to say by `log` and `fail`");
    }
    (void)close(words);
}

static const struct kit_check CHECKS[] = {
    // Those that open it themselves look at what opening does.
    {.id = "H-01",
     .level = KIT_LOAD,
     .scope = KIT_OF_FILE,
     .about = "opening and asking it leaves the process as it was",
     .limit_s = LIMIT_S,
     .run = leaves_the_process_alone},
    {.id = "H-02",
     .level = KIT_LOAD,
     .scope = KIT_OF_FILE,
     .about = "the query makes no thread, descriptor or process",
     .limit_s = LIMIT_S,
     .run = makes_nothing},
    {.id = "H-03",
     .level = KIT_LOAD,
     .scope = KIT_OF_FILE,
     .about = "opening and asking it prints nothing",
     .limit_s = LIMIT_S,
     .run = prints_nothing},
    {.id = "H-04",
     .level = KIT_LOAD,
     .scope = KIT_OF_PLUGIN,
     .about = "the answer is the same from all threads, at all times",
     .limit_s = LIMIT_S,
     .run = answers_alike,
     .ground = KIT_GROUND},
    {.id = "H-05",
     .level = KIT_LOAD,
     .scope = KIT_OF_PLUGIN,
     .about = "its description is whole and agrees with the manifest",
     .limit_s = LIMIT_S,
     .run = description_is_whole},
    {.id = "H-06",
     .level = KIT_LOAD,
     .scope = KIT_OF_PLUGIN,
     .about = "names are there and different, reserved members are zero",
     .limit_s = LIMIT_S,
     .run = words_are_there},
    {.id = "H-07",
     .level = KIT_LOAD,
     .scope = KIT_OF_PLUGIN,
     .about = "a longer query of a newer host is answered",
     .limit_s = LIMIT_S,
     .run = takes_a_longer_query},
    {.id = "H-08",
     .level = KIT_LOAD,
     .scope = KIT_OF_PLUGIN,
     .about = "a query that is too short is refused, and not read beyond",
     .limit_s = LIMIT_S,
     .run = refuses_a_shorter_query},
    {.id = "H-09",
     .level = KIT_LOAD,
     .scope = KIT_OF_PLUGIN,
     .about = "it answers hosts of each minor from the one it needs",
     .limit_s = LIMIT_S,
     .run = answers_each_minor},
    {.id = NULL},
};

const struct kit_check *kit_load_checks(void)
{
    return CHECKS;
}
