// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Observers of a stranger: one that counts the calls of each place and writes them to a file, and
// one that computes org.example.scale itself, as its option `deed` says: "makes" it before the
// call, "mends" its output after it, or does one of the things that no observer may do.
#include "observer-note.h"

#include <tapml/draft/observer.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <stdio.h>
#include <string.h>

enum { PLACES_MAX = 4, SCALE_X = 0, SCALE_FACTOR = 1, SCALE_Y = 2 };

struct root {
    tapml_object base;
    const tapml_host *host;
    const tapml_host_core *core;
    struct {
        char name[32];
        unsigned long calls, scaled;
    } places[PLACES_MAX];
    unsigned place_count;
};

static struct root *own(tapml_object *object)
{
    return (struct root *)object;
}

static tapml_status fail(struct root *root, tapml_call *call, const char *message)
{
    return root->core->fail(call, TAPML_INTERNAL, 0, NULL, message, strlen(message));
}

static int is_scale(const tapml_observed *observed)
{
    return strcmp(observed->op->name, "org.example.scale") == 0;
}

// -- Counting ----------------------------------------------------------------------------------

static tapml_status count(tapml_object *object, tapml_call *call, const tapml_observed *observed)
{
    struct root *root = own(object);
    unsigned place = 0;

    while (place < root->place_count && strcmp(root->places[place].name, observed->place) != 0) {
        place++;
    }
    if (place == PLACES_MAX) {
        return fail(root, call, "there are too many places");
    }
    if (place == root->place_count) {
        snprintf(root->places[place].name, sizeof(root->places[place].name), "%s", observed->place);
        root->place_count++;
    }
    root->places[place].calls++;
    root->places[place].scaled += is_scale(observed);
    return TAPML_OK;
}

static const tapml_observer counting = {.hdr = TAPML_HDR(tapml_observer), .after = count};

static void write_counts(const struct root *root)
{
    const char *path = root->core->option(root->host, "file");
    FILE *file = path != NULL && root->place_count > 0 ? fopen(path, "w") : NULL;

    for (unsigned i = 0; file != NULL && i < root->place_count; i++) {
        fprintf(file, "%s %lu %lu\n", root->places[i].name, root->places[i].calls,
                root->places[i].scaled);
    }
    if (file != NULL) {
        fclose(file);
    }
}

// -- Replacing ---------------------------------------------------------------------------------

static int has_deed(const struct root *root, const char *deed)
{
    const char *word = root->core->option(root->host, "deed");

    return word != NULL && strcmp(word, deed) == 0;
}

// y = factor * x, in the host's memory.
static tapml_status scale(struct root *root, tapml_call *call, const tapml_observed *observed)
{
    uint64_t bytes = 0;
    tapml_status status = observed->size(observed, call, SCALE_X, 0, &bytes);

    if (status != TAPML_OK || bytes == 0) {
        return status;
    }
    float *values = root->core->alloc(root->host, bytes, _Alignof(float));

    if (values == NULL) {
        return fail(root, call, "out of memory");
    }
    status = observed->read(observed, call, SCALE_X, 0, values, bytes);
    for (uint64_t i = 0; status == TAPML_OK && i < bytes / sizeof(float); i++) {
        values[i] = (float)(observed->args[SCALE_FACTOR].u.d * (double)values[i]);
    }
    if (status == TAPML_OK) {
        status = observed->write(observed, call, SCALE_Y, values, bytes);
    }
    root->core->free(root->host, values, bytes, _Alignof(float));
    return status;
}

static tapml_status
before(tapml_object *object, tapml_call *call, const tapml_observed *observed, int32_t *out_is_made)
{
    struct root *root = own(object);

    if (!is_scale(observed)) {
        return TAPML_OK;
    }
    if (has_deed(root, "fails")) {
        return fail(root, call, "it is out of order");
    }
    if (has_deed(root, "makes nothing")) {
        *out_is_made = 1;
    }
    if (has_deed(root, "makes") || has_deed(root, "writes too early")) {
        const tapml_status status = scale(root, call, observed);

        *out_is_made = status == TAPML_OK && has_deed(root, "makes");
        return status;
    }
    if (has_deed(root, "writes what goes in")) {
        return observed->write(observed, call, SCALE_X, "", 0);
    }
    return TAPML_OK;
}

static tapml_status after(tapml_object *object, tapml_call *call, const tapml_observed *observed)
{
    struct root *root = own(object);

    return is_scale(observed) && has_deed(root, "mends") ? scale(root, call, observed) : TAPML_OK;
}

static const tapml_observer replacing = {.hdr = TAPML_HDR(tapml_observer),
                                         .traits = TAPML_OBSERVER_REPLACES,
                                         .before = before,
                                         .after = after};

// One that does the same and does not say so.
static const tapml_observer secretive = {
    .hdr = TAPML_HDR(tapml_observer), .before = before, .after = after};

// -- The components ----------------------------------------------------------------------------

static void release(tapml_object *object)
{
    struct root *root = own(object);

    write_counts(root);
    root->core->free(root->host, root, sizeof(*root), _Alignof(struct root));
}

static const void *counting_interface(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_OBSERVER) == 0 ? &counting : NULL;
}

static const void *replacing_interface(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_OBSERVER) == 0 ? &replacing : NULL;
}

static const void *secretive_interface(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_OBSERVER) == 0 ? &secretive : NULL;
}

static const tapml_object_vt counting_vt = {TAPML_HDR(tapml_object_vt), release,
                                            counting_interface};
static const tapml_object_vt replacing_vt = {TAPML_HDR(tapml_object_vt), release,
                                             replacing_interface};
static const tapml_object_vt secretive_vt = {TAPML_HDR(tapml_object_vt), release,
                                             secretive_interface};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    static const char message[] = "out of memory";
    const tapml_host_core *core = host->interface_of(host, TAPML_HOST_CORE);
    struct root *root = core->alloc(host, sizeof(*root), _Alignof(struct root));

    if (root == NULL) {
        return core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
    }
    memset(root, 0, sizeof(*root));
    root->base.vt = strcmp(component->id, "outside_count") == 0     ? &counting_vt
                    : strcmp(component->id, "outside_replace") == 0 ? &replacing_vt
                                                                    : &secretive_vt;
    root->host = host;
    root->core = core;
    *out_root = &root->base;
    return TAPML_OK;
}

#define OBSERVER(id_, title_)                                                                      \
    {                                                                                              \
        .hdr = TAPML_HDR(tapml_component), .kind = TAPML_KIND_OBSERVER, .id = id_,                 \
        .title = title_, .create = create                                                          \
    }

static const tapml_component counter = OBSERVER("outside_count", "Counts calls");
static const tapml_component replacer = OBSERVER("outside_replace", "Computes scale itself");
static const tapml_component secret = OBSERVER("outside_secret", "The same, and does not say so");

TAPML_PLUGIN(
    "org.example.outside-observer", "1.0.0", "Example", "Apache-2.0", &counter, &replacer, &secret)
