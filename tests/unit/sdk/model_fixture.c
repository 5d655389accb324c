// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model_fixture.h"

#include "base/alloc.h"
#include "graph/builder.h"
#include "graph/part.h"
#include "model/config.h"
#include "model/safetensors.h"
#include "model/weights.h"
#include "schema/catalogue.h"

#include <tapml/ops.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model_fixture {
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
                 {TAPML_HOST_GRAPH, builder_table()},
                 {TAPML_HOST_PARTS, part_table()}};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strcmp(known[i].id, id) == 0) {
            return known[i].table;
        }
    }
    return NULL;
}

static void open_folder(struct model_fixture *fixture, const char *folder)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s", getenv("TAPML_TEST_DATA"), folder);
    model_fixture_ok(config_open(path, &fixture->config));
    model_fixture_ok(safetensors_open(path, &fixture->checkpoint));
}

#define POINT(name_, NAME_) &tapml_##name_,

struct model_fixture *model_fixture_open(const char *folder, const char *config_text)
{
    static const tapml_op *const ops[] = {TAPML_OPS_EACH(POINT)};
    struct model_fixture *fixture = alloc_new(sizeof(*fixture));

    cr_assert_not_null(fixture);
    fixture->host.hdr = (tapml_hdr)TAPML_HDR(tapml_host);
    fixture->host.interface_of = interface_of;
    if (folder != NULL) {
        open_folder(fixture, folder);
    } else {
        model_fixture_ok(config_parse("config.json", config_text, &fixture->config));
    }
    model_fixture_ok(weights_create(fixture->checkpoint, &fixture->weights));
    model_fixture_ok(catalogue_create(&fixture->catalogue));
    for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
        model_fixture_ok(catalogue_add(fixture->catalogue, ops[i], "the host", NULL));
    }
    model_fixture_ok(
        builder_create(fixture->catalogue, weights_object(fixture->weights), &fixture->builder));
    return fixture;
}

void model_fixture_close(struct model_fixture *fixture)
{
    graph_destroy(fixture->graph);
    builder_destroy(fixture->builder);
    catalogue_destroy(fixture->catalogue);
    weights_destroy(fixture->weights);
    checkpoint_close(fixture->checkpoint);
    config_close(fixture->config);
    alloc_free(fixture);
}

const tapml_host *model_fixture_host(const struct model_fixture *fixture)
{
    return &fixture->host;
}

tapml_object *model_fixture_config(const struct model_fixture *fixture)
{
    return config_object(fixture->config);
}

tapml_object *model_fixture_weights(const struct model_fixture *fixture)
{
    return weights_object(fixture->weights);
}

tapml_object *model_fixture_graph(const struct model_fixture *fixture)
{
    return builder_object(fixture->builder);
}

struct model_context model_fixture_context(const struct model_fixture *fixture)
{
    struct model_context context;

    model_context_init(&context, &fixture->host, NULL, model_fixture_config(fixture));
    context.weights = model_fixture_weights(fixture);
    context.graph = model_fixture_graph(fixture);
    return context;
}

tapml_status model_fixture_check_config(const struct model_fixture *fixture)
{
    return config_check(fixture->config, 0);
}

const struct graph *model_fixture_finish(struct model_fixture *fixture)
{
    model_fixture_ok(builder_finish(fixture->builder, &fixture->graph));
    return fixture->graph;
}

void model_fixture_expect(tapml_status status, tapml_status expected, const char *piece)
{
    cr_assert_eq(status, expected, "status %d, message '%s'", status, status_message());
    cr_assert_not_null(strstr(status_message(), piece), "'%s' is not in '%s'", piece,
                       status_message());
}

void model_fixture_ok(tapml_status status)
{
    cr_assert_eq(status, TAPML_OK, "%s", status_message());
}
