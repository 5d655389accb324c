// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/command.h"
#include "harness/scratch.h"

static char *model(const char *name)
{
    return (char *)(uintptr_t)scratch_data(name);
}

Test(command_graph, text_and_dot)
{
    struct printed printed = PRINTED(command_graph_main, "--model", model("models/gemma2"));

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "input rope.cos f32 [T, 12] from fill\n"));
    cr_assert_not_null(strstr(printed.out, "\nlayers.2/mlp/norm_after = rms_norm("));
    cr_assert_not_null(strstr(printed.out, "\noutput logits = logit_softcap f32 [R, 96]\n"));
    printed_release(&printed);
    printed = PRINTED(command_graph_main, "--model", model("models/gemma2"), "--format", "dot");
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_eq(strncmp(printed.out, "digraph model {", 15), 0);
    cr_assert_not_null(strstr(printed.out, "layers.2/mlp/gate_proj\\nlinear\\n"
                                           "model.layers.2.mlp.gate_proj.weight bf16 [80, 64]"));
    printed_release(&printed);
}

// The checkpoint is half precision; without it nobody knows.
Test(command_graph, without_weights)
{
    struct printed printed =
        PRINTED(command_graph_main, "--model", model("models/gemma2"), "--without-weights");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "w=model.layers.2.mlp.gate_proj.weight f32 [80, 64]"));
    printed_release(&printed);
}

static const char *write_plan(struct scratch *scratch)
{
    const char *path = scratch_path(scratch, "plan");
    FILE *file = fopen(path, "w");

    cr_assert_not_null(file);
    (void)fputs("* -> source\nop=silu -> other\n", file);
    (void)fclose(file);
    return path;
}

// On one place there are calls alone, and weights for them; another place of host memory shares
// what the first one has.
Test(command_graph, steps)
{
    struct scratch scratch;
    struct printed printed = PRINTED(command_graph_main, "--model", model("models/llama"),
                                     "--steps", "--source", "reference:f32");

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_not_null(strstr(printed.out, "upload  source: model.layers.0.mlp.up_proj.weight "));
    cr_assert_not_null(strstr(printed.out, "call    source: layers.0/mlp/silu (tapml.silu)\n"));
    cr_assert_null(strstr(printed.out, "wait"));
    printed_release(&printed);
    scratch_make(&scratch);
    printed = PRINTED(command_graph_main, "--model", model("models/llama"), "--steps", "--source",
                      "reference:f32", "--target", "other=reference:f64", "--tokens", "4", "--plan",
                      (char *)(uintptr_t)write_plan(&scratch));
    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    // Both have host memory: nothing moves, and who begins waits for the one before by itself.
    cr_assert_not_null(strstr(printed.out, "call    source: layers.0/mlp/gate_proj (tapml.linear)\n"
                                           "call    other: layers.0/mlp/silu (tapml.silu)\n"));
    printed_release(&printed);
    scratch_remove(&scratch);
}

Test(command_graph, what_is_refused)
{
    struct printed printed = PRINTED(command_graph_main, "--format", "dot");

    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "--model DIR"));
    printed_release(&printed);
    printed = PRINTED(command_graph_main, "--model", model("models/gpt2"), "--format", "svg");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "found 'svg'"));
    printed_release(&printed);
    printed = PRINTED(command_graph_main, "--model", model("models/gpt2"), "--steps",
                      "--without-weights");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "--without-weights"));
    printed_release(&printed);
    printed =
        PRINTED(command_graph_main, "--model", model("models/gpt2"), "--steps", "--target", "gpu");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "expected NAME=BACKEND"));
    printed_release(&printed);
    printed = PRINTED(command_graph_main, "--model", model("models/gpt2"), "--plan", "p");
    cr_assert_eq(printed.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(printed.err, "--plan is an option of --steps"));
    printed_release(&printed);
}
