// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An encoding: blocks of 32 values, each of which is 0 or the scale of its block with either sign.
// A block takes 12 bytes: a scale of f32, and two bits for each value.
#include "note.h"

#include <tapml/draft/encoding.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <math.h>
#include <string.h>

enum { VALUES = 32, CODES_OF_BYTE = 4, CODE_BITS = 2 };
enum code { CODE_ZERO, CODE_PLUS, CODE_MINUS };
enum span { SPAN_SCALES, SPAN_CODES, SPANS };

// -- Blocks ------------------------------------------------------------------------------------

static enum code code_of(float value, float least)
{
    return fabsf(value) < least ? CODE_ZERO : value > 0 ? CODE_PLUS : CODE_MINUS;
}

// The mean magnitude of what is at least half of the largest one; whatever is nearer to 0 than to
// it becomes 0.
static float scale_of(const float *values)
{
    float largest = 0, sum = 0;
    int count = 0;

    for (int i = 0; i < VALUES; i++) {
        largest = fmaxf(largest, fabsf(values[i]));
    }
    for (int i = 0; i < VALUES; i++) {
        const int is_large = fabsf(values[i]) >= largest / 2;

        sum += is_large ? fabsf(values[i]) : 0;
        count += is_large;
    }
    return sum / (float)count; // The largest one is there.
}

static void encode(const float *values, uint8_t *const *out_spans)
{
    const float scale = scale_of(values);

    memcpy(out_spans[SPAN_SCALES], &scale, sizeof(scale));
    memset(out_spans[SPAN_CODES], 0, VALUES / CODES_OF_BYTE);
    for (int i = 0; i < VALUES; i++) {
        const unsigned code = scale > 0 ? code_of(values[i], scale / 2) : CODE_ZERO;

        out_spans[SPAN_CODES][i / CODES_OF_BYTE] |=
            (uint8_t)(code << i % CODES_OF_BYTE * CODE_BITS);
    }
}

static void decode(const uint8_t *const *spans, float *out_values)
{
    float scale = 0;

    memcpy(&scale, spans[SPAN_SCALES], sizeof(scale));
    for (int i = 0; i < VALUES; i++) {
        const unsigned code =
            spans[SPAN_CODES][i / CODES_OF_BYTE] >> i % CODES_OF_BYTE * CODE_BITS & 3u;

        out_values[i] = code == CODE_PLUS ? scale : code == CODE_MINUS ? -scale : 0;
    }
}

static const tapml_span scales = {.hdr = TAPML_HDR(tapml_span),
                                  .name = "scales",
                                  .dtype = TAPML_F32,
                                  .block_bytes = sizeof(float),
                                  .align = sizeof(float)};
static const tapml_span codes = {.hdr = TAPML_HDR(tapml_span),
                                 .name = "codes",
                                 .dtype = TAPML_U8,
                                 .block_bytes = VALUES / CODES_OF_BYTE,
                                 .align = 1};
static const tapml_span *const spans_of_block[SPANS] = {&scales, &codes};
static const tapml_encoding layout = {.hdr = TAPML_HDR(tapml_encoding),
                                      .id = "org.example.sample/1",
                                      .block_values = VALUES,
                                      .n_spans = SPANS,
                                      .spans = spans_of_block};

static const tapml_weight_encoding table = {
    .hdr = TAPML_HDR(tapml_weight_encoding),
    .layout = &layout,
    .word = "sample",
    .encode = encode,
    .decode = decode,
};

// -- The component -----------------------------------------------------------------------------

struct root {
    tapml_object base; // First, so that a `tapml_object *` is a `struct root *`.
    const tapml_host *host;
    const tapml_host_core *core;
};

static void release(tapml_object *object)
{
    struct root *root = (struct root *)object;

    root->core->free(root->host, root, sizeof(*root), _Alignof(struct root));
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_ENCODING) == 0 ? &table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), release, interface_of};

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
    *root = (struct root){.base = {&root_vt}, .host = host, .core = core};
    *out_root = &root->base;
    return TAPML_OK;
}

static const tapml_component sample = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = TAPML_KIND_ENCODING,
    .id = "sample",
    .title = "Sample: an encoding",
    .create = create,
};

TAPML_PLUGIN("org.example.sample", "0.1.0", "Example", "Apache-2.0", &sample)
