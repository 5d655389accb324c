// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_device.h"

#include "kit/kit_subject.h"
#include "plugin/device_table.h"

#include <inttypes.h>

static const uint64_t WAIT_NS = UINT64_C(20000000000);

int kit_device_expect(struct kit_device *device,
                      struct kit_result *io_result,
                      const char *function,
                      tapml_status status)
{
    const char *message = stand_in_message(device->host);

    if (status == TAPML_OK) {
        return 1;
    }
    if (status == TAPML_UNAVAILABLE) {
        kit_result_skip(io_result, "%s: %s", function,
                        message[0] != '\0' ? message : status_name(status));
    } else {
        kit_result_fail(io_result, "%s fails with '%s': %s", function, status_name(status),
                        message[0] != '\0' ? message : KIT_DEVICE_NO_MESSAGE);
    }
    return 0;
}

void kit_device_drop(tapml_object *object)
{
    if (object != NULL) {
        object->vt->release(object);
    }
}

// -- Opening -----------------------------------------------------------------------------------

// The same of a function that opens: one that is unavailable has no driver or no device.
static int expect_open(struct kit_device *device,
                       struct kit_result *io_result,
                       const char *function,
                       tapml_status status)
{
    const int is_open = kit_device_expect(device, io_result, function, status);

    if (!is_open) {
        kit_result_lack_device(io_result);
    }
    return is_open;
}

int kit_device_open_root(const struct kit_subject *subject,
                         struct kit_result *io_result,
                         struct kit_device *out_device)
{
    *out_device = (struct kit_device){.host = NULL};
    if (kit_subject_host(subject, &out_device->host) != TAPML_OK) {
        kit_result_skip(io_result, "%s", status_message());
        return 0;
    }
    return expect_open(out_device, io_result, "probe", stand_in_probe(out_device->host)) &&
           kit_device_enter(subject, io_result, out_device);
}

int kit_device_enter(const struct kit_subject *subject,
                     struct kit_result *io_result,
                     struct kit_device *io_device)
{
    if (!expect_open(io_device, io_result, "create",
                     stand_in_open(io_device->host, &io_device->root))) {
        return 0;
    }
    if (io_device->root == NULL || io_device->root->vt == NULL ||
        !TAPML_HAS_FN(tapml_object_vt, io_device->root->vt, interface_of)) {
        kit_result_fail(io_result, "create makes no object that can be asked");
        io_device->root = NULL;
        return 0;
    }
    io_device->table =
        io_device->root->vt->interface_of(io_device->root, subject->descriptor->kind);
    if (io_device->table == NULL) {
        kit_result_fail(io_result, "its object has no interface '%s'", subject->descriptor->kind);
    }
    return io_device->table != NULL;
}

static int find_device(const struct kit_subject *subject,
                       struct kit_result *io_result,
                       struct kit_device *io_device)
{
    const tapml_device_info *const *list = NULL;
    uint32_t count = 0, index = 0;

    if (device_table_check(io_device->table) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
        return 0;
    }
    if (!expect_open(io_device, io_result, "devices",
                     io_device->table->devices(io_device->root, stand_in_call(io_device->host),
                                               &list, &count))) {
        return 0;
    }
    if (device_table_check_list(list, count) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
        return 0;
    }
    if (device_table_find(subject->component, subject->device, list, count, &index) != TAPML_OK) {
        kit_result_skip(io_result, "%s", status_message());
        kit_result_lack_device(io_result);
        return 0;
    }
    io_device->info = list[index];
    return 1;
}

int kit_device_open_device(const struct kit_subject *subject,
                           struct kit_result *io_result,
                           struct kit_device *io_device)
{
    const tapml_backend *table = io_device->table;

    return find_device(subject, io_result, io_device) &&
           expect_open(io_device, io_result, "open",
                       table->open(io_device->root, stand_in_call(io_device->host),
                                   io_device->info->id, &io_device->device)) &&
           kit_device_expect(io_device, io_result, "queue_new",
                             table->queue_new(io_device->device, stand_in_call(io_device->host),
                                              &io_device->queue)) &&
           kit_device_expect(io_device, io_result, "timeline_new",
                             table->timeline_new(io_device->device, stand_in_call(io_device->host),
                                                 0, &io_device->timeline));
}

int kit_device_open(const struct kit_subject *subject,
                    struct kit_result *io_result,
                    struct kit_device *out_device)
{
    return kit_device_open_root(subject, io_result, out_device) &&
           kit_device_open_device(subject, io_result, out_device);
}

void kit_device_release(struct kit_device *device)
{
    kit_device_drop(device->timeline);
    kit_device_drop(device->queue);
    kit_device_drop(device->device);
    kit_device_drop(device->root);
    device->timeline = device->queue = device->device = device->root = NULL;
    device->signalled = 0;
}

void kit_device_close(struct kit_device *device)
{
    kit_device_release(device);
    if (device->host != NULL) {
        stand_in_shut(device->host);
    }
    stand_in_destroy(device->host);
    device->host = NULL;
}

// -- Calls -------------------------------------------------------------------------------------

tapml_object *
kit_device_buffer(struct kit_device *device, struct kit_result *io_result, uint64_t size)
{
    tapml_object *buffer = NULL;
    const tapml_status status =
        device->table->buffer_new(device->device, stand_in_call(device->host), 0, size, &buffer);

    return kit_device_expect(device, io_result, "buffer_new", status) ? buffer : NULL;
}

int kit_device_wait(struct kit_device *device, struct kit_result *io_result)
{
    const tapml_backend *table = device->table;
    const tapml_point point = {device->timeline, ++device->signalled};

    if (!kit_device_expect(
            device, io_result, "queue_signal",
            table->queue_signal(device->queue, stand_in_call(device->host), point))) {
        return 0;
    }
    if (table->queue_flush != NULL &&
        !kit_device_expect(device, io_result, "queue_flush",
                           table->queue_flush(device->queue, stand_in_call(device->host)))) {
        return 0;
    }
    return kit_device_expect(
        device, io_result, "timeline_wait",
        table->timeline_wait(device->timeline, stand_in_call(device->host), point.value, WAIT_NS));
}

// -- What is left ------------------------------------------------------------------------------

void kit_device_expect_no_growth(const struct process_usage *before,
                                 uint64_t rounds,
                                 uint64_t allowed_bytes,
                                 struct kit_result *io_result)
{
    struct process_usage after;

    if (process_usage_read(&after) != TAPML_OK) {
        return;
    }
    if (after.threads > before->threads) {
        kit_result_fail(io_result, "%" PRIu64 " creations leave %zu threads", rounds,
                        after.threads - before->threads);
    }
    if (after.descriptors > before->descriptors) {
        kit_result_fail(io_result, "%" PRIu64 " creations leave %zu descriptors open", rounds,
                        after.descriptors - before->descriptors);
    }
    if (after.children > before->children) {
        kit_result_fail(io_result, "%" PRIu64 " creations leave %zu processes", rounds,
                        after.children - before->children);
    }
    if (after.resident_bytes > before->resident_bytes &&
        after.resident_bytes - before->resident_bytes > allowed_bytes) {
        kit_result_fail(io_result, "each of %" PRIu64 " creations leaves %" PRIu64 " KiB of memory",
                        rounds, (after.resident_bytes - before->resident_bytes) / 1024 / rounds);
    }
}
