// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/plan_search.h"
#include "harness/made_ops.h"

#include <math.h>
#include <string.h>

// A machine on which operators take what their times say, times a factor that the search does not
// know, and each change of place between neighbours costs.
struct machine {
    struct made_ops made;
    struct arena *arena;
    struct plan_columns columns;
    double factors[MADE_PLACES], move_ns, product_ns; // What it does not know.
    size_t measured;
};

static struct machine machine;

static struct step_count count_of(const uint8_t *places)
{
    struct step_count count = {.places[0] = {.calls = 0}};
    for (int i = 1; i < MADE_OPS; i++) {
        if (places[i] != places[i - 1]) {
            count.places[places[i]].moves_in += places[i] != 0;
            count.places[places[i - 1]].moves_out += places[i - 1] != 0;
        }
    }
    for (int i = 0; i < MADE_OPS; i++) {
        count.places[places[i]].weights_bytes += i % MADE_KINDS == 1 ? 1000 : 10;
    }
    return count;
}

static double time_of(const uint8_t *places)
{
    const struct step_count count = count_of(places);
    double time_ns = machine.move_ns * step_count_moves(&count);
    for (int i = 0; i < MADE_OPS; i++) {
        const int is_product = i % MADE_KINDS == 1 && places[i] == 1;
        time_ns += machine.factors[places[i]] * machine.made.times[i][places[i]] +
                   (is_product ? machine.product_ns : 0);
    }
    return time_ns;
}

static tapml_status look(void *user, const uint8_t *places, struct plan_look *io_look)
{
    const struct step_count count = count_of(places);
    (void)user;
    for (int i = 0; i < MADE_PLACES; i++) {
        io_look->bytes[i] = step_count_memory(&count.places[i]);
    }
    io_look->moves = step_count_moves(&count);
    plan_columns_fill(&machine.columns, places, &count, io_look->columns);
    return TAPML_OK;
}

static tapml_status
measure(void *user, struct plan_trial *const *trials, size_t count, size_t chunks)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        machine.measured += trials[i]->chunks == 0;
        trials[i]->value = time_of(trials[i]->places);
        trials[i]->chunks = chunks;
    }
    return TAPML_OK;
}

// The second half of the model diverges more, and products most.
static double divergence_of(const uint8_t *places)
{
    double divergence = 0;
    for (int i = 0; i < MADE_OPS; i++) {
        divergence += places[i] != 1        ? 0
                      : i % MADE_KINDS == 1 ? (i < MADE_OPS / 2 ? 0.02 : 0.1)
                                            : 0.001;
    }
    return divergence;
}

static tapml_status
measure_divergence(void *user, struct plan_trial *const *trials, size_t count, size_t chunks)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        trials[i]->value = divergence_of(trials[i]->places);
        trials[i]->chunks = chunks;
    }
    return TAPML_OK;
}

static void begin(void)
{
    machine = (struct machine){
        .factors = {1, 0.5, 1}, .move_ns = 15e3, .product_ns = 0, .arena = arena_create()};
    made_ops_init(&machine.made);
    MUST(plan_columns_init(&machine.made.question, NULL, machine.arena, &machine.columns));
}

static void end(void)
{
    arena_destroy(machine.arena);
}

TestSuite(plan_search, .init = begin, .fini = end, .timeout = 60);

static struct plan_search_input input_of(size_t trials)
{
    static const uint8_t is_reduced[MADE_PLACES] = {0, 1, 0};
    struct plan_search_input input = {.question = &machine.made.question,
                                      .calls = {.look = look, .measure = measure},
                                      .columns = &machine.columns,
                                      .noise = 0.02,
                                      .trials = trials,
                                      .chunks = 1,
                                      .chunks_last = 4,
                                      .slack = 0.1,
                                      .is_reduced = is_reduced};
    MUST(plan_units_find(&machine.made.question, machine.arena, &input.units));
    MUST(plan_build_all(&machine.made.question, NULL, 0, machine.arena, &input.builds));
    return input;
}

static struct plan_search run(const struct plan_search_input *input)
{
    struct plan_search search;
    MUST(plan_search_run(input, machine.arena, &search));
    cr_expect_leq(search.measured_count, input->trials);
    return search;
}

// What is best of all plans in which kinds are whole, which is small enough to try.
static double least_of_kinds(void)
{
    double least = INFINITY;
    for (int plan = 0; plan < 81; plan++) {
        const int of_kind[] = {plan % 3, plan / 3 % 3, plan / 9 % 3, plan / 27 % 3};
        uint8_t places[MADE_OPS];
        int may_run = 1;
        for (int i = 0; i < MADE_OPS; i++) {
            places[i] = (uint8_t)of_kind[i % MADE_KINDS];
            may_run &= machine.made.may_run[i][places[i]];
        }
        least = may_run ? fmin(least, time_of(places)) : least;
    }
    return least;
}

Test(plan_search, finds_what_is_at_least_as_good_as_all_kinds)
{
    const struct plan_search_input input = input_of(24);
    const struct plan_search search = run(&input);
    cr_assert_not_null(search.best);
    cr_expect_leq(search.best->value, least_of_kinds() * 1.001);
    cr_expect_eq(search.measured[0]->value, search.best->value);
    cr_expect_eq(machine.measured, search.measured_count);
    cr_expect_gt(search.correlation, 0.5);
    for (size_t i = 1; i < search.measured_count; i++) {
        cr_expect_leq(search.measured[i - 1]->value, search.measured[i]->value);
    }
}

// Products on the gpu are ten times as slow as their cases: it has to be measured.
Test(plan_search, learns_what_the_ledger_does_not_know)
{
    machine.product_ns = 200e3;
    const struct plan_search_input input = input_of(24);
    const struct plan_search search = run(&input);
    cr_expect_leq(search.best->value, least_of_kinds() * 1.001);
    for (int i = 1; i < MADE_OPS; i += MADE_KINDS) {
        cr_expect_neq(search.best->places[i], 1);
    }
}

Test(plan_search, the_same_answers_give_the_same_search)
{
    const struct plan_search_input input = input_of(16);
    const struct plan_search first = run(&input), again = run(&input);
    cr_assert_eq(first.measured_count, again.measured_count);
    for (size_t i = 0; i < first.measured_count; i++) {
        cr_expect_eq(memcmp(first.measured[i]->places, again.measured[i]->places, MADE_OPS), 0);
    }
}

Test(plan_search, memory_is_a_bound)
{
    struct plan_search_input input = input_of(20);
    input.memory_bytes = 2100; // Two products.
    const struct plan_search search = run(&input);
    cr_expect_gt(search.too_large, 0);
    for (size_t i = 0; i < search.measured_count; i++) {
        cr_expect_leq(search.measured[i]->look.bytes[1], 2100u);
        cr_expect_leq(search.measured[i]->look.bytes[2], 2100u);
    }
    cr_expect_lt(search.best->value, time_of((const uint8_t[MADE_OPS]){0}));
}

Test(plan_search, less_memory_may_cost_a_share_of_the_time)
{
    struct plan_search_input input = input_of(30);
    input.objective = PLAN_MEMORY;
    input.slack = 3;
    const struct plan_search search = run(&input);
    cr_assert_not_null(search.best);
    cr_expect_leq(search.best->value, search.limit);
    for (size_t i = 0; i < search.measured_count; i++) {
        if (search.measured[i]->value <= search.limit &&
            search.measured[i]->chunks == search.best->chunks) {
            cr_expect_leq(plan_search_away(&input, search.best),
                          plan_search_away(&input, search.measured[i]));
        }
    }
}

Test(plan_search, precision_keeps_few_operators_wide)
{
    struct plan_search_input input = input_of(30);
    MUST(plan_columns_init(&machine.made.question, input.is_reduced, machine.arena,
                           &machine.columns));
    input.objective = PLAN_PRECISION;
    input.bound = 0.06;
    input.chunks_last = 1;
    input.calls.measure = measure_divergence;
    const struct plan_search search = run(&input);
    cr_assert_not_null(search.best);
    cr_expect_leq(search.best->value, 0.06);
    // The products of the second half, and no others: 0.04 of the first half, and 0.012.
    cr_expect_eq(plan_search_wide(&input, search.best->places), 2u);
    for (size_t i = 0; i < search.edits.count; i++) { // Of the best, whichever that is at the end.
        const struct plan_edit *edit = &search.edits.items[i];
        cr_expect_neq(edit->trial, search.best);
        if (edit->is_measured) {
            cr_expect_float_eq(edit->change, edit->trial->value / search.best->value - 1, 1e-9);
        }
    }
    input.bound = 1;
    cr_expect_eq(plan_search_wide(&input, run(&input).best->places), 0u);
}

Test(plan_search, the_edits_that_matter_most_are_measured)
{
    const struct plan_search_input input = input_of(24);
    const struct plan_search search = run(&input);
    cr_assert_eq(search.edits.count, PLAN_EDITS);
    cr_expect_str_eq(search.edits.items[0].unit, "linear");
    cr_expect_eq(search.edits.items[0].place, 0);
    cr_expect(search.edits.items[0].is_measured);
    uint8_t places[MADE_OPS];
    memcpy(places, search.best->places, sizeof(places));
    for (int i = 1; i < MADE_OPS; i += MADE_KINDS) {
        places[i] = 0;
    }
    cr_expect_float_eq(search.edits.items[0].change, time_of(places) / search.best->value - 1,
                       1e-9);
}

Test(plan_search, one_trial_is_enough_to_answer)
{
    const struct plan_search_input input = input_of(1);
    const struct plan_search search = run(&input);
    cr_expect_eq(search.measured_count, 1);
    cr_assert_not_null(search.best);
}
