// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/rendering.h"
#include "template/expression_reader.h"

Test(expression_reader, has_the_precedence_of_jinja)
{
    rendering_is("{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 2 ** 3 * 2 }}", NULL, "7 9 16");
    rendering_is("{{ 'a' ~ 1 * 2 ~ 'b' }} {{ 1 + 2 == 3 }}", NULL, "a2b True");
    rendering_is("{{ not false and false }} {{ true or false and false }}", NULL, "False True");
    rendering_is("{{ 'A' + ' b ' | trim + 'c' }}", NULL, "Abc");
    rendering_is("{{ -2 | abs }} {{ 1 if false else 2 if false else 3 }}", NULL, "2 3");
    rendering_is("{{ not x is defined }} {{ x is not defined }}", NULL, "True True");
    rendering_is("{{ 3 is divisibleby 3 and true }} {{ 1, 2 }} {{ (1,) }} {{ () }}", NULL,
                 "True (1, 2) (1,) ()");
}

Test(expression_reader, refuses_what_it_does_not_know)
{
    rendering_refused("{{ 1 | urlize }}", "t:1: the filter 'urlize' is unsupported");
    rendering_refused("\n{{ 1 is nothing }}", "t:2: the test 'nothing' is unsupported");
    rendering_refused("{{ f(*x) }}", "the argument '*'");
    rendering_refused("{{ f(a=1, 2) }}", "an argument with a name");
    rendering_refused("{{ x.__class__ }}", "the attribute '__class__'");
    rendering_refused("{{ 1 2 }}", "expected '}}', found a number");
    rendering_refused("{{ + }}", "an expression");
    rendering_refused("{% set 1 = 2 %}", "a name");
    rendering_refused("{% set true = 2 %}", "can be assigned");
}
