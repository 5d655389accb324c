// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Two architectures of a model of one op, or of two where the config has a factor, so that scores,
// ties and unread keys can be tried.
#include <tapml/host.h>
#include <tapml/model.h>
#include <tapml/plugin.h>

#include <string.h>

#include ZOO_NOTE

struct root {
    tapml_object base;
    const tapml_host *host;
    uint32_t known; // The score for "zoo"; any gets 50 for "zoo_tie".
};

static const void *interface(tapml_object *object, const char *id)
{
    const struct root *root = (const struct root *)object;
    return root->host->interface_of(root->host, id);
}

static tapml_status
match(tapml_object *model, tapml_call *call, tapml_object *config, uint32_t *out_score)
{
    const tapml_host_config *c = interface(model, TAPML_HOST_CONFIG);
    const char *type = c->string(config, "/model_type", "");
    if (((struct root *)model)->known == 0) {
        (void)c->has(config, "/read_by_other_only");
    }
    *out_score = strcmp(type, "zoo") == 0       ? ((struct root *)model)->known
                 : strcmp(type, "zoo_tie") == 0 ? 50
                                                : 0;
    return TAPML_OK;
}

static tapml_status build(tapml_object *model,
                          tapml_call *call,
                          tapml_object *config,
                          tapml_object *weights,
                          tapml_object *graph)
{
    const tapml_host_config *c = interface(model, TAPML_HOST_CONFIG);
    const tapml_host_graph *g = interface(model, TAPML_HOST_GRAPH);
    const int64_t shape[] = {c->i64(config, "/vocab_size", 8), c->i64(config, "/hidden_size", 4)};
    const int64_t tokens = TAPML_SYM_TOKENS;
    tapml_graph_value ids = 0;
    tapml_graph_value table = 0;
    tapml_status status =
        g->input(graph, call, "input_ids", TAPML_FROM_USER, TAPML_I32, &tokens, 1, NULL, &ids);
    if (status == TAPML_OK) {
        status = g->weight(graph, call, "embed.weight", shape, 2, NULL, &table);
    }
    tapml_value args[] = {
        {.kind = TAPML_V_ID, .u.id = table},
        {.kind = TAPML_V_ID, .u.id = ids},
        {.kind = TAPML_P_I64},
        {.kind = TAPML_P_TENSOR_OUT},
    };
    if (status == TAPML_OK) {
        status = g->op(graph, call, "embed", "tapml.embed", 1, args, 4);
    }
    const double factor = c->f64(config, "/factor", 0.0);
    tapml_value scale[] = {
        {.kind = TAPML_V_ID, .u.id = args[3].u.id},
        {.kind = TAPML_P_F64, .u.d = factor},
        {.kind = TAPML_P_TENSOR_OUT},
    };
    if (status == TAPML_OK && factor != 0.0) {
        status = g->op(graph, call, "scale", "org.example.scale", 1, scale, 3);
    }
    const uint64_t last = factor != 0.0 ? scale[2].u.id : args[3].u.id;
    return status == TAPML_OK ? g->output(graph, call, "last_hidden_state", last) : status;
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
    for (int64_t i = 0; i < count; ++i) {
        ((float *)target)[i] = (float)(first + i + length);
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
    root->known = strcmp(component->id, "zoo") == 0 ? 100 : 0;
    *out_root = &root->base;
    return TAPML_OK;
}

static const tapml_component zoo = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_MODEL,
    .id = "zoo",
    .title = "Knows its own name",
    .create = create,
};
static const tapml_component other = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_MODEL,
    .id = "zoo-other",
    .title = "Knows the tie only",
    .create = create,
};
TAPML_PLUGIN("org.example.architecture", "1.0.0", "example", "Apache-2.0", &zoo, &other)
