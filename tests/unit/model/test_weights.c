// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "model/safetensors.h"
#include "model/weights.h"
#include "tensor/convert.h"

#include <criterion/criterion.h>
#include <string.h>

static struct checkpoint *open_fixture(void)
{
    struct checkpoint *checkpoint = NULL;
    const tapml_status status = safetensors_open(scratch_data("models/llama_bf16"), &checkpoint);
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
    return checkpoint;
}

Test(weights, show_what_the_checkpoint_has)
{
    struct checkpoint *checkpoint = open_fixture();
    struct weights *weights = NULL;
    cr_assert_eq(weights_create(checkpoint, &weights), TAPML_OK);
    tapml_object *object = weights_object(weights);
    const tapml_host_weights *table = weights_table();
    cr_assert_eq(object->vt->interface_of(object, TAPML_HOST_WEIGHTS), table);
    cr_assert_null(object->vt->interface_of(object, TAPML_HOST_CONFIG));
    cr_assert_eq(weights_checkpoint(object), checkpoint);
    cr_assert_eq(table->count(object), checkpoint_count(checkpoint));
    for (uint32_t i = 0; i < table->count(object); ++i) {
        const char *name = NULL;
        const tapml_tensor *tensor = table->at(object, i, &name);
        cr_assert_str_eq(name, checkpoint_at(checkpoint, i)->name);
        cr_assert_eq(tensor, &checkpoint_at(checkpoint, i)->tensor);
        cr_assert_eq(table->find(object, name, NULL), tensor);
    }
    cr_assert_null(table->at(object, table->count(object), NULL));
    const tapml_tensor expected = {.hdr = TAPML_HDR(tapml_tensor)};
    cr_assert_null(table->find(object, "absent", &expected));
    weights_destroy(weights);
    checkpoint_close(checkpoint);
}

Test(weights, values_are_read_as_doubles)
{
    struct checkpoint *checkpoint = open_fixture();
    struct weights *weights = NULL;
    cr_assert_eq(weights_create(checkpoint, &weights), TAPML_OK);
    tapml_object *object = weights_object(weights);
    const tapml_host_weights *table = weights_table();
    const struct checkpoint_tensor *norm = checkpoint_find(checkpoint, "model.norm.weight");
    cr_assert_eq(norm->tensor.dtype, TAPML_BF16);
    const uint64_t count = norm->bytes / 2;
    const uint16_t *bits = norm->data;
    double values[3];
    cr_assert_eq(table->read(object, NULL, norm->name, count - 3, 3, values), TAPML_OK);
    for (size_t i = 0; i < 3; ++i) {
        cr_assert_eq(values[i], (double)convert_bf16_to_f32(bits[count - 3 + i]));
    }
    cr_assert_eq(table->read(object, NULL, norm->name, count, 0, values), TAPML_OK);
    cr_assert_eq(table->read(object, NULL, norm->name, count - 2, 3, values), TAPML_INVALID);
    cr_assert_eq(table->read(object, NULL, norm->name, UINT64_MAX, 2, values), TAPML_INVALID);
    cr_assert_eq(table->read(object, NULL, norm->name, 1, UINT64_MAX, values), TAPML_INVALID);
    cr_assert_eq(table->read(object, NULL, "absent", 0, 1, values), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "'absent'"));
    weights_destroy(weights);
    checkpoint_close(checkpoint);
}

Test(weights, without_a_checkpoint_they_are_as_expected)
{
    struct weights *weights = NULL;
    cr_assert_eq(weights_create(NULL, &weights), TAPML_OK);
    tapml_object *object = weights_object(weights);
    const tapml_host_weights *table = weights_table();
    const tapml_tensor expected = {.hdr = TAPML_HDR(tapml_tensor)};
    cr_assert_null(weights_checkpoint(object));
    cr_assert_eq(table->count(object), 0);
    cr_assert_null(table->at(object, 0, NULL));
    cr_assert_eq(table->find(object, "any", &expected), &expected);
    cr_assert_null(table->find(object, "any", NULL));
    double values[2] = {5, 5};
    cr_assert_eq(table->read(object, NULL, "any", 7, 2, values), TAPML_OK);
    cr_assert(values[0] == 0 && values[1] == 0);
    object->vt->release(object);
}

static tapml_status build(void)
{
    struct weights *weights = NULL;
    TAPML_TRY(weights_create(NULL, &weights));
    weights_destroy(weights);
    weights_destroy(NULL);
    return TAPML_OK;
}

Test(weights, survives_without_memory)
{
    SCRATCH_SWEEP(build());
}
