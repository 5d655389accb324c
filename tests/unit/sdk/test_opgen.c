// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// opgen refuses what the host would refuse, with file and reason, and its pages are checked.

#include "harness/tool.h"

TOOL_SUITE(opgen);

static int opgen(const char *arguments)
{
    return tool_run("TAPML_TEST_SOURCE", "sdk/tools/opgen", arguments);
}

#define HEAD                                                                                       \
    "[op]\nname = org.example.scale\nversion = 2\ntitle = A multiple\nformula = y = f * x\n"       \
    "tolerance = elementwise\n"
#define X "[param.x]\nkind = tensor\neffect = in\ndtype = f32\nshape = *rows, width\n"

static const char *const good =
    HEAD X "[param.f]\nkind = f64\ndomain = 0 .. 1\n"
           "[param.y]\nkind = tensor\neffect = out\ndtype = x\nshape = x\nlayout = dense\n";

Test(opgen, header_and_tables)
{
    write_file("scale.opdef", good);
    cr_assert_eq(opgen("header scale.h scale.opdef"), 0);
    const char *text = read_file("scale.h");

    cr_expect_neq(strstr(text, "extern const tapml_op org_example_scale;"), NULL);
    cr_expect_neq(strstr(text, "#define ORG_EXAMPLE_SCALE_PARAMS tapml_object *queue, tapml_call "
                               "*call, const tapml_tensor *x, double f, const tapml_tensor *y"),
                  NULL);
    cr_expect_neq(strstr(text, "#define ORG_EXAMPLE_SCALE_Y 2u"), NULL);
    cr_assert_eq(opgen("tables scale.c --include=scale.h scale.opdef"), 0);
    text = read_file("scale.c");
    cr_expect_neq(strstr(text, "#include \"scale.h\""), NULL);
    cr_expect_neq(strstr(text, ".version = 2u"), NULL);
    cr_expect_neq(strstr(text, ".kind = TAPML_P_TENSOR_OUT"), NULL);
    cr_expect_neq(strstr(text, ".layout = \"rows\""), NULL); // Where the file says nothing.
}

Test(opgen, pages)
{
    write_file("scale.opdef", good);
    cr_assert_eq(opgen("page scale.md scale.opdef; mkdir pages; mv scale.md pages"), 0);
    cr_expect_eq(opgen("check pages scale.opdef"), 0);
    write_file("pages/scale.md", "another page\n");
    cr_expect_eq(opgen("check pages scale.opdef"), 1);
    cr_expect_neq(strstr(read_file("said"), "scale.md"), NULL);
    cr_expect_eq(opgen("page pages/scale.md scale.opdef"), 0);
    write_file("pages/gone.md", "of an op that is no more\n");
    cr_expect_eq(opgen("check pages scale.opdef"), 1);
    cr_expect_neq(strstr(read_file("said"), "gone.md"), NULL);
}

Test(opgen, wrong_input)
{
    static const char *const wrong[][2] = {
        {"[op]\nname = scale\n", "has no 'version'"},
        {"[op]\ncolour = red\n", "wrong.opdef:2: unknown key 'colour'"},
        {"[op]\nname = a.b\nname = a.c\n", "stands twice"},
        {"[colour]\n", "unknown section 'colour'"},
        {"name = a.b\n", "'key = value' expected"},
        {"[op]\n name = a.b\n", "'key = value' expected"},
        {HEAD "[param.x]\nkind = number\n", "kind 'number'"},
        {HEAD "[param.x]\nkind = tensor\n", "effect ''"},
        {HEAD "[param.x]\nkind = tensor\neffect = in fast\ndtype = f32\nshape = n\n", "'fast'"},
        {HEAD "[param.x]\nkind = tensor\neffect = in\ndtype = f32\n", "a dtype and a shape"},
        {HEAD X "layout = round\n", "layout 'round'"},
        {HEAD X X, "two parameters have one name"},
        {HEAD "[param.x-1]\nkind = i64\n", "a C identifier"},
        {HEAD "version = 2\n", "stands twice"},
        {"[op]\nname = a.b\nversion = two\ntitle = t\nformula = y\ntolerance = exact\n",
         "wrong.opdef:3: version 'two', expected a whole number"},
        {HEAD "[param.x]\nkind = tensor\neffect = in\ndtype = f32 banana\nshape = n\n",
         "wrong.opdef:10: [param.x] dtype: unknown type 'banana', expected f32 f16"},
        {HEAD X "[param.y]\nkind = tensor\neffect = out\ndtype = z\nshape = x\n",
         "unknown type 'z', expected f32 f16 bf16 f64 i32 i64 u8 encoded, or one of the "
         "parameters"},
        {HEAD X "[param.y]\nkind = tensor\neffect = out\ndtype = x f16\nshape = x\n",
         "unknown type 'x'"},
        {HEAD "expands = tapml.silo(x = x, y = y)\n" X,
         "wrong.opdef:7: [op] expands: unknown op 'tapml.silo', expected one of the catalogue"},
        {HEAD "expands = tapml.silu@7(x = x, y = y)\n" X, "has the version 1, found '7'"},
        {HEAD "expands = one: tapml.silu(x = x, y = h); tapml.silu(x = h, z = y)\n" X,
         "'tapml.silu' has the parameters x y, found 'z = y'"},
        {HEAD "expands = tapml.silu x\n" X, "'op(parameter = value, ...)' expected"},
        {HEAD "expands = org.example.scale@2(x = x)\n" X, "the op itself"},
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        write_file("wrong.opdef", wrong[i][0]);
        cr_expect_eq(opgen("header wrong.h wrong.opdef"), 1, "%s", wrong[i][0]);
        const char *said = read_file("said");

        cr_expect(strstr(said, wrong[i][1]) != NULL, "'%s' gives '%s'", wrong[i][0], said);
    }
    cr_expect_eq(opgen("header"), 2);
}

// In ops of the catalogue, of the files that are given, and of others.
Test(opgen, plain_forms)
{
    static const char *const y = "[param.y]\nkind = tensor\neffect = out\ndtype = x\nshape = x\n";
    char text[1024];

    write_file("scale.opdef", good);
    (void)snprintf(text, sizeof(text),
                   "[op]\nname = org.example.twice\nversion = 1\ntitle = Twice\nformula = y\n"
                   "tolerance = elementwise\nexpands = first/one: org.example.scale@2(x = x{T, 4 : "
                   "4, 1}, f = 2, y = h); tapml.add(a = h, b = x, y = y)\n" X "%s",
                   y);
    write_file("twice.opdef", text);
    cr_expect_eq(opgen("header twice.h twice.opdef"), 1);
    cr_expect_not_null(strstr(read_file("said"), "unknown op 'org.example.scale'"));
    cr_expect_eq(opgen("header twice.h twice.opdef --with scale.opdef"), 0, "%s",
                 read_file("said"));
    cr_expect_eq(opgen("header twice.h twice.opdef scale.opdef"), 0, "%s", read_file("said"));
}

Test(opgen, help_names_all_that_it_takes)
{
    cr_assert_eq(opgen("--help > help"), 0);
    const char *text = read_file("help");

    cr_expect_neq(strstr(text, "usage: opgen tables [-h] [--with FILE] [--include FILE]"), NULL,
                  "%s", text);
    cr_expect_neq(strstr(text, "usage: opgen check"), NULL, "%s", text);
    cr_assert_eq(opgen("tables -h > help"), 0);
    cr_expect_neq(strstr(read_file("help"), "the header of the same ops"), NULL);
    cr_expect_eq(opgen("nonsense out in"), 2);
}
