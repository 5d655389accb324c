// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/kind.h"
#include "zoo_folder.h"

#include <tapml/draft/observer.h>
#include <tapml/model.h>

static tapml_status see(tapml_object *observer, tapml_call *call, const tapml_observed *observed)
{
    return TAPML_OK;
}

Test(kind, those_of_the_host_are_found)
{
    cr_assert_str_eq(kind_find("tapml.backend/1")->what, "a backend");
    cr_assert_str_eq(kind_find("tapml.model/1")->what, "an architecture");
    cr_assert_str_eq(kind_find(TAPML_KIND_OBSERVER)->what, "an observer");
    cr_assert_null(kind_find("tapml.observer/1"));
    cr_assert_null(kind_find("tapml.observer/1-draft0"));
}

Test(kind, tables_are_whole)
{
    const struct kind_entry *observers = kind_find(TAPML_KIND_OBSERVER);
    tapml_observer table = {.hdr = TAPML_HDR(tapml_observer), .after = see};
    const tapml_model model = {.hdr = TAPML_HDR(tapml_model)};

    cr_assert_eq(observers->check(&table), TAPML_OK);
    table.traits = TAPML_OBSERVER_REPLACES << 1;
    cr_assert_eq(observers->check(&table), TAPML_ABI_MISMATCH);
    table.traits = TAPML_OBSERVER_REPLACES;
    cr_assert_eq(observers->check(&table), TAPML_OK);
    table.hdr.struct_size -= 1;
    cr_assert_eq(observers->check(&table), TAPML_ABI_MISMATCH);
    cr_assert_eq(kind_find("tapml.model/1")->check(&model), TAPML_ABI_MISMATCH);
}

Test(kind, a_table_that_is_not_whole_is_a_state)
{
    const char *const names[] = {"sin_empty_observer", NULL};
    struct ini ini;
    struct registry *registry = zoo_registry(names, NULL, &ini);

    cr_assert_null(registry_component(registry, TAPML_KIND_OBSERVER, 0));
    cr_assert_eq(registry_at(registry, 0)->state, CANDIDATE_WRONG_ABI);
    cr_assert_not_null(strstr(registry_at(registry, 0)->sentence, "neither 'before' nor 'after'"));
    registry_destroy(registry);
    ini_release(&ini);
}
