// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include <tapml/gpu/entry.h>

#include <criterion/criterion.h>
#include <string.h>

const struct gpu_driver driver_table = {.id = "npu"};

GPU_PLUGIN("org.example.npu", "2.3.4", "Example", "MIT", "npu", "Example's NPU")

Test(gpu_entry, a_plugin_has_the_names_of_its_author)
{
    const tapml_query query = {.hdr = TAPML_HDR(tapml_query),
                               .abi_major = TAPML_ABI_MAJOR,
                               .abi_minor = TAPML_ABI_MINOR,
                               .host_name = "test",
                               .host_version = "1"};
    const tapml_plugin *plugin = NULL;

    cr_assert_eq(tapml_plugin_query_v1(&query, &plugin), TAPML_OK);
    cr_assert_str_eq(plugin->id, "org.example.npu");
    cr_assert_str_eq(plugin->version, "2.3.4");
    cr_assert_str_eq(plugin->vendor, "Example");
    cr_assert_str_eq(plugin->license, "MIT");
    cr_assert_eq(plugin->n_components, 1u);
    cr_assert_str_eq(plugin->components[0]->id, "npu");
    cr_assert_str_eq(plugin->components[0]->title, "Example's NPU");
    cr_assert_str_eq(plugin->components[0]->kind, "tapml.backend/1");
}
