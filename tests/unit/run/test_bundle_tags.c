// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/arena.h"
#include "device/backend.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "run/bundle_tags.h"
#include "run/pack.h"
#include "run/recorded_on.h"
#include "store/bundle.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct arena *arena;
static struct store *store;
static struct bundle_tags tags;
static struct cases_silu silu;
static struct cases_norm norm;

// A pack of two cases, which had run on two devices.
static void begin(void)
{
    const struct recorded_on good = {"good", "cpu", "0",    "a core", "",
                                     "p",    "1",   "77f2", "pass",   ""};
    const struct recorded_on phone = {"phone", "vulkan", "0",    "PoCL \x1b[2J", "24.1",
                                      "q",     "2",      "3a01", "fail pass",    "fault.1: nan"};

    scratch_make(&scratch);
    arena = arena_create();
    MUST(store_open(scratch_path(&scratch, "pack.tapmlrun"), 1, &store));
    cases_make_silu(&silu, "layers.0/silu", 0);
    cases_make_norm(&norm, "layers.0/norm", 0);
    MUST(store_begin(store));
    MUST(stored_case_add(store, &silu.item));
    MUST(stored_case_add(store, &norm.item));
    MUST(metadata_set(store, PACK_METADATA_WHERE, "1"));
    MUST(metadata_set(store, "model.name", "llama"));
    MUST(recorded_on_write(store, 0, &good));
    MUST(recorded_on_write(store, 1, &phone));
    MUST(store_commit(store));
}

static void end(void)
{
    bundle_tags_release(&tags);
    store_close(store);
    arena_destroy(arena);
    scratch_remove(&scratch);
}

TestSuite(bundle_tags, .init = begin, .fini = end);

static int meets(const char *first, const char *second)
{
    struct bundle_condition conditions[2];

    MUST(bundle_tags_read_condition(first, &conditions[0]));
    MUST(bundle_tags_read_condition(second, &conditions[1]));
    return bundle_tags_meet(&tags, conditions, 2);
}

Test(bundle_tags, are_what_a_file_says_of_itself_and_of_its_cases)
{
    cr_assert(bundle_tags_has(store));
    MUST(bundle_tags_read(store, arena, &tags));
    cr_assert_eq(tags.cases, 2);
    cr_assert_eq(tags.places, 2);
    cr_assert_str_eq(bundle_tags_first(&tags, "id"), tags.id);
    cr_assert_str_eq(bundle_tags_first(&tags, "kind"), "pack");
    cr_assert_str_eq(bundle_tags_first(&tags, "op"), "tapml.rms_norm");
    cr_assert_str_eq(bundle_tags_first(&tags, "model"), "llama");
    cr_assert_str_eq(bundle_tags_first(&tags, "dtype"), "f32");
    cr_assert_str_eq(bundle_tags_first(&tags, "verdict"), "pass");
    cr_assert_str_eq(bundle_tags_first(&tags, "activations"), "");
}

Test(bundle_tags, meet_conditions_of_a_place_together)
{
    MUST(bundle_tags_read(store, arena, &tags));
    cr_assert(meets("op=silu", "kind=pack"));
    cr_assert(meets("op=tapml.rms_norm", "target=phone"));
    cr_assert(meets("device_name=PoCL*", "verdict=fail"));
    cr_assert(meets("target=phone", "verdict=pass"));
    cr_assert_not(meets("target=good", "verdict=fail"));
    cr_assert(meets("injected_faults=*nan*", "verdict=fail"));
    cr_assert_not(meets("injected_faults=*", "target=good"));
    cr_assert_not(meets("op=attention", "target=phone"));
    cr_assert_not(meets("op=silu", "driver=25*"));
}

Test(bundle_tags, a_stranger_s_text_commands_no_terminal)
{
    MUST(bundle_tags_read(store, arena, &tags));
    for (size_t i = 0; i < tags.count; i++) {
        cr_expect_null(strchr(tags.items[i].value, '\x1b'), "%s", tags.items[i].key);
    }
}

Test(bundle_tags, an_id_may_be_cut_short_and_does_not_depend_on_results)
{
    char word[32];
    struct bundle_tags again;

    MUST(bundle_tags_read(store, arena, &tags));
    (void)snprintf(word, sizeof(word), "id=%.8s", tags.id);
    cr_assert(meets(word, "kind=pack"));
    word[3] = (char)(word[3] == '0' ? '1' : '0');
    cr_assert_not(meets(word, "kind=pack"));
    MUST(metadata_set(store, "limits.factor", "8"));
    MUST(bundle_tags_read(store, arena, &again));
    cr_assert_str_eq(again.id, tags.id);
    bundle_tags_release(&again);
    MUST(metadata_set(store, PACK_METADATA_WHERE, "0"));
    MUST(bundle_tags_read(store, arena, &again));
    cr_assert_str_neq(again.id, tags.id);
    bundle_tags_release(&again);
}

Test(bundle_tags, a_device_has_those_of_places)
{
    const struct backend_info info = {.component = "vulkan",
                                      .plugin = "q",
                                      .plugin_version = "2",
                                      .build_id = "3a01",
                                      .device = "0",
                                      .device_name = "a card",
                                      .driver = "25.0"};

    MUST(bundle_tags_of_backend(&info, arena, &tags));
    cr_assert_eq(tags.places, 1);
    cr_assert(meets("component=vul*", "driver=25.*"));
    cr_assert_not(meets("component=vul*", "driver=24.*"));
    cr_assert(meets("driver>=24.12", "driver>=25"));
    cr_assert_not(meets("component=vul*", "driver>=25.1"));
}

Test(bundle_tags, words_are_conditions_or_not)
{
    struct bundle_condition condition;

    cr_assert(bundle_tags_is_condition("op=silu"));
    cr_assert_not(bundle_tags_is_condition("op="));
    cr_assert_not(bundle_tags_is_condition("runs/a=b"));
    cr_assert_not(bundle_tags_is_condition("=silu"));
    cr_assert_eq(bundle_tags_read_condition("opp=silu", &condition), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "no tag 'opp', did you mean 'op'?"), "%s",
                       status_message());
    cr_assert_eq(bundle_tags_key(10000), NULL);
}

Test(bundle_tags, the_store_of_a_run_has_none)
{
    struct store *run = NULL;

    MUST(store_open(scratch_path(&scratch, "run.tapmlrun"), 1, &run));
    cr_assert_not(bundle_tags_has(run));
    MUST(metadata_set(run, BUNDLE_METADATA_INSTANCE, "driver"));
    MUST(metadata_set(run, BUNDLE_METADATA_CHECK, "fill"));
    cr_assert(bundle_tags_has(run));
    MUST(bundle_tags_read(run, arena, &tags));
    cr_assert_str_eq(bundle_tags_first(&tags, "kind"), "driver");
    cr_assert_str_eq(bundle_tags_first(&tags, "check"), "fill");
    cr_assert_eq(tags.cases, 0);
    store_close(run);
}
