// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/encodings.h"
#include "zoo_folder.h"

#include <math.h>

static const char ID[] = "org.example.sin_halves_encoding/1";

Test(encodings, one_is_found_as_long_as_a_registry_has_it)
{
    static const char *const names[] = {"sin_halves_encoding", "sin_tiled_encoding", NULL};
    struct plugin_encodings first, second;
    struct ini ini, other_ini;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    struct registry *other = zoo_registry(names, NULL, &other_ini);

    cr_assert_null(encoding_find(ID));
    encodings_add(registry, &first);
    encodings_add(other, &second);
    cr_assert_eq(first.count, 1u, "what is in tiles is none");
    cr_assert_eq(second.count, 1u);
    cr_assert_eq(encoding_find(ID), first.items[0]);
    cr_assert_eq(encoding_find_word("sin_halves_encoding"), first.items[0]);
    encodings_remove(&first);
    cr_assert_eq(encoding_find(ID), second.items[0]);
    encodings_remove(&second);
    cr_assert_null(encoding_find(ID));
    encodings_remove(&second);
    registry_destroy(other);
    registry_destroy(registry);
    ini_release(&other_ini);
    ini_release(&ini);
}

Test(encodings, blocks_are_those_of_the_plugin)
{
    static const char *const names[] = {"sin_halves_encoding", NULL};
    static const float values[] = {1, -2, 0.1F, 3};
    struct plugin_encodings encodings;
    struct encoding_loss loss = {0};
    struct ini ini;
    struct registry *registry = zoo_registry(names, NULL, &ini);
    unsigned char block[8];
    float decoded[ENCODING_BLOCK_MAX];

    encodings_add(registry, &encodings);
    cr_assert_eq(encoding_encode(encodings.items[0], TAPML_F32, values, 1, block, &loss), TAPML_OK);
    encoding_decode(encodings.items[0], block, 1, 0, decoded);
    cr_assert_eq(decoded[0], 1.0F);
    cr_assert_eq(decoded[1], -2.0F);
    cr_assert_eq(decoded[2], 0x1.98p-4F, "the upper half of 0.1");
    cr_assert_float_eq(loss.error_max, fabs(0x1.98p-4 - (double)0.1F), 1e-9);
    encodings_remove(&encodings);
    registry_destroy(registry);
    ini_release(&ini);
}
