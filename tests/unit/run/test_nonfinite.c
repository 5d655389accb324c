// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/sketch.h"
#include "run/nonfinite.h"
#include "store/case.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 3 };

// y = x w, of two rows.
struct product {
    struct sketch sketch;
    float weight[WIDTH * WIDTH];
    float y[2 * WIDTH];
    struct case_argument arguments[SKETCH_PARAMS_MAX];
    uint32_t output;
    struct nonfinite nonfinite;
};

static void product_init(struct product *product)
{
    memset(product, 0, sizeof(*product));
    struct sketch *sketch = &product->sketch;

    sketch_init(sketch);
    const uint32_t x = sketch_value(sketch, GRAPH_INPUT, "x", sketch_sum(0, 1), WIDTH);
    const uint32_t w = sketch_value(sketch, GRAPH_WEIGHT, "a.weight", sketch_sum(WIDTH, 0), WIDTH);
    const uint32_t y = sketch_value(sketch, GRAPH_COMPUTED, "product", sketch_sum(0, 1), WIDTH);

    sketch->values[w].data = product->weight;
    sketch->values[w].data_bytes = sizeof(product->weight);
    sketch_op(sketch, &tapml_linear, "product", (const uint32_t[]){x, w, GRAPH_NONE, y});
    while (sketch->arguments[0][product->output].kind != TAPML_P_TENSOR_OUT) {
        product->output++;
    }
    product->arguments[product->output] =
        (struct case_argument){.name = "y",
                               .kind = TAPML_P_TENSOR_OUT,
                               .dtype = TAPML_F32,
                               .rank = 2,
                               .shape = {2, WIDTH},
                               .stride = {WIDTH, 1},
                               .base_bytes = sizeof(product->y),
                               .content_bytes = sizeof(product->y),
                               .after = product->y};
    product->nonfinite.graph = &sketch->graph;
}

Test(nonfinite, finite_values_are_no_finding)
{
    struct product product;

    product_init(&product);
    nonfinite_look(&product.nonfinite, 0, product.arguments);
    cr_assert(!product.nonfinite.is_found);
}

Test(nonfinite, the_element_of_an_output_is_named)
{
    struct product product;

    product_init(&product);
    product.y[4] = INFINITY;
    product.y[5] = NAN;
    nonfinite_look(&product.nonfinite, 0, product.arguments);
    cr_assert_str_eq(product.nonfinite.sentence,
                     "infinity first arises in 'product' (tapml.linear): element [1, 1] of its "
                     "output 'y'");
}

Test(nonfinite, a_weight_that_has_one_is_named_instead)
{
    struct product product;

    product_init(&product);
    product.y[4] = NAN;
    product.weight[7] = -INFINITY;
    nonfinite_look(&product.nonfinite, 0, product.arguments);
    cr_assert_str_eq(product.nonfinite.sentence,
                     "-infinity comes from the weights: element [2, 1] of tensor 'a.weight', first "
                     "read by 'product' (tapml.linear)");
}

Test(nonfinite, only_the_first_finding_is_kept)
{
    struct product product;

    product_init(&product);
    product.y[4] = NAN;
    nonfinite_look(&product.nonfinite, 0, product.arguments);
    product.y[0] = NAN;
    nonfinite_look(&product.nonfinite, 0, product.arguments);
    cr_assert_not_null(strstr(product.nonfinite.sentence, "[1, 1]"));
}
