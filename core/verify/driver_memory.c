// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/driver_memory.h"

#include "base/alloc.h"

#include <string.h>

// On both sides of what drivers move at once: a word, a vector, a line, a page, a staging buffer.
static const uint32_t SIZES[] = {
    4,   8,    12,   20,   36,   60,    68,    124,
    252, 1020, 1028, 4092, 4100, 65532, 65540, DRIVER_TRIAL_LARGEST - 4};
enum { SIZE_COUNT = sizeof(SIZES) / sizeof(*SIZES), LARGE_BYTES = 32 << 20, END_BYTES = 4096 };

// One in three begins where the buffer does; the others at a word that begins no vector.
static uint64_t draw_offset(struct driver_trial *trial, size_t index)
{
    const uint64_t grain = TAPML_TRANSFER_GRAIN;
    return index % 3 == 0 ? 0 : grain + 2 * grain * random_below(&trial->random, 64);
}

// Makes one trial for each size.
static tapml_status try_sizes(struct driver_trial *trial,
                              tapml_status (*try_one)(struct driver_trial *trial,
                                                      struct driver_window window))
{
    for (size_t i = 0; i < SIZE_COUNT && !driver_trial_is_over(trial); i++) {
        const uint64_t offset = draw_offset(trial, i);
        if (offset + SIZES[i] > trial->bytes) { // The device has no buffer of that size.
            continue;
        }
        const struct driver_window window = driver_trial_window(trial, offset, SIZES[i]);
        driver_trial_begin(trial, offset, SIZES[i]);
        TAPML_TRY(driver_trial_prepare(trial, window));
        TAPML_TRY(try_one(trial, window));
    }
    return TAPML_OK;
}

// -- Transfers ---------------------------------------------------------------------------------

static tapml_status try_write(struct driver_trial *trial, struct driver_window window)
{
    const uint64_t offset = trial->result->offset;
    const uint64_t size = trial->result->size;
    driver_trial_draw(trial, trial->given + window.begin, window.size);
    TAPML_TRY(backend_write(trial->backend, trial->buffer, offset, trial->given + offset, size));
    TAPML_TRY(backend_wait(trial->backend));
    memcpy(trial->expected + offset, trial->given + offset, size);
    return driver_trial_look(trial, window, "a write");
}

tapml_status driver_memory_write(struct driver_trial *trial)
{
    return try_sizes(trial, try_write);
}

// Host memory beside the target of the read stays, too.
static tapml_status try_read(struct driver_trial *trial, struct driver_window window)
{
    const uint64_t offset = trial->result->offset;
    const uint64_t size = trial->result->size;
    driver_trial_draw(trial, trial->given + window.begin, window.size);
    memcpy(trial->found + window.begin, trial->given + window.begin, window.size);
    TAPML_TRY(backend_read(trial->backend, trial->buffer, offset, trial->found + offset, size));
    TAPML_TRY(backend_wait(trial->backend));
    memcpy(trial->given + offset, trial->expected + offset, size);
    driver_trial_compare(trial, trial->given + window.begin, trial->found + window.begin, window,
                         "a read");
    return TAPML_OK;
}

tapml_status driver_memory_read(struct driver_trial *trial)
{
    return try_sizes(trial, try_read);
}

static tapml_status try_fill(struct driver_trial *trial, struct driver_window window)
{
    const uint64_t offset = trial->result->offset;
    const uint64_t size = trial->result->size;
    const uint32_t pattern = (uint32_t)random_u64(&trial->random);
    TAPML_TRY(backend_fill(trial->backend, trial->buffer, offset, size, pattern));
    TAPML_TRY(backend_wait(trial->backend));
    driver_trial_repeat(trial->expected + offset, size, pattern);
    return driver_trial_look(trial, window, "a fill");
}

tapml_status driver_memory_fill(struct driver_trial *trial)
{
    return try_sizes(trial, try_fill);
}

// To the offset of the trial in a second buffer, from the one that is as far from the other end.
static tapml_status try_copy(struct driver_trial *trial, struct driver_window window)
{
    const uint64_t offset = trial->result->offset;
    const uint64_t size = trial->result->size;
    const uint64_t from = trial->bytes - size - offset;
    TAPML_TRY(driver_trial_prepare(trial, driver_trial_window(trial, from, size)));
    driver_trial_draw(trial, trial->given + window.begin, window.size);
    TAPML_TRY(backend_write(trial->backend, trial->output, window.begin,
                            trial->given + window.begin, window.size));
    TAPML_TRY(backend_wait(trial->backend));
    TAPML_TRY(backend_copy(trial->backend, &(struct backend_copy){.source = trial->buffer,
                                                                  .target = trial->output,
                                                                  .source_offset = from,
                                                                  .target_offset = offset,
                                                                  .size = size}));
    TAPML_TRY(backend_wait(trial->backend));
    memcpy(trial->given + offset, trial->expected + from, size);
    memset(trial->found + window.begin, 0, window.size);
    TAPML_TRY(backend_read(trial->backend, trial->output, window.begin, trial->found + window.begin,
                           window.size));
    TAPML_TRY(backend_wait(trial->backend));
    driver_trial_compare(trial, trial->given + window.begin, trial->found + window.begin, window,
                         "a copy");
    return TAPML_OK;
}

tapml_status driver_memory_copy(struct driver_trial *trial)
{
    TAPML_TRY(driver_trial_add_output(trial));
    const tapml_status status = try_sizes(trial, try_copy);
    if (status == TAPML_UNIMPLEMENTED) {
        driver_trial_skip(trial, "%s", status_message());
        return TAPML_OK;
    }
    return status;
}

// -- States ------------------------------------------------------------------------------------

// Filled, written, filled again as at the begin of a sequence: in a buffer that is as large as the
// state. The window is the whole bytes of it.
static tapml_status
reset(struct driver_trial *trial, tapml_object *state, uint64_t size, uint32_t initial)
{
    struct backend *backend = trial->backend;
    const uint64_t whole =
        (size + DRIVER_TRIAL_WHOLE - 1) / DRIVER_TRIAL_WHOLE * DRIVER_TRIAL_WHOLE;
    driver_trial_draw(trial, trial->given, whole);
    TAPML_TRY(backend_fill(backend, state, 0, size, initial));
    TAPML_TRY(backend_wait(backend));
    TAPML_TRY(backend_write(backend, state, 0, trial->given, whole));
    TAPML_TRY(backend_wait(backend));
    TAPML_TRY(backend_fill(backend, state, 0, size, initial));
    TAPML_TRY(backend_wait(backend));
    TAPML_TRY(backend_read(backend, state, 0, trial->found, whole));
    TAPML_TRY(backend_wait(backend));
    driver_trial_repeat(trial->expected, size, initial);
    driver_trial_compare(trial, trial->expected, trial->found, (struct driver_window){0, size},
                         "a reset by a fill");
    return TAPML_OK;
}

tapml_status driver_memory_reset(struct driver_trial *trial)
{
    static const uint32_t sizes[] = {12, 60, 260, 1028, 4100, 65540};
    static const uint32_t initials[] = {0, 0xff800000}; // Zero, and minus infinity.
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && !driver_trial_is_over(trial); i++) {
        const uint64_t bytes = sizes[i] + DRIVER_TRIAL_WHOLE - TAPML_TRANSFER_GRAIN;
        tapml_object *state = NULL;
        if (bytes > trial->bytes) {
            break;
        }
        driver_trial_begin(trial, 0, sizes[i]);
        TAPML_TRY(backend_buffer_new(trial->backend, bytes, &state));
        const tapml_status status = reset(trial, state, sizes[i], initials[i % 2]);
        backend_buffer_free(trial->backend, state);
        TAPML_TRY(status);
    }
    return TAPML_OK;
}

// -- Memory that is seen from both sides ---------------------------------------------------------

static tapml_status try_map(struct driver_trial *trial, struct driver_window window)
{
    const uint64_t offset = trial->result->offset;
    const uint64_t size = trial->result->size;
    const void *shown = NULL;
    (void)window;
    TAPML_TRY(backend_map(trial->backend, trial->buffer, offset, size, &shown));
    if (!shown) {
        driver_trial_skip(trial, "the device shows none of its memory");
        return TAPML_OK;
    }
    driver_trial_compare(trial, trial->expected + offset, shown,
                         (struct driver_window){offset, size}, "a map");
    backend_unmap(trial->backend, trial->buffer);
    return TAPML_OK;
}

tapml_status driver_memory_map(struct driver_trial *trial)
{
    return try_sizes(trial, try_map);
}

// Of wrapped memory a half is written by the host and read by the device, the other the other way
// round. Between both, and behind them, nothing changes.
static tapml_status
cross(struct driver_trial *trial, unsigned char *memory, tapml_object *wrapped, uint64_t size)
{
    struct backend *backend = trial->backend;
    driver_trial_draw(trial, trial->given, DRIVER_TRIAL_LARGEST / 4);
    TAPML_TRY(backend_read(backend, wrapped, 0, trial->found, size));
    TAPML_TRY(backend_write(backend, wrapped, size, trial->given, size));
    TAPML_TRY(backend_wait(backend));
    driver_trial_compare(trial, trial->expected, trial->found, (struct driver_window){0, size},
                         "a wrap and a read");
    memcpy(trial->expected + size, trial->given, size);
    driver_trial_compare(trial, trial->expected, memory,
                         (struct driver_window){0, 2 * size + DRIVER_TRIAL_WHOLE},
                         "a wrap and a write");
    return TAPML_OK;
}

static tapml_status try_wrap(struct driver_trial *trial, uint64_t offset, uint64_t size)
{
    const uint64_t bytes = 2 * size + DRIVER_TRIAL_WHOLE;
    unsigned char *block = alloc_raw(offset + bytes);
    tapml_object *wrapped = NULL;
    if (!block) {
        return status_no_memory();
    }
    driver_trial_draw(trial, trial->expected, bytes + sizeof(uint64_t) - bytes % sizeof(uint64_t));
    memcpy(block + offset, trial->expected, bytes);
    tapml_status status = backend_buffer_wrap(trial->backend, block + offset, 2 * size,
                                              TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, &wrapped);
    if (status == TAPML_OK) {
        status = cross(trial, block + offset, wrapped, size);
        const tapml_status waited = backend_wait(trial->backend); // Before the memory goes.
        status = status == TAPML_OK ? waited : status;
    }
    backend_buffer_free(trial->backend, wrapped);
    alloc_free(block);
    return status;
}

tapml_status driver_memory_wrap(struct driver_trial *trial)
{
    static const uint32_t sizes[] = {4, 60, 68, 1028, 4100, 65540};
    if (!backend_info(trial->backend)->is_host_memory) {
        driver_trial_skip(trial, "the device has memory of its own");
        return TAPML_OK;
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && !driver_trial_is_over(trial); i++) {
        const uint64_t offset = draw_offset(trial, i);
        if (2 * (uint64_t)sizes[i] > trial->bytes) {
            break;
        }
        driver_trial_begin(trial, offset, sizes[i]);
        TAPML_TRY(try_wrap(trial, offset, sizes[i]));
    }
    return TAPML_OK;
}

// -- A large buffer ----------------------------------------------------------------------------

// Both ends have bytes of their own, and the middle, which is a power of two away, has others.
static tapml_status try_ends(struct driver_trial *trial, tapml_object *large, uint64_t bytes)
{
    const uint64_t places[] = {0, bytes / 2 / DRIVER_TRIAL_WHOLE * DRIVER_TRIAL_WHOLE,
                               bytes - END_BYTES};
    enum { PLACES = sizeof(places) / sizeof(*places) };
    struct backend *backend = trial->backend;
    driver_trial_draw(trial, trial->expected, PLACES * END_BYTES);
    for (size_t i = 0; i < PLACES; i++) {
        TAPML_TRY(
            backend_write(backend, large, places[i], trial->expected + i * END_BYTES, END_BYTES));
        TAPML_TRY(backend_wait(backend));
    }
    for (size_t i = 0; i < PLACES; i++) {
        unsigned char *found = trial->found + i * END_BYTES;
        driver_trial_begin(trial, places[i], END_BYTES);
        memset(found, 0, END_BYTES);
        TAPML_TRY(backend_read(backend, large, places[i], found, END_BYTES));
        TAPML_TRY(backend_wait(backend));
        driver_trial_compare(trial, trial->expected + i * END_BYTES, found,
                             (struct driver_window){places[i], END_BYTES},
                             "a write to a large buffer");
    }
    return TAPML_OK;
}

tapml_status driver_memory_large(struct driver_trial *trial)
{
    const uint64_t most = backend_info(trial->backend)->buffer_bytes_max;
    const uint64_t whole = most / DRIVER_TRIAL_WHOLE * DRIVER_TRIAL_WHOLE;
    const uint64_t bytes = most == 0 || whole > LARGE_BYTES ? LARGE_BYTES : whole;
    tapml_object *large = NULL;
    if (bytes < 4 * END_BYTES) {
        driver_trial_skip(trial, "a buffer has %llu bytes at most", (unsigned long long)most);
        return TAPML_OK;
    }
    const tapml_status made = backend_buffer_new(trial->backend, bytes, &large);
    if (made == TAPML_NO_MEMORY) {
        driver_trial_skip(trial, "there is no memory for a buffer of %llu bytes",
                          (unsigned long long)bytes);
        return TAPML_OK;
    }
    TAPML_TRY(made);
    const tapml_status status = try_ends(trial, large, bytes);
    backend_buffer_free(trial->backend, large);
    return status;
}
