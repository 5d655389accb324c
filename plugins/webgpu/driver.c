// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include "sources.h"

#include <stdio.h>
#include <string.h>

extern const struct k_kernel wgsl_kernels[]; // Written by kembed.

enum {
    LARGE_BYTES = 1 << 20, // From here on the page says when it is done with a message,
    LARGE_MAX = 8,         // so that no more than so many lie in its memory.
    ROOM_BYTES = 64,       // Of the frame that asks for it, and a bit.
};

static const uint64_t second_ns = UINT64_C(1000000000);
static const uint64_t answer_ns_max = UINT64_C(120000000000); // For what the page does at once.

// -- Failures ----------------------------------------------------------------------------------

// How the page went, as far as it can be seen.
static tapml_status fail_gone(struct driver_root *root, tapml_call *call)
{
    char how[64];

    for (int i = 0; root->browser.process != 0 && i < 10; i++) { // The socket is closed first.
        if (browser_has_ended(&root->browser, how)) {
            return gpu_fail(root->host, call, TAPML_DEVICE_LOST, 0, "the browser '%s' %s",
                            root->browser.path, how);
        }
        server_serve(root->server, second_ns / 20);
    }
    return gpu_fail(root->host, call, TAPML_DEVICE_LOST, 0,
                    "the page has gone: it was closed, or the network to it is");
}

static tapml_status check(struct driver_root *root, tapml_call *call)
{
    const struct answers *answers = &root->answers;
    const struct gpu_host *host = root->host;

    switch (answers->failure) {
    case ANSWERS_NO_DEVICE:
        return gpu_fail(host, call, TAPML_UNAVAILABLE, 0, "the page cannot compute: %s",
                        answers->message);
    case ANSWERS_LOST:
        return gpu_fail(host, call, TAPML_DEVICE_LOST, 0, "the device is lost: %s",
                        answers->message);
    case ANSWERS_WRONG:
        if (call != NULL && answers->culprit != 0) {
            host->core->blame(call, answers->culprit);
        }
        return gpu_fail(host, call, TAPML_INTERNAL, 0, "%s", answers->message);
    case ANSWERS_FINE:
        break;
    }
    return server_has_ended(root->server) ? fail_gone(root, call) : TAPML_OK;
}

// From here on nothing of the page is taken: the host may take back the memory of its reads.
static void give_up(struct driver_root *root)
{
    root->answers.failure = ANSWERS_LOST;
    (void)snprintf(root->answers.message, sizeof(root->answers.message),
                   "the page does not answer any more");
}

// -- Commands ----------------------------------------------------------------------------------

tapml_status driver_serve(struct driver_root *root, tapml_call *call, uint64_t timeout_ns)
{
    server_serve(root->server, timeout_ns);
    if (call != NULL && root->host->core->cancelled(call) != 0) {
        return gpu_fail(root->host, call, TAPML_CANCELLED, 0, "cancelled");
    }
    return check(root, call);
}

// Asks for a report when the page is done with a large message, and waits for earlier ones if the
// page has too many.
static tapml_status keep_pace(struct driver_root *root, tapml_call *call)
{
    struct answers *answers = &root->answers;
    const uint64_t begin = gpu_clock_ns();
    tapml_status status = TAPML_OK;

    wire_begin(&root->frames, DRIVER_LARGE, ++root->number);
    wire_put_u64(&root->frames, answers->sent + 1);
    wire_end(&root->frames);
    while (status == TAPML_OK && answers->sent - answers->taken >= LARGE_MAX) {
        if (gpu_clock_ns() - begin > answer_ns_max) {
            give_up(root);
        }
        status = driver_serve(root, call, second_ns);
    }
    answers->sent++;
    return status;
}

tapml_status driver_flush(struct driver_root *root, tapml_call *call)
{
    tapml_status status = check(root, call);

    if (status == TAPML_OK && root->frames.size >= LARGE_BYTES) {
        status = keep_pace(root, call);
    }
    if (status == TAPML_OK) {
        if (!server_send(root->server, root->frames.data, root->frames.size)) {
            give_up(root);
        }
        status = check(root, call);
    }
    root->frames.size = 0; // If it failed, no page is there to take it.
    return status;
}

tapml_status
driver_begin(struct driver_root *root, tapml_call *call, enum driver_verb verb, size_t bytes)
{
    if (root->frames.size + WIRE_HEADER_BYTES + bytes + ROOM_BYTES > DRIVER_FRAMES_BYTES) {
        const tapml_status status = driver_flush(root, call);

        if (status != TAPML_OK) {
            return status;
        }
    }
    if (WIRE_HEADER_BYTES + bytes + ROOM_BYTES > DRIVER_FRAMES_BYTES) {
        return gpu_fail(root->host, call, TAPML_INTERNAL, 0, "a command of %zu bytes", bytes);
    }
    wire_begin(&root->frames, (uint16_t)verb, ++root->number);
    return TAPML_OK;
}

tapml_status
driver_make(struct driver_root *root, tapml_call *call, tapml_status code, const char *what)
{
    struct answers *answers = &root->answers;
    const uint64_t begin = gpu_clock_ns();

    answers->asked = root->number;
    tapml_status status = driver_flush(root, call);

    while (status == TAPML_OK && answers->made != answers->asked) {
        if (gpu_clock_ns() - begin > answer_ns_max) {
            give_up(root);
        }
        status = driver_serve(root, call, second_ns);
    }
    if (status == TAPML_OK && answers->refusal[0] != '\0') {
        return gpu_fail(root->host, call, code, 0, "%s: %s", what, answers->refusal);
    }
    return status;
}

// -- Life --------------------------------------------------------------------------------------

// The frames have all the room that they get.
static void *grow(void *data, size_t used, size_t size)
{
    return NULL;
}

static void unload(struct driver_root *root)
{
    device_end_page(root);
    gpu_free(root->host, root->frames.data, DRIVER_FRAMES_BYTES);
    gpu_free(root->host, root, sizeof(*root));
}

// Looks for the browser and does not start it: to be listed costs nothing.
static tapml_status find_browser(struct driver_root *root, tapml_call *call)
{
    const char *name = root->host->core->option(root->host->host, "browser");

    if (name != NULL && strcmp(name, "none") == 0) {
        return TAPML_OK;
    }
    return browser_find(&root->browser, root->host, call, name != NULL ? name : "chromium");
}

static tapml_status
load(const struct gpu_host *host, tapml_call *call, struct driver_root **out_root)
{
    struct driver_root *root = gpu_alloc(host, sizeof(*root));

    if (root == NULL) {
        return gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    root->host = host;
    root->frames = (struct wire_writer){.grow = grow,
                                        .data = gpu_alloc(host, DRIVER_FRAMES_BYTES),
                                        .capacity = DRIVER_FRAMES_BYTES};
    const tapml_status status = root->frames.data == NULL
                                    ? gpu_fail(host, call, TAPML_NO_MEMORY, 0, "out of memory")
                                    : find_browser(root, call);

    if (status != TAPML_OK) {
        unload(root);
        return status;
    }
    *out_root = root;
    return TAPML_OK;
}

const struct gpu_driver driver_table = {
    .id = "webgpu",
    .kernels = wgsl_kernels,
    .load = load,
    .unload = unload,
    GPU_DRIVER_ENTRIES,
    .sources = DRIVER_SOURCES,
    .passing = GPU_PASSES_BINDINGS,
};
