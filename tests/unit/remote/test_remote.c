// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "far_backend.h"
#include "remote/remote.h"

#include <signal.h>

enum { COUNT = 50000 };

static struct far_machine machine;
static struct far_backend both;
static float values[COUNT], found[COUNT], expected[COUNT];

static void setup(void)
{
    struct random random;

    random_init(&random, 3);
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = (float)random_between(&random, -4, 4);
    }
    far_machine_open(&machine);
}

static void teardown(void)
{
    far_backend_close(&both);
    far_machine_close(&machine);
}

TestSuite(remote, .init = setup, .fini = teardown);

static void start(void)
{
    far_machine_start(&machine);
    far_backend_open(&both, &machine);
}

// What a backend makes of the values.
static tapml_status compute(struct backend *backend, float *out_values)
{
    tapml_object *x = NULL, *y = NULL;
    tapml_status status = backend_buffer_new(backend, sizeof(values), &x);

    status = status == TAPML_OK ? backend_buffer_new(backend, sizeof(values), &y) : status;
    status = status == TAPML_OK ? backend_write(backend, x, 0, values, sizeof(values)) : status;
    status = status == TAPML_OK ? far_backend_call(backend, x, NULL, y, COUNT) : status;
    status = status == TAPML_OK ? far_backend_call(backend, y, NULL, x, COUNT) : status;
    status = status == TAPML_OK ? backend_read(backend, x, 0, out_values, sizeof(values)) : status;
    status = status == TAPML_OK ? backend_wait(backend) : status;
    backend_buffer_free(backend, x);
    backend_buffer_free(backend, y);
    return status;
}

static void expect_the_same(void)
{
    memset(found, 0, sizeof(found));
    PAIRED_MUST(compute(both.far, found));
    PAIRED_MUST(compute(both.near, expected));
    cr_assert_eq(memcmp(found, expected, sizeof(found)), 0);
}

Test(remote, computes_what_this_machine_does)
{
    start();
    cr_assert_str_eq(backend_info(both.far)->component, "reference");
    cr_assert_not(backend_info(both.far)->is_host_memory);
    expect_the_same();
    expect_the_same();
    cr_assert_eq(backend_generation(both.far), 0);
}

// The second time the machine has the bytes.
Test(remote, sends_bytes_by_their_hash_once_they_are_there)
{
    start();
    expect_the_same();
    const struct remote_traffic first = remote_traffic(both.channel);

    expect_the_same();
    const struct remote_traffic second = remote_traffic(both.channel);

    cr_assert_geq(first.sent_bytes, sizeof(values) / 2);
    cr_assert_geq(first.named_bytes, 2 * sizeof(values));
    cr_assert_geq(second.placed_bytes - first.placed_bytes, sizeof(values) - 4096);
    cr_assert_lt(second.sent_bytes - first.sent_bytes, sizeof(values) / 4);
    far_backend_close(&both);
    far_backend_open(&both, &machine);
    expect_the_same();
    const struct remote_traffic another = remote_traffic(both.channel);

    cr_assert_geq(another.placed_bytes, sizeof(values) - 4096, "another session of the same host");
}

static uint64_t received_bytes(void)
{
    return remote_traffic(both.channel).received_bytes;
}

static void read_back(tapml_object *buffer, const float *values_there)
{
    memset(found, 0, sizeof(found));
    PAIRED_MUST(backend_read(both.far, buffer, 0, found, sizeof(found)));
    PAIRED_MUST(backend_wait(both.far));
    cr_assert_eq(memcmp(found, values_there, sizeof(found)), 0);
}

// What is as it was written, or was read before, does not come back; what a call has changed does.
Test(remote, is_not_sent_what_it_knows)
{
    start();
    PAIRED_MUST(compute(both.near, expected));
    tapml_object *x = far_backend_buffer(both.far, values, COUNT);
    tapml_object *y = far_backend_buffer(both.far, values, COUNT);

    PAIRED_MUST(backend_wait(both.far));
    uint64_t before = received_bytes();

    read_back(x, values);
    cr_assert_lt(received_bytes() - before, 4096);
    PAIRED_MUST(far_backend_call(both.far, x, NULL, y, COUNT));
    PAIRED_MUST(far_backend_call(both.far, y, NULL, x, COUNT));
    before = received_bytes();
    read_back(x, expected);
    cr_assert_gt(received_bytes() - before, sizeof(values) / 2);
    before = received_bytes();
    read_back(x, expected);
    cr_assert_lt(received_bytes() - before, 4096);
    backend_buffer_free(both.far, x);
    backend_buffer_free(both.far, y);
}

// What is written behind a read is not what that read gives.
Test(remote, knows_what_is_read_from_what_is_written_later)
{
    static float other[COUNT];

    start();
    tapml_object *x = far_backend_buffer(both.far, values, COUNT);
    tapml_object *y = far_backend_buffer(both.far, values, COUNT);

    for (size_t i = 0; i < COUNT; i++) {
        other[i] = values[i] + (i % 3000 == 0 ? 1.0f : 0.0f);
    }
    PAIRED_MUST(backend_read(both.far, x, 0, found, sizeof(found)));
    PAIRED_MUST(backend_write(both.far, x, 0, other, sizeof(other)));
    PAIRED_MUST(backend_read(both.far, x, 0, expected, sizeof(expected)));
    PAIRED_MUST(backend_copy(
        both.far,
        &(struct backend_copy){.source = x, .target = y, .size = COUNT / 2 * sizeof(float)}));
    PAIRED_MUST(backend_wait(both.far));
    cr_assert_eq(memcmp(found, values, sizeof(found)), 0);
    cr_assert_eq(memcmp(expected, other, sizeof(other)), 0);
    read_back(x, other);
    memcpy(other + COUNT / 2, values + COUNT / 2, sizeof(other) - COUNT / 2 * sizeof(float));
    read_back(y, other);
    backend_buffer_free(both.far, x);
    backend_buffer_free(both.far, y);
}

Test(remote, has_stamps_of_its_machine)
{
    uint64_t begin_ns = 0, end_ns = 0;

    start();
    tapml_object *x = far_backend_buffer(both.far, values, COUNT);

    PAIRED_MUST(backend_stamp(both.far, &begin_ns));
    PAIRED_MUST(far_backend_call(both.far, x, NULL, x, COUNT));
    PAIRED_MUST(backend_stamp(both.far, &end_ns));
    PAIRED_MUST(backend_wait(both.far));
    cr_assert_gt(begin_ns, 0);
    cr_assert_gt(end_ns, begin_ns);
    backend_buffer_free(both.far, x);
}

// A cache that is full, or has no room at all, is no fault.
Test(remote, needs_no_cache_at_its_machine)
{
    machine.cache_bytes = 0;
    start();
    expect_the_same();
    expect_the_same();
    cr_assert_eq(remote_traffic(both.channel).placed_bytes, 0);
    cr_assert_eq(backend_generation(both.far), 0);
}

// Files that somebody has removed: the work at hand is lost, but not a second time.
Test(remote, sends_again_what_its_machine_has_lost)
{
    start();
    expect_the_same();
    scratch_remove(&machine.caches);
    cr_assert_eq(mkdir(machine.caches.folder, 0700), 0);
    const tapml_status status = compute(both.far, found);

    cr_assert(status == TAPML_OK || strstr(status_message(), "is not there") != NULL, "%s",
              status_message());
    expect_the_same();
    expect_the_same();
    cr_assert_leq(backend_generation(both.far), 1);
}

// acc += 1, in buffers that stay there: a call that was lost, or made twice, would be seen.
static void count_up(unsigned calls, void (*disturb)(unsigned call))
{
    enum { FEW = 1000 };
    static float ones[FEW], sums[FEW];

    for (size_t i = 0; i < FEW; i++) {
        ones[i] = 1;
    }
    tapml_object *one = far_backend_buffer(both.far, ones, FEW);
    tapml_object *sum = far_backend_buffer(both.far, sums, FEW);
    tapml_object *next = far_backend_buffer(both.far, sums, FEW);

    for (unsigned i = 0; i < calls; i++) {
        tapml_object *const old = sum;

        disturb(i);
        PAIRED_MUST(far_backend_call(both.far, sum, one, next, FEW));
        sum = next;
        next = old;
        if (i % 4 == 3) {
            PAIRED_MUST(backend_read(both.far, sum, 0, found, sizeof(sums)));
            PAIRED_MUST(backend_wait(both.far));
            for (size_t k = 0; k < FEW; k++) {
                cr_assert_eq(found[k], (float)(i + 1));
            }
        } else if (i % 4 == 1) {
            PAIRED_MUST(backend_flush(both.far));
        }
    }
    cr_assert_eq(backend_generation(both.far), 0, "the worker has lived all the time");
    backend_buffer_free(both.far, one);
    backend_buffer_free(both.far, sum);
    backend_buffer_free(both.far, next);
}

static void cut_now_and_then(unsigned call)
{
    if (call % 3 == 2) {
        cutting_proxy_cut(&machine.proxy);
    }
}

Test(remote, makes_every_call_once_over_cuts, .timeout = 60)
{
    start();
    count_up(60, cut_now_and_then);
    cr_assert_gt(atomic_load(&machine.proxy.accepted), 15);
}

static void let_be(unsigned call)
{
}

// Cuts wherever so many bytes have gone, also in a handshake, or in the middle of a piece.
Test(remote, goes_on_whatever_is_on_its_way_when_it_is_cut, .timeout = 60)
{
    start();
    atomic_store(&machine.proxy.cut_bytes, 30000);
    cutting_proxy_cut(&machine.proxy);
    expect_the_same();
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = -values[i];
    }
    expect_the_same();
    count_up(100, let_be);
    cr_assert_gt(atomic_load(&machine.proxy.cuts), 10);
    cr_assert_eq(backend_generation(both.far), 0);
}

// -- What ends ---------------------------------------------------------------------------------

static void expect_failure(tapml_status status, const char *piece)
{
    cr_assert_neq(status, TAPML_OK);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
}

// The failure of work at hand when `disturb` is called.
static void expect_loss(void (*disturb)(void), const char *piece)
{
    tapml_object *x = far_backend_buffer(both.far, values, COUNT);
    tapml_object *y = far_backend_buffer(both.far, values, COUNT);

    PAIRED_MUST(far_backend_call(both.far, x, NULL, y, COUNT));
    PAIRED_MUST(backend_wait(both.far));
    disturb();
    tapml_status status = far_backend_call(both.far, y, NULL, x, COUNT);

    status = status == TAPML_OK ? backend_wait(both.far) : status;
    expect_failure(status, piece);
    backend_buffer_free(both.far, x);
    backend_buffer_free(both.far, y);
}

static void kill_the_worker(void)
{
    cr_assert_eq(far_machine_kill_workers(SIGKILL), 1);
}

Test(remote, says_how_its_worker_was_killed)
{
    start();
    expect_the_same();
    expect_loss(kill_the_worker, "was killed by SIGKILL");
    cr_assert_eq(backend_kills(both.far), 1, "nothing of this host's did that");
    expect_the_same();
    cr_assert_eq(backend_generation(both.far), 1);
}

Test(remote, says_which_call_crashed)
{
    far_machine_start(&machine);
    PAIRED_MUST(far_backend_try(&both, &machine, 20 * second_ns, "crash"));
    expect_the_same();
    expect_failure(compute(both.far, found), "was killed by SIGSEGV");
    cr_assert_not_null(strstr(status_message(), "silu"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "here"), "%s", status_message());
    cr_assert_eq(backend_kills(both.far), 0);
    cr_assert_eq(client_crash_count(both.far), 1);
}

static void start_the_machine_anew(void)
{
    far_machine_stop(&machine);
    far_machine_start(&machine);
}

Test(remote, starts_anew_at_a_machine_that_was_started_anew)
{
    start();
    expect_the_same();
    expect_loss(start_the_machine_anew, "is gone: its machine, or its program there");
    expect_the_same();
    cr_assert_eq(backend_generation(both.far), 1);
    cr_assert_eq(backend_kills(both.far), 1);
}

static void stop_the_machine(void)
{
    far_machine_stop(&machine);
}

// Its target is given up after that; a second start of the run goes on with it.
Test(remote, loses_patience_with_a_machine_that_is_out_of_reach)
{
    const uint64_t begin_ns = clock_now_ns();

    far_machine_start(&machine);
    PAIRED_MUST(far_backend_try(&both, &machine, second_ns, NULL));
    expect_loss(stop_the_machine, "was out of reach for 1");
    cr_assert_lt(clock_now_ns() - begin_ns, 10 * second_ns);
    expect_failure(compute(both.far, found), "was out of reach for 1");
    far_backend_close(&both);
    start();
    expect_the_same();
}

static void stop_the_worker(void)
{
    cr_assert_eq(far_machine_kill_workers(SIGSTOP), 1);
}

// More work than fits between the machine and its worker, which does nothing any more: neither the
// host's deadline nor the end of the machine waits for it.
Test(remote, ends_a_worker_that_takes_nothing_any_more, .timeout = 30)
{
    enum { CALLS = 5000 };
    tapml_status status = TAPML_OK;

    both.deadline_ns = second_ns;
    start();
    tapml_object *x = far_backend_buffer(both.far, values, 4);
    tapml_object *y = far_backend_buffer(both.far, values, 4);

    PAIRED_MUST(backend_wait(both.far));
    stop_the_worker();
    for (int i = 0; i < CALLS && status == TAPML_OK; i++) {
        status = far_backend_call(both.far, x, NULL, y, 4);
        status = status == TAPML_OK ? backend_flush(both.far) : status;
    }
    expect_failure(status == TAPML_OK ? backend_wait(both.far) : status,
                   "did not answer within 1 s");
    expect_the_same();
    backend_buffer_free(both.far, x);
    backend_buffer_free(both.far, y);
}

// -- A machine that dials ----------------------------------------------------------------------

static void start_turned(void)
{
    far_machine_turn(&machine);
    start();
}

Test(remote, waits_for_a_machine_that_dials)
{
    start_turned();
    expect_the_same();
    expect_the_same();
    cr_assert_eq(backend_generation(both.far), 0);
    far_backend_close(&both);
    far_backend_open(&both, &machine); // Another host, of the same key.
    expect_the_same();
}

Test(remote, makes_every_call_once_over_cuts_of_what_was_dialled, .timeout = 60)
{
    start_turned();
    count_up(30, cut_now_and_then);
    cr_assert_geq(atomic_load(&machine.proxy.accepted), 10);
}

Test(remote, finds_a_machine_that_dials_from_a_new_start)
{
    start_turned();
    expect_the_same();
    expect_loss(start_the_machine_anew, "is gone: its machine, or its program there");
    expect_the_same();
    cr_assert_eq(backend_kills(both.far), 1);
}

// The next start waits no longer than for one that listens.
Test(remote, loses_patience_where_nobody_dials)
{
    far_machine_turn(&machine);
    expect_failure(far_backend_try(&both, &machine, second_ns, NULL),
                   "the far one was out of reach for ");
    cr_assert_not_null(strstr(status_message(), "no worker has dialled 127.0.0.1:"), "%s",
                       status_message());
}

// -- What cannot be opened ---------------------------------------------------------------------

Test(remote, refuses_a_machine_that_is_not_paired)
{
    far_machine_start(&machine);
    PAIRED_MUST(peers_remove(machine.paired.sides[PAIRED_HOST].scratch.folder, "worker"));
    expect_failure(far_backend_try(&both, &machine, 20 * second_ns, NULL),
                   "shows a key that is not paired: 'tapml-host pair tapml://127.0.0.1:");
}

Test(remote, says_that_its_own_key_may_not_be_known_there)
{
    far_machine_start(&machine);
    PAIRED_MUST(peers_remove(machine.paired.sides[PAIRED_WORKER].scratch.folder, "host"));
    expect_failure(far_backend_try(&both, &machine, second_ns, NULL), "is this user paired there?");
}

Test(remote, says_that_nothing_listens)
{
    const uint64_t begin_ns = clock_now_ns();

    (void)snprintf(machine.url, sizeof(machine.url), "tapml://127.0.0.1:1");
    expect_failure(far_backend_try(&both, &machine, second_ns, NULL), "Connection refused");
    cr_assert_lt(clock_now_ns() - begin_ns, 8 * second_ns);
}

Test(remote, needs_an_address_and_a_key)
{
    struct channel *channel = NULL;
    const char *folder = machine.paired.sides[PAIRED_HOST].scratch.folder;

    cr_assert_eq(
        remote_create(&(struct remote_options){.url = "box:1", .folder = folder}, &channel),
        TAPML_INVALID);
    cr_assert_eq(
        remote_create(&(struct remote_options){.listen = "box", .folder = folder}, &channel),
        TAPML_INVALID);
    cr_assert_null(channel);
    (void)scratch_text(&machine.paired.sides[PAIRED_HOST].scratch, "key.pem", "none");
    cr_assert_eq(
        remote_create(&(struct remote_options){.url = machine.url, .folder = folder}, &channel),
        TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "key.pem"), "%s", status_message());
}

Test(remote, survives_a_lack_of_memory)
{
    struct channel *channel = NULL;
    const struct remote_options options = {
        .url = machine.url, .folder = machine.paired.sides[PAIRED_HOST].scratch.folder};

    SCRATCH_SWEEP(remote_create(&options, &channel));
    channel_release(channel);
}
