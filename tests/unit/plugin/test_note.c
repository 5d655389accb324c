// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/random.h"
#include "plugin/note.h"
#include "zoo_folder.h"

#include <tapml/plugin.h>

#include <elf.h>
#include <fcntl.h>

static tapml_status read_path(const char *path, struct note *out_note)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert_geq(descriptor, 0, "%s", path);
    const tapml_status status = note_read(descriptor, path, out_note);
    close(descriptor);
    return status;
}

Test(note, reads_a_plugin_without_opening_it)
{
    char path[2 * SCRATCH_PATH];
    struct note note;
    const size_t live = alloc_live();
    cr_assert_eq(read_path(zoo_library("good", path, sizeof(path)), &note), TAPML_OK);
    cr_assert(note.is_native);
    cr_assert_str_eq(note.arch, note_host_arch());
    cr_assert_not_null(strstr(note.text, "id = org.example.good\n"));
    cr_assert_eq(strlen(note.build_id), 40);
    cr_assert_eq(strspn(note.build_id, "0123456789abcdef"), 40);
    cr_assert_null(note.search_path);
    cr_assert_str_eq(note.sanitizer, note_sanitizer_name(TAPML_SANITIZER));
    note_release(&note);
    cr_assert_eq(alloc_live(), live);
}

Test(note, shows_the_search_path_of_a_library)
{
    char path[2 * SCRATCH_PATH];
    struct note note;
    cr_assert_eq(read_path(zoo_library("search_path", path, sizeof(path)), &note), TAPML_OK);
    cr_assert_str_eq(note.search_path, "/nowhere");
    note_release(&note);
}

Test(note, a_program_and_a_text_are_no_libraries)
{
    struct scratch scratch;
    struct note note;
    scratch_make(&scratch);
    cr_assert_eq(read_path(scratch_text(&scratch, "text.so", "not at all an ELF file"), &note),
                 TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "not an ELF file"), "%s", status_message());
    cr_assert_eq(read_path(scratch_text(&scratch, "empty.so", ""), &note), TAPML_INVALID);
    cr_assert_eq(read_path(scratch.folder, &note), TAPML_INVALID);
    scratch_remove(&scratch);
}

Test(note, another_machine_is_named)
{
    char path[2 * SCRATCH_PATH];
    struct scratch scratch;
    struct note note;
    char *data = NULL;
    size_t size = 0;
    scratch_make(&scratch);
    cr_assert_eq(file_read(zoo_library("good", path, sizeof(path)), 1 << 28, &data, &size),
                 TAPML_OK);
    data[18] = (char)EM_RISCV;
    data[19] = 0;
    cr_assert_eq(read_path(scratch_write(&scratch, "other.so", data, size), &note), TAPML_OK);
    cr_assert_not(note.is_native);
    cr_assert_str_eq(note.arch, "riscv64-linux-gnu");
    cr_assert_null(note.text);
    alloc_free(data);
    scratch_remove(&scratch);
}

// Every prefix of the part that is read, and many files with wrong bytes in their headers: an
// answer or a refusal, never a crash (the sanitizers watch).
Test(note, damaged_files_are_refused_or_read, .timeout = 60)
{
    char path[2 * SCRATCH_PATH];
    struct scratch scratch;
    struct random random;
    struct note note;
    char *data = NULL;
    size_t size = 0;
    size_t refused = 0;
    scratch_make(&scratch);
    random_init(&random, 20260101);
    cr_assert_eq(file_read(zoo_library("search_path", path, sizeof(path)), 1 << 28, &data, &size),
                 TAPML_OK);
    for (size_t cut = 0; cut < 4096; cut += 61) {
        cr_assert_eq(read_path(scratch_write(&scratch, "cut.so", data, cut), &note), TAPML_INVALID);
    }
    for (int i = 0; i < 400; ++i) {
        char kept[4096];
        memcpy(kept, data, sizeof(kept));
        for (int k = 0; k < 4; ++k) {
            data[16 + random_below(&random, 1000)] = (char)random_u64(&random);
        }
        if (read_path(scratch_write(&scratch, "wrong.so", data, size), &note) == TAPML_OK) {
            note_release(&note);
        } else {
            ++refused;
        }
        memcpy(data, kept, sizeof(kept));
    }
    cr_assert_gt(refused, 100);
    alloc_free(data);
    scratch_remove(&scratch);
}

Test(note, memory_may_end_anywhere)
{
    char path[2 * SCRATCH_PATH];
    struct note note;
    zoo_library("search_path", path, sizeof(path));
    SCRATCH_SWEEP(read_path(path, &note));
    note_release(&note);
}

Test(note, sanitizers_have_the_names_of_the_manifest_tool)
{
    cr_assert_str_eq(note_sanitizer_name(0), "");
    cr_assert_str_eq(note_sanitizer_name(1), "address");
    cr_assert_str_eq(note_sanitizer_name(3), "thread");
    cr_assert_str_eq(note_sanitizer_name(77), "unknown");
}
