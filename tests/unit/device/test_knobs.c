// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device/knobs.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static const int64_t forms[] = {1, 2, 3}, widths[] = {1, 4};
static struct knob knobs[2];
static unsigned char legal[1];
static struct knob_space space;
static struct arena *arena;

static void begin(void)
{
    knobs[0] = (struct knob){.name = "form", .about = "", .values = forms, .count = 3, .chosen = 1};
    knobs[1] = (struct knob){.name = "width", .about = "", .values = widths, .count = 2};
    legal[0] = 0x3d; // All but (1, 4).
    space = (struct knob_space){.shape_class = "n=8", .knobs = knobs, .count = 2, .legal = legal};
    arena = arena_create();
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(knobs, .init = begin, .fini = end);

Test(knobs, combinations_have_numbers)
{
    uint32_t places[2];
    MUST(knobs_check(&space));
    MUST(knobs_check_legal(&space));
    cr_expect_eq(space.size, 6);
    cr_expect_eq(space.legal_count, 5);
    cr_expect_eq(knobs_chosen(&space), 2);
    for (uint32_t i = 0; i < space.size; i++) {
        knobs_places(&space, i, places);
        cr_expect_eq(knobs_number(&space, places), i);
    }
}

Test(knobs, what_is_printed_is_read)
{
    struct text text;
    tapml_setting setting;
    uint32_t number = 0;
    MUST(knobs_check(&space));
    text_init(&text);
    knobs_print(&space, 5, &text);
    cr_expect_str_eq(text.data, "form=3 width=4");
    MUST(knobs_read("n=8", text.data, arena, &setting));
    MUST(knobs_find(&space, &setting, &number));
    cr_expect_eq(number, 5);
    MUST(knobs_read("n=8", "width=4 form=1", arena, &setting));
    cr_expect_eq(knobs_find(&space, &setting, &number), TAPML_NOT_FOUND); // It is not legal.
    MUST(knobs_read("n=8", "width=4", arena, &setting));
    cr_expect_eq(knobs_find(&space, &setting, &number), TAPML_NOT_FOUND);
    text_release(&text);
}

Test(knobs, settings_that_are_none_are_refused)
{
    static const char *const wrong[] = {"",       "form",          "form=",   "form=x", "=1",
                                        "Form=1", "form=1 form=2", "form=-1", "fo rm=1"};
    tapml_setting setting;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_eq(knobs_read("n=8", wrong[i], arena, &setting), TAPML_INVALID, "%s", wrong[i]);
    }
    cr_expect_eq(knobs_read("n 8", "form=1", arena, &setting), TAPML_INVALID);
}

Test(knobs, spaces_that_are_none_are_refused)
{
    static const int64_t falling[] = {2, 1};
    const struct knob right = knobs[1];
    knobs[1].values = falling;
    cr_expect_eq(knobs_check(&space), TAPML_INVALID);
    knobs[1] = right;
    knobs[1].chosen = 2;
    cr_expect_eq(knobs_check(&space), TAPML_INVALID);
    knobs[1] = right;
    knobs[1].name = "form";
    cr_expect_eq(knobs_check(&space), TAPML_INVALID);
    knobs[1] = right;
    memcpy(space.shape_class, "a b", 4);
    cr_expect_eq(knobs_check(&space), TAPML_INVALID);
    memcpy(space.shape_class, "n=8", 4);
    MUST(knobs_check(&space));
    legal[0] = 1; // Not what is chosen.
    cr_expect_eq(knobs_check_legal(&space), TAPML_INVALID);
}

Test(knobs, a_space_has_an_end)
{
    static int64_t many[TAPML_TUNING_VALUES_MAX];
    static const char *const names[] = {"a", "b", "c", "d"};
    struct knob large[4];
    for (uint32_t i = 0; i < TAPML_TUNING_VALUES_MAX; i++) {
        many[i] = i;
    }
    for (int i = 0; i < 4; i++) {
        large[i] = (struct knob){.name = names[i], .about = "", .values = many, .count = 64};
    }
    space.knobs = large;
    space.count = 3;
    MUST(knobs_check(&space));
    space.count = 4;
    cr_expect_eq(knobs_check(&space), TAPML_INVALID);
}
