// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "carve/foreign_store.h"
#include "dump/dump.h"
#include "dump/dump_catalogue.h"
#include "dump/import_map.h"
#include "dump/importer.h"
#include "harness/scratch.h"
#include "schema/catalogue.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"

static struct scratch scratch;
static struct catalogue *catalogue;
static struct dump *dump;
static struct import_map map;
static struct foreign_store *store;

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8}, c[] = {9, 1, 2, 3}, w[] = {1, 1};

static void add(const char *name, const float *values)
{
    MUST(dump_add(dump, &(struct dump_tensor){.name = name,
                                              .dtype = TAPML_F32,
                                              .rank = values == w ? 1 : 2,
                                              .shape = {2, 2},
                                              .data = values}));
}

static void begin(void)
{
    scratch_make(&scratch);
    MUST(dump_catalogue_create(&catalogue));
    MUST(dump_create("here", &dump));
    add("a", a);
    add("b", b);
    add("c", c);
    add("w", w);
    MUST(foreign_store_open(scratch_path(&scratch, "x.tapmlrun"), "a model", "a test", catalogue,
                            &store));
}

static void end(void)
{
    foreign_store_close(store);
    import_map_release(&map);
    dump_destroy(dump);
    catalogue_destroy(catalogue);
    scratch_remove(&scratch);
}

TestSuite(importer, .init = begin, .fini = end);

static tapml_status run(const char *rules, struct import_counts *out_counts)
{
    import_map_release(&map);
    MUST(import_map_parse("map", rules, strlen(rules), catalogue, &map));
    return importer_run(
        &(struct import_options){.dump = dump, .map = &map, .store = store, .prompt = "a prompt"},
        out_counts);
}

Test(importer, calls_become_cases)
{
    struct import_counts counts;
    struct arena *arena = arena_create();
    struct store *read = NULL;
    struct carved_case item;
    int64_t *ids = NULL;
    size_t count = 0;

    MUST(run("x: tapml.silu x=a y=b\ny: tapml.rms_norm x=b weight=@w eps=1e-5 offset=0 y=c\n"
             "z: opaque.other in=c out=a\nn: tapml.silu x=a y=nothing\n",
             &counts));
    cr_assert(counts.calls == 3 && counts.opaque == 1 && counts.idle_rules == 1);
    cr_assert_str_eq(counts.idle_rule, "n");
    cr_assert_eq(counts.unused, 0u);
    foreign_store_close(store);
    store = NULL;
    MUST(store_open_to_read(scratch_path(&scratch, "x.tapmlrun"), &read));
    MUST(stored_case_ids(read, &ids, &count));
    cr_assert_eq(count, 3u);
    MUST(stored_case_load(read, ids[1], arena, &item));
    cr_assert_str_eq(item.arguments[0].origin, "x");
    cr_assert_str_eq(item.arguments[1].origin, "w");
    cr_assert_eq(item.arguments[2].d, 1e-5);
    alloc_free(ids);
    store_close(read);
    arena_destroy(arena);
}

Test(importer, tensors_that_no_rule_names_are_counted)
{
    struct import_counts counts;

    MUST(run("x: tapml.silu x=a y=b\n", &counts));
    cr_assert_eq(counts.unused, 2u);
    cr_assert_str_eq(counts.unused_name, "c");
}

static void refused(const char *rules, const char *sentence)
{
    struct import_counts counts;

    cr_assert_neq(run(rules, &counts), TAPML_OK, "%s", rules);
    cr_assert_not_null(strstr(status_message(), sentence), "'%s' lacks '%s'", status_message(),
                       sentence);
}

Test(importer, what_is_no_call_is_refused_with_its_line)
{
    const struct dump_printed printed = {.count = 0};

    refused("x: tapml.silu x=nothing y=b\n", "map:1: 'x': 'x': the dump has no tensor 'nothing'");
    refused("x: tapml.silu y=b\n", "parameter 'x'");
    refused("x: tapml.silu x=w y=b\n", "parameter 'y'");
    refused("y: tapml.rms_norm x=b weight=@w eps=abc offset=0 y=c\n", "'eps'");
    refused("x: tapml.silu x=a y=none\n", "the output of none of its 1 rules");
    MUST(dump_add(
        dump,
        &(struct dump_tensor){
            .name = "p", .dtype = TAPML_F32, .rank = 2, .shape = {2, 2}, .printed = &printed}));
    refused("x: tapml.silu x=a y=p\n", "printed as text, of which no case can be made");
}
