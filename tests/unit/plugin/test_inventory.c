// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/inventory.h"
#include "zoo_folder.h"

#include <sys/stat.h>

// Reads the inventory of one manifest and of nothing else of this machine.
static void
read_file(const char *path, const char *ini_text, struct ini *ini, struct inventory *out)
{
    static const char *files[2];
    files[0] = path;
    cr_assert_eq(ini_parse("run.ini", ini_text, strlen(ini_text), ini), TAPML_OK);
    const struct search_options where = {.files = files, .installed = "/nonexistent", .ini = ini};
    cr_assert_eq(inventory_read(&where, NULL, out), TAPML_OK, "%s", status_message());
}

static void read_one(const char *name, const char *ini_text, struct ini *ini, struct inventory *out)
{
    static char path[2 * SCRATCH_PATH];
    read_file(zoo_manifest(name, path, sizeof(path)), ini_text, ini, out);
}

Test(inventory, reads_components_without_opening_their_library)
{
    struct ini ini;
    struct inventory inventory;
    const size_t live = alloc_live();
    read_one("good", "[plugins]\ntiers = 1\n", &ini, &inventory);
    cr_assert_eq(inventory.plugin_count, 1);
    cr_assert_eq(inventory.component_count, 1);
    const struct component *component = inventory.components[0];
    cr_assert_str_eq(component->entry.component, "good");
    cr_assert_eq(component->entry.state, CANDIDATE_USABLE);
    cr_assert_null(component->plugin->descriptor);
    inventory_release(&inventory);
    ini_release(&ini);
    cr_assert_eq(alloc_live(), live);
}

Test(inventory, a_component_shows_what_its_plugin_was_refused_for)
{
    struct ini ini;
    struct inventory inventory;
    read_one("good", "[plugins]\ntiers = 1\ndeny = org.example.good\n", &ini, &inventory);
    cr_assert_eq(inventory.components[0]->entry.state, CANDIDATE_REFUSED);
    cr_assert_not_null(strstr(inventory.components[0]->entry.sentence, "deny"), "%s",
                       inventory.components[0]->entry.sentence);
    inventory_release(&inventory);
    ini_release(&ini);
}

Test(inventory, checks_the_options_of_the_file)
{
    struct ini ini;
    struct inventory inventory;
    read_one("good", "[plugins]\ntiers = 1\n[component.good]\nunheard-of = 1\n", &ini, &inventory);
    cr_assert_eq(inventory_check_options(&inventory), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "run.ini:4: unknown key 'unheard-of'"), "%s",
                       status_message());
    inventory_release(&inventory);
    ini_release(&ini);
}

// Of a plugin that is named; one that is found is compared when somebody opens it.
Test(inventory, what_is_named_is_compared_with_its_library_at_once)
{
    struct scratch scratch;
    struct ini ini;
    struct inventory inventory;
    scratch_make(&scratch);
    zoo_copy(&scratch, "good", "version = 1.0.0", "version = 1.0.1");
    read_file(scratch_path(&scratch, "org.example.good.tapml"), "[plugins]\ntiers = 1\n", &ini,
              &inventory);
    cr_assert_eq(inventory.components[0]->entry.state, CANDIDATE_MISMATCH);
    cr_assert_not_null(strstr(inventory.components[0]->entry.sentence, "version"), "%s",
                       inventory.components[0]->entry.sentence);
    cr_assert_null(inventory.components[0]->plugin->descriptor);
    inventory_release(&inventory);
    ini_release(&ini);
    setenv("TAPML_PLUGIN_PATH", scratch.folder, 1);
    read_file(NULL, "[plugins]\ntiers = 2\n", &ini, &inventory);
    cr_assert_eq(inventory.components[0]->entry.state, CANDIDATE_USABLE);
    inventory_release(&inventory);
    ini_release(&ini);
    scratch_remove(&scratch);
}

// The sentence of a component of that kind is the one expected.
static void expect_unknown(const char *kind, const char *sentence)
{
    struct scratch scratch;
    struct ini ini;
    struct inventory inventory;
    scratch_make(&scratch);
    zoo_copy(&scratch, "good", "tapml.backend/1", kind);
    setenv("TAPML_PLUGIN_PATH", scratch.folder, 1);
    read_file(NULL, "[plugins]\ntiers = 2\n", &ini, &inventory);
    cr_assert_eq(inventory.components[0]->entry.state, CANDIDATE_UNKNOWN_KIND);
    cr_assert_str_eq(inventory.components[0]->entry.sentence, sentence);
    inventory_release(&inventory);
    ini_release(&ini);
    scratch_remove(&scratch);
}

Test(inventory, a_kind_that_is_not_known_is_a_state_and_a_draft_is_called_one)
{
    expect_unknown("org.example.thing/2", "this host does not know the kind 'org.example.thing/2'");
    expect_unknown("tapml.backend/2-draft1",
                   "this host does not know the kind 'tapml.backend/2-draft1', which is a draft");
}

// One line of the inventory of the folders in `list` alone.
static void
expect_line(const char *list, const char *path, enum candidate_state state, const char *sentence)
{
    struct ini ini;
    struct inventory inventory;
    const struct candidate *found = NULL;
    const char *text = "[plugins]\ntiers = 2\n";
    setenv("TAPML_PLUGIN_PATH", list, 1);
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    const struct search_options where = {.installed = "/nonexistent", .ini = &ini};
    cr_assert_eq(inventory_read(&where, NULL, &inventory), TAPML_OK, "%s", status_message());
    for (size_t i = 0; i < inventory.component_count; ++i) {
        const struct candidate *entry = &inventory.components[i]->entry;
        found = strcmp(entry->plugin, path) == 0 ? entry : found;
    }
    cr_assert_eq(found != NULL, sentence != NULL, "%s", path);
    if (found) {
        cr_assert_eq(found->state, state, "%s", found->sentence);
        cr_assert_not_null(strstr(found->sentence, sentence), "%s", found->sentence);
        cr_assert_str_eq(found->component, "");
        cr_assert_eq(found->tier, 2);
    }
    inventory_release(&inventory);
    ini_release(&ini);
}

Test(inventory, lists_libraries_without_a_manifest_and_folders_that_are_not_there)
{
    struct scratch scratch;
    char whole[2 * SCRATCH_PATH];
    scratch_make(&scratch);
    zoo_copy(&scratch, "good", "version = 1.0.0", "version = 1.0.0");
    scratch_text(&scratch, "helper.so", "no library at all");
    snprintf(whole, sizeof(whole), "%s", scratch_path(&scratch, "good.so"));
    expect_line(scratch.folder, whole, CANDIDATE_USABLE, NULL);
    snprintf(whole, sizeof(whole), "%s", scratch_path(&scratch, "helper.so"));
    expect_line(scratch.folder, whole, CANDIDATE_NO_MANIFEST, "no note of a plugin");
    cr_assert_eq(unlink(scratch_path(&scratch, "org.example.good.tapml")), 0);
    snprintf(whole, sizeof(whole), "%s", scratch_path(&scratch, "good.so"));
    expect_line(scratch.folder, whole, CANDIDATE_NO_MANIFEST, "of the plugin 'org.example.good'");
    snprintf(whole, sizeof(whole), "%s", scratch_path(&scratch, "nowhere"));
    expect_line(whole, whole, CANDIDATE_NO_FOLDER, "No such file or directory");
    scratch_remove(&scratch);
}

// What is remarked on the only plugin of a folder of tier 2; NULL: nothing.
static void expect_remark(const char *folder, const char *piece)
{
    struct ini ini;
    struct inventory inventory;
    const char *text = "[plugins]\ntiers = 2\n";
    setenv("TAPML_PLUGIN_PATH", folder, 1);
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    const struct search_options where = {.installed = "/nonexistent", .ini = &ini};
    cr_assert_eq(inventory_read(&where, NULL, &inventory), TAPML_OK, "%s", status_message());
    cr_assert_eq(inventory.component_count, 1);
    const struct candidate *entry = &inventory.components[0]->entry;
    cr_assert_eq(entry->state, CANDIDATE_USABLE, "it is used: %s", entry->sentence);
    cr_assert(piece ? strstr(entry->remark, piece) != NULL : entry->remark[0] == '\0', "%s",
              entry->remark);
    inventory_release(&inventory);
    ini_release(&ini);
}

Test(inventory, what_all_users_can_write_is_used_with_a_remark)
{
    struct scratch scratch;
    umask(S_IWGRP | S_IWOTH);
    scratch_make(&scratch);
    zoo_copy(&scratch, "good", "format", "format");
    expect_remark(scratch.folder, NULL);
    cr_assert_eq(chmod(scratch_path(&scratch, "good.so"), 0666), 0);
    expect_remark(scratch.folder, "good.so' can be written by all users");
    cr_assert_eq(chmod(scratch_path(&scratch, "good.so"), 0644), 0);
    cr_assert_eq(chmod(scratch_path(&scratch, "org.example.good.tapml"), 0666), 0);
    expect_remark(scratch.folder, "org.example.good.tapml' can be written by all users");
    scratch_remove(&scratch);
}
