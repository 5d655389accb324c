// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/forecast_text.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

// Prints a document that is written with single quotes.
static void prints(const char *document, const char *expected)
{
    char *quoted = strdup(document);
    struct text text;

    for (char *at = quoted; *at != '\0'; at++) {
        *at = (char)(*at == '\'' ? '"' : *at);
    }
    json_error_t error;
    json_t *root = json_loads(quoted, 0, &error);

    cr_assert_not_null(root, "%s", error.text);
    text_init(&text);
    forecast_text_print(root, &text);
    cr_assert_str_eq(text.data, expected);
    text_release(&text);
    json_decref(root);
    free(quoted);
}

#define HEAD                                                                                       \
    "'device': {'name': 'D\\u001b[1m'}, 'source': 's', 'activations': 'f32', 'capacity': 4, "      \
    "'chunk': 2, 'prompts': 1, 'tokens': 3, 'memory': {'weights': 1500, 'states': 2000000, "       \
    "'activations': 3, 'all': 2001503, 'device': "

Test(forecast_text, the_verdict_comes_first)
{
    prints("{" HEAD "null, 'fits': null}, 'verdict': {}}",
           "D?[1m: no op leaves a range or exceeds a limit; memory unknown\n"
           "memory    1.5 kB of weights, 2.0 MB of states (4 tokens), 3 B of activations (f32, "
           "calls of 2 tokens): 2.0 MB of an unknown memory\n"
           "from 1 prompt, 3 tokens on s\n");
    prints("{" HEAD "2000000, 'fits': false}, 'verdict': {'leave_f16': 2, 'refused': 1}, 'times': "
           "[{'what': 'decode', 'tokens': 1, 'position': 3, 'bytes': 1e9, 'operations': 2e6, "
           "'launches': 5, 'seconds': 0.002, 'has_bandwidth': true, 'has_rate': false, "
           "'has_launch': false, 'kinds': [{'op': 'linear', 'seconds': 0.0015}]}]}",
           "D?[1m: 2 ops leave the range of f16; 1 op exceeds a limit; the model does not fit\n"
           "memory    1.5 kB of weights, 2.0 MB of states (4 tokens), 3 B of activations (f32, "
           "calls of 2 tokens): 2.0 MB of 2.0 MB\n"
           "decode    at least 2.00 ms for 1 token at position 3: 1.0 GB, 2.0 MFLOP, 5 launches; "
           "linear 75 %; unknown: rate, launch\n"
           "from 1 prompt, 3 tokens on s\n");
}

#define ITEMS                                                                                      \
    "'ranges': [{'type': 'f16', 'instance': 'a', 'op': 'mul', 'values': 10, 'largest': 7e4, "      \
    "'beyond': 4}, {'type': 'f16', 'instance': 'b', 'op': 'mul'}, {'type': 'bf16', 'instance': "   \
    "'b', 'op': 'mul', 'values': 10, 'largest': 0.5, 'loses': true, 'below': 9, 'zeroed': 2, "     \
    "'worst': 0.25}], 'limits': [{'kind': 'panels', 'instance': 'x', 'op': 'linear', 'sentence': " \
    "'S'}, {'kind': 'panels', 'instance': 'y', 'op': 'embed', 'sentence': 'T'}, {'kind': "         \
    "'panels', 'instance': 'z', 'op': 'linear', 'sentence': 'U'}]"

Test(forecast_text, ops_of_a_kind_are_a_line)
{
    prints("{" HEAD "null, 'fits': null}, 'verdict': {}, " ITEMS "}",
           "D?[1m: no op leaves a range or exceeds a limit; memory unknown\n"
           "memory    1.5 kB of weights, 2.0 MB of states (4 tokens), 3 B of activations (f32, "
           "calls of 2 tokens): 2.0 MB of an unknown memory\n"
           "f16: values beyond its range, or below its normal numbers\n"
           "  mul                 2 instances, the first a: largest 7e+04, 4 of 10 values beyond\n"
           "bf16: values beyond its range, or below its normal numbers\n"
           "  mul                 1 instance, b: largest 0.5, 9 of 10 below the normal numbers, "
           "2 become 0: relative error 0.25\n"
           "panels: weights in panels of rows, each a launch\n"
           "  linear              2 instances, the first x: S\n"
           "  embed               1 instance, y: T\n"
           "from 1 prompt, 3 tokens on s\n");
}
