// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "carve/seen.h"
#include "harness/scratch.h"
#include "store/call_line.h"

static struct call_line call(const char *instance, const char *phase, double largest)
{
    return (struct call_line){
        .instance = instance,
        .phase = phase,
        .shape_class = "x=[5,128]",
        .output_count = 1,
        .outputs[0] = {.param = "y", .largest = largest, .count = 640},
    };
}

static int is_new(struct seen *seen, struct call_line asked)
{
    int has_class = 7, is_wider = 7;
    cr_assert_eq(seen_has_class(seen, &asked, &has_class), TAPML_OK);
    cr_assert_eq(seen_is_wider(seen, &asked, &is_wider), TAPML_OK);
    return !has_class || is_wider;
}

static void add(struct seen *seen, struct call_line kept)
{
    cr_assert_eq(seen_add(seen, &kept), TAPML_OK);
}

Test(seen, first_of_instance_phase_and_class)
{
    struct seen seen;
    seen_init(&seen);
    cr_assert(is_new(&seen, call("a", "prefill", 1)));
    cr_assert(is_new(&seen, call("a", "prefill", 1)), "a question changes nothing");
    add(&seen, call("a", "prefill", 1));
    cr_assert_not(is_new(&seen, call("a", "prefill", 1)));
    cr_assert(is_new(&seen, call("a", "decode", 1)));
    cr_assert(is_new(&seen, call("b", "prefill", 1)));
    struct call_line other = call("a", "prefill", 1);
    other.shape_class = "x=[6,128]";
    cr_assert(is_new(&seen, other));
    seen_release(&seen);
}

Test(seen, twice_the_largest_magnitude)
{
    struct seen seen;
    seen_init(&seen);
    add(&seen, call("a", "prefill", 1));
    cr_assert_not(is_new(&seen, call("a", "prefill", 2)));
    cr_assert(is_new(&seen, call("a", "prefill", 2.01)));
    add(&seen, call("a", "decode", 3));
    cr_assert_not(is_new(&seen, call("a", "prefill", 6)), "the range is of all phases");
    add(&seen, call("a", "prefill", 0.5));
    cr_assert_not(is_new(&seen, call("a", "prefill", 6)), "a range never narrows");
    seen_release(&seen);
}

Test(seen, a_part_of_the_calls_is_new_where_all_of_them_are)
{
    static const double largest[] = {1, 1.9, 2.5, 2.4, 0.1, 4.9, 5.1, 5.0, 11};
    enum { CALLS = sizeof(largest) / sizeof(*largest) };
    struct seen all, parts[2];
    seen_init(&all);
    for (size_t i = 0; i < 2; i++) {
        seen_init(&parts[i]);
        parts[i].growth = 1;
    }
    for (size_t i = 0; i < CALLS; i++) {
        const struct call_line made = call("a", "prefill", largest[i]);
        int is_new = 7, is_new_in_part = 7;
        cr_assert_eq(seen_add_new(&all, &made, &is_new), TAPML_OK);
        cr_assert_eq(seen_add_new(&parts[i % 2], &made, &is_new_in_part), TAPML_OK);
        cr_expect_eq(is_new,
                     largest[i] == 1 || largest[i] == 2.5 || largest[i] == 5.1 || largest[i] == 11);
        cr_expect(!is_new || is_new_in_part, "call %zu", i);
    }
    seen_release(&all);
    seen_release(&parts[0]);
    seen_release(&parts[1]);
}

Test(seen, all_zeros_widen_to_anything)
{
    struct seen seen;
    seen_init(&seen);
    add(&seen, call("a", "prefill", 0));
    cr_assert_not(is_new(&seen, call("a", "prefill", 0)));
    cr_assert(is_new(&seen, call("a", "prefill", 1e-30)));
    seen_release(&seen);
}

Test(seen, new_kind_of_non_finite)
{
    struct seen seen;
    seen_init(&seen);
    struct call_line kept = call("a", "prefill", 1);
    kept.outputs[0].non_finite_kinds = CALL_LINE_NAN;
    add(&seen, kept);
    cr_assert_not(is_new(&seen, kept));
    kept.outputs[0].non_finite_kinds = CALL_LINE_NAN | CALL_LINE_MINUS_INFINITY;
    cr_assert(is_new(&seen, kept));
    seen_release(&seen);
}

Test(seen, every_output_counts)
{
    struct seen seen;
    seen_init(&seen);
    struct call_line kept = call("a", "prefill", 1);
    kept.output_count = 2;
    kept.outputs[1] = (struct call_statistics){.param = "z", .largest = 5};
    add(&seen, kept);
    cr_assert_not(is_new(&seen, kept));
    kept.outputs[1].largest = 11;
    cr_assert(is_new(&seen, kept));
    seen_release(&seen);
    cr_assert_eq(alloc_live(), 0);
}

static tapml_status see_and_release(void)
{
    const struct call_line kept = call("a", "prefill", 1);
    struct seen seen;
    int answer = 0;
    seen_init(&seen);
    tapml_status status = seen_has_class(&seen, &kept, &answer);
    if (status == TAPML_OK) {
        status = seen_is_wider(&seen, &kept, &answer);
    }
    if (status == TAPML_OK) {
        status = seen_add(&seen, &kept);
    }
    seen_release(&seen);
    return status;
}

Test(seen, survives_a_lack_of_memory)
{
    SCRATCH_SWEEP(see_and_release());
}
