// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "far.h"
#include "link/far_side.h"

static struct far far;
static const float values[] = {1, 2, 3, 4};
static const float zeros[4];

static void teardown(void)
{
    far_close(&far);
}

TestSuite(far_side, .fini = teardown);

Test(far_side, gives_an_error_of_a_call_to_the_wait_with_its_instance)
{
    far_open(&far, "good:first");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    float found[4];
    FAR_MUST(far_trouble(&far, x, y, 0, "a"));
    FAR_MUST(far_trouble(&far, x, y, 1, "layers.0/b"));
    FAR_MUST(backend_fill(far.backend, y, 0, sizeof(zeros), 0));
    cr_assert_eq(backend_wait(far.backend), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "layers.0/b"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "trouble at once"), "%s", status_message());
    FAR_MUST(backend_wait(far.backend));
    FAR_MUST(backend_read(far.backend, y, 0, found, sizeof(found)));
    cr_assert_arr_eq(found, values, sizeof(values), "what was queued behind it is left out");
    FAR_MUST(far_trouble(&far, x, y, 0, "c"));
    FAR_MUST(backend_wait(far.backend));
    cr_assert_eq(far_trouble(&far, x, y, 2, "layers.0/d"), TAPML_OK);
    cr_assert_eq(backend_wait(far.backend), TAPML_INTERNAL, "an error out of the queue");
    cr_assert_not_null(strstr(status_message(), "layers.0/d"), "%s", status_message());
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

static void ignore(void *user, tapml_status status)
{
}

static void waits_for_points(const char *device)
{
    float first[4] = {0}, second[4] = {0};
    struct backend_point points[2];
    far_open(&far, device);
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    FAR_MUST(backend_wait(far.backend));
    FAR_MUST(far_trouble(&far, x, y, 0, "a"));
    FAR_MUST(backend_read(far.backend, y, 0, first, sizeof(first)));
    FAR_MUST(backend_signal(far.backend, &points[0]));
    FAR_MUST(backend_signal(far.backend, &points[1]));
    cr_assert_eq(points[0].value, points[1].value, "nothing is queued between them");
    FAR_MUST(backend_fill(far.backend, y, 0, sizeof(zeros), 0));
    FAR_MUST(backend_read(far.backend, y, 0, second, sizeof(second)));
    second[0] = 9;
    FAR_MUST(backend_wait_for(far.backend, points[0]));
    cr_assert_arr_eq(first, values, sizeof(values));
    cr_assert_eq(second[0], 9, "what is queued behind the point is still under way");
    FAR_MUST(backend_wait_for(far.backend, points[0]));
    FAR_MUST(backend_signal(far.backend, &points[1]));
    cr_assert_gt(points[1].value, points[0].value);
    FAR_MUST(backend_wait_for(far.backend, points[1]));
    cr_assert_eq(second[0], 0);
    cr_assert_eq(backend_queue_wait(far.near, points[1]), TAPML_UNIMPLEMENTED);
    cr_assert_eq(backend_queue_wait(far.backend, points[1]), TAPML_UNIMPLEMENTED);
    cr_assert_eq(backend_notify(far.backend, points[1], ignore, NULL), TAPML_UNIMPLEMENTED);
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

Test(far_side, waits_for_points_of_host_memory)
{
    waits_for_points("good:first");
}

Test(far_side, waits_for_points_of_a_device)
{
    waits_for_points("good:0000:02/b");
}

Test(far_side, gives_an_error_to_the_wait_for_a_point)
{
    struct backend_point point;
    far_open(&far, "good:first");
    tapml_object *x = far_buffer(&far, values, sizeof(values));
    tapml_object *y = far_buffer(&far, zeros, sizeof(zeros));
    FAR_MUST(far_trouble(&far, x, y, 2, "layers.0/a"));
    FAR_MUST(backend_signal(far.backend, &point));
    FAR_MUST(far_trouble(&far, x, y, 0, "layers.0/b"));
    cr_assert_eq(backend_wait_for(far.backend, point), TAPML_INTERNAL);
    cr_assert_not_null(strstr(status_message(), "layers.0/a"), "%s", status_message());
    FAR_MUST(backend_wait_for(far.backend, point));
    FAR_MUST(far_trouble(&far, x, y, 0, "layers.0/c"));
    FAR_MUST(backend_wait(far.backend));
    backend_buffer_free(far.backend, x);
    backend_buffer_free(far.backend, y);
}

// A far side that ends whatever it is asked.
struct ending {
    struct channel channel; // First.
    int starts;
    int is_released;
};

static void ending_release(struct channel *channel)
{
    ((struct ending *)channel)->is_released = 1;
}

static tapml_status ending_start(struct channel *channel)
{
    ((struct ending *)channel)->starts++;
    return TAPML_OK;
}

static tapml_status
ending_send(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    return TAPML_OK;
}

static tapml_status
ending_receive(struct channel *channel, uint64_t timeout_ns, struct wire_frame *out_frame)
{
    return status_fail(TAPML_INTERNAL, "was killed by SIGSEGV");
}

static void ending_stop(struct channel *channel)
{
}

static const char *ending_last_words(struct channel *channel)
{
    return "ouch";
}

// One end while it opens is tried again, a second one is the answer.
Test(far_side_alone, is_started_twice_before_it_is_given_up)
{
    static const struct channel_vt vt = {
        ending_release, ending_start,      ending_send, ending_receive,
        ending_stop,    ending_last_words, NULL};
    struct ending ending = {.channel.vt = &vt};
    static struct far_side far_side;
    const struct far_side_options options = {.channel = &ending.channel};
    cr_assert_eq(far_side_open(&far_side, &options), TAPML_INTERNAL);
    cr_assert_str_eq(status_message(), "opening: the worker was killed by SIGSEGV; it wrote: ouch");
    cr_assert_eq(ending.starts, 2);
    cr_assert_eq(far_side.crash_count, 2);
    cr_assert(!far_side.is_up);
    cr_assert_eq(far_side_ready(&far_side), TAPML_DEVICE_LOST);
    cr_assert_eq(ending.starts, 4, "each use starts it again, twice");
    cr_assert_eq(far_side_ready(&far_side), TAPML_DEVICE_LOST);
    cr_assert_eq(ending.starts, 4, "until it is lost");
    far_side_release(&far_side);
    cr_assert(ending.is_released);
}
