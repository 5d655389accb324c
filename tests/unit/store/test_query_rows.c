// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "new_store.h"
#include "store/query.h"
#include "store/query_rows.h"

#include <math.h>

static const struct query_column COLUMNS[] = {
    {"run", "?1", ""}, {"id", "c.id", ""}, {"key", "c.key", ""}, {"step", "c.step", ""}};
static const struct query_view VIEW = {"cases", "\"case\" AS c", "", COLUMNS, 4};

static struct query_rows_budget budget;
static struct query_rows *rows;

static tapml_status check(void *user)
{
    return user ? status_fail(TAPML_CANCELLED, "that is enough") : TAPML_OK;
}

static void open_rows(uint64_t columns, uint64_t most, void *user)
{
    query_rows_destroy(rows);
    rows = NULL;
    cr_assert_eq(atomic_load(&budget.taken), 0, "what was taken is given back");
    budget.most = most;
    MUST(query_rows_create(
        &(struct query_rows_options){
            .view = &VIEW, .columns = columns, .budget = &budget, .check = check, .user = user},
        &rows));
}

static void end(void)
{
    query_rows_destroy(rows);
    rows = NULL;
}

TestSuite(query_rows, .fini = end, .timeout = 110);

// Items are numbers: a text that is often the same, one that never is, a real.
static void get(const void *item, size_t column, struct query_value *out_value)
{
    static char texts[2000][8];
    const int number = *(const int *)item;
    (void)snprintf(texts[number], sizeof(texts[number]), "t%d", number);
    *out_value = column == 0   ? query_text("always")
                 : column == 1 ? query_integer(number)
                 : column == 2 ? query_text(texts[number])
                               : query_real(number == 7 ? NAN : number + 0.5);
}

Test(query_rows, have_the_values_that_were_added)
{
    static int items[2000];
    for (int i = 0; i < 2000; i++) {
        items[i] = i;
    }
    open_rows(0xf, 0, NULL);
    MUST(query_rows_add(rows, get, items, sizeof(*items), 700));
    MUST(query_rows_add(rows, get, &items[700], sizeof(*items), 1300));
    cr_assert_eq(query_rows_count(rows), 2000);
    const char *always = query_rows_value(rows, 0, 0).text;
    for (size_t i = 0; i < 2000; i++) {
        char text[8];
        (void)snprintf(text, sizeof(text), "t%zu", i);
        const struct query_value word = query_rows_value(rows, i, 2);
        cr_expect_eq(query_rows_value(rows, i, 0).text, always, "one text is kept once");
        cr_expect_eq(query_rows_value(rows, i, 1).integer, (int64_t)i);
        cr_expect_str_eq(word.text, text);
        cr_expect_eq(word.bytes, strlen(text));
        const struct query_value real = query_rows_value(rows, i, 3);
        cr_expect(i == 7 ? real.type == QUERY_NULL : real.real == (double)i + 0.5);
    }
}

Test(query_rows, what_is_not_read_is_null)
{
    static const int items[] = {1, 2};
    open_rows(1 << 1, 0, NULL);
    MUST(query_rows_add(rows, get, items, sizeof(*items), 2));
    cr_expect_eq(query_rows_value(rows, 1, 1).integer, 2);
    cr_expect_eq(query_rows_value(rows, 1, 0).type, QUERY_NULL);
    open_rows(0, 0, NULL);
    MUST(query_rows_add(rows, get, items, sizeof(*items), 2));
    cr_expect_eq(query_rows_count(rows), 2);
    cr_expect_eq(query_rows_value(rows, 1, 1).type, QUERY_NULL);
}

Test(query_rows, are_copied_from_a_store)
{
    make_store();
    execute("INSERT INTO run VALUES ('r', 'host', 'machine', 1);"
            "INSERT INTO prompt VALUES ('p', 2, 't', '[1]', '[2]', 'r');"
            "INSERT INTO \"case\" VALUES"
            " (7, x'0100', 'a', 'x.op', 1, 'decode', 'x=[1]', 'p', 3, 0, 1, 'r')");
    open_rows(0xf, 0, NULL);
    MUST(query_rows_copy(rows, store, "runs/a"));
    MUST(query_rows_copy(rows, store, "runs/b"));
    remove_store();
    cr_assert_eq(query_rows_count(rows), 2);
    cr_expect_str_eq(query_rows_value(rows, 1, 0).text, "runs/b");
    cr_expect_eq(query_rows_value(rows, 1, 1).integer, 7);
    const struct query_value key = query_rows_value(rows, 0, 2);
    cr_expect_eq(key.type, QUERY_BYTES);
    cr_expect_eq(key.bytes, 2);
    cr_expect_arr_eq(key.text, "\1\0", 2);
}

Test(query_rows, end_where_memory_or_the_check_does)
{
    static int items[2000];
    int cancels = 1;
    open_rows(0xf, 64 << 10, NULL);
    cr_expect_eq(query_rows_add(rows, get, items, sizeof(*items), 2000), TAPML_NO_MEMORY);
    open_rows(0xf, 0, &cancels);
    cr_expect_eq(query_rows_add(rows, get, items, sizeof(*items), 2000), TAPML_CANCELLED);
    cr_expect_lt(query_rows_count(rows), 2000);
    open_rows(0, 0, NULL);
}
