// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/plain.h"
#include "verify/driver_memory.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

// A device whose memory is corrupted by a wrapper of the test.
struct forgetful {
    struct backend_wrapper wrapper; // First.
    struct backend_vt vt;
    tapml_object *first; // The buffer that it has made last, behind that of the trial.
};

static struct backend *plain;
static struct forgetful forgetful;

static void begin(void)
{
    plain = plain_create();
    forgetful = (struct forgetful){.vt = backend_forward_vt};
    forgetful.wrapper = (struct backend_wrapper){.backend = {.vt = &forgetful.vt}, .inner = plain};
}

static void end(void)
{
    backend_release(plain);
}

TestSuite(driver_memory, .init = begin, .fini = end);

typedef tapml_status check_fn(struct driver_trial *trial);

static struct driver_result run(check_fn *check)
{
    struct driver_result result = {.outcome = DRIVER_PASSED};
    struct driver_trial trial;
    MUST(driver_trial_open(&forgetful.wrapper.backend, NULL, 1, &result, &trial));
    MUST(check(&trial));
    driver_trial_close(&trial);
    return result;
}

static void expect(check_fn *check, enum driver_outcome outcome, const char *sentence)
{
    const struct driver_result result = run(check);
    cr_expect_eq(result.outcome, outcome, "%d: %s", (int)result.outcome, result.reason);
    cr_expect_not_null(strstr(result.reason, sentence), "'%s' lacks '%s'", result.reason, sentence);
}

Test(driver_memory, memory_that_does_what_it_shall_passes)
{
    expect(driver_memory_write, DRIVER_PASSED, "");
    expect(driver_memory_read, DRIVER_PASSED, "");
    expect(driver_memory_fill, DRIVER_PASSED, "");
    expect(driver_memory_copy, DRIVER_PASSED, "");
    expect(driver_memory_reset, DRIVER_PASSED, "");
    expect(driver_memory_wrap, DRIVER_PASSED, "");
    expect(driver_memory_large, DRIVER_PASSED, "");
}

// The second half of a large buffer is the first one once more, as with an offset of too few bits.
static tapml_status fold_write(struct backend *backend,
                               tapml_object *buffer,
                               uint64_t offset,
                               const void *source,
                               uint64_t size)
{
    (void)backend;
    return backend_write(plain, buffer, offset & ((16u << 20) - 1), source, size);
}

static tapml_status fold_read(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    (void)backend;
    return backend_read(plain, buffer, offset & ((16u << 20) - 1), target, size);
}

Test(driver_memory, an_offset_of_too_few_bits_shows_in_a_large_buffer)
{
    forgetful.vt.write = fold_write;
    forgetful.vt.read = fold_read;
    expect(driver_memory_write, DRIVER_PASSED, "");
    expect(driver_memory_large, DRIVER_FAILED,
           "after a write to a large buffer of 4096 bytes at 0");
}

// A fill of a pattern that the buffer was filled with before is left out.
static tapml_status lazy_fill(
    struct backend *backend, tapml_object *buffer, uint64_t offset, uint64_t size, uint32_t pattern)
{
    struct forgetful *lazy = (struct forgetful *)backend;
    const int is_known = lazy->first == buffer;
    lazy->first = buffer;
    return is_known ? TAPML_OK : backend_fill(plain, buffer, offset, size, pattern);
}

Test(driver_memory, a_reset_that_is_left_out_shows_old_rows)
{
    forgetful.vt.fill = lazy_fill;
    expect(driver_memory_reset, DRIVER_FAILED, "after a reset by a fill of 12 bytes at 0, byte 0");
}

// Source and target of a copy have each other's offset.
static tapml_status crossed_copy(struct backend *backend, const struct backend_copy *copy)
{
    struct backend_copy crossed = *copy;
    (void)backend;
    crossed.source_offset = copy->target_offset;
    crossed.target_offset = copy->source_offset;
    return backend_copy(plain, &crossed);
}

static tapml_status short_copy(struct backend *backend, const struct backend_copy *copy)
{
    struct backend_copy cut = *copy;
    (void)backend;
    cut.size = copy->size / 16 * 16;
    return backend_copy(plain, &cut);
}

Test(driver_memory, a_copy_at_another_offset_is_found)
{
    forgetful.vt.copy = crossed_copy;
    expect(driver_memory_copy, DRIVER_FAILED, "after a copy of 4 bytes at 0, byte 0");
}

Test(driver_memory, a_copy_that_drops_its_tail_is_found)
{
    forgetful.vt.copy = short_copy;
    expect(driver_memory_copy, DRIVER_FAILED, "after a copy of 4 bytes at 0, byte 0");
}

Test(driver_memory, a_device_without_a_copy_is_no_fault)
{
    forgetful.vt.copy = NULL;
    expect(driver_memory_copy, DRIVER_SKIPPED, "plain: it copies between no buffers");
}

// Wrapped memory is copied when it is wrapped, and not looked at again.
static tapml_status copy_wrapped(struct backend *backend,
                                 void *memory,
                                 uint64_t size,
                                 uint32_t access,
                                 tapml_object **out_buffer)
{
    (void)backend;
    (void)access;
    TAPML_TRY(backend_buffer_new(plain, size, out_buffer));
    memcpy(plain_bytes(*out_buffer), memory, size);
    return TAPML_OK;
}

Test(driver_memory, memory_that_is_copied_when_it_is_wrapped_is_found)
{
    forgetful.vt.buffer_wrap = copy_wrapped;
    expect(driver_memory_wrap, DRIVER_FAILED, "after a wrap and a write of 4 bytes at 0, byte 4");
}

static tapml_status no_memory(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    return size > 1u << 24 ? status_no_memory()
                           : backend_forward_vt.buffer_new(backend, size, out_buffer);
}

// The façade takes a wrapper with a `buffer_new` of its own for the maker of the buffers, so it is
// asked for the large one alone.
Test(driver_memory, a_lack_of_memory_for_a_large_buffer_is_no_fault)
{
    struct driver_result result = {.outcome = DRIVER_PASSED};
    struct driver_trial trial;
    MUST(driver_trial_open(&forgetful.wrapper.backend, NULL, 1, &result, &trial));
    forgetful.vt.buffer_new = no_memory;
    MUST(driver_memory_large(&trial));
    forgetful.vt.buffer_new = backend_forward_vt.buffer_new;
    driver_trial_close(&trial);
    backend_forget(&forgetful.wrapper.backend);
    cr_expect_eq(result.outcome, DRIVER_SKIPPED);
    cr_expect_not_null(strstr(result.reason, "there is no memory for a buffer of 33554432 bytes"));
}
