// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/short_setup.h"
#include "run/identity.h"

#include <string.h>

Test(identity, is_that_of_the_code_and_not_of_the_device)
{
    struct short_setup run;
    char source[HASH_TEXT], other[HASH_TEXT];

    short_setup_open(&run);
    const struct graph *graph = model_graph(run.setup.model);

    SHORT_MUST(identity_of_graph(run.setup.places[0]->backend, graph, source));
    SHORT_MUST(identity_of_graph(run.setup.places[1]->backend, graph, other));
    cr_assert_eq(strlen(source), 32);
    cr_assert_str_eq(source, other, "both are devices of the reference");
    SHORT_MUST(identity_of_cases(run.setup.places[0]->backend,
                                 registry_catalogue(run.setup.registry), run.store, other));
    cr_assert_str_neq(source, other, "there is no case yet");
    short_setup_close(&run);
}
