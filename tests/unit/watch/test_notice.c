// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "store/turned.h"
#include "watch/notice.h"
#include "watched_run.h"

static void begin(void)
{
    struct turning turning;

    watched_run_begin();
    spoil("tapml.silu");
    (void)watch_once(&turning);
    turning_release(&turning);
}

TestSuite(notice, .init = begin, .fini = watched_run_end, .timeout = 110);

static void give(const char *command)
{
    MUST(notice_give(&(struct notice_options){.store = store,
                                              .command = command,
                                              .dir = "the run",
                                              .config = "run.ini",
                                              .page = "page's.html"}));
}

Test(notice, the_command_has_the_facts_once)
{
    char command[8 * SCRATCH_PATH], text[1024] = "";

    (void)snprintf(command, sizeof(command),
                   "echo \"$TAPML_WORSE|$TAPML_RUN|$TAPML_PAGE|$TAPML_OP|$TAPML_BEFORE|"
                   "$TAPML_AFTER|$TAPML_TARGET\" >> %s/told",
                   scratch.folder);
    give(command);
    give(command);
    FILE *file = fopen(scratch_path(&scratch, "told"), "r");

    cr_assert_not_null(file);
    cr_assert_not_null(fgets(text, sizeof(text), file));
    cr_expect_str_eq(text, "10|the run|page's.html|tapml.silu|pass|fail|gpu\n");
    cr_expect_null(fgets(text, sizeof(text), file), "it ran twice");
    (void)fclose(file);
    cr_expect_eq(number_of("SELECT sum(told) FROM look"), 1);
}

Test(notice, a_command_that_fails_is_tried_again)
{
    for (int i = 0; i < LOOK_TRIES + 2; i++) {
        give("exit 3");
    }
    cr_expect_eq(number_of("SELECT max(tries) FROM look"), LOOK_TRIES);
    cr_expect_eq(number_of("SELECT sum(told) FROM look"), 0);
}

Test(notice, without_a_command_a_look_counts_as_told)
{
    give(NULL);
    cr_expect_eq(number_of("SELECT sum(told) FROM look"), 1);
}

Test(notice, a_sentence_names_the_first)
{
    const struct turned_row first = {
        .op = "tapml.silu", .target = "gpu", .instance = "a/b", .before = "", .after = "fail"};
    struct text text;

    text_init(&text);
    notice_print(&(struct look_row){.worse = 1, .better = 2}, &first, &text);
    cr_expect_str_eq(text.data, "1 verdict is worse, 2 are better, first silu on gpu at a/b: a new "
                                "case, now fail");
    text_release(&text);
}
