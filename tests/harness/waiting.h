// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The same program, whose host waits after each op: what queueing ahead is compared with.
#pragma once

#include "base/alloc.h"
#include "exec/program.h"

// Puts a point behind each call, and a wait of the host for it. To be done before the executor
// adopts the program.
static inline tapml_status waiting_make(struct program *program)
{
    struct step *steps = alloc_array((size_t)program->step_count * 3, sizeof(*steps));
    uint32_t count = 0;
    if (!steps) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < program->step_count; i++) {
        const struct step *step = &program->steps[i];
        steps[count++] = *step;
        if (step->kind == STEP_CALL) {
            const uint32_t point = program->point_count++;
            steps[count++] =
                (struct step){.kind = STEP_SIGNAL, .place = step->place, .index = point};
            steps[count++] = (struct step){
                .kind = STEP_WAIT, .place = SPACE_NO_PLACE, .from = step->place, .index = point};
        }
    }
    alloc_free(program->steps);
    program->steps = steps;
    program->step_count = count;
    return TAPML_OK;
}
