// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "dump/dump.h"
#include "dump/dump_catalogue.h"
#include "dump/import_map.h"
#include "harness/scratch.h"
#include "schema/catalogue.h"

static struct catalogue *catalogue;
static struct import_map map;

static void begin(void)
{
    cr_assert_eq(dump_catalogue_create(&catalogue), TAPML_OK);
}

static void end(void)
{
    import_map_release(&map);
    catalogue_destroy(catalogue);
}

TestSuite(import_map, .init = begin, .fini = end);

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static tapml_status parse(const char *text)
{
    return import_map_parse("map", text, strlen(text), catalogue, &map);
}

Test(import_map, a_rule_has_its_op_and_its_arguments)
{
    MUST(parse("# a remark\n\n"
               "l.*/norm: tapml.rms_norm@1 x=in-* weight=@w.* eps=1e-5 offset=0 y=norm-* # more\n"
               "l.*/kv: tapml.state_append state=before-*>after-* rows=r position=3\n"
               "x: opaque.mystery in=a in=b out=c\n"));
    cr_assert_eq(map.count, 3u);
    const struct import_rule *rule = &map.rules[0];

    cr_assert_str_eq(rule->op, "tapml.rms_norm");
    cr_assert(rule->version == 1 && rule->line == 3 && rule->argument_count == 5);
    cr_assert(rule->arguments[1].is_weight && rule->arguments[2].is_number);
    cr_assert_str_eq(rule->arguments[1].value, "w.*");
    cr_assert_str_eq(rule->output->value, "norm-*");
    cr_assert_str_eq(map.rules[1].output->after, "after-*");
    cr_assert(map.rules[2].version == 0 && map.rules[2].arguments[2].position == 2);
}

static void refused(const char *text, const char *sentence)
{
    cr_assert_eq(parse(text), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), sentence), "'%s' lacks '%s'", status_message(),
                       sentence);
}

Test(import_map, lines_that_are_no_rules_are_named)
{
    refused("", "no rules");
    refused("\nx tapml.silu x=a y=b\n", "map:2: expected INSTANCE: OP");
    refused("x: tapml.nothing x=a y=b\n", "no operator 'tapml.nothing'");
    refused("x: tapml.silu@7 x=a y=b\n", "no operator");
    refused("x: tapml.silu@ x=a y=b\n", "no operator");
    refused("x: tapml.silu x=a z=b\n", "has no parameter 'z'");
    refused("x: tapml.silu x y=b\n", "expected PARAMETER=VALUE");
    refused("x: tapml.silu x=a\n", "no output");
    refused("x: tapml.silu x=a>c y=b\n", "expected the name of a tensor");
    refused("x: tapml.silu x=@a y=b\n", "expected the name of a tensor");
    refused("x: tapml.state_append state=a rows=r position=3\n", "expected BEFORE>AFTER");
    refused("x: tapml.silu x=a-* y=b\n", "'*' is not in the name of the output");
    refused("x: tapml.silu x=a y=b-*\n", "'*' is in one of");
    refused("x: opaque.y other=a out=b\n", "has 'in=' and 'out='");
}

static void add(struct dump *dump, const char *name)
{
    MUST(dump_add(dump, &(struct dump_tensor){.name = name, .dtype = TAPML_F32}));
}

Test(import_map, rules_of_layers_are_repeated_together)
{
    static const char *const expected[] = {"first", "l.2/a", "l.2/b", "l.10/a", "l.10/b", "last"};
    struct arena *arena = arena_create();
    struct dump *dump = NULL;
    struct import_call *calls = NULL;
    size_t count = 0;

    MUST(dump_create("here", &dump));
    add(dump, "a-10");
    add(dump, "a-2");
    add(dump, "b-10");
    add(dump, "b-2");
    add(dump, "e");
    add(dump, "h");
    MUST(parse("first: tapml.silu x=i y=e\nl.*/a: tapml.silu x=e y=a-*\n"
               "l.*/b: tapml.silu x=a-* y=b-*\nlast: tapml.silu x=b y=h\n"
               "never: tapml.silu x=b y=none\n"));
    MUST(import_map_expand(&map, dump, arena, &calls, &count));
    cr_assert_eq(count, 6u);
    for (size_t i = 0; i < count; i++) {
        cr_assert_str_eq(calls[i].instance, expected[i]);
    }
    cr_assert_eq(map.rules[4].call_count, 0u);
    MUST(import_map_annotate(&map, dump));
    cr_assert_str_eq(dump->tensors[3].op, "tapml.silu");
    cr_assert_str_eq(dump->tensors[3].sources[0], "a-2");
    dump_destroy(dump);
    arena_destroy(arena);
}

static tapml_status sweep(void)
{
    TAPML_TRY(parse("l.*/a: tapml.silu x=e y=a-*\nx: opaque.y in=a out=b\n"));
    import_map_release(&map);
    return TAPML_OK;
}

Test(import_map, without_memory_nothing_leaks)
{
    SCRATCH_SWEEP(sweep());
}
