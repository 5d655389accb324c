// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Kind tapml.policy/1-draft2: which cases are run, in which order, in which order kinds of
// operators are moved, whether a change makes cases run again, and which plans are worth trying.
//
// A draft, which the next one may change in any way: docs/plugin-abi.md has the rules of drafts.
//
// Each function is optional, and a run names a policy where it is to be asked:
//
//   [offload] policy = quick              order
//   [select]  policy = quick              select
//   [order]   policy = quick              order_cases
//   [watch]   triggers = policy:quick     trigger
//   tapml-host plan search --builder quick    build
//
// A policy runs in the process of the host, after another process has opened it, and is called from
// one thread. What it answers is checked, and an answer that is none ends the run with its name.
// What is proved of a case, of an operator and of a plan stays the host's.
#ifndef TAPML_DRAFT_POLICY_H
#define TAPML_DRAFT_POLICY_H

#include <tapml/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPML_KIND_POLICY "tapml.policy/1-draft2"

// The first draft, of which the host uses what was built: its table ends with `order`, which it
// needs.
#define TAPML_KIND_POLICY_DRAFT1 "tapml.policy/1-draft1"

// -- Kinds of operators ------------------------------------------------------------------------

// A kind of operator of the model, as the source's run has it. Read-only, valid for the call.
typedef struct tapml_policy_kind {
    tapml_hdr hdr;
    const tapml_op *op;
    uint64_t instances; // In the model.
    uint64_t calls;     // That were carved,
    uint64_t source_ns; // and their time on the source, in all.
} tapml_policy_kind;

// -- Cases -------------------------------------------------------------------------------------

// A kept case: a row of what is known of it without its contents. Read-only, valid for the call.
typedef struct tapml_policy_case {
    tapml_hdr hdr;
    const char *op;        // "tapml.linear"
    const char *instance;  // "layers.3/attn/q_proj"
    const char *phase;     // "prefill" or "decode"
    const char *signature; // Operator, version, phase, dtypes and switches: usually one kernel.
    uint64_t source_ns;    // Of its call on the source; 0: not known.
    double time_ns; // Predicted on the target, at least 1; NaN: it cannot be. It changes as results
                    // come in, so what depends on it may be another choice at the next start.
    const double *features; // As many as the question names; NaN: it does not apply.
} tapml_policy_case;

// What is asked about cases. Read-only, valid for the call.
typedef struct tapml_policy_cases {
    tapml_hdr hdr;
    const char *target;                    // "gpu" of [target.gpu].
    const tapml_policy_case *const *cases; // All that are kept, as the source called them.
    const char *const *features;           // Their names: "kurtosis". docs/store.md has them.
    uint32_t n_cases;
    uint32_t n_features;
    uint32_t count_max; // At most so many may be chosen, from 1 to `n_cases`,
    uint32_t reserved;  //
    double time_max_ns; // and their `time_ns`, 1 where it is NaN, may sum up to so much; infinite
                        // for a budget in cases.
} tapml_policy_cases;

// -- Changes -----------------------------------------------------------------------------------

#define TAPML_CHANGED_FILE   1u // The run's file, prompts, a file of the model, of a plugin.
#define TAPML_CHANGED_DRIVER 2u // What the driver of a target says that it is.
#define TAPML_CHANGED_DEVICE 3u // Another device, other options or other activations of a target.
#define TAPML_CHANGED_BUILD  4u // Another build of the plugin of a target.

// Something that is other than when all verdicts were fresh last. Read-only, valid for the call.
typedef struct tapml_policy_change {
    tapml_hdr hdr;
    uint32_t what; // TAPML_CHANGED_*; a later host may have more.
    uint32_t reserved;
    const char *target; // "gpu" of [target.gpu]; NULL of a file.
    const char *path;   // Of a file; else NULL.
    const char *before; // What it was: the driver, the device with its options, the build; of a
                        // file "". NULL: the file, or the target, was not there,
    const char *now;    // or the file is not any more.
} tapml_policy_change;

// What a look of `tapml-host watch` has found, of all targets. Read-only, valid for the call.
typedef struct tapml_policy_look {
    tapml_hdr hdr;
    const tapml_policy_change *const *changes;
    uint32_t n_changes;
    uint32_t is_first; // Not zero: no look before knows of fresh verdicts, so there are no changes.
    uint64_t cases;    // Cases times targets,
    uint64_t stale;    // and those of them without a fresh result.
    double regret_s;   // What it may cost not to know them, and what it costs to run them:
    double cost_s;     // docs/watching.md.
    double drift;      // The largest factor by which the margin of a sample has moved; 1: by none,
                       // or none is taken.
    double performance; // The largest share by which the times of an operator's samples have moved.
} tapml_policy_look;

#define TAPML_POLICY_REASON_BYTES 160u

// The answer. The host sets `hdr` and zeros the rest.
typedef struct tapml_policy_answer {
    tapml_hdr hdr;
    int32_t runs; // 1: what is stale is to run; 0: it may wait.
    uint32_t reserved;
    char reason[TAPML_POLICY_REASON_BYTES]; // In a few words, UTF-8, ended by a zero byte; or "".
} tapml_policy_answer;

// -- Plans -------------------------------------------------------------------------------------

// An operator of the model, as a call of one token runs it. Read-only, valid for the call.
typedef struct tapml_policy_op {
    tapml_hdr hdr;
    const tapml_op *op;
    const char *instance;   // "layers.3/attn/q_proj"
    const double *time_ns;  // Predicted at each place; NaN: nothing is known.
    const uint8_t *may_run; // At each place: 0: its cases are not proved there, or it is refused.
} tapml_policy_op;

// What is asked about plans. Read-only, valid for the call.
typedef struct tapml_policy_ops {
    tapml_hdr hdr;
    const char *const *places;         // The first is "source", where each operator may run.
    const tapml_policy_op *const *ops; // In the order in which they run.
    uint32_t n_places;
    uint32_t n_ops;
    uint32_t count_max; // Plans that there is room for.
    uint32_t reserved;
} tapml_policy_ops;

// -- The table ---------------------------------------------------------------------------------

// The table of a component's root. It has at least one function. The same question gets the same
// answer, so that a run that is resumed goes on as it began. A failure ends the run, with the
// sentence of the policy.
typedef struct tapml_policy {
    tapml_hdr hdr;

    // Puts the indices of `kinds` into the order in which they are to be moved, with
    // `mode = mixed`. `io_order` has them in the order of the host: the most expensive first. The
    // result has each once, and depends on the kinds and the options of the component alone.
    tapml_status (*order)(tapml_object *policy,
                          tapml_call *call,
                          const tapml_policy_kind *const *kinds,
                          uint32_t n_kinds,
                          uint32_t *io_order);

    // Chooses the cases that run on a target, what counts most first: their indices into
    // `out_chosen`, and what each is worth, if that can be told, into `out_worth`, which is 0 for
    // all. Both have room for `n_cases`. Within the budget; each case at most once; at least one if
    // the budget has room for one; no worth is infinite or NaN.
    tapml_status (*select)(tapml_object *policy,
                           tapml_call *call,
                           const tapml_policy_cases *question,
                           uint32_t *out_chosen,
                           double *out_worth,
                           uint32_t *out_count);

    // Puts cases that are going to run into another order: `io_order` has the indices of `n_order`
    // of them, as the source called them, and has each once afterwards.
    tapml_status (*order_cases)(tapml_object *policy,
                                tapml_call *call,
                                const tapml_policy_cases *question,
                                uint32_t n_order,
                                uint32_t *io_order);

    // Whether what a look has found makes what is stale run. Asked at each look, also if nothing is
    // stale. What it answers 0 to is told again at the next look.
    tapml_status (*trigger)(tapml_object *policy,
                            tapml_call *call,
                            const tapml_policy_look *look,
                            tapml_policy_answer *out_answer);

    // Builds plans that a search begins with: of each the places of all operators, as numbers of
    // `places`, one plan behind the other in `out_places`, which has room for `count_max` of them.
    // An operator is nowhere where it may not run. Plans that are equal, or take more memory than
    // there is, are left out by the host.
    tapml_status (*build)(tapml_object *policy,
                          tapml_call *call,
                          const tapml_policy_ops *question,
                          uint8_t *out_places,
                          uint32_t *out_count);
} tapml_policy;

#ifdef __cplusplus
}
#endif

#endif
