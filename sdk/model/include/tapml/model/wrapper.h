// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Wrappers: models of several kinds of input, whose language model has a section of the config of
// its own, and tensors that often carry a prefix. The text part runs as its own type; the other
// parts and their tensors are passed over.
#ifndef TAPML_MODEL_WRAPPER_H
#define TAPML_MODEL_WRAPPER_H

#include <tapml/model/root.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MODEL_WRAPPER_TEXTS_MAX = 8, MODEL_WRAPPER_KEYS_MAX = 32 };

// The description of a struct model_architecture with the next two functions.
struct model_wrapper {
    const char *section; // Where the text part's config is: "/text_config".

    // Whether a config may lack the section: then the keys of the text part, which is the first of
    // `texts`, stand outside.
    int may_lack_section;

    // The part whose rows tokens of the text stand for, where there is a section. With `component`
    // NULL there is none.
    struct {
        const char *component; // The architecture of the part's graph,
        const char *output;    // and its output [rows, width of the text].
        const char *token;     // Keys of the id of the tokens, with "|" between them,
        int64_t usual_token;   // and the id where the config has none.
    } part;

    // What the text part can be, by "model_type" in the section; the first where that is absent.
    // `class_name` is not looked at.
    struct model_architecture texts[MODEL_WRAPPER_TEXTS_MAX];
    const char *shared[MODEL_WRAPPER_KEYS_MAX]; // Keys that stand outside of the section, or in it.
    const char *ignored[MODEL_WRAPPER_KEYS_MAX]; // Keys and sections of the other parts.
};

void model_wrapper_build(struct model_context *context, const void *description);
void model_wrapper_fill(struct model_context *context,
                        const void *description,
                        const struct model_fill *fill);

// Finds out which of the usual prefixes the checkpoint has, or leaves out, by the embedding `embed`
// without ".weight" [rows, width], and renames all tensors accordingly.
void model_find_names(struct model_context *context,
                      const char *embed,
                      int64_t rows,
                      int64_t width);

// x [T, width], an embedding, with the rows of the context's part at the tokens that stand for
// them; x itself without a part, and in a host that knows none. Its inputs get the name of the
// part's output.
tapml_graph_value model_stand_in(struct model_context *context, tapml_graph_value x, int64_t width);

#ifdef __cplusplus
}
#endif

#endif
