// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/expected.h"

#include "harness/scratch.h"
#include "model/safetensors.h"

#include <math.h>

enum { IDS_MAX = 256 };

static int64_t read_ids(const struct expected *expected, const char *name, int32_t *out_ids)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(expected->file, name);
    cr_assert_not_null(tensor, "no '%s'", name);
    cr_assert_eq(tensor->tensor.dtype, TAPML_I64);
    const int64_t count = tensor->tensor.shape[0];
    cr_assert_leq(count, IDS_MAX);
    for (int64_t i = 0; i < count; i++) {
        int64_t id = 0;
        memcpy(&id, (const char *)tensor->data + i * 8, sizeof(id));
        out_ids[i] = (int32_t)id;
    }
    return count;
}

void expected_open(struct expected *expected, const char *folder)
{
    char path[3 * SCRATCH_PATH];
    snprintf(path, sizeof(path), "%s/expected.safetensors", scratch_source(folder));
    cr_assert_eq(safetensors_open_file(path, &expected->file), TAPML_OK, "%s", status_message());
    expected->count = read_ids(expected, "input_ids", expected->ids);
    expected->greedy_count = read_ids(expected, "greedy_ids", expected->greedy);
}

void expected_close(struct expected *expected)
{
    checkpoint_close(expected->file);
}

static void
compare_row(const char *name, int64_t at, const float *row, const float *b, int64_t width)
{
    double largest = 1, worst = 0;
    for (int64_t i = 0; i < width; i++) {
        const double difference = fabs((double)row[i] - (double)b[i]);
        largest = fmax(largest, fabs((double)b[i]));
        worst = isnan(difference) || difference > worst ? difference : worst;
    }
    cr_assert(worst <= 1e-4 * largest, "%s row %lld: off by %g", name, (long long)at, worst);
}

// Compares an output of the last step with the rows of `name` from `first` on.
static void compare(const struct expected *expected,
                    struct session *session,
                    const char *name,
                    const char *output,
                    int64_t first)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(expected->file, name);
    const float *values = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    cr_assert_eq(session_output(session, output, &values, shape, &rank), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(rank, 2);
    cr_assert_eq(tensor->tensor.dtype, TAPML_F32);
    const int64_t width = tensor->tensor.shape[1];
    cr_assert_eq(shape[1], width);
    cr_assert_leq(first + shape[0], tensor->tensor.shape[0]);
    for (int64_t i = 0; i < shape[0]; i++) {
        compare_row(name, first + i, values + i * width,
                    (const float *)tensor->data + (first + i) * width, width);
    }
}

static void compare_prefill(const struct expected *expected, struct session *session, int64_t first)
{
    compare(expected, session, "prefill_logits", "logits", first);
    for (size_t i = 0; i < checkpoint_count(expected->file); i++) {
        const char *name = checkpoint_at(expected->file, i)->name;
        if (strncmp(name, "hidden.", 7) == 0) {
            compare(expected, session, name, name, first);
        }
    }
}

static void check_choice(const struct expected *expected, struct session *session, int64_t at)
{
    int32_t id = -1;
    cr_assert_eq(session_greedy(session, &id), TAPML_OK, "%s", status_message());
    cr_assert_eq(id, expected->greedy[at], "choice %lld is %d, not %d", (long long)at, id,
                 expected->greedy[at]);
}

void expected_compare(const struct expected *expected, struct session *session, int64_t chunk)
{
    cr_assert_eq(session_begin(session, expected->count), TAPML_OK, "%s", status_message());
    for (int64_t at = 0; at < expected->count; at += chunk) {
        const int64_t left = expected->count - at, here = left < chunk ? left : chunk;
        cr_assert_eq(session_step(session, expected->ids + at, here, NULL, 0), TAPML_OK, "%s",
                     status_message());
        compare_prefill(expected, session, at);
    }
    check_choice(expected, session, 0);
    for (int64_t i = 0; i + 1 < expected->greedy_count; i++) {
        cr_assert_eq(session_feed(session, &expected->greedy[i], 1), TAPML_OK, "%s",
                     status_message());
        compare(expected, session, "decode_logits", "logits", i);
        check_choice(expected, session, i + 1);
    }
}
