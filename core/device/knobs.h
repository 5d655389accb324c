// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What a device lets the host choose when it computes a call (tapml/draft/tuning.h), as data: knobs
// with their values, and which combinations of values are legal. A combination has a number: the
// place of the value of the last knob counts ones.
//
// One thread with a backend; the rest is pure. Spaces and texts are in the arena that is given.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "device/backend.h"

enum { KNOBS_COMBINATIONS_MAX = 1 << 18 };

struct knob {
    const char *name, *about;
    const int64_t *values;
    uint32_t count;  // Of values.
    uint32_t chosen; // The place of the one that the device takes by itself.
};

struct knob_space {
    char shape_class[TAPML_TUNING_CLASS_BYTES];
    struct knob *knobs;
    uint32_t count;       // Of knobs; 0: there is nothing to choose.
    uint32_t size;        // Combinations,
    unsigned char *legal; // a bit for each, the lowest of a byte first,
    uint32_t legal_count; // and how many of them are set.
};

// What a backend lets the host choose for a call that it supports, with these arguments (tensors
// without buffers), in `arena`; no knobs where there is nothing.
tapml_status knobs_ask(struct backend *backend,
                       const struct compiled_op *schema,
                       const tapml_value *args,
                       struct arena *arena,
                       struct knob_space *out_space) STATUS_USED;

// Gives a device of this process a setting for the calls of an op, by its full name, that follow.
// TAPML_UNIMPLEMENTED where there is nothing to choose, and of a worker, which was given its
// settings when it was opened (exec/tuned).
tapml_status
knobs_set(struct backend *backend, const char *op, const tapml_setting *setting) STATUS_USED;

// Checks what somebody says of a space, but for `legal`, and sets `size`. TAPML_INVALID names the
// knob, what is expected and what was found.
tapml_status knobs_check(struct knob_space *io_space) STATUS_USED;

// Checks and counts `legal`: what the device takes by itself has to be legal.
tapml_status knobs_check_legal(struct knob_space *io_space) STATUS_USED;

// Whether a class is one: printable, without blanks, and neither empty nor too long.
int knobs_is_class(const char *shape_class);

static inline int knobs_is_legal(const struct knob_space *space, uint32_t number)
{
    return space->legal[number / 8] >> number % 8 & 1;
}

// The places of the values of a combination, one for each knob, and back.
void knobs_places(const struct knob_space *space, uint32_t number, uint32_t *out_places);
uint32_t knobs_number(const struct knob_space *space, const uint32_t *places);

// What the device takes by itself.
uint32_t knobs_chosen(const struct knob_space *space);

// Appends "form=1 width=4".
void knobs_print(const struct knob_space *space, uint32_t number, struct text *out_text);

// Reads such a text as a setting of a class, which is borrowed. TAPML_INVALID says what is wrong;
// whether a device has the knobs it says itself.
tapml_status knobs_read(const char *shape_class,
                        const char *text,
                        struct arena *arena,
                        tapml_setting *out_setting) STATUS_USED;

// The number of a setting in a space; TAPML_NOT_FOUND where it has other knobs or values, or where
// the combination is not legal.
tapml_status knobs_find(const struct knob_space *space,
                        const tapml_setting *setting,
                        uint32_t *out_number) STATUS_USED;
