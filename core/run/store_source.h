// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// [source] store: the cases of another store, carved by another run or by libtapml-carve, become
// those of this run. What is carved elsewhere is judged here without a model.
#pragma once

#include "base/status.h"
#include "store/merge.h"
#include "verify/verdict.h"

struct checkpoint;
struct run_config;
struct run_lock;
struct setup;
struct store;

// Takes over what the store of `config` has and `store` lacks, by its keys (store/merge.h), and
// notes what the run is (run/run_metadata.h). `*out_counts` is what came over.
//
// TAPML_PRECONDITION if `store` has cases of another run, or others under the same labels: the
// other store has changed. TAPML_INVALID for a bundle, and for the store of this very run.
tapml_status store_source_settle(struct store *store,
                                 const struct run_config *config,
                                 const struct setup *setup,
                                 struct merge_counts *out_counts) STATUS_USED;

// Opens the checkpoint of the weights that cases refer to and the store does not have: that of
// [model] path, else where the other store says that it is; the caller closes it, also after a
// failure. NULL where all weights are in the store. TAPML_PRECONDITION names a weight that is not
// there, or is another one.
tapml_status store_source_weights(struct store *store,
                                  const struct run_config *config,
                                  struct setup *setup,
                                  struct checkpoint **out_checkpoint) STATUS_USED;

// Compares what the source has computed with what its ops are, on the exact device of the component
// that calibrates, which becomes a place of the setup: whoever carved elsewhere may have mapped a
// call to the wrong op, or a parameter to the wrong argument. Cases that fail there are no evidence
// against a target (`refuted` of struct verdict_options); a warning counts them. Results are kept
// under the name STORE_SOURCE_ORACLE, so that a later start compares only what is new. Without a
// component that calibrates nothing is compared. The caller releases the list.
#define STORE_SOURCE_ORACLE "source"
tapml_status store_source_check(struct store *store,
                                struct setup *setup,
                                const struct checkpoint *checkpoint,
                                struct run_lock *lock,
                                struct verdict_list *out_list) STATUS_USED;
