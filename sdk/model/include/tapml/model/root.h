// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The root object of an architecture's component, of kind tapml.model/1.
#ifndef TAPML_MODEL_ROOT_H
#define TAPML_MODEL_ROOT_H

#include <tapml/model/context.h>

#ifdef __cplusplus
extern "C" {
#endif

// Makes a root that answers with `table`: what a component's `create` returns. `table` and
// `description` are constant and stay; the root's memory is the host's.
tapml_status model_root_create(const tapml_model *table,
                               const void *description,
                               const tapml_host *host,
                               tapml_call *call,
                               tapml_object **out_root);

// What the root was made with, for the functions of `table`.
const void *model_root_description(const tapml_object *root);
const tapml_host *model_root_host(const tapml_object *root);

#ifdef __cplusplus
}
#endif

#endif
