// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The store of a run: one SQLite file (`run.tapmlrun`) with cases, tensors by content, calls,
// results and the steps of the offload. docs/store.md is its schema; the `sqlite3` shell reads it.
//
// Tensors are kept once, by the 128-bit XXH3 of their dense bytes with dtype and shape, compressed
// by zstd where that helps. Weights are kept by name and key alone, unless the store is a bundle.
// One connection belongs to one thread; WAL lets a reader work beside a writer.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "store/case.h"

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

enum { STORE_VERSION = 3 };

// Of the file of a new store: what the system does for a page that is written is the same for small
// and for large ones. A store keeps the size that it was made with.
enum { STORE_PAGE_BYTES = 16 << 10 };

struct store;
struct arena;

// Opens a store, made where it is absent and `create`. A file that is no store, or of a newer
// version, is refused with its path; so is a link, which no store of this module follows. A file of
// an earlier version becomes one of this version.
tapml_status store_open(const char *path, int create, struct store **out_store) STATUS_USED;

// The same with `create`, in pages of a size of one's own: a power of two from 512 to 65536.
tapml_status store_make(const char *path, int page_bytes, struct store **out_store) STATUS_USED;

// Opens a store to look at it, while a host works on it or after. Nothing is written or made, in
// the file and beside it, so its folder may be read-only; nothing waits. One of an earlier version
// reads as one of this version (store/migrate.h).
tapml_status store_open_to_read(const char *path, struct store **out_store) STATUS_USED;

// The same of a damaged one: pages of `loan` are read instead of its own (store/salvage).
struct pages_loan;
tapml_status store_open_spoilt(const char *path,
                               const struct pages_loan *loan,
                               struct store **out_store) STATUS_USED;
void store_close(struct store *store);
const char *store_path(const struct store *store);

// Facts of the run by name: "model.hash", "source", "seed". NULL where absent; the text lives until
// the next call.
tapml_status store_set_fact(struct store *store, const char *name, const char *value) STATUS_USED;
const char *store_fact(struct store *store, const char *name);

// The id of the run that this connection writes for, which the rows name that it writes: 32
// hexadecimal digits. Noted in table `run` when it is first asked for, so in the transaction of the
// first row that names it. Lives until the store is closed or rolled back.
tapml_status store_run(struct store *store, const char **out_id) STATUS_USED;

// A transaction: what is not committed is as if it had never been written. Committing fails, as
// `mapping_check` does, once a mapped file was cut: its zeros are not to be kept.
tapml_status store_begin(struct store *store) STATUS_USED;
tapml_status store_commit(struct store *store) STATUS_USED;

// All that is read until `store_rollback` is as it was at one moment.
tapml_status store_begin_to_read(struct store *store) STATUS_USED;
void store_rollback(struct store *store);

// Notes the name, type and key of a weight, whose dense bytes are hashed where the name is new to
// the store. TAPML_INVALID where the store knows it with another type or size.
tapml_status store_add_weight(struct store *store,
                              const char *name,
                              uint32_t dtype,
                              const void *data,
                              uint64_t bytes) STATUS_USED;

// Puts the bytes of a weight beside its name: what makes a store a bundle. TAPML_NOT_FOUND where
// the store does not know the name, TAPML_INVALID where its bytes are others.
tapml_status store_inline_weight(struct store *store,
                                 const char *name,
                                 const void *data,
                                 uint64_t bytes) STATUS_USED;

// Adds a case with its contents, weights that are references excepted. A case of the same instance,
// prompt, step and part is replaced, with its results.
tapml_status store_add_case(struct store *store, const struct carved_case *item) STATUS_USED;

// Kinds of values that are not finite.
enum { STORE_NAN = 1, STORE_PLUS_INFINITY = 2, STORE_MINUS_INFINITY = 4 };
enum { STORE_OUTPUTS_MAX = 4 };

// One line of a call that was not kept, or was: statistics of each output. A call of the same
// instance, prompt, step and part is replaced; once kept it stays marked so.
struct store_call {
    const char *instance;
    struct hash prompt;
    int64_t step;
    int64_t part; // As of a case.
    const char *phase;
    const char *shape_class;
    uint64_t time_ns;
    int is_kept;
    uint32_t output_count;
    struct store_statistics {
        const char *param;
        double least, largest; // Magnitudes of finite values that are not 0.
        double mean_square;
        uint64_t non_finite;
        uint32_t non_finite_kinds; // STORE_NAN ...
        uint64_t count;
    } outputs[STORE_OUTPUTS_MAX];
};
tapml_status store_add_call(struct store *store, const struct store_call *call) STATUS_USED;

// A prompt that was carved to its end.
struct store_prompt {
    struct hash hash; // Of all that was fed: its id.
    int64_t index;    // In the prompts file.
    const char *text;
    const int32_t *ids;
    int64_t id_count;
    const int32_t *greedy; // What the source chose.
    int64_t greedy_count;
};
tapml_status store_add_prompt(struct store *store, const struct store_prompt *prompt) STATUS_USED;
int store_has_prompt(struct store *store, struct hash prompt);

// Where a prompt that was carved to its end stands in the prompts file; -1: it was not.
int64_t store_prompt_index(struct store *store, struct hash prompt);

// The greedy ids of a carved prompt, freed by alloc_free. TAPML_NOT_FOUND where it was not carved.
tapml_status store_greedy(struct store *store,
                          struct hash prompt,
                          int32_t **out_ids,
                          int64_t *out_count) STATUS_USED;

// Ids of all cases, in the order of their prompts and calls. Freed by alloc_free.
tapml_status store_case_ids(struct store *store, int64_t **out_ids, size_t *out_count) STATUS_USED;

// A case with its contents in `arena`; weights have `before` NULL and their name in `origin`,
// unless the store holds their bytes (a bundle). A damaged row is TAPML_INVALID with its id.
tapml_status store_load_case(struct store *store,
                             int64_t id,
                             struct arena *arena,
                             struct carved_case *out_case) STATUS_USED;

// Calls `visit` for each call line, in the order in which they were added, with its outputs by
// name.
typedef void (*store_visit_call_fn)(void *user, const struct store_call *call);
tapml_status
store_visit_calls(struct store *store, store_visit_call_fn visit, void *user) STATUS_USED;

// The connection, for modules of this layer and above that have tables of their own.
sqlite3 *store_connection(struct store *store);

// Prepares a statement once and keeps it; `sql` is a literal. The statement is reset and its
// bindings cleared. Errors name the store.
tapml_status
store_statement(struct store *store, const char *sql, sqlite3_stmt **out_statement) STATUS_USED;

// Says what SQLite said: a full disk is named as such.
tapml_status store_fail(struct store *store, int code, const char *doing);
