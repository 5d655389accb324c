// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "harness/formulas.h"
#include "harness/half.h"
#include "limits.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_SKIP = 77, OPTIONS_MAX = 8 };

const int64_t device_widths[DEVICE_WIDTH_COUNT] = {1,  3,  5,  7,   24,  32,  33,  64,
                                                   65, 80, 96, 128, 255, 256, 257, 352};

static const char *environment(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value != NULL && value[0] != '\0' ? value : fallback;
}

// Cuts a text into words at any of `marks`, in place: at most `most`, with a NULL behind them.
static void cut(char *text, const char *marks, const char **words, size_t most)
{
    size_t count = 0;

    for (text += strspn(text, marks); *text != '\0' && count < most; text += strspn(text, marks)) {
        words[count++] = text;
        text += strcspn(text, marks);
        if (*text != '\0') {
            *text++ = '\0';
        }
    }
    words[count] = NULL;
}

// "a=b c=d" as keys and values in turn.
static const char *const *read_options(void)
{
    static char text[256];
    static const char *words[2 * OPTIONS_MAX + 1];

    (void)snprintf(text, sizeof(text), "%s", environment("TAPML_OPTIONS", "")); // Cut if too long.
    cut(text, "= ", words, 2 * OPTIONS_MAX);
    return words;
}

struct plugin_options device_options(void)
{
    return (struct plugin_options){
        .library = environment("TAPML_PLUGIN", "plugins/opencl/tapml-opencl.so"),
        .component = environment("TAPML_COMPONENT", "opencl"),
        .device = environment("TAPML_DEVICE", NULL),
        .threads = 2,
        .options = read_options(),
    };
}

struct plugin *device_open(void)
{
    const struct plugin_options options = device_options();
    struct plugin *device = NULL;
    tapml_call call = {0};
    const tapml_status status = plugin_open(&options, &call, &device);

    cr_assert_eq(status, TAPML_OK, "%s: %d, %s", options.component, status, call.message);
    return device;
}

void device_close(struct plugin *device)
{
    cr_assert_eq(plugin_close(device), 0, "the plugin keeps memory");
}

double *device_array(size_t count)
{
    double *array = calloc(count + 1, sizeof(*array));

    cr_assert_not_null(array);
    return array;
}

// -- Activations in f16 ------------------------------------------------------------------------

bool device_claims_half(struct plugin *device)
{
    const double x[] = {1};
    const struct op_fixture fixture = {
        .op = &tapml_silu,
        .output = TAPML_SILU_Y,
        .arguments = {{.tensor = op_fixture_row(TAPML_F16, 1, x)},
                      {.tensor = op_fixture_row(TAPML_F16, 1, NULL)}},
    };

    return op_fixture_supports(&fixture, device).grade > TAPML_SUPPORT_NO;
}

bool device_claims_half_state(struct plugin *device)
{
    const double x[] = {1};
    const struct op_fixture fixture = {
        .op = &tapml_state_append,
        .output = TAPML_STATE_APPEND_STATE,
        .arguments = {{.tensor = op_fixture_heads(TAPML_F16, 1, 1, 1, NULL)},
                      {.tensor = op_fixture_heads(TAPML_F32, 1, 1, 1, x)}},
    };

    return op_fixture_supports(&fixture, device).grade > TAPML_SUPPORT_NO;
}

bool device_claims_blocks(struct plugin *device)
{
    enum { VALUES = 32 };
    static const double x[VALUES] = {1}, state[VALUES] = {0};
    const struct op_fixture fixture = {
        .op = &tapml_state_append,
        .output = TAPML_STATE_APPEND_STATE,
        .arguments = {{.tensor = op_fixture_heads(OPERAND_ROWS, 1, 1, VALUES, state)},
                      {.tensor = op_fixture_heads(TAPML_F32, 1, 1, VALUES, x)}},
    };

    return op_fixture_supports(&fixture, device).grade > TAPML_SUPPORT_NO;
}

static void run_reference(const struct op_fixture *fixture, double *values)
{
    const struct plugin_options options = {
        .library = "plugins/cpu/tapml-cpu.so", .component = "reference", .device = "f64"};
    struct plugin *reference = NULL;
    tapml_call call = {0};

    cr_assert_eq(plugin_open(&options, &call, &reference), TAPML_OK, "%s", call.message);
    op_fixture_run(fixture, reference, values);
    (void)plugin_close(reference); // It is not the one that is tested.
}

// What may be off: `row` everywhere, and `units` in the last place of an f32.
struct tolerance {
    double row, units;
};

static void compare_half(const struct half *half,
                         size_t count,
                         const double *expected,
                         const double *computed,
                         const struct tolerance *tolerance,
                         const char *name)
{
    const double unit = half_rounds(half) ? 0x1p-11 : 0, least = half_rounds(half) ? 0x1p-25 : 0;

    for (size_t i = 0; i < count; i++) {
        const double honest = tolerance->row + tolerance->units * fabs(expected[i]) * 0x1p-23;
        const double limit = honest + fmax((fabs(expected[i]) + honest) * unit, least);
        const double nearest =
            half_rounds(half) ? formulas_rounded(expected[i], TAPML_F16) : expected[i];

        if (!(fabs(expected[i] - computed[i]) <= limit) && computed[i] != nearest &&
            !(isnan(expected[i]) && isnan(computed[i]))) {
            cr_expect_fail("%s, %s, %s: element %zu of %zu is %.9g, expected %.9g",
                           half->reduced.op->name, name, half_name(half->part), i, count,
                           computed[i], expected[i]);
            break;
        }
    }
}

static double rms_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += isfinite(values[i]) ? values[i] * values[i] : 0;
    }
    return count > 0 ? sqrt(sum / (double)count) : 0;
}

// A sum that goes on in what it wrote would be rounded more than once: it may be refused.
static bool is_taken(const struct half *half, struct plugin *device)
{
    const tapml_support support = op_fixture_supports(&half->reduced, device);

    cr_expect(support.grade > TAPML_SUPPORT_NO || strstr(support.reason, "would round") != NULL,
              "%s, %s: %s", half->reduced.op->name, half_name(half->part), support.reason);
    return support.grade > TAPML_SUPPORT_NO;
}

static void check_part(struct plugin *device,
                       const struct op_fixture *fixture,
                       enum half_part part,
                       size_t count,
                       struct tolerance tolerance,
                       const char *name)
{
    struct half half;

    if (!half_create(fixture, part, &half)) {
        return;
    }
    if (is_taken(&half, device)) {
        double *expected = device_array(count), *computed = device_array(count);

        run_reference(&half.f32, expected);
        op_fixture_run(&half.reduced, device, computed);
        tolerance.row *= rms_of(expected, count);
        compare_half(&half, count, expected, computed, &tolerance, name);
        free(expected);
        free(computed);
    }
    half_release(&half);
}

static void check_half(struct plugin *device,
                       const struct op_fixture *fixture,
                       size_t count,
                       struct tolerance tolerance,
                       const char *name)
{
    if (device_claims_half(device)) {
        check_part(device, fixture, HALF_ALL, count, tolerance, name);
    }
    if (device_claims_half_state(device)) {
        check_part(device, fixture, HALF_STATES, count, tolerance, name);
    }
    if (device_claims_blocks(device)) {
        check_part(device, fixture, HALF_BLOCKS, count, tolerance, name);
    }
}

// -- Fixtures ------------------------------------------------------------------------------------

// Whether the next check of this test, each of which is a process of its own, is of the share that
// the environment asks for. Numbers are mixed, since the loops of tests have periods themselves.
static bool is_of_share(void)
{
    static uint32_t checks;
    unsigned part = 0, parts = 1;

    const int fields = sscanf(environment("TAPML_SHARE", "0/1"), "%u/%u", &part, &parts);

    cr_assert(fields == 2 && part < parts, "TAPML_SHARE: expected PART/PARTS");
    return checks++ == 0 || (checks * 2654435761U >> 16) % parts == part;
}

// Whether the check is left out: it is not of the share, or the device refuses it and may.
static bool is_left_out(const struct op_fixture *fixture, struct plugin *device)
{
    if (!is_of_share()) {
        return true;
    }
    const tapml_support support = op_fixture_supports(fixture, device);

    return support.grade == TAPML_SUPPORT_NO &&
           limits_allow(device_options().component, support.reason);
}

void device_check(struct plugin *device,
                  const struct op_fixture *fixture,
                  size_t count,
                  double *expected,
                  double limit,
                  const char *name)
{
    if (is_left_out(fixture, device)) {
        free(expected);
        return;
    }
    double *computed = device_array(count);

    op_fixture_run(fixture, device, computed);

    // As one row: a row of one value may be small by chance, and then far off by its own measure.
    const double distance = formulas_distance(1, count, expected, computed);

    cr_expect(distance <= limit, "%s, %s: %.2g, the limit is %.2g", fixture->op->name, name,
              distance, limit);
    free(computed);
    free(expected);
    check_half(device, fixture, count, (struct tolerance){.row = limit}, name);
}

void device_check_each(struct plugin *device,
                       const struct op_fixture *fixture,
                       size_t count,
                       double *expected,
                       double limit,
                       const char *name)
{
    if (is_left_out(fixture, device)) {
        free(expected);
        return;
    }
    double *computed = device_array(count);

    op_fixture_run(fixture, device, computed);
    for (size_t i = 0; i < count; i++) {
        const double unit = fmax(fabs(expected[i]) * 0x1p-23, 0x1p-149);

        if (!(fabs(expected[i] - computed[i]) <= limit * unit) &&
            !(isnan(expected[i]) && isnan(computed[i]))) {
            cr_expect_fail("%s, %s: element %zu of %zu is %.9g, expected %.9g", fixture->op->name,
                           name, i, count, computed[i], expected[i]);
            break;
        }
    }
    free(computed);
    free(expected);
    check_half(device, fixture, count, (struct tolerance){.units = limit}, name);
}

// -- The program -------------------------------------------------------------------------------

static int is_required(const char *component)
{
    const char *words[OPTIONS_MAX + 1];
    char text[256];

    (void)snprintf(text, sizeof(text), "%s", environment("TAPML_REQUIRE", "")); // Likewise.
    cut(text, " ,", words, OPTIONS_MAX);
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strcmp(words[i], component) == 0) {
            return 1;
        }
    }
    return 0;
}

// Says why there is nothing to run on, and gives the exit status for it; 0 where there is.
static int look_for_device(void)
{
    const struct plugin_options options = device_options();
    struct plugin *device = NULL;
    tapml_call call = {0};
    const tapml_status status = plugin_open(&options, &call, &device);

    if (status == TAPML_OK) {
        const tapml_device_info *info = plugin_info(device);

        printf("%s: %s, %s\n", options.component, info->name,
               info->driver != NULL ? info->driver : "");
        return plugin_close(device) == 0 ? 0 : EXIT_FAILURE;
    }
    const int is_absent =
        status == TAPML_UNAVAILABLE || strcmp(call.message, "no such device") == 0;

    printf("%s: %s\n", options.component, call.message);
    return is_absent && !is_required(options.component) ? EXIT_SKIP : EXIT_FAILURE;
}

// What the component is not held to, and what this device of it is not.
static bool limits_are_applied(const struct criterion_test_set *tests)
{
    const struct plugin_options options = device_options();
    char name[128] = "";

    if (options.device != NULL) {
        (void)snprintf(name, sizeof(name), "%s-%s", options.component, options.device);
    }
    return limits_apply(tests, options.component) && (name[0] == '\0' || limits_apply(tests, name));
}

int main(int argc, char **argv)
{
    struct criterion_test_set *tests = criterion_initialize();
    int code = EXIT_FAILURE;

    if (criterion_handle_args(argc, argv, true) != 0) {
        code = look_for_device();
        if (code == 0) {
            const bool is_good = limits_are_applied(tests) && criterion_run_all_tests(tests) != 0;

            code = is_good ? 0 : EXIT_FAILURE;
        }
    }
    criterion_finalize(tests);
    return code;
}
