// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A bundle: a store with one case that has all its bytes, for another machine without the model; or
// with none, about a driver that is wrong below every op (run/driver_bundle.h).
//
// It is read as every store is, by `store_open` and `stored_case_load`, which check it: a bundle
// comes from someone else.
#pragma once

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct arena;
struct carved_case;
struct checkpoint;
struct store;

// What a bundle says of itself, as metadata of the store. A store without
// `BUNDLE_METADATA_INSTANCE` is none.
#define BUNDLE_METADATA_INSTANCE "bundle.instance" // Whose case it is.
#define BUNDLE_METADATA_TARGET   "bundle.target"   // Where it failed.
#define BUNDLE_METADATA_REASON   "bundle.reason"   // How, a sentence.
#define BUNDLE_METADATA_WHOLE    "bundle.whole"    // The shape class before it was made smaller.
#define BUNDLE_METADATA_ACTIVATIONS                                                                \
    "bundle.activations" // "f16" where the target had them so; it is replayed so.
#define BUNDLE_METADATA_REPEAT "bundle.repeat" // Replays that show the fault, where one may not.

// Of a driver, whose bundle has no case. Numbers are decimal.
#define BUNDLE_METADATA_CHECK  "bundle.check"  // That fails, as `driver_check_name` has it.
#define BUNDLE_METADATA_DRIVER "bundle.driver" // Its version, in its own words.
#define BUNDLE_METADATA_SEED   "bundle.seed"   // Of the check,
#define BUNDLE_METADATA_TRIAL  "bundle.trial"  // and which of its trials fails:
#define BUNDLE_METADATA_OFFSET "bundle.offset" // bytes, in the buffer,
#define BUNDLE_METADATA_SIZE   "bundle.size"   // and of the transfer or tensor.

struct bundle_metadata {
    const char *name;
    const char *value; // NULL: left out.
};

// A copy of a case whose weights have their bytes, those of the checkpoint's mapping (NULL where
// the case carries them). TAPML_INVALID names a weight that the checkpoint lacks or has in another
// type or size.
tapml_status bundle_inline(const struct checkpoint *checkpoint,
                           const struct carved_case *item,
                           struct arena *arena,
                           struct carved_case *out_case) STATUS_USED;

// Writes a case whose weights are inlined as the one case of a new store, in place of what was at
// `path`, and leaves the store open: calibrated limits go beside the case. The caller closes it.
// `item` is NULL in the bundle of a driver.
tapml_status bundle_create(const char *path,
                           const struct carved_case *item,
                           const struct bundle_metadata *metadata,
                           size_t metadata_count,
                           struct store **out_store) STATUS_USED;

int bundle_is(struct store *store);

// What a bundle, or a pack, is known by wherever it lies: 32 hexadecimal digits, the hash of all
// that is said of it (metadata whose names begin with "bundle.", "pack.", "recorded.", "model." or
// "source") and of the keys and places of its cases. Results that a replay has written beside them
// do not change it. The same fault of the same run has the same id.
tapml_status bundle_id(struct store *store, char out_id[HASH_TEXT]) STATUS_USED;

// What the cases of a store are, each word once, in order, with the number of cases that have it.
enum bundle_word {
    BUNDLE_WORD_OP,
    BUNDLE_WORD_INSTANCE,
    BUNDLE_WORD_PHASE,
    BUNDLE_WORD_SHAPES,
    BUNDLE_WORD_DTYPE, // Of any argument.
    BUNDLE_WORDS
};

// `word` lives until the visitor returns; a status that is not TAPML_OK ends the visit.
typedef tapml_status (*bundle_visit_fn)(void *user, const char *word, uint64_t cases);
tapml_status bundle_visit(struct store *store,
                          enum bundle_word what,
                          bundle_visit_fn visit,
                          void *user) STATUS_USED;

// Fills a store that is being made.
typedef tapml_status (*bundle_fill_fn)(void *user, struct store *store);

// Writes a store by one transaction of `fill`, in place of what was at `path`: whole or not at all.
// The same rows in the same order give the same bytes, since such a store says neither when nor
// where it was made.
tapml_status bundle_write(const char *path, bundle_fill_fn fill, void *user) STATUS_USED;
