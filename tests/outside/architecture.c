// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An architecture in one file: rows of a table, times a number of the config (by an op of our own),
// and a head. It has no attention, and so no state.
#include "architecture-note.h"

#include <tapml/host.h>
#include <tapml/model.h>
#include <tapml/plugin.h>

#include <string.h>

struct root {
    tapml_object base;
    const tapml_host *host;
};

static const void *service(tapml_object *model, const char *id)
{
    const tapml_host *host = ((const struct root *)model)->host;
    return host->interface_of(host, id);
}

static tapml_status
match(tapml_object *model, tapml_call *call, tapml_object *config, uint32_t *out_score)
{
    const tapml_host_config *c = service(model, TAPML_HOST_CONFIG);
    *out_score = strcmp(c->string(config, "/model_type", ""), "outside_demo") == 0 ? 100 : 0;
    return TAPML_OK;
}

// What `build` carries along. After the first failure nothing more is asked for.
struct build {
    const tapml_host_graph *g;
    tapml_object *graph;
    tapml_call *call;
    tapml_status status;
};

static tapml_graph_value input(struct build *build, const char *name, uint32_t from, int64_t extent)
{
    tapml_graph_value value = 0;
    if (build->status == TAPML_OK) {
        build->status = build->g->input(build->graph, build->call, name, from, TAPML_I32, &extent,
                                        1, NULL, &value);
    }
    return value;
}

static tapml_graph_value weight(struct build *build, const char *name, int64_t rows, int64_t width)
{
    const int64_t shape[] = {rows, width};
    tapml_graph_value value = 0;
    if (build->status == TAPML_OK) {
        build->status = build->g->weight(build->graph, build->call, name, shape, 2, NULL, &value);
    }
    return value;
}

// An op whose output is its last argument.
static tapml_graph_value
op(struct build *build, const char *name, const char *op_name, tapml_value *args, uint32_t count)
{
    args[count - 1] = (tapml_value){.kind = TAPML_P_TENSOR_OUT};
    if (build->status == TAPML_OK) {
        build->status = build->g->op(build->graph, build->call, name, op_name, 1, args, count);
    }
    return args[count - 1].u.id;
}

static tapml_value id(tapml_graph_value value)
{
    return (tapml_value){.kind = TAPML_V_ID, .u.id = value};
}

static tapml_status build(tapml_object *model,
                          tapml_call *call,
                          tapml_object *config,
                          tapml_object *weights,
                          tapml_object *graph)
{
    const tapml_host_config *c = service(model, TAPML_HOST_CONFIG);
    struct build b = {.g = service(model, TAPML_HOST_GRAPH), .graph = graph, .call = call};
    const int64_t vocabulary = c->i64(config, "/vocab_size", 0);
    const int64_t width = c->i64(config, "/hidden_size", 0);
    const double factor = c->f64(config, "/embedding_scale", 1.0);

    const tapml_graph_value ids = input(&b, "input_ids", TAPML_FROM_USER, TAPML_SYM_TOKENS);
    const tapml_graph_value rows = input(&b, "rows", TAPML_FROM_HOST, TAPML_SYM_ROWS);
    tapml_value table[4] = {
        id(weight(&b, "embed.weight", vocabulary, width)), id(ids), {.kind = TAPML_P_I64}};
    tapml_value scale[3] = {id(op(&b, "embed", "tapml.embed", table, 4)),
                            {.kind = TAPML_P_F64, .u.d = factor}};
    const tapml_graph_value hidden = op(&b, "scale", "org.example.scale", scale, 3);
    tapml_value gather[3] = {id(hidden), id(rows)};
    tapml_value head[5] = {id(op(&b, "rows", "tapml.gather_rows", gather, 3)),
                           id(weight(&b, "head.weight", vocabulary, width)),
                           {.kind = TAPML_V_NONE},
                           {.kind = TAPML_P_I64}};
    const tapml_graph_value logits = op(&b, "head", "tapml.linear", head, 5);
    if (b.status == TAPML_OK) {
        b.status = b.g->output(graph, call, "hidden.0", hidden);
    }
    return b.status == TAPML_OK ? b.g->output(graph, call, "logits", logits) : b.status;
}

static const tapml_model table = {.hdr = TAPML_HDR(tapml_model), .match = match, .build = build};

static void release(tapml_object *object)
{
    const tapml_host *host = ((const struct root *)object)->host;
    const tapml_host_core *core = service(object, TAPML_HOST_CORE);
    core->free(host, object, sizeof(struct root), sizeof(void *));
}

static const void *interface_of(tapml_object *object, const char *name)
{
    return strcmp(name, TAPML_KIND_MODEL) == 0 ? &table : NULL;
}

static const tapml_object_vt root_vt = {
    .hdr = TAPML_HDR(tapml_object_vt), .release = release, .interface_of = interface_of};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    const tapml_host_core *core = host->interface_of(host, TAPML_HOST_CORE);
    struct root *root = core->alloc(host, sizeof(*root), sizeof(void *));
    if (root == NULL) {
        return core->fail(call, TAPML_NO_MEMORY, 0, "outside", "out of memory", 13);
    }
    *root = (struct root){.base = {&root_vt}, .host = host};
    *out_root = &root->base;
    return TAPML_OK;
}

static const tapml_component component = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_MODEL,
    .id = "outside_demo",
    .title = "Embedding, scale, head",
    .create = create,
};
TAPML_PLUGIN("org.example.outside-architecture", "1.0.0", "Example", "Apache-2.0", &component)
