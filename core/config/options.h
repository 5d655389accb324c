// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Command lines: long options with or without a value, and what stands alone.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_MAX = 64 };

struct options_spec {
    const char *name;  // "--model"
    const char *value; // "DIR", or NULL for a switch.
    const char *help;
};

struct options {
    const struct options_spec *specs; // Ended by a name that is NULL.
    struct {
        const struct options_spec *spec;
        const char *value;
    } given[OPTIONS_MAX];
    size_t given_count;
    const char *plain[OPTIONS_MAX]; // What is no option.
    size_t plain_count;
};

// `--name VALUE` and `--name=VALUE`; behind `--` nothing is an option. An unknown one is refused
// with the nearest known.
tapml_status options_parse(const struct options_spec *specs,
                           int argc,
                           char **argv,
                           struct options *out_options) STATUS_USED;

// Refuses what is no option, where a command takes none.
tapml_status options_no_plain(const struct options *options) STATUS_USED;

// The last value of an option, or NULL. For a switch "" where it was given.
const char *options_get(const struct options *options, const char *name);

// The `index`-th value of an option that may stand several times, or NULL.
const char *options_at(const struct options *options, const char *name, size_t index);

// A whole number in [low, high], or `fallback` where the option is absent.
tapml_status options_i64(const struct options *options,
                         const char *name,
                         int64_t fallback,
                         int64_t low,
                         int64_t high,
                         int64_t *out_value) STATUS_USED;

// Prints "usage: tapml-host <usage>", `about`, and one line an option.
void options_help(const char *usage, const char *about, const struct options_spec *specs);
