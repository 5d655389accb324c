// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/calls.h"
#include "plugin/device.h"
#include "plugin/process.h"
#include "zoo_folder.h"

static struct registry *registry;
static struct ini ini;
static struct backend *backend;

static void open_zoo(const char *name)
{
    const char *const names[] = {name, NULL};
    registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_open(registry, name, &backend), TAPML_OK, "%s", status_message());
}

static void setup(void)
{
    open_zoo("good");
}

static void teardown(void)
{
    backend_release(backend);
    registry_destroy(registry);
    ini_release(&ini);
}

TestSuite(device, .init = setup, .fini = teardown);

static const tapml_op *op_of(const char *name)
{
    const struct compiled_op *schema = catalogue_find(registry_catalogue(registry), name, 1);
    cr_assert_not_null(schema, "%s", name);
    return schema->op;
}

static tapml_object *buffer_of(const void *data, uint64_t size)
{
    tapml_object *buffer = NULL;
    cr_assert_eq(backend_buffer_new(backend, size, &buffer), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_write(backend, buffer, 0, data, size), TAPML_OK, "%s", status_message());
    return buffer;
}

static const int64_t four[] = {4};

static tapml_tensor tensor_of(tapml_object *buffer)
{
    return (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                          .dtype = TAPML_F32,
                          .rank = 1,
                          .shape = four,
                          .buffer = buffer};
}

// Runs org.example.trouble at an instance.
static tapml_status trouble(int64_t how, const char *instance)
{
    const float values[] = {1, 2, 3, 4};
    tapml_object *from = buffer_of(values, sizeof(values));
    tapml_object *to = buffer_of(values, sizeof(values));
    const tapml_tensor x = tensor_of(from);
    const tapml_tensor y = tensor_of(to);
    const tapml_value args[] = {
        {.kind = TAPML_P_TENSOR_IN, .u.p = &x},
        {.kind = TAPML_P_I64, .u.i = how},
        {.kind = TAPML_P_TENSOR_OUT, .u.p = &y},
    };
    const struct backend_call call = {
        .op = op_of("org.example.trouble"), .args = args, .instance = instance};
    const tapml_status status = calls_make(backend, &call);
    backend_buffer_free(backend, from);
    backend_buffer_free(backend, to);
    return status;
}

Test(device, reports_what_it_is)
{
    struct backend *second = NULL;
    const struct backend_info *info = backend_info(backend);
    cr_assert_str_eq(info->component, "good");
    cr_assert_str_eq(info->plugin, "org.example.good");
    cr_assert_str_eq(info->plugin_version, "1.0.0");
    cr_assert_str_eq(info->device, "first");
    cr_assert_str_eq(info->driver, "");
    cr_assert(info->is_host_memory);
    cr_assert_eq(info->buffer_bytes_max, 1 << 20);
    cr_assert_null(info->limits); // It has no such interface.
    cr_assert_eq(registry_open(registry, "good:0000:02/b", &second), TAPML_OK, "%s",
                 status_message());
    cr_assert_str_eq(backend_info(second)->driver, "zoo 1.0");
    cr_assert_not(backend_info(second)->is_host_memory);
    backend_release(second);
    cr_assert_eq(registry_open(registry, "good:third", &second), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "'first' '0000:02/b'"), "%s", status_message());
}

Test(device, brings_its_ops)
{
    cr_assert_eq(device_op_count(backend), 3);
    for (size_t i = 0; i < 3; ++i) {
        const tapml_op *op = device_op_at(backend, i);
        cr_assert_eq(op, catalogue_find(registry_catalogue(registry), op->name, op->version)->op);
        cr_assert(backend_has_op(backend, op));
    }
}

Test(device, calls_an_op_that_the_host_has_never_seen)
{
    const float values[] = {1, 2, 3, 4};
    float got[4] = {0};
    tapml_object *from = buffer_of(values, sizeof(values));
    tapml_object *to = buffer_of(got, sizeof(got));
    const tapml_tensor x = tensor_of(from);
    const tapml_tensor y = tensor_of(to);
    const tapml_tensor *const list[] = {&x, &x, &x};
    const tapml_value scale[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                 {.kind = TAPML_P_F64, .u.d = 2.5},
                                 {.kind = TAPML_P_TENSOR_OUT, .u.p = &y}};
    const tapml_value sum[] = {{.kind = TAPML_P_TENSORS_IN, .count = 3, .u.p = list},
                               {.kind = TAPML_V_NONE},
                               {.kind = TAPML_P_TENSOR_OUT, .u.p = &y}};
    struct backend_call call = {.op = op_of("org.example.scale"), .args = scale};
    cr_assert_eq(calls_make(backend, &call), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_read(backend, to, 0, got, sizeof(got)), TAPML_OK);
    cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(got[3], 10.0f);
    call = (struct backend_call){.op = op_of("org.example.sum"), .args = sum};
    cr_assert_eq(calls_make(backend, &call), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_read(backend, to, 0, got, sizeof(got)), TAPML_OK);
    cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(got[3], 12.0f);
    cr_assert_eq(backend_launches(backend), 6);

    // The same again allocates nothing.
    const size_t made = alloc_made();
    cr_assert_eq(calls_make(backend, &call), TAPML_OK);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_assert_eq(alloc_made(), made);
    backend_buffer_free(backend, from);
    backend_buffer_free(backend, to);
}

Test(device, checks_every_call_against_the_schema)
{
    const float values[] = {1, 2, 3, 4};
    const int64_t three[] = {3};
    tapml_object *buffer = buffer_of(values, sizeof(values));
    tapml_object *target = buffer_of(values, sizeof(values));
    tapml_tensor x = tensor_of(buffer);
    tapml_tensor y = tensor_of(target);
    tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                          {.kind = TAPML_P_F64, .u.d = 1},
                          {.kind = TAPML_P_TENSOR_OUT, .u.p = &y}};
    const struct backend_call call = {.op = op_of("org.example.scale"), .args = args};
    cr_assert_eq(calls_make(backend, &call), TAPML_OK, "%s", status_message());
    y.shape = three;
    cr_assert_eq(calls_make(backend, &call), TAPML_INVALID);
    y.shape = four;
    y.dtype = TAPML_F16;
    cr_assert_eq(calls_make(backend, &call), TAPML_INVALID);
    y.dtype = TAPML_F32;
    args[1].kind = TAPML_P_I64;
    cr_assert_eq(calls_make(backend, &call), TAPML_INVALID);
    args[1].kind = TAPML_P_F64;
    args[0].kind = TAPML_V_NONE;
    cr_assert_eq(calls_make(backend, &call), TAPML_INVALID);
    args[0].kind = TAPML_P_TENSOR_IN;
    const int64_t apart[] = {2};
    x.stride = apart;
    cr_assert_eq(calls_make(backend, &call), TAPML_INVALID, "a dense layout is asked for");
    x.stride = NULL;
    cr_assert_eq(calls_make(backend, &call), TAPML_OK, "%s", status_message());
    backend_buffer_free(backend, buffer);
    backend_buffer_free(backend, target);
}

Test(device, answers_what_it_supports)
{
    tapml_tensor x = tensor_of(NULL);
    const tapml_value scale[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                 {.kind = TAPML_P_F64, .u.d = 1},
                                 {.kind = TAPML_P_TENSOR_OUT, .u.p = &x}};
    const tapml_value wrong[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                 {.kind = TAPML_P_I64},
                                 {.kind = TAPML_P_TENSOR_OUT, .u.p = &x}};
    tapml_support answer;
    cr_assert_eq(backend_supports(backend, schema_of(op_of("org.example.scale")), scale, &answer),
                 TAPML_OK);
    cr_assert_eq(answer.grade, TAPML_SUPPORT_YES);
    cr_assert_eq(backend_supports(backend, schema_of(op_of("org.example.trouble")), wrong, &answer),
                 TAPML_OK);
    cr_assert_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(answer.reason, "it is trouble");
    cr_assert_eq(backend_supports(backend, schema_of(op_of("tapml.add")), wrong, &answer),
                 TAPML_OK);
    cr_assert_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(answer.reason, "it has no op 'tapml.add'");
}

// A plugin may list fewer dtypes than the host: it is asked for no others.
Test(device, asks_for_no_more_than_a_plugin_lists)
{
    const char *const names[] = {"fewer_dtypes", NULL};
    struct ini other_ini;
    struct registry *other = zoo_registry(names, NULL, &other_ini);
    struct backend *fewer = NULL;
    cr_assert_eq(registry_open(other, "fewer_dtypes", &fewer), TAPML_OK, "%s", status_message());
    const struct compiled_op *schema = catalogue_find(registry_catalogue(other), "tapml.silu", 1);
    tapml_object *from = NULL, *to = NULL;
    cr_assert_eq(backend_buffer_new(fewer, 16, &from), TAPML_OK);
    cr_assert_eq(backend_buffer_new(fewer, 16, &to), TAPML_OK);
    tapml_tensor x = tensor_of(from), y = tensor_of(to);
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &y}};
    const struct backend_call call = {.op = schema->op, .args = args};
    tapml_support answer;
    cr_assert_eq(backend_supports(fewer, schema, args, &answer), TAPML_OK);
    cr_assert_eq(answer.grade, TAPML_SUPPORT_YES, "%s", answer.reason);
    cr_assert_eq(calls_make(fewer, &call), TAPML_OK, "%s", status_message());
    x.dtype = y.dtype = TAPML_F16;
    cr_assert_eq(backend_supports(fewer, schema, args, &answer), TAPML_OK);
    cr_assert_eq(answer.grade, TAPML_SUPPORT_NO);
    cr_assert_str_eq(answer.reason, "tapml.silu: parameter 'x': dtype is f16, expected f32");
    cr_assert_eq(calls_make(fewer, &call), TAPML_INVALID);
    backend_buffer_free(fewer, from);
    backend_buffer_free(fewer, to);
    backend_release(fewer);
    registry_destroy(other);
    ini_release(&other_ini);
}

Test(device, an_error_of_a_call_names_op_and_instance)
{
    cr_assert_eq(trouble(0, "a"), TAPML_OK, "%s", status_message());
    cr_assert_eq(trouble(1, "layers.1/mlp/trouble"), TAPML_INVALID);
    cr_assert_str_eq(
        status_message(),
        "org.example.trouble at 'layers.1/mlp/trouble': good: trouble at once (zoo -7)");
    cr_assert_eq(trouble(4, NULL), TAPML_NO_MEMORY);
    cr_assert_not_null(strstr(status_message(), "without a message"), "%s", status_message());
    cr_assert_eq(backend_wait(backend), TAPML_OK);
}

Test(device, an_error_of_queued_work_names_the_call_it_comes_from)
{
    for (int i = 0; i < 5; ++i) {
        char instance[32];
        snprintf(instance, sizeof(instance), "layers.%d/op", i);
        cr_assert_eq(trouble(i == 2 ? 2 : 0, instance), TAPML_OK);
    }
    cr_assert_eq(backend_wait(backend), TAPML_INTERNAL);
    cr_assert_str_eq(status_message(),
                     "org.example.trouble at 'layers.2/op': good: trouble in the queue (zoo -7)");

    // A new queue has taken its place, and the launches of the old one still count.
    cr_assert_eq(backend_launches(backend), 15);
    cr_assert_eq(trouble(0, "again"), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_launches(backend), 18);
}

Test(device, points_grow_and_outlive_a_failure)
{
    struct backend_point points[3];
    cr_assert_eq(backend_signal(backend, &points[0]), TAPML_OK);
    cr_assert_eq(backend_wait_for(backend, points[0]), TAPML_OK, "nothing was queued");
    cr_assert_eq(trouble(0, "a"), TAPML_OK);
    cr_assert_eq(backend_signal(backend, &points[1]), TAPML_OK);
    cr_assert_eq(backend_signal(backend, &points[2]), TAPML_OK);
    cr_assert_gt(points[1].value, points[0].value);
    cr_assert_eq(points[1].value, points[2].value, "nothing was queued between them");
    cr_assert_eq(backend_wait_for(backend, points[1]), TAPML_OK, "%s", status_message());
    cr_assert_eq(trouble(2, "b"), TAPML_OK);
    cr_assert_eq(backend_signal(backend, &points[1]), TAPML_OK);
    cr_assert_eq(backend_wait_for(backend, points[1]), TAPML_INTERNAL);
    cr_assert_str_eq(status_message(),
                     "org.example.trouble at 'b': good: trouble in the queue (zoo -7)");
    cr_assert_eq(backend_wait_for(backend, points[1]), TAPML_OK, "nothing is queued any more");
    cr_assert_eq(trouble(0, "c"), TAPML_OK);
    cr_assert_eq(backend_signal(backend, &points[2]), TAPML_OK);
    cr_assert_gt(points[2].value, points[1].value);
    cr_assert_eq(backend_wait_for(backend, points[2]), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_wait(backend), TAPML_OK);
}

struct notice {
    int calls;
    tapml_status status;
};

static void note(void *user, tapml_status status)
{
    struct notice *notice = user;
    notice->calls++;
    notice->status = status;
}

static struct backend_point handed_over(void)
{
    struct backend_point point;
    cr_assert_eq(backend_signal(backend, &point), TAPML_OK);
    cr_assert_eq(backend_flush(backend), TAPML_OK);
    return point;
}

Test(device, notifies_of_points_and_failures)
{
    struct notice first = {0}, again = {0}, failed = {0}, later = {0};
    cr_assert_eq(trouble(0, "a"), TAPML_OK);
    const struct backend_point point = handed_over();
    cr_assert_eq(backend_notify(backend, point, note, &first), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_wait_for(backend, point), TAPML_OK);
    cr_expect(first.calls == 1 && first.status == TAPML_OK);
    cr_assert_eq(backend_notify(backend, point, note, &again), TAPML_OK, "%s", status_message());
    cr_expect(again.calls == 1 && again.status == TAPML_OK, "it is reached");

    cr_assert_eq(trouble(2, "b"), TAPML_OK);
    const struct backend_point bad = handed_over();
    cr_assert_eq(backend_notify(backend, bad, note, &failed), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_wait(backend), TAPML_INTERNAL);
    cr_expect(failed.calls == 1 && failed.status == TAPML_INTERNAL);
    cr_assert_eq(backend_notify(backend, bad, note, &later), TAPML_OK, "%s", status_message());
    cr_expect(later.calls == 1 && later.status == TAPML_OK, "nothing is queued any more");
}

// A device that is lost, or released, ends what waits to be notified.
Test(device, notifies_of_what_it_gives_up)
{
    struct notice notices[2] = {{0}};
    cr_assert_eq(trouble(2, "a"), TAPML_OK);
    cr_assert_eq(backend_notify(backend, handed_over(), note, &notices[0]), TAPML_OK);
    teardown();
    cr_expect(notices[0].calls == 1 && notices[0].status == TAPML_INTERNAL);

    setup();
    cr_assert_eq(trouble(2, "a"), TAPML_OK);
    const struct backend_point point = handed_over();
    cr_assert_eq(backend_notify(backend, point, note, &notices[1]), TAPML_OK);
    cr_assert_eq(trouble(5, "b"), TAPML_DEVICE_LOST);
    cr_expect_eq(notices[1].calls, 0);
    cr_assert_eq(backend_wait(backend), TAPML_DEVICE_LOST);
    cr_expect(notices[1].calls == 1 && notices[1].status == TAPML_INTERNAL);
    cr_expect_eq(backend_notify(backend, point, note, &notices[1]), TAPML_DEVICE_LOST);
    cr_expect_eq(notices[1].calls, 1);
}

// Runs a call on another animal, and returns what it says of a notification.
static tapml_status notify_on(const char *name, struct notice *notice)
{
    teardown();
    open_zoo(name);
    cr_assert_eq(trouble(0, "a"), TAPML_OK, "%s", status_message());
    const tapml_status status = backend_notify(backend, handed_over(), note, notice);
    cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
    return status;
}

// A table that ends sooner is one of an earlier minor. One that ends later is one of a later minor,
// and is used as far as it is known.
Test(device, looks_at_a_table_as_far_as_it_goes)
{
    struct notice notice = {0};
    cr_expect_eq(notify_on("older_table", &notice), TAPML_UNIMPLEMENTED);
    cr_expect_eq(notice.calls, 0);
    cr_expect_eq(notify_on("newer_table", &notice), TAPML_OK);
    cr_expect_eq(notice.calls, 1);
}

// Its plugin has no queue_wait, and says so.
Test(device, waits_for_points_as_its_plugin_can)
{
    struct backend_point point;
    cr_assert_eq(trouble(0, "a"), TAPML_OK);
    cr_assert_eq(backend_signal(backend, &point), TAPML_OK);
    cr_assert_eq(backend_queue_wait(backend, point), TAPML_UNIMPLEMENTED);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
}

Test(device, an_old_error_is_named_by_its_number)
{
    cr_assert_eq(trouble(2, "first"), TAPML_OK);
    for (int i = 0; i < 3000; ++i) {
        cr_assert_eq(trouble(0, "later"), TAPML_OK);
    }
    cr_assert_eq(backend_wait(backend), TAPML_INTERNAL);
    cr_assert_not_null(strstr(status_message(), "op call 1:"), "%s", status_message());
}

#if defined(__x86_64__)
Test(device, an_op_that_changes_the_floating_point_mode_is_wrong)
{
    const uint64_t mode = process_float_mode();
    cr_assert_eq(trouble(3, "layers.0/op"), TAPML_INTERNAL);
    cr_assert_not_null(strstr(status_message(), "floating-point mode"), "%s", status_message());
    cr_assert_eq(process_float_mode(), mode);
}
#endif

Test(device, transfers_are_in_whole_grains)
{
    char bytes[8] = "1234567";
    tapml_object *buffer = buffer_of(bytes, sizeof(bytes));
    cr_assert_eq(backend_write(backend, buffer, 2, bytes, 4), TAPML_INVALID);
    cr_assert_eq(backend_read(backend, buffer, 0, bytes, 3), TAPML_INVALID);
    cr_assert_eq(backend_fill(backend, buffer, 0, 6, 0), TAPML_INVALID);
    backend_buffer_free(backend, buffer);
    cr_assert_eq(backend_buffer_new(backend, 2 << 20, &buffer), TAPML_NO_MEMORY);
    cr_assert_str_eq(status_message(), "good: too large (zoo -7)");
}
