// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/rendering.h"
#include "template/statement_reader.h"

Test(statement_reader, knows_the_statements_of_chat_templates)
{
    rendering_is("{% if a %}1{% elif b %}2{% else %}3{% endif %}", "{\"b\": 1}", "2");
    rendering_is("{% for x in l if x > 1 %}{{ x }}{% else %}-{% endfor %}", "{\"l\": [1, 2]}", "2");
    rendering_is("{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}", NULL, "12");
    rendering_is("{% set x %}a{% endset %}{{ x }}{% generation %}b{% endgeneration %}", NULL, "ab");
    rendering_is("{% macro f() %}<{{ caller() }}>{% endmacro %}{% call f() %}x{% endcall %}", NULL,
                 "<x>");
}

Test(statement_reader, refuses_what_it_does_not_know)
{
    rendering_refused("a\n{% include 'x' %}", "t:2: the statement 'include' is unsupported");
    rendering_refused("{% raw %}{% endraw %}", "the statement 'raw'");
    rendering_refused("{% for x in l recursive %}{% endfor %}", "the loop 'recursive'");
    rendering_refused("{% set x | trim %}{% endset %}", "the statement 'set NAME | FILTER'");
    rendering_refused("{% call(x) f() %}{% endcall %}", "t:1: ");
    rendering_refused("{% if 1 %}", "never ended: expected 'elif else endif'");
    rendering_refused("{% endfor %}", "the statement 'endfor'");
    rendering_refused("{% for x y %}", "expected 'in'");
    rendering_refused("{% 1 %}", "the word of a statement");
}
