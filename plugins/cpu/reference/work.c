// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "reference/work.h"

#include "reference/reference.h"
#include "reference/value.h"

// Work for about 10 microseconds: below it a second thread costs more than it brings.
enum { GRAIN_COST = 1 << 15 };

static void round_f16(const tapml_tensor *y)
{
    const size_t count = value_row_count(y), width = value_width(y);

    for (size_t r = 0; r < count; r++) {
        float *row = value_row(y, r);

        for (size_t i = 0; i < width; i++) {
            row[i] = value_round_f16(row[i]);
        }
    }
}

tapml_status
work_run(tapml_object *queue, tapml_call *call, const struct work *work, const tapml_tensor *y)
{
    const struct memory_object *own = memory_object_of(queue);
    const uint64_t grain = 1 + GRAIN_COST / (work->unit_cost + 1);
    tapml_status status = TAPML_OK;

    if (own->work == NULL || work->count <= grain) {
        work->body(work->job, 0, work->count);
    } else {
        status =
            own->work->parallel_for(own->host, call, work->count, grain, work->body, work->job);
    }
    if (status == TAPML_OK) {
        work_finish(queue, y);
    }
    return status;
}

void work_finish(tapml_object *queue, const tapml_tensor *y)
{
    if (reference_device_of(queue)->rounds_f16 && y->dtype == TAPML_F32) {
        round_f16(y);
    }
}
