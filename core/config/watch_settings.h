// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What [watch] of a run's INI file says: when `tapml-host watch` runs cases again, and how many.
// docs/watching.md explains it.
//
// Plain data, any thread.
#pragma once

#include "base/status.h"
#include "choose/budget.h"
#include "config/key_table.h"

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

enum {
    WATCH_NAME_TEXT = 192, // More than the value of a key may have.
    WATCH_INTERVAL_MAX_S = 604800,
    WATCH_SAMPLE_MAX = 1 << 30
};

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

// The keys of the section, for the table of config/keys.
#define WATCH_SETTINGS_KEYS(at_)                                                                   \
    {.section = "watch",                                                                           \
     .name = "triggers",                                                                           \
     .kind = KEY_TEXT,                                                                             \
     .fallback = "identity",                                                                       \
     at_(triggers),                                                                                \
     .type = "names of triggers with blanks between",                                              \
     .example = "identity drift:2 performance:50%",                                                \
     .help =                                                                                       \
         "What makes cases run again: 'identity', something that their results depend on has "     \
         "changed; 'cost', the risk of not knowing exceeds the time that it takes; 'drift:2', "    \
         "margins of a sample of fresh cases have moved by that factor; 'performance:50%', "       \
         "their times by so much; 'policy:ID', a component says so: docs/write-a-policy.md."},     \
        {.section = "watch",                                                                       \
         .name = "ensemble",                                                                       \
         .kind = KEY_CHOICE,                                                                       \
         .fallback = "any",                                                                        \
         .words = WATCH_ENSEMBLES,                                                                 \
         at_(ensemble),                                                                            \
         .example = "majority",                                                                    \
         .help = "How many of several triggers have to fire: one, or more than half of them."},    \
        {.section = "watch",                                                                       \
         .name = "budget",                                                                         \
         .kind = KEY_TEXT,                                                                         \
         at_(budget_text),                                                                         \
         .type = "cases, a share or a time",                                                       \
         .example = "200",                                                                         \
         .help =                                                                                   \
             "How many stale cases run at a look: '200', '2%' of all cases, or '600s'. The rest "  \
             "stays stale until the next look. All of them if this key is absent."},               \
        {.section = "watch",                                                                       \
         .name = "interval",                                                                       \
         .kind = KEY_NUMBER,                                                                       \
         .fallback = "300",                                                                        \
         .low = 1,                                                                                 \
         .high = WATCH_INTERVAL_MAX_S,                                                             \
         at_(interval_s),                                                                          \
         .example = "3600",                                                                        \
         .help = "Seconds between two looks if no file changes, at devices and drivers, too."},    \
        {.section = "watch",                                                                       \
         .name = "sample",                                                                         \
         .kind = KEY_NUMBER,                                                                       \
         .fallback = "8",                                                                          \
         .low = 1,                                                                                 \
         .high = WATCH_SAMPLE_MAX,                                                                 \
         at_(sample),                                                                              \
         .example = "20",                                                                          \
         .help =                                                                                   \
             "How many fresh cases of each target run at a look, for 'drift' and 'performance'."}, \
        {.section = "watch",                                                                       \
         .name = "page",                                                                           \
         .kind = KEY_TEXT,                                                                         \
         at_(page),                                                                                \
         .type = "a file",                                                                         \
         .example = "/srv/www/watch.html",                                                         \
         .help = "The page that is written; 'watch.html' in the folder of the run if this key is " \
                 "absent."},                                                                       \
    {                                                                                              \
        .section = "watch", .name = "on-change", .kind = KEY_TEXT, at_(command),                   \
        .type = "a command of /bin/sh",                                                            \
        .example = "mail -s \"$TAPML_SENTENCE\" me < \"$TAPML_PAGE\"",                             \
        .help =                                                                                    \
            "Run when verdicts have turned, with the facts in environment variables "              \
            "(docs/environment.md). It may take a minute; if it fails it is tried three times."    \
    }

// "identity"; static.
const char *watch_settings_trigger(enum watch_trigger trigger);

// Reads triggers with blanks between: "identity drift:2 performance:50% policy:ID". The
// number behind ':' may be absent: then a margin may double, and a time move by half. Sets `is_on`,
// `drift`, `performance` and `policy`. TAPML_INVALID: none, an unknown one, with the nearest name,
// a number that is out of range, or a second policy.
tapml_status watch_settings_read(const char *words, struct watch_settings *settings) STATUS_USED;
