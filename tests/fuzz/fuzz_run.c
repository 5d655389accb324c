// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// config/run_config: any bytes as the INI of a run, with its plan and its faults.
#include "fuzz.h"

#include "config/run_file.h"

#include <string.h>

static void check(const struct run_config *config)
{
    FUZZ_CHECK(config->dir && config->model && config->source.backend);
    FUZZ_CHECK(config->target_count <= RUN_CONFIG_TARGETS_MAX);
    FUZZ_CHECK(config->fault_count <= RUN_CONFIG_FAULTS_MAX);
    FUZZ_CHECK(config->chunk > 0 && config->capacity > 0);
    for (size_t i = 0; i < config->target_count; i++) {
        struct plan *plan = NULL;
        FUZZ_CHECK(strlen(config->targets[i].name) > 0 && config->targets[i].backend);
        if (!fuzz_refused(run_config_goal(config, config->targets[i].name, &plan))) {
            plan_destroy(plan);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run_config config;
    fuzz_begin();
    if (!fuzz_refused(run_file_load(fuzz_file(data, size), &config))) {
        check(&config);
        run_config_release(&config);
    }
    fuzz_end();
    return 0;
}
