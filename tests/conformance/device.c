// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include "harness/formulas.h"
#include "limits.h"

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

void device_check(struct plugin *device,
                  const struct trial *trial,
                  size_t count,
                  double *expected,
                  double limit,
                  const char *name)
{
    double *computed = device_array(count);

    trial_run(trial, device, computed);

    // As one row: a row of one value may be small by chance, and then far off by its own measure.
    const double distance = formulas_distance(1, count, expected, computed);

    cr_expect(distance <= limit, "%s, %s: %.2g, the limit is %.2g", trial->op->name, name, distance,
              limit);
    free(computed);
    free(expected);
}

void device_check_each(struct plugin *device,
                       const struct trial *trial,
                       size_t count,
                       double *expected,
                       double limit,
                       const char *name)
{
    double *computed = device_array(count);

    trial_run(trial, device, computed);
    for (size_t i = 0; i < count; i++) {
        const double unit = fmax(fabs(expected[i]) * 0x1p-23, 0x1p-149);

        if (!(fabs(expected[i] - computed[i]) <= limit * unit) &&
            !(isnan(expected[i]) && isnan(computed[i]))) {
            cr_expect_fail("%s, %s: element %zu of %zu is %.9g, expected %.9g", trial->op->name,
                           name, i, count, computed[i], expected[i]);
            break;
        }
    }
    free(computed);
    free(expected);
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

int main(int argc, char **argv)
{
    struct criterion_test_set *tests = criterion_initialize();
    int code = EXIT_FAILURE;

    if (criterion_handle_args(argc, argv, true) != 0) {
        code = look_for_device();
        if (code == 0) {
            const bool is_good = limits_apply(tests, device_options().component) &&
                                 criterion_run_all_tests(tests) != 0;

            code = is_good ? 0 : EXIT_FAILURE;
        }
    }
    criterion_finalize(tests);
    return code;
}
