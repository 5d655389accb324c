// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "graph/sharding_print.h"
#include "sharded.h"

Test(sharding_print, each_tensor_is_explained)
{
    static const char *const lines[] = {
        "op layers.0/k (tapml.linear): out; annotated\n",
        "op layers.0/append (tapml.state_append): heads; for 'layers.0/k'\n",
        "weight k.weight f32 [12, 8]: axis 0 in 4 | 8; by layers.0/k\n",
        "state k f32 [C, 3, 4]: axis 1 in 1 | 2; by layers.0/append\n",
        "value layers.0/k f32 [T, 12]: axis 1 in 4 | 8; by layers.0/k\n",
        "2 operators are split, 1 by annotation and 1 that these lead to; 0 were inserted",
        "if nothing but what is annotated were split",
    };
    struct sharded sharded;
    struct sharding_figures figures;
    struct text text;
    sharded_open(&sharded);
    sharded_rewrite(&sharded, "a b", "layers.0/k", NULL);
    fixture_ok(sharding_figures_count(sharded.sharding, sharded.graph, GRAPH_NONE, &figures));
    text_init(&text);
    sharding_print(sharded.sharding, sharded.graph, &figures, &figures, &text);
    fixture_ok(text_status(&text));
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        cr_expect_not_null(strstr(text.data, lines[i]), "%s is not in\n%s", lines[i], text.data);
    }
    text_release(&text);
    sharded_close(&sharded);
}

Test(sharding_print, what_was_inserted_has_its_bytes)
{
    struct sharded sharded;
    struct sharding_figures figures;
    struct text text;
    sharded_open(&sharded);
    sharded_rewrite(&sharded, "a b", NULL, "layers.0/k");
    fixture_ok(sharding_figures_count(sharded.sharding, sharded.graph, GRAPH_NONE, &figures));
    text_init(&text);
    sharding_print(sharded.sharding, sharded.graph, &figures, &figures, &text);
    cr_expect_not_null(strstr(text.data, "inserted layers.0/k/sum (tapml.add): 48 bytes a token"),
                       "%s", text.data);
    cr_expect_not_null(strstr(text.data, "value layers.0/k f32 [T, 12]: a sum; by layers.0/k"));
    text_release(&text);
    sharded_close(&sharded);
}
