// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/safetensors_file.h"
#include "../../harness/scratch.h"
#include "model/adapter.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define CONFIG "{\"peft_type\": \"LORA\", \"r\": 1, \"lora_alpha\": 2, \"target_modules\": [%s]}"
#define TENSOR(name_, shape_, at_)                                                                 \
    "'" name_ "':{'dtype':'F16','shape':" shape_ ",'data_offsets':" at_ "}"
#define DOWN(module_) TENSOR("base_model.model." module_ ".lora_A.weight", "[1,3]", "[0,6]")
#define UP(module_)   TENSOR("base_model.model." module_ ".lora_B.weight", "[2,1]", "[6,10]")

// A model with the weights a.q, b.q and c of 2 outputs and 3 inputs, and an adapter.
static tapml_status
join(const char *targets, const char *header, struct checkpoint **out_checkpoint)
{
    char config[512];
    struct scratch scratch;
    struct checkpoint *checkpoint = NULL;
    scratch_make(&scratch);
    safetensors_write(
        &scratch, "model.safetensors",
        "{" TENSOR("model.a.q.weight", "[2,3]", "[0,12]") "," TENSOR(
            "model.b.q.weight", "[3,2]", "[12,24]") "," TENSOR("c.weight", "[2,3]", "[24,36]") "}",
        36);
    snprintf(config, sizeof(config), CONFIG, targets);
    scratch_text(&scratch, "adapter_config.json", config);
    safetensors_write(&scratch, "adapter_model.safetensors", header, 10);
    cr_assert_eq(safetensors_open(scratch.folder, &checkpoint), TAPML_OK);
    const tapml_status status = adapter_join(scratch.folder, checkpoint);
    scratch_remove(&scratch);
    if (status == TAPML_OK) {
        *out_checkpoint = checkpoint;
    } else {
        checkpoint_close(checkpoint);
    }
    return status;
}

static void check_adapted(const char *header, const char *module, const char *weight)
{
    struct checkpoint *checkpoint = NULL;
    cr_assert_eq(join("\"q\"", header, &checkpoint), TAPML_OK, "%s", status_message());
    const struct checkpoint_adapter *adapter = checkpoint_find(checkpoint, weight)->adapter;
    cr_assert_not_null(adapter);
    cr_assert_str_eq(adapter->module, module);
    cr_assert_str_eq(adapter->weight, weight);
    cr_assert_eq(adapter->rank, 1);
    cr_assert_eq(adapter->factor, 2);
    const struct checkpoint_tensor *down = checkpoint_find(checkpoint, adapter->down);
    cr_assert(down->is_of_adapter && !down->adapter);
    cr_assert_str_eq(down->file, "adapter_model.safetensors");
    cr_assert_eq(((const unsigned char *)down->data)[1], 1);
    cr_assert(checkpoint_find(checkpoint, adapter->up)->is_of_adapter);
    cr_assert_null(checkpoint_find(checkpoint, "c.weight")->adapter);
    cr_assert_eq(checkpoint_count(checkpoint), 5);
    checkpoint_close(checkpoint);
}

Test(adapter, a_module_is_the_weight_of_its_name)
{
    check_adapted("{" DOWN("model.a.q") "," UP("model.a.q") "}", "model.a.q", "model.a.q.weight");
}

Test(adapter, a_class_may_have_a_part_more_or_less_before_its_names)
{
    check_adapted("{" DOWN("a.q") "," UP("a.q") "}", "a.q", "model.a.q.weight");
    check_adapted("{" DOWN("t.model.a.q") "," UP("t.model.a.q") "}", "t.model.a.q",
                  "model.a.q.weight");
}

Test(adapter, a_weight_may_lie_the_other_way_round)
{
    check_adapted("{" DOWN("model.b.q") "," UP("model.b.q") "}", "model.b.q", "model.b.q.weight");
}

Test(adapter, what_does_not_fit_is_refused_by_name)
{
    static const struct {
        const char *header, *targets, *piece;
    } cases[] = {
        {"{" DOWN("q") "," UP("q") "}", "\"q\"", "module 'q': expected a weight of the model"},
        {"{" DOWN("model.a.x") "," UP("model.a.x") "}", "\"x\"", "module 'model.a.x': expected"},
        {"{" TENSOR("n", "[2]", "[6,10]") "," DOWN("model.a.q") "}", "\"q\"", "tensor 'n'"},
        {"{" TENSOR("base_model.model.model.a.q.lora_A.weight", "[5]", "[0,10]") "}", "\"q\"",
         "module 'model.a.q' lacks tensor 'base_model.model.model.a.q.lora_B.weight'"},
        {"{" DOWN("model.a.q") "," TENSOR("base_model.model.model.a.q.lora_B.weight", "[1,2]",
                                          "[6,10]") "}",
         "\"q\"", "lora_B.weight': expected [2, 1] of F32, F16 or BF16, found [1, 2] of f16"},
        {"{" DOWN("model.a.q") "," UP("model.a.q") "}", "\"c\"", "'target_modules' matches"},
        {"{" DOWN("model.a.q") "," UP("model.a.q") "}", "\"q\", \"c\"",
         "expected tensors of module 'c'"},
        {"{" TENSOR("base_model.model.model.a.q.lora_A.bias", "[5]", "[0,10]") "}", "\"q\"",
         "nothing else is supported"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        struct checkpoint *checkpoint = NULL;
        const tapml_status status = join(cases[i].targets, cases[i].header, &checkpoint);
        cr_assert(status == TAPML_INVALID || status == TAPML_UNIMPLEMENTED, "%zu: %d", i, status);
        cr_assert_not_null(strstr(status_message(), cases[i].piece), "%zu: %s", i,
                           status_message());
    }
}
