// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/arena.h"
#include "schema/compiled.h"
#include "stranger.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <string.h>

static struct stranger stranger;
static struct arena *arena;

static void begin(void)
{
    stranger_init(&stranger);
    arena = arena_create();
    cr_assert_not_null(arena);
}

static void end(void)
{
    arena_destroy(arena);
}

TestSuite(critical, .init = begin, .fini = end);

static tapml_status
read_text(const char *text, const struct critical_value **out_values, uint32_t *out_count)
{
    stranger.op.critical = text;
    return critical_read(&stranger.op, arena, out_values, out_count);
}

Test(critical, numbers_and_multiples_of_parameters)
{
    const struct critical_value *values = NULL;
    uint32_t count = 0;

    cr_assert_eq(read_text("-9 * factor | 0.5|factor |  -1e2", &values, &count), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(count, 4);
    cr_expect(values[0].factor == -9 && values[0].param == 1);
    cr_expect(values[1].factor == 0.5 && values[1].param == CRITICAL_NUMBER);
    cr_expect(values[2].factor == 1 && values[2].param == 1);
    cr_expect(values[3].factor == -100 && values[3].param == CRITICAL_NUMBER);
}

Test(critical, an_op_may_name_none)
{
    const struct critical_value *values = NULL;
    uint32_t count = 1;

    cr_assert_eq(read_text(NULL, &values, &count), TAPML_OK);
    cr_expect_eq(count, 0);
    stranger.op.hdr.struct_size = TAPML_END(tapml_op, expands); // Of a plugin before minor 8.
    cr_assert_eq(read_text("nonsense", &values, &count), TAPML_OK, "it is not there");
    cr_expect_eq(count, 0);
}

Test(critical, what_is_neither)
{
    static const char *const wrong[] = {
        "",      " ",       "|",        "1 |",           "1 2",   "x",
        "2 * x", "-factor", "2 factor", "2 *",           "1e999", "-inf",
        "nan",   "2 * 3",   "1 | | 2",  "factor factor", "-",     "-9 * factor * factor"};
    const struct critical_value *values = NULL;
    uint32_t count = 0;
    char many[128] = "0", long_name[200];

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_expect_eq(read_text(wrong[i], &values, &count), TAPML_INVALID, "'%s'", wrong[i]);
        cr_expect_not_null(strstr(status_message(), "critical value '"), "%s", status_message());
    }
    memset(long_name, 'f', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    cr_expect_eq(read_text(long_name, &values, &count), TAPML_INVALID);
    for (int i = 0; i < CRITICAL_VALUES_MAX; i++) {
        memcpy(many + 1 + 2 * i, "|0", 3);
    }
    cr_expect_eq(read_text(many, &values, &count), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "more than 16 critical values");
}

Test(critical, are_no_part_of_what_makes_two_schemas_one)
{
    const struct compiled_op *plain = NULL, *critical = NULL;

    cr_assert_eq(compiled_create(&stranger.op, arena, &plain), TAPML_OK);
    struct stranger other = stranger;

    other.op.critical = "-1 | 1";
    cr_assert_eq(compiled_create(&other.op, arena, &critical), TAPML_OK, "%s", status_message());
    cr_expect(hash_equal(plain->fingerprint, critical->fingerprint));
    cr_expect_eq(compiled_same(plain, critical), TAPML_OK);
    cr_expect_eq(critical->critical_count, 2);
    other.op.critical = "one";
    cr_expect_eq(compiled_create(&other.op, arena, &critical), TAPML_INVALID);
}

Test(critical, memory_may_end)
{
    tapml_status status = TAPML_NO_MEMORY;

    for (size_t n = 1; status == TAPML_NO_MEMORY; n++) {
        const struct critical_value *values = NULL;
        struct arena *own = arena_create();
        uint32_t count = 0;

        alloc_fail_at(n);
        status = critical_read(&tapml_silu, own, &values, &count);
        alloc_fail_at(0);
        cr_expect(status == TAPML_NO_MEMORY || count == 5);
        arena_destroy(own);
    }
    cr_expect_eq(status, TAPML_OK);
}
