// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "base/clock.h"
#include "harness/paired.h"
#include "link/client.h"
#include "link/far_side.h"
#include "plugin/registry.h"
#include "remote/remote.h"
#include "run/far_worker.h"

#include <signal.h>
#include <sys/wait.h>

static const uint64_t second_ns = 1000000000;
static struct paired paired;
static struct scratch cache;
static pid_t process;
static char url[64];

// A process of its own, which signals end; its output comes through a pipe.
static void begin(const char *address, const char *dial)
{
    char program[2 * SCRATCH_PATH], path[2 * SCRATCH_PATH];
    int ends[2];

    (void)snprintf(program, sizeof(program), "%s",
                   scratch_join("TAPML_TEST_BUILD", "tapml-worker"));
    (void)snprintf(path, sizeof(path), "%s", cache.folder);
    cr_assert_eq(pipe(ends), 0);
    process = fork();
    if (process == 0) {
        (void)dup2(ends[1], 1);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)setenv("XDG_CONFIG_HOME", paired.sides[PAIRED_WORKER].scratch.folder, 1);
        _exit((int)far_worker_serve(&(struct far_worker_options){.program = program,
                                                                 .address = address,
                                                                 .dials = {dial},
                                                                 .dial_count = dial != NULL,
                                                                 .cache = path,
                                                                 .cache_mib = 1}));
    }
    close(ends[1]);
    FILE *said = fdopen(ends[0], "r");
    unsigned port = 0;
    char line[128] = "";

    if (fgets(line, sizeof(line), said) != NULL && address != NULL) {
        cr_assert_eq(sscanf(line, "tapml-worker: listening on port %u\n", &port), 1, "%s", line);
    }
    (void)fclose(said);
    (void)snprintf(url, sizeof(url), "tapml://127.0.0.1:%u", port);
}

static int end(int signal)
{
    int status = -1;

    if (signal > 0) {
        cr_assert_eq(kill(process, signal), 0);
    }
    cr_assert_eq(waitpid(process, &status, 0), process);
    cr_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void setup(void)
{
    paired_open(&paired);
    scratch_make(&cache);
    // The worker's keys lie in a folder below the one that the variable names.
    struct scratch *worker = &paired.sides[PAIRED_WORKER].scratch;
    char from[2 * SCRATCH_PATH];

    cr_assert_eq(mkdir(scratch_path(worker, "tapml"), 0700), 0);
    static const char *const names[][2] = {{"key.pem", "tapml/key.pem"},
                                           {"peers.ini", "tapml/peers.ini"}};

    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(from, sizeof(from), "%s", scratch_path(worker, names[i][0]));
        cr_assert_eq(rename(from, scratch_path(worker, names[i][1])), 0);
    }
}

static void teardown(void)
{
    scratch_remove(&cache);
    paired_close(&paired);
}

TestSuite(far_worker, .init = setup, .fini = teardown);

// Opens a backend there, by these settings.
static tapml_status
open_there(const struct message_setting *settings, size_t count, char out_component[64])
{
    char program[2 * SCRATCH_PATH];
    struct registry *registry = NULL;
    struct arena *arena = arena_create();
    struct channel *channel = NULL;
    struct backend *backend = NULL;

    (void)snprintf(program, sizeof(program), "%s", scratch_join("TAPML_TEST_BUILD", "tapml-host"));
    PAIRED_MUST(registry_create(&(struct registry_options){.program = program}, &registry));
    PAIRED_MUST(
        remote_create(&(struct remote_options){.url = url,
                                               .folder = paired.sides[PAIRED_HOST].scratch.folder,
                                               .patience_ns = 10 * second_ns},
                      &channel));
    const tapml_status status =
        client_create(&(struct far_side_options){.name = "it",
                                                 .channel = channel,
                                                 .settings = settings,
                                                 .setting_count = count,
                                                 .catalogue = registry_catalogue(registry),
                                                 .arena = arena,
                                                 .deadline_ns = 30 * second_ns},
                      &backend);

    if (status == TAPML_OK) {
        (void)snprintf(out_component, 64, "%s", backend_info(backend)->component);
        backend_release(backend);
    }
    registry_destroy(registry);
    arena_destroy(arena);
    return status;
}

static void expect_refusal(struct message_setting setting, const char *piece)
{
    const struct message_setting settings[] = {{"worker", "backend", "reference:f32"}, setting};
    char component[64];

    cr_assert_neq(open_there(settings, 2, component), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
}

Test(far_worker, opens_plugins_of_its_machine, .timeout = 60)
{
    const struct message_setting setting = {"worker", "backend", "reference:f32"};
    const struct message_setting unknown = {"worker", "backend", "no-such-one"};
    char component[64];

    begin("127.0.0.1:0", NULL);
    PAIRED_MUST(open_there(&setting, 1, component));
    cr_assert_str_eq(component, "reference");
    cr_assert_neq(open_there(&unknown, 1, component), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "no-such-one"), "%s", status_message());
    const uint64_t begin_ns = clock_now_ns();

    cr_assert_eq(end(SIGTERM), OUTCOME_OK);
    cr_assert_lt(clock_now_ns() - begin_ns, 5 * second_ns);
}

// Nobody waits there: it dials until it is told to end.
Test(far_worker, ends_while_it_dials, .timeout = 60)
{
    begin(NULL, "tapml://127.0.0.1:1");
    cr_assert_eq(end(SIGTERM), OUTCOME_OK);
}

// What a host names is no file and no process of this machine.
Test(far_worker, does_not_do_whatever_a_host_asks_for, .timeout = 60)
{
    begin("127.0.0.1:0", NULL);
    expect_refusal((struct message_setting){"worker", "manifest", "/tmp/mine.tapml"},
                   "a host must not ask for 'manifest' in [worker]");
    expect_refusal((struct message_setting){"worker", "threads", "1000"},
                   "a host must not ask for 'threads' in [worker]");
    expect_refusal((struct message_setting){"plugins", "path", "/tmp"},
                   "a host must not ask for 'path' in [plugins]");
    expect_refusal((struct message_setting){"component.reference", "no-such-option", "1"},
                   "no-such-option");
    char component[64];

    cr_assert_neq(open_there(NULL, 0, component), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "without a backend"), "%s", status_message());
    cr_assert_eq(end(SIGINT), OUTCOME_OK);
}

Test(far_worker, says_where_it_cannot_listen)
{
    begin("127.0.0.1:x", NULL);
    cr_assert_eq(end(0), OUTCOME_USAGE);
    begin("no-such-host.invalid:1", NULL);
    cr_assert_neq(end(0), OUTCOME_OK);
    begin(NULL, "127.0.0.1:1");
    cr_assert_eq(end(0), OUTCOME_USAGE);
}
