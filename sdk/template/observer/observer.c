// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An observer that only watches: of each operator it counts the calls and keeps the largest
// magnitude among its f32 outputs. When the host lets go of it, it writes a table to the file that
// the option `file` names.
//
// To change what calls compute, give the table the trait TAPML_OBSERVER_REPLACES, and call
// `observed->write` in `after`, or in `before` with `*out_is_made = 1`.
#include "note.h"

#include <tapml/draft/observer.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { OPS_MAX = 256 };

struct line {
    char place[64], op[96];
    uint64_t calls;
    float largest;
};

struct observer {
    tapml_object base; // First, so that a `tapml_object *` is a `struct observer *`.
    const tapml_host *host;
    const tapml_host_core *core;
    struct line lines[OPS_MAX];
    size_t count;
    float *values; // Of the largest output so far.
    uint64_t bytes;
};

// -- Calls -------------------------------------------------------------------------------------

// The line of an operator at a place; NULL: there are too many.
static struct line *find_line(struct observer *observer, const tapml_observed *observed)
{
    for (size_t i = 0; i < observer->count; i++) {
        struct line *line = &observer->lines[i];

        if (strcmp(line->op, observed->op->name) == 0 &&
            strcmp(line->place, observed->place) == 0) {
            return line;
        }
    }
    if (observer->count == OPS_MAX) {
        return NULL;
    }
    struct line *line = &observer->lines[observer->count++];

    snprintf(line->place, sizeof(line->place), "%s", observed->place);
    snprintf(line->op, sizeof(line->op), "%s", observed->op->name);
    return line;
}

static tapml_status make_room(struct observer *observer, tapml_call *call, uint64_t bytes)
{
    static const char message[] = "out of memory";
    const tapml_host_core *core = observer->core;

    if (bytes <= observer->bytes) {
        return TAPML_OK;
    }
    core->free(observer->host, observer->values, observer->bytes, _Alignof(float));
    observer->values = core->alloc(observer->host, bytes, _Alignof(float));
    observer->bytes = observer->values != NULL ? bytes : 0;
    return observer->values != NULL
               ? TAPML_OK
               : core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
}

// A failure of the host's functions has a message already.
static tapml_status look_at(struct observer *observer,
                            tapml_call *call,
                            const tapml_observed *observed,
                            uint32_t param,
                            struct line *line)
{
    uint64_t bytes = 0;
    tapml_status status = observed->size(observed, call, param, 0, &bytes);

    if (status == TAPML_OK && bytes > 0) {
        status = make_room(observer, call, bytes);
    }
    if (status == TAPML_OK && bytes > 0) {
        status = observed->read(observed, call, param, 0, observer->values, bytes);
    }
    for (uint64_t i = 0; status == TAPML_OK && i < bytes / sizeof(float); i++) {
        const float value = observer->values[i] < 0 ? -observer->values[i] : observer->values[i];

        line->largest = value > line->largest ? value : line->largest;
    }
    return status;
}

static tapml_status after(tapml_object *object, tapml_call *call, const tapml_observed *observed)
{
    struct observer *observer = (struct observer *)object;
    struct line *line = find_line(observer, observed);
    tapml_status status = TAPML_OK;

    if (line == NULL) {
        return TAPML_OK;
    }
    line->calls++;
    for (uint32_t i = 0; status == TAPML_OK && i < observed->n_args; i++) {
        const tapml_value *value = &observed->args[i];
        const tapml_tensor *tensor = value->kind == TAPML_P_TENSOR_OUT ? value->u.p : NULL;

        if (tensor != NULL && tensor->encoding == NULL && tensor->dtype == TAPML_F32) {
            status = look_at(observer, call, observed, i, line);
        }
    }
    return status;
}

static const tapml_observer table = {.hdr = TAPML_HDR(tapml_observer), .after = after};

// -- The component -----------------------------------------------------------------------------

// A component prints nothing: what it has to say is a file or a line of the host's log.
static void write_table(const struct observer *observer)
{
    const char *path = observer->core->option(observer->host, "file");
    FILE *file = path != NULL && observer->count > 0 ? fopen(path, "w") : NULL;
    char message[512];

    if (file == NULL) {
        if (path != NULL && observer->count > 0) {
            const int length = snprintf(message, sizeof(message), "'%.400s' cannot be written: %s",
                                        path, strerror(errno));

            observer->core->log(observer->host, TAPML_LOG_ERROR, message, (size_t)length);
        }
        return;
    }
    fprintf(file, "place,op,calls,largest\n");
    for (size_t i = 0; i < observer->count; i++) {
        const struct line *line = &observer->lines[i];

        fprintf(file, "%s,%s,%" PRIu64 ",%.9g\n", line->place, line->op, line->calls,
                (double)line->largest);
    }
    fclose(file);
}

static void release(tapml_object *object)
{
    struct observer *observer = (struct observer *)object;
    const tapml_host_core *core = observer->core;

    write_table(observer);
    core->free(observer->host, observer->values, observer->bytes, _Alignof(float));
    core->free(observer->host, observer, sizeof(*observer), _Alignof(struct observer));
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_OBSERVER) == 0 ? &table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), release, interface_of};

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    static const char message[] = "out of memory";
    const tapml_host_core *core = host->interface_of(host, TAPML_HOST_CORE);
    struct observer *observer = core->alloc(host, sizeof(*observer), _Alignof(struct observer));

    if (observer == NULL) {
        return core->fail(call, TAPML_NO_MEMORY, 0, NULL, message, strlen(message));
    }
    memset(observer, 0, sizeof(*observer));
    observer->base.vt = &root_vt;
    observer->host = host;
    observer->core = core;
    *out_root = &observer->base;
    return TAPML_OK;
}

static const tapml_component sample = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_OBSERVER,
    .id = "sample",
    .title = "Sample: an observer",
    .create = create,
};

TAPML_PLUGIN("org.example.sample", "0.1.0", "Example", "Apache-2.0", &sample)
