// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/eval_score.h"

#include <criterion/criterion.h>
#include <math.h>

Test(eval_score, the_worst_row_and_the_first_layer_are_kept)
{
    struct eval_score score = eval_score_begin((struct eval_limit){.error = 1e-4}, 2);

    cr_assert_not(eval_score_agrees(&score)); // Nothing was compared.
    eval_score_note(&score, "hidden.0", 1e-6, 3);
    score.greedy_equal = 2;
    cr_assert(eval_score_agrees(&score));
    eval_score_note(&score, "hidden.7", 1e-2, 1);
    eval_score_note(&score, "hidden.3", 1e-3, 1);
    cr_assert_eq(score.first_hidden, 3);
    cr_assert_str_eq(score.worst_name, "hidden.7");
    cr_assert_eq(score.compared, 5);
    cr_assert_not(eval_score_agrees(&score));
}

Test(eval_score, other_ids_and_infinity_diverge)
{
    struct eval_score score = eval_score_begin((struct eval_limit){.error = 1e-4}, 1);

    eval_score_note(&score, "prefill_logits", 0, 1);
    cr_assert_not(eval_score_agrees(&score));
    score.greedy_equal = 1;
    cr_assert(eval_score_agrees(&score));
    eval_score_note(&score, "prefill_logits", (double)INFINITY, 1);
    cr_assert_not(eval_score_agrees(&score));
}

Test(eval_score, near_ties_are_those_that_reduced_activations_may_turn)
{
    struct eval_score score =
        eval_score_begin((struct eval_limit){.error = 1e-2, .is_lossy = 1}, 3);

    eval_score_note(&score, "prefill_logits", 0, 1);
    eval_score_note_greedy(&score, 1, (double)INFINITY, 0);
    eval_score_note_greedy(&score, 0, 0.014, 8);
    cr_assert_eq(score.greedy_near, 1);
    cr_assert_eq(score.near_margin, 0.014);
    eval_score_note_greedy(&score, 0, 0.2, 8);
    cr_assert_not(eval_score_agrees(&score), "that is more than twice the limit of a logit");
    score.greedy_behind = 1;
    cr_assert(eval_score_agrees(&score));
    score = eval_score_begin((struct eval_limit){.error = 1e-2}, 1);
    eval_score_note(&score, "prefill_logits", 0, 1);
    eval_score_note_greedy(&score, 0, 1e-6, 8);
    cr_assert_not(eval_score_agrees(&score), "in f32 ids are equal");
}
