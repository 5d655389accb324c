// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query.h"
#include "store/query_lists.h"

#include <criterion/criterion.h>

static const struct query_column COLUMNS[] = {{"run", NULL, ""}, {"id", NULL, ""}, {"w", NULL, ""}};
static const struct query_view VIEW = {"l", NULL, "", COLUMNS, 3};

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

enum { ROWS = 1000, PARTS = 2, ALL = PARTS * ROWS };

static struct query_rows_budget budget;
static struct query_lists_part parts[PARTS];
static struct query_rows *rows[PARTS];
static uint64_t taken;

static tapml_status check(void *user)
{
    (void)user;
    return TAPML_OK;
}

static void get(const void *item, size_t column, struct query_value *out_value)
{
    static const char *const words[] = {"a", "b", "", NULL};
    const int number = *(const int *)item;
    *out_value = column == 1 ? number % 2 ? query_integer(number % 50) : query_real(number % 50)
                             : query_text(words[number % 4]);
}

static void begin(void)
{
    for (int i = 0; i < PARTS; i++) {
        int items[ROWS];
        for (int k = 0; k < ROWS; k++) {
            items[k] = i * ROWS + k;
        }
        MUST(query_rows_create(
            &(struct query_rows_options){
                .view = &VIEW, .columns = 7, .budget = &budget, .check = check},
            &rows[i]));
        MUST(query_rows_add(rows[i], get, items, sizeof(*items), ROWS));
        parts[i] = (struct query_lists_part){rows[i], (size_t)i * ROWS};
    }
}

static void end(void)
{
    for (int i = 0; i < PARTS; i++) {
        query_rows_destroy(rows[i]);
    }
}

TestSuite(query_lists, .init = begin, .fini = end);

static size_t count(const struct query_lists *lists, struct query_value a, const char *b)
{
    struct query_lists_search search = {.count = 0};
    const struct query_value word = query_text(b);
    size_t found = 0;
    uint32_t before = 0;
    if (!query_lists_search_for(&search, &a) || !query_lists_search_for(&search, &word)) {
        return 0;
    }
    cr_assert(query_lists_can_find(lists, &search));
    for (uint32_t at = query_lists_first(lists, &search); at != 0;
         at = query_lists_next(lists, &search, at)) {
        cr_assert_gt(at, before, "in the order of the rows");
        before = at;
        found++;
    }
    return found;
}

Test(query_lists, have_all_rows_that_are_equal)
{
    static const int columns[] = {1, 2, QUERY_LISTS_NONE};
    struct query_lists all, last;
    MUST(query_lists_make(parts, PARTS, columns, &budget, &taken, &all));
    MUST(query_lists_make(parts + 1, 1, columns, &budget, &taken, &last));
    for (int number = 0; number < 50; number++) { // The remainder by 4 differs in every second.
        const char *const words[] = {"a", "b", "", NULL};
        const char *word = words[number % 4];
        const size_t expected = word ? ALL / 100 : 0;
        cr_expect_eq(count(&all, query_integer(number), word), expected, "%d", number);
        cr_expect_eq(count(&all, query_real(number), word), expected, "%d", number);
        cr_expect_eq(count(&last, query_integer(number), word), expected / 2, "%d", number);
    }
    cr_expect_eq(count(&all, query_real(0.5), "a"), 0);
    cr_expect_eq(count(&all, query_real(-0.0), "a"), ALL / 100);
    query_lists_release(&all);
    query_lists_release(&last);
}

Test(query_lists, a_number_that_may_meet_a_text_is_not_searched)
{
    static const int columns[] = {1, QUERY_LISTS_NONE, QUERY_LISTS_NONE};
    const struct query_value word = query_text("7");
    struct query_lists_search search = {.count = 0};
    struct query_lists lists;
    MUST(query_lists_make(parts, PARTS, columns, &budget, &taken, &lists));
    cr_assert(query_lists_search_for(&search, &word));
    cr_expect_not(query_lists_can_find(&lists, &search));
    query_lists_release(&lists);
}

Test(query_lists, have_their_place_in_the_memory)
{
    static const int columns[] = {1, QUERY_LISTS_NONE, QUERY_LISTS_NONE};
    struct query_lists lists;
    budget.most = atomic_load(&budget.taken) + 100;
    cr_expect_eq(query_lists_make(parts, PARTS, columns, &budget, &taken, &lists), TAPML_NO_MEMORY);
    cr_expect_gt(taken, 0);
}
