// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/target.h"
#include "watch/watch_page.h"
#include "watched_run.h"

TestSuite(watch_page, .init = watched_run_begin, .fini = watched_run_end, .timeout = 110);

static struct text print(const char *trouble)
{
    struct text text;

    text_init(&text);
    MUST(watch_page_print(
        &(struct watch_page_options){
            .store = store, .dir = "<run>", .looked_s = 5, .reload_s = 17, .trouble = trouble},
        &text));
    return text;
}

static void declare(void)
{
    MUST(store_begin(store));
    MUST(target_declare(
        store,
        &(struct target_row){
            .name = "gpu", .backend = "reference", .activations = "f32", .faults = "", .goal = ""},
        1));
    MUST(store_commit(store));
}

Test(watch_page, it_says_what_turned_and_loads_itself_again)
{
    struct turning turning;

    declare();
    struct text page = print(NULL);

    cr_expect_not_null(strstr(page.data, "http-equiv=\"refresh\" content=\"17\""));
    cr_expect_not_null(strstr(page.data, "<h1 class=\"verdict good\">0 of "));
    cr_expect_not_null(strstr(page.data, "&lt;run&gt;"));
    text_release(&page);
    add_silu("<b>layers.2/s", 90, 0.5f);
    const struct verdict_options options = options_for(exact);
    struct verdict_list list = judge(&options);

    verdict_list_release(&list);
    (void)watch_once(&turning);
    turning_release(&turning);
    page = print("no <device>");
    cr_expect_not_null(strstr(page.data, "<h1 class=\"verdict bad\">1 of "));
    cr_expect_not_null(strstr(page.data, "&lt;b&gt;layers.2/s"));
    cr_expect_not_null(strstr(page.data, "<td class=\"bad\">fail</td>"));
    cr_expect_not_null(strstr(page.data, ", expected "), "the first difference");
    cr_expect_not_null(strstr(page.data, "The last look could not be made: no &lt;device&gt;"));
    cr_expect_null(strstr(page.data, "<b>layers"));
    text_release(&page);
}
