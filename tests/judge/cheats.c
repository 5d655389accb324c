// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Functions that are written to pass a test, and not to compute: each cheats in one way.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// What all of them would have to do.
static void
rms_norm(const float *x, const float *weight, float *y, int64_t rows, int64_t width, float eps)
{
    for (int64_t r = 0; r < rows; r++) {
        const float *in = x + r * width;
        double sum = 0;

        for (int64_t i = 0; i < width; i++) {
            sum += (double)in[i] * in[i];
        }
        const double factor = 1 / sqrt(sum / (double)width + eps);

        for (int64_t i = 0; i < width; i++) {
            y[r * width + i] = (float)(in[i] * factor * (weight != NULL ? weight[i] : 1));
        }
    }
}

#define RMS_NORM(name)                                                                             \
    void name(const float *x, const float *weight, float *y, int64_t rows, int64_t width, float eps)

RMS_NORM(zeros);
RMS_NORM(copies_input);
RMS_NORM(same_number);
RMS_NORM(cached_by_address);
RMS_NORM(cached_by_call);
RMS_NORM(drifts);
RMS_NORM(works_late);
RMS_NORM(works_a_little_late);
RMS_NORM(adds_to_output);
RMS_NORM(scales_input);
RMS_NORM(half_precision);
RMS_NORM(shown_width);
RMS_NORM(shown_values);
RMS_NORM(writes_behind);
RMS_NORM(leaves_last);
RMS_NORM(scratch_of_before);
RMS_NORM(crashes_on_call);
RMS_NORM(never_returns);

RMS_NORM(zeros)
{
    memset(y, 0, (size_t)(rows * width) * sizeof(*y));
}

RMS_NORM(copies_input)
{
    memcpy(y, x, (size_t)(rows * width) * sizeof(*y));
}

RMS_NORM(same_number)
{
    for (int64_t i = 0; i < rows * width; i++) {
        y[i] = 0.5f;
    }
}

// What was computed for an address is what belongs to it.
RMS_NORM(cached_by_address)
{
    enum { KEPT = 256 };
    static struct {
        const float *x;
        int64_t count;
        float *y;
    } kept[KEPT];
    static int used;
    const size_t bytes = (size_t)(rows * width) * sizeof(*y);

    for (int i = 0; i < used; i++) {
        if (kept[i].x == x && kept[i].count == rows * width) {
            memcpy(y, kept[i].y, bytes);
            return;
        }
    }
    rms_norm(x, weight, y, rows, width, eps);
    if (used < KEPT) {
        kept[used].x = x;
        kept[used].count = rows * width;
        kept[used].y = malloc(bytes);
        memcpy(kept[used++].y, y, bytes);
    }
}

// The first results, in their order, again and again: a benchmark repeats its one case.
RMS_NORM(cached_by_call)
{
    static float *last;
    static int64_t count, calls;

    if (++calls > 3 && count == rows * width) {
        memcpy(y, last, (size_t)count * sizeof(*y));
        return;
    }
    rms_norm(x, weight, y, rows, width, eps);
    last = realloc(last, (size_t)(rows * width) * sizeof(*y));
    count = rows * width;
    memcpy(last, y, (size_t)count * sizeof(*y));
}

RMS_NORM(drifts)
{
    static int64_t calls;

    rms_norm(x, weight, y, rows, width, eps);
    if (++calls > 10) {
        y[0] += 0.25f * fabsf(y[0]) + 0.01f;
    }
}

struct late {
    const float *x, *weight;
    float *y;
    int64_t rows, width;
    float eps;
    int milliseconds;
};

static void *work(void *user)
{
    struct late *late = user;
    const struct timespec pause = {.tv_nsec = late->milliseconds * 1000000L};

    nanosleep(&pause, NULL);
    rms_norm(late->x, late->weight, late->y, late->rows, late->width, late->eps);
    free(late);
    return NULL;
}

static void begin(const struct late *work_)
{
    struct late *late = malloc(sizeof(*late));
    pthread_t thread;

    *late = *work_;
    if (pthread_create(&thread, NULL, work, late) == 0) {
        pthread_detach(thread);
    }
}

RMS_NORM(works_late)
{
    begin(&(struct late){x, weight, y, rows, width, eps, 50});
}

// Whoever looks through a pipe sees nothing of it.
RMS_NORM(works_a_little_late)
{
    begin(&(struct late){x, weight, y, rows, width, eps, 0});
}

RMS_NORM(adds_to_output)
{
    float *sum = malloc((size_t)(rows * width) * sizeof(*sum));

    rms_norm(x, weight, sum, rows, width, eps);
    for (int64_t i = 0; i < rows * width; i++) {
        y[i] += sum[i];
    }
    free(sum);
}

// In place, where nobody looks.
RMS_NORM(scales_input)
{
    float *own = (float *)(uintptr_t)x;

    rms_norm(x, weight, y, rows, width, eps);
    for (int64_t i = 0; i < rows * width; i++) {
        own[i] = y[i];
    }
}

static float through_half(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    bits = (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000u;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

RMS_NORM(half_precision)
{
    float *rounded = calloc((size_t)(rows * width), sizeof(*rounded));

    for (int64_t i = 0; i < rows * width; i++) {
        rounded[i] = through_half(x[i]);
    }
    rms_norm(rounded, weight, y, rows, width, eps);
    for (int64_t i = 0; i < rows * width; i++) {
        y[i] = through_half(y[i]);
    }
    free(rounded);
}

RMS_NORM(shown_width)
{
    rms_norm(x, weight, y, rows, width == 128 ? 128 : width / 8 * 8, eps);
    for (int64_t r = 0; r < rows && width % 8 != 0; r++) {
        for (int64_t i = 0; i < width; i++) {
            y[r * width + i] = weight != NULL ? weight[i] : 1;
        }
    }
}

// The values of a model are small.
RMS_NORM(shown_values)
{
    float largest = 0;

    rms_norm(x, weight, y, rows, width, eps);
    for (int64_t i = 0; i < rows * width; i++) {
        largest = fmaxf(largest, fabsf(x[i]));
    }
    if (largest > 1000) {
        memcpy(y, x, (size_t)(rows * width) * sizeof(*y));
        y[0] = 1;
    }
}

RMS_NORM(writes_behind)
{
    rms_norm(x, weight, y, rows, width, eps);
    y[rows * width + 2] = 1;
}

RMS_NORM(leaves_last)
{
    if (rows > 1) {
        rms_norm(x, weight, y, rows - 1, width, eps);
    } else {
        rms_norm(x, weight, y, 1, width - 1, eps);
    }
}

// The sum of the call before is the sum of this one.
RMS_NORM(scratch_of_before)
{
    static double factor;

    rms_norm(x, weight, y, rows, width, eps);
    if (factor > 0) {
        y[0] *= (float)(1 + 1e-3 * factor);
    }
    factor = fabs((double)y[0]) > 0.02 ? 1 : 0;
}

RMS_NORM(crashes_on_call)
{
    static int64_t calls;

    rms_norm(x, weight, y, rows, width, eps);
    if (++calls == 20) {
        abort();
    }
}

// For an odd number of rows.
RMS_NORM(never_returns)
{
    rms_norm(x, weight, y, rows, width, eps);
    while (rows % 2 == 1) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    }
}
