// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_export.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "model/checkpoint.h"
#include "run/npy.h"
#include "store/case.h"
#include "tensor/dtype.h"
#include "tensor/encoding.h"
#include "tensor/shape.h"
#include "verify/compare.h"

#include <stdio.h>
#include <string.h>

static const char pytest[] =
    "\"\"\"A case of a real run, as a test of a kernel.\n"
    "\n"
    "Write kernel.py beside this file, with a function kernel(**arguments) that takes the "
    "arguments of case.json by\n"
    "their names (arrays, numbers, or None where one is absent) and returns a dict of its outputs "
    "by their names.\n"
    "\"\"\"\n"
    "import json\n"
    "import pathlib\n"
    "import sys\n"
    "\n"
    "import numpy\n"
    "\n"
    "FOLDER = pathlib.Path(__file__).parent\n"
    "CASE = json.loads((FOLDER / \"case.json\").read_text())\n"
    "\n"
    "\n"
    "def load(name, dtype):\n"
    "    values = numpy.load(FOLDER / name)\n"
    "    if dtype == \"bf16\":\n"
    "        values = (values.astype(numpy.uint32) << 16).view(numpy.float32)\n"
    "    return values\n"
    "\n"
    "\n"
    "def inputs():\n"
    "    return {a[\"name\"]: load(a[\"in\"], a[\"dtype\"]) if \"in\" in a else a.get(\"value\")\n"
    "            for a in CASE[\"arguments\"] if \"out\" not in a or \"in\" in a}\n"
    "\n"
    "\n"
    "def margin(expected, computed, limit):\n"
    "    \"\"\"The error over its limit: at most 1 is right.\"\"\"\n"
    "    expected, computed = expected.astype(numpy.float64), numpy.asarray(computed, "
    "dtype=numpy.float64)\n"
    "    assert expected.shape == computed.shape, f\"shape {computed.shape}, expected "
    "{expected.shape}\"\n"
    "    if limit[\"class\"] == \"exact\":\n"
    "        return 0.0 if (expected == computed).all() else numpy.inf\n"
    "    size = (expected ** 2).sum()\n"
    "    error = ((expected - computed) ** 2).sum() / size if size else float((computed != "
    "0).any())\n"
    "    return error / limit[\"nmse\"]\n"
    "\n"
    "\n"
    "def test_case():\n"
    "    sys.path.insert(0, str(FOLDER))\n"
    "    from kernel import kernel\n"
    "    computed = kernel(**inputs())\n"
    "    for argument in CASE[\"arguments\"]:\n"
    "        if \"out\" in argument:\n"
    "            name = argument[\"name\"]\n"
    "            found = margin(load(argument[\"out\"], argument[\"dtype\"]), computed[name], "
    "argument[\"limit\"])\n"
    "            assert found <= 1, f\"{CASE['op']} at {CASE['instance']}: {name} is wrong, margin "
    "{found:.3g}\"\n";

// -- Arrays ------------------------------------------------------------------------------------

// Writes `NAME.in.npy`.
static tapml_status write_array(void *user,
                                const struct case_export *export_,
                                const struct case_export_array *array,
                                char out_name[CASE_EXPORT_NAME])
{
    (void)user;
    (void)snprintf(out_name, CASE_EXPORT_NAME, "%.100s.%s.npy", array->argument->name, array->when);
    char *path = file_join(export_->folder, out_name);

    if (path == NULL) {
        return status_no_memory();
    }
    const tapml_status status =
        npy_write(path, array->dtype, array->shape, array->rank, array->data);

    alloc_free(path);
    return status;
}

// A case on its way out.
struct describing {
    const struct case_export *export_;
    case_export_take_fn take;
    void *user;
    uint32_t output; // The number of the next one.
};

// Gives the contents of an argument away; bytes, as they are stored, of what has no dtype.
static tapml_status take_array(const struct describing *describing,
                               const struct case_argument *argument,
                               const char *when,
                               int is_weight,
                               json_t *object)
{
    struct case_argument view = case_content_view(argument);
    char name[CASE_EXPORT_NAME];

    if (argument->encoding != NULL || argument->kind == TAPML_P_TENSORS_IN) {
        view.dtype = TAPML_U8;
        view.rank = 1;
        view.shape[0] = (int64_t)argument->content_bytes;
    }
    const struct case_export_array array = {.argument = argument,
                                            .when = when,
                                            .is_weight = is_weight,
                                            .dtype = view.dtype,
                                            .rank = view.rank,
                                            .shape = view.shape,
                                            .data = strcmp(when, "in") == 0 ? argument->before
                                                                            : argument->after};

    TAPML_TRY(describing->take(describing->user, describing->export_, &array, name));
    (void)json_object_set_new(object, when, json_string(name));
    return TAPML_OK;
}

tapml_status case_export_weight(const struct case_export *export_,
                                const struct case_argument *argument,
                                struct case_argument *out_whole)
{
    const struct checkpoint_tensor *weight =
        export_->checkpoint != NULL ? checkpoint_find(export_->checkpoint, argument->origin) : NULL;

    *out_whole = *argument;
    if (!case_is_reference(argument)) {
        return TAPML_OK;
    }
    if (weight == NULL || weight->spans != NULL || weight->bytes != argument->base_bytes) {
        return status_fail(TAPML_INVALID, "weight '%.100s' is not there, give --model",
                           argument->origin);
    }
    out_whole->content_bytes = weight->bytes;
    out_whole->before = weight->data;
    return TAPML_OK;
}

// -- case.json ---------------------------------------------------------------------------------

static json_t *list_shape(const struct case_argument *argument)
{
    const struct case_argument view = case_content_view(argument);
    json_t *list = json_array();

    for (uint32_t i = 0; i < view.rank; i++) {
        (void)json_array_append_new(list, json_integer(view.shape[i]));
    }
    return list;
}

// Sixteen units in the last place of f32 are a relative error of a millionth.
double case_export_limit(const struct compare_limit *limit)
{
    static const double unit = 1.0 / (1 << 24);
    const double relative = limit->ulp * unit;

    return limit->class_ == COMPARE_ELEMENTWISE ? relative * relative : limit->nmse;
}

static json_t *describe_limit(const struct compare_limit *limit)
{
    return json_pack("{s:s, s:f}", "class", compare_class_name(limit->class_), "nmse",
                     case_export_limit(limit));
}

static tapml_status
add_tensor(struct describing *describing, const struct case_argument *argument, json_t *object)
{
    const struct case_export *export_ = describing->export_;
    struct case_argument whole;
    tapml_status status = TAPML_OK;

    (void)json_object_set_new(object, "dtype",
                              json_string(encoding_name(argument->encoding, argument->dtype)));
    (void)json_object_set_new(object, "shape", list_shape(argument));
    if (case_is_state(argument)) {
        (void)json_object_set_new(
            object, "rows",
            json_pack("[I, I]", (json_int_t)argument->kept_begin, (json_int_t)argument->kept_end));
    }
    status = case_export_weight(export_, argument, &whole);
    if (status == TAPML_OK && whole.before != NULL) {
        status = take_array(describing, &whole, "in", case_is_reference(argument), object);
    }
    if (status == TAPML_OK && argument->after != NULL) {
        status = take_array(describing, argument, "out", 0, object);
        (void)json_object_set_new(object, "limit",
                                  describe_limit(&export_->limits[describing->output++]));
    }
    return status;
}

tapml_status case_export_check_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

    return *name != '\0' && name[strspn(name, letters)] == '\0'
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "parameter '%.60s' is no plain name", name);
}

static tapml_status
add_argument(struct describing *describing, const struct case_argument *argument, json_t *list)
{
    json_t *object = json_pack("{s:s}", "name", argument->name);
    tapml_status status = case_export_check_name(argument->name);

    if (status != TAPML_OK) {
        json_decref(object);
        return status;
    }
    if (argument->kind == TAPML_P_I64) {
        (void)json_object_set_new(object, "value", json_integer(argument->i));
    } else if (argument->kind == TAPML_P_F64) {
        (void)json_object_set_new(object, "value", json_real(argument->d));
    } else if (argument->kind != TAPML_V_NONE) {
        status = add_tensor(describing, argument, object);
    }
    return json_array_append_new(list, object) == 0 || status != TAPML_OK ? status
                                                                          : status_no_memory();
}

static tapml_status add_arguments(struct describing *describing, json_t *list)
{
    const struct carved_case *item = describing->export_->item;

    for (uint32_t i = 0; i < item->argument_count; i++) {
        TAPML_TRY(add_argument(describing, &item->arguments[i], list));
    }
    return TAPML_OK;
}

tapml_status case_export_describe(const struct case_export *export_,
                                  case_export_take_fn take,
                                  void *user,
                                  json_t **out_document)
{
    const struct carved_case *item = export_->item;
    struct describing describing = {.export_ = export_, .take = take, .user = user};
    json_t *list = json_array();
    json_t *document =
        json_pack("{s:s, s:s, s:i, s:s, s:s, s:I, s:o}", "format", "tapml-case/1", "op",
                  item->op_name, "version", (int)item->op_version, "instance", item->instance,
                  "phase", item->phase, "step", (json_int_t)item->step, "arguments", list);

    if (document == NULL) {
        return status_no_memory();
    }
    const tapml_status status = add_arguments(&describing, list);

    if (status != TAPML_OK) {
        json_decref(document);
        return status;
    }
    *out_document = document;
    return TAPML_OK;
}

static tapml_status write_file(const char *folder, const char *name, const char *data, size_t size)
{
    char *path = file_join(folder, name);

    if (path == NULL) {
        return status_no_memory();
    }
    const tapml_status status = file_write(path, data, size);

    alloc_free(path);
    return status;
}

static tapml_status write_document(const struct case_export *export_, const json_t *document)
{
    struct text text;

    text_init(&text);
    json_file_print(&text, document, JSON_INDENT(1));
    text_append(&text, "\n");
    tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        status = write_file(export_->folder, "case.json", text.data, text.length);
    }
    text_release(&text);
    return status;
}

tapml_status case_export_write(const struct case_export *export_)
{
    json_t *document = NULL;

    TAPML_TRY(file_make_folder(export_->folder));
    TAPML_TRY(case_export_describe(export_, write_array, NULL, &document));
    tapml_status status = write_document(export_, document);

    json_decref(document);
    if (status == TAPML_OK && export_->with_pytest) {
        status = write_file(export_->folder, "test_case.py", pytest, sizeof(pytest) - 1);
    }
    return status;
}
