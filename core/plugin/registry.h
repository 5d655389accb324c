// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// All plugins of the process: what was found, in which state, and the components that can be used.
//
// A candidate ends in one state with a sentence; nothing here is fatal but running out of memory.
//
// One thread.
#pragma once

#include "base/pool.h"
#include "base/status.h"
#include "device/backend.h"
#include "plugin/candidate.h"
#include "schema/catalogue.h"

#include <stddef.h>

struct registry;
struct ini;
struct ini_entry;

struct registry_options {
    const char *program;      // The path of the running executable; finds the build tree's marker.
    const char *const *files; // --plugin, ended by NULL; or NULL.
    const struct ini *ini;    // [plugins] and [component.*] of the run; or NULL. Borrowed.
    const char *ini_path;
    struct pool *pool; // For parallel_for. Borrowed.
    int safe_only;     // --safe: tier 4 alone.
    int takes_all;     // Options that no component declares are no failure here.
};

// Scans, without opening any library. The caller owns the registry.
tapml_status registry_create(const struct registry_options *options,
                             struct registry **out_registry) STATUS_USED;

// Whether an entry of [component.ID] is an option that its component declares. Also where no plugin
// has that component, unless its id is nearly one that is there.
tapml_status registry_check_option(const struct registry *registry,
                                   const struct ini_entry *entry) STATUS_USED;

// Shuts components down in reverse order of creation. Libraries stay mapped.
void registry_destroy(struct registry *registry);

// Opens, queries and probes everything that was found and not yet refused, so that every entry has
// its final state.
tapml_status registry_probe_all(struct registry *registry) STATUS_USED;

// The same for one entry.
void registry_probe(struct registry *registry, size_t index);

size_t registry_count(const struct registry *registry);
const struct candidate *registry_at(const struct registry *registry, size_t index);

// The ops of the host and of every plugin opened so far.
struct catalogue *registry_catalogue(struct registry *registry);

// Opens a device: "COMPONENT", "COMPONENT:DEVICE", "PLUGIN/COMPONENT:DEVICE". The first device
// where none is named. TAPML_NOT_FOUND where no component has that id, with the
// nearest one; TAPML_UNAVAILABLE where it has one that cannot be used, with its state's sentence;
// TAPML_INVALID where that is for the value of an option.
// The caller releases the backend before the registry is destroyed.
tapml_status registry_open(struct registry *registry,
                           const char *name,
                           struct backend **out_backend) STATUS_USED;

// Where a device would be opened, without running any of its plugin's code: what another process
// needs to open it. Texts live as long as the registry.
struct registry_location {
    const char *plugin;    // Id.
    const char *component; // Id.
    const char *device;    // Id, in the name that was asked for; or NULL.
    const char *manifest;  // Its path; that of the library where it is read from its note.
    const char *build_id;
};

// TAPML_NOT_FOUND and TAPML_UNAVAILABLE as registry_open. From then on registry_oracle does not
// bring the component up for want of a better one.
tapml_status registry_locate(struct registry *registry,
                             const char *name,
                             struct registry_location *out_location) STATUS_USED;

// Takes over what another process found out of an entry.
tapml_status registry_settle(struct registry *registry,
                             size_t index,
                             enum candidate_state state,
                             const char *sentence) STATUS_USED;

// The devices of a component, opened if need be; the list lives until the next call.
tapml_status registry_devices(struct registry *registry,
                              const char *component,
                              const tapml_device_info *const **out_list,
                              uint32_t *out_count) STATUS_USED;

// Whether `name` could be opened, as far as this is known without opening a device or, where it
// names none, any library: the component is there, is a backend, nothing is against it, and it has
// that device, unless it is one whose devices are asked for when they are used.
tapml_status registry_check(struct registry *registry, const char *name) STATUS_USED;

// The ids of usable components of `kind`, one after another; NULL past the last.
const char *registry_component(struct registry *registry, const char *kind, size_t index);

// For plugin/model: the component itself, brought up; NULL past the last.
struct component;
struct component *registry_find(struct registry *registry, const char *kind, size_t index);

// What the manifest says of a component under `key`, or NULL. "calibrates": the devices on which
// limits are calibrated, separated by blanks, the exact one first.
const char *
registry_component_key(struct registry *registry, const char *component, const char *key);

// Whether the manifest of a component says that its devices are looked for when one is used.
int registry_is_asked_late(const struct registry *registry, const char *component);

// The component whose devices calibrate `op`: the first that has it and the key "calibrates"; where
// none has, the first host-memory component that has the op; or NULL.
const char *registry_oracle(struct registry *registry, const tapml_op *op);
