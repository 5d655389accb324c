// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "exec/ring_plan.h"

#include <criterion/criterion.h>
#include <string.h>

enum { OPS_MAX = 40, USES_MAX = 120, WEIGHTS_MAX = 60 };

struct case_of {
    uint64_t bytes[WEIGHTS_MAX];
    uint32_t uses[USES_MAX], ends[OPS_MAX];
    struct ring_plan_options options;
};

// Five ops, of which the second and the last use the same weight.
static void make_five(struct case_of *made, struct ring_settings settings)
{
    *made = (struct case_of){
        .bytes = {100, 1000, 300, 300}, .uses = {0, 1, 2, 3, 1}, .ends = {1, 2, 3, 4, 5}};
    made->options = (struct ring_plan_options){.weight_bytes = made->bytes,
                                               .weight_count = 4,
                                               .uses = made->uses,
                                               .ends = made->ends,
                                               .op_count = 5,
                                               .settings = settings};
}

Test(ring_plan, keeps_the_largest_where_that_makes_slots_smaller)
{
    struct case_of made;
    struct ring_plan plan;
    uint32_t op = 0;
    make_five(&made, (struct ring_settings){.amount = RING_BYTES, .bytes = 1600});
    cr_assert_eq(ring_plan_make(&made.options, &op, &plan), TAPML_OK);
    cr_expect_eq(plan.weights_bytes, 1700);
    cr_expect(plan.stays[1]);
    cr_expect_eq(plan.slots, 2);
    cr_expect_eq(plan.slot_bytes, 300);
    cr_expect_leq(plan.staying_bytes + plan.slots * plan.slot_bytes, 1600);
    ring_plan_release(&plan);
}

Test(ring_plan, loads_a_weight_again_where_it_is_used_again)
{
    struct case_of made;
    struct ring_plan plan;
    uint32_t op = 0;
    make_five(&made, (struct ring_settings){.amount = RING_BYTES, .bytes = 1000, .slots = 1});
    cr_assert_eq(ring_plan_make(&made.options, &op, &plan), TAPML_OK);
    cr_expect_eq(plan.slots, 1);
    cr_expect_eq(plan.slot_bytes, 1000);
    cr_expect_eq(plan.section_count, 4); // 100; 1000; 300 and 300; 1000.
    cr_expect_eq(plan.loaded_bytes, 100 + 1000 + 600 + 1000);
    ring_plan_release(&plan);
}

Test(ring_plan, has_no_sections_where_all_stays)
{
    struct case_of made;
    struct ring_plan plan;
    uint32_t op = 0;
    make_five(&made, (struct ring_settings){.amount = RING_AUTO});
    cr_assert_eq(ring_plan_make(&made.options, &op, &plan), TAPML_OK);
    cr_expect_eq(plan.section_count, 0);
    cr_expect_eq(plan.staying_bytes, 1700);
    ring_plan_release(&plan);
}

Test(ring_plan, refuses_in_a_sentence_what_has_no_room)
{
    struct case_of made;
    struct ring_plan plan;
    uint32_t op = 0;
    make_five(&made, (struct ring_settings){.amount = RING_SHARE, .share = 0.5});
    cr_assert_eq(ring_plan_make(&made.options, &op, &plan), TAPML_NO_MEMORY);
    cr_expect_eq(op, 1);
    cr_expect_str_eq(status_message(), "its weights take a slot of 1000 bytes, of which the ring "
                                       "has 2: its memory is 850, expected at least 2000");
    make_five(&made, (struct ring_settings){.amount = RING_BYTES, .bytes = 1650, .slots = 1});
    made.options.slot_bytes_max = 200;
    cr_assert_eq(ring_plan_make(&made.options, &op, &plan), TAPML_NO_MEMORY);
    cr_expect_str_eq(status_message(),
                     "its weights take 1000 bytes, and a slot of the ring 200 at most");
}

// -- Drawn by chance ---------------------------------------------------------------------------

static void draw(struct random *random, struct case_of *made)
{
    uint32_t use_count = 0;
    const uint32_t op_count = 1 + (uint32_t)random_below(random, OPS_MAX);
    *made = (struct case_of){.options = {.op_count = op_count, .weight_count = WEIGHTS_MAX}};
    for (uint32_t i = 0; i < WEIGHTS_MAX; i++) {
        made->bytes[i] = random_below(random, 4) == 0 ? 0 : 256 * (1 + random_below(random, 40));
    }
    for (uint32_t op = 0; op < op_count; op++) {
        const uint32_t first = (uint32_t)random_below(random, WEIGHTS_MAX - 3);
        const uint32_t count = (uint32_t)random_below(random, 4);
        for (uint32_t i = 0; i < count; i++) {
            made->uses[use_count++] = first + i;
        }
        made->ends[op] = use_count;
    }
    made->options.weight_bytes = made->bytes;
    made->options.uses = made->uses;
    made->options.ends = made->ends;
    made->options.settings = (struct ring_settings){.amount = RING_SHARE,
                                                    .share = random_between(random, 0, 1),
                                                    .slots = (int64_t)random_below(random, 6)};
}

static uint32_t count_in(const struct ring_plan *plan, uint32_t section, uint32_t weight)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->sections[section].item_count; i++) {
        count += plan->items[plan->sections[section].first_item + i].weight == weight;
    }
    return count;
}

// Each op finds what it uses in the section that it is in, once, or it stays.
static void check(const struct case_of *made, const struct ring_plan *plan)
{
    uint32_t section = UINT32_MAX, use = 0;
    for (uint32_t op = 0; op < made->options.op_count; op++) {
        if (section + 1 < plan->section_count && plan->sections[section + 1].op == op) {
            section++;
        }
        for (; use < made->ends[op]; use++) {
            const uint32_t weight = made->uses[use];
            if (!plan->stays[weight] && made->bytes[weight] > 0) {
                cr_assert_lt(section, plan->section_count);
                cr_assert_eq(count_in(plan, section, weight), 1);
            }
        }
    }
    cr_assert_eq(section + 1, plan->section_count);
    for (uint32_t i = 0; i < plan->section_count; i++) {
        const struct ring_section *own = &plan->sections[i];
        uint64_t end = 0;
        for (uint32_t k = 0; k < own->item_count; k++) {
            const struct ring_item *item = &plan->items[own->first_item + k];
            cr_assert_eq(item->offset, end);
            end += made->bytes[item->weight];
        }
        cr_assert_eq(end, own->bytes);
        cr_assert_leq(end, plan->slot_bytes);
    }
    cr_assert_leq(plan->staying_bytes + plan->slots * plan->slot_bytes, plan->memory_bytes);
}

Test(ring_plan, is_sound_by_chance)
{
    struct random random;
    uint32_t made_count = 0, op = 0;
    random_init(&random, 7);
    for (int i = 0; i < 3000; i++) {
        struct case_of made;
        struct ring_plan plan;
        draw(&random, &made);
        const tapml_status status = ring_plan_make(&made.options, &op, &plan);
        if (status == TAPML_OK) {
            made_count++;
            check(&made, &plan);
            ring_plan_release(&plan);
        } else {
            cr_assert_eq(status, TAPML_NO_MEMORY);
            cr_assert_lt(op, made.options.op_count);
        }
    }
    cr_expect_gt(made_count, 1000);
}

Test(ring_plan, reads_amounts)
{
    struct ring_settings settings = {.slots = 3};
    cr_assert_eq(ring_plan_read("12.5%", &settings), TAPML_OK);
    cr_expect(settings.amount == RING_SHARE && settings.share == 0.125 && settings.slots == 3);
    cr_assert_eq(ring_plan_read("512", &settings), TAPML_OK);
    cr_expect(settings.amount == RING_BYTES && settings.bytes == 512 << 20);
    cr_assert_eq(ring_plan_read("auto", &settings), TAPML_OK);
    cr_expect_eq(settings.amount, RING_AUTO);
    static const char *const wrong[] = {
        "", "%", "0", "-1", "101%", "1.5", "x", "1e99", "auto%", "12345678901234567890123456789"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_eq(ring_plan_read(wrong[i], &settings), TAPML_INVALID, "%s", wrong[i]);
    }
    cr_expect_eq(settings.amount, RING_AUTO);
}
