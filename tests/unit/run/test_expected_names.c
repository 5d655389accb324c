// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/plugin_fixture.h"
#include "harness/scratch.h"
#include "run/expected.h"
#include "run/expected_names.h"

#include <criterion/criterion.h>
#include <string.h>

Test(expected_names, are_those_of_the_model, .timeout = 60)
{
    struct plugin_fixture plugins;
    struct checkpoint *file = NULL;
    struct model_parts parts = {0};
    char output[64], folder[2 * SCRATCH_PATH];

    (void)snprintf(folder, sizeof(folder), "%s", scratch_source("tests/data/models/bert"));
    plugin_fixture_open(&plugins);
    struct model *model = plugin_fixture_model(&plugins, "tests/data/models/llama");
    struct model *other = plugin_fixture_model(&plugins, "tests/data/models/bert");

    cr_assert_eq(expected_open(folder, NULL, &file), TAPML_OK, "%s", status_message());
    struct expected_names names = {.folder = "bert",
                                   .graph = model_graph(other),
                                   .file = file,
                                   .parts = &parts,
                                   .is_encoder = 1};

    cr_assert_eq(expected_names_check(&names), TAPML_OK, "%s", status_message());
    names.graph = model_graph(model);
    names.is_encoder = 0;
    cr_assert_eq(expected_names_check(&names), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "which the model does not give"));
    cr_assert(expected_names_end(model_graph(model), "logits_tt", "_tt", output));
    cr_assert_str_eq(output, "logits");
    cr_assert_not(expected_names_end(model_graph(model), "other_tt", "_tt", output));
    checkpoint_close(file);
    model_close(other);
    model_close(model);
    plugin_fixture_close(&plugins);
}
