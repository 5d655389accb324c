// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/tool.h"

TOOL_SUITE(kembed);

static int kembed(const char *arguments)
{
    return tool_run("TAPML_TEST_BUILD", "sdk/gpu/kembed", arguments);
}

static const char *const good = "@tune WG_X 0 64 @tune WG_Y 1 1 @tune WG_Z 2 1\n@tune BM 3 16u\n"
                                "@kernel scale @field u32 count @field f32 factor @field i32 sign "
                                "@in 0 f32 x @inout 1 f32x4 y\n"
                                "@body anything @field u32 never @end";

Test(kembed, params)
{
    write_file("scale.meta", good);
    cr_assert_eq(kembed("params kparams.h scale.meta"), 0);
    const char *text = read_file("kparams.h");

    cr_expect_neq(strstr(text, "struct k_scale_params {\n    uint32_t count;\n    float factor;\n"
                               "    int32_t sign;\n};"),
                  NULL, "%s", text);
    cr_expect_neq(strstr(text,
                         "K_SCALE_TUNE_WG_X,\n    K_SCALE_TUNE_WG_Y,\n    K_SCALE_TUNE_WG_Z,\n"
                         "    K_SCALE_TUNE_BM,\n"),
                  NULL, "%s", text);
    cr_expect_neq(strstr(text, "    K_SCALE_X,\n    K_SCALE_Y,\n"), NULL, "%s", text);
    cr_expect_eq(strstr(text, "never"), NULL); // What the body says is its own.
}

Test(kembed, table)
{
    write_file("scale.meta", good);
    write_file("scale.cl", "AB");
    cr_assert_eq(kembed("table table.c kernels scale.meta 9 scale.cl"), 0);
    const char *text = read_file("table.c");

    cr_expect_neq(strstr(text, "{\"BM\", 3, 16},"), NULL, "%s", text);
    cr_expect_neq(strstr(text, "{\"y\", \"f32x4\", 1, K_ACCESS_INOUT},"), NULL, "%s", text);
    cr_expect_neq(strstr(text, "code0[3] =\n\"AB\";"), NULL, "%s", text);
    cr_expect_neq(
        strstr(text, "{\"scale\", 9u, 4, tune0, 2, bind0, 12, code0, sizeof(code0) - 1, NULL},"),
        NULL, "%s", text);
}

Test(kembed, bytes)
{
    write_file("page.html", "AB\n");
    cr_assert_eq(kembed("bytes page.c page page.html"), 0);
    const char *text = read_file("page.c");

    cr_expect_neq(strstr(text, "const size_t page_size = 3;\nconst unsigned char page[4] =\n"
                               "\"AB\\12\";"),
                  NULL, "%s", text);
    cr_expect_neq(kembed("bytes page.c page absent.html"), 0);
}

// No digit that follows is taken into an escape, and nothing ends a literal or makes a trigraph.
Test(kembed, bytes_of_every_kind)
{
    write_file("page.html", "\x01"
                            "7\x01"
                            "8\"\\?\xff");
    cr_assert_eq(kembed("bytes page.c page page.html"), 0);
    const char *text = read_file("page.c");

    cr_expect_neq(strstr(text, "page[9] =\n\"\\0017\\18\\\"\\\\\\?\\377\";"), NULL, "%s", text);
}

Test(kembed, bytes_of_none)
{
    write_file("page.html", "");
    cr_assert_eq(kembed("bytes page.c page page.html"), 0);
    cr_expect_neq(strstr(read_file("page.c"), "page[1] =\n\"\";"), NULL);
}

// Each is refused, with the file and a reason.
Test(kembed, wrong_input)
{
    static const char *const wrong[][2] = {
        {"", "no KERNEL"},
        {"@kernel scale", "WORKGROUP"},
        {"@tune BM 3 1 @tune WG_X 0 1 @tune WG_Y 1 1 @tune WG_Z 2 1 @kernel scale", "WORKGROUP"},
        {"@tune WG_X 0", "missing"},
        {"@tune WG_X zero 1", "number"},
        {"@kernel scale @in 1 f32 x", "numbered"},
        {"@tune WG_X 0 1 @tune WG_Y 1 1 @tune WG_Z 2 1 @kernel scale @field f64 x", "neither u32"},
        {"@in 0 f32 a @in 1 f32 b @in 2 f32 c @in 3 f32 d @in 4 f32 e @in 5 f32 f @in 6 f32 g "
         "@in 7 f32 h @in 8 f32 i",
         "more constants"},
        {"@kernel a_name_that_is_much_longer_than_any_name_of_a_kernel_will_ever_have_to_be_in_c",
         "too long"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        write_file("wrong.meta", wrong[i][0]);
        cr_expect_eq(kembed("params kparams.h wrong.meta"), 1, "%s", wrong[i][0]);
        const char *said = read_file("said");

        cr_expect(strstr(said, wrong[i][1]) != NULL, "'%s' gives '%s'", wrong[i][0], said);
    }
}

Test(kembed, usage)
{
    cr_expect_eq(kembed(""), 2);
    cr_expect_eq(kembed("params kparams.h"), 2);
    cr_expect_eq(kembed("table table.c kernels one two"), 2);
    cr_expect_eq(kembed("params kparams.h absent.meta"), 1);
    cr_expect_eq(kembed("params no/such/folder.h absent.meta"), 1);
}

Test(kembed, help_and_misuse)
{
    cr_assert_eq(kembed("--help > help"), 0);
    cr_expect_neq(strstr(read_file("help"), "usage: kembed params OUT.h KERNEL.meta..."), NULL);
    cr_expect_eq(kembed("params"), 2);
    cr_expect_neq(strstr(read_file("said"), "usage: kembed"), NULL);
}
