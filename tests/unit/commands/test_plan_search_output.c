// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/plan_search_output.h"
#include "harness/made_ops.h"

#include <math.h>
#include <string.h>

static struct made_ops made;
static struct plan_ground ground;
static struct plan_sought sought;
static struct plan_search_shown shown;
static uint64_t bytes[MADE_PLACES] = {0, 1024, 0};
static const uint8_t places[MADE_OPS] = {0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
static struct plan_trial best, other;
static struct plan_trial *measured[] = {&best, &other};

static void begin(void)
{
    made_ops_init(&made);
    ground = (struct plan_ground){
        .arena = arena_create(), .question = made.question, .names = {"source", "gpu", "npu"}};
    MUST(plan_columns_init(&ground.question, NULL, ground.arena, &ground.columns));
    best = (struct plan_trial){.name = "kind",
                               .places = places,
                               .look = {.bytes = bytes, .moves = 8},
                               .predicted = 90e3,
                               .value = 100e3,
                               .spread = 2e3,
                               .chunks = 4};
    other = best;
    other.name = "all";
    other.value = (double)NAN;
    other.failed = "the device went away";
    sought = (struct plan_sought){.input = {.question = &ground.question, .trials = 30},
                                  .search = {.measured = measured,
                                             .measured_count = 2,
                                             .best = &best,
                                             .edits = {.items = {{"attention", 0, &other, 0.12, 1},
                                                                 {"silu", 1, &other, -0.03, 0}},
                                                       .count = 2},
                                             .looked = 50,
                                             .too_large = 3,
                                             .rounds = 2,
                                             .correlation = 0.9},
                                  .runs = 7,
                                  .context = 16};
    shown =
        (struct plan_search_shown){.ground = &ground,
                                   .sought = &sought,
                                   .best = {.ground = &ground, .places = places, .whole_ns = 100e3},
                                   .text = "stories.txt"};
}

static void end(void)
{
    arena_destroy(ground.arena);
}

TestSuite(plan_search_output, .init = begin, .fini = end);

static void expect(const struct text *text, const char *piece)
{
    cr_expect_not_null(strstr(text->data, piece), "%s\nis not in\n%s", piece, text->data);
}

Test(plan_search_output, predicted_stands_beside_measured)
{
    struct text text;

    text_init(&text);
    plan_search_output_text(&shown, 0, &text);
    expect(&text,
           "* kind                                    90       100        2      0 %       8  "
           "   1.0 KiB       4\n");
    expect(&text, "failed: 'all': the device went away\n");
    expect(&text, "best: 100 us of a token\n");
    expect(&text, "moving attention back to source costs 12 % (measured)\n");
    expect(&text, "moving silu to gpu saves 3 % (predicted)\n");
    expect(&text, "2 plans measured in 2 rounds, of 50 that were looked at, 3 of them too large; 7 "
                  "chunks of 16 tokens run now");
    expect(&text, "ranks of predicted and measured correlate by 0.90\n");
    text_release(&text);
}

Test(plan_search_output, the_plan_is_one_that_a_plan_file_has)
{
    struct text text;

    text_init(&text);
    MUST(plan_search_output_plan(&shown, &text));
    expect(&text, "# tapml-host plan search --by latency: 100 us of a token\n");
    expect(&text, "# moving attention back to source costs 12 % (measured)\n");
    expect(&text, "* -> source\nop=linear -> gpu\n");
    text_release(&text);
}

Test(plan_search_output, other_objectives_have_their_own_words)
{
    static const uint8_t is_reduced[] = {0, 1, 0};
    struct text text;

    text_init(&text);
    sought.input.objective = PLAN_MEMORY;
    sought.search.limit = 110e3;
    plan_search_output_text(&shown, 0, &text);
    expect(&text, "best: 1024 bytes away from the source, at 100 us of a token, of at most 110\n");
    text_clear(&text);
    sought.input.objective = PLAN_PRECISION;
    sought.input.bound = 0.5;
    sought.input.is_reduced = is_reduced;
    best.value = 0.25;
    plan_search_output_text(&shown, 0, &text);
    expect(&text, "best: 12 of 16 operators kept wider, at 0.25 nats of at most 0.5\n");
    expect(&text, "costs 12 % of the divergence (measured)\n");
    sought.search.best = NULL;
    text_clear(&text);
    plan_search_output_text(&shown, 0, &text);
    expect(&text, "no plan was found whose divergence is at most 0.5 nats\n");
    sought.search.measured_count = 0;
    text_clear(&text);
    plan_search_output_text(&shown, 0, &text);
    expect(&text, "no plan was measured: ");
    expect(&text, "is too large for --memory\n");
    text_release(&text);
}

Test(plan_search_output, a_document_has_all_of_it)
{
    struct text text;

    text_init(&text);
    MUST(plan_search_output_json(&shown, &text));
    expect(&text, "{\"by\": \"latency\", \"unit\": \"ns\", \"text\": \"stories.txt\"");
    expect(&text, "\"failed\": \"the device went away\"");
    expect(&text, "\"rules\": \"* -> source\\nop=linear -> gpu\\n\"");
    expect(&text,
           "{\"kind\": \"attention\", \"to\": \"source\", \"change\": 0.12, \"is_measured\": "
           "true}");
    sought.search.best = NULL;
    text_clear(&text);
    MUST(plan_search_output_json(&shown, &text));
    expect(&text, "\"best\": null}\n");
    text_release(&text);
}
