// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_architecture.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/json_file.h"
#include "base/text.h"
#include "graph/print.h"
#include "kit/kit_folder.h"
#include "kit/kit_model.h"

#include <tapml/model.h>

#include <jansson.h>
#include <string.h>

// What the host says where a plugin says nothing.
static const char NO_MESSAGE[] = "failed without a message";

enum { LIMIT_S = 300, TOKENS = 12, WEIGHTS_TRIED = 3 };

// Of what is tried again and again, as much as goes into this: some graphs have ten thousands of
// weights.
static const uint64_t ENOUGH_NS = UINT64_C(60000000000);

// -- Graphs ------------------------------------------------------------------------------------

// Builds a graph and prints it; the model stays open, unless `out_model` is NULL.
static int print_built(struct kit_model *model,
                       const char *folder,
                       struct kit_result *io_result,
                       struct text *out_text,
                       struct model **out_model)
{
    struct model *built = NULL;

    const tapml_status status = kit_model_build(model, model->config, folder, &built);

    if (status == TAPML_NOT_FOUND && folder != NULL) {
        kit_result_skip(io_result, "it reads tensors that are no weights of its graph: %s",
                        status_message());
    } else if (status != TAPML_OK) {
        kit_result_fail(io_result, "%s%s", folder != NULL ? "with weights of zeros: " : "",
                        status_message());
    }
    if (status != TAPML_OK) {
        return 0;
    }
    print_graph(model_graph(built), out_text);
    if (out_model != NULL) {
        *out_model = built;
    } else {
        model_close(built);
    }
    return text_status(out_text) == TAPML_OK;
}

// The first line that differs, for a message.
static void report_difference(
    const char *a, const char *b, const char *when, const char *name, struct kit_result *io_result)
{
    const char *line = a, *other = b;

    for (; *a != '\0' && *a == *b; a++, b++) {
        if (*a == '\n') {
            line = a + 1;
            other = b + 1;
        }
    }
    if (*a != *b) {
        kit_result_fail(io_result, "of '%.60s' it makes '%.*s', and %s '%.*s'", name,
                        (int)(strcspn(line, "\n") < 120 ? strcspn(line, "\n") : 120), line, when,
                        (int)(strcspn(other, "\n") < 120 ? strcspn(other, "\n") : 120), other);
    }
}

static void builds_are_alike(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_model model;
    struct text first, second;

    text_init(&first);
    text_init(&second);
    if (kit_model_open(subject, io_result, &model) &&
        print_built(&model, NULL, io_result, &first, NULL) &&
        print_built(&model, NULL, io_result, &second, NULL)) {
        report_difference(first.data, second.data, "then", model.name, io_result);
    }
    text_release(&first);
    text_release(&second);
    kit_model_close(&model);
}

// -- Weights -----------------------------------------------------------------------------------

// What is computed of the values of weights is another constant where these are zeros.
static void forget_constants(struct text *text)
{
    static const char mark[] = "constant:";

    for (char *at = strstr(text->data, mark); at != NULL; at = strstr(at, mark)) {
        at += strlen(mark);
        memset(at, '*', strspn(at, "0123456789abcdef"));
    }
}

// The folder that a check has for its files (kit/kit_folder.h).
static int write_weights(const struct kit_model *model,
                         const struct graph *graph,
                         const struct kit_model_change *change,
                         const struct kit_folder *folder,
                         struct kit_result *io_result)
{
    if (folder->path[0] == '\0' ||
        kit_model_write(model, graph, change, folder->path) != TAPML_OK) {
        kit_result_skip(io_result, "there is no room for a file of weights: %s",
                        folder->path[0] != '\0' ? status_message() : "no folder can be made");
        return 0;
    }
    return 1;
}

static void weights_change_nothing(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_model model;
    struct kit_folder folder;
    struct model *plain = NULL;
    struct text without, with;

    kit_folder_begin(&folder);
    text_init(&without);
    text_init(&with);
    if (kit_model_open(subject, io_result, &model) &&
        print_built(&model, NULL, io_result, &without, &plain) &&
        write_weights(&model, model_graph(plain), &(struct kit_model_change){.lacks = NULL},
                      &folder, io_result) &&
        print_built(&model, folder.path, io_result, &with, NULL)) {
        forget_constants(&without);
        forget_constants(&with);
        report_difference(without.data, with.data, "with weights", model.name, io_result);
    }
    text_release(&without);
    text_release(&with);
    model_close(plain);
    kit_model_close(&model);
    kit_folder_end(&folder);
}

// Whether a weight of another shape is refused by its name. Without a weight it may do, or take it
// for another variant, whose refusal has a sentence.
static void try_weight(struct kit_model *model,
                       const struct graph *graph,
                       const struct kit_model_change *change,
                       const struct kit_folder *folder,
                       struct kit_result *io_result)
{
    const char *name = change->lacks != NULL ? change->lacks : change->longer;
    const char *what = change->lacks != NULL ? "is not there" : "has a row more";
    struct model *built = NULL;

    if (!write_weights(model, graph, change, folder, io_result)) {
        return;
    }
    const tapml_status status = kit_model_build(model, model->config, folder->path, &built);

    model_close(built);
    if (status == TAPML_OK && change->longer != NULL) {
        kit_result_fail(io_result, "it builds a graph where weight '%.100s' %s", name, what);
    } else if (status != TAPML_OK &&
               (change->longer != NULL ? strstr(status_message(), name) == NULL
                                       : strstr(status_message(), NO_MESSAGE) != NULL)) {
        kit_result_fail(io_result, "where weight '%.100s' %s, it is not named: %.200s", name, what,
                        status_message());
    }
}

// Weights of the graph at even distances.
static void try_some(struct kit_model *model,
                     const struct graph *graph,
                     const struct kit_folder *folder,
                     struct kit_result *io_result)
{
    const uint64_t end = clock_now_ns() + ENOUGH_NS;
    uint32_t count = 0, at = 0;

    for (uint32_t i = 0; i < graph->value_count; i++) {
        count += graph->values[i].kind == GRAPH_WEIGHT && graph->values[i].base == i;
    }
    for (uint32_t i = 0; i < graph->value_count && kit_result_is_good(io_result); i++) {
        const struct graph_value *value = &graph->values[i];

        if (value->kind != GRAPH_WEIGHT || value->base != i || clock_now_ns() > end) {
            continue;
        }
        if (at++ % ((count + WEIGHTS_TRIED - 1) / WEIGHTS_TRIED) == 0 && value->rank > 0) {
            try_weight(model, graph, &(struct kit_model_change){.lacks = value->name}, folder,
                       io_result);
            try_weight(model, graph, &(struct kit_model_change){.longer = value->name}, folder,
                       io_result);
        }
    }
}

static void wrong_weights_are_named(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_model model;
    struct kit_folder folder;
    struct model *plain = NULL;

    kit_folder_begin(&folder);
    if (kit_model_open(subject, io_result, &model)) {
        struct text text;

        text_init(&text);
        if (print_built(&model, NULL, io_result, &text, &plain) &&
            write_weights(&model, model_graph(plain), &(struct kit_model_change){.lacks = NULL},
                          &folder, io_result) &&
            print_built(&model, folder.path, io_result, &text, NULL)) {
            try_some(&model, model_graph(plain), &folder, io_result);
        }
        text_release(&text);
    }
    model_close(plain);
    kit_model_close(&model);
    kit_folder_end(&folder);
}

// -- Configurations ----------------------------------------------------------------------------

static void foreign_ones_are_no_match(const struct kit_subject *subject,
                                      struct kit_result *io_result)
{
    static const char *const foreign[] = {
        "{}",
        "{\"model_type\": \"org.example.nobody\", \"architectures\": [\"NobodyForCausalLM\"]}",
        "{\"model_type\": null, \"architectures\": []}",
        "{\"model_type\": 5, \"architectures\": \"x\", \"text_config\": 7}",
        "{\"model_type\": [\"x\"], \"architectures\": [[], {}, null], \"vision_config\": []}",
        "{\"model_type\": \"\", \"hidden_size\": -1, \"num_hidden_layers\": 1e300}",
    };
    struct kit_model model;

    if (kit_model_open(subject, io_result, &model)) {
        for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
            uint32_t score = 0;

            if (kit_model_match(&model, foreign[i], &score) != TAPML_OK) {
                kit_result_fail(io_result, "asked about %.120s, it fails: %.200s", foreign[i],
                                status_message());
            } else if (score > 0) {
                kit_result_fail(io_result, "it says %u of 100 of %.120s", score, foreign[i]);
            }
        }
    }
    kit_model_close(&model);
}

// Builds with one key changed. A refusal has a sentence; a crash is one of the process.
static void try_key(const struct kit_model *model,
                    const json_t *config,
                    const char *key,
                    const char *value,
                    struct kit_result *io_result)
{
    json_t *changed = json_copy((json_t *)(uintptr_t)config);
    json_t *odd = value != NULL ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;
    struct model *built = NULL;
    struct text text;

    text_init(&text);
    if (odd != NULL) {
        (void)json_object_set_new(changed, key, odd);
    } else {
        (void)json_object_del(changed, key);
    }
    json_file_print(&text, changed, JSON_COMPACT);
    if (text_status(&text) == TAPML_OK &&
        kit_model_build(model, text.data, NULL, &built) != TAPML_OK &&
        strstr(status_message(), NO_MESSAGE) != NULL) {
        kit_result_fail(io_result, "with '%.60s' %s%s it is refused without a sentence", key,
                        value != NULL ? "as " : "left out", value != NULL ? value : "");
    }
    model_close(built);
    text_release(&text);
    json_decref(changed);
}

static void odd_ones_are_refused(const struct kit_subject *subject, struct kit_result *io_result)
{
    static const char *const odd[] = {
        NULL,      "[null]", "0",  "-1",  "1", "0.5", "4611686018427387904",
        "\"odd\"", "[]",     "{}", "true"};
    const uint64_t end = clock_now_ns() + ENOUGH_NS;
    struct kit_model model;
    json_t *config = NULL;

    if (kit_model_open(subject, io_result, &model)) {
        config = json_loads(model.config, 0, NULL);
    }
    for (void *at = config != NULL ? json_object_iter(config) : NULL;
         at != NULL && kit_result_is_good(io_result); at = json_object_iter_next(config, at)) {
        for (size_t i = 0; i < sizeof(odd) / sizeof(*odd) && clock_now_ns() < end; i++) {
            try_key(&model, config, json_object_iter_key(at), odd[i], io_result);
        }
    }
    json_decref(config);
    kit_model_close(&model);
}

// -- Inputs that it fills ----------------------------------------------------------------------

static uint64_t bytes_of(const struct graph_value *value, int64_t tokens)
{
    const struct affine_point point = {{tokens, 0, 1, TOKENS}};

    return graph_value_bytes(value, &point);
}

// Tokens in three parts, one behind the other: whether the bytes are those of all at once.
static void try_input(struct model *model,
                      const struct graph_value *value,
                      unsigned char *memory,
                      struct kit_result *io_result)
{
    static const int64_t ends[] = {5, 9, TOKENS};
    const uint64_t each = bytes_of(value, 1), whole = bytes_of(value, TOKENS);
    unsigned char *parts = memory + whole;
    int64_t first = 0;
    tapml_status status =
        model_fill(model, value->name, (struct model_span){0, TOKENS, TOKENS}, memory, whole);

    for (size_t i = 0; status == TAPML_OK && i < sizeof(ends) / sizeof(*ends); i++) {
        const int64_t count = ends[i] - first;

        status = model_fill(model, value->name, (struct model_span){first, count, TOKENS},
                            parts + (uint64_t)first * each, (uint64_t)count * each);
        first = ends[i];
    }
    // One that chooses no tokens, an encoder, may want all of a text.
    if (status != TAPML_OK && first > 0 &&
        graph_find_output(model_graph(model), "logits") == GRAPH_NONE) {
        kit_result_skip(io_result, "it reads a text in one call: %.200s", status_message());
    } else if (status != TAPML_OK) {
        kit_result_fail(io_result, "input '%.60s' is not filled: %.200s", value->name,
                        status_message());
    } else if (memcmp(memory, parts, whole) != 0) {
        kit_result_fail(io_result, "input '%.60s' of %d tokens in parts is not that of all at once",
                        value->name, TOKENS);
    }
}

// Of inputs whose first axis is the tokens.
static void try_inputs(struct model *model, struct kit_result *io_result)
{
    const struct graph *graph = model_graph(model);
    size_t tried = 0;

    for (uint32_t i = 0; i < graph->value_count && kit_result_is_good(io_result); i++) {
        const struct graph_value *value = &graph->values[i];

        if (value->kind != GRAPH_INPUT || value->from != TAPML_FROM_FILL || value->rank == 0 ||
            value->shape[0].constant != 0 ||
            bytes_of(value, TOKENS) != TOKENS * bytes_of(value, 1)) {
            continue;
        }
        unsigned char *memory = alloc_raw(2 * bytes_of(value, TOKENS));

        if (memory == NULL) {
            kit_result_skip(io_result, "out of memory");
            return;
        }
        try_input(model, value, memory, io_result);
        alloc_free(memory);
        tried++;
    }
    if (tried == 0) {
        kit_result_skip(io_result, "its graph has no such input");
    }
}

static void inputs_come_in_parts(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_model model;
    struct model *built = NULL;

    if (kit_model_open(subject, io_result, &model)) {
        if (kit_model_build(&model, model.config, NULL, &built) != TAPML_OK) {
            kit_result_fail(io_result, "%s", status_message());
        } else {
            try_inputs(built, io_result);
        }
    }
    model_close(built);
    kit_model_close(&model);
}

#define MODEL_CHECK(id_, ground_, about_, run_)                                                    \
    {                                                                                              \
        .id = id_, .level = KIT_CONTRACT, .scope = KIT_OF_MODEL, .about = about_,                  \
        .limit_s = LIMIT_S, .run = run_, .ground = ground_                                         \
    }

static const struct kit_check CHECKS[] = {
    MODEL_CHECK(
        "W-01", KIT_GROUND, "the same configuration gives the same graph", builds_are_alike),
    MODEL_CHECK("W-02",
                KIT_NO_GROUND,
                "with weights it is the graph that is built without",
                weights_change_nothing),
    MODEL_CHECK("W-03",
                KIT_NO_GROUND,
                "a weight of another shape is named, and a missing one told",
                wrong_weights_are_named),
    MODEL_CHECK(
        "W-04", KIT_NO_GROUND, "configurations of others are no match", foreign_ones_are_no_match),
    MODEL_CHECK("W-05",
                KIT_NO_GROUND,
                "inputs that are filled in parts are those of the whole",
                inputs_come_in_parts),
    MODEL_CHECK("W-06",
                KIT_NO_GROUND,
                "odd configurations are refused with a sentence",
                odd_ones_are_refused),
    {.id = NULL},
};

const struct kit_check *kit_architecture_checks(void)
{
    return CHECKS;
}
