// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/root.h>

#include <stdalign.h>
#include <string.h>

struct root {
    tapml_object object; // First: the object is the root.
    const tapml_host *host;
    const tapml_model *table;
    const void *description;
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

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_MODEL) == 0 ? root_of(object)->table : NULL;
}

tapml_status model_root_create(const tapml_model *table,
                               const void *description,
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
    *root = (struct root){
        .object = {.vt = &vt}, .host = host, .table = table, .description = description};
    *out_root = &root->object;
    return TAPML_OK;
}

const void *model_root_description(const tapml_object *root)
{
    return root_of(root)->description;
}

const tapml_host *model_root_host(const tapml_object *root)
{
    return root_of(root)->host;
}
