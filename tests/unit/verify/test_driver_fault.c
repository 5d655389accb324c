// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/clock.h"
#include "harness/plain.h"
#include "harness/scratch.h"
#include "verify/driver_fault.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { BYTES = 64 };

static struct backend *plain;
static struct driver_fault *fault;
static struct backend *backend;
static tapml_object *buffer;

// A buffer of sevens over memory of its own.
static void begin(void)
{
    plain = plain_create();
}

static void end(void)
{
    backend_release(plain);
}

TestSuite(driver_fault, .init = begin, .fini = end);

static void plant(const char *words, int64_t from_call)
{
    struct fault_rule rule = {.name = "fault.1",
                              .op = "*",
                              .instance = "*",
                              .words = words,
                              .from_call = from_call,
                              .probability = 1,
                              .seed = 1};
    MUST(fault_rule_parse(&rule));
    cr_assert(driver_fault_is_wanted(&rule, 1));
    MUST(driver_fault_create(plain, &rule, 1, &fault));
    backend = driver_fault_backend(fault);
    MUST(backend_buffer_new(backend, BYTES, &buffer));
    memset(plain_bytes(buffer), 7, BYTES);
}

static void uproot(void)
{
    backend_buffer_free(backend, buffer);
    driver_fault_destroy(fault);
}

static void expect_bytes(uint64_t begin_, uint64_t end_, unsigned char value)
{
    const unsigned char *bytes = plain_bytes(buffer);
    for (uint64_t i = begin_; i < end_; i++) {
        cr_assert_eq(bytes[i], value, "byte %d is %d, expected %d", (int)i, bytes[i], value);
    }
}

Test(driver_fault, a_fill_begins_at_the_start)
{
    plant("fill-start", 2);
    MUST(backend_fill(backend, buffer, 32, 8, 0));
    expect_bytes(32, 40, 0);
    cr_expect_eq(driver_fault_triggered(fault, 0), 0);
    MUST(backend_fill(backend, buffer, 48, 8, 0));
    expect_bytes(0, 8, 0);
    expect_bytes(8, 32, 7);
    expect_bytes(48, 56, 7);
    cr_expect_eq(driver_fault_triggered(fault, 0), 1);
    uproot();
}

Test(driver_fault, a_fill_leaves_out_its_tail)
{
    plant("fill-tail", 1);
    MUST(backend_fill(backend, buffer, 0, 32, 0));
    expect_bytes(0, 24, 0);
    expect_bytes(24, BYTES, 7);
    MUST(backend_fill(backend, buffer, 0, 4, 1));
    expect_bytes(0, 4, 0);
    uproot();
}

Test(driver_fault, a_write_leaves_out_what_is_no_vector)
{
    unsigned char ones[BYTES];
    memset(ones, 1, sizeof(ones));
    plant("write-tail", 1);
    MUST(backend_write(backend, buffer, 4, ones, 28));
    expect_bytes(4, 20, 1);
    expect_bytes(20, BYTES, 7);
    uproot();
}

Test(driver_fault, a_read_leaves_out_what_is_no_vector)
{
    unsigned char found[28];
    memset(found, 1, sizeof(found));
    plant("read-tail", 1);
    MUST(backend_read(backend, buffer, 0, found, sizeof(found)));
    cr_expect_eq(found[15], 7);
    cr_expect_eq(found[16], 1);
    uproot();
}

Test(driver_fault, a_write_waits_from_its_call_on)
{
    enum { DELAY_MS = 40 };
    const unsigned char ones[4] = {1, 1, 1, 1};
    plant("write-delay 40", 2);
    for (uint64_t i = 0; i < 3; i++) {
        const uint64_t begin_ns = clock_now_ns();
        MUST(backend_write(backend, buffer, i * sizeof(ones), ones, sizeof(ones)));
        cr_expect(i == 0 || clock_now_ns() - begin_ns >= DELAY_MS * UINT64_C(1000000));
        cr_expect_eq(driver_fault_triggered(fault, 0), i);
    }
    expect_bytes(0, 12, 1); // It is done all the same.
    expect_bytes(12, BYTES, 7);
    uproot();
}

Test(driver_fault, a_write_lands_behind_what_follows_it)
{
    unsigned char ones[BYTES];
    memset(ones, 1, sizeof(ones));
    plant("write-late", 1);
    MUST(backend_write(backend, buffer, 0, ones, 32));
    expect_bytes(0, 32, 7);
    MUST(backend_fill(backend, buffer, 0, 16, 0));
    expect_bytes(0, 32, 1);
    MUST(backend_write(backend, buffer, 32, ones, 32));
    expect_bytes(32, 64, 7);
    MUST(backend_wait(backend));
    expect_bytes(32, 64, 1);
    tapml_object *other = NULL;
    MUST(backend_buffer_new(backend, BYTES, &other));
    memset(ones, 2, sizeof(ones));
    MUST(backend_write(backend, buffer, 0, ones, 16));
    MUST(backend_copy(backend, &(struct backend_copy){buffer, other, 0, 0, 16}));
    expect_bytes(0, 16, 2); // Behind the copy, which has taken what was there.
    cr_expect_eq(*(const unsigned char *)plain_bytes(other), 1);
    backend_buffer_free(backend, other);
    uproot();
}

Test(driver_fault, faults_of_ops_are_none)
{
    struct fault_rule rule = {.name = "fault.1", .op = "*", .instance = "*", .words = "nan"};
    MUST(fault_rule_parse(&rule));
    cr_expect_not(driver_fault_is_wanted(&rule, 1));
}

static tapml_status make_and_destroy(const struct fault_rule *rule)
{
    struct driver_fault *made = NULL;
    TAPML_TRY(driver_fault_create(plain, rule, 1, &made));
    driver_fault_destroy(made);
    return TAPML_OK;
}

Test(driver_fault, a_lack_of_memory_is_a_status)
{
    struct fault_rule rule = {.name = "fault.1", .op = "*", .instance = "*", .words = "fill-tail"};
    MUST(fault_rule_parse(&rule));
    SCRATCH_SWEEP(make_and_destroy(&rule));
}
