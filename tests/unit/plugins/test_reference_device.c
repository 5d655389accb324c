// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/reference.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(reference_device, its_devices_the_default_first)
{
    static const char *const ids[] = {"f32",         "f64",      "f32-reversed", "f32-blocked",
                                      "f16-rounded", "f16-sums", "bf16-sums"};
    struct plugin *plugin = reference_open(NULL, 1);
    const tapml_device_info *const *list;
    tapml_call call = {0};
    uint32_t count;

    cr_assert_eq(plugin_table(plugin)->devices(plugin_root(plugin), &call, &list, &count),
                 TAPML_OK);
    cr_assert_eq(count, 7);
    for (uint32_t i = 0; i < count; i++) {
        cr_assert_str_eq(list[i]->id, ids[i]);
        cr_assert_eq(list[i]->traits, TAPML_DEVICE_HOST_MEMORY | TAPML_DEVICE_DETERMINISTIC |
                                          TAPML_DEVICE_FILE_BLOCKS | TAPML_DEVICE_TILES);
        cr_assert_eq(list[i]->n_memory_types, 1);
    }
    cr_assert_str_eq(plugin_info(plugin)->id, "f32");
    reference_close(plugin);
}

Test(reference_device, an_unknown_device_is_not_found)
{
    struct plugin *plugin = reference_open(NULL, 1);
    tapml_object *device = NULL;
    tapml_call call = {0};

    cr_assert_eq(plugin_table(plugin)->open(plugin_root(plugin), &call, "f128", &device),
                 TAPML_NOT_FOUND);
    cr_assert_null(device);
    cr_assert_str_eq(call.message, "no device 'f128', the first is 'f32'");
    reference_close(plugin);
}

#define POINT(name_, NAME_) &tapml_##name_,

Test(reference_device, every_op_of_the_catalogue)
{
    static const tapml_op *const catalogue[] = {TAPML_OPS_EACH(POINT)};
    struct plugin *plugin = reference_open("f64", 1);
    const tapml_op_impl *const *list;
    tapml_call call = {0};
    uint32_t count;

    cr_assert_eq(plugin_table(plugin)->ops(plugin_device(plugin), &call, &list, &count), TAPML_OK);
    cr_assert_eq(count, sizeof(catalogue) / sizeof(catalogue[0]));
    for (size_t i = 0; i < count; i++) {
        size_t found = 0;

        for (size_t j = 0; j < count; j++) {
            found += strcmp(list[j]->op->name, catalogue[i]->name) == 0;
        }
        cr_assert_eq(found, 1, "%s", catalogue[i]->name);
        cr_assert_eq(list[i]->convention, 1);
    }
    reference_close(plugin);
}

Test(reference_device, a_queue_launches_no_kernels)
{
    struct plugin *plugin = reference_open(NULL, 1);
    tapml_object *queue = plugin_queue(plugin);

    cr_assert_null(queue->vt->interface_of(queue, TAPML_COUNTERS));
    cr_assert_not_null(queue->vt->interface_of(queue, TAPML_KIND_BACKEND));
    reference_close(plugin);
}

Test(reference_device, buffers_are_written_read_copied_filled_and_shown)
{
    static const char text[16] = "sixteen letters";
    struct plugin *plugin = reference_open(NULL, 1);
    const tapml_backend *table = plugin_table(plugin);
    tapml_object *queue = plugin_queue(plugin), *a, *b;
    unsigned char bytes[16];
    tapml_call call = {0};
    void *shown;

    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, 64, &a), TAPML_OK);
    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, 64, &b), TAPML_OK);
    cr_assert_eq(table->queue_write(queue, &call, a, 8, text, 16), TAPML_OK);
    cr_assert_eq(table->queue_fill(queue, &call, b, 0, 64, 0x01020304u), TAPML_OK);
    cr_assert_eq(table->queue_copy(queue, &call, a, 8, b, 32, 16), TAPML_OK);
    cr_assert_eq(table->queue_read(queue, &call, b, 32, bytes, 16), TAPML_OK);
    cr_assert_arr_eq(bytes, text, 16);
    cr_assert_eq(table->queue_read(queue, &call, b, 16, bytes, 16), TAPML_OK);
    for (size_t i = 0; i < 16; i += 4) {
        uint32_t word;

        memcpy(&word, bytes + i, sizeof(word));
        cr_assert_eq(word, 0x01020304u);
    }
    cr_assert_eq(table->buffer_map(b, &call, 32, 16, TAPML_ACCESS_READ, &shown), TAPML_OK);
    cr_assert_eq((uintptr_t)shown % 32, 0);
    cr_assert_arr_eq(shown, text, 16);
    cr_assert_eq(table->buffer_unmap(b, &call), TAPML_OK);
    a->vt->release(a);
    b->vt->release(b);
    reference_close(plugin);
}

Test(reference_device, a_wrapped_buffer_is_the_memory_itself)
{
    static const char text[8] = "written";
    struct plugin *plugin = reference_open(NULL, 1);
    const tapml_backend *table = plugin_table(plugin);
    char memory[8] = "";
    tapml_object *buffer;
    tapml_call call = {0};

    cr_assert_eq(table->buffer_wrap(plugin_device(plugin), &call, memory, 8,
                                    TAPML_ACCESS_READ | TAPML_ACCESS_WRITE, &buffer),
                 TAPML_OK);
    cr_assert_eq(table->queue_write(plugin_queue(plugin), &call, buffer, 0, text, 8), TAPML_OK);
    cr_assert_str_eq(memory, "written");
    buffer->vt->release(buffer);
    reference_close(plugin);
}

Test(reference_device, timelines_are_counters)
{
    struct plugin *plugin = reference_open(NULL, 1);
    const tapml_backend *table = plugin_table(plugin);
    tapml_object *timeline;
    tapml_call call = {0};
    uint64_t value;

    cr_assert_eq(table->timeline_new(plugin_device(plugin), &call, 7, &timeline), TAPML_OK);
    cr_assert_eq(table->timeline_value(timeline, &call, &value), TAPML_OK);
    cr_assert_eq(value, 7);
    cr_assert_eq(table->timeline_wait(timeline, &call, 8, 0), TAPML_DEADLINE);
    cr_assert_str_eq(call.message,
                     "the timeline stands at 7, and no work is queued that would raise it to 8");
    cr_assert_eq(table->queue_signal(plugin_queue(plugin), &call, (tapml_point){timeline, 9}),
                 TAPML_OK);
    cr_assert_eq(table->timeline_wait(timeline, &call, 8, 0), TAPML_OK);
    timeline->vt->release(timeline);
    reference_close(plugin);
}

Test(reference_device, no_memory_is_an_error_with_a_sentence)
{
    struct plugin *plugin = reference_open(NULL, 1);
    const tapml_backend *table = plugin_table(plugin);
    tapml_object *object = NULL;
    tapml_call call = {0};

    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, UINT64_MAX, &object),
                 TAPML_NO_MEMORY);
    plugin_refuse_memory(plugin, true);
    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, 16, &object), TAPML_NO_MEMORY);
    cr_assert_not_null(strstr(call.message, "no memory for "));
    cr_assert_eq(table->open(plugin_root(plugin), &call, "f64", &object), TAPML_NO_MEMORY);
    cr_assert_eq(table->queue_new(plugin_device(plugin), &call, &object), TAPML_NO_MEMORY);
    cr_assert_eq(table->timeline_new(plugin_device(plugin), &call, 0, &object), TAPML_NO_MEMORY);
    cr_assert_null(object);
    reference_close(plugin);
}
