// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An architecture that is linked into a test, open over a model fixture.
#pragma once

#include "model_fixture.h"

#include <criterion/criterion.h>

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
