// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/oracle.h"

#include "base/alloc.h"
#include "base/text.h"
#include "exec/expanded.h"
#include "exec/reduced.h"

#include <stdio.h>
#include <string.h>

static void close_devices(struct oracle *oracle)
{
    replay_destroy(oracle->exact);
    expanded_destroy(oracle->wide_expanded);
    declared_destroy(oracle->wide);
    oracle->exact = NULL;
    oracle->wide_expanded = NULL;
    oracle->wide = NULL;
    memset(oracle->has_narrow, 0, sizeof(oracle->has_narrow));
    for (uint32_t i = 0; i < oracle->device_count; i++) {
        replay_destroy(oracle->devices[i].replay);
        expanded_destroy(oracle->devices[i].expanded);
        reduced_destroy(oracle->devices[i].reduced);
        declared_destroy(oracle->devices[i].declared);
        backend_release(oracle->devices[i].backend);
        oracle->devices[i] = (struct oracle_device){0};
    }
    oracle->device_count = 0;
}

void oracle_destroy(struct oracle *oracle)
{
    if (oracle) {
        close_devices(oracle);
        alloc_free(oracle);
    }
}

// Around the first device: who computes what is right.
static tapml_status open_exact(struct oracle *oracle)
{
    TAPML_TRY(declared_create(&(struct declared_options){.inner = oracle->devices[0].backend,
                                                         .form = oracle->options->form,
                                                         .user = oracle->options->user,
                                                         .is_wide = 1},
                              &oracle->wide));
    TAPML_TRY(expanded_create(declared_backend(oracle->wide),
                              registry_catalogue(oracle->options->registry),
                              &oracle->wide_expanded));
    return replay_create(expanded_backend(oracle->wide_expanded), oracle->options->checkpoint,
                         &oracle->exact);
}

static tapml_status open_device(struct oracle *oracle, uint32_t sums, const char *id, size_t length)
{
    char name[2 * ORACLE_NAME];
    (void)snprintf(name, sizeof(name), "%s:%.*s", oracle->component, (int)length, id);
    if (oracle->device_count == ORACLE_DEVICES_MAX) {
        return status_fail(TAPML_INVALID, "component '%s' has more than %d devices that calibrate",
                           oracle->component, ORACLE_DEVICES_MAX);
    }
    struct oracle_device *device = &oracle->devices[oracle->device_count];
    TAPML_TRY(registry_open(oracle->options->registry, name, &device->backend));
    oracle->device_count++; // From here on the oracle releases it.
    device->sums = sums;
    TAPML_TRY(declared_create(&(struct declared_options){.inner = device->backend,
                                                         .form = oracle->options->form,
                                                         .user = oracle->options->user},
                              &device->declared));
    struct backend *backend = declared_backend(device->declared);
    if (activation_is_reduced(oracle->options->activation)) {
        TAPML_TRY(reduced_create(backend, oracle->options->activation, &device->reduced));
        backend = reduced_backend(device->reduced);
    }
    if (!oracle->exact) {
        TAPML_TRY(open_exact(oracle));
    }
    TAPML_TRY(
        expanded_create(backend, registry_catalogue(oracle->options->registry), &device->expanded));
    return replay_create(expanded_backend(device->expanded), oracle->options->checkpoint,
                         &device->replay);
}

static tapml_status open_list(struct oracle *oracle, uint32_t sums, const char *list)
{
    tapml_status status = TAPML_OK;
    while (status == TAPML_OK && *list != '\0') {
        const size_t length = strcspn(list, " ");
        if (length > 0) {
            status = open_device(oracle, sums, list, length);
        }
        list += length + (list[length] == ' ');
    }
    return status;
}

// The devices whose sums are of fewer digits than f32 calibrate what declares such sums.
static tapml_status open_narrow(struct oracle *oracle, uint32_t sums)
{
    char key[32];
    if (sums == TAPML_FORMAT_F32 || oracle->has_narrow[sums]) {
        return TAPML_OK;
    }
    (void)snprintf(key, sizeof(key), "calibrates-%s", arithmetic_format_name(sums));
    const char *list = registry_component_key(oracle->options->registry, oracle->component, key);
    oracle->has_narrow[sums] = 1;
    return list ? open_list(oracle, sums, list) : TAPML_OK;
}

tapml_status oracle_open(struct oracle *oracle, uint32_t accumulator)
{
    const char *list = oracle->list + strlen(oracle->component);
    tapml_status status =
        oracle->device_count > 0 ? TAPML_OK : open_list(oracle, TAPML_FORMAT_F32, list);
    if (status == TAPML_OK && oracle->device_count > 0) {
        status = open_narrow(oracle, accumulator);
    }
    if (status != TAPML_OK) {
        close_devices(oracle);
        return status_explain(status, "while calibrating on '%s'", oracle->component);
    }
    return TAPML_OK;
}

int oracle_shows(const struct oracle *oracle, uint32_t index, const struct arithmetic *form)
{
    const uint32_t sums = oracle->devices[index].sums;
    if (index == 0) {
        return activation_is_reduced(oracle->options->activation) ||
               form->result != TAPML_FORMAT_F32;
    }
    return sums == TAPML_FORMAT_F32 || sums == form->accumulator;
}

static int is_target(const struct oracle *oracle, const char *id, size_t length)
{
    const struct backend_info *info =
        oracle->options->target ? backend_info(oracle->options->target) : NULL;
    return info && strcmp(info->component, oracle->component) == 0 &&
           strlen(info->device) == length && strncmp(info->device, id, length) == 0;
}

// Names the component and the devices that calibrate.
static tapml_status list_devices(struct oracle *oracle)
{
    const char *at =
        registry_component_key(oracle->options->registry, oracle->component, "calibrates");
    struct text list;
    text_init(&list);
    text_append(&list, oracle->component);
    while (at && *at != 0) {
        const size_t length = strcspn(at, " ");
        if (length > 0 && !is_target(oracle, at, length)) {
            text_format(&list, " %.*s", (int)length, at);
        }
        at += length + (at[length] == ' ');
    }
    tapml_status status = text_status(&list);
    if (status == TAPML_OK && list.length >= ORACLE_TEXT) {
        status = status_fail(TAPML_INVALID,
                             "component '%s' names its devices that calibrate in "
                             "%zu bytes, at most %d fit",
                             oracle->component, list.length, ORACLE_TEXT - 1);
    }
    if (status == TAPML_OK) {
        memcpy(oracle->list, list.data, list.length + 1);
    }
    text_release(&list);
    return status;
}

tapml_status oracle_create(const struct oracle_options *options,
                           const char *component,
                           struct oracle **out_oracle)
{
    struct oracle *oracle = alloc_new(sizeof(*oracle));
    if (!oracle) {
        return status_no_memory();
    }
    oracle->options = options;
    (void)snprintf(oracle->component, sizeof(oracle->component), "%s", component);
    const tapml_status status = list_devices(oracle);
    if (status != TAPML_OK) {
        oracle_destroy(oracle);
        return status;
    }
    *out_oracle = oracle;
    return TAPML_OK;
}

tapml_status
oracle_open_exact(struct registry *registry, const tapml_op *op, struct backend **out_backend)
{
    const char *component = registry_oracle(registry, op);
    const char *devices =
        component ? registry_component_key(registry, component, "calibrates") : NULL;
    char name[2 * ORACLE_NAME];
    if (!component) {
        return TAPML_OK;
    }
    const int length = devices ? (int)strcspn(devices, " ") : 0;
    (void)snprintf(name, sizeof(name), "%s%s%.*s", component, length > 0 ? ":" : "", length,
                   length > 0 ? devices : "");
    return registry_open(registry, name, out_backend);
}

uint64_t oracle_executions(const struct oracle *oracle)
{
    uint64_t executions = oracle->exact ? replay_executions(oracle->exact) : 0;
    for (uint32_t i = 0; i < oracle->device_count; i++) {
        const struct replay *replay = oracle->devices[i].replay;
        executions += replay ? replay_executions(replay) : 0;
    }
    return executions;
}
