// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/range.h"

#include <math.h>

enum { CHUNK = 256 };

// Below it a dtype has no normal numbers.
static double least_normal(enum activation activation)
{
    return activation_type(activation)->dtype == TAPML_F16 ? 0x1p-14 : 0x1p-126;
}

static void add_value(struct range_loss *loss, double value, double rounded, double least)
{
    const double magnitude = fabs(value);
    if (!isfinite(value)) {
        return;
    }
    loss->count++;
    loss->largest = fmax(loss->largest, magnitude);
    if (!isfinite(rounded)) {
        loss->beyond++;
        return;
    }
    loss->below += magnitude > 0 && magnitude < least;
    loss->zeroed += magnitude > 0 && rounded == 0;
    loss->value_squares += value * value;
    loss->error_squares += (rounded - value) * (rounded - value);
}

void range_add(struct range_loss *loss,
               enum activation activation,
               const float *values,
               size_t count)
{
    const struct activation_type *type = activation_type(activation);
    const double least = least_normal(activation);
    for (size_t at = 0; at < count; at += CHUNK) {
        const size_t here = count - at < CHUNK ? count - at : CHUNK;
        float elements[CHUNK], rounded[CHUNK]; // No dtype has larger elements.
        type->from_f32(values + at, here, elements);
        type->to_f32(elements, here, rounded);
        for (size_t i = 0; i < here; i++) {
            add_value(loss, values[at + i], rounded[i], least);
        }
    }
}

void range_merge(struct range_loss *loss, const struct range_loss *more)
{
    loss->count += more->count;
    loss->beyond += more->beyond;
    loss->below += more->below;
    loss->zeroed += more->zeroed;
    loss->largest = fmax(loss->largest, more->largest);
    loss->value_squares += more->value_squares;
    loss->error_squares += more->error_squares;
}

double range_relative(const struct range_loss *loss)
{
    return loss->value_squares > 0 ? sqrt(loss->error_squares / loss->value_squares) : 0;
}
