// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/encoding_table.h"

#include <criterion/criterion.h>
#include <string.h>

static void encode(const float *values, uint8_t *const *out_spans)
{
}

static void decode(const uint8_t *const *spans, float *out_values)
{
}

// A table that is whole, to be changed.
static struct {
    tapml_span span;
    const tapml_span *spans[1];
    tapml_encoding layout;
    tapml_weight_encoding table;
} whole;

static void begin(void)
{
    whole.span = (tapml_span){.hdr = TAPML_HDR(tapml_span), .block_bytes = 2, .align = 4};
    whole.spans[0] = &whole.span;
    whole.layout = (tapml_encoding){.hdr = TAPML_HDR(tapml_encoding),
                                    .id = "org.example.thing/12",
                                    .block_values = 256,
                                    .n_spans = 1,
                                    .spans = whole.spans};
    whole.table = (tapml_weight_encoding){.hdr = TAPML_HDR(tapml_weight_encoding),
                                          .layout = &whole.layout,
                                          .word = "thing_2",
                                          .encode = encode,
                                          .decode = decode};
}

TestSuite(encoding_table, .init = begin);

static void expect_wrong(const char *piece)
{
    cr_expect_eq(encoding_table_check(&whole.table), TAPML_ABI_MISMATCH, "%s", piece);
    cr_expect_not_null(strstr(status_message(), piece), "%s", status_message());
    begin();
    cr_expect_eq(encoding_table_check(&whole.table), TAPML_OK);
}

Test(encoding_table, functions_and_flags_are_those_of_the_kind)
{
    whole.table.decode = NULL;
    expect_wrong("too short");
    whole.table.encode = NULL;
    expect_wrong("too short");
    whole.table.hdr.struct_size -= 1;
    expect_wrong("too short");
}

Test(encoding_table, words_and_ids_are_spelt_in_one_way)
{
    static const char *const ids[] = {"",        "thing", "thing/",    "/1", "thing/x",
                                      "Thing/1", "a b/1", "thing/1/2", NULL};

    whole.table.word = NULL;
    expect_wrong("a word that");
    whole.table.word = "";
    expect_wrong("a word that");
    whole.table.word = "Thing";
    expect_wrong("a word that");
    for (size_t i = 0; i == 0 || ids[i - 1] != NULL; i++) {
        whole.layout.id = ids[i];
        expect_wrong("a layout whose id");
    }
}

Test(encoding_table, a_layout_is_of_blocks)
{
    whole.table.layout = NULL;
    expect_wrong("no layout");
    whole.layout.block_values = 0;
    expect_wrong("1 to 256 values");
    whole.layout.block_values = 257;
    expect_wrong("1 to 256 values");
    whole.layout.n_spans = 5;
    expect_wrong("in 1 to 4 spans");
    whole.spans[0] = NULL;
    expect_wrong("a span that is too short");
    whole.span.block_bytes = 0;
    expect_wrong("a span of no bytes");
    whole.span.align = 3;
    expect_wrong("no power of two");
    whole.span.tile_values = 4;
    expect_wrong("in tiles");
}
