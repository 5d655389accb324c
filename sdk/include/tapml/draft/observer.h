// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Kind tapml.observer/1-draft1: sees each call of an operator before and after it is made, and may
// make it itself.
//
// A draft, which the next one may change in any way: docs/plugin-abi.md has the rules of drafts.
//
// A run names observers of a place, `observers = tally` of [source] or of [target.NAME]; other
// commands take `--observe tally`. The observer runs in the process of the host, also where the
// device has one of its own. It stands directly around the device (and what injects faults there),
// inside of all wrappers of the host: arguments are as the device gets them, in f16 where the
// activations are, and the recorder, the guard and all comparisons see what the observer leaves. Of
// several the one that is named first is the outermost.
//
// Calls come one after the other, from one thread. The work of a call that was made may still be
// queued: `read` waits for it, and a failure of the device that comes out then stays the device's.
// Any other failure of `before` and `after` is that of the observer and of no operator: the host
// gives the place up, with the sentence of the observer.
#ifndef TAPML_DRAFT_OBSERVER_H
#define TAPML_DRAFT_OBSERVER_H

#include <tapml/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPML_KIND_OBSERVER "tapml.observer/1-draft1"

// A call that is observed. It, all that it points to, and its functions are valid until the
// function that got it returns.
typedef struct tapml_observed tapml_observed;

struct tapml_observed {
    tapml_hdr hdr;
    const char *place;       // "source", or "gpu" of [target.gpu].
    const char *device;      // "COMPONENT:DEVICE"
    const char *instance;    // "layers.3/attn/q_proj"; NULL: the call belongs to no graph.
    const tapml_op *op;      // Of the host's catalogue, or that of the plugin that brought it.
    const tapml_value *args; // One for each parameter. Tensors have no buffers, nor have panels.
    uint32_t n_args;
    uint32_t
        is_extra; // Not zero: a call that no run of the model makes, such as of a derived case.
    void *impl;   // The host's.

    // The bytes of a tensor, as `read` gives them: dense, last axis fastest, in its dtype; of an
    // encoded one the spans one after another; of a state the whole of it. `param` is the index of
    // a parameter, `index` that of the tensor where it is a list, else 0. TAPML_INVALID: that is no
    // tensor.
    tapml_status (*size)(const tapml_observed *observed,
                         tapml_call *call,
                         uint32_t param,
                         uint32_t index,
                         uint64_t *out_bytes);

    // Copies the values of a tensor to `target`, which has room for exactly `bytes`, as `size`
    // says. Waits for the device. TAPML_INVALID: another number of bytes, or an output before the
    // call.
    tapml_status (*read)(const tapml_observed *observed,
                         tapml_call *call,
                         uint32_t param,
                         uint32_t index,
                         void *target,
                         uint64_t bytes);

    // Replaces all values of an output, an in-out tensor or a written state. For observers with
    // TAPML_OBSERVER_REPLACES. TAPML_INVALID: as above, or no output; TAPML_PRECONDITION: the
    // observer does not say that it replaces.
    tapml_status (*write)(const tapml_observed *observed,
                          tapml_call *call,
                          uint32_t param,
                          const void *source,
                          uint64_t bytes);
};

// It writes results, or makes calls itself. Results of a place with such an observer are stale when
// its library or its options change. Without this trait `write` refuses, and so does the host if
// `before` says that the call was made.
#define TAPML_OBSERVER_REPLACES (1u << 0)

// The table of a component's root. One root serves all places.
typedef struct tapml_observer {
    tapml_hdr hdr;
    uint32_t traits; // TAPML_OBSERVER_*
    uint32_t reserved;

    // Before a call. `*out_is_made` is 0. If it is set to 1, the call goes no further: neither the
    // device nor an observer further inside gets it, and `after` of this one is not called. Each
    // output that only goes out has to be written by then; in-out tensors and states stay as they
    // are where they were not. If it stays 0, nothing may have been written. NULL: nothing to do.
    tapml_status (*before)(tapml_object *observer,
                           tapml_call *call,
                           const tapml_observed *observed,
                           int32_t *out_is_made);

    // After a call that succeeded, which may have been made by an observer further inside. What is
    // written here takes the place of what the device computed. NULL: nothing to do.
    tapml_status (*after)(tapml_object *observer, tapml_call *call, const tapml_observed *observed);
} tapml_observer;

#ifdef __cplusplus
}
#endif

#endif
