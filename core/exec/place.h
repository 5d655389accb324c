// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A place of a plan: a name, and behind it a device under the wrappers that its use needs. The
// source of a run is a place, and each target is one.
//
// The wrappers are the chain of the place. Its order is `enum place_kind`, from the inside out, and
// only this module makes chains: it asserts the order, owns every link, and destroys them from the
// outside in, also if one cannot be made. Modules of higher layers pass their wrappers in as links
// (`fault_link`, `guard_link`, `observers_link`, `recorder_link`).
//
// To add a property that a key of the INI file sets: a member of `struct place_settings`, a row in
// config/keys.c, and its use.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/residency.h"
#include "exec/ring_plan.h"
#include "exec/tuned.h"
#include "link/limits.h"
#include "plugin/registry.h"

#include <stddef.h>

struct fault_rule; // verify/fault_rule.h

// Where the plugin of a place runs: in the host, in a worker process, or in the host behind the
// same messages (link/loopback).
enum place_isolation_mode {
    PLACE_ISOLATION_NEVER,
    PLACE_ISOLATION_ALWAYS,
    PLACE_ISOLATION_LOOPBACK
};

struct place_isolation {
    enum place_isolation_mode mode;
    int64_t deadline_s;   // The minimum time of an answer, beside the cost of the case.
    int64_t memory_mib;   // Of a worker's own; 0: three quarters of the machine's.
    const char *url;      // Of a worker on another machine (remote/remote.h), whatever `mode` says;
                          // or NULL.
    const char *listen;   // HOST:PORT, at which such a worker is waited for; or NULL.
    int64_t patience_s;   // For which that machine may be out of reach.
    int has_foreign_code; // Opening runs what a user gave: that it hangs says nothing of the
                          // plugin.
    struct worker_limits limits;
};

// Whether the plugin runs on another machine.
static inline int place_isolation_is_far(const struct place_isolation *isolation)
{
    return isolation->url != NULL || isolation->listen != NULL;
}

// What a place is, before anything is open. Texts and faults are borrowed.
struct place_settings {
    const char *name;    // In plans: "source", or "gpu" of [target.gpu].
    const char *backend; // "COMPONENT:DEVICE"; NULL if the device is opened already.
    struct place_isolation isolation;
    enum activation activation;
    int64_t budget_mib;        // Of its device, for weights, states and values; 0: any.
    const char *ring_text;     // `ring = 512`, which is `ring`; or NULL.
    struct ring_settings ring; // How its weights go through less memory than they take.
    const char *pool;          // Name of the devices of which it has one, or all; or NULL.
    int is_split;              // `share = split`: all of them.
    int require_all;           // `require = all`: an op that the place refuses is a failure.
    int is_guarded;        // `guard = on`: runs of the model are guarded too, as every replay is.
    const char *observers; // Components of plugins that see each call, blanks between; or NULL.
    const struct fault_rule *faults; // Injected there, to test the tool.
    size_t fault_count;
    int ignores_winners;         // `tuning = off`: what 'tapml-host tune' has found is not used.
    struct tuned_settings tuned; // Of its kernels; those for another device are left out. Borrowed.
};

// The declared order of a chain, from the inside out. The first link opens the device, here or in a
// worker; each other one is left out if its place does not need it.
enum place_kind {
    PLACE_DEVICE,
    PLACE_EXPANDED, // Has the ops that have a plain form in those of the device.
    PLACE_WORKER,   // Injects the faults itself.
    PLACE_LOOPBACK, // Around a device of this process.
    PLACE_FAULTS,
    PLACE_OBSERVERS, // Of plugins, which see calls as the device gets them.
    PLACE_TIMED,     // Keeps account of what the host asks of it, and draws it on a timeline.
    PLACE_DECLARED,  // Computes as another device declares.
    PLACE_REDUCED,   // Makes activations of a reduced dtype.
    PLACE_GUARD,     // Makes buffers of its own.
    PLACE_TRACE,
    PLACE_RECORDER,
    PLACE_KINDS
};

// A wrapper that a chain is to have.
struct place_link {
    enum place_kind kind;

    // Makes it around `inner`, which is borrowed and NULL for the first link of a device. The chain
    // releases the backend by `backend_release`.
    tapml_status (*create)(void *user,
                           const struct place_settings *settings,
                           struct backend *inner,
                           struct backend **out_backend);
    void *user; // Needed until the chain is made.
};

// All members may be read; this module writes them. A place over a backend that something else owns
// may be written down, too: its name, backend, and weights or NULL.
struct place {
    struct place_settings settings;
    struct backend *links[PLACE_KINDS]; // Own, by their kinds; NULL if the chain lacks them.
    struct backend *backend;            // The outermost link; NULL while nothing is open.
    enum place_kind outermost;          // Of the chain, with what it is around.
    int shares_weights;                 // `weights` are those of the place that this one is around.
    struct residency *weights;          // On its device, shared by all sessions.

    // Why it is of no more use: it could not be opened, or its device went away. Or NULL.
    char *lost;
};

// A place that nothing is open of. `settings` are copied, their texts and faults borrowed. The
// caller destroys it. TAPML_NO_MEMORY alone.
tapml_status place_create(const struct place_settings *settings,
                          struct place **out_place) STATUS_USED;

// Sets the settings of the kernels of a place that is not open yet; borrowed as those before.
void place_tune(struct place *place, struct tuned_settings settings);

// Makes the chain of a place that has none, and an empty set of weights. `inner` is NULL if the
// first link opens the device, else it is a backend that the links go around, borrowed and
// outliving the place. After a failure, which is that of a link or TAPML_NO_MEMORY, the place is as
// before.
tapml_status place_open(struct place *place,
                        struct backend *inner,
                        const struct place_link *links,
                        size_t count) STATUS_USED;

// Another place around an open one, which is borrowed and outlives it: its chain, and outside of it
// at least one link. Its weights are those of `base`, unless a link needs others: a guard, or
// activations of a reduced dtype. Errors as those of `place_create` and `place_open`.
tapml_status place_wrap(const struct place *base,
                        const struct place_settings *settings,
                        const struct place_link *links,
                        size_t count,
                        struct place **out_place) STATUS_USED;

// Makes a place, of which something may be open or lost, one that nothing is open of, with other
// settings, borrowed as those of `place_create`. Sessions over it are gone by then. Not for places
// around another one.
void place_move(struct place *place, const struct place_settings *settings);

// Notes why a place is of no more use, once; `why` is copied. Its chain stays. TAPML_NO_MEMORY.
tapml_status place_lose(struct place *place, const char *why) STATUS_USED;

// Accepts NULL. Sessions over the place are gone by then.
void place_destroy(struct place *place);

// The link that opens the backend of the settings in this process. Its errors are those of
// `registry_open`.
struct place_link place_device_link(struct registry *registry);
