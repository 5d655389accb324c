// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "plugin/note.h"
#include "plugin/search.h"

// A place with a folder for each tier, and an environment of its own.
static struct scratch place;

static void make_file(const char *folder, const char *name)
{
    char path[2 * SCRATCH_PATH];
    char whole[2 * SCRATCH_PATH];
    snprintf(whole, sizeof(whole), "%s/%s", place.folder, folder);
    cr_assert_eq(file_make_folder(whole), TAPML_OK, "%s", status_message());
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    scratch_text(&place, path, "");
}

static void setup(void)
{
    char path[4 * SCRATCH_PATH];
    umask(S_IWGRP | S_IWOTH);
    scratch_make(&place);
    make_file("two", "b.tapml");
    make_file("two", "a.tapml");
    make_file("two", "B.tapml");
    make_file("two", ".hidden.tapml");
    make_file("two", "a.so");
    make_file("data/tapml/1/plugins", "home.tapml");
    make_file("installed", "there.tapml");
    make_file("bin", "program");
    snprintf(path, sizeof(path), "lib/%s/tapml/1/plugins", note_host_arch());
    make_file(path, "beside.tapml");
    make_file("lib/tapml/1/plugins", "plain.tapml");
    make_file("tree", "program");
    make_file("built", "mine.tapml");
    snprintf(path, sizeof(path), "%s/built\n%s/nowhere\n", place.folder, place.folder);
    scratch_text(&place, "tree/tapml-build.plugins", path);
    snprintf(path, sizeof(path), "relative::%s/two:%s/nowhere", place.folder, place.folder);
    setenv("TAPML_PLUGIN_PATH", path, 1);
    setenv("XDG_DATA_HOME", scratch_path(&place, "data"), 1);
}

static void teardown(void)
{
    scratch_remove(&place);
}

TestSuite(search, .init = setup, .fini = teardown);

// "2:a.tapml 4:x.tapml", with '!' behind what is refused.
static const char *found(struct search_options options, const char *program, const char *ini_text)
{
    static char text[1024];
    char installed[SCRATCH_PATH * 2];
    struct search search;
    struct ini ini;
    snprintf(installed, sizeof(installed), "%s/installed", place.folder);
    options.installed = installed;
    options.program = scratch_path(&place, program);
    if (ini_text) {
        cr_assert_eq(ini_parse("run.ini", ini_text, strlen(ini_text), &ini), TAPML_OK);
        options.ini = &ini;
    }
    text[0] = '\0';
    const tapml_status status = search_run(&options, &search);
    for (size_t i = 0; status == TAPML_OK && i < search.count; ++i) {
        const struct search_item *item = &search.items[i];
        const size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%u:%s%s", i > 0 ? " " : "", item->tier,
                 strrchr(item->path, '/') + 1, item->refusal ? "!" : "");
    }
    if (status == TAPML_OK) {
        search_release(&search);
    }
    if (ini_text) {
        ini_release(&ini);
    }
    return status == TAPML_OK ? text : status_message();
}

Test(search, goes_through_the_tiers_and_each_folder_in_byte_order)
{
    cr_assert_str_eq(found((struct search_options){0}, "bin/program", NULL),
                     "2:B.tapml 2:a.tapml 2:b.tapml 3:home.tapml 4:there.tapml 4:beside.tapml "
                     "4:plain.tapml");
}

Test(search, a_build_tree_stands_in_for_what_is_installed)
{
    cr_assert_str_eq(found((struct search_options){.safe_only = 1}, "tree/program", NULL),
                     "4:mine.tapml");
}

Test(search, raised_rights_leave_the_installed_folder_alone)
{
    const char *const files[] = {"/x/named.tapml", NULL};
    const struct search_options options = {.is_secure = 1, .files = files};
    const int is_root = geteuid() == 0;
    const char *expected = is_root ? "4:there.tapml" : "4:there.tapml!";
    cr_assert_str_eq(found(options, "bin/program", NULL), expected);
    cr_assert_str_eq(found(options, "tree/program", NULL), expected);
}

Test(search, files_that_are_named_come_first)
{
    const char *const files[] = {"/x/named.tapml", "/x/library.so", NULL};
    struct search_options options = {.files = files, .ini_path = "/runs/run.ini"};
    cr_assert_str_eq(found(options, "tree/program", "[plugins]\nload = mine/x.so\ntiers = 1 4\n"),
                     "1:named.tapml 1:library.so 1:x.so 4:mine.tapml");
    options.safe_only = 1;
    cr_assert_str_eq(found(options, "tree/program", NULL), "4:mine.tapml");
}

Test(search, a_file_is_a_library_unless_it_ends_like_a_manifest)
{
    const char *const files[] = {"named.tapml", "library.so", "./named.tapml", "../library.so",
                                 NULL};
    const struct search_options options = {.files = files, .installed = "/nowhere"};
    struct search search;
    unsetenv("TAPML_PLUGIN_PATH");
    setenv("XDG_DATA_HOME", "/nowhere", 1);
    cr_assert_eq(search_run(&options, &search), TAPML_OK);
    cr_assert_eq(search.count, 4);
    for (size_t i = 0; i < search.count; i++) {
        cr_assert_eq(search.items[i].is_library, i % 2 == 1, "%s", search.items[i].path);
    }
    search_release(&search);
}

Test(search, what_plugins_says_is_checked)
{
    const struct search_options none = {0};
    cr_assert_not_null(strstr(found(none, "bin/program", "[plugins]\ntiers = 1 5\n"), "tiers"));
    cr_assert_not_null(strstr(found(none, "bin/program", "[plugins]\ntiers = 12\n"), "tiers"));
    cr_assert_not_null(
        strstr(found(none, "bin/program", "[plugins]\nlod = x\n"), "unknown key 'lod'"));
    cr_assert_str_eq(found(none, "bin/program", "[plugins]\ntiers = 3\n"), "3:home.tapml");
}

Test(search, what_others_can_write_is_refused)
{
    chmod(scratch_path(&place, "installed/there.tapml"), 0666);
    chmod(scratch_path(&place, "data/tapml"), 0775);
    chmod(scratch_path(&place, "two"), 0777);
    cr_assert_str_eq(found((struct search_options){0}, "bin/program", "[plugins]\ntiers = 2 3 4\n"),
                     "2:B.tapml 2:a.tapml 2:b.tapml 3:home.tapml! 4:there.tapml! 4:beside.tapml "
                     "4:plain.tapml");
    cr_assert_eq(search_check_owner(scratch_path(&place, "data/tapml/1"), 0), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "/data/tapml'"), "%s", status_message());
}

Test(search, a_sticky_folder_may_be_above_but_not_last)
{
    cr_assert_eq(search_check_owner(scratch_path(&place, "two"), 0), TAPML_OK, "%s",
                 status_message());
    chmod(scratch_path(&place, "two"), 01777);
    cr_assert_eq(search_check_owner(scratch_path(&place, "two"), 0), TAPML_PRECONDITION);
    cr_assert_eq(search_check_owner(scratch_path(&place, "two/a.tapml"), 0), TAPML_OK);
    cr_assert_eq(search_check_owner(scratch_path(&place, "two/none"), 0), TAPML_PRECONDITION);
}

static void make_link(const char *name, const char *target)
{
    cr_assert_eq(symlink(target, scratch_path(&place, name)), 0);
}

// Whoever can change a link, or what it leads through, chooses the plugins.
Test(search, links_are_followed_name_by_name)
{
    char there[SCRATCH_PATH * 2];
    snprintf(there, sizeof(there), "%s/installed", place.folder);
    make_file("common", "file");
    make_file("deep/er", "file");
    make_link("deep/up", "../common/link");
    make_link("common/link", there);
    make_link("deep/er/first", "../up/there.tapml");
    make_link("loop", "loop");
    cr_assert_eq(search_check_owner(scratch_path(&place, "deep/er/first"), 0), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(search_check_owner(scratch_path(&place, "deep/er/.././/up/there.tapml"), 0),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(search_check_owner(scratch_path(&place, "loop"), 0), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "too many links"), "%s", status_message());
    chmod(scratch_path(&place, "common"), 0777);
    cr_assert_eq(search_check_owner(scratch_path(&place, "deep/er/first"), 0), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "/common' can be written"), "%s", status_message());
    setenv("XDG_DATA_HOME", scratch_path(&place, "data2"), 1);
    make_file("data2/tapml/1", "file");
    make_link("data2/tapml/1/plugins", "../../../common/link");
    cr_assert_str_eq(found((struct search_options){0}, "bin/program", "[plugins]\ntiers = 3\n"),
                     "3:there.tapml!");
}

Test(search, another_users_link_is_refused)
{
    if (geteuid() != 0) {
        cr_skip_test("only root can give a link away");
    }
    make_link("theirs", "installed");
    cr_assert_eq(search_check_owner(scratch_path(&place, "theirs"), 0), TAPML_OK);
    cr_assert_eq(lchown(place.path, 12345, 12345), 0);
    cr_assert_eq(search_check_owner(place.path, 0), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "/theirs' belongs to user 12345"), "%s",
                       status_message());
}

Test(search, another_users_file_is_refused)
{
    if (geteuid() != 0) {
        cr_skip_test("only root can give a file away");
    }
    cr_assert_eq(chown(scratch_path(&place, "installed/there.tapml"), 12345, 12345), 0);
    cr_assert_eq(search_check_owner(place.path, 0), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "belongs to user 12345"), "%s", status_message());
}

Test(search, lists_of_ids_are_globs)
{
    struct ini ini;
    const char *text =
        "[plugins]\nallow = org.example.* org.tapml.cpu\nallow = x.y\ndeny = *.bad\n";
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    cr_assert_eq(search_check_policy(NULL, "any"), TAPML_OK);
    cr_assert_eq(search_check_policy(&ini, "org.example.fine"), TAPML_OK);
    cr_assert_eq(search_check_policy(&ini, "x.y"), TAPML_OK);
    cr_assert_eq(search_check_policy(&ini, "org.example.bad"), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "deny"));
    cr_assert_eq(search_check_policy(&ini, "org.tapml.gpu"), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "allow"));
    ini_release(&ini);
}

Test(search, memory_may_end_anywhere)
{
    char installed[SCRATCH_PATH * 2];
    struct search search;
    snprintf(installed, sizeof(installed), "%s/installed", place.folder);
    const struct search_options options = {.installed = installed,
                                           .program = scratch_path(&place, "bin/program")};
    SCRATCH_SWEEP(search_run(&options, &search));
    search_release(&search);
}

// "2:a.so 2:nowhere!", with '!' behind a folder that cannot be read.
static const char *strays(const char *list)
{
    static char text[1024];
    char installed[SCRATCH_PATH * 2];
    struct search search;
    snprintf(installed, sizeof(installed), "%s/installed", place.folder);
    setenv("TAPML_PLUGIN_PATH", list, 1);
    text[0] = '\0';
    cr_assert_eq(search_run(&(struct search_options){.installed = installed}, &search), TAPML_OK);
    for (size_t i = 0; i < search.stray_count; ++i) {
        const struct search_stray *stray = &search.strays[i];
        const size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%s%u:%s%s", i > 0 ? " " : "", stray->tier,
                 strrchr(stray->path, '/') + 1, stray->problem ? "!" : "");
    }
    search_release(&search);
    return text;
}

Test(search, libraries_and_folders_that_cannot_be_read_are_strays)
{
    char list[6 * SCRATCH_PATH];
    make_file("data/tapml/1/plugins", "home.so");
    make_file("installed", ".hidden.so");
    make_file("two", "libx.so.1");
    snprintf(list, sizeof(list), "%s/two:%s/nowhere:%s/two:%s/two/a.so:%s/nowhere", place.folder,
             place.folder, place.folder, place.folder, place.folder);
    cr_assert_str_eq(strays(list), "2:a.so 2:nowhere! 3:home.so");
    snprintf(list, sizeof(list), "%s/bin/program", place.folder);
    cr_assert_str_eq(strays(list), "2:program! 3:home.so");
    // That the user's own folder is not there is no mistake.
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    cr_assert_str_eq(strays(""), "");
}

Test(search, what_all_users_can_write_is_doubtful)
{
    char path[2 * SCRATCH_PATH];
    make_file("two", "x.so");
    snprintf(path, sizeof(path), "%s/two/x.so", place.folder);
    cr_assert_eq(search_check_others(path), TAPML_OK, "%s", status_message());
    cr_assert_eq(chmod(path, 0664), 0);
    cr_assert_eq(search_check_others(path), TAPML_OK, "a group of the user's");
    cr_assert_neq(search_check_owner(path, 0), TAPML_OK);
    cr_assert_eq(chmod(path, 0646), 0);
    cr_assert_eq(search_check_others(path), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "x.so' can be written by all users"), "%s",
                       status_message());
    cr_assert_eq(chmod(path, 0644), 0);
    cr_assert_eq(chmod(scratch_path(&place, "two"), 0777), 0);
    cr_assert_eq(search_check_others(path), TAPML_PRECONDITION);
    cr_assert_not_null(strstr(status_message(), "two' can be written by all users"), "%s",
                       status_message());
    cr_assert_eq(chmod(scratch_path(&place, "two"), 0755), 0);
    if (geteuid() == 0) {
        cr_assert_eq(chown(path, 12345, (gid_t)-1), 0);
        cr_assert_eq(search_check_others(path), TAPML_PRECONDITION);
        cr_assert_not_null(strstr(status_message(), "belongs to user 12345"), "%s",
                           status_message());
    }
}
