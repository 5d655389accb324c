// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugins/reference.h"

#include "harness/formulas.h"
#include "harness/half.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static struct plugin *open_component(const char *component, const char *device, uint32_t threads)
{
    const struct plugin_options options = {
        .library = "plugins/cpu/tapml-cpu.so",
        .component = component,
        .device = device,
        .threads = threads,
    };
    tapml_call call = {0};
    struct plugin *plugin = NULL;

    cr_assert_eq(plugin_open(&options, &call, &plugin), TAPML_OK, "%s", call.message);
    return plugin;
}

struct plugin *reference_open(const char *device, uint32_t threads)
{
    return open_component("reference", device, threads);
}

void reference_close(struct plugin *plugin)
{
    cr_assert_eq(plugin_close(plugin), 0);
}

static size_t output_count(const struct op_fixture *fixture)
{
    const struct operand_spec *output = &fixture->arguments[fixture->output].tensor;
    size_t count = 1;

    for (uint32_t axis = 0; axis < output->rank; axis++) {
        count *= (size_t)output->shape[axis];
    }
    return count;
}

// Buffers of an argument: one, or one of each span.
static size_t buffer_count(const struct operand_spec *tensor)
{
    return tensor->dtype >> 16 == OPERAND_APART(0) >> 16
               ? operand_tiles(tensor->dtype)->encoding->n_spans
               : tensor->rank > 0;
}

static size_t argument_count(const struct op_fixture *fixture)
{
    size_t count = 0;

    for (size_t i = 0; i < OP_FIXTURE_PARAMS_MAX; i++) {
        const struct operand_spec *panel = fixture->arguments[i].panels;

        count += buffer_count(&fixture->arguments[i].tensor);
        for (; panel != NULL && panel->rank != 0; panel++) {
            count++;
        }
    }
    return count;
}

double *reference_output(const struct op_fixture *fixture,
                         const char *component,
                         const char *device,
                         uint32_t threads,
                         size_t *out_ranges)
{
    struct plugin *plugin = open_component(component, device, threads);
    double *values = calloc(output_count(fixture) + 1, sizeof(*values));
    const size_t before = plugin_allocation_count(plugin);

    cr_assert_not_null(values);
    op_fixture_run(fixture, plugin, values);

    // Each tensor has a buffer object; the call itself needs no memory.
    cr_assert_eq(plugin_allocation_count(plugin) - before, argument_count(fixture));
    if (out_ranges != NULL) {
        *out_ranges = plugin_range_count(plugin);
    }
    reference_close(plugin);
    return values;
}

static double *output_on(const struct op_fixture *fixture, const char *device, uint32_t threads)
{
    return reference_output(fixture, "reference", device, threads, NULL);
}

static void check_nearest(const double *expected, const double *computed, size_t count)
{
    double largest = 0;

    for (size_t i = 0; i < count; i++) {
        largest = isfinite(expected[i]) ? fmax(largest, fabs(expected[i])) : largest;
    }
    for (size_t i = 0; i < count; i++) {
        const double limit = fabs(expected[i]) * 0x1.001p-24 + largest * 1e-13 + 0x1p-149;

        cr_assert(fabs(expected[i] - computed[i]) <= limit || expected[i] == computed[i] ||
                      (isnan(expected[i]) && isnan(computed[i])),
                  "f64 has %.9g at %zu, expected %.17g", computed[i], i, expected[i]);
    }
}

static void check_threads(const struct op_fixture *fixture, const double *expected, size_t count)
{
    for (uint32_t threads = 0; threads <= 3; threads++) {
        double *computed = output_on(fixture, "f32", threads);

        for (size_t i = 0; i < count; i++) {
            cr_assert(
                (computed[i] == expected[i] && !signbit(computed[i]) == !signbit(expected[i])) ||
                    (isnan(computed[i]) && isnan(expected[i])),
                "%u threads change the bits at %zu", threads, i);
        }
        free(computed);
    }
}

static void check_rounded(const struct op_fixture *fixture, const double *f32, size_t count)
{
    double *computed = output_on(fixture, "f16-rounded", 1);

    for (size_t i = 0; i < count; i++) {
        const double expected = formulas_rounded(f32[i], TAPML_F16);

        cr_assert(computed[i] == expected || (isnan(computed[i]) && isnan(expected)),
                  "f16-rounded has %.9g at %zu, expected %.9g", computed[i], i, expected);
    }
    free(computed);
}

// With activations or states in fewer bits a device gives what it gives for the same numbers in
// f32, rounded.
static void
check_part(const struct op_fixture *fixture, enum half_part part, const char *device, size_t count)
{
    struct half half;

    if (!half_create(fixture, part, &half)) {
        return;
    }
    double *reduced = output_on(&half.reduced, device, 1), *f32 = output_on(&half.f32, device, 1);

    for (size_t i = 0; i < count; i++) {
        const double expected = half_rounds(&half) ? formulas_rounded(f32[i], TAPML_F16) : f32[i];

        cr_assert(reduced[i] == expected || (isnan(reduced[i]) && isnan(expected)),
                  "%s on %s, %s: %.9g at %zu, expected %.9g", fixture->op->name, device,
                  half_name(part), reduced[i], i, expected);
    }
    free(reduced);
    free(f32);
    half_release(&half);
}

static void check_half(const struct op_fixture *fixture, const char *device, size_t count)
{
    for (int part = 0; part < HALF_PART_COUNT; part++) {
        check_part(fixture, (enum half_part)part, device, count);
    }
}

void reference_check(const struct op_fixture *fixture,
                     size_t rows,
                     const double *expected,
                     double limit)
{
    static const char *const devices[] = {"f32", "f32-reversed", "f32-blocked"};
    const size_t count = output_count(fixture);
    double *f64 = output_on(fixture, "f64", 1);

    check_nearest(expected, f64, count);
    check_half(fixture, "f64", count);
    for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
        double *computed = output_on(fixture, devices[i], 1);
        const double distance =
            formulas_distance(rows, rows > 0 ? count / rows : 0, expected, computed);

        cr_assert_leq(distance, limit, "%s on %s: %g", fixture->op->name, devices[i], distance);
        if (i == 0) {
            check_threads(fixture, computed, count);
            check_rounded(fixture, computed, count);
            check_half(fixture, devices[i], count);
        }
        free(computed);
    }
    free(f64);
}
