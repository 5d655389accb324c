// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tensor/slice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tapml_status refuse(const char *text, const int64_t *shape, uint32_t rank)
{
    char extents[160] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < rank; i++) {
        const int more = snprintf(extents + length, sizeof(extents) - length, "%s%" PRId64,
                                  i > 0 ? ", " : "", shape[i]);
        length += more > 0 ? (size_t)more : 0;
    }
    return status_fail(TAPML_INVALID,
                       "slice '%.60s': expected indices or ranges such as 0, 2:5 for a tensor of "
                       "shape [%s]",
                       text, extents);
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

// An index, moved if it counts from the end and cut at the extent; `fallback` where there is none.
static int read_index(const char **io_at, int64_t extent, int64_t fallback, int64_t *out_index)
{
    char *end = NULL;
    const char *at = skip_blanks(*io_at);
    const long long number = strtoll(at, &end, 10);
    const int has = end != at;
    *io_at = skip_blanks(has ? end : at);
    *out_index = !has ? fallback : number < 0 ? number + extent : number;
    return has;
}

// One axis. Returns 0 where it is wrong, or beyond the extent.
static int read_axis(const char **io_at, int64_t extent, int64_t *out_begin, int64_t *out_end)
{
    const int has = read_index(io_at, extent, 0, out_begin);
    const int is_range = **io_at == ':';
    *out_end = *out_begin + 1;
    if (is_range) {
        *io_at += 1;
        (void)read_index(io_at, extent, extent, out_end);
        *out_end = *out_end > extent ? extent : *out_end;
    }
    return (has || is_range) && *out_begin >= 0 && *out_end <= extent &&
           (*out_begin < *out_end || (extent == 0 && *out_begin == 0));
}

tapml_status
slice_parse(const char *text, const int64_t *shape, uint32_t rank, struct slice *out_slice)
{
    struct slice slice = {.rank = rank};
    const char *at = text != NULL ? skip_blanks(text) : "";
    int is_right = 1;
    for (uint32_t i = 0; i < rank; i++) {
        slice.begin[i] = 0;
        slice.end[i] = shape[i];
        if (*at == '\0') {
            continue;
        }
        is_right = is_right && *at != ',' &&
                   read_axis(&at, shape[i], &slice.begin[i], &slice.end[i]) &&
                   (*at == ',' || *at == '\0');
        at = *at == ',' ? skip_blanks(at + 1) : at;
    }
    if (!is_right || *at != '\0') {
        return refuse(text != NULL ? text : "", shape, rank);
    }
    *out_slice = slice;
    return TAPML_OK;
}

uint64_t slice_count(const struct slice *slice)
{
    uint64_t count = 1;
    for (uint32_t i = 0; i < slice->rank; i++) {
        count *= (uint64_t)(slice->end[i] - slice->begin[i]);
    }
    return count;
}

size_t slice_at(const struct slice *slice,
                const int64_t *shape,
                uint64_t number,
                int64_t out_indices[TAPML_MAX_RANK])
{
    size_t at = 0;
    for (uint32_t i = slice->rank; i > 0; i--) {
        const uint64_t extent = (uint64_t)(slice->end[i - 1] - slice->begin[i - 1]);
        out_indices[i - 1] = slice->begin[i - 1] + (int64_t)(number % extent);
        number /= extent;
    }
    for (uint32_t i = 0; i < slice->rank; i++) {
        at = at * (size_t)shape[i] + (size_t)out_indices[i];
    }
    return at;
}
