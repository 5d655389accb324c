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
}
