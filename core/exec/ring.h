// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The weights of a place that do not all have room there, at work: sections (exec/ring_plan) are
// loaded into slots ahead of the ops that read them, round and round.
//
// A program turns to a section before its first call (STEP_TURN). From then on its weights lie in
// their slot, the queue has waited for them, and the slot of the section before is free behind what
// is queued: as many sections are loaded ahead as there are slots, those of the next call at the
// end of this one. On a device with something beside its queue (`backend_aside`) a slot is filled
// while others are read; else it is filled in the order of the queue.
//
// What lies in mapped files is read by a thread (exec/prefetch) before it is copied, and leaves the
// memory of the process afterwards. A place on host memory has that alone: its weights are used
// where they lie, and its slots are pages.
//
// Values are those of weights that stay, bit for bit. One thread, that of the place's backend,
// whose failures are returned, and those of exec/prefetch. Sizes are bytes.
#pragma once

#include "exec/residency.h"
#include "exec/ring_experts.h"
#include "exec/ring_plan.h"

struct ring;

// What a program knows of a place with a ring. The residents are borrowed.
struct ring_program {
    struct ring_plan plan;
    struct resident **weights; // By the numbers of the plan.
    uint32_t weight_count;
    struct ring_experts_plan experts; // Which are in no section.
};

// Accepts NULL.
void ring_program_destroy(struct ring_program *program);

// The ring of a place, without memory until a program begins. `weights` has slots
// (exec/residency_slots) unless the backend computes in host memory; both outlive the ring. The
// caller destroys it after a wait for the backend; NULL is allowed.
tapml_status ring_create(struct backend *backend,
                         struct residency *weights,
                         const struct ring_settings *settings,
                         struct ring **out_ring) STATUS_USED;
void ring_destroy(struct ring *ring);

const struct ring_settings *ring_settings_of(const struct ring *ring);

// Before the steps of a call. Where the program is another one than before, all weights are
// released that were loaded, after a wait; where the last call did not end, all slots are filled
// anew.
tapml_status ring_begin(struct ring *ring, const struct ring_program *program) STATUS_USED;

// Turns to a section.
tapml_status ring_turn(struct ring *ring, uint32_t section) STATUS_USED;

// Before the call of an op with experts, a number of the program's: its units are those of
// `indices`, which it will get. The backend has no work. TAPML_INVALID for an index that is none.
tapml_status
ring_route(struct ring *ring, uint32_t index, const int32_t *indices, uint64_t count) STATUS_USED;

// Behind the last step of a call that has gone well: loads what comes first in the next one.
tapml_status ring_end(struct ring *ring) STATUS_USED;

// What was queued has failed: slots are filled anew by the next call.
void ring_distrust(struct ring *ring);

// Forgets the program, which is destroyed. Slots stay.
void ring_forget(struct ring *ring);

// What the ring of the program that ran last is, and what was done since the ring was created.
struct ring_figures {
    uint32_t sections, slots; // No sections: all weights stay.
    uint64_t slot_bytes;
    uint64_t staying_bytes; // Of weights that stay beside the slots.
    uint64_t weights_bytes; // Of all weights.
    uint64_t call_bytes;    // Loaded in each call.
    int is_aside;           // Slots are filled beside the queue.
    int is_host;            // Slots are pages of files.

    uint64_t calls;
    uint64_t waited_ns;     // Of the host, for pages.
    uint32_t expert_slots;  // 0: no experts go through slots of their own.
    uint64_t expert_bytes;  // Of such a slot.
    uint64_t experts_bytes; // Of all of them.
    struct ring_experts_figures experts;
    uint64_t bytes_per_s; // At which the first section was loaded, nothing else being done; or 0.
};
struct ring_figures ring_figures(const struct ring *ring);

// Appends sentences: what a ring holds and loads, and what a call takes by that at least.
struct text;
void ring_describe(const struct ring_figures *figures, const char *place, struct text *out_text);
