// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/component.h"

#include "base/assert.h"
#include "base/log.h"
#include "plugin/device.h"
#include "plugin/device_table.h"
#include "plugin/kind.h"

#include <string.h>

int component_is_backend(const struct component *component)
{
    return strcmp(component->entry.kind, TAPML_KIND_BACKEND) == 0;
}

int component_is_asked_late(const struct component *component)
{
    const char *when =
        manifest_key(&component->plugin->manifest, component->entry.component, "devices");
    return when && strcmp(when, "on-use") == 0;
}

static const char *keep_message(struct arena *arena)
{
    const char *sentence = arena_text(arena, status_message());
    return sentence ? sentence : "out of memory";
}

void component_refuse(struct component *component, struct arena *arena, enum candidate_state state)
{
    component->entry.state = state;
    component->entry.sentence = keep_message(arena);
}

void component_refuse_plugin(struct plugin *plugin, struct arena *arena, enum candidate_state state)
{
    plugin->state = state;
    plugin->sentence = keep_message(arena);
}

void component_warn(struct component *component)
{
    struct plugin *plugin = component->plugin;
    if (plugin->doubt && !plugin->is_doubted) {
        plugin->is_doubted = 1;
        log_line(LOG_WARNING, "the plugin '%s' is used, and %s", plugin->manifest.id,
                 plugin->doubt);
    }
}

// Keeps what was remarked, behind what was before; a remark for which there is no memory is lost.
static void keep_remark(struct arena *arena, struct text *remark, const char **io_text)
{
    const char *before = *io_text;
    if (remark->length > 0) {
        const char *text =
            arena_format(arena, "%s%s%s", before, before[0] ? "; " : "", remark->data);
        *io_text = text ? text : before;
    }
    text_release(remark);
}

static void open_plugin(struct plugin *plugin, struct arena *arena)
{
    enum candidate_state state = CANDIDATE_USABLE;
    struct text remark;
    text_init(&remark);
    const tapml_status status = handshake_open(plugin->library, &plugin->manifest, &plugin->file,
                                               &remark, &plugin->descriptor, &state);
    keep_remark(arena, &remark, &plugin->remark);
    if (status != TAPML_OK) {
        component_refuse_plugin(plugin, arena, state);
    }
}

static const tapml_component *find_descriptor(const struct component *component)
{
    const tapml_plugin *plugin = component->plugin->descriptor;
    for (uint32_t i = 0; i < plugin->n_components; ++i) {
        if (strcmp(plugin->components[i]->id, component->entry.component) == 0) {
            return plugin->components[i];
        }
    }
    return NULL;
}

static tapml_status check_needs(const struct component *component, enum candidate_state *out_state)
{
    const char *const *needs = component->descriptor->host_needs;
    *out_state = CANDIDATE_WRONG_ABI;
    for (; needs && *needs; ++needs) {
        if (!services_has(*needs)) {
            return status_fail(TAPML_ABI_MISMATCH,
                               "it needs '%s' of the host, which this one lacks", *needs);
        }
    }
    return TAPML_OK;
}

static tapml_status
probe(struct component *component, struct text *remark, enum candidate_state *out_state)
{
    struct process_state state;
    tapml_status status = TAPML_OK;
    services_begin(&component->call);
    if (component->descriptor->probe) {
        handshake_enter(&state);
        status = component->descriptor->probe(component->descriptor, &component->services.host,
                                              &component->call);
        handshake_leave(&state, component->entry.component, "its probe", remark);
    }
    *out_state = status == TAPML_UNAVAILABLE ? CANDIDATE_NO_DRIVER : CANDIDATE_PROBE_FAILED;
    return services_end(&component->call, status, component->entry.component, "probe");
}

static tapml_status
create(struct component *component, struct text *remark, enum candidate_state *out_state)
{
    struct process_state state;
    services_begin(&component->call);
    handshake_enter(&state);
    const tapml_status status = component->descriptor->create(
        component->descriptor, &component->services.host, &component->call, &component->root);
    handshake_leave(&state, component->entry.component, "its creation", remark);
    *out_state = status == TAPML_UNAVAILABLE ? CANDIDATE_NO_DRIVER : CANDIDATE_PROBE_FAILED;
    TAPML_TRY(services_end(&component->call, status, component->entry.component, "create"));
    *out_state = CANDIDATE_WRONG_ABI;
    if (!component->root || !component->root->vt ||
        !TAPML_HAS(tapml_object_vt, component->root->vt, interface_of)) {
        component->root = NULL;
        return status_fail(TAPML_ABI_MISMATCH, "it made no object that can be asked");
    }
    return TAPML_OK;
}

static tapml_status check_devices(struct component *component, enum candidate_state *out_state)
{
    const tapml_backend *table = component->table;
    const tapml_device_info *const *list = NULL;
    uint32_t count = 0;
    if (component_is_asked_late(component)) {
        return TAPML_OK;
    }
    services_begin(&component->call);
    const tapml_status status = table->devices(component->root, &component->call, &list, &count);
    *out_state = status == TAPML_UNAVAILABLE ? CANDIDATE_NO_DEVICE : CANDIDATE_PROBE_FAILED;
    TAPML_TRY(services_end(&component->call, status, component->entry.component, "devices"));
    *out_state = CANDIDATE_NO_DEVICE;
    if (count == 0) {
        return status_fail(TAPML_UNAVAILABLE, "%s: the driver is there, and has no device",
                           component->entry.component);
    }
    *out_state = CANDIDATE_WRONG_ABI;
    return device_table_check_list(list, count);
}

static tapml_status check_table(struct component *component, enum candidate_state *out_state)
{
    const struct kind_entry *kind = kind_find(component->entry.kind);
    ASSERT(kind); // The inventory refuses others.
    component->table = component->root->vt->interface_of(component->root, component->entry.kind);
    *out_state = CANDIDATE_WRONG_ABI;
    if (!component->table) {
        return status_fail(TAPML_ABI_MISMATCH, "its object has no interface '%s'",
                           component->entry.kind);
    }
    TAPML_TRY(kind->check(component->table));
    return component_is_backend(component) ? check_devices(component, out_state) : TAPML_OK;
}

static tapml_status bring_up(struct component *component,
                             struct component **chain,
                             struct text *remark,
                             enum candidate_state *out_state)
{
    ASSERT(component->plugin->descriptor); // It was opened, or was refused before this.
    component->descriptor = find_descriptor(component);
    if (!component->descriptor) {
        *out_state = CANDIDATE_MISMATCH;
        return status_fail(TAPML_INVALID, "the manifest names '%s', its code does not",
                           component->entry.component);
    }
    services_init(&component->services, component->manifest,
                  component->plugin->descriptor->abi_built);
    TAPML_TRY(check_needs(component, out_state));
    TAPML_TRY(probe(component, remark, out_state));
    component->stage = COMPONENT_PROBED;
    component->created_before = *chain;
    *chain = component;
    TAPML_TRY(create(component, remark, out_state));
    component->stage = COMPONENT_CREATED;
    TAPML_TRY(check_table(component, out_state));
    *out_state = CANDIDATE_USABLE;
    return TAPML_OK;
}

int component_ready(struct component *component, struct arena *arena, struct component **chain)
{
    struct plugin *plugin = component->plugin;
    enum candidate_state state = CANDIDATE_USABLE;
    if (plugin->state == CANDIDATE_USABLE && component->entry.state == CANDIDATE_USABLE &&
        !plugin->descriptor) {
        component_warn(component);
        open_plugin(plugin, arena);
    }
    if (plugin->state != CANDIDATE_USABLE) {
        component->entry.state = plugin->state;
        component->entry.sentence = plugin->sentence;
        component->entry.remark = plugin->remark;
    }
    if (component->entry.state != CANDIDATE_USABLE || component->stage == COMPONENT_CREATED) {
        return component->entry.state == CANDIDATE_USABLE;
    }
    struct text remark;
    text_init(&remark);
    component->entry.remark = plugin->remark;
    const tapml_status status = bring_up(component, chain, &remark, &state);
    keep_remark(arena, &remark, &component->entry.remark);
    if (status != TAPML_OK) {
        component->is_refused_for_options = state == CANDIDATE_PROBE_FAILED &&
                                            (status == TAPML_INVALID || status == TAPML_NOT_FOUND);
        component_refuse(component, arena, state);
        return 0;
    }
    return 1;
}

void component_close(struct component *component)
{
    if (component->root) {
        component->root->vt->release(component->root);
        component->root = NULL;
    }
    if (component->stage != COMPONENT_FOUND && component->descriptor->shutdown) {
        component->descriptor->shutdown(component->descriptor);
    }
    component->stage = COMPONENT_FOUND;
}
