// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the functions of sdk/model work on: the host's tables, the objects behind them, and the
// first failure.
//
// A failure stays: from then on every function does nothing, and those that give a value give 0. So
// an architecture reads like its paper, and looks at `status` once, at its end.
#ifndef TAPML_MODEL_CONTEXT_H
#define TAPML_MODEL_CONTEXT_H

#include <tapml/host.h>
#include <tapml/model.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a checkpoint calls what a description calls otherwise: names that begin with `from` begin
// with `to`. With `from` NULL they are the same.
struct model_renaming {
    const char *from, *to;
};

// Tokens that stand for rows of another part of the model, such as those of an image.
struct model_stand_in {
    const char *component; // The architecture of that part's graph; NULL: there is none.
    const char *output;    // Its output [rows, width of the embedding].
    int64_t token;         // The id of the tokens.
};

struct model_context {
    const tapml_host_core *core;
    const tapml_host_config *config_table;
    const tapml_host_weights *weights_table;
    const tapml_host_graph *graph_table;
    const tapml_host_parts *parts_table; // NULL in hosts older than minor 4.
    tapml_object *config;
    tapml_object *weights; // NULL but in `build`; so is the next.
    tapml_object *graph;
    tapml_call *call;
    int64_t layer;  // What "{i}" stands for in the names of tensors.
    int64_t expert; // What "{e}" stands for.
    int is_whole;   // A text is one call, as of an encoder: the position of all calls is 0.
    struct model_renaming renaming; // Of tensors.
    struct model_stand_in stand_in; // Of a wrapper's text.
    tapml_status status;
};

// Host interfaces that a component on sdk/model needs, ended by NULL: for `host_needs`.
extern const char *const model_host_needs[];

// Without `weights` and `graph`, which are set besides. Nothing has to be released.
void model_context_init(struct model_context *context,
                        const tapml_host *host,
                        tapml_call *call,
                        tapml_object *config);

// Notes a failure with its sentence, made as printf does. Gives `code` back; the first one stays.
tapml_status model_fail(struct model_context *context, tapml_status code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

// Takes the status of a call into the host, whose message is the host's.
void model_note(struct model_context *context, tapml_status status);

// What the host asks an architecture to write: rows first .. first + count - 1 of the input `name`,
// for tokens of a text that has `length` by then.
struct model_fill {
    const char *name;
    int64_t first, count, length;
    void *target;
    uint64_t target_bytes;
};

// The numbers first .. first + count - 1 as i32, of a model that knows `rows` positions.
void model_fill_positions(struct model_context *context,
                          const struct model_fill *fill,
                          int64_t rows);

// Fails: the architecture has no such input.
void model_fill_nothing(struct model_context *context, const struct model_fill *fill);

// A text of bounded length: names of tensors and scopes, JSON pointers.
enum { MODEL_NAME_SIZE = 256 };

struct model_name {
    char text[MODEL_NAME_SIZE];
};

// The first of several keys that the config has, "/n_embd|/hidden_size", or the first of all. Each
// of them counts as read. NULL gives "".
struct model_name model_config_key(struct model_context *context, const char *keys);

// A whole number from 1 to `most` at a JSON pointer. Where the config has none it is `fallback`,
// and a failure if that is 0. After a failure, this one's own too, it is 0: a loop over it ends,
// and what divides by it has to look at `status` before.
int64_t model_config_count(struct model_context *context,
                           const char *pointer,
                           int64_t fallback,
                           int64_t most);

// A number at a JSON pointer. A failure where the config has none, or one that is not above `least`
// or that f32, in which it is computed with, has not as a normal number: its inverse is finite.
double model_config_number(struct model_context *context, const char *pointer, double least);

// A number from `least` to `most` at a JSON pointer; `fallback` where the config has none.
double model_config_between(
    struct model_context *context, const char *pointer, double fallback, double least, double most);

// As model_config_between, for what a norm adds to a variance: at most 1, and above 0, so that a
// row of zeros is not divided by 0.
double model_config_eps(struct model_context *context, const char *pointer, double fallback);

// Fails: `word`, which stands at the JSON pointer `pointer`, is none of `known`, which NULL ends.
// The sentence names the key, the word and all that are known.
void model_fail_choice(struct model_context *context,
                       const char *pointer,
                       const char *word,
                       const char *const *known);

// The word at a JSON pointer, `fallback` where the config has none. A word that is none of `known`,
// which NULL ends, is a failure as of model_fail_choice, and gives `fallback`.
const char *model_config_choice(struct model_context *context,
                                const char *pointer,
                                const char *fallback,
                                const char *const *known);

// `pattern` with every "{i}" replaced by `number`, "{i+1}" by the next one, every "{e}" by the
// context's `expert`, and `ending` behind it. A failure where it does not fit. "" after a failure.
struct model_name
model_name(struct model_context *context, const char *pattern, int64_t number, const char *ending);

#ifdef __cplusplus
}
#endif

#endif
