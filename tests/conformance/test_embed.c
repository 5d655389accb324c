// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// embed from tables in blocks, whose values are computed (test_bits.c has the plain ones).

#include "device.h"
#include "harness/formulas.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdlib.h>

static struct plugin *device;

static void open_device(void)
{
    device = device_open();
}

static void close_device(void)
{
    device_close(device);
}

TestSuite(embed, .init = open_device, .fini = close_device, .timeout = 300);

enum { ROWS = 37, FIRST_PANEL = 20, OFFSET = 3, COUNT = 9 };

static void check(uint32_t dtype, int64_t width, int is_whole)
{
    static const int32_t ids[COUNT] = {0, ROWS - 1 - OFFSET, 0, 5, 5, 31, 16, 17, 18};
    double *table = op_fixture_values(1, dtype, ROWS * (size_t)width), numbers[COUNT];
    double *expected = device_array(COUNT * (size_t)width);
    struct operand_spec rest[2] = {{0}};
    struct op_fixture fixture = {.op = &tapml_embed, .output = TAPML_EMBED_Y};
    struct op_fixture_argument *arguments = fixture.arguments;

    for (int i = 0; i < COUNT; i++) {
        numbers[i] = ids[i];
    }
    formulas_embed(&(struct formulas_embed){COUNT, (size_t)width, table, ids, OFFSET}, expected);
    arguments[TAPML_EMBED_TABLE].tensor =
        op_fixture_rows(dtype, is_whole ? ROWS : FIRST_PANEL, width, table);
    if (!is_whole) {
        arguments[TAPML_EMBED_TABLE].tensor.lead = 3;
        rest[0] = op_fixture_rows(dtype, ROWS - FIRST_PANEL, width, table + FIRST_PANEL * width);
        arguments[TAPML_EMBED_TABLE].panels = rest;
    }
    arguments[TAPML_EMBED_IDS].tensor = op_fixture_row(TAPML_I32, COUNT, numbers);
    arguments[TAPML_EMBED_OFFSET].i64 = OFFSET;
    arguments[TAPML_EMBED_Y].tensor =
        op_fixture_spread(op_fixture_rows(TAPML_F32, COUNT, width, NULL), 5, 3);
    device_check(device, &fixture, COUNT * (size_t)width, expected, 0,
                 operand_codec(dtype)->encoding->id);
    free(table);
}

Test(embed, blocks)
{
    static const int64_t widths[] = {32, 64, 160};

    for (int i = 0; i < 12; i++) {
        check(i % 2 != 0 ? OPERAND_Q8 : OPERAND_Q4, widths[i / 4], i / 2 % 2);
    }
}

Test(embed, encodings)
{
    for (uint32_t e = 0; codec_at(e) != NULL; e++) {
        if (operand_is_taken(device, OPERAND_ENCODED(e))) {
            check(OPERAND_ENCODED(e), e % 2 != 0 ? 256 : 512, e / 2 % 2);
        }
    }
}
