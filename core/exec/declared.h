// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A backend that computes as another device declares that it does (`backend_arithmetic`), around a
// backend that computes in f32 or better.
//
// What goes into a call is copied, rounded to the declared formats and given to the inner backend,
// whose sums stay as wide as they are; what comes out is rounded in place. Calls of ops without a
// declaration are forwarded. It is for devices that calibrate: it waits for each call, and makes
// buffers. One thread, that of the inner backend.
#pragma once

#include "base/status.h"
#include "device/backend.h"
#include "exec/place.h"

struct declared;

// Says how an op is computed; never NULL.
typedef const struct arithmetic *(*declared_form_fn)(void *user, const tapml_op *op);

struct declared_options {
    struct backend *inner; // Borrowed.
    declared_form_fn form;
    void *user;  // Of `form`; borrowed.
    int is_wide; // Outputs stay as they are computed: what is right before it is rounded.
};

// The caller owns the wrapper, whose backend is `declared_backend`. TAPML_NO_MEMORY is its one
// failure.
tapml_status declared_create(const struct declared_options *options,
                             struct declared **out_declared) STATUS_USED;
void declared_destroy(struct declared *declared); // Accepts NULL.
// The wrapper as a backend. Lives as long as the wrapper.
struct backend *declared_backend(struct declared *declared);

// The same as a link of a chain (exec/place): as `target` declares, which outlives the place.
struct place_link declared_link(struct backend *target);

// A `declared_form_fn` whose user is the backend that declares.
const struct arithmetic *declared_by_backend(void *backend, const tapml_op *op);
