// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/part.h"

#include "graph/builder.h"
#include "graph/source.h"

#include <stdio.h>
#include <string.h>

enum { WIDTH_MAX = 1 << 24 };

static int is_name(const char *text)
{
    return text != NULL && text[0] != '\0' && strlen(text) < DRAFT_NAME_MAX - sizeof(".others");
}

static tapml_status check(const struct draft *draft, const tapml_part *part)
{
    if (!TAPML_HAS(tapml_part, part, token)) {
        return status_fail(TAPML_ABI_MISMATCH, "a part is described in fewer bytes than expected");
    }
    if (!is_name(part->component) || !is_name(part->output)) {
        return status_fail(TAPML_INVALID,
                           "a part has a component and an output, with names of at "
                           "most %d bytes",
                           DRAFT_NAME_MAX);
    }
    if (part->width < 1 || part->width > WIDTH_MAX) {
        return status_fail(TAPML_INVALID, "rows of %lld values, expected 1 to %d",
                           (long long)part->width, WIDTH_MAX);
    }
    if (part->token < 0 || part->token > INT32_MAX) {
        return status_fail(TAPML_INVALID, "%lld is the id of no token", (long long)part->token);
    }
    for (size_t i = 0; i < draft->part_count; i++) {
        if (draft->parts[i].token == part->token) {
            return status_fail(TAPML_INVALID, "tokens %lld stand for '%s' already",
                               (long long)part->token, draft->parts[i].output);
        }
    }
    return TAPML_OK;
}

// An input of f32, one row for each token. A plugin makes none from a part by itself, so that the
// origin is set behind the check of it.
static tapml_status
add_input(struct draft *draft, const char *name, const struct view *shape, uint32_t *out_index)
{
    const struct graph_value value = {
        .kind = GRAPH_INPUT, .name = name, .dtype = TAPML_F32, .from = TAPML_FROM_FILL};

    TAPML_TRY(source_add(draft, NULL, &value, shape, out_index));
    draft->values[*out_index].from = TAPML_FROM_PART;
    return TAPML_OK;
}

static tapml_status add(struct draft *draft, const tapml_part *part, struct graph_part *out_part)
{
    const struct affine tokens = {0, {[AFFINE_TOKENS] = 1}};
    const struct view rows = {.rank = 2, .shape = {tokens, affine_constant(part->width)}};
    const struct view others = {.rank = 1, .shape = {tokens}};
    char name[DRAFT_NAME_MAX + 1];

    *out_part = (struct graph_part){.component = part->component,
                                    .output = part->output,
                                    .width = part->width,
                                    .token = part->token};
    (void)snprintf(name, sizeof(name), "%s.others", part->output);
    TAPML_TRY(add_input(draft, part->output, &rows, &out_part->rows));
    TAPML_TRY(add_input(draft, name, &others, &out_part->others));
    return draft_add_part(draft, out_part);
}

static tapml_status rows(tapml_object *graph,
                         tapml_call *call,
                         const tapml_part *part,
                         tapml_graph_value *out_rows,
                         tapml_graph_value *out_others)
{
    struct draft *draft = NULL;
    struct graph_part added;

    TAPML_TRY(builder_draft(graph, &draft));
    if (out_rows == NULL || out_others == NULL) {
        return status_fail(TAPML_INVALID, "there is no place for the inputs of a part");
    }
    TAPML_TRY(check(draft, part));
    const tapml_status status = add(draft, part, &added);

    if (status != TAPML_OK) {
        return status_explain(status, "part '%.99s'", part->component);
    }
    *out_rows = added.rows + UINT64_C(1);
    *out_others = added.others + UINT64_C(1);
    return TAPML_OK;
}

const tapml_host_parts *part_table(void)
{
    static const tapml_host_parts table = {.hdr = TAPML_HDR(tapml_host_parts), .rows = rows};

    return &table;
}
