// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const unsigned char webgpu_page[]; // Written by kembed.
extern const size_t webgpu_page_size;

enum {
    STARTED_SECONDS = 60, // Until the page of a browser that we start is there,
    OPENED_SECONDS = 600, // and one that a person opens.
    GROUP_ITEMS_MIN = 128,
    SHARED_BYTES_MIN = 16384,
    GRID_MIN = 65535,
    BUFFER_BYTES_MIN = 1 << 20,
};

static const uint64_t second_ns = UINT64_C(1000000000);

// -- The page ----------------------------------------------------------------------------------

static void receive(void *user, const void *message, size_t size)
{
    answers_take(user, message, size);
}

// A number among the options; `fallback` where it is not set.
static tapml_status read_number(
    const struct driver_root *root, tapml_call *call, const char *key, long most, long *number)
{
    const char *value = root->host->core->option(root->host->host, key);
    char *end = NULL;

    if (value == NULL) {
        return TAPML_OK;
    }
    *number = strtol(value, &end, 10);
    return end != value && *end == '\0' && *number >= 1 && *number <= most
               ? TAPML_OK
               : gpu_fail(root->host, call, TAPML_INVALID, 0,
                          "option '%s' is '%s', expected a number from 1 to %ld", key, value, most);
}

static tapml_status start_server(struct driver_root *root, tapml_call *call)
{
    const char *listen = root->host->core->option(root->host->host, "listen");
    long port = 0;
    const tapml_status status = read_number(root, call, "port", UINT16_MAX, &port);

    if (status != TAPML_OK) {
        return status;
    }
    return server_create(
        &(struct server_options){
            .host = root->host,
            .listen = listen != NULL ? listen : "127.0.0.1",
            .port = (uint16_t)port,
            .page = webgpu_page,
            .page_size = webgpu_page_size,
            .receive = receive,
            .user = &root->answers,
        },
        call, &root->server);
}

// Starts the browser, or asks a person to open one.
static tapml_status start_browser(struct driver_root *root, tapml_call *call)
{
    const struct gpu_host *host = root->host;
    const char *address = server_address(root->server);
    char line[SERVER_ADDRESS_BYTES + 64];

    if (root->browser.path[0] != '\0') {
        return browser_start(&root->browser, host, call, address,
                             host->core->option(host->host, "browser-flags"));
    }
    const int length = snprintf(line, sizeof(line), "open %s in a browser; it opens once", address);

    host->core->log(host->host, TAPML_LOG_WARNING, line, (size_t)length); // Always shown.
    return TAPML_OK;
}

static tapml_status wait_for_hello(struct driver_root *root, tapml_call *call)
{
    const struct gpu_host *host = root->host;
    const int is_started = root->browser.process != 0;
    const uint64_t begin = gpu_clock_ns();
    long seconds = is_started ? STARTED_SECONDS : OPENED_SECONDS;
    char how[64];
    tapml_status status = read_number(root, call, "open-within", 86400, &seconds);

    while (status == TAPML_OK && !root->answers.has_hello) {
        if (is_started && browser_has_ended(&root->browser, how)) {
            return gpu_fail(host, call, TAPML_UNAVAILABLE, 0, "the browser '%s' %s at its start",
                            root->browser.path, how);
        }
        if (gpu_clock_ns() - begin > (uint64_t)seconds * second_ns) {
            return gpu_fail(host, call, TAPML_UNAVAILABLE, 0,
                            "no page was opened within %ld seconds", seconds);
        }
        status = driver_serve(root, call, second_ns / 4);
    }
    return status == TAPML_DEVICE_LOST ? TAPML_UNAVAILABLE : status; // It never was there.
}

// What the kernels rely on, whatever the page says.
static tapml_status check_limits(const struct driver_root *root, tapml_call *call)
{
    const struct answers_limits *limits = &root->answers.limits;
    const struct {
        const char *name;
        uint64_t offered, needed;
    } rows[] = {
        {"work items a group", limits->group_items, GROUP_ITEMS_MIN},
        {"shared bytes a group", limits->shared_bytes, SHARED_BYTES_MIN},
        {"groups on an axis", limits->grid, GRID_MIN},
        {"bytes a buffer", limits->buffer_bytes, BUFFER_BYTES_MIN},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].offered < rows[i].needed) {
            return gpu_fail(root->host, call, TAPML_UNAVAILABLE, 0,
                            "the page's device has %llu %s, at least %llu are needed",
                            (unsigned long long)rows[i].offered, rows[i].name,
                            (unsigned long long)rows[i].needed);
        }
    }
    return TAPML_OK;
}

void device_end_page(struct driver_root *root)
{
    // What is held back are releases; the page goes with all that it has.
    server_destroy(root->server);
    browser_stop(&root->browser);
    root->server = NULL;
    root->frames.size = 0;
    memset(&root->answers, 0, sizeof(root->answers));
}

static tapml_status open_page(struct driver_root *root, tapml_call *call)
{
    if (root->server != NULL) {
        return TAPML_OK;
    }
    tapml_status status = start_server(root, call);

    if (status == TAPML_OK) {
        status = start_browser(root, call);
    }
    if (status == TAPML_OK) {
        status = wait_for_hello(root, call);
    }
    if (status == TAPML_OK) {
        status = check_limits(root, call);
    }
    if (status != TAPML_OK) {
        device_end_page(root);
    }
    return status;
}

// -- Devices -----------------------------------------------------------------------------------

tapml_status device_describe(struct driver_root *root,
                             tapml_call *call,
                             uint32_t index,
                             struct gpu_description *out_description)
{
    if (index > 0) {
        return gpu_fail(root->host, call, TAPML_NOT_FOUND, 0, "a page has one device");
    }
    const tapml_status status = open_page(root, call);

    if (status != TAPML_OK) {
        return status;
    }
    struct gpu_description description = {.id = "page",
                                          .buffer_bytes = root->answers.limits.buffer_bytes};

    memcpy(description.name, root->answers.name, sizeof(root->answers.name));
    memcpy(description.driver, root->answers.driver, sizeof(root->answers.driver));
    *out_description = description;
    return TAPML_OK;
}

tapml_status device_open(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device)
{
    const struct answers_limits *limits = &root->answers.limits;
    const int has_subgroups =
        limits->subgroup_min > 0 && limits->subgroup_max >= limits->subgroup_min;
    uint32_t stream = 0;

    while (stream < ANSWERS_STREAM_MAX && (root->streams >> stream & 1u) != 0) {
        stream++;
    }
    if (stream == ANSWERS_STREAM_MAX) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0,
                        "the page is opened %d times, which is the maximum", stream);
    }
    struct driver_device *device = gpu_alloc(root->host, sizeof(*device));

    if (device == NULL) {
        return gpu_fail(root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    device->root = root;
    device->stream = stream;
    root->streams |= 1u << stream;
    root->answers.reached[stream] = 0;
    root->answers.signalled[stream] = 0;
    *out_limits = (struct gpu_limits){
        .group_items = limits->group_items,
        .shared_bytes = limits->shared_bytes,
        .grid = limits->grid,
        .subgroup_min = has_subgroups ? limits->subgroup_min : 0,
        .subgroup_max = has_subgroups ? limits->subgroup_max : 0,
        .features = (has_subgroups ? GPU_FEATURE_SUBGROUP : 0) |
                    (limits->is_cpu != 0 ? GPU_FEATURE_SERIAL : 0) |
                    (limits->has_f16 != 0 ? GPU_FEATURE_F16 : 0),
    };
    *out_device = device;
    return TAPML_OK;
}

// A stream of which something may still be answered is not given out again.
void device_close(struct driver_device *device)
{
    struct driver_root *root = device->root;
    const uint64_t last = root->answers.signalled[device->stream];
    uint64_t reached = 0;

    (void)queue_flush(device, NULL); // Where this fails, so does the wait.
    if (queue_wait(device, NULL, last, 10 * second_ns, &reached) == TAPML_OK && reached == last) {
        root->streams &= ~(1u << device->stream);
    }
    gpu_free(root->host, device, sizeof(*device));
}
