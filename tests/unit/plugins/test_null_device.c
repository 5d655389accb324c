// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/operand.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct plugin *open_null(void)
{
    const struct plugin_options options = {.library = "plugins/null/tapml-null.so",
                                           .component = "null"};
    tapml_call call = {0};
    struct plugin *plugin = NULL;

    cr_assert_eq(plugin_open(&options, &call, &plugin), TAPML_OK, "%s", call.message);
    return plugin;
}

Test(null_device, has_no_operator_and_says_so)
{
    struct plugin *plugin = open_null();
    const tapml_op_impl *const *list;
    const tapml_value args[3] = {0};
    tapml_call call = {0};
    uint32_t count = 7;

    cr_assert_eq(plugin_table(plugin)->ops(plugin_device(plugin), &call, &list, &count), TAPML_OK);
    cr_assert_eq(count, 0);

    const tapml_support support = plugin_supports(plugin, &tapml_add, args);

    cr_assert_eq(support.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(support.reason, "'tapml.add' is not written");
    cr_assert_eq(plugin_close(plugin), 0);
}

Test(null_device, has_one_device)
{
    struct plugin *plugin = open_null();
    tapml_object *device = NULL;
    tapml_call call = {0};

    cr_assert_str_eq(plugin_info(plugin)->id, "host");
    cr_assert_eq(plugin_table(plugin)->open(plugin_root(plugin), &call, "gpu", &device),
                 TAPML_NOT_FOUND);
    cr_assert_str_eq(call.message, "the only device is 'host'");
    cr_assert_eq(plugin_close(plugin), 0);
}

Test(null_device, has_memory_that_works)
{
    struct plugin *plugin = open_null();
    const tapml_backend *table = plugin_table(plugin);
    tapml_object *queue = plugin_queue(plugin), *a = NULL, *b = NULL;
    const uint32_t pattern[4] = {5, 5, 5, 5}, words[2] = {1, 2};
    uint32_t read[4] = {0};
    tapml_call call = {0};

    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, 16, &a), TAPML_OK);
    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, 16, &b), TAPML_OK);
    cr_assert_eq(table->queue_fill(queue, &call, a, 0, 16, 5), TAPML_OK);
    cr_assert_eq(table->queue_copy(queue, &call, a, 0, b, 0, 16), TAPML_OK);
    cr_assert_eq(table->queue_read(queue, &call, b, 0, read, 16), TAPML_OK);
    cr_assert_arr_eq(read, pattern, 16);
    cr_assert_eq(table->queue_write(queue, &call, b, 8, words, 8), TAPML_OK);
    cr_assert_eq(table->queue_read(queue, &call, b, 4, read, 12), TAPML_OK);
    cr_assert(read[0] == 5 && read[1] == 1 && read[2] == 2);
    cr_assert_eq(plugin_wait(plugin, &call), TAPML_OK);
    a->vt->release(a);
    plugin_refuse_memory(plugin, true);
    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, 16, &a), TAPML_NO_MEMORY);
    b->vt->release(b);
    cr_assert_eq(plugin_close(plugin), 0);
}

Test(null_device, timelines_are_counters)
{
    struct plugin *plugin = open_null();
    const tapml_backend *table = plugin_table(plugin);
    tapml_object *timeline;
    tapml_call call = {0};
    uint64_t value;

    cr_assert_eq(table->timeline_new(plugin_device(plugin), &call, 3, &timeline), TAPML_OK);
    cr_assert_eq(table->timeline_wait(timeline, &call, 4, 0), TAPML_DEADLINE);
    cr_assert_eq(table->queue_signal(plugin_queue(plugin), &call, (tapml_point){timeline, 4}),
                 TAPML_OK);
    cr_assert_eq(table->timeline_wait(timeline, &call, 4, 0), TAPML_OK);
    cr_assert_eq(table->timeline_value(timeline, &call, &value), TAPML_OK);
    cr_assert_eq(value, 4);
    timeline->vt->release(timeline);
    cr_assert_eq(plugin_close(plugin), 0);
}
