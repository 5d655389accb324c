// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a component is and what it has: its state, devices and ops, found by a worker process
// (`tapml-worker --probe`). No code of its plugin runs here, so that one that crashes, hangs or
// ends its process is a state with a sentence.
//
// Everything lives in the arena that a function is given. One thread. TAPML_NO_MEMORY, and
// TAPML_UNAVAILABLE where there is no worker program or none can be started.
#pragma once

#include "exec/place.h"
#include "plugin/registry.h"

struct arena;

// A probe is ended after so long; one that also opens what is expensive to open, after more.
enum { SURVEY_PROBE_S = 20, SURVEY_LATE_S = 120 };

// A device of a component. Texts are what a plugin says, without control characters.
struct survey_device {
    const char *id;
    const char *name;
    const char *driver;         // Or "".
    int64_t memory_bytes;       // 0: unknown.
    int64_t buffer_bytes;       // The largest buffer; 0: without limit.
    const tapml_limits *limits; // Of a device that was opened; NULL: unknown.
};

struct survey_op {
    const char *name;
    uint32_t version;
};

struct survey {
    enum candidate_state state;
    const char *sentence; // Why it cannot be used; of a usable one, what was not tried, or "".
    const char *remark;   // What its code changed of the process, which was restored; or "".
    const char *failure;  // Why the device that was asked for cannot be opened; NULL: it can.
    int has_broken_off; // The worker ended before it had answered all: it crashed, hung, or ended.
    struct survey_device *devices;
    size_t device_count;
    struct survey_op *ops; // Of the device that was asked for; without one, of the first.
    size_t op_count;
};

// What is asked of a component.
struct survey_question {
    const char *device; // Opened; NULL: the first one.
    int opens_late;     // Also devices that are expensive to list: one that starts a browser.
    int64_t limit_s;    // Seconds; 0: SURVEY_PROBE_S, or SURVEY_LATE_S of what is expensive.
};

// Asks a component that is not refused. A component that cannot be used is no failure. One that
// hung within the last day (config/hangs) is not asked: that it did is the answer.
tapml_status survey_component(const char *program,
                              const struct registry_location *location,
                              const struct survey_question *question,
                              struct arena *arena,
                              struct survey *out_survey) STATUS_USED;

// The same of an entry of the registry, whose state and sentence are what is found.
// TAPML_UNAVAILABLE, with that sentence, if it cannot be used; it is not asked if that is known.
tapml_status survey_entry(const char *program,
                          struct registry *registry,
                          size_t index,
                          const struct survey_question *question,
                          struct arena *arena,
                          struct survey *out_survey) STATUS_USED;

// Asks every entry of the plugin or component `id` that can be, each in a worker of its own; NULL:
// of all. `*out_surveys` has one for each entry; those that were not asked are zeros, with the
// entry's state and sentence. Where there is no worker program, none is asked: it is usable as far
// as files say, and its sentence says why.
tapml_status survey_all(const char *program,
                        struct registry *registry,
                        const char *id,
                        struct arena *arena,
                        struct survey **out_surveys) STATUS_USED;

// Settles an entry whose probe breaks off; what the worker answers otherwise is left to be found
// here, with more words. What a registry vets strangers' plugins by.
tapml_status survey_vet(const char *program, struct registry *registry, size_t index) STATUS_USED;

// Whether a backend, "COMPONENT:DEVICE", can be used where `how` says, as registry_check, which is
// asked where the plugin runs here. A worker is asked only for a device that is named.
tapml_status survey_check(const char *program,
                          struct registry *registry,
                          const struct place_isolation *how,
                          const char *backend) STATUS_USED;

// Whether the component can be used, and the device that was asked for opened: TAPML_UNAVAILABLE
// names component and plugin and says why not.
tapml_status survey_status(const struct survey *survey,
                           const struct registry_location *location) STATUS_USED;

// Whether the device that was asked for has an op; and whether it computes it, which it also does
// by the plain form of the op (schema/plain_form.h).
int survey_has_op(const struct survey *survey, const char *name, uint32_t version);
int survey_computes_op(const struct survey *survey,
                       const struct catalogue *catalogue,
                       const tapml_op *op);

// The device of a survey with this id, or the first if `id` is NULL. TAPML_NOT_FOUND names those
// that there are.
tapml_status survey_find_device(const struct survey *survey,
                                const char *component,
                                const char *id,
                                const struct survey_device **out_device) STATUS_USED;

// Reads what a worker has printed of a component. `ending` is how it ended, with its last words, or
// "" if it ended well. Lines that are none are passed over: a plugin may have printed them.
tapml_status survey_read(const char *text,
                         const char *component,
                         const char *ending,
                         struct arena *arena,
                         struct survey *out_survey) STATUS_USED;
