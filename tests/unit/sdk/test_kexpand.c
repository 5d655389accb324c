// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// kexpand makes the tables that sdk/gpu's own build makes, and leaves nothing behind that is half.

#include "harness/tool.h"

TOOL_SUITE(kexpand);

#define KEMBED "--kembed \"$TAPML_TEST_BUILD\"/sdk/gpu/kembed"
#define TABLE  "table table.c kernels twist.k " KEMBED " --language "

static int kexpand(const char *arguments)
{
    return tool_run("TAPML_TEST_SOURCE", "sdk/tools/kexpand", arguments);
}

static const char *const good = "#include \"k.h\"\n#include \"own.h\"\nWORKGROUP(64, 1, 1)\n"
                                "KERNEL(twist, PARAMS(FIELD(u32, count)), OUT(0, f32, y), "
                                "NO_SHARED)\n{ y[0] = OWN; } END_KERNEL\n";

static void write_kernel(void)
{
    write_file("twist.k", good);
    write_file("own.h", "#if K_F16\n#define OWN 16.0f\n#else\n#define OWN 32.0f\n#endif\n");
}

static int is_there(const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", tool_folder, name);
    return access(path, F_OK) == 0;
}

Test(kexpand, table)
{
    write_kernel();
    cr_assert_eq(kexpand(TABLE "opencl --variants 0,256"), 0, "%s", read_file("said"));
    const char *text = read_file("table.c");

    cr_expect_neq(strstr(text, "y[0] = 32.0f;"), NULL, "%s", text);
    cr_expect_neq(strstr(text, "y[0] = 16.0f;"), NULL, "%s", text);
    cr_expect_neq(strstr(text, "{\"twist\", 0u, 3, tune0, 1, bind0, 4, code0,"), NULL, "%s", text);
    cr_expect_neq(strstr(text, "{\"twist\", 256u, 3, tune1, 1, bind1, 4, code1,"), NULL, "%s",
                  text);
    text = read_file("table.c.d");
    cr_expect_eq(strncmp(text, "table.c: ", 9), 0, "%s", text);
    cr_expect_neq(strstr(text, " twist.k\n"), NULL, "%s", text);
    cr_expect_neq(strstr(text, " own.h "), NULL, "%s", text);
    cr_expect_neq(strstr(text, "/k_opencl.h"), NULL, "%s", text);
}

Test(kexpand, params)
{
    write_kernel();
    cr_assert_eq(kexpand("params kparams.h twist.k " KEMBED), 0, "%s", read_file("said"));
    cr_expect_neq(strstr(read_file("kparams.h"), "struct k_twist_params {\n    uint32_t count;\n"),
                  NULL);
}

// A header that defines the dialect is a language of its own.
Test(kexpand, a_language_of_ones_own)
{
    write_kernel();
    cr_assert_eq(kexpand(TABLE "\"$TAPML_TEST_SOURCE\"/sdk/gpu/dialect/k_wgsl.h --variants 8"), 0,
                 "%s", read_file("said"));
    cr_expect_neq(strstr(read_file("table.c"), "@compute"), NULL, "%s", read_file("table.c"));
}

// Each is refused with a reason, and what was there stays.
Test(kexpand, wrong_input)
{
    static const char *const wrong[][2] = {
        {TABLE "opencl --variants 0,x", "--variants has 'x'"},
        {TABLE "opencl --variants 0,65536", "--variants has '65536'"},
        {TABLE "opencl --variants 8,8", "names a variant twice"},
        {TABLE "fortran", "--language is 'fortran'"},
        {TABLE "opencl --compiler 'cc -DOWN=1 -include absent.h'", "absent.h"},
        {TABLE "spirv --glslang /absent/glslang", "/absent/glslang"},
        {"table table.c 2nd twist.k --language opencl " KEMBED, "NAME is '2nd'"},
        {"table table.c kernels absent.k --language opencl " KEMBED, "absent.k"},
        {"table table.c kernels own.h --language opencl " KEMBED, "no KERNEL"},
        {"params table.c twist.k ./twist.k " KEMBED, "two kernels have one name"},
        {"params table.c twist.k --kembed /absent/kembed", "/absent/kembed"},
    };

    write_kernel();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        cr_expect_eq(kexpand(wrong[i][0]), 1, "%s", wrong[i][0]);
        const char *said = read_file("said");

        cr_expect(strstr(said, wrong[i][1]) != NULL, "'%s' gives '%s'", wrong[i][0], said);
        cr_expect_not(is_there("table.c"), "%s", wrong[i][0]);
    }
}
