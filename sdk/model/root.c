// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/root.h>

#include <stdalign.h>
#include <string.h>

struct root {
    tapml_object object; // First: the object is the root.
    const tapml_host *host;
    struct model_architecture architecture;
};

static const struct root *root_of(const tapml_object *object)
{
    return (const struct root *)object;
}

static const tapml_host_core *core_of(const tapml_host *host)
{
    return host->interface_of(host, TAPML_HOST_CORE);
}

static void release(tapml_object *object)
{
    const tapml_host *host = root_of(object)->host;

    core_of(host)->free(host, object, sizeof(struct root), alignof(struct root));
}

static void
begin(struct model_context *context, tapml_object *object, tapml_call *call, tapml_object *config)
{
    model_context_init(context, root_of(object)->host, call, config);
}

// Whether `type` is one of `types`, which stand with "|" between them.
static int is_among(const char *types, const char *type)
{
    const size_t length = strlen(type);

    while (types != NULL && length > 0) {
        const char *end = strchr(types, '|');

        if ((end != NULL ? (size_t)(end - types) : strlen(types)) == length &&
            strncmp(types, type, length) == 0) {
            return 1;
        }
        types = end != NULL ? end + 1 : NULL;
    }
    return 0;
}

// How well the architecture fits: by its type, and less by its class.
static tapml_status
match(tapml_object *object, tapml_call *call, tapml_object *config, uint32_t *out_score)
{
    const struct model_architecture *architecture = &root_of(object)->architecture;
    struct model_context context;

    begin(&context, object, call, config);

    const tapml_host_config *table = context.config_table;
    const char *type = table->string(config, "/model_type", "");
    const char *class_name = table->string(config, "/architectures/0", "");

    if (strcmp(type, architecture->model_type) == 0 || is_among(architecture->old_types, type)) {
        *out_score = 100;
    } else {
        // A part of another model has no class.
        const int is_class =
            *class_name != '\0' && strcmp(class_name, architecture->class_name) == 0;

        *out_score = *type == '\0' && is_class ? 90 : 0;
    }
    return TAPML_OK;
}

static tapml_status build(tapml_object *object,
                          tapml_call *call,
                          tapml_object *config,
                          tapml_object *weights,
                          tapml_object *graph)
{
    const struct model_architecture *architecture = &root_of(object)->architecture;
    struct model_context context;

    begin(&context, object, call, config);
    context.weights = weights;
    context.graph = graph;
    architecture->build(&context, architecture->description);
    return context.status;
}

static tapml_status fill(tapml_object *object,
                         tapml_call *call,
                         tapml_object *config,
                         const char *name,
                         int64_t first,
                         int64_t count,
                         int64_t length,
                         void *target,
                         uint64_t target_bytes)
{
    const struct model_architecture *architecture = &root_of(object)->architecture;
    const struct model_fill rows = {.name = name,
                                    .first = first,
                                    .count = count,
                                    .length = length,
                                    .target = target,
                                    .target_bytes = target_bytes};
    struct model_context context;

    begin(&context, object, call, config);
    architecture->fill(&context, architecture->description, &rows);
    return context.status;
}

static const void *interface_of(tapml_object *object, const char *id)
{
    static const tapml_model table = {
        .hdr = TAPML_HDR(tapml_model), .match = match, .build = build, .fill = fill};

    return strcmp(id, TAPML_KIND_MODEL) == 0 ? &table : NULL;
}

tapml_status model_root_create(const struct model_architecture *architecture,
                               const tapml_host *host,
                               tapml_call *call,
                               tapml_object **out_root)
{
    static const tapml_object_vt vt = {
        .hdr = TAPML_HDR(tapml_object_vt), .release = release, .interface_of = interface_of};
    static const char message[] = "no memory for the root of an architecture";
    struct root *root = core_of(host)->alloc(host, sizeof(*root), alignof(struct root));

    if (root == NULL) {
        return core_of(host)->fail(call, TAPML_NO_MEMORY, 0, NULL, message, sizeof(message) - 1);
    }
    *root = (struct root){.object = {.vt = &vt}, .host = host, .architecture = *architecture};
    *out_root = &root->object;
    return TAPML_OK;
}
