// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

#include <jansson.h>
#include <string.h>

static struct scratch scratch;
static char store[2 * SCRATCH_PATH], tiny[1024], prompts[1024];

static void begin(void)
{
    scratch_make(&scratch);
    (void)snprintf(store, sizeof(store), "%s", scratch_path(&scratch, "rank.tapmlrun"));
    (void)snprintf(tiny, sizeof(tiny), "%s", scratch_source("models/tiny"));
    (void)snprintf(prompts, sizeof(prompts), "%s", scratch_source("models/tiny/prompts.txt"));
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(rank_contenders, .init = begin, .fini = end, .timeout = 110);

#define RANK(over_, ...)                                                                           \
    PRINTED(command_rank_main, "--over", over_, "--store", store, "--text", prompts, "--context",  \
            "32", "--backend", "reference", __VA_ARGS__)

static json_t *read_json(struct printed said)
{
    json_t *made = json_loads(said.out, 0, NULL);

    cr_assert_eq(said.outcome, OUTCOME_OK, "%s%s", said.out, said.err);
    cr_assert_not_null(made, "%s", said.out);
    printed_release(&said);
    return made;
}

static const char *name_at(const json_t *made, size_t index)
{
    return json_string_value(
        json_object_get(json_array_get(json_object_get(made, "ranking"), index), "name"));
}

static json_int_t runs_of(const json_t *made)
{
    return json_integer_value(json_object_get(json_object_get(made, "spent"), "runs"));
}

Test(rank_contenders, encodings_are_ranked_by_their_divergence)
{
    json_t *made = read_json(RANK("encoding", "--model", tiny, "--weights", "q4_0", "--weights",
                                  "q8_0", "--chunks", "3", "--json"));

    cr_expect_str_eq(name_at(made, 0), "q8_0");
    cr_expect_str_eq(name_at(made, 1), "q4_0");
    cr_expect_eq(runs_of(made), 6);
    cr_expect_str_eq(json_string_value(json_object_get(made, "unit")), "KL divergence");
    json_decref(made);
    // As a table, of what is known by now.
    printed_expect(RANK("encoding", "--model", tiny, "--weights", "q4_0", "--weights", "q8_0",
                        "--chunks", "3"),
                   OUTCOME_OK, "exhaustive: 6 of 6 chunks in 1 round, 0 of them run now\n");
}

Test(rank_contenders, models_are_ranked_by_the_byte)
{
    json_t *made =
        read_json(RANK("model", "--model", tiny, "--model", "/absent", "--chunks", "2", "--json"));
    const json_t *left_out = json_array_get(json_object_get(made, "left_out"), 0);

    cr_expect_str_eq(json_string_value(json_object_get(made, "unit")), "bits per byte");
    cr_expect_eq(json_array_size(json_object_get(made, "ranking")), 1);
    cr_expect_str_eq(json_string_value(json_object_get(left_out, "name")), "/absent");
    json_decref(made);
    printed_expect(RANK("model", "--model", tiny, "--model", "/absent", "--chunks", "2"),
                   OUTCOME_OK, "left out: '/absent': ");
}

Test(rank_contenders, plans_are_ranked_by_speed)
{
    char first[2 * SCRATCH_PATH], second[2 * SCRATCH_PATH];

    (void)snprintf(first, sizeof(first), "%s", scratch_text(&scratch, "all.txt", "* -> gpu\n"));
    (void)snprintf(second, sizeof(second), "%s",
                   scratch_text(&scratch, "none.txt", "* -> source\n"));
    json_t *made =
        read_json(RANK("plan", "--model", tiny, "--plan", first, "--plan", second, "--target",
                       "gpu=cpu", "--by", "speed", "--chunks", "2", "--json"));

    cr_expect_str_eq(name_at(made, 0), first); // The reference is slower by far.
    cr_expect_eq(runs_of(made), 4);
    cr_expect_str_eq(json_string_value(json_object_get(made, "unit")), "tokens/s");
    json_decref(made);
}

#define REFUSED(piece_, ...) printed_expect(RANK(__VA_ARGS__), OUTCOME_USAGE, piece_)

Test(rank_contenders, what_cannot_be_ranked_is_refused)
{
    REFUSED("no model: give --model PATH", "encoding", "--by", "kl");
    REFUSED("no plans: give --plan FILE", "plan", "--model", tiny);
    REFUSED("give --base PATH", "model", "--model", tiny, "--by", "kl");
    REFUSED("--base is for --by kl", "model", "--model", tiny, "--base", tiny);
    REFUSED("--by is 'time', expected one of: kl perplexity speed", "model", "--by", "time");
    REFUSED("found 'q3'", "encoding", "--model", tiny, "--weights", "q3");
    REFUSED("/absent", "model", "--model", tiny, "--fits", "/absent");
    REFUSED("--config is for --over op, target or backend", "model", "--config", "x.ini");
    printed_expect(PRINTED(command_rank_main, "--over", "model", "--model", tiny), OUTCOME_USAGE,
                   "no text: give --text FILE");
    printed_expect(PRINTED(command_rank_main, "--over", "op", "--text", prompts), OUTCOME_USAGE,
                   "--text is for --over model, encoding or plan");
}
