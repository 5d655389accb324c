// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "config/model_path.h"

#include <criterion/criterion.h>
#include <string.h>

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define ENTRY                                                                                      \
    "\"type\": \"t\", \"source\": {\"repository\": \"r\", \"path\": \"p\"}, "                      \
    "\"config\": {\"model_type\": \"t\"}}"

static struct scratch scratch;

// A model in a cache below the folder of the test.
static void make_model(const char *cache, const char *model)
{
    char path[SCRATCH_PATH];

    snprintf(path, sizeof(path), "%s/models--%s/refs", cache, model);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, path)), TAPML_OK);
    snprintf(path, sizeof(path), "%s/models--%s/refs/main", cache, model);
    scratch_text(&scratch, path, COMMIT);
    snprintf(path, sizeof(path), "%s/models--%s/snapshots/" COMMIT, cache, model);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, path)), TAPML_OK);
}

static void setup(void)
{
    scratch_make(&scratch);
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "lists")), TAPML_OK);
    scratch_text(&scratch, "lists/a.json",
                 "{\"models\": [{\"name\": \"one-1b\", \"hub\": \"Org/One-1B\", " ENTRY
                 ", {\"name\": \"two-2b\", \"hub\": \"Org/Two-2B\", " ENTRY
                 ", {\"name\": \"unknown\", " ENTRY "]}");
    setenv("TAPML_MODELS", scratch_path(&scratch, "lists"), 1);
    setenv("HF_HUB_CACHE", scratch_path(&scratch, "first"), 1);
    setenv("HF_HOME", scratch_path(&scratch, "second"), 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", scratch_path(&scratch, "home"), 1);
    make_model("second/hub", "Org--One-1B");
    make_model("home/.cache/huggingface/hub", "Org--One-1B");
    make_model("home/.cache/huggingface/hub", "Other--Three");
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(model_path, .init = setup, .fini = teardown);

static void expect(const char *word, const char *below)
{
    char *folder = NULL;

    cr_assert_eq(model_path_find("program", word, &folder), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(folder, below[0] == '=' ? below + 1 : scratch_path(&scratch, below));
    alloc_free(folder);
}

static void expect_failure(const char *word, tapml_status status, const char *message)
{
    char *folder = NULL;

    cr_assert_eq(model_path_find("program", word, &folder), status, "%s", word);
    cr_assert_not_null(strstr(status_message(), message), "%s", status_message());
    cr_assert_null(folder);
}

Test(model_path, names_and_folders_of_the_hub_are_found)
{
    expect("one-1b", "second/hub/models--Org--One-1B/snapshots/" COMMIT);
    expect("Org/One-1B", "second/hub/models--Org--One-1B/snapshots/" COMMIT);
    expect("Other/Three", "home/.cache/huggingface/hub/models--Other--Three/snapshots/" COMMIT);
    make_model("first", "Org--One-1B");
    expect("one-1b", "first/models--Org--One-1B/snapshots/" COMMIT);
}

Test(model_path, paths_stay_as_they_are)
{
    expect("/nowhere", "=/nowhere");
    expect("./one-1b", "=./one-1b");
    expect("a/b/c", "=a/b/c");
    expect("", "=");
    expect(scratch_path(&scratch, "lists/a.json"), "lists/a.json");
    // What exists is no name.
    cr_assert_eq(chdir(scratch.folder), 0);
    cr_assert_eq(mkdir("one-1b", 0777), 0);
    expect("one-1b", "=one-1b");
}

Test(model_path, what_is_not_there_says_how_to_get_it)
{
    char text[8 * SCRATCH_PATH];

    snprintf(text, sizeof(text),
             "model 'two-2b': expected a folder, found nothing; 'Org/Two-2B', of 'two-2b' in "
             "%s/lists/a.json, is not in the hub's local cache either, looked in '%s/first', "
             "'%s/second/hub', '%s/home/.cache/huggingface/hub'; 'hf download Org/Two-2B' "
             "downloads it",
             scratch.folder, scratch.folder, scratch.folder, scratch.folder);
    expect_failure("two-2b", TAPML_NOT_FOUND, text);
    expect_failure("Org/Two", TAPML_NOT_FOUND, "'Org/Two' is not in the hub's local cache either");
    expect_failure("two-3b", TAPML_NOT_FOUND,
                   "no published model has that name, did you mean 'two-2b'?");
    expect_failure("unknown", TAPML_NOT_FOUND, "knows no folder of that model on the hub");
}

Test(model_path, a_broken_cache_or_list_is_named)
{
    make_model("first", "Org--One-1B");
    scratch_text(&scratch, "first/models--Org--One-1B/refs/main", "../..");
    expect_failure("one-1b", TAPML_INVALID, "first/models--Org--One-1B/refs/main");
    scratch_text(&scratch, "lists/b.json", "[");
    expect_failure("one-1b", TAPML_INVALID, "lists/b.json");
    setenv("TAPML_MODELS", "/nowhere", 1);
    expect_failure("one-1b", TAPML_NOT_FOUND,
                   "model 'one-1b': expected a folder, found nothing, and no list of published "
                   "models can be read: /nowhere");
}

Test(model_path, memory_may_run_out)
{
    char *folder = NULL;

    SCRATCH_SWEEP(model_path_find("program", "one-1b", &folder));
    alloc_free(folder);
    SCRATCH_SWEEP(model_path_find("program", "/a", &folder));
    alloc_free(folder);
}
