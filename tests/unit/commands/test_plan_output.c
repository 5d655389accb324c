// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/plan_output.h"
#include "harness/made_ops.h"

#include <string.h>

static struct made_ops made;
static struct plan_ground ground;
static const uint8_t ON_SOURCE[MADE_OPS] = {0},
                     MIXED[MADE_OPS] = {0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0};

static void begin(void)
{
    made_ops_init(&made);
    ground = (struct plan_ground){.arena = arena_create(),
                                  .question = made.question,
                                  .names = {"source", "gpu", "npu"},
                                  .places = {[1] = {.may_run = 16, .refused = 2, .reason = "no"}}};
    MUST(plan_columns_init(&ground.question, NULL, ground.arena, &ground.columns));
}

static void end(void)
{
    arena_destroy(ground.arena);
}

TestSuite(plan_output, .init = begin, .fini = end);

static struct plan_shown on_source(void)
{
    return (struct plan_shown){.ground = &ground,
                               .places = ON_SOURCE,
                               .count = {.places[0] = {.calls = 16, .weights_bytes = 4096}},
                               .times_ns = {500e3},
                               .whole_ns = 500e3};
}

static struct plan_shown mixed(void)
{
    return (struct plan_shown){.ground = &ground,
                               .places = MIXED,
                               .count = {.places = {{.calls = 13, .weights_bytes = 1024},
                                                    {.calls = 3,
                                                     .moves_in = 3,
                                                     .moves_out = 3,
                                                     .bytes_in = 300,
                                                     .bytes_out = 300,
                                                     .weights_bytes = 3 << 20,
                                                     .states_bytes = 512}}},
                               .times_ns = {200e3, 60e3},
                               .crossing_ns = 180e3,
                               .whole_ns = 440e3,
                               .unproved = 2};
}

static void expect(const struct text *text, const char *piece)
{
    cr_expect_not_null(strstr(text->data, piece), "%s\nis not in\n%s", piece, text->data);
}

Test(plan_output, sizes_have_units)
{
    char size[PLAN_OUTPUT_SIZE];

    plan_output_size(512, size);
    cr_expect_str_eq(size, "512 bytes");
    plan_output_size(3 << 20, size);
    cr_expect_str_eq(size, "3.0 MiB");
}

Test(plan_output, a_plan_is_said_in_words)
{
    const struct plan_shown shown = mixed();
    struct text text;

    text_init(&text);
    plan_output_text(&shown, 1, &text);
    expect(&text, "source: 13 of 16 operators: rms_norm, linear 1 of 4, silu, add\n");
    expect(&text, "gpu: 3 of 16 operators: linear 3 of 4\n  predicted 60 us of a token\n"
                  "  memory 3.0 MiB (weights 3.0 MiB, states 512 bytes, activations 0 bytes)\n");
    expect(&text, "npu: 0 of 16 operators\n");
    expect(&text, "crossing: 6 values a token, 600 bytes; predicted 180 us\n"
                  "a token: predicted 440 us\n");
    expect(&text, "not proved: 2 operators");
    expect(&text, "16 operators may run there, 0 have failed, 0 have no fresh result, 2 are "
                  "refused: no\n");
    text_clear(&text);
    plan_output_json(&shown, &text);
    expect(&text, "\"name\": \"gpu\", \"operators\": 3, \"predicted_ns\": 60000, \"moves_in\": 3");
    expect(&text, "\"kinds\": {\"linear\": 3}");
    expect(&text, "\"moves\": 6, \"moved_bytes\": 600, \"crossing_ns\": 180000");
    text_release(&text);
}

Test(plan_output, what_moves_is_said_with_its_cost)
{
    const struct plan_shown a = on_source(), b = mixed();
    struct text text;

    text_init(&text);
    plan_output_diff_text(&a, &b, &text);
    expect(&text, "linear: 3 from 'source' to 'gpu', predicted -240 us of a token\n");
    expect(&text, "crossing: 0 values a token, 0 bytes; then 6, 600 bytes: predicted +180 us\n");
    expect(&text, "memory of gpu: 0 bytes, then 3.0 MiB\n");
    expect(&text, "a token: predicted 500 us, then 440 us: -12 %\n");
    text_clear(&text);
    plan_output_diff_json(&a, &b, &text);
    expect(&text, "{\"kind\": \"linear\", \"from\": \"source\", \"to\": \"gpu\", \"operators\": 3, "
                  "\"change_ns\": -240000}");
    text_clear(&text);
    plan_output_diff_text(&a, &a, &text);
    expect(&text, "nothing moves");
    text_release(&text);
}
