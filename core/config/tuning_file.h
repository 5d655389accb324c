// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What was tried of the kernels of this user's devices, and which settings won: `tuning.ini` in the
// user's cache (config/user_cache), a section for each class of shapes of an op on a device.
//
//   [class.1]
//   component = gpu
//   device = cpu-0
//   driver = Example 3.1
//   op = tapml.linear
//   version = 1
//   digest = 0f3a...                    of what computes the op; another one needs other trials
//   class = w=f320,f32,x=4,t=1,n=1024,k=1024
//   auto = 41000 form=1 width=4         nanoseconds, and what the device chooses by itself
//   trial = 39000 form=2 width=4        one line for each setting that gave right results
//   wrong = form=1 width=1, y[3] is 2, expected 1: 12 ULP, limit 4
//   winner = form=2 width=4             if there is a setting that is worth it
//
// Texts are in the arena of the file. One thread.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "device/knobs.h"
#include "exec/tuned.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TUNING_FILE_BYTES_MAX = 1 << 20,
    TUNING_FILE_CLASSES_MAX = 1024,
    TUNING_FILE_TRIALS_MAX = 4096, // Of a class.
    TUNING_FILE_WHY_TEXT = 96,
    TUNING_FILE_WORTH_PERCENT = 97
};

// Something that was tried. Values are in the order of the device's knobs.
struct tuning_trial {
    const char *values; // "form=1 width=4".
    uint64_t time_ns;   // 0: it is wrong,
    const char *wrong;  // and this is why; else NULL.
};

// What a class is of: all seven together are its key.
struct tuning_key {
    const char *component, *device, *driver, *op, *digest, *shape_class;
    int64_t version;
};

struct tuning_class {
    struct tuning_key key;
    struct tuning_trial own; // What the device chooses by itself; `values` is NULL: not tried yet.
    struct tuning_trial *trials;
    size_t count, capacity;
    const char *winner; // The values of one of the trials that are right; or NULL.
};

struct tuning_file {
    struct arena *arena;
    struct tuning_class *classes;
    size_t count, capacity;
};

// An empty one. The caller releases it; so it does after a failure. TAPML_NO_MEMORY.
tapml_status tuning_file_init(struct tuning_file *out_file) STATUS_USED;
void tuning_file_release(struct tuning_file *file);

// Reads a text into an empty file. TAPML_INVALID names the line, what is expected and what was
// found; `name` stands for the file.
tapml_status tuning_file_parse(const char *name,
                               const char *text,
                               size_t size,
                               struct tuning_file *file) STATUS_USED;
void tuning_file_print(const struct tuning_file *file, struct text *out_text);

// The user's file; an empty one where there is none that can be used. What cannot be read is told
// by a line of log, and counts as absent. TAPML_NO_MEMORY alone.
tapml_status tuning_file_load(struct tuning_file *out_file) STATUS_USED;

// Takes what others have written meanwhile, but for the class `mine`, which is put in its place,
// and writes all of it. Whether it could be written.
int tuning_file_save(const struct tuning_class *mine);

// The class of a key; NULL where there is none.
struct tuning_class *tuning_file_find(const struct tuning_file *file, const struct tuning_key *key);

// The class of a key, added if need be; texts are copied. TAPML_INVALID for a key that the file
// cannot hold, or if there are too many classes.
tapml_status tuning_file_add(struct tuning_file *file,
                             const struct tuning_key *key,
                             struct tuning_class **out_class) STATUS_USED;

// Adds a trial to a class; texts are copied, a reason is cut. TAPML_INVALID where there are too
// many, or for values that the file cannot hold.
tapml_status tuning_file_add_trial(struct tuning_file *file,
                                   struct tuning_class *item,
                                   const struct tuning_trial *trial) STATUS_USED;

// Sets the winner: the fastest right trial, if it takes at most TUNING_FILE_WORTH_PERCENT of the
// time of what the device chooses by itself; else none.
void tuning_file_choose(struct tuning_class *item);

// The winners for a component, in `arena`; texts are those of the file.
tapml_status tuning_file_winners(const struct tuning_file *file,
                                 const char *component,
                                 struct arena *arena,
                                 struct tuned_settings *out_settings) STATUS_USED;
