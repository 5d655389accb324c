// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A draft: an optional interface of a device, `interface_of(device, TAPML_TUNING)`. The device says
// what it could choose otherwise when it computes an op, and lets the host choose: tiles, work
// items, vector widths. The host tries settings on cases, and one that gives wrong results is never
// taken, however fast it is; so a device need not know which of its settings are right, and which
// are fast. What it chooses by itself stays what it is where the host says nothing.
//
// Calls of an op fall into classes of shapes, by whatever the device looks at when it chooses: a
// setting is for one class. Functions are called where `supports` of the backend is, with arguments
// without buffers, and not while a call is at work.
#ifndef TAPML_DRAFT_TUNING_H
#define TAPML_DRAFT_TUNING_H

#include <tapml/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPML_TUNING "tapml.tuning/1-draft1"

#define TAPML_TUNING_KNOBS_MAX 16u // Of an op,
#define TAPML_TUNING_VALUES_MAX                                                                    \
    64u // and of a knob. All values of all knobs are at most 2^18
        // combinations.
#define TAPML_TUNING_CLASS_BYTES 96u
#define TAPML_TUNING_NAME_BYTES  24u

// The class of all calls whose own has no setting: the host tries a setting on shapes around those
// of a class, at whose edges it may be wrong.
#define TAPML_TUNING_ALL_CLASSES "*"

// Something with a whole number that can be chosen.
typedef struct tapml_knob {
    tapml_hdr hdr;
    const char *name;      // Small letters, digits and '_': "tile_rows". Below NAME_BYTES.
    const char *about;     // For people: "rows of a tile".
    const int64_t *values; // Each once, none negative, growing.
    uint32_t n_values;
    uint32_t chosen; // Which of them the device chooses by itself in this class.
} tapml_knob;

// What can be chosen for a call. The host sets `hdr` and zeros the rest.
typedef struct tapml_knobs {
    tapml_hdr hdr;
    char shape_class[TAPML_TUNING_CLASS_BYTES]; // Printable, without blanks: "n=1024,k=4096,t=1".
    const tapml_knob *const *knobs; // In one order for an op. Valid until the next call for it.
    uint32_t n_knobs;               // 0: there is nothing to choose.
    uint32_t reserved;
} tapml_knobs;

// A choice for a class of an op: a value for each of its knobs, in any order. Valid for the call.
typedef struct tapml_setting {
    tapml_hdr hdr;
    const char *shape_class;
    const char *const *names;
    const int64_t *values;
    uint32_t n_values; // 0: what the device chooses by itself.
    uint32_t reserved;
} tapml_setting;

typedef struct tapml_tuning {
    tapml_hdr hdr;

    // The knobs of a call of `op` with these arguments, and its class. A call that `supports` says
    // no to has none. What the device chooses by itself is legal.
    tapml_status (*knobs)(tapml_object *device,
                          tapml_call *call,
                          const tapml_op *op,
                          const tapml_value *args,
                          uint32_t n_args,
                          tapml_knobs *answer);

    // Whether such a call can be computed with these values, one for each knob in their order: sets
    // `*out_is_legal` to 1 or 0. This is about what runs at all: too much shared memory, a tile
    // that is no multiple of another. It is asked of every combination, so that it has to be quick.
    tapml_status (*allows)(tapml_object *device,
                           tapml_call *call,
                           const tapml_op *op,
                           const tapml_value *args,
                           uint32_t n_args,
                           const int64_t *values,
                           uint32_t *out_is_legal);

    // Takes a setting for the calls of a class that follow. TAPML_INVALID for a knob or a value
    // that the op does not have, and for a class that cannot be one. A call of the class for which
    // the setting is not legal after all is computed as if there were none.
    tapml_status (*take)(tapml_object *device,
                         tapml_call *call,
                         const tapml_op *op,
                         const tapml_setting *setting);
} tapml_tuning;

#ifdef __cplusplus
}
#endif

#endif
