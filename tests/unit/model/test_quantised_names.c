// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "model/quantised_names.h"

#include <criterion/criterion.h>
#include <string.h>

static tapml_status
read_list(const char *text, struct arena *arena, struct quantised_names *out_names)
{
    json_t *list = json_loads(text, JSON_DECODE_ANY, NULL);
    *out_names = (struct quantised_names){0};
    const tapml_status status = quantised_names_read(out_names, arena, "c.json", "/ignore", list);
    json_decref(list);
    if (status != TAPML_OK) {
        quantised_names_release(out_names);
    }
    return status;
}

static int has(const struct quantised_names *names, const char *module)
{
    int found = -1;
    cr_assert_eq(quantised_names_find(names, module, &found), TAPML_OK, "%s", status_message());
    return found;
}

Test(quantised_names, names_globs_and_expressions_find_modules)
{
    struct arena *arena = arena_create();
    struct quantised_names names;
    cr_assert_eq(read_list("[\"lm_head\", \"model.vision\", \"model.layers.*.router\", "
                           "\"re:.*[qk]_proj$\", \"re:mlp\"]",
                           arena, &names),
                 TAPML_OK, "%s", status_message());
    static const char *const there[] = {
        "lm_head",
        "lm_head.inner",
        "model.vision.layers.0.fc1",
        "model.layers.3.router",
        "model.layers.0.self_attn.q_proj",
        "mlp.up_proj",
    };
    static const char *const absent[] = {
        "lm_heads",
        "model.visionary",
        "model.layers.3.routers",
        "model.layers.0.self_attn.q_proj.x",
        "model.mlp.up_proj", // An expression begins where the name does.
    };
    for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); ++i) {
        cr_assert(has(&names, there[i]), "%s", there[i]);
    }
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); ++i) {
        cr_assert_not(has(&names, absent[i]), "%s", absent[i]);
    }
    cr_assert_not(quantised_names_have_class(&names));
    quantised_names_release(&names);
    arena_destroy(arena);
}

Test(quantised_names, a_class_stands_for_all)
{
    struct arena *arena = arena_create();
    struct quantised_names names;
    cr_assert_eq(read_list("[\"Linear\"]", arena, &names), TAPML_OK);
    cr_assert(quantised_names_have_class(&names));
    cr_assert_not(has(&names, "model.layers.0"));
    quantised_names_release(&names);
    cr_assert_eq(read_list("[]", arena, &names), TAPML_OK);
    cr_assert_not(has(&names, "x"));
    arena_destroy(arena);
}

Test(quantised_names, what_is_no_list_of_names_is_refused)
{
    static const char *const lists[] = {"{\"a\": 1}", "[1]", "[\"re:(\"]"};
    struct arena *arena = arena_create();
    struct quantised_names names;
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); ++i) {
        cr_assert_eq(read_list(lists[i], arena, &names), TAPML_INVALID, "%s", lists[i]);
        cr_assert(strstr(status_message(), "'/ignore'"), "%s", status_message());
    }
    arena_destroy(arena);
}
