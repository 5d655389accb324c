// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/tuning_file.h"
#include "harness/scratch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct tuning_file file;
static struct tuning_class *item;
static const struct tuning_key key = {.component = "fast",
                                      .device = "0",
                                      .driver = "PoCL; 3.1",
                                      .op = "tapml.linear",
                                      .digest = "0f",
                                      .shape_class = "n=8",
                                      .version = 1};

static void begin(void)
{
    scratch_make(&scratch);
    cr_assert_eq(setenv("XDG_CACHE_HOME", scratch.folder, 1), 0);
    MUST(tuning_file_init(&file));
    MUST(tuning_file_add(&file, &key, &item));
    item->own = (struct tuning_trial){.values = "form=1", .time_ns = 1000};
}

static void end(void)
{
    tuning_file_release(&file);
    scratch_remove(&scratch);
}

TestSuite(tuning_file, .init = begin, .fini = end);

static void add(const char *values, uint64_t time_ns, const char *wrong)
{
    MUST(tuning_file_add_trial(&file, item, &(struct tuning_trial){values, time_ns, wrong}));
}

Test(tuning_file, the_fastest_that_is_right_wins_if_it_is_worth_it)
{
    add("form=2", 990, NULL);
    tuning_file_choose(item);
    cr_expect_null(item->winner);
    add("form=3", 10, "y[0] is 2");
    tuning_file_choose(item);
    cr_expect_null(item->winner);
    add("form=4", 500, NULL);
    tuning_file_choose(item);
    cr_expect_str_eq(item->winner, "form=4");
}

Test(tuning_file, where_the_own_choice_is_wrong_any_that_is_right_wins)
{
    item->own.wrong = "no";
    item->own.time_ns = 0;
    add("form=2", 5000, NULL);
    tuning_file_choose(item);
    cr_expect_str_eq(item->winner, "form=2");
}

Test(tuning_file, what_is_written_is_read)
{
    struct text first, second;
    struct tuning_file again;
    text_init(&first);
    text_init(&second);
    add("form=2 width=4", 500, NULL);
    add("form=3 width=4", 0,
        "y[3, 1] is 2; expected 1\n and on and on and on and on and on and on "
        "and on and on and on and on and on and on");
    tuning_file_choose(item);
    tuning_file_print(&file, &first);
    MUST(tuning_file_init(&again));
    MUST(tuning_file_parse("tuning.ini", first.data, first.length, &again));
    tuning_file_print(&again, &second);
    cr_expect_str_eq(first.data, second.data);
    cr_expect_str_eq(tuning_file_find(&again, &key)->winner, "form=2 width=4");
    tuning_file_release(&again);
    text_release(&first);
    text_release(&second);
}

Test(tuning_file, what_is_saved_is_loaded_with_what_others_saved)
{
    struct tuning_file again;
    struct tuned_settings winners;
    struct tuning_key other = key;
    struct tuning_class *second = NULL;
    add("form=2", 500, NULL);
    tuning_file_choose(item);
    cr_assert(tuning_file_save(item));
    other.shape_class = "n=16";
    MUST(tuning_file_add(&file, &other, &second));
    second->own = (struct tuning_trial){.values = "form=1", .time_ns = 7};
    cr_assert(tuning_file_save(second));
    MUST(tuning_file_load(&again));
    cr_assert_eq(again.count, 2);
    MUST(tuning_file_winners(&again, "fast", again.arena, &winners));
    cr_assert_eq(winners.count, 1);
    cr_expect_str_eq(winners.items[0].values, "form=2");
    cr_expect_str_eq(winners.items[0].driver, "PoCL; 3.1");
    MUST(tuning_file_winners(&again, "slow", again.arena, &winners));
    cr_expect_eq(winners.count, 0);
    tuning_file_release(&again);
}

Test(tuning_file, wrong_lines_are_named)
{
    static const char head[] = "[class.1]\ncomponent = a\ndevice = b\ndriver = c\nop = d\n"
                               "version = 1\ndigest = e\nclass = f\n";
    static const struct {
        const char *line, *sentence;
    } wrong[] = {{"trial = 0 form=1", "t:9: '0 form=1' is no trial"},
                 {"trial = 10", "t:9: '10' is no trial"},
                 {"trial = 10 form", "t:9: a setting has 'form'"},
                 {"wrong = form=1", "t:9: 'form=1' is no wrong setting"},
                 {"winner = form=1", "the winner 'form=1' is none of the trials"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct tuning_file other;
        char text[512];
        snprintf(text, sizeof(text), "%s%s\n", head, wrong[i].line);
        MUST(tuning_file_init(&other));
        cr_expect_eq(tuning_file_parse("t", text, strlen(text), &other), TAPML_INVALID);
        cr_expect_not_null(strstr(status_message(), wrong[i].sentence), "%s", status_message());
        tuning_file_release(&other);
    }
}

Test(tuning_file, what_no_file_can_hold_is_refused)
{
    struct tuning_key other = key;
    struct tuning_class *second = NULL;
    char large[400];
    memset(large, 'a', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    other.device = large;
    cr_expect_eq(tuning_file_add(&file, &other, &second), TAPML_INVALID);
    other.device = " a";
    cr_expect_eq(tuning_file_add(&file, &other, &second), TAPML_INVALID);
    other = key;
    other.shape_class = "a b";
    cr_expect_eq(tuning_file_add(&file, &other, &second), TAPML_INVALID);
}
