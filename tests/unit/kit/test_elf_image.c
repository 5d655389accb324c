// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/scratch.h"
#include "kit/elf_image.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct scratch scratch;

static void begin(void)
{
    scratch_make(&scratch);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(elf_image, .init = begin, .fini = end);

static const char *find_plugin(void)
{
    static char path[4096];
    const char *build = getenv("TAPML_TEST_BUILD");

    (void)snprintf(path, sizeof(path), "%s/plugins/null/tapml-null.so",
                   build != NULL ? build : ".");
    return path;
}

Test(elf_image, a_plugin_exports_its_query)
{
    struct elf_image image;
    size_t exports = 0;

    cr_assert_eq(elf_image_read(find_plugin(), &image), TAPML_OK, "%s", status_message());
    for (size_t i = 0; i < image.symbol_count; i++) {
        exports += image.symbols[i].is_defined && !image.symbols[i].is_local &&
                   strcmp(image.symbols[i].name, "tapml_plugin_query_v1") == 0;
    }
    cr_expect_gt(image.needed_count, 0u); // The C library, or a sanitizer in its place.
    for (size_t i = 0; i < image.needed_count; i++) {
        cr_expect_eq(strncmp(image.needed[i], "lib", 3), 0, "%s", image.needed[i]);
    }
    cr_expect_eq(exports, 1u);
    cr_expect(image.has_relro && image.is_bound_now);
    cr_expect_not(image.has_text_relocations || image.has_executable_stack);
    elf_image_release(&image);
}

static void expect_refused(const char *path)
{
    struct elf_image image;

    cr_expect_neq(elf_image_read(path, &image), TAPML_OK);
    cr_expect_not_null(strstr(status_message(), path), "%s", status_message());
}

Test(elf_image, what_is_no_library_is_refused)
{
    expect_refused(scratch_text(&scratch, "text", "no library"));
    expect_refused(scratch_text(&scratch, "empty", ""));
    expect_refused("/nowhere/at/all.so");
}

// Whatever a file is cut to, it is read or refused.
Test(elf_image, a_library_that_is_cut_is_no_crash)
{
    char *bytes = malloc(1 << 20);
    FILE *file = fopen(find_plugin(), "re");
    const size_t size = bytes != NULL && file != NULL ? fread(bytes, 1, 1 << 20, file) : 0;

    cr_assert_gt(size, 4096u);
    for (size_t cut = 16; cut < size; cut += size / 40) {
        const char *path = scratch_write(&scratch, "cut.so", bytes, cut);
        struct elf_image image;

        if (elf_image_read(path, &image) == TAPML_OK) {
            elf_image_release(&image);
        }
    }
    (void)fclose(file);
    free(bytes);
}
