// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// All plugins of the process: the candidates with their states, and the components that can be
// used.
//
// A candidate has one final state with a sentence; only TAPML_NO_MEMORY is fatal. Texts and
// candidates live as long as the registry, unless a function says otherwise.
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
    int takes_all;     // Options that no component declares are accepted.

    // What is done with strangers' plugins, which were not installed with the host (tiers 1 to 3);
    // or NULL: they are treated as the others. `vet` is called before a candidate is opened in this
    // process for the first time, and may settle it, which prevents that; a failure refuses the
    // candidate. `learn` takes ops that plugins bring into the catalogue without opening one here.
    tapml_status (*vet)(void *user, struct registry *registry, size_t index);
    tapml_status (*learn)(void *user, struct registry *registry);
    void *user;
};

// Searches for plugins without opening a library. The caller owns the registry; `registry_destroy`
// accepts NULL.
tapml_status registry_create(const struct registry_options *options,
                             struct registry **out_registry) STATUS_USED;

// Checks that an entry of [component.ID] is an option that its component declares; fails as
// `inventory_check_option` does.
tapml_status registry_check_option(const struct registry *registry,
                                   const struct ini_entry *entry) STATUS_USED;

// Shuts components down in reverse order of creation. Libraries stay mapped.
void registry_destroy(struct registry *registry);

// Opens, queries and probes all candidates that are not refused yet, so that each has its final
// state.
tapml_status registry_probe_all(struct registry *registry) STATUS_USED;

// The same for one candidate.
void registry_probe(struct registry *registry, size_t index);

// Whether the user has named the plugin of a candidate, by --plugin or [plugins] load (tier 1), and
// as far as is known it cannot be used: TAPML_INVALID with its path, its state and the reason, once
// for all components of the plugin. That a machine lacks a driver or a device is no fault of the
// plugin, and one of its components may be of a kind that this host does not know.
tapml_status registry_check_named(const struct registry *registry, size_t index) STATUS_USED;

// Takes the ops that plugins bring into the catalogue, by `learn` of the options; without it every
// candidate is probed.
tapml_status registry_learn(struct registry *registry) STATUS_USED;

// The candidates in the order of the tiers.
size_t registry_count(const struct registry *registry);
const struct candidate *registry_at(const struct registry *registry, size_t index);

// Memory that lives as long as the catalogue: of ops that the host makes.
struct arena *registry_arena(struct registry *registry);

// The ops of the host and of every plugin opened so far.
struct catalogue *registry_catalogue(struct registry *registry);

// Opens a device: "COMPONENT", "COMPONENT:DEVICE", "PLUGIN/COMPONENT:DEVICE". Without a name of a
// device it is the first one. TAPML_NOT_FOUND if no component has that id, with the nearest one;
// TAPML_UNAVAILABLE if the component cannot be used, with the sentence of its state; TAPML_INVALID
// if the reason is the value of an option. The caller releases the backend before the registry is
// destroyed.
tapml_status registry_open(struct registry *registry,
                           const char *name,
                           struct backend **out_backend) STATUS_USED;

// What another process needs to open a device, found without running code of its plugin. Texts live
// as long as the registry.
struct registry_location {
    const char *plugin;    // Id.
    const char *component; // Id.
    const char *device;    // Id, in the name that was given; or NULL.
    const char *manifest;  // Its path; that of the library if the manifest is its note.
    const char *build_id;
    unsigned tier;         // 1 to 4, as those of plugin/search.
    const struct ini *ini; // Of the registry: [component.ID] has its options; or NULL.
    int is_asked_late;     // As registry_is_asked_late.
};

// That of a candidate, without a device.
struct registry_location registry_location_at(const struct registry *registry, size_t index);

// Fails with TAPML_NOT_FOUND and TAPML_UNAVAILABLE as registry_open does. From then on
// registry_oracle does not fall back to this component.
tapml_status registry_locate(struct registry *registry,
                             const char *name,
                             struct registry_location *out_location) STATUS_USED;

// Sets the state of a candidate that another process has found. The sentence is copied.
tapml_status registry_settle(struct registry *registry,
                             size_t index,
                             enum candidate_state state,
                             const char *sentence) STATUS_USED;

// The devices of a component, opened if need be; the list lives until the next call.
tapml_status registry_devices(struct registry *registry,
                              const char *component,
                              const tapml_device_info *const **out_list,
                              uint32_t *out_count) STATUS_USED;

// Whether `name` could be opened, as far as this is known without opening a device, or without
// opening a library if the name has no device: the component exists, is a backend, is not refused,
// and has that device. The device is not checked for components whose devices are listed only when
// one is used.
tapml_status registry_check(struct registry *registry, const char *name) STATUS_USED;

// The ids of usable components of `kind`, one after another; NULL past the last.
const char *registry_component(struct registry *registry, const char *kind, size_t index);

// For what uses components of a kind: the component itself, created; NULL past the last.
struct component;
struct component *registry_find(struct registry *registry, const char *kind, size_t index);

// The same among those whose manifest lists `word` in `key`, between blanks, or has no such key.
// The libraries of others are not opened.
struct component *registry_find_listed(
    struct registry *registry, const char *kind, const char *key, const char *word, size_t index);

// The same of the component that `name` is, "COMPONENT" or "PLUGIN/COMPONENT". Fails as
// registry_open does, with TAPML_NOT_FOUND also if the component is of another kind.
tapml_status registry_get(struct registry *registry,
                          const char *kind,
                          const char *name,
                          struct component **out_component) STATUS_USED;

// The index of the first candidate from `from` on that is a backend, is not refused, and whose
// manifest has `key` (any if it is NULL); registry_count if there is none. No library is opened.
size_t registry_next_backend(const struct registry *registry, const char *key, size_t from);

// Whether the plugin of "COMPONENT:DEVICE" was installed with the host (tier 4), or is not there.
int registry_is_installed(const struct registry *registry, const char *name);

// The value of `key` of a component in its manifest, or NULL. "calibrates": the devices on which
// limits are calibrated, separated by blanks, the exact one first. "judges": what `tapml-host
// judge` can give it.
const char *
registry_component_key(struct registry *registry, const char *component, const char *key);

// The path of the file beside the manifest of a component that `key` names there, or NULL if there
// is no such key. TAPML_INVALID: its value is no plain name of a file. "vendor-program": a C file,
// of which a program for the vendor of a wrong driver is made (run/vendor_program.h).
tapml_status registry_component_file(struct registry *registry,
                                     const char *component,
                                     const char *key,
                                     const char **out_path) STATUS_USED;

// Whether the manifest of a component says that its devices are listed only when one is used.
int registry_is_asked_late(const struct registry *registry, const char *component);

// The id of the component whose devices calibrate `op`: the first with that op and the key
// "calibrates", of those installed with the host before all others, so that a stranger's plugin
// changes no limit of an op that the host can judge itself; without one, the first host-memory
// component with the op; or NULL. An op that has a plain form (schema/plain_form.h) is there where
// all ops of the form are.
const char *registry_oracle(struct registry *registry, const tapml_op *op);
