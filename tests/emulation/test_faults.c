// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// What cuda and metal say where the device fails, is too old or is not there, and what cuda makes
// of corrupted files in its cache. On the emulations, which fail when the environment asks for it.

#include "harness/plugin.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct plugin_options cuda = {.library = "plugins/cuda/tapml-cuda.so",
                                           .component = "cuda"};

// Fills a buffer, one launch each time, and waits.
static tapml_status fill(struct plugin *plugin, tapml_call *call, uint32_t times, uint32_t *value)
{
    const tapml_backend *table = plugin_table(plugin);
    tapml_object *buffer = NULL;

    cr_assert_eq(table->buffer_new(plugin_device(plugin), call, 0, 64, &buffer), TAPML_OK, "%s",
                 call->message);
    for (uint32_t i = 0; i < times; i++) {
        cr_expect_eq(table->queue_fill(plugin_queue(plugin), call, buffer, 0, 64, 7), TAPML_OK);
    }
    cr_expect_eq(table->queue_read(plugin_queue(plugin), call, buffer, 60, value, 4), TAPML_OK);
    const tapml_status status = plugin_wait(plugin, call);

    buffer->vt->release(buffer);
    return status;
}

static void expect_refusal(const char *sentence)
{
    struct plugin *plugin = NULL;
    tapml_call call = {0};

    cr_expect_eq(plugin_open(&cuda, &call, &plugin), TAPML_UNAVAILABLE);
    cr_expect_neq(strstr(call.message, sentence), NULL, "%s", call.message);
}

Test(cuda, no_device)
{
    (void)setenv("EMULATED_CUDA_FAULT", "absent", 1);
    expect_refusal("libcuda.so.1 finds no device: no CUDA-capable device is detected");
}

Test(cuda, device_older_than_the_compiler)
{
    (void)setenv("EMULATED_CUDA_CAPABILITY", "61", 1);
    expect_refusal("the device has compute capability 6.1, for which NVRTC 13.");
}

Test(cuda, no_compiler)
{
    static const char *const words[] = {"nvrtc", "libno-such.so", NULL};
    struct plugin_options options = cuda;
    struct plugin *plugin = NULL;
    tapml_call call = {0};

    options.options = words;
    cr_expect_eq(plugin_open(&options, &call, &plugin), TAPML_UNAVAILABLE);
    cr_expect_neq(strstr(call.message, "libno-such.so"), NULL, "%s", call.message);
}

struct notice {
    atomic_int calls, status;
};

static void note(void *user, tapml_status status)
{
    struct notice *notice = user;

    atomic_store(&notice->status, status);
    (void)atomic_fetch_add(&notice->calls, 1);
}

// What waits to be notified is told of a loss, once.
Test(cuda, notifies_of_a_loss)
{
    struct plugin *plugin = NULL;
    tapml_object *timeline = NULL, *buffer = NULL;
    struct notice notices[3] = {{0}};
    tapml_call call = {0};

    (void)setenv("EMULATED_CUDA_FAULT", "launch", 1);
    cr_assert_eq(plugin_open(&cuda, &call, &plugin), TAPML_OK, "%s", call.message);
    const tapml_backend *table = plugin_table(plugin);
    cr_assert_eq(table->timeline_new(plugin_device(plugin), &call, 0, &timeline), TAPML_OK);
    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, 64, &buffer), TAPML_OK);
    for (uint64_t i = 0; i < 3; i++) { // The third launch is the one that fails.
        cr_assert_eq(table->queue_fill(plugin_queue(plugin), &call, buffer, 0, 64, 7), TAPML_OK);
        cr_assert_eq(
            table->queue_signal(plugin_queue(plugin), &call, (tapml_point){timeline, i + 1}),
            TAPML_OK);
        cr_assert_eq(table->timeline_notify(timeline, &call, i + 1, note, &notices[i]), TAPML_OK);
    }
    cr_expect_eq(table->timeline_wait(timeline, &call, 3, UINT64_MAX), TAPML_DEVICE_LOST);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(atomic_load(&notices[i].calls), 1, "%d", i);
        cr_expect_eq(atomic_load(&notices[i].status), i < 2 ? TAPML_OK : TAPML_DEVICE_LOST, "%d",
                     i);
    }
    cr_expect_eq(table->timeline_notify(timeline, &call, 3, note, &notices[2]), TAPML_DEVICE_LOST);
    timeline->vt->release(timeline);
    buffer->vt->release(buffer);
    cr_expect_eq(atomic_load(&notices[2].calls), 1);
    cr_expect_eq(plugin_close(plugin), 0);
}

// Once the device is lost, everything is refused, also another queue, and nothing is kept.
Test(cuda, lost)
{
    struct plugin *plugin = NULL;
    tapml_object *buffer = NULL, *queue = NULL;
    uint32_t value = 0;
    tapml_call call = {0};

    (void)setenv("EMULATED_CUDA_FAULT", "launch", 1);
    cr_assert_eq(plugin_open(&cuda, &call, &plugin), TAPML_OK, "%s", call.message);
    cr_expect_eq(fill(plugin, &call, 1, &value), TAPML_OK, "%s", call.message);
    cr_expect_eq(value, 7);
    value = 0;
    cr_expect_eq(fill(plugin, &call, 3, &value), TAPML_DEVICE_LOST);
    cr_expect_neq(
        strstr(call.message, "the device is lost: an illegal memory access was encountered"), NULL,
        "%s", call.message);
    cr_expect_eq(value, 0, "a read behind the fault has arrived");
    cr_expect_eq(plugin_table(plugin)->queue_new(plugin_device(plugin), &call, &queue),
                 TAPML_DEVICE_LOST);
    if (plugin_table(plugin)->buffer_new(plugin_device(plugin), &call, 0, 64, &buffer) ==
        TAPML_OK) {
        cr_expect_neq(
            plugin_table(plugin)->queue_fill(plugin_queue(plugin), &call, buffer, 0, 64, 1),
            TAPML_OK);
        buffer->vt->release(buffer);
    }
    cr_expect_eq(plugin_close(plugin), 0);
}

static tapml_object *new_queue(struct plugin *plugin)
{
    tapml_object *queue = NULL;
    tapml_call call = {0};

    cr_assert_eq(plugin_table(plugin)->queue_new(plugin_device(plugin), &call, &queue), TAPML_OK,
                 "%s", call.message);
    return queue;
}

static void await(struct plugin *plugin, tapml_object *queue)
{
    const tapml_backend *table = plugin_table(plugin);
    tapml_object *timeline = NULL;
    tapml_call call = {0};

    cr_assert_eq(table->timeline_new(plugin_device(plugin), &call, 0, &timeline), TAPML_OK);
    cr_expect_eq(table->queue_signal(queue, &call, (tapml_point){timeline, 1}), TAPML_OK);
    cr_expect_eq(table->queue_flush(queue, &call), TAPML_OK);
    cr_expect_eq(table->timeline_wait(timeline, &call, 1, UINT64_MAX), TAPML_OK, "%s",
                 call.message);
    timeline->vt->release(timeline);
}

// Another queue works, with what the buffers held before the failure.
Test(metal, restarted)
{
    const struct plugin_options options = {.library = "tests/emulation/tapml-metal.so",
                                           .component = "metal"};
    const uint32_t sent[4] = {1, 2, 3, 4};
    uint32_t received[4] = {0}, value = 0;
    struct plugin *plugin = NULL;
    tapml_object *buffer = NULL;
    tapml_call call = {0};

    (void)setenv("EMULATED_METAL_FAULT", "launch", 1);
    cr_assert_eq(plugin_open(&options, &call, &plugin), TAPML_OK, "%s", call.message);
    const tapml_backend *table = plugin_table(plugin);
    cr_assert_eq(table->buffer_new(plugin_device(plugin), &call, 0, 16, &buffer), TAPML_OK);
    cr_expect_eq(table->queue_write(plugin_queue(plugin), &call, buffer, 0, sent, 16), TAPML_OK);
    cr_expect_eq(fill(plugin, &call, 3, &value), TAPML_INTERNAL);
    cr_expect_neq(strstr(call.message, "queued work has failed: a launch has faulted"), NULL, "%s",
                  call.message);
    cr_expect_eq(value, 0, "a read behind the fault has arrived");
    cr_expect_eq(table->queue_fill(plugin_queue(plugin), &call, buffer, 0, 16, 1), TAPML_INTERNAL);
    tapml_object *queue = new_queue(plugin);
    cr_expect_eq(table->queue_fill(queue, &call, buffer, 0, 4, 9), TAPML_OK, "%s", call.message);
    cr_expect_eq(table->queue_read(queue, &call, buffer, 0, received, 16), TAPML_OK);
    await(plugin, queue);
    cr_expect_eq(received[0], 9);
    cr_expect_arr_eq(received + 1, sent + 1, 12);
    buffer->vt->release(buffer);
    queue->vt->release(queue);
    cr_expect_eq(plugin_close(plugin), 0);
}

// -- The cache ---------------------------------------------------------------------------------

// The one file in the cache's folder.
static const char *cached_file(struct scratch *scratch)
{
    static char name[2 * SCRATCH_PATH];
    DIR *folder = opendir(scratch_path(scratch, "tapml/cuda"));
    uint32_t count = 0;

    cr_assert_not_null(folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        if (entry->d_name[0] != '.') {
            (void)snprintf(name, sizeof(name), "tapml/cuda/%.200s", entry->d_name);
            count++;
        }
    }
    (void)closedir(folder);
    cr_assert_eq(count, 1, "%u files", count);
    return name;
}

static void fill_once(void)
{
    struct plugin *plugin = NULL;
    uint32_t value = 0;
    tapml_call call = {0};

    cr_assert_eq(plugin_open(&cuda, &call, &plugin), TAPML_OK, "%s", call.message);
    cr_expect_eq(fill(plugin, &call, 1, &value), TAPML_OK, "%s", call.message);
    cr_expect_eq(value, 7);
    cr_expect_eq(plugin_close(plugin), 0);
}

static off_t size_of(struct scratch *scratch, const char *name, ino_t *out_number)
{
    struct stat info;

    cr_assert_eq(stat(scratch_path(scratch, name), &info), 0);
    *out_number = info.st_ino;
    return info.st_size;
}

// A whole file is used again; one that was cut, or that others may write to, is made anew.
Test(cuda, cache)
{
    struct scratch scratch;
    ino_t first = 0, again = 0;

    scratch_make(&scratch);
    (void)setenv("XDG_CACHE_HOME", scratch.folder, 1);
    fill_once();
    const char *name = cached_file(&scratch);
    const off_t size = size_of(&scratch, name, &first);

    fill_once();
    cr_expect_eq(size_of(&scratch, name, &again), size);
    cr_expect_eq(again, first, "it was compiled again");
    cr_assert_eq(truncate(scratch_path(&scratch, name), size - 1), 0);
    fill_once();
    cr_expect_eq(size_of(&scratch, name, &again), size);
    cr_assert_eq(chmod(scratch_path(&scratch, name), 0666), 0);
    fill_once();
    cr_expect_eq(size_of(&scratch, name, &first), size);
    cr_expect_neq(again, first, "a file that others can write to was read");
    scratch_remove(&scratch);
}
