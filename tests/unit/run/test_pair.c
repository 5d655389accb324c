// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/scratch.h"
#include "link/child.h"
#include "remote/peers.h"
#include "run/pair.h"

static const uint64_t limit_ns = UINT64_C(30000000000);
static struct scratch host, worker;

static void setup(void)
{
    scratch_make(&host);
    scratch_make(&worker);
    cr_assert_eq(setenv("HOST_KEYS", host.folder, 1), 0);
    cr_assert_eq(setenv("WORKER_KEYS", worker.folder, 1), 0);
    cr_assert_eq(setenv("XDG_CONFIG_HOME", host.folder, 1), 0);
}

static void teardown(void)
{
    scratch_remove(&host);
    scratch_remove(&worker);
}

TestSuite(pair, .init = setup, .fini = teardown);

static FILE *begin_to_wait(const char *answer, unsigned *out_port)
{
    char command[512], line[128] = "";

    (void)snprintf(command, sizeof(command),
                   "echo %s | XDG_CONFIG_HOME=$WORKER_KEYS $TAPML_TEST_BUILD/tapml-worker "
                   "--pair 127.0.0.1:0 --name box 2>&1",
                   answer);
    FILE *said = popen(command, "r");

    cr_assert_not_null(said);
    cr_assert_not_null(fgets(line, sizeof(line), said));
    cr_assert_eq(sscanf(line, "waiting on port %u for 'tapml-host pair'", out_port), 1, "%s", line);
    return said;
}

// What the host says; the caller frees it.
static char *call(const char *answer, unsigned port)
{
    char command[512];
    struct child_output output;

    (void)snprintf(command, sizeof(command),
                   "%s | $TAPML_TEST_BUILD/tapml-host pair tapml://127.0.0.1:%u 2>&1", answer,
                   port);
    const char *const arguments[] = {"/bin/sh", "-c", command, NULL};

    cr_assert_eq(child_run(arguments, limit_ns, &output), TAPML_OK);
    return output.text;
}

static const char *read_all(FILE *file, char *out_text, size_t size)
{
    const size_t length = fread(out_text, 1, size - 1, file);

    out_text[length] = '\0';
    cr_assert_neq(pclose(file), -1);
    return out_text;
}

static size_t count_peers(const char *folder)
{
    struct scratch there;
    struct peers peers = {.count = 0};

    (void)snprintf(there.folder, sizeof(there.folder), "%s", folder);
    cr_assert_eq(peers_load(scratch_path(&there, "tapml"), &peers), TAPML_OK);
    const size_t count = peers.count;

    peers_release(&peers);
    return count;
}

Test(pair, shows_both_sides_one_code)
{
    char said[1024];
    unsigned port = 0;
    FILE *waiting = begin_to_wait("y", &port);
    char *called = call("echo yes", port);

    (void)read_all(waiting, said, sizeof(said));
    cr_assert_eq(strncmp(called, "code: ", 6), 0, "%s", called);
    cr_assert_eq(strncmp(said, called, 6 + 17), 0, "%s: %s", said, called);
    cr_assert_not_null(strstr(said, "paired: box\n"), "%s", said);
    cr_assert_not_null(strstr(called, "paired: peer-"), "%s", called);
    cr_assert_eq(count_peers(host.folder), 1);
    cr_assert_eq(count_peers(worker.folder), 1);
    alloc_free(called);
}

// The way back: the host waits, the worker calls.
Test(pair, waits_for_a_worker_that_calls)
{
    const char *const host_waits[] = {
        "/bin/sh", "-c",
        "cd $HOST_KEYS && mkfifo line && { echo y | $TAPML_TEST_BUILD/tapml-host pair --listen "
        "127.0.0.1:0 > line & } && exec 3< line && read waiting <&3 && port=${waiting#*port } && "
        "echo y | XDG_CONFIG_HOME=$WORKER_KEYS $TAPML_TEST_BUILD/tapml-worker --pair "
        "tapml://127.0.0.1:${port%% *} && echo $waiting && cat <&3",
        NULL};
    struct child_output output;

    cr_assert_eq(child_run(host_waits, limit_ns, &output), TAPML_OK);
    cr_assert_not_null(strstr(output.text, "for 'tapml-worker --pair'"), "%s", output.text);
    cr_assert_eq(count_peers(host.folder), 1, "%s", output.text);
    cr_assert_eq(count_peers(worker.folder), 1, "%s", output.text);
    alloc_free(output.text);
}

// Anything but a yes is a no, and so is the end of the input.
Test(pair, keeps_nothing_without_a_yes)
{
    char said[1024];
    unsigned port = 0;
    FILE *waiting = begin_to_wait("no", &port);
    char *called = call("printf ''", port);

    (void)read_all(waiting, said, sizeof(said));
    cr_assert_not_null(strstr(said, "the codes were not confirmed: nothing is paired"), "%s", said);
    cr_assert_not_null(strstr(called, "the codes were not confirmed: nothing is paired"), "%s",
                       called);
    cr_assert_eq(count_peers(host.folder), 0);
    cr_assert_eq(count_peers(worker.folder), 0);
    alloc_free(called);
}

Test(pair, lists_and_forgets_machines)
{
    const struct identity_hash key = {{1, 2, 3}};
    const char *const arguments[] = {"/bin/sh", "-c", "$TAPML_TEST_BUILD/tapml-host pair", NULL};
    struct child_output output;

    cr_assert_eq(mkdir(scratch_path(&host, "tapml"), 0700), 0);
    cr_assert_eq(peers_add(host.path, "box", &key), TAPML_OK, "%s", status_message());
    cr_assert_eq(child_run(arguments, limit_ns, &output), TAPML_OK);
    cr_assert_eq(strncmp(output.text, "(this user) ", 12), 0, "%s", output.text);
    cr_assert_not_null(strstr(output.text, "\nbox                   0102030000"), "%s",
                       output.text);
    alloc_free(output.text);
    cr_assert_eq(pair_remove("nobody"), TAPML_NOT_FOUND);
    cr_assert_eq(pair_remove("box"), TAPML_OK);
    cr_assert_eq(count_peers(host.folder), 0);
}

Test(pair, says_what_is_wrong)
{
    cr_assert_eq(pair_call("box:1", NULL), TAPML_INVALID);
    cr_assert_eq(pair_call("tapml://127.0.0.1:1", NULL), TAPML_UNAVAILABLE);
    cr_assert_eq(pair_either("http://127.0.0.1:1", NULL), TAPML_INVALID);
    cr_assert_eq(pair_either("box", NULL), TAPML_INVALID);
    cr_assert_eq(pair_wait("box", NULL, "tapml-worker --pair"), TAPML_INVALID);
}
