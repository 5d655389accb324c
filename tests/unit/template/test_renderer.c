// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/rendering.h"
#include "template/renderer.h"

Test(renderer, gives_each_round_a_scope)
{
    rendering_is(
        "{% set x = 0 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }}{% endfor %}{{ x }}", NULL,
        "120");
    rendering_is("{% set n = namespace(x=0) %}{% for i in [1, 2] %}{% set n.x = n.x + i %}"
                 "{% endfor %}{{ n.x }}",
                 NULL, "3");
    rendering_is("{% if true %}{% set x = 1 %}{% endif %}{{ x }}", NULL, "1");
}

Test(renderer, breaks_and_continues)
{
    rendering_is("{% for i in range(9) %}{% if i == 1 %}{% continue %}{% endif %}"
                 "{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}!",
                 NULL, "02!");
    rendering_refused("{% break %}", "outside of a loop");
}

Test(renderer, calls_macros_where_they_were_defined)
{
    rendering_is("{% macro f(a) %}{{ a }}{{ x }}{% endmacro %}{% set x = 1 %}"
                 "{% for x in [2] %}{{ f('m') }}{% endfor %}",
                 NULL, "m1");
    rendering_refused("{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}", "the macro 'f'");
    rendering_refused("{% macro f(a) %}{% endmacro %}{{ f(1, a=2) }}", "twice");
    rendering_refused("{% macro f(a) %}{% endmacro %}{{ f(b=2) }}", "the macro 'f'");
}

Test(renderer, assigns_what_fits)
{
    rendering_is("{% set a, b = 'xy' %}{{ b }}{{ a }}", NULL, "yx");
    rendering_refused("{% set a, b = [1] %}", "expected 2 values to assign, found 1");
    rendering_refused("{% set x = {} %}{% set x.a = 1 %}", "expected a namespace");
}
