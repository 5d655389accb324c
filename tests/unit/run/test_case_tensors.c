// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "model/safetensors.h"
#include "run/case_tensors.h"
#include "tensor/dtype.h"
#include "verify/compare.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct scratch scratch;
static struct cases_norm norm;
static struct compare_limit limits[1];
static struct case_tensors *tensors;

static void begin(void)
{
    scratch_make(&scratch);
    cases_make_norm(&norm, "layers.0/norm", 0);
    norm.arguments[1].before = norm.weight;
    limits[0] = compare_floor(COMPARE_REDUCTION);
    MUST(case_tensors_create(&tensors));
}

static void end(void)
{
    case_tensors_destroy(tensors);
    scratch_remove(&scratch);
}

TestSuite(case_tensors, .init = begin, .fini = end);

static tapml_status add(int64_t id)
{
    norm.item.id = id;
    return case_tensors_add(tensors, &(struct case_export){.item = &norm.item, .limits = limits});
}

static const struct checkpoint_tensor *find(const struct checkpoint *file, const char *name)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(file, name);

    cr_assert_not_null(tensor, "%s", name);
    cr_expect_eq((uintptr_t)tensor->data % dtype_bytes(tensor->tensor.dtype), 0, "%s", name);
    return tensor;
}

// The project's own reader finds each tensor, with its type, its shape and its bytes.
Test(case_tensors, are_read_back)
{
    const char *path = scratch_path(&scratch, "cases.safetensors");
    struct checkpoint *file = NULL;

    MUST(add(3));
    MUST(add(12));
    MUST(case_tensors_write(tensors, path));
    MUST(safetensors_open_file(path, &file));
    for (uint32_t i = 0; i < norm.item.argument_count; i++) {
        const struct case_argument *argument = &norm.arguments[i];
        const char *when = argument->after != NULL ? "out" : "in";
        const void *bytes = argument->after != NULL ? argument->after : argument->before;
        char name[64];

        (void)snprintf(name, sizeof(name), "12/%s.%s", argument->name, when);
        if (argument->kind == TAPML_P_I64 || argument->kind == TAPML_P_F64) {
            continue;
        }
        const struct checkpoint_tensor *tensor = find(file, name);

        cr_expect_eq(tensor->tensor.dtype, argument->dtype, "%s", name);
        cr_expect_eq(tensor->bytes, argument->content_bytes, "%s", name);
        cr_expect_arr_eq(tensor->data, bytes, tensor->bytes, "%s", name);
    }
    checkpoint_close(file);
}

// The metadata have the description of each case, with the names of its tensors.
Test(case_tensors, are_described)
{
    const char *path = scratch_path(&scratch, "cases.safetensors");
    char *bytes = NULL;
    size_t size = 0;

    MUST(add(3));
    MUST(case_tensors_write(tensors, path));
    MUST(file_read(path, 1 << 20, &bytes, &size));
    json_t *header = json_loadb(
        bytes + 8, (size_t)(unsigned char)bytes[0] + 256 * (size_t)(unsigned char)bytes[1], 0,
        NULL);
    const json_t *metadata = json_object_get(header, "__metadata__");
    json_t *document = json_loads(json_string_value(json_object_get(metadata, "case.3")), 0, NULL);
    const json_t *list = json_object_get(document, "arguments");

    cr_expect_str_eq(json_string_value(json_object_get(metadata, "format")), "tapml-cases/1");
    cr_expect_str_eq(json_string_value(json_object_get(document, "op")), "tapml.rms_norm");
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(list, 0), "in")), "3/x.in");
    cr_expect_not_null(json_object_get(json_array_get(list, json_array_size(list) - 1), "limit"));
    json_decref(document);
    json_decref(header);
    alloc_free(bytes);
}

// The same cases give the same bytes; those of a file that was there are gone.
Test(case_tensors, have_the_same_bytes_each_time)
{
    char *bytes[2] = {NULL};
    size_t sizes[2] = {0};

    for (int i = 0; i < 2; i++) {
        const char *path = scratch_path(&scratch, "cases.safetensors");

        case_tensors_destroy(tensors);
        MUST(case_tensors_create(&tensors));
        MUST(add(3));
        MUST(case_tensors_write(tensors, path));
        MUST(file_read(path, 1 << 20, &bytes[i], &sizes[i]));
    }
    cr_expect_eq(sizes[0], sizes[1]);
    cr_expect_arr_eq(bytes[0], bytes[1], sizes[0]);
    alloc_free(bytes[0]);
    alloc_free(bytes[1]);
}

Test(case_tensors, have_each_case_once)
{
    MUST(add(3));
    cr_expect_eq(add(3), TAPML_INVALID);
    cr_expect_str_eq(status_message(), "case 3 is named twice");
}

Test(case_tensors, what_is_not_there_or_has_no_name_is_refused)
{
    norm.arguments[1].before = NULL;
    cr_expect_eq(add(1), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "is not there"), "%s", status_message());
    norm.arguments[0].name = "a/b";
    cr_expect_eq(add(1), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "is no plain name"), "%s", status_message());
}
