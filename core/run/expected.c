// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/expected.h"

#include "base/alloc.h"
#include "gguf/gguf.h"
#include "model/safetensors.h"
#include "tensor/convert.h"

#include <math.h>

tapml_status expected_open(const char *model, const char *given, struct checkpoint **out_file)
{
    if (given != NULL) {
        return safetensors_open_file(given, out_file);
    }
    char *folder = gguf_is(model) ? file_folder(model) : alloc_text(model);
    char *path = folder != NULL ? file_join(folder, "expected.safetensors") : NULL;
    const tapml_status status =
        path != NULL ? safetensors_open_file(path, out_file) : status_no_memory();

    alloc_free(path);
    alloc_free(folder);
    return status;
}

tapml_status expected_read(const struct checkpoint *file,
                           const char *name,
                           uint32_t rank,
                           struct expected *out_expected)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(file, name);

    if (tensor == NULL || rank < 1 || rank > 2 || tensor->tensor.rank != rank) {
        return status_fail(TAPML_INVALID,
                           "expected.safetensors: tensor '%s' of rank %u expected, %s", name,
                           (unsigned)rank, tensor == NULL ? "none found" : "found another rank");
    }
    const int64_t rows = rank == 2 ? tensor->tensor.shape[0] : 1;
    const int64_t width = tensor->tensor.shape[rank - 1];
    const size_t count = (size_t)rows * (size_t)width;
    double *values = alloc_array(count + 1, sizeof(*values));

    if (values == NULL) {
        return status_no_memory();
    }
    convert_to_f64(tensor->tensor.dtype, tensor->data, count, values);
    *out_expected = (struct expected){.values = values, .rows = rows, .width = width};
    return TAPML_OK;
}

static tapml_status
take_ids(const char *name, int64_t last, const struct expected *expected, int32_t *ids)
{
    if (expected->width == 0) {
        return status_fail(TAPML_INVALID,
                           "expected.safetensors: tensor '%s': expected at least one id", name);
    }
    for (int64_t i = 0; i < expected->width; i++) {
        const double value = expected->values[i];

        if (!(value >= 0 && value <= (double)last)) {
            return status_fail(
                TAPML_INVALID,
                "expected.safetensors: tensor '%s': expected ids within 0 .. %lld, found %g", name,
                (long long)last, value);
        }
        ids[i] = (int32_t)value;
    }
    return TAPML_OK;
}

tapml_status expected_read_ids(const struct checkpoint *file,
                               const char *name,
                               int64_t last,
                               int32_t **out_ids,
                               int64_t *out_count)
{
    struct expected expected = {NULL, 0, 0};

    TAPML_TRY(expected_read(file, name, 1, &expected));
    int32_t *ids = alloc_array((size_t)expected.width + 1, sizeof(*ids));
    const tapml_status status =
        ids != NULL ? take_ids(name, last, &expected, ids) : status_no_memory();

    alloc_free(expected.values);
    if (status != TAPML_OK) {
        alloc_free(ids);
        return status;
    }
    *out_ids = ids;
    *out_count = expected.width;
    return TAPML_OK;
}

tapml_status expected_margin(const struct checkpoint *file,
                             const char *name,
                             int64_t row,
                             int32_t first,
                             int32_t second,
                             struct expected_margin *out_margin)
{
    struct expected expected = {NULL, 0, 0};

    TAPML_TRY(expected_read(file, name, 2, &expected));
    const int64_t at = row < 0 ? expected.rows - 1 : row;
    const int has = at >= 0 && at < expected.rows && first >= 0 && first < expected.width &&
                    second >= 0 && second < expected.width;
    const double *values = has ? expected.values + at * expected.width : NULL;

    *out_margin = (struct expected_margin){.margin = has ? values[first] - values[second] : 0};
    for (int64_t i = 0; has && i < expected.width; i++) {
        out_margin->most = fmax(out_margin->most, fabs(values[i]));
    }
    alloc_free(expected.values);
    return has ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "'%s' of expected.safetensors has no logits of %d and %d", name, first,
                             second);
}

double expected_row_error(const float *computed, const double *expected, int64_t width)
{
    double difference = 0, magnitude = 1;

    for (int64_t i = 0; i < width; i++) {
        const double distance = fabs((double)computed[i] - expected[i]);

        if (isnan(distance)) {
            return (double)INFINITY;
        }
        difference = fmax(difference, distance);
        magnitude = fmax(magnitude, fabs(expected[i]));
    }
    return difference / magnitude;
}

tapml_status expected_rows_error(const struct checkpoint *file,
                                 const char *name,
                                 const float *rows,
                                 int64_t count,
                                 int64_t width,
                                 double *out_error)
{
    struct expected expected = {NULL, 0, 0};
    double worst = 0;

    TAPML_TRY(expected_read(file, name, 2, &expected));
    const int fits = expected.rows == count && expected.width == width;

    for (int64_t row = 0; row < count && fits; row++) {
        const double error =
            expected_row_error(rows + row * width, expected.values + row * width, width);

        worst = error > worst ? error : worst;
    }
    const tapml_status status =
        fits ? TAPML_OK
             : status_fail(TAPML_INVALID,
                           "expected.safetensors: tensor '%s' is %lld rows of %lld values, and the "
                           "model gives %lld rows of %lld",
                           name, (long long)expected.rows, (long long)expected.width,
                           (long long)count, (long long)width);

    alloc_free(expected.values);
    if (status == TAPML_OK) {
        *out_error = worst;
    }
    return status;
}

static float *narrow(const double *values, size_t count)
{
    float *made = alloc_array(count + 1, sizeof(*made));

    for (size_t i = 0; made != NULL && i < count; i++) {
        made[i] = (float)values[i];
    }
    return made;
}

static tapml_status compare_embedding(const double *expected,
                                      int64_t width,
                                      const struct pooling *computed,
                                      double *out_error)
{
    if (width != computed->width) {
        return status_fail(TAPML_INVALID,
                           "expected.safetensors: expected an embedding of %lld values, found %lld",
                           (long long)computed->width, (long long)width);
    }
    float *values = narrow(computed->values, (size_t)width);

    if (values == NULL) {
        return status_no_memory();
    }
    *out_error = expected_row_error(values, expected, width);
    alloc_free(values);
    return TAPML_OK;
}

tapml_status expected_embedding_error(const struct checkpoint *file,
                                      const char *name,
                                      const struct pooling *computed,
                                      double *out_error)
{
    struct expected expected = {NULL, 0, 0};

    TAPML_TRY(expected_read(file, name, 1, &expected));
    const tapml_status status =
        compare_embedding(expected.values, expected.width, computed, out_error);

    alloc_free(expected.values);
    return status;
}

static tapml_status
pool_rows(const struct expected *rows, const int32_t *mask, struct pooling *pooling)
{
    float *values = narrow(rows->values, (size_t)rows->rows * (size_t)rows->width);

    if (values == NULL) {
        return status_no_memory();
    }
    const tapml_status status = pooling_add(pooling, values, rows->rows, rows->width, mask);

    alloc_free(values);
    return status == TAPML_OK ? pooling_end(pooling) : status;
}

tapml_status expected_pooled_error(const struct checkpoint *file,
                                   const char *name,
                                   const int32_t *mask,
                                   int64_t tokens,
                                   const struct pooling *computed,
                                   double *out_error)
{
    struct expected rows = {NULL, 0, 0};
    struct pooling pooling = {.kind = computed->kind, .is_normalised = computed->is_normalised};

    TAPML_TRY(expected_read(file, name, 2, &rows));
    tapml_status status =
        rows.rows <= tokens
            ? pool_rows(&rows, mask, &pooling)
            : status_fail(TAPML_INVALID, "expected.safetensors: '%s' has more rows than tokens",
                          name);

    if (status == TAPML_OK) {
        status = compare_embedding(pooling.values, pooling.width, computed, out_error);
    }
    pooling_release(&pooling);
    alloc_free(rows.values);
    return status;
}
