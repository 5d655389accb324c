// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "device/backend.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "run/vendor_program.h"

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct scratch scratch;
static const char *path;

// The device of a plugin, under a name of ours: no driver is needed.
static struct backend_info info;
static struct place place;

static const struct backend_info *give_info(const struct backend *backend)
{
    (void)backend;
    return &info;
}

static const struct backend_vt vt = {.info = give_info};
static struct backend device = {.vt = &vt};

static void begin(void)
{
    plugin_fixture_open(&plugins);
    scratch_make(&scratch);
    path = strdup(scratch_path(&scratch, "FAULT-1.c"));
    info = (struct backend_info){.device_name = "A device", .driver = "1.2"};
    place = (struct place){.settings = {.name = "gpu"}, .backend = &device};
}

static void end(void)
{
    free((char *)(uintptr_t)path);
    scratch_remove(&scratch);
    plugin_fixture_close(&plugins);
}

TestSuite(vendor_program, .init = begin, .fini = end);

static int write_program(const char *plugin, const char *component)
{
    const struct driver_result failure = {
        .outcome = DRIVER_FAILED, .offset = 44, .size = 8, .reason = "byte 44 is \\ wrong\nhere"};
    int is_written = -1;

    info.plugin = plugin;
    info.component = component;
    MUST(vendor_program_write(
        &(struct driver_bundle_options){
            .path = "", .place = &place, .check = 2, .seed = 9, .failure = &failure},
        plugins.registry, path, &is_written));
    return is_written;
}

// That of a plugin of this build, or the test is skipped.
static char *write_and_read(void)
{
    const char *file = NULL;
    char *text = NULL;
    size_t size = 0;

    if (registry_component_file(plugins.registry, "opencl", "vendor-program", &file) != TAPML_OK) {
        cr_skip_test("%s", status_message());
    }
    cr_assert_eq(write_program("org.tapml.opencl", "opencl"), 1);
    MUST(file_read(path, 1 << 20, &text, &size));
    return text;
}

static void expect_has(const char *text, const char *piece)
{
    cr_expect_not_null(strstr(text, piece), "'%s' is missing in\n%.1500s", piece, text);
}

Test(vendor_program, what_was_found_stands_behind_its_head)
{
    char *text = write_and_read();

    expect_has(text, "\n\n// Found on A device, driver 1.2, by the check 'fill':\n"
                     "// byte 44 is . wrong.here\n#define FOUND_CHECK  \"fill\"\n"
                     "#define FOUND_DEVICE \"A device\"\n#define FOUND_SEED   9\n"
                     "#define FOUND_OFFSET 44\n#define FOUND_SIZE   8\n\n#ifndef FOUND_CHECK\n");
    cr_expect_lt(strstr(text, "cc FILE.c"), strstr(text, "#define FOUND_CHECK"));
    expect_has(text, "\nint main(");
    cr_expect_null(strstr(text, "#include \"")); // It is one file.
    cr_expect_null(strstr(text, "#include <tapml"));
    alloc_free(text);
}

// A stranger's name ends neither the literal nor the comment.
Test(vendor_program, a_name_does_no_harm)
{
    info.device_name = "Good \" name\\";
    info.driver = "one\ntwo?\?/";
    char *text = write_and_read();

    expect_has(text, "// Found on Good \" name., driver one.two../, by");
    expect_has(text, "#define FOUND_DEVICE \"Good \"\n");
    alloc_free(text);
}

Test(vendor_program, a_component_without_one_has_none)
{
    scratch_text(&scratch, "FAULT-1.c", "of an earlier start");
    cr_expect_eq(write_program("org.tapml.cpu", "reference"), 0);
    cr_expect_not(file_exists(path));
    cr_expect_eq(write_program("org.tapml.nothing", "nothing"), 0);
}

Test(vendor_program, it_stands_beside_its_bundle)
{
    struct arena *arena = arena_create();

    cr_expect_str_eq(vendor_program_path("run/FAULT-12.tapmlrun", arena), "run/FAULT-12.c");
    cr_expect_str_eq(vendor_program_path("wrong", arena), "wrong.c");
    arena_destroy(arena);
}
