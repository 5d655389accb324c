// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "plugin/registry.h"
#include "zoo_folder.h"

#include <tapml/ops.h>

#include <criterion/redirect.h>
#include <sys/stat.h>

static const struct candidate *find(const struct registry *registry, const char *component)
{
    for (size_t i = 0; i < registry_count(registry); ++i) {
        if (strcmp(registry_at(registry, i)->component, component) == 0) {
            return registry_at(registry, i);
        }
    }
    cr_assert_fail("no entry for '%s'", component);
    return NULL;
}

// After all were probed the animal `name` is in `state`, and its sentence has `sentence` in it.
static void expect(const char *name, enum candidate_state state, const char *sentence)
{
    const char *const names[] = {name, NULL};
    struct ini ini;
    struct backend *backend = NULL;
    const size_t live = alloc_live();
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_probe_all(registry), TAPML_OK);
    const struct candidate *entry = find(registry, name);
    cr_assert_str_eq(candidate_state_name(entry->state), candidate_state_name(state), "%s",
                     entry->sentence);
    cr_assert_not_null(strstr(entry->sentence, sentence), "%s: %s", name, entry->sentence);
    cr_assert_eq(entry->tier, 1);

    // Opening it says the same.
    if (state != CANDIDATE_USABLE) {
        cr_assert_eq(registry_open(registry, name, &backend), TAPML_UNAVAILABLE);
        cr_assert_not_null(strstr(status_message(), sentence), "%s", status_message());
        cr_assert_not_null(strstr(status_message(), candidate_state_name(state)), "%s",
                           status_message());
    }
    registry_destroy(registry);
    ini_release(&ini);
    cr_assert_eq(alloc_live(), live);
}

Test(registry, every_animal_of_the_zoo_has_its_state_and_sentence)
{
    expect("good", CANDIDATE_USABLE, "");
    expect("rough_probe", CANDIDATE_USABLE, "");
    expect("no_symbol", CANDIDATE_MALFORMED, "no symbol 'tapml_plugin_query_v1'");
    expect("newer_abi", CANDIDATE_WRONG_ABI, "needs the ABI 1.");
    expect("newer_code", CANDIDATE_WRONG_ABI, "its code needs the ABI 1.");
    expect("short_struct", CANDIDATE_WRONG_ABI, "too short");
    expect("no_queue", CANDIDATE_WRONG_ABI, "'queue_new'");
    expect("strange_needs", CANDIDATE_WRONG_ABI, "'org.example.host.magic/1'");
    expect("lying_note", CANDIDATE_MISMATCH, "'org.example.someone-else'");
    expect("changed_op", CANDIDATE_REFUSED, "op 'tapml.add' of changed_op");
    expect("fewer_dtypes", CANDIDATE_USABLE, "");
    expect("search_path", CANDIDATE_REFUSED, "search path");
    expect("no_driver", CANDIDATE_NO_DRIVER, "libunobtainium.so.1 not found");
    expect("no_device", CANDIDATE_NO_DEVICE, "no device");
    expect("no_processor", CANDIDATE_NO_DEVICE, "it needs a processor with '");
    expect("odd_hardware", CANDIDATE_MALFORMED, "'pci:10de' is no device, expected");
    expect("broken_probe", CANDIDATE_PROBE_FAILED, "without a message");
}

Test(registry, a_changed_op_is_found_when_the_device_is_opened_at_once)
{
    const char *const names[] = {"changed_op", NULL};
    struct ini ini;
    struct backend *backend = NULL;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_open(registry, "changed_op", &backend), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "refused"), "%s", status_message());
    cr_assert_eq(find(registry, "changed_op")->state, CANDIDATE_REFUSED);
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, knows_the_catalogue_and_what_plugins_bring)
{
    const char *const names[] = {"good", NULL};
    struct ini ini;
    struct backend *backend = NULL;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    const struct catalogue *catalogue = registry_catalogue(registry);
    size_t count = 0;
    while (tapml_ops[count]) {
        cr_assert_eq(catalogue_find(catalogue, tapml_ops[count]->name, 1)->op, tapml_ops[count]);
        ++count;
    }
    cr_assert_eq(catalogue_count(catalogue), count);
    cr_assert_eq(registry_open(registry, "org.example.good/good:first", &backend), TAPML_OK);
    cr_assert_eq(catalogue_count(catalogue), count + 3);
    backend_release(backend);

    // No component calibrates; the first in host memory that has the op answers for it.
    cr_assert_str_eq(
        registry_oracle(registry, catalogue_find(catalogue, "org.example.scale", 1)->op), "good");
    cr_assert_null(registry_oracle(registry, &tapml_add));
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, names_that_lead_nowhere_are_answered)
{
    const char *const names[] = {"good", "architecture", NULL};
    struct ini ini;
    struct backend *backend = NULL;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_open(registry, "goood", &backend), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "did you mean 'good'?"), "%s", status_message());
    cr_assert_eq(registry_open(registry, "zoo", &backend), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "expected a backend"), "%s", status_message());
    cr_assert_eq(registry_open(registry, "org.example.bad/good", &backend), TAPML_NOT_FOUND);
    cr_assert_eq(registry_open(registry, "", &backend), TAPML_INVALID);
    cr_assert_eq(registry_open(registry, "x/", &backend), TAPML_INVALID);
    cr_assert_eq(registry_open(registry, ":first", &backend), TAPML_INVALID);
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, lists_devices_and_keys)
{
    const char *const names[] = {"good", "no_driver", "architecture", NULL};
    struct ini ini;
    const tapml_device_info *const *list = NULL;
    uint32_t count = 0;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_devices(registry, "good", &list, &count), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(count, 2);
    cr_assert_str_eq(list[1]->id, "0000:02/b");
    cr_assert_eq(registry_devices(registry, "no_driver", &list, &count), TAPML_UNAVAILABLE);
    cr_assert_str_eq(registry_component(registry, "tapml.backend/1", 0), "good");
    cr_assert_null(registry_component(registry, "tapml.backend/1", 1));
    cr_assert_str_eq(registry_component(registry, "tapml.model/1", 1), "zoo-other");
    cr_assert_str_eq(registry_component_key(registry, "good", "options"), "speed colour");
    cr_assert_null(registry_component_key(registry, "good", "calibrates"));
    cr_assert_null(registry_component_key(registry, "none", "options"));
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, a_key_may_name_a_file_beside_the_manifest)
{
    const char *const names[] = {"good", NULL};
    static const char tail[] = "/tests/zoo/speed colour";
    struct ini ini;
    const char *path = NULL;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_component_file(registry, "good", "options", &path), TAPML_OK, "%s",
                 status_message());
    cr_assert_not_null(path);
    cr_assert_gt(strlen(path), sizeof(tail));
    cr_assert_str_eq(path + strlen(path) + 1 - sizeof(tail), tail);
    cr_assert_eq(registry_component_file(registry, "good", "calibrates", &path), TAPML_OK);
    cr_assert_null(path);
    cr_assert_eq(registry_component_file(registry, "good", "kind", &path), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "[component.good] kind: expected the plain name of "
                                                "a file in the manifest's folder, found 'tapml."),
                       "%s", status_message());
    cr_assert_eq(registry_component_file(registry, "none", "kind", &path), TAPML_NOT_FOUND);
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, devices_that_are_dear_are_asked_for_when_one_is_used)
{
    const char *const names[] = {"late_device", NULL};
    struct ini ini;
    struct backend *backend = NULL;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    const struct candidate *entry = registry_at(registry, 0);
    cr_assert_eq(registry_probe_all(registry), TAPML_OK);
    cr_assert_eq(entry->state, CANDIDATE_USABLE, "%s", entry->sentence);
    cr_assert_str_eq(entry->sentence, "its devices are looked for when one is used, not before");
    cr_assert(registry_is_asked_late(registry, "org.example.late_device/late_device:first"));
    cr_assert_eq(registry_check(registry, "late_device:first"), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_open(registry, "late_device:first", &backend), TAPML_UNAVAILABLE);
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, a_name_can_be_checked_without_opening_anything)
{
    const char *const names[] = {"good", "no_driver", "architecture", NULL};
    struct ini ini;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_check(registry, "good"), TAPML_OK, "%s", status_message());
    // Nobody has asked it for its driver.
    cr_assert_eq(registry_check(registry, "no_driver"), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_check(registry, "goood"), TAPML_NOT_FOUND);
    cr_assert_eq(registry_check(registry, "zoo"), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "expected a backend"), "%s", status_message());
    cr_assert_eq(registry_check(registry, "good:0000:02/b"), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_check(registry, "good:third"), TAPML_NOT_FOUND);
    cr_assert_eq(registry_check(registry, "no_driver:0"), TAPML_UNAVAILABLE);
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, options_of_a_misspelt_component_are_a_mistake)
{
    const char *const names[] = {"good", NULL};
    struct ini ini, other;
    static const char text[] =
        "[component.goood]\nspeed = 1\n[component.gone]\nx = 1\n[run]\na = 1\n";
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &other), TAPML_OK);
    cr_assert_eq(registry_check_option(registry, &other.entries[0]), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "did you mean 'good'?"), "%s", status_message());
    cr_assert_eq(registry_check_option(registry, &other.entries[1]), TAPML_OK);
    cr_assert_eq(registry_check_option(registry, &other.entries[2]), TAPML_OK);
    registry_destroy(registry);
    ini_release(&other);
    ini_release(&ini);
}

// -- Files and folders -------------------------------------------------------------------------

static struct registry *registry_of(const char *ini_text, struct ini *ini)
{
    struct registry *registry = NULL;
    cr_assert_eq(ini_parse("run.ini", ini_text, strlen(ini_text), ini), TAPML_OK, "%s",
                 status_message());
    const struct registry_options options = {.ini = ini};
    cr_assert_eq(registry_create(&options, &registry), TAPML_OK, "%s", status_message());
    return registry;
}

Test(registry, options_that_no_component_declares_are_a_mistake)
{
    const char *const names[] = {"good", NULL};
    struct ini ini;
    char path[2 * SCRATCH_PATH];
    const char *files[] = {zoo_manifest("good", path, sizeof(path)), NULL};
    const char *text = "[plugins]\ntiers = 1\n[component.good]\nspeed = 1\nsped = 2\n";
    struct registry *registry =
        zoo_registry(names, "[component.good]\ncolour = red\n[component.gone]\nx = 1\n", &ini);
    registry_destroy(registry);
    ini_release(&ini);
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    const struct registry_options options = {.files = files, .ini = &ini};
    const size_t live = alloc_live();
    cr_assert_eq(registry_create(&options, &registry), TAPML_INVALID);
    cr_assert_str_eq(status_message(),
                     "run.ini:5: unknown key 'sped' in [component.good], known are: speed colour, "
                     "did you mean 'speed'?");
    cr_assert_eq(alloc_live(), live);
    ini_release(&ini);
}

Test(registry, the_first_tier_shadows_and_a_folder_counts_once)
{
    struct scratch first;
    struct scratch second;
    struct ini ini;
    char text[8 * SCRATCH_PATH];
    scratch_make(&first);
    scratch_make(&second);
    zoo_copy(&first, "good", "format", "format");
    zoo_copy(&second, "good", "format", "format");
    scratch_text(&second, "broken.tapml", "[plugin]\n");
    scratch_text(&second, "strange.tapml",
                 "[plugin]\nformat = 1\nid = a.strange\nversion = 1\nlibrary = none.so\nabi = 1.0\n"
                 "arch = x\nbuild-id = 00\n[component.strange]\nkind = org.example.kind/1\n");

    // The same folder twice in tier 2, the first one in tier 1.
    snprintf(text, sizeof(text), "%s:%s", second.folder, second.folder);
    setenv("TAPML_PLUGIN_PATH", text, 1);
    snprintf(text, sizeof(text), "[plugins]\ntiers = 1 2\nload = %s/org.example.good.tapml\n",
             first.folder);
    struct registry *registry = registry_of(text, &ini);
    cr_assert_eq(registry_count(registry), 4);
    cr_assert_eq(registry_at(registry, 0)->state, CANDIDATE_USABLE);
    cr_assert_eq(registry_at(registry, 1)->state, CANDIDATE_MALFORMED);
    cr_assert_str_eq(registry_at(registry, 1)->component, "");
    cr_assert_eq(registry_at(registry, 2)->state, CANDIDATE_SHADOWED);
    cr_assert_not_null(strstr(registry_at(registry, 2)->sentence, first.folder));
    cr_assert_eq(registry_at(registry, 3)->state, CANDIDATE_MISMATCH);
    cr_assert_not_null(strstr(registry_at(registry, 3)->sentence, "none.so"));
    registry_destroy(registry);
    ini_release(&ini);

    // Both in one tier: neither is taken, and both are named.
    snprintf(text, sizeof(text), "%s:%s", second.folder, first.folder);
    setenv("TAPML_PLUGIN_PATH", text, 1);
    registry = registry_of("[plugins]\ntiers = 2\ndeny = a.strange\n", &ini);
    cr_assert_eq(registry_count(registry), 4);
    cr_assert_eq(find(registry, "strange")->state, CANDIDATE_REFUSED);
    cr_assert_eq(registry_at(registry, 1)->state, CANDIDATE_DUPLICATE);
    cr_assert_eq(registry_at(registry, 3)->state, CANDIDATE_DUPLICATE);
    cr_assert_not_null(strstr(registry_at(registry, 3)->sentence, first.folder));
    cr_assert_not_null(strstr(registry_at(registry, 3)->sentence, second.folder));
    registry_destroy(registry);
    ini_release(&ini);
    scratch_remove(&first);
    scratch_remove(&second);
}

Test(registry, a_library_alone_is_known_by_its_note)
{
    char path[2 * SCRATCH_PATH];
    struct ini ini;
    struct registry *registry = NULL;
    struct backend *backend = NULL;
    const char *text = "[plugins]\ntiers = 1\n";
    const char *files[] = {zoo_library("good", path, sizeof(path)), "/nowhere/else.so", NULL};
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    const struct registry_options options = {.files = files, .ini = &ini};
    cr_assert_eq(registry_create(&options, &registry), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_open(registry, "good", &backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_at(registry, 1)->state, CANDIDATE_MALFORMED);
    cr_assert_not_null(strstr(registry_at(registry, 1)->sentence, "/nowhere/else.so"));
    backend_release(backend);
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, what_is_of_an_unknown_kind_is_listed)
{
    struct scratch scratch;
    struct ini ini;
    scratch_make(&scratch);
    zoo_copy(&scratch, "good", "kind = tapml.backend/1", "kind = org.example.kind/1");
    setenv("TAPML_PLUGIN_PATH", scratch.folder, 1);
    struct registry *registry = registry_of("[plugins]\ntiers = 2\n", &ini);
    cr_assert_eq(registry_probe_all(registry), TAPML_OK);
    cr_assert_eq(registry_at(registry, 0)->state, CANDIDATE_UNKNOWN_KIND);
    cr_assert_not_null(strstr(registry_at(registry, 0)->sentence, "org.example.kind/1"));
    registry_destroy(registry);
    ini_release(&ini);
    scratch_remove(&scratch);
}

Test(registry, a_library_replaced_after_the_scan_is_not_opened)
{
    struct scratch scratch;
    struct ini ini;
    struct backend *backend = NULL;
    scratch_make(&scratch);
    zoo_copy(&scratch, "good", "format", "format");
    setenv("TAPML_PLUGIN_PATH", scratch.folder, 1);
    struct registry *registry = registry_of("[plugins]\ntiers = 2\n", &ini);
    scratch_text(&scratch, "good.so", "something else");
    cr_assert_eq(registry_open(registry, "good", &backend), TAPML_UNAVAILABLE);
    cr_assert_eq(registry_at(registry, 0)->state, CANDIDATE_REPLACED);
    registry_destroy(registry);
    ini_release(&ini);
    scratch_remove(&scratch);
}

Test(registry, memory_may_end_anywhere)
{
    char path[2 * SCRATCH_PATH];
    struct registry *registry = NULL;
    const char *files[] = {zoo_manifest("good", path, sizeof(path)), NULL};
    const char *text = "[plugins]\ntiers = 1\n";
    struct ini ini;
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    const struct registry_options options = {.files = files, .ini = &ini};
    SCRATCH_SWEEP(registry_create(&options, &registry));
    cr_assert_eq(registry_count(registry), 1);
    registry_destroy(registry);
    ini_release(&ini);
}

// -- Strangers ---------------------------------------------------------------------------------

struct vetting {
    size_t calls, index;
    enum candidate_state verdict;
    tapml_status status;
    size_t lessons;
};

static tapml_status vet(void *user, struct registry *registry, size_t index)
{
    struct vetting *vetting = user;
    vetting->calls++;
    vetting->index = index;
    return vetting->verdict == CANDIDATE_USABLE
               ? status_fail(vetting->status, "nobody can be asked")
               : registry_settle(registry, index, vetting->verdict, "it was vetted");
}

static tapml_status learn(void *user, struct registry *registry)
{
    ((struct vetting *)user)->lessons++;
    return TAPML_OK;
}

static struct registry *vetted(const char *const *files, struct ini *ini, struct vetting *vetting)
{
    static const char text[] = "[plugins]\ntiers = 1 4\n";
    struct registry *registry = NULL;
    char program[1024];
    snprintf(program, sizeof(program), "%s/tapml-host", getenv("TAPML_TEST_BUILD"));
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), ini), TAPML_OK);
    const struct registry_options options = {.program = program,
                                             .files = files,
                                             .ini = ini,
                                             .vet = vet,
                                             .learn = learn,
                                             .user = vetting};
    cr_assert_eq(registry_create(&options, &registry), TAPML_OK, "%s", status_message());
    return registry;
}

Test(registry, a_stranger_is_vetted_once_before_it_is_opened)
{
    char path[2 * SCRATCH_PATH];
    const char *const files[] = {zoo_manifest("good", path, sizeof(path)), NULL};
    struct vetting vetting = {.verdict = CANDIDATE_USABLE, .status = TAPML_OK};
    struct ini ini;
    struct backend *backend = NULL;
    struct registry *registry = vetted(files, &ini, &vetting);
    cr_assert_eq(registry_open(registry, "reference", &backend), TAPML_OK, "%s", status_message());
    cr_assert_eq(vetting.calls, 0, "what was installed with the host is not");
    backend_release(backend);
    for (int i = 0; i < 2; ++i) {
        cr_assert_eq(registry_open(registry, "good", &backend), TAPML_OK, "%s", status_message());
        cr_assert_eq(vetting.calls, 1);
        cr_assert_str_eq(registry_at(registry, vetting.index)->component, "good");
        backend_release(backend);
    }
    cr_assert_eq(registry_learn(registry), TAPML_OK);
    cr_assert_eq(vetting.lessons, 1);
    registry_destroy(registry);
    ini_release(&ini);
}

// `status` of a vet that settles nothing, or the state that it settles.
static void expect_vetted(enum candidate_state verdict, const char *sentence)
{
    char path[2 * SCRATCH_PATH];
    const char *const files[] = {zoo_manifest("crashes_in_query", path, sizeof(path)), NULL};
    struct vetting vetting = {.verdict = verdict, .status = TAPML_UNAVAILABLE};
    struct ini ini;
    struct backend *backend = NULL;
    struct registry *registry = vetted(files, &ini, &vetting);
    cr_assert_eq(registry_open(registry, "crashes_in_query", &backend), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), sentence), "%s", status_message());
    cr_assert_eq(find(registry, "crashes_in_query")->state, CANDIDATE_PROBE_FAILED);
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, a_stranger_that_does_not_pass_is_not_opened)
{
    expect_vetted(CANDIDATE_PROBE_FAILED, "it was vetted");
}

Test(registry, a_stranger_that_cannot_be_vetted_is_not_opened)
{
    expect_vetted(CANDIDATE_USABLE, "nobody can be asked");
}

Test(registry, backends_are_found_by_the_keys_of_their_manifests)
{
    const char *const names[] = {"architecture", "no_symbol", "late_device", NULL};
    struct ini ini;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    const size_t count = registry_count(registry);
    const size_t first = registry_next_backend(registry, NULL, 0);
    cr_assert_str_eq(registry_at(registry, first)->component, "no_symbol", "it was not opened");
    cr_assert_eq(registry_next_backend(registry, NULL, first), first);
    const size_t late = registry_next_backend(registry, "devices", 0);
    cr_assert_str_eq(registry_at(registry, late)->component, "late_device");
    cr_assert_eq(registry_next_backend(registry, "devices", late + 1), count);
    cr_assert_eq(registry_next_backend(registry, "calibrates", 0), count);
    cr_assert_not(registry_is_installed(registry, "late_device:first"));
    cr_assert(registry_is_installed(registry, "nobody"));
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, a_plugin_that_all_can_write_is_used_with_one_warning, .init = cr_redirect_stderr)
{
    static const char text[] = "[plugins]\ntiers = 2\n";
    struct scratch scratch;
    struct ini ini;
    struct registry *registry = NULL;
    struct backend *backend = NULL;
    struct registry_location location;
    char line[1024];
    umask(S_IWGRP | S_IWOTH);
    scratch_make(&scratch);
    zoo_copy(&scratch, "good", "format", "format");
    cr_assert_eq(chmod(scratch_path(&scratch, "good.so"), 0666), 0);
    setenv("TAPML_PLUGIN_PATH", scratch.folder, 1);
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    const struct registry_options options = {.ini = &ini};
    cr_assert_eq(registry_create(&options, &registry), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_locate(registry, "good", &location), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_open(registry, "good", &backend), TAPML_OK, "%s", status_message());
    backend_release(backend);
    registry_destroy(registry);
    ini_release(&ini);
    (void)fflush(stderr);
    snprintf(line, sizeof(line),
             "warning: the plugin 'org.example.good' is used, and '%s' can be written by all "
             "users\n",
             scratch_path(&scratch, "good.so"));
    cr_assert_stderr_eq_str(line);
    scratch_remove(&scratch);
}

// The answer about each candidate: the message of a failure, or "".
static void check_named(const char *name, const char *state, const char *piece)
{
    struct ini ini;
    struct registry *registry = zoo_registry((const char *[]){name, NULL}, NULL, &ini);
    const tapml_status status = registry_check_named(registry, 0);

    cr_expect_eq(status, *state != '\0' ? TAPML_INVALID : TAPML_OK, "%s: %s", name,
                 status_message());
    if (*state != '\0') {
        char expected[128];

        (void)snprintf(
            expected, sizeof(expected),
            "org.example.%s.tapml', which is named by --plugin or [plugins] load, is %s: ", name,
            state);
        cr_expect_not_null(strstr(status_message(), expected), "%s", status_message());
        cr_expect_not_null(strstr(status_message(), piece), "%s", status_message());
    }
    for (size_t i = 1; i < registry_count(registry); ++i) { // It is said once for a plugin.
        cr_expect_eq(registry_check_named(registry, i), TAPML_OK, "%s", status_message());
    }
    registry_destroy(registry);
    ini_release(&ini);
}

Test(registry, what_is_named_and_cannot_be_used_is_an_error)
{
    check_named("newer_abi", "wrong-abi", "needs the ABI ");
    check_named("search_path", "refused", "");
    check_named("odd_hardware", "malformed", "");
    check_named("good", "", "");
    check_named("no_processor", "", ""); // The machine lacks it.
}

Test(registry, what_is_found_and_cannot_be_used_is_none)
{
    static const char text[] = "[plugins]\ntiers = 2\n";
    struct scratch scratch;
    struct ini ini;
    struct registry *registry = NULL;
    scratch_make(&scratch);
    zoo_copy(&scratch, "newer_abi", "format", "format");
    setenv("TAPML_PLUGIN_PATH", scratch.folder, 1);
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), &ini), TAPML_OK);
    const struct registry_options options = {.ini = &ini};
    cr_assert_eq(registry_create(&options, &registry), TAPML_OK, "%s", status_message());
    cr_assert_eq(registry_at(registry, 0)->state, CANDIDATE_WRONG_ABI);
    cr_assert_eq(registry_check_named(registry, 0), TAPML_OK, "%s", status_message());
    registry_destroy(registry);
    ini_release(&ini);
    scratch_remove(&scratch);
}
