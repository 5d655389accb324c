// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "stand.h"

#include "base/alloc.h"
#include "graph/builder.h"
#include "model/config.h"
#include "model/weights.h"
#include "schema/catalogue.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stand {
    tapml_host host;
    struct config *config;
    struct checkpoint *checkpoint;
    struct weights *weights;
    struct catalogue *catalogue;
    struct builder *builder;
    struct graph *graph;
};

static tapml_status fail(tapml_call *call,
                         tapml_status code,
                         int64_t native_code,
                         const char *domain,
                         const char *message,
                         size_t message_bytes)
{
    return status_fail(code, "%.*s", (int)message_bytes, message);
}

static void *allocate(const tapml_host *host, size_t size, size_t align)
{
    return alloc_aligned(size, align);
}

static void give_back(const tapml_host *host, void *memory, size_t size, size_t align)
{
    alloc_free(memory);
}

static const void *interface_of(const tapml_host *host, const char *id)
{
    static const tapml_host_core core = {
        .hdr = TAPML_HDR(tapml_host_core), .fail = fail, .alloc = allocate, .free = give_back};
    const struct {
        const char *id;
        const void *table;
    } known[] = {{TAPML_HOST_CORE, &core},
                 {TAPML_HOST_CONFIG, config_table()},
                 {TAPML_HOST_WEIGHTS, weights_table()},
                 {TAPML_HOST_GRAPH, builder_table()}};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(known[i].id, id) == 0) {
            return known[i].table;
        }
    }
    return NULL;
}

static void open_folder(struct stand *stand, const char *folder)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s", getenv("TAPML_TEST_DATA"), folder);
    stand_ok(config_open(path, &stand->config));
    stand_ok(checkpoint_open(path, &stand->checkpoint));
}

struct stand *stand_open(const char *folder, const char *config_text)
{
    const tapml_op *const ops[] = {
        &tapml_add,           &tapml_attention,     &tapml_clip,
        &tapml_concat,        &tapml_conv1d_causal, &tapml_copy,
        &tapml_embed,         &tapml_exp,           &tapml_gather_rows,
        &tapml_gelu,          &tapml_gelu_tanh,     &tapml_l2_norm,
        &tapml_layer_norm,    &tapml_linear,        &tapml_linear_experts,
        &tapml_linear_scan,   &tapml_mul,           &tapml_relu,
        &tapml_rms_norm,      &tapml_rope,          &tapml_route_groups,
        &tapml_route_sigmoid, &tapml_route_softmax, &tapml_route_topk,
        &tapml_scale,         &tapml_sigmoid,       &tapml_silu,
        &tapml_softcap,       &tapml_softplus,      &tapml_state_append,
        &tapml_sub,           &tapml_sum,           &tapml_tanh,
        &tapml_weighted_sum};
    struct stand *stand = alloc_new(sizeof(*stand));

    cr_assert_not_null(stand);
    stand->host.hdr = (tapml_hdr)TAPML_HDR(tapml_host);
    stand->host.interface_of = interface_of;
    if (folder != NULL) {
        open_folder(stand, folder);
    } else {
        stand_ok(config_parse("config.json", config_text, &stand->config));
    }
    stand_ok(weights_create(stand->checkpoint, &stand->weights));
    stand_ok(catalogue_create(&stand->catalogue));
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        stand_ok(catalogue_add(stand->catalogue, ops[i], "the host", NULL));
    }
    stand_ok(builder_create(stand->catalogue, weights_object(stand->weights), &stand->builder));
    return stand;
}

void stand_close(struct stand *stand)
{
    graph_destroy(stand->graph);
    builder_destroy(stand->builder);
    catalogue_destroy(stand->catalogue);
    weights_destroy(stand->weights);
    checkpoint_close(stand->checkpoint);
    config_close(stand->config);
    alloc_free(stand);
}

const tapml_host *stand_host(const struct stand *stand)
{
    return &stand->host;
}

tapml_object *stand_config(const struct stand *stand)
{
    return config_object(stand->config);
}

tapml_object *stand_weights(const struct stand *stand)
{
    return weights_object(stand->weights);
}

tapml_object *stand_graph(const struct stand *stand)
{
    return builder_object(stand->builder);
}

struct model_context stand_context(const struct stand *stand)
{
    struct model_context context;

    model_context_init(&context, &stand->host, NULL, stand_config(stand));
    context.weights = stand_weights(stand);
    context.graph = stand_graph(stand);
    return context;
}

tapml_status stand_check_config(const struct stand *stand)
{
    return config_check(stand->config, 0);
}

const struct graph *stand_finish(struct stand *stand)
{
    stand_ok(builder_finish(stand->builder, &stand->graph));
    return stand->graph;
}

void stand_expect(tapml_status status, tapml_status expected, const char *piece)
{
    cr_assert_eq(status, expected, "status %d, message '%s'", status, status_message());
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
}

void stand_ok(tapml_status status)
{
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
}
