// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "run/driver_bundle.h"
#include "store/bundle.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"

#include <criterion/criterion.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct plugin_fixture plugins;
static struct backend *backend;
static struct scratch scratch;
static char path[2 * SCRATCH_PATH];
static struct place place;

static void begin(void)
{
    plugin_fixture_open(&plugins);
    backend = plugin_fixture_backend(&plugins, "reference:f32");
    scratch_make(&scratch);
    (void)snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "FAULT-1.tapmlrun"));
    place = (struct place){.settings = {.name = "gpu"}, .backend = backend};
}

static void end(void)
{
    scratch_remove(&scratch);
    backend_release(backend);
    plugin_fixture_close(&plugins);
}

TestSuite(driver_bundle, .init = begin, .fini = end, .timeout = 60);

static struct store *write_and_open(void)
{
    const struct driver_result failure = {.outcome = DRIVER_FAILED,
                                          .trials = 2,
                                          .offset = 44,
                                          .size = 8,
                                          .reason = "byte 44 is 0x1d, expected 0x9f"};
    struct store *store = NULL;

    MUST(driver_bundle_write(&(struct driver_bundle_options){
        .path = path, .place = &place, .check = 2, .seed = 77, .failure = &failure}));
    MUST(store_open(path, 0, &store));
    return store;
}

static void expect(struct store *store, const char *name, const char *expected)
{
    const char *found = metadata_get(store, name);

    cr_assert_not_null(found, "%s", name);
    cr_expect_str_eq(found, expected);
}

Test(driver_bundle, it_says_what_failed_where_and_how)
{
    struct store *store = write_and_open();

    cr_expect(bundle_is(store));
    expect(store, BUNDLE_METADATA_CHECK, driver_check_name(2));
    expect(store, BUNDLE_METADATA_REASON, "byte 44 is 0x1d, expected 0x9f");
    expect(store, BUNDLE_METADATA_SEED, "77");
    expect(store, BUNDLE_METADATA_TRIAL, "2");
    expect(store, BUNDLE_METADATA_OFFSET, "44");
    expect(store, BUNDLE_METADATA_SIZE, "8");
    const char *target = metadata_get(store, BUNDLE_METADATA_TARGET);

    cr_assert_not_null(target);
    cr_expect_not_null(strstr(target, "gpu = reference:f32 ("), "%s", target);
    cr_expect_not_null(strstr(target, "plugin org.tapml.cpu "), "%s", target);
    store_close(store);
}

Test(driver_bundle, what_it_is_about_is_read_again)
{
    struct store *store = write_and_open();
    size_t check = 0;
    uint64_t seed = 0;

    cr_expect(driver_bundle_is(store));
    MUST(driver_bundle_read(store, &check, &seed));
    cr_expect_eq(check, 2);
    cr_expect_eq(seed, 77);
    store_close(store);
}

// A file of somebody else: a check of another version, a seed that is none, none at all.
Test(driver_bundle, nothing_in_it_is_believed)
{
    static const struct {
        const char *name, *value, *sentence;
    } wrong[] = {
        {BUNDLE_METADATA_SEED, "-1", "bundle.seed: expected a number, found '-1'"},
        {BUNDLE_METADATA_SEED, "12 ", "bundle.seed: expected a number, found '12 '"},
        {BUNDLE_METADATA_CHECK, "fly", "expected a check that this host makes, found 'fly'"},
    };
    struct store *store = write_and_open();
    size_t check = 0;
    uint64_t seed = 0;

    store_close(store);
    MUST(store_open(path, 1, &store));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        MUST(metadata_set(store, wrong[i].name, wrong[i].value));
        cr_expect_eq(driver_bundle_read(store, &check, &seed), TAPML_INVALID);
        cr_expect_not_null(strstr(status_message(), wrong[i].sentence), "%s", status_message());
    }
    store_close(store);
    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &store));
    cr_expect_not(driver_bundle_is(store));
    store_close(store);
}

Test(driver_bundle, a_folder_that_is_not_there_is_named)
{
    const struct driver_result failure = {.outcome = DRIVER_FAILED, .reason = "wrong"};

    cr_expect_neq(
        driver_bundle_write(&(struct driver_bundle_options){
            .path = "/nonexistent/FAULT-1.tapmlrun", .place = &place, .failure = &failure}),
        TAPML_OK);
    cr_expect_not_null(strstr(status_message(), "/nonexistent/FAULT-1.tapmlrun"), "%s",
                       status_message());
}
