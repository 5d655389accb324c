// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/kl_divergence.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

void kl_divergence_release(struct kl_divergence *divergence)
{
    alloc_free(divergence->kept_divergences);
    alloc_free(divergence->kept_differences);
    *divergence = (struct kl_divergence){0};
}

static int has_room(double **values, size_t *capacity, size_t count)
{
    void *grown = *values;
    const int has = alloc_grow(&grown, capacity, count, sizeof(**values));

    *values = grown;
    return has;
}

tapml_status kl_divergence_add(struct kl_divergence *divergence,
                               const struct log_softmax *base,
                               const struct log_softmax *computed,
                               int64_t next)
{
    const size_t count = (size_t)divergence->divergences.count;
    const double log_base = log_softmax_at(base, next),
                 log_computed = log_softmax_at(computed, next);
    const double distance = log_softmax_divergence(base, computed);
    const double difference = exp(log_computed) - exp(log_base);

    if (!isfinite(distance)) {
        return status_fail(TAPML_INVALID, "the divergence is infinite: a token that is possible by "
                                          "the base is impossible");
    }
    if (!has_room(&divergence->kept_divergences, &divergence->capacity_divergences, count) ||
        !has_room(&divergence->kept_differences, &divergence->capacity_differences, count)) {
        return status_no_memory();
    }
    divergence->kept_divergences[count] = distance;
    divergence->kept_differences[count] = difference;
    running_mean_add_pair(&divergence->surprise, -log_base, -log_computed);
    running_mean_add(&divergence->divergences, distance);
    running_mean_add(&divergence->differences, difference);
    running_mean_add(&divergence->squares, difference * difference);
    divergence->same_top += base->top == computed->top;
    return TAPML_OK;
}

static int compare_values(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;

    return (a > b) - (a < b);
}

void kl_divergence_sort(struct kl_divergence *divergence)
{
    const size_t count = (size_t)divergence->divergences.count;

    if (count > 0) {
        qsort(divergence->kept_divergences, count, sizeof(double), compare_values);
        qsort(divergence->kept_differences, count, sizeof(double), compare_values);
    }
}

double kl_divergence_quantile(const double *sorted, size_t count, double part)
{
    ASSERT(count > 0 && part >= 0 && part <= 1);
    const double at = part * (double)(count - 1);
    const size_t below = (size_t)at;
    const size_t above = below + 1 < count ? below + 1 : below;
    const double share = at - (double)below;

    return (1 - share) * sorted[below] + share * sorted[above];
}

double kl_divergence_root(const struct kl_divergence *divergence)
{
    return sqrt(divergence->squares.mean);
}

double kl_divergence_root_error(const struct kl_divergence *divergence)
{
    const double root = kl_divergence_root(divergence);

    // By the derivative of the root.
    return root > 0 ? running_mean_error(&divergence->squares) / (2 * root) : 0;
}

double kl_divergence_same_top(const struct kl_divergence *divergence)
{
    const uint64_t count = divergence->divergences.count;

    return count > 0 ? (double)divergence->same_top / (double)count : 0;
}

double kl_divergence_same_top_error(const struct kl_divergence *divergence)
{
    const uint64_t count = divergence->divergences.count;
    const double share = kl_divergence_same_top(divergence);

    return count > 1 ? sqrt(share * (1 - share) / (double)(count - 1)) : 0;
}
