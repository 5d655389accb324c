// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "driver.h"

#include <string.h>

void pipeline_free(struct driver_device *device, struct driver_pipeline *pipeline)
{
    device->vk.vkDestroyPipeline(device->device, pipeline->pipeline, NULL);
    device->vk.vkDestroyPipelineLayout(device->device, pipeline->layout, NULL);
    device->vk.vkDestroyDescriptorSetLayout(device->device, pipeline->set, NULL);
    gpu_free(device->root->host, pipeline, sizeof(*pipeline));
}

// Buffers are bound through one set, parameters are push constants.
static tapml_status
make_layout(struct driver_device *device, tapml_call *call, struct driver_pipeline *pipeline)
{
    const struct k_kernel *kernel = pipeline->kernel;
    VkDescriptorSetLayoutBinding bindings[K_BINDING_MAX];

    for (uint32_t i = 0; i < kernel->n_binding; i++) {
        bindings[i] =
            (VkDescriptorSetLayoutBinding){.binding = kernel->binding[i].index,
                                           .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .descriptorCount = 1,
                                           .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = kernel->n_binding,
        .pBindings = bindings,
    };
    const VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, kernel->params_size};
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &pipeline->set,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };

    DRIVER_TRY(device, call,
               device->vk.vkCreateDescriptorSetLayout(device->device, &set, NULL, &pipeline->set));
    DRIVER_TRY(device, call,
               device->vk.vkCreatePipelineLayout(device->device, &layout, NULL, &pipeline->layout));
    return TAPML_OK;
}

// A kernel that is not of the table may be any file; drivers need not check the words.
static tapml_status
check_code(const struct driver_device *device, tapml_call *call, const struct k_kernel *kernel)
{
    enum { MAGIC = 0x07230203 };
    uint32_t word = 0;

    if (kernel->size >= sizeof(word)) {
        memcpy(&word, kernel->code, sizeof(word));
    }
    return word == MAGIC && kernel->size % sizeof(word) == 0
               ? TAPML_OK
               : gpu_fail(device->root->host, call, TAPML_INVALID, 0, "%s is no SPIR-V",
                          kernel->name);
}

// The constants go in as specialisation constants, under the ids that the kernel gave them.
static tapml_status compile(struct driver_device *device,
                            tapml_call *call,
                            const uint32_t *tune,
                            struct driver_pipeline *pipeline)
{
    const struct k_kernel *kernel = pipeline->kernel;
    const int is_full = device->traits.has_full_subgroups && (kernel->variant & K_V_SUBGROUP) != 0;
    VkSpecializationMapEntry map[K_TUNE_MAX];
    VkShaderModule module = VK_NULL_HANDLE;

    for (uint32_t i = 0; i < kernel->n_tune; i++) {
        map[i] = (VkSpecializationMapEntry){kernel->tune[i].id, i * (uint32_t)sizeof(*tune),
                                            sizeof(*tune)};
    }
    const VkSpecializationInfo constants = {kernel->n_tune, map, kernel->n_tune * sizeof(*tune),
                                            tune};
    const VkShaderModuleCreateInfo code = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = kernel->size,
                                           .pCode = (const uint32_t *)(const void *)kernel->code};

    DRIVER_TRY(device, call, device->vk.vkCreateShaderModule(device->device, &code, NULL, &module));
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .layout = pipeline->layout,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .flags = is_full ? VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT : 0,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = module,
                  .pName = kernel->entry != NULL ? kernel->entry : "main",
                  .pSpecializationInfo = &constants},
    };
    const VkResult result = device->vk.vkCreateComputePipelines(device->device, device->cache, 1,
                                                                &info, NULL, &pipeline->pipeline);

    device->vk.vkDestroyShaderModule(device->device, module, NULL);
    return driver_check(device->root->host, call, result, kernel->name);
}

tapml_status pipeline_new(struct driver_device *device,
                          tapml_call *call,
                          const struct k_kernel *kernel,
                          const uint32_t *tune,
                          struct driver_pipeline **out_pipeline)
{
    struct driver_pipeline *pipeline = gpu_alloc(device->root->host, sizeof(*pipeline));

    if (pipeline == NULL) {
        return gpu_fail(device->root->host, call, TAPML_NO_MEMORY, 0, "out of memory");
    }
    pipeline->kernel = kernel;
    tapml_status status = check_code(device, call, kernel);

    if (status == TAPML_OK) {
        status = make_layout(device, call, pipeline);
    }
    if (status == TAPML_OK) {
        status = compile(device, call, tune, pipeline);
    }
    if (status != TAPML_OK) {
        pipeline_free(device, pipeline);
        return status;
    }
    *out_pipeline = pipeline;
    return TAPML_OK;
}
