// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A section [pool.NAME] of a run's file: devices of one kind, of which a target has one after the
// other, or all at once. docs/many-machines.md is the manual.
//
// One thread.
#pragma once

#include "base/ini.h"
#include "config/key_table.h"
#include "config/problems.h"
#include "exec/place.h"

#include <stddef.h>

enum { DEVICE_POOL_MEMBERS_MAX = 16 };

struct device_pool {
    const char *name;      // "phones" of [pool.phones].
    const char *urls_text; // As the file says it; or NULL:
    const char *labels;    // Words of run/pool_labels.h that each member has; or NULL.
    int64_t processes;     // members are processes here, each with the target's own device.
    const char *urls[DEVICE_POOL_MEMBERS_MAX]; // Of each member; NULL where it is a process here.
    size_t count;                              // Members.
};

// The section, its keys, and those of a target that has a pool, as entries of the table of
// config/keys.h. `at_` and `in_target_` are macros that give the place of a member of struct
// device_pool and of struct place_settings.
#define DEVICE_POOL_SECTION                                                                        \
    {                                                                                              \
        "pool.", "pool.NAME",                                                                      \
            "Devices of one kind for a target that names them with 'pool'. You choose NAME, of "   \
            "letters, digits, '_' and '-'. One of 'urls' and 'processes' is needed. See "          \
            "docs/many-machines.md.",                                                              \
            0                                                                                      \
    }
#define DEVICE_POOL_KEYS(at_)                                                                      \
    {.section = "pool.",                                                                           \
     .name = "urls",                                                                               \
     .kind = KEY_TEXT,                                                                             \
     at_(urls_text),                                                                               \
     .type = "tapml://HOST:PORT with blanks between",                                              \
     .example = "tapml://left.local:7700 tapml://right.local:7700",                                \
     .help = "Workers on other machines, as 'url' of a target."},                                  \
        {.section = "pool.",                                                                       \
         .name = "labels",                                                                         \
         .kind = KEY_TEXT,                                                                         \
         at_(labels),                                                                              \
         .type = "TAG=GLOB and TAG>=VERSION with blanks between",                                  \
         .example = "device_name=*Mali* driver>=38.1",                                             \
         .help = "What a member has to be; others are left out. Tags are those of devices that "   \
                 "'tapml-host find --tags' lists."},                                               \
    {                                                                                              \
        .section = "pool.", .name = "processes", .kind = KEY_NUMBER, .fallback = "0",              \
        .high = DEVICE_POOL_MEMBERS_MAX, at_(processes), .example = "2",                           \
        .help = "Processes on this machine, each with the target's own device."                    \
    }
#define DEVICE_POOL_TARGET_KEYS(in_target_)                                                        \
    {.section = "target.",                                                                         \
     .name = "pool",                                                                               \
     .kind = KEY_TEXT,                                                                             \
     in_target_(pool),                                                                             \
     .type = "the NAME of a [pool.NAME]",                                                          \
     .example = "phones",                                                                          \
     .help = "In place of 'url': the target's device is a member of that pool. When it is lost, "  \
             "the next member takes over."},                                                       \
    {                                                                                              \
        .section = "target.", .name = "share", .kind = KEY_CHOICE, .fallback = "one",              \
        .words = "one split", in_target_(is_split), .example = "split",                            \
        .help = "Of a target with a pool: 'one' member has all the cases; with 'split' all "       \
                "members have some of them, each in a process of its own. See "                    \
                "docs/many-machines.md."                                                           \
    }

// Finds the members of a pool whose keys are read, and adds what is wrong with them to `problems`.
// Texts are in the arena of `ini`. TAPML_NO_MEMORY alone.
tapml_status device_pool_settle(struct device_pool *pool,
                                const struct ini *ini,
                                struct problems *problems) STATUS_USED;

// The settings of a target as those of a member, below the pool's count.
struct place_settings device_pool_member(const struct device_pool *pool,
                                         const struct place_settings *target,
                                         size_t member);
