// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Functions as people have them: right, in their own order of sums, with state of their own.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RMS_NORM(name)                                                                             \
    void name(const float *x, const float *weight, float *y, int64_t rows, int64_t width, float eps)

RMS_NORM(plain);
RMS_NORM(in_double);
RMS_NORM(four_chains);
RMS_NORM(backwards);
RMS_NORM(output_as_scratch);
RMS_NORM(plans_by_shape);
RMS_NORM(in_threads);
RMS_NORM(by_reciprocal);
int with_status(
    const float *x, const float *weight, float *y, int32_t rows, int32_t width, double eps);
void add(const float *a, const float *b, float *y, int64_t count);
void silu(const float *x, float *y, int64_t count);
void linear(const float *x, const float *w, float *y, int64_t rows, int64_t width, int64_t outputs);

static void scale(const float *x, const float *weight, float *y, int64_t width, float factor)
{
    for (int64_t i = 0; i < width; i++) {
        y[i] = x[i] * factor * (weight != NULL ? weight[i] : 1);
    }
}

RMS_NORM(plain)
{
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;

        for (int64_t i = 0; i < width; i++) {
            sum += x[r * width + i] * x[r * width + i];
        }
        scale(x + r * width, weight, y + r * width, width, 1 / sqrtf(sum / (float)width + eps));
    }
}

RMS_NORM(in_double)
{
    for (int64_t r = 0; r < rows; r++) {
        double sum = 0;

        for (int64_t i = 0; i < width; i++) {
            sum += (double)x[r * width + i] * x[r * width + i];
        }
        const double factor = 1 / sqrt(sum / (double)width + (double)eps);

        for (int64_t i = 0; i < width; i++) {
            y[r * width + i] =
                (float)(x[r * width + i] * factor * (weight != NULL ? (double)weight[i] : 1));
        }
    }
}

RMS_NORM(four_chains)
{
    for (int64_t r = 0; r < rows; r++) {
        float sums[4] = {0};

        for (int64_t i = 0; i < width; i++) {
            sums[i % 4] += x[r * width + i] * x[r * width + i];
        }
        scale(x + r * width, weight, y + r * width, width,
              1 / sqrtf((sums[0] + sums[1] + (sums[2] + sums[3])) / (float)width + eps));
    }
}

RMS_NORM(backwards)
{
    for (int64_t r = rows - 1; r >= 0; r--) {
        float sum = 0;

        for (int64_t i = width - 1; i >= 0; i--) {
            sum += x[r * width + i] * x[r * width + i];
        }
        scale(x + r * width, weight, y + r * width, width, 1 / sqrtf(sum / (float)width + eps));
    }
}

// Squares go where the output will be.
RMS_NORM(output_as_scratch)
{
    for (int64_t r = 0; r < rows; r++) {
        float *own = y + r * width, sum = 0;

        for (int64_t i = 0; i < width; i++) {
            own[i] = x[r * width + i] * x[r * width + i];
        }
        for (int64_t i = 0; i < width; i++) {
            sum += own[i];
        }
        scale(x + r * width, weight, own, width, 1 / sqrtf(sum / (float)width + eps));
    }
}

// Keeps memory from call to call, and reads nothing of it that was not just written.
RMS_NORM(plans_by_shape)
{
    static float *squares;
    static int64_t room;

    if (room < width) {
        squares = realloc(squares, (size_t)width * sizeof(*squares));
        room = width;
    }
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;

        for (int64_t i = 0; i < width; i++) {
            squares[i] = x[r * width + i] * x[r * width + i];
        }
        for (int64_t i = 0; i < width; i++) {
            sum += squares[i];
        }
        scale(x + r * width, weight, y + r * width, width, 1 / sqrtf(sum / (float)width + eps));
    }
}

struct part {
    const float *x, *weight;
    float *y;
    int64_t rows, width;
    float eps;
};

static void *run_part(void *user)
{
    const struct part *part = user;

    plain(part->x, part->weight, part->y, part->rows, part->width, part->eps);
    return NULL;
}

RMS_NORM(in_threads)
{
    const int64_t half = rows / 2;
    struct part part = {x, weight, y, half, width, eps};
    pthread_t thread;
    const int has_thread = pthread_create(&thread, NULL, run_part, &part) == 0;

    plain(x + half * width, weight, y + half * width, rows - half, width, eps);
    if (has_thread) {
        pthread_join(thread, NULL);
    } else {
        run_part(&part);
    }
}

RMS_NORM(by_reciprocal)
{
    const float reciprocal = 1 / (float)width;

    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;

        for (int64_t i = 0; i < width; i++) {
            sum += x[r * width + i] * x[r * width + i] * reciprocal;
        }
        scale(x + r * width, weight, y + r * width, width, 1 / sqrtf(sum + eps));
    }
}

int with_status(
    const float *x, const float *weight, float *y, int32_t rows, int32_t width, double eps)
{
    if (rows < 0 || width < 1) {
        return 1;
    }
    plain(x, weight, y, rows, width, (float)eps);
    return 0;
}

void add(const float *a, const float *b, float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        y[i] = a[i] + b[i];
    }
}

void silu(const float *x, float *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        y[i] = x[i] / (1 + expf(-x[i]));
    }
}

void linear(const float *x, const float *w, float *y, int64_t rows, int64_t width, int64_t outputs)
{
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t o = 0; o < outputs; o++) {
            float sum = 0;

            for (int64_t i = 0; i < width; i++) {
                sum += x[r * width + i] * w[o * width + i];
            }
            y[r * outputs + o] = sum;
        }
    }
}
