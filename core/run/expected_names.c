// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/expected_names.h"

#include "run/op_checks.h"

#include <stdio.h>
#include <string.h>

const struct expected_given expected_names_givens[EXPECTED_GIVENS] = {
    {"token_type_ids", "_tt"}, {"attention_mask", "_masked"}};

int expected_names_end(const struct graph *graph,
                       const char *name,
                       const char *ending,
                       char output[static 64])
{
    const size_t length = strlen(name), rest = strlen(ending);

    if (length < rest || length - rest >= 64 || strcmp(name + length - rest, ending) != 0) {
        return 0;
    }
    (void)snprintf(output, 64, "%.*s", (int)(length - rest), name);
    return graph_find_output(graph, output) != GRAPH_NONE;
}

// Whether `name` is what an encoder is given, or an output of that.
static int is_of_given(const struct expected_names *names, const char *name)
{
    char output[64];

    for (size_t i = 0; i < EXPECTED_GIVENS && names->is_encoder; i++) {
        if (checkpoint_find(names->file, expected_names_givens[i].input) != NULL &&
            (strcmp(name, expected_names_givens[i].input) == 0 ||
             expected_names_end(names->graph, name, expected_names_givens[i].ending, output))) {
            return 1;
        }
    }
    return 0;
}

static tapml_status fail_name(const struct expected_names *names, const char *name)
{
    const struct graph *graph = names->graph;

    for (uint32_t i = 0; i < graph->part_count; i++) {
        if (strcmp(graph->parts[i].output, name) == 0) {
            return status_fail(TAPML_INVALID,
                               "'%s/expected.safetensors' has '%s', rows for tokens %lld of the "
                               "prompt, which has none",
                               names->folder, name, (long long)graph->parts[i].token);
        }
    }
    return status_fail(TAPML_INVALID,
                       "'%s/expected.safetensors' has '%s', which the model does not give",
                       names->folder, name);
}

// Everything in the file must be something that is compared, but of a part alone.
tapml_status expected_names_check(const struct expected_names *names)
{
    static const char *const known[] = {"input_ids", "greedy_ids", "prefill_logits",
                                        "decode_logits", EXPECTED_EMBEDDING};

    if (!names->is_pooled && checkpoint_find(names->file, EXPECTED_EMBEDDING) != NULL) {
        return status_fail(TAPML_INVALID,
                           "'%s/expected.safetensors' has '%s': give --pool as it was computed",
                           names->folder, EXPECTED_EMBEDDING);
    }

    for (size_t i = 0; i < checkpoint_count(names->file); i++) {
        const char *name = checkpoint_at(names->file, i)->name;
        int found = graph_find_output(names->graph, name) != GRAPH_NONE ||
                    is_of_given(names, name) || op_checks_is_entry(name) ||
                    model_parts_have(names->parts, name) || names->is_part;

        for (size_t k = 0; k < sizeof(known) / sizeof(*known) && !found; k++) {
            found = strcmp(name, known[k]) == 0;
        }
        if (!found) {
            return fail_name(names, name);
        }
    }
    return TAPML_OK;
}
