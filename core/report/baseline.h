// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A baseline: an INI file with the failures that are known, each with its reason and the day until
// which it may stay.
//
//   [known.silu]
//   op = silu                      ; with or without "tapml.", or driver, model, target
//   device = *9000*                ; name of the device, or COMPONENT:DEVICE
//   driver = 3.*
//   key = 01d0...                  ; of one case
//   reason = exp overflows, ticket 17
//   expires = 2027-03-31           ; or never
//
// Texts but `reason` and `expires` are globs; what is absent matches all. docs/comparing.md is the
// manual.
#pragma once

#include "base/ini.h"
#include "config/key_table.h"
#include "report/failures.h"

struct baseline_entry {
    const char *name;                                           // Of its section: "known.silu".
    const char *op, *target, *device, *driver, *instance, *key; // NULL: any.
    const char *reason, *expires;
    int is_expired;

    size_t judged, failed; // Of what it names, in the run at hand (baseline_apply).
};

struct baseline {
    struct ini ini; // Owns all texts.
    struct baseline_entry *entries;
    size_t count;
};

// The sections and keys.
const struct key_table *baseline_table(void);

// Reads a file; an entry is expired if its day is before that of `now_s`, seconds since 1970 in
// UTC. The caller releases it. TAPML_INVALID has the first of what is wrong, with file and line.
tapml_status
baseline_load(const char *path, int64_t now_s, struct baseline *out_baseline) STATUS_USED;
void baseline_release(struct baseline *baseline);

// Looks up all that was judged in a run: sets the state of failures that an entry knows, be it
// expired, and counts what each entry has met. An entry that is not expired goes before one that
// is.
void baseline_apply(struct baseline *baseline, struct failure_list *io_list);

// What became of an entry: "fixed" if what it names was judged and passes, "absent" if nothing
// that it names was judged, "expired" if it still fails behind its day, else "known". Static.
const char *baseline_entry_state(const struct baseline_entry *entry);

// Whether a text is a day of the calendar, "2027-03-31".
int baseline_is_day(const char *text);

// Appends the baseline that knows the failures of a list, one section for each target, op and key,
// until the day `expires` or `never`. TAPML_INVALID if that is longer than such a file may be.
tapml_status baseline_print(const struct failure_list *list,
                            const char *expires,
                            struct text *out_text) STATUS_USED;

// The day that is `days` after that of `now_s`.
void baseline_day(int64_t now_s, int64_t days, char out_day[16]);
