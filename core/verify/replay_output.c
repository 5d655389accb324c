// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/replay_output.h"

#include "base/arena.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"

tapml_status replay_output_take(const struct case_argument *argument,
                                const void *found,
                                struct arena *arena,
                                struct replay_output *out_output)
{
    const unsigned char *bytes = found;
    const struct case_argument view = case_content_view(argument);
    const size_t element_bytes = dtype_bytes(view.dtype);
    void *computed = arena_new(arena, argument->content_bytes);
    if (!computed) {
        return status_no_memory();
    }
    convert_gather(bytes + view.offset_bytes, view.shape, view.stride, view.rank, element_bytes,
                   computed);
    const uint64_t count = argument->content_bytes / element_bytes;
    const uint64_t width = view.rank > 0 ? (uint64_t)view.shape[view.rank - 1] : 1;
    *out_output = (struct replay_output){
        .param = argument->name,
        .dtype = argument->dtype,
        .expected = argument->after,
        .computed = computed,
        .rows = width > 0 ? count / width : 0,
        .width = width,
    };
    return TAPML_OK;
}

uint64_t replay_output_count(const struct replay_output *output)
{
    return (uint64_t)output->rows * output->width;
}
