// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A small architecture, a table of tokens and an input that is added to it, which breaks the one
// rule whose SIN_NAME it is compiled with; without one it keeps them all. With 'factor' in its
// configuration the sum goes through an op of another plugin, org.example.scale.
#include <tapml/host.h>
#include <tapml/model.h>
#include <tapml/plugin.h>

#include <stdio.h>
#include <string.h>

#include ZOO_NOTE

struct root {
    tapml_object base;
    const tapml_host *host;
};

static const void *interface(tapml_object *object, const char *id)
{
    const struct root *root = (const struct root *)object;
    return root->host->interface_of(root->host, id);
}

static tapml_status fail(tapml_object *model, tapml_call *call, const char *message)
{
    const tapml_host_core *core = interface(model, TAPML_HOST_CORE);
    return core->fail(call, TAPML_INVALID, 0, "zoo", message, strlen(message));
}

static tapml_status
match(tapml_object *model, tapml_call *call, tapml_object *config, uint32_t *out_score)
{
    const tapml_host_config *c = interface(model, TAPML_HOST_CONFIG);
    *out_score = strcmp(c->string(config, "/model_type", ""), "zoo_architect") == 0 ? 100 : 0;
#if defined(SIN_MATCHES_ALL)
    *out_score = 1;
#endif
    return TAPML_OK;
}

// What the configuration says of sizes.
struct sizes {
    int64_t table[2];
    int64_t groups; // That divide the width.
    double factor;  // 0: none.
};

static tapml_status
read_sizes(tapml_object *model, tapml_call *call, tapml_object *config, struct sizes *sizes)
{
    enum { MOST = 1 << 20 };
    const tapml_host_config *c = interface(model, TAPML_HOST_CONFIG);
    sizes->table[0] = c->i64(config, "/vocab_size", 8);
    sizes->table[1] = c->i64(config, "/hidden_size", 4);
    sizes->groups = c->i64(config, "/groups", 2);
    sizes->factor = c->f64(config, "/factor", 0);
#if !defined(SIN_DIVIDES_BLINDLY)
    if (sizes->groups < 1) {
        return fail(model, call, "'groups' is less than 1");
    }
#endif
    if (sizes->table[0] < 1 || sizes->table[0] > MOST || sizes->table[1] < 1 ||
        sizes->table[1] > MOST || sizes->table[1] % sizes->groups != 0) {
        return fail(model, call, "the sizes do not fit");
    }
    return TAPML_OK;
}

// The instance of the sum.
static const char *name_sum(tapml_object *model, tapml_object *weights)
{
    static char name[16] = "sum";
#if defined(SIN_COUNTS_GRAPHS)
    static int graphs;
    (void)snprintf(name, sizeof(name), "sum%d", ++graphs);
#elif defined(SIN_LOOKS_AT_FILES)
    const tapml_host_weights *w = interface(model, TAPML_HOST_WEIGHTS);
    (void)snprintf(name, sizeof(name), "sum%u", w->count(weights));
#endif
    return name;
}

// The sum, or what another plugin's op makes of it.
static tapml_status
finish(tapml_object *model, tapml_call *call, tapml_object *graph, uint64_t sum, double factor)
{
    const tapml_host_graph *g = interface(model, TAPML_HOST_GRAPH);
    tapml_value scale[] = {
        {.kind = TAPML_V_ID, .u.id = sum},
        {.kind = TAPML_P_F64, .u.d = factor},
        {.kind = TAPML_P_TENSOR_OUT},
    };
    const tapml_status status =
        factor != 0 ? g->op(graph, call, "scale", "org.example.scale", 1, scale, 3) : TAPML_OK;
    return status == TAPML_OK
               ? g->output(graph, call, "last_hidden_state", factor != 0 ? scale[2].u.id : sum)
               : status;
}

// What the graph computes with.
struct values {
    tapml_graph_value ids, table, places;
};

static tapml_status add(tapml_object *model,
                        tapml_call *call,
                        tapml_object *weights,
                        tapml_object *graph,
                        const struct values *values,
                        double factor)
{
    const tapml_host_graph *g = interface(model, TAPML_HOST_GRAPH);
    tapml_value embed[] = {
        {.kind = TAPML_V_ID, .u.id = values->table},
        {.kind = TAPML_V_ID, .u.id = values->ids},
        {.kind = TAPML_P_I64},
        {.kind = TAPML_P_TENSOR_OUT},
    };
    tapml_status status = g->op(graph, call, "embed", "tapml.embed", 1, embed, 4);
    tapml_value sum[] = {
        {.kind = TAPML_V_ID, .u.id = embed[3].u.id},
        {.kind = TAPML_V_ID, .u.id = values->places},
        {.kind = TAPML_P_TENSOR_OUT},
    };
    if (status == TAPML_OK) {
        status = g->op(graph, call, name_sum(model, weights), "tapml.add", 1, sum, 3);
    }
    return status == TAPML_OK ? finish(model, call, graph, sum[2].u.id, factor) : status;
}

static tapml_status build(tapml_object *model,
                          tapml_call *call,
                          tapml_object *config,
                          tapml_object *weights,
                          tapml_object *graph)
{
    const tapml_host_graph *g = interface(model, TAPML_HOST_GRAPH);
    const int64_t tokens = TAPML_SYM_TOKENS;
    struct values values = {0, 0, 0};
    struct sizes sizes;
    tapml_status status = read_sizes(model, call, config, &sizes);
#if defined(SIN_TAKES_ANY_SHAPE)
    const tapml_host_weights *w = interface(model, TAPML_HOST_WEIGHTS);
    const tapml_tensor expected = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 2, .shape = sizes.table};
    const tapml_tensor *found =
        status == TAPML_OK ? w->find(weights, "embed.weight", &expected) : NULL;
    sizes.table[0] = found != NULL ? found->shape[0] : sizes.table[0];
#endif
    const int64_t shape[] = {TAPML_SYM_TOKENS, sizes.table[1]};
    if (status == TAPML_OK) {
        status = g->input(graph, call, "input_ids", TAPML_FROM_USER, TAPML_I32, &tokens, 1, NULL,
                          &values.ids);
    }
    if (status == TAPML_OK) {
        status = g->input(graph, call, "places", TAPML_FROM_FILL, TAPML_F32, shape, 2, NULL,
                          &values.places);
    }
    if (status == TAPML_OK) {
        status = g->weight(graph, call, "embed.weight", sizes.table, 2, NULL, &values.table);
    }
    return status == TAPML_OK ? add(model, call, weights, graph, &values, sizes.factor) : status;
}

static tapml_status fill(tapml_object *model,
                         tapml_call *call,
                         tapml_object *config,
                         const char *input,
                         int64_t first,
                         int64_t count,
                         int64_t length,
                         void *target,
                         uint64_t target_bytes)
{
    const int64_t width = (int64_t)(target_bytes / sizeof(float)) / count;
#if defined(SIN_BEGINS_ANEW)
    first = 0;
#endif
    for (int64_t i = 0; i < count * width; ++i) {
        ((float *)target)[i] = (float)(first + i / width) / (float)length;
    }
    return TAPML_OK;
}

static const tapml_model table = {
    .hdr = TAPML_HDR(tapml_model), .match = match, .build = build, .fill = fill};

static void release(tapml_object *object)
{
    const struct root *root = (const struct root *)object;
    const tapml_host_core *core = root->host->interface_of(root->host, TAPML_HOST_CORE);
    core->free(root->host, object, sizeof(*root), sizeof(void *));
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_MODEL) == 0 ? &table : NULL;
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
        return core->fail(call, TAPML_NO_MEMORY, 0, "zoo", "out of memory", 13);
    }
    root->base.vt = &root_vt;
    root->host = host;
    *out_root = &root->base;
    return TAPML_OK;
}

static const tapml_component component = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_MODEL,
    .id = ZOO_COMPONENT,
    .title = "The zoo's " ZOO_NAME,
    .create = create,
};
TAPML_PLUGIN("org.example." ZOO_NAME, "1.0.0", "example", "Apache-2.0", &component)
