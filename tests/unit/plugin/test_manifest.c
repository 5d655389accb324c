// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/text.h"
#include "plugin/manifest.h"
#include "plugin/note.h"
#include "zoo_folder.h"

#define HEAD                                                                                       \
    "[plugin]\nformat = 1\nid = org.example.thing\nversion = 1.2.3\nlibrary = thing.so\nabi = "    \
    "1.0\n"
#define BUILD "arch = x86_64-linux-gnu\nbuild-id = 00ff\n"
#define TAIL  "[component.one]\nkind = tapml.backend/1\n"

static tapml_status load(const char *text, struct manifest *out_manifest)
{
    struct scratch scratch;
    scratch_make(&scratch);
    const tapml_status status =
        manifest_load(scratch_text(&scratch, "thing.tapml", text), out_manifest);
    scratch_remove(&scratch);
    return status;
}

static void expect_refused(const char *text, const char *because)
{
    struct manifest manifest;
    const size_t live = alloc_live();
    cr_assert_eq(load(text, &manifest), TAPML_INVALID, "read: %s", text);
    cr_assert_not_null(strstr(status_message(), because), "'%s' in: %s", because, status_message());
    cr_assert_eq(alloc_live(), live);
}

Test(manifest, has_the_plugin_and_its_components)
{
    struct manifest manifest;
    const size_t live = alloc_live();
    cr_assert_eq(load(HEAD BUILD "sanitizer = address\nfuture = kept\n" TAIL
                                 "options = a b\noptions = long-name\ncalibrates = x y\n"
                                 "[component.two]\nkind = org.example.kind/3\ntitle = Two\n",
                      &manifest),
                 TAPML_OK, "%s", status_message());
    cr_assert_str_eq(manifest.id, "org.example.thing");
    cr_assert_str_eq(manifest.version, "1.2.3");
    cr_assert_str_eq(manifest.library, "thing.so");
    cr_assert_str_eq(manifest.arch, "x86_64-linux-gnu");
    cr_assert_str_eq(manifest.build_id, "00ff");
    cr_assert_str_eq(manifest.sanitizer, "address");
    cr_assert_eq(manifest.abi_major, 1);
    cr_assert_eq(manifest.abi_minor, 0);
    cr_assert_eq(manifest.component_count, 2);
    cr_assert_str_eq(manifest.components[1].id, "two");
    cr_assert_str_eq(manifest.components[1].kind, "org.example.kind/3");
    cr_assert_str_eq(manifest.components[1].title, "Two");
    cr_assert_str_eq(manifest.components[0].options, "a b long-name");
    cr_assert(manifest_has_option(&manifest.components[0], "b"));
    cr_assert(manifest_has_option(&manifest.components[0], "long-name"));
    cr_assert_not(manifest_has_option(&manifest.components[0], "long"));
    cr_assert_not(manifest_has_option(&manifest.components[0], ""));
    cr_assert_str_eq(manifest_key(&manifest, "one", "calibrates"), "x y");
    cr_assert_null(manifest_key(&manifest, "two", "calibrates"));
    cr_assert_null(manifest_key(&manifest, "three", "kind"));
    manifest_release(&manifest);
    cr_assert_eq(alloc_live(), live);
}

Test(manifest, refuses_what_is_missing_or_wrong_by_its_key)
{
    expect_refused("", "no section [plugin]");
    expect_refused("[plugin]\nformat = 2\n", "format");
    expect_refused("[plugin]\nformat = 1\nid = thing\n", "id: expected a reversed domain name");
    expect_refused("[plugin]\nformat = 1\nid = org.example/x\n", "id");
    expect_refused("[plugin]\nformat = 1\nid = a.b\n", "version");
    expect_refused("[plugin]\nformat = 1\nid = a.b\nversion = 1\nlibrary = ../x.so\n", "library");
    expect_refused("[plugin]\nformat = 1\nid = a.b\nversion = 1\nlibrary = .x\n", "library");
    expect_refused("[plugin]\nformat = 1\nid = a.b\nversion = 1\nlibrary = x.so\nabi = 1\n", "abi");
    expect_refused("[plugin]\nformat = 1\nid = a.b\nversion = 1\nlibrary = x\nabi = 1.0.0\n",
                   "abi");
    expect_refused("[plugin]\nformat = 1\nid = a.b\nversion = 1\nlibrary = x\nabi = 1.99999999\n",
                   "abi");
    expect_refused(HEAD TAIL, "has no 'arch'");
    expect_refused(HEAD "arch = x\n" TAIL, "has no 'build-id'");
    expect_refused(HEAD BUILD, "no section [component.ID]");
    expect_refused(HEAD BUILD "[component.one]\ntitle = no kind\n", "has no kind");
    expect_refused(HEAD BUILD "[component.a/b]\nkind = x\n", "component's id");
    expect_refused(HEAD BUILD "[component.]\nkind = x\n", "component's id");
    expect_refused(HEAD BUILD TAIL "  indented = yes\n", "thing.tapml");
}

Test(manifest, knows_the_id_of_a_draft)
{
    cr_assert(manifest_is_draft("tapml.thing/1-draft1"));
    cr_assert(manifest_is_draft("org.example.over-draft/2-draft10"));
    cr_assert_not(manifest_is_draft("org.example.over-draft/2"));
    cr_assert_not(manifest_is_draft("tapml.thing/1-draft"));
    cr_assert_not(manifest_is_draft("tapml.thing/1"));
    cr_assert_not(manifest_is_draft("draft1"));
    cr_assert_not(manifest_is_draft("12"));
    cr_assert_not(manifest_is_draft(""));
}

static tapml_status compare(const char *file_text, const char *note_text)
{
    struct manifest file;
    struct manifest note;
    cr_assert_eq(load(file_text, &file), TAPML_OK, "%s", status_message());
    cr_assert_eq(manifest_parse_note("thing.so", note_text, &note), TAPML_OK, "%s",
                 status_message());
    const tapml_status status = manifest_compare(&file, &note);
    manifest_release(&file);
    manifest_release(&note);
    return status;
}

Test(manifest, agrees_with_a_note_but_for_what_the_build_adds)
{
    cr_assert_eq(compare(HEAD BUILD TAIL, HEAD TAIL), TAPML_OK, "%s", status_message());
    cr_assert_eq(compare(HEAD BUILD TAIL "title = x\n", HEAD TAIL "title = y\n"), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'title = x'"), "%s", status_message());
    cr_assert_not_null(strstr(status_message(), "'title = y'"), "%s", status_message());
    cr_assert_eq(compare(HEAD BUILD TAIL "title = x\n", HEAD TAIL), TAPML_INVALID);
    cr_assert_eq(compare(HEAD BUILD TAIL, HEAD TAIL "title = x\n"), TAPML_INVALID);
    cr_assert_eq(compare(HEAD BUILD TAIL, HEAD "[component.two]\nkind = tapml.backend/1\n"),
                 TAPML_INVALID);
}

Test(manifest, of_a_library_is_its_note_and_what_the_file_shows)
{
    char path[2 * SCRATCH_PATH];
    struct manifest file;
    struct manifest library;
    cr_assert_eq(manifest_load(zoo_manifest("good", path, sizeof(path)), &file), TAPML_OK);
    cr_assert_eq(manifest_load_library(zoo_library("good", path, sizeof(path)), &library),
                 TAPML_OK);
    cr_assert_str_eq(file.build_id, library.build_id);
    cr_assert_str_eq(file.arch, library.arch);
    cr_assert_str_eq(file.sanitizer, library.sanitizer);
    cr_assert_eq(manifest_compare(&file, &library), TAPML_OK, "%s", status_message());
    manifest_release(&file);
    manifest_release(&library);
    cr_assert_eq(manifest_load_library("/nowhere/x.so", &library), TAPML_NOT_FOUND);
}

Test(manifest, memory_may_end_anywhere)
{
    struct scratch scratch;
    struct manifest manifest;
    scratch_make(&scratch);
    const char *path =
        scratch_text(&scratch, "thing.tapml", HEAD BUILD TAIL "options = a\noptions = b\n");
    SCRATCH_SWEEP(manifest_load(path, &manifest));
    manifest_release(&manifest);
    scratch_remove(&scratch);
}

// Each repetition once cost all that came before it: gigabytes for a file of one.
Test(manifest, an_option_list_of_any_length_takes_its_own_size)
{
    struct text text;
    struct manifest manifest;
    text_init(&text);
    text_append(&text, HEAD BUILD TAIL);
    for (int i = 0; i < 80000; ++i) {
        text_append(&text, "options=ab\n");
    }
    cr_assert_eq(load(text.data, &manifest), TAPML_OK, "%s", status_message());
    cr_assert_eq(strlen(manifest.components[0].options), 80000 * 3 - 1);
    manifest_release(&manifest);
    text_release(&text);
}
