// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An architecture that is linked into a test, open over a model fixture.
#pragma once

#include "model_fixture.h"

#include <tapml/model/decoder.h>
#include <tapml/model/root.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

struct architecture {
    struct model_fixture *fixture;
    tapml_object *root;
    const tapml_model *table;
};

// Takes both over. Fails the test unless the root is a model's.
static inline struct architecture architecture_open(struct model_fixture *fixture,
                                                    tapml_object *root)
{
    const tapml_model *table = root->vt->interface_of(root, TAPML_KIND_MODEL);

    cr_assert_not_null(table);
    return (struct architecture){fixture, root, table};
}

// The root of a description.
static inline struct architecture architecture_begin(const struct model_architecture *description,
                                                     struct model_fixture *fixture)
{
    tapml_object *root = NULL;

    model_fixture_ok(model_root_create(description, model_fixture_host(fixture), NULL, &root));
    return architecture_open(fixture, root);
}

static inline struct architecture architecture_begin_decoder(const struct model_decoder *decoder,
                                                             struct model_fixture *fixture)
{
    tapml_object *root = NULL;

    model_fixture_ok(model_decoder_create(decoder, model_fixture_host(fixture), NULL, &root));
    return architecture_open(fixture, root);
}

// The config of a folder of tests/data/models as text, which the caller frees.
static inline char *architecture_config(const char *folder)
{
    char path[1024];
    char *text = calloc(1, 1 << 16);

    snprintf(path, sizeof(path), "%s/models/%s/config.json", getenv("TAPML_TEST_DATA"), folder);

    FILE *file = fopen(path, "rb");

    cr_assert(text != NULL && file != NULL, "%s", path);
    cr_assert_gt(fread(text, 1, (1 << 16) - 1, file), 0);
    fclose(file);
    return text;
}

static inline void architecture_close(struct architecture *architecture)
{
    architecture->root->vt->release(architecture->root);
    model_fixture_close(architecture->fixture);
}

static inline tapml_status architecture_build(const struct architecture *architecture)
{
    const struct model_fixture *fixture = architecture->fixture;

    return architecture->table->build(architecture->root, NULL, model_fixture_config(fixture),
                                      model_fixture_weights(fixture), model_fixture_graph(fixture));
}

// The graph, of a build that must succeed. The fixture owns it.
static inline const struct graph *architecture_graph(struct architecture *architecture)
{
    model_fixture_ok(architecture_build(architecture));
    model_fixture_ok(model_fixture_check_config(architecture->fixture));
    return model_fixture_finish(architecture->fixture);
}
