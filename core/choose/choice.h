// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Which cases of a store run on a target, and in which order: what [select] and [order] ask for,
// from the features of the cases alone, so that the same store gives the same choice again after a
// start that was killed. A budget in seconds is the exception: its times are predicted from what is
// known by then.
//
// A store belongs to one thread. Failures are those of the store and TAPML_NO_MEMORY.
#pragma once

#include "choose/budget.h"
#include "choose/select.h"
#include "choose/time_model.h"
#include "store/feature.h"

struct arena;
struct policy;
struct store;

// Words of [order] policy, in this order.
enum choice_order {
    CHOICE_AUTO,    // COVER for a budget in seconds, else CARVED.
    CHOICE_CARVED,  // As the source called them.
    CHOICE_BALANCE, // Every prefix is like the whole.
    CHOICE_COVER    // What adds most first.
};

struct choice_settings {
    struct case_budget budget;
    enum choice_order order;

    // Of plugins (plugin/policy.h), or NULL; borrowed. They take the place of the host's own choice
    // within the budget, and of `order`.
    struct policy *selector, *sorter;
};

struct choice_options {
    struct choice_settings settings;
    const char *target; // Whose times are known; "": those of the source are taken.
    int keep;           // Features that the store lacks are written to it.

    // The share of the cases of an op that have failed, or NULL.
    double (*find_failures)(void *user, const char *op);
    void *user;
};

struct risk;

struct case_choice {
    struct feature_case *cases; // All of them, in the order of `stored_case_ids`,
    size_t count;
    uint32_t *groups; // with a number for the signature of each.
    size_t group_count;

    uint32_t *order; // Indices of those that run, in their order.
    size_t chosen;
    enum choice_order policy; // What `auto` came to.
    const char *sorted_by;    // The policy whose order it is in place of that; or NULL.

    int has_selected;        // The rest is of a choice; else all run.
    const char *selected_by; // The policy whose choice it is; NULL: that of the host.
    struct select_result selected;
    struct risk *risks; // Of all cases; NULL where a policy has chosen.

    int has_times;    // There is a predictor, of times
    int is_of_target; // on the target; else on the source.
    struct time_model times;
    double seconds; // Predicted, of what runs; NaN without a predictor.
};

// Chooses. The result is in `arena`.
tapml_status choice_make(struct store *store,
                         const struct choice_options *options,
                         struct arena *arena,
                         struct case_choice *out_choice) STATUS_USED;

// The same of cases that are at hand, such as those of several stores; they and their texts outlive
// the choice. Their ids are not looked at.
tapml_status choice_make_of(struct feature_case *cases,
                            size_t count,
                            const struct choice_options *options,
                            struct arena *arena,
                            struct case_choice *out_choice) STATUS_USED;

// "balance"; static.
const char *choice_order_name(enum choice_order order);

enum { CHOICE_TEXT = 768 };

// What a choice came to, in a sentence: how many run, how good that is at least or which policy has
// chosen, the order.
void choice_print(const struct case_choice *choice, char out_text[CHOICE_TEXT]);
