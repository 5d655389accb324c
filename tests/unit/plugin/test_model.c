// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "model/checkpoint.h"
#include "plugin/component.h"
#include "plugin/model.h"
#include "zoo_folder.h"

static struct scratch place;
static struct registry *registry;
static struct ini ini;

static void setup(void)
{
    const char *const names[] = {"architecture", NULL};
    scratch_make(&place);
    registry = zoo_registry(names, NULL, &ini);
}

static void teardown(void)
{
    registry_destroy(registry);
    ini_release(&ini);
    scratch_remove(&place);
}

TestSuite(model, .init = setup, .fini = teardown);

static void write_weights(int64_t rows)
{
    char file[2048] = {0};
    char header[256];
    const uint64_t bytes = (uint64_t)rows * 4 * sizeof(float);
    snprintf(header, sizeof(header),
             "{\"embed.weight\":{\"dtype\":\"F32\",\"shape\":[%d,4],\"data_offsets\":[0,%d]}}",
             (int)rows, (int)bytes);
    const uint64_t length = strlen(header);
    memcpy(file, &length, sizeof(length));
    memcpy(file + sizeof(length), header, length);
    scratch_write(&place, "model.safetensors", file, sizeof(length) + length + bytes);
}

static tapml_status
open_with(const char *config, struct model_options options, struct model **out_model)
{
    scratch_text(&place, "config.json", config);
    options.folder = place.folder;
    return model_open(registry, &options, out_model);
}

static void expect_refused(const char *config, struct model_options options, const char *because)
{
    struct model *model = NULL;
    const tapml_status status = open_with(config, options, &model);
    cr_assert_neq(status, TAPML_OK, "%s", config);
    cr_assert_not_null(strstr(status_message(), because), "'%s' in: %s", because, status_message());
}

Test(model, is_built_by_the_architecture_that_knows_it)
{
    struct model *model = NULL;
    write_weights(8);
    cr_assert_eq(open_with("{\"model_type\": \"zoo\"}", (struct model_options){0}, &model),
                 TAPML_OK, "%s", status_message());
    const struct graph *graph = model_graph(model);
    cr_assert_eq(graph->op_count, 1);
    cr_assert_str_eq(graph->ops[0].instance, "embed");
    cr_assert_neq(graph_find_output(graph, "last_hidden_state"), GRAPH_NONE);
    cr_assert_str_eq(model_architecture(model), "zoo");
    cr_assert_str_eq(model_folder(model), place.folder);
    cr_assert_eq(checkpoint_count(model_checkpoint(model)), 1);
    model_close(model);
    model_close(NULL);
}

Test(model, of_another_config_has_another_hash)
{
    struct model *one = NULL;
    struct model *two = NULL;
    struct model *three = NULL;
    write_weights(8);
    cr_assert_eq(open_with("{\"model_type\":\"zoo\"}", (struct model_options){0}, &one), TAPML_OK);
    cr_assert_eq(open_with("{\"model_type\":\"zoo\"}", (struct model_options){0}, &two), TAPML_OK);
    cr_assert_eq(open_with("{\"model_type\": \"zoo\"}", (struct model_options){0}, &three),
                 TAPML_OK);
    cr_assert(hash_equal(model_hash(one), model_hash(two)));
    cr_assert_not(hash_equal(model_hash(one), model_hash(three)));
    model_close(one);
    model_close(two);
    model_close(three);
}

Test(model, a_tie_names_both_and_the_user_settles_it)
{
    struct model *model = NULL;
    const struct model_options dry = {.without_weights = 1};
    // A type that no manifest names: all are asked.
    expect_refused("{\"model_type\": \"zoo_tie\"}", dry,
                   "'zoo' of 'org.example.architecture' and 'zoo-other'");
    const struct model_options settled = {.without_weights = 1, .architecture = "zoo-other"};
    cr_assert_eq(open_with("{\"model_type\": \"zoo_tie\"}", settled, &model), TAPML_OK, "%s",
                 status_message());
    cr_assert_str_eq(model_architecture(model), "zoo-other");
    cr_assert_null(model_checkpoint(model));
    model_close(model);
    const struct model_options absent = {.without_weights = 1, .architecture = "nobody"};
    expect_refused("{\"model_type\": \"zoo_tie\"}", absent, "no architecture 'nobody'");
}

// The id of the architecture `index` of those that list a word in a key of their manifest, or have
// no such key; "" past the last.
static const char *listed(const char *key, const char *word, size_t index)
{
    const struct component *found =
        registry_find_listed(registry, "tapml.model/1", key, word, index);
    return found ? found->entry.component : "";
}

Test(model, is_asked_for_of_those_that_are_for_its_type)
{
    cr_assert_str_eq(listed("model-types", "zoo", 0), "zoo");
    cr_assert_str_eq(listed("model-types", "zoo", 1), "");
    cr_assert_str_eq(listed("model-types", "other", 0), "zoo-other");
    cr_assert_str_eq(listed("model-types", "another", 0), "zoo-other");
    cr_assert_str_eq(listed("model-types", "zoo_", 0), "");
    cr_assert_str_eq(listed("model-types", "", 0), "");
    cr_assert_str_eq(listed("no-such-key", "zoo", 1), "zoo-other", "their manifests list nothing");
}

Test(model, what_nobody_knows_lists_who_was_asked)
{
    expect_refused("{\"model_type\": \"gnu\"}", (struct model_options){0},
                   "'gnu'; installed are: 'zoo' 'zoo-other'");
}

Test(model, keys_must_be_understood_by_the_one_that_builds)
{
    struct model *model = NULL;
    const struct model_options dry = {.without_weights = 1};
    const struct model_options lenient = {.without_weights = 1, .allow_unknown_keys = 1};
    const char *config = "{\"model_type\": \"zoo\", \"new_trick\": 7}";
    expect_refused(config, dry, "new_trick");
    cr_assert_eq(open_with(config, lenient, &model), TAPML_OK, "%s", status_message());
    model_close(model);

    // That another architecture looked at a key while it was asked does not count.
    expect_refused("{\"model_type\": \"zoo\", \"read_by_other_only\": 7}", dry,
                   "read_by_other_only");
    expect_refused("{\"model_type\": \"zoo\", \"vocab_size\": \"many\"}", dry, "vocab_size");
}

Test(model, weights_of_another_shape_are_named)
{
    write_weights(7);
    expect_refused("{\"model_type\": \"zoo\"}", (struct model_options){0}, "embed.weight");
    const size_t live = alloc_live();
    expect_refused("{\"model_type\": \"zoo\"}", (struct model_options){0}, "expected [8,4]");
    cr_assert_eq(alloc_live(), live);
}

Test(model, folders_without_what_a_model_has_are_refused)
{
    struct model *model = NULL;
    const struct model_options nowhere = {.folder = "/nowhere"};
    cr_assert_neq(model_open(registry, &nowhere, &model), TAPML_OK);
    cr_assert_not_null(strstr(status_message(), "/nowhere"), "%s", status_message());
    expect_refused("{\"model_type\": \"zoo\"}", (struct model_options){0}, "safetensors");
    expect_refused("not json", (struct model_options){0}, "config.json");
}

Test(model, fills_inputs_by_the_function_of_its_architecture)
{
    struct model *model = NULL;
    float values[3] = {0};
    const struct model_options dry = {.without_weights = 1};
    cr_assert_eq(open_with("{\"model_type\": \"zoo\"}", dry, &model), TAPML_OK);
    cr_assert_eq(model_fill(model, "table", (struct model_span){5, 3, 100}, values, sizeof(values)),
                 TAPML_OK);
    cr_assert_eq(values[2], 107.0f);
    model_close(model);
}

Test(model, a_strangers_op_is_learnt_from_its_backend)
{
    const char *const names[] = {"architecture", "no_driver", "good", NULL};
    const char *config = "{\"model_type\": \"zoo\", \"factor\": 2.5}";
    const struct model_options dry = {.without_weights = 1};
    struct ini others;
    struct model *model = NULL;
    expect_refused(config, dry, "op 'org.example.scale' version 1 is unknown");
    struct registry *alone = registry;
    registry = zoo_registry(names, NULL, &others);
    cr_assert_eq(open_with(config, dry, &model), TAPML_OK, "%s", status_message());
    cr_assert_eq(model_graph(model)->op_count, 2);
    model_close(model);
    registry_destroy(registry);
    ini_release(&others);
    registry = alone;
}
