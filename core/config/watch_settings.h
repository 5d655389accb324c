// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What [watch] of a run's INI file says: when `tapml-host watch` runs cases again, and how many.
// docs/watching.md explains it.
//
// Plain data, any thread.
#pragma once

#include "base/status.h"
#include "choose/budget.h"

#include <stdint.h>

// What makes stale cases run, in the order of `watch_trigger_name`.
enum watch_trigger {
    WATCH_IDENTITY,    // Some results depend on what is other than it was.
    WATCH_COST,        // The risk of not knowing is larger than what it costs to know.
    WATCH_DRIFT,       // Cases that nothing has changed for have other margins.
    WATCH_PERFORMANCE, // They take another time.
    WATCH_POLICY,      // A policy of a plugin says so.
    WATCH_TRIGGERS
};

enum watch_ensemble { WATCH_ANY, WATCH_MAJORITY };
#define WATCH_ENSEMBLES "any majority"

enum { WATCH_NAME_TEXT = 192 }; // More than the value of a key may have.

struct watch_settings {
    const char *triggers;         // As the file says them,
    unsigned is_on;               // and as bits 1 << enum watch_trigger.
    double drift;                 // By which factor a margin may move, above 1.
    double performance;           // By which share a time may move, above 0.
    char policy[WATCH_NAME_TEXT]; // The component that `policy:COMPONENT` names, or "".
    int ensemble;                 // How many triggers must fire: enum watch_ensemble.
    const char *budget_text;      // As the file says it, or NULL: all that is stale runs.
    struct case_budget budget;
    int64_t interval_s; // Between two looks that nothing has asked for.
    int64_t sample;     // Fresh cases of each target that run at a look, for drift and performance.
    const char *page;   // A file; NULL: watch.html in the folder of the run.
    const char *command; // on-change; or NULL.
};

// "identity"; static.
const char *watch_settings_trigger(enum watch_trigger trigger);

// Reads triggers with blanks between: "identity drift:2 performance:50% policy:ID". The
// number behind ':' may be absent: then a margin may double, and a time move by half. Sets `is_on`,
// `drift`, `performance` and `policy`. TAPML_INVALID: none, an unknown one, with the nearest name,
// a number that is out of range, or a second policy.
tapml_status watch_settings_read(const char *words, struct watch_settings *settings) STATUS_USED;
