// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/rendering.h"
#include "template/evaluator.h"

Test(evaluator, finds_members_before_and_behind_methods)
{
    const char variables[] = "{\"m\": {\"items\": 1, \"role\": \"r\"}, \"s\": \"text\"}";
    rendering_is("{{ m['items'] }} {{ m.items() | list | length }} {{ m.role }}", variables,
                 "1 2 r");
    rendering_is("{{ m.nothing is defined }} {{ s['type'] is defined }} {{ none.x }}", variables,
                 "False False ");
}

Test(evaluator, evaluates_only_what_counts)
{
    rendering_is("{{ false and nothing.x }} {{ 1 or nothing.x }} {{ 2 if true else nothing.x }}",
                 NULL, "False 1 2");
    rendering_is("{{ 1 < 2 < 3 }} {{ 3 < 2 < nothing }}", NULL, "True False");
}

Test(evaluator, gives_the_loop_its_attributes)
{
    rendering_is("{% for x in 'abc' %}{{ loop.index }}{{ loop.revindex0 }}{{ loop.first }}"
                 "{{ loop.previtem is defined }}{{ loop['last'] }};{% endfor %}",
                 NULL, "12TrueFalseFalse;21FalseTrueFalse;30FalseTrueTrue;");
    rendering_refused("{% for x in 'a' %}{{ loop.changed(x) }}{% endfor %}", "'loop.changed'");
}

Test(evaluator, names_the_line_and_what_is_undefined)
{
    rendering_refused("\n\n{{ a.b.c }}", "t:3: 'a' is undefined, and has no 'b'");
    rendering_refused("{{ a + 1 }}", "t:1: 'a' is undefined");
    rendering_refused("{{ f(1) }}", "the function 'f' is unsupported");
    rendering_refused("{{ 'a'.zfill(3) }}", "the method 'zfill' of a text");
}
