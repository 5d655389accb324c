// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/divergence_report.h"

#include "base/text.h"
#include "dump/divergence.h"
#include "dump/dump.h"
#include "tensor/shape.h"

#include <math.h>
#include <string.h>

enum { SHAPE = 96, NAMES_MAX = 4, DIFFERENT_MAX = 8 };

static void print_computed(const struct dump_tensor *tensor, struct text *out)
{
    if (tensor->op == NULL) {
        return;
    }
    text_format(out, ", computed by %s", tensor->op);
    for (uint32_t i = 0; i < tensor->source_count; i++) {
        text_format(out, "%s%s", i == 0 ? " from " : ", ", tensor->sources[i]);
    }
}

static void print_worst(const struct divergence_row *row, struct text *out)
{
    const struct tensor_distance *distance = &row->distance;

    if (distance->has_worst) {
        text_format(out, "  element %zu is %.9g and %.9g\n", distance->worst_index,
                    distance->worst_first, distance->worst_second);
    }
    if (row->first->op != NULL) {
        text_format(out, "  %s\n",
                    row->is_op_alone
                        ? "all that it was computed from is equal in both: the op differs"
                        : "some of what it was computed from differs within its limits, or is not "
                          "in both dumps");
    }
}

static void print_first(const struct divergence *divergence, struct text *out)
{
    const struct divergence_row *row = divergence->first;
    char shape[SHAPE];

    if (row == NULL) {
        text_append(out, "nothing diverges\n");
        return;
    }
    shape_text(row->first->shape, row->first->rank, shape, sizeof(shape));
    text_format(out, "first diverges at %s %s", row->first->name, shape);
    print_computed(row->first, out);
    text_format(out, ": %s\n", row->distance.why);
    print_worst(row, out);
}

static void print_others(const struct divergence *divergence, struct text *out)
{
    const size_t count = divergence->counts[TENSOR_DISTANCE_DIFFERENT];
    size_t printed = 0;

    if (count < 2) {
        return;
    }
    text_append(out, "  then differ:");
    for (const struct divergence_row *row = divergence->first + 1;
         row < divergence->rows + divergence->count && printed < DIFFERENT_MAX; row++) {
        if (row->distance.state == TENSOR_DISTANCE_DIFFERENT) {
            text_format(out, "%s %s", printed == 0 ? "" : ",", row->first->name);
            printed++;
        }
    }
    text_format(out, "%s\n", printed + 1 < count ? ", ..." : "");
}

// "only in a.txt, so fused or left out in the other: 3 (x, y, z)"; `listed` of `count` are there.
static void print_alone(const struct dump *dump,
                        const struct dump_tensor *const *tensors,
                        size_t listed,
                        size_t count,
                        struct text *out)
{
    if (count == 0) {
        return;
    }
    text_format(out, "only in %s, so fused or left out in the other: %zu (", dump->path, count);
    for (size_t i = 0; i < listed && i < NAMES_MAX; i++) {
        text_format(out, "%s%s", i == 0 ? "" : ", ", tensors[i]->name);
    }
    text_format(out, "%s)\n", count > NAMES_MAX ? ", ..." : "");
}

static void
print_only_first(const struct divergence *divergence, const struct dump *first, struct text *out)
{
    const struct dump_tensor *names[NAMES_MAX];
    size_t kept = 0;

    for (size_t i = 0; i < divergence->count && kept < NAMES_MAX; i++) {
        if (divergence->rows[i].distance.state == TENSOR_DISTANCE_ALONE) {
            names[kept++] = divergence->rows[i].first;
        }
    }
    print_alone(first, names, kept, divergence->counts[TENSOR_DISTANCE_ALONE], out);
}

void divergence_report_print(const struct divergence *divergence,
                             const struct dump *first,
                             const struct dump *second,
                             struct text *out)
{
    const size_t *counts = divergence->counts;
    const size_t alone = counts[TENSOR_DISTANCE_ALONE] + counts[TENSOR_DISTANCE_SILENT];

    print_first(divergence, out);
    print_others(divergence, out);
    text_format(out, "compared: %zu; equal %zu, within their limits %zu, different %zu\n",
                divergence->count - alone, counts[TENSOR_DISTANCE_EQUAL],
                counts[TENSOR_DISTANCE_CLOSE], counts[TENSOR_DISTANCE_DIFFERENT]);
    print_only_first(divergence, first, out);
    print_alone(second, divergence->only_second, divergence->only_second_count,
                divergence->only_second_count, out);
    if (counts[TENSOR_DISTANCE_SILENT] > 0) {
        text_format(out, "not compared: %zu, of which no values were printed\n",
                    counts[TENSOR_DISTANCE_SILENT]);
    }
    if (first->skipped + second->skipped > 0) {
        text_format(out, "not read: %zu, of a type that is not compared\n",
                    first->skipped + second->skipped);
    }
    if (!first->is_ordered) {
        text_format(out, "the order is that of the names: %s does not have that of the run\n",
                    first->path);
    }
}

// -- The document ------------------------------------------------------------------------------

// JSON has neither NaN nor infinity.
static json_t *make_number(double value)
{
    return isfinite(value) ? json_real(value)
           : isnan(value)  ? json_string("NaN")
                           : json_string(value > 0 ? "Infinity" : "-Infinity");
}

// Names of others may be any bytes.
static json_t *make_text(const char *text)
{
    json_t *value = json_string(text);

    return value != NULL ? value : json_string("?");
}

static json_t *make_names(const char *const *names, size_t count)
{
    json_t *array = json_array();

    for (size_t i = 0; i < count; i++) {
        (void)json_array_append_new(array, make_text(names[i]));
    }
    return array;
}

static json_t *make_row(const struct divergence_row *row)
{
    const struct dump_tensor *tensor = row->first;
    json_t *object = json_object(), *shape = json_array();

    for (uint32_t i = 0; i < tensor->rank; i++) {
        (void)json_array_append_new(shape, json_integer(tensor->shape[i]));
    }
    (void)json_object_set_new(object, "name", make_text(tensor->name));
    (void)json_object_set_new(object, "second_name", make_text(row->second->name));
    (void)json_object_set_new(object, "op",
                              tensor->op != NULL ? make_text(tensor->op) : json_null());
    (void)json_object_set_new(object, "sources", make_names(tensor->sources, tensor->source_count));
    (void)json_object_set_new(object, "shape", shape);
    (void)json_object_set_new(object, "op_alone", json_boolean(row->is_op_alone));
    (void)json_object_set_new(object, "why", make_text(row->distance.why));
    if (row->distance.has_worst) {
        (void)json_object_set_new(object, "element",
                                  json_integer((json_int_t)row->distance.worst_index));
        (void)json_object_set_new(object, "first", make_number(row->distance.worst_first));
        (void)json_object_set_new(object, "second", make_number(row->distance.worst_second));
    }
    return object;
}

static json_t *make_counts(const struct divergence *divergence)
{
    const size_t *counts = divergence->counts;

    return json_pack("{s:I, s:I, s:I, s:I}", "equal", (json_int_t)counts[TENSOR_DISTANCE_EQUAL],
                     "close", (json_int_t)counts[TENSOR_DISTANCE_CLOSE], "different",
                     (json_int_t)counts[TENSOR_DISTANCE_DIFFERENT], "silent",
                     (json_int_t)counts[TENSOR_DISTANCE_SILENT]);
}

tapml_status divergence_report_data(const struct divergence *divergence,
                                    const struct dump *first,
                                    const struct dump *second,
                                    json_t **out_document)
{
    json_t *document = json_object(), *different = json_array();
    json_t *only_first = json_array(), *only_second = json_array();

    for (size_t i = 0; i < divergence->count; i++) {
        const struct divergence_row *row = &divergence->rows[i];

        if (row->distance.state == TENSOR_DISTANCE_DIFFERENT) {
            (void)json_array_append_new(different, make_row(row));
        } else if (row->distance.state == TENSOR_DISTANCE_ALONE) {
            (void)json_array_append_new(only_first, make_text(row->first->name));
        }
    }
    for (size_t i = 0; i < divergence->only_second_count; i++) {
        (void)json_array_append_new(only_second, make_text(divergence->only_second[i]->name));
    }
    (void)json_object_set_new(document, "format", json_string("tapml-divergence/1"));
    (void)json_object_set_new(document, "first", make_text(first->path));
    (void)json_object_set_new(document, "second", make_text(second->path));
    (void)json_object_set_new(document, "is_ordered", json_boolean(first->is_ordered));
    (void)json_object_set_new(document, "counts", make_counts(divergence));
    (void)json_object_set_new(document, "different", different);
    (void)json_object_set_new(document, "only_first", only_first);
    (void)json_object_set_new(document, "only_second", only_second);
    if (document == NULL || json_object_size(document) < 8) {
        json_decref(document);
        return status_no_memory();
    }
    *out_document = document;
    return TAPML_OK;
}
