// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/derive_bounds.h"

#include "tensor/convert.h"
#include "tensor/dtype.h"

#include <math.h>

enum { CHUNK = 256 };

// Twice a critical value is drawn too, and what is done to it must not overflow.
static const double CRITICAL_MOST = 1e18;

double derive_bounds_range(const struct case_argument *argument)
{
    double values[CHUNK];
    double range = 0;
    if (!argument->before || argument->encoding || !dtype_is_float(argument->dtype)) {
        return 1;
    }
    const uint64_t element_bytes = dtype_bytes(argument->dtype);
    const uint64_t count = argument->content_bytes / element_bytes;
    const unsigned char *data = argument->before;
    for (uint64_t at = 0; at < count; at += CHUNK) {
        const uint64_t got = count - at < CHUNK ? count - at : CHUNK;
        convert_to_f64(argument->dtype, data + at * element_bytes, (size_t)got, values);
        for (uint64_t i = 0; i < got; i++) {
            range = isfinite(values[i]) ? fmax(range, fabs(values[i])) : range;
        }
    }
    return range > 0 ? range : 1;
}

uint32_t derive_bounds_criticals(const struct carved_case *item,
                                 const struct compiled_op *schema,
                                 double *out_values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < schema->critical_count; i++) {
        const struct critical_value *critical = &schema->criticals[i];
        const double unit =
            critical->param == CRITICAL_NUMBER ? 1 : item->arguments[critical->param].d;
        const double value = critical->factor * unit;
        if (fabs(value) <= CRITICAL_MOST) { // Not so if it is no number.
            out_values[count++] = value;
        }
    }
    return count;
}
