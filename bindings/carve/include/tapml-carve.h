/* SPDX-FileCopyrightText: 2026 The TapML authors
 * SPDX-License-Identifier: Apache-2.0 */

/* libtapml-carve: a program writes the operator calls that it makes into a store, as cases which
 * tapml-host replays on other platforms:
 *
 *     [source]
 *     store = x.tapmlrun
 *
 * An operator is one of TapML's (docs/ops has a page for each, whose table of parameters gives
 * their positions), or opaque: its tensors are kept and counted, and nothing replays it.
 *
 *     tapml_carve_store *store;
 *     tapml_carve_call *call;
 *
 *     tapml_carve_open("x.tapmlrun", "my model", &store);
 *     tapml_carve_begin(store, "tapml.silu", 1, "layers.0.act", "a prompt", 0, 0, &call);
 *     tapml_carve_argument(call, 0, TAPML_CARVE_BEFORE, "f32", 2, shape, NULL, x);
 *     tapml_carve_argument(call, 1, TAPML_CARVE_AFTER, "f32", 2, shape, NULL, y);
 *     tapml_carve_end(call, 0);
 *     tapml_carve_commit(store);
 *     tapml_carve_close(store);
 *
 * Every function that can fail returns 0 for success, else a code of tapml/abi.h, and
 * `tapml_carve_error` has a sentence. Data is copied before a function returns. A store may be used
 * by any number of threads, each with calls of its own; a call belongs to one thread at a time.
 * What one step has is in the file whole after `tapml_carve_commit`, or not at all. */
#ifndef TAPML_CARVE_H
#define TAPML_CARVE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TAPML_CARVE_API __attribute__((visibility("default")))
#else
#define TAPML_CARVE_API
#endif

typedef struct tapml_carve_store tapml_carve_store;
typedef struct tapml_carve_call tapml_carve_call;

/* When an argument has its contents: before the call, what goes in; after it, what came out. One
 * that the call changes is given twice. */
#define TAPML_CARVE_BEFORE 0
#define TAPML_CARVE_AFTER  1

/* The sentence of the last failure in this thread, or "". It lives until the next failure in this
 * thread. `store` may be NULL. */
TAPML_CARVE_API const char *tapml_carve_error(const tapml_carve_store *store);

/* Opens a store to write; an absent one is made, one that is there must be of the same model.
 * `model` is any text that tells this model and its weights from others. The caller closes the
 * store. */
TAPML_CARVE_API int32_t tapml_carve_open(const char *path,
                                         const char *model,
                                         tapml_carve_store **out_store);

/* Says where the calls ran, for reports: `key` is "component" (torch), "version", "device" or
 * "driver". */
TAPML_CARVE_API int32_t tapml_carve_describe(tapml_carve_store *store,
                                             const char *key,
                                             const char *value);

/* Leaves the bytes of weights in the checkpoint in `folder` (safetensors), which has them under the
 * same names; without this the store keeps them, each once. Called before the first weight. */
TAPML_CARVE_API int32_t tapml_carve_weights_in(tapml_carve_store *store, const char *folder);

/* The position of a parameter of version `version` of operator `op` by its name: "weight". */
TAPML_CARVE_API int32_t tapml_carve_position(const tapml_carve_store *store,
                                             const char *op,
                                             uint32_t version,
                                             const char *parameter,
                                             uint32_t *out_position);

/* Begins a call of version `version` of operator `op`, "tapml.linear"; version 0 is an opaque one
 * of any name. `instance` is where in the model: a module path without blanks and '*', '?' and '['.
 * `prompt` is what the model was fed, any text; step 0 is the first run over it, later ones decode;
 * `part` counts calls of one instance in a step, from 0. The call is ended, or dropped by
 * `tapml_carve_drop`. */
TAPML_CARVE_API int32_t tapml_carve_begin(tapml_carve_store *store,
                                          const char *op,
                                          uint32_t version,
                                          const char *instance,
                                          const char *prompt,
                                          int64_t step,
                                          int64_t part,
                                          tapml_carve_call **out_call);

/* Gives the tensor at `position` (from 0) of the operator's parameters. `dtype` is "f32", "f16",
 * "bf16", "f64", "i32", "i64" or "u8"; `strides` count elements, NULL is dense; `data` is the first
 * element. A state is given whole; a list of weights as a stack along a first axis. */
TAPML_CARVE_API int32_t tapml_carve_argument(tapml_carve_call *call,
                                             uint32_t position,
                                             uint32_t moment,
                                             const char *dtype,
                                             uint32_t rank,
                                             const int64_t *shape,
                                             const int64_t *strides,
                                             const void *data);

/* The same of a weight, which the whole store knows under `name`. */
TAPML_CARVE_API int32_t tapml_carve_weight(tapml_carve_call *call,
                                           uint32_t position,
                                           const char *name,
                                           const char *dtype,
                                           uint32_t rank,
                                           const int64_t *shape,
                                           const int64_t *strides,
                                           const void *data);

/* The same of numbers. */
TAPML_CARVE_API int32_t tapml_carve_integer(tapml_carve_call *call,
                                            uint32_t position,
                                            int64_t value);
TAPML_CARVE_API int32_t tapml_carve_real(tapml_carve_call *call, uint32_t position, double value);

/* Where in the source the call is made, "model.py:31". */
TAPML_CARVE_API int32_t tapml_carve_line(tapml_carve_call *call, const char *line);

/* Ends a call and frees it, also after a failure. It took `time_ns`, 0: unknown. Its arguments are
 * checked against the operator: what is missing or does not fit is a failure with the parameter's
 * name, and nothing of the call is kept. As in a run the first call of each instance and shape is
 * kept as a case, and each that widens the range of values; of others a line. */
TAPML_CARVE_API int32_t tapml_carve_end(tapml_carve_call *call, uint64_t time_ns);

/* Frees a call that is not to be recorded. NULL is allowed. */
TAPML_CARVE_API void tapml_carve_drop(tapml_carve_call *call);

/* Writes all calls that were ended since the last commit: a step. */
TAPML_CARVE_API int32_t tapml_carve_commit(tapml_carve_store *store);

/* Closes the store. What was not committed is gone. NULL is allowed. */
TAPML_CARVE_API void tapml_carve_close(tapml_carve_store *store);

#ifdef __cplusplus
}
#endif

#endif
