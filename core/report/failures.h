// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// All that was judged in a run, and what of it failed: kept and derived cases, what is wrong only
// in the model, the driver's check, the model as a whole, and targets that are not there. Read from
// its report (report/report_data.h).
//
// Texts are borrowed from the report, or in the arena of the list.
#pragma once

#include "base/text.h"

#include <jansson.h>

// Names of what is no op, in place of one.
#define FAILURES_DRIVER "driver"
#define FAILURES_MODEL  "model"
#define FAILURES_TARGET "target"

enum failure_state {
    FAILURE_NEW,
    FAILURE_BEFORE, // The run before had it, too.
    FAILURE_KNOWN,  // A baseline knows it (report/baseline.h).
    FAILURE_EXPIRED // It does, and knew it until a day that is past.
};

struct failure {
    const char *target, *device, *device_name, *driver; // `device` is COMPONENT:DEVICE; or "".
    const char *op;                                     // Or one of the names above.
    const char *instance, *phase, *shape_class, *source, *label, *key; // "" where there is none.
    const char *verdict, *reason;
    int is_bad; // Else it was judged, and passed.

    enum failure_state state;
    const char *entry, *known; // The section of a baseline that knows it, and its reason; or NULL.
};

struct failure_list {
    struct arena *arena;
    struct failure *items;
    size_t count, capacity;
};

// Reads all that was judged in a run, failures and passes. The caller releases the list.
tapml_status failures_read(const json_t *report, struct failure_list *out_list) STATUS_USED;
void failures_release(struct failure_list *list);

// Sets the state of those that failed in an earlier run, too, to FAILURE_BEFORE: by all but their
// keys, as often as they failed there.
tapml_status failures_compare(const struct failure_list *earlier,
                              struct failure_list *io_list) STATUS_USED;

// How many failed, with a state.
size_t failures_count(const struct failure_list *list, enum failure_state state);

// "new", "before", "known", "expired". Static.
const char *failures_state_name(enum failure_state state);

// Appends what it is: "layers.0/mlp/silu, decode, x=[1,80]", of a driver or a model nothing.
void failures_print_item(const struct failure *failure, struct text *out);
