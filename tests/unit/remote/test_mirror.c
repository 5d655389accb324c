// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "link/message.h"
#include "remote/mirror.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { BYTES = 100000, BYTES_MAX = 1 << 20 };
static const uint32_t import_2 = 2 | MESSAGE_IS_IMPORT;
static struct mirror mirror;

static void teardown(void)
{
    mirror_release(&mirror);
}

TestSuite(mirror, .fini = teardown);

static int make(uint32_t number, uint64_t bytes)
{
    int descriptor = -1;

    MUST(mirror_make(&mirror, number, bytes, BYTES_MAX, &descriptor));
    cr_assert_geq(descriptor, 0);
    return descriptor;
}

static void refuse(uint32_t number, uint64_t bytes, const char *piece)
{
    int descriptor = -1;

    cr_assert_eq(mirror_make(&mirror, number, bytes, BYTES_MAX, &descriptor), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
    cr_assert_eq(descriptor, -1);
}

Test(mirror, makes_memory_that_reads_as_zeros)
{
    make(0, BYTES);
    cr_assert_eq(mirror_next_region(&mirror), 1);
    const unsigned char *memory = mirror_span(&mirror, 0, 0, BYTES);

    cr_assert_not_null(memory);
    for (size_t i = 0; i < BYTES; i++) {
        cr_assert_eq(memory[i], 0);
    }
    make(import_2, BYTES);
    cr_assert_eq(mirror_next_region(&mirror), 1, "an import is no region");
    cr_assert_neq(mirror_span(&mirror, import_2, 0, 1), NULL);
    cr_assert_null(mirror_span(&mirror, 2, 0, 1));
}

Test(mirror, has_spans_inside_of_memory_alone)
{
    make(3, BYTES);
    const unsigned char *memory = mirror_span(&mirror, 3, 0, 1);

    cr_assert_eq(mirror_span(&mirror, 3, 10, BYTES - 10), memory + 10);
    cr_assert_eq(mirror_span(&mirror, 3, BYTES, 0), memory + BYTES);
    cr_assert_null(mirror_span(&mirror, 3, 10, BYTES - 9));
    cr_assert_null(mirror_span(&mirror, 3, BYTES, 1));
    cr_assert_null(mirror_span(&mirror, 3, BYTES + 1, 0));
    cr_assert_null(mirror_span(&mirror, 3, UINT64_MAX, 2), "the sum wraps");
    cr_assert_null(mirror_span(&mirror, 3, 2, UINT64_MAX));
    cr_assert_null(mirror_span(&mirror, 2, 0, 1), "a gap in the numbers");
    cr_assert_null(mirror_span(&mirror, 4, 0, 1));
    cr_assert_null(mirror_span(&mirror, UINT32_MAX, 0, 1));
    cr_assert_null(mirror_span(&mirror, MESSAGE_IS_IMPORT, 0, 1));
}

Test(mirror, refuses_a_number_that_is_taken_or_cannot_be)
{
    make(1, BYTES);
    refuse(1, BYTES, "there is memory 1 already");
    make(import_2, BYTES);
    refuse(import_2, 1, "already");
    refuse(1 << 20, BYTES, "cannot be");
    refuse(UINT32_MAX, BYTES, "cannot be");
    refuse(5, 0, "memory 5 of 0 bytes cannot be");
    refuse(5, UINT64_MAX, "cannot be");
    make(5, BYTES);
}

Test(mirror, is_limited_in_all)
{
    refuse(0, BYTES_MAX + 1, "more than 1048576 bytes of memory for a host");
    make(0, BYTES_MAX / 2);
    make(import_2, BYTES_MAX / 2);
    refuse(1, 1, "more than 1048576 bytes");
    mirror_drop(&mirror, import_2);
    mirror_drop(&mirror, import_2);
    mirror_drop(&mirror, 77 | MESSAGE_IS_IMPORT);
    cr_assert_null(mirror_span(&mirror, import_2, 0, 1));
    make(1, BYTES_MAX / 2);
    refuse(import_2, 1, "more than 1048576 bytes");
    mirror_release(&mirror);
    make(0, BYTES_MAX);
}

// What a worker gets.
Test(mirror, shows_imports_to_be_read_only)
{
    const int region = make(0, BYTES), import = make(import_2, BYTES);
    unsigned char *written = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, region, 0);

    cr_assert_neq(written, MAP_FAILED);
    written[BYTES - 1] = 7;
    cr_assert_eq(*mirror_span(&mirror, 0, BYTES - 1, 1), 7);
    munmap(written, BYTES);
    cr_assert_eq(mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, import, 0), MAP_FAILED);
    const unsigned char *read = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, import, 0);

    cr_assert_neq(read, MAP_FAILED);
    *mirror_span(&mirror, import_2, 9, 1) = 8;
    cr_assert_eq(read[9], 8);
    munmap((void *)(uintptr_t)read, BYTES);
    cr_assert_neq(ftruncate(region, 0), 0, "nor made shorter, which would end this process");
    cr_assert_neq(ftruncate(import, 0), 0);
}

Test(mirror, maps_memory_of_the_host)
{
    const int file = memfd_create("test", MFD_CLOEXEC);

    cr_assert_eq(ftruncate(file, BYTES), 0);
    MUST(mirror_map(&mirror, 0, file, BYTES));
    MUST(mirror_map(&mirror, import_2, file, BYTES));
    cr_assert_eq(mirror_map(&mirror, 0, file, BYTES), TAPML_INVALID);
    cr_assert_neq(mirror_map(&mirror, 1, -1, BYTES), TAPML_OK);
    cr_assert_null(mirror_span(&mirror, 1, 0, 1));
    cr_assert_eq(mirror.bytes_made, 0);
    *mirror_span(&mirror, 0, 5, 1) = 6;
    cr_assert_eq(*mirror_span(&mirror, import_2, 5, 1), 6);
    mirror_drop(&mirror, import_2);
    cr_assert_eq(mirror.bytes_made, 0);
    cr_assert_null(mirror_span(&mirror, import_2, 5, 1));
    MUST(mirror_map(&mirror, import_2, file, BYTES));
    close(file);
    cr_assert_eq(*mirror_span(&mirror, import_2, 5, 1), 6);
}

Test(mirror, survives_a_lack_of_memory)
{
    const size_t live = alloc_live();
    int descriptor = -1;
    tapml_status status = TAPML_NO_MEMORY;

    for (size_t count = 1; status != TAPML_OK; count++) {
        alloc_fail_at(count);
        status = mirror_make(&mirror, 3, BYTES, BYTES_MAX, &descriptor);
        alloc_fail_at(0);
        cr_assert(status == TAPML_OK || status == TAPML_NO_MEMORY, "%s", status_message());
    }
    cr_assert_eq(mirror.bytes_made, BYTES);
    mirror_release(&mirror);
    cr_assert_eq(alloc_live(), live);
}
