// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// An encoding of a stranger: blocks of 8 values in 5 bytes, each a power of two with a sign. Four
// bits say how many times it is halved from the largest power of the block; the last of these is 0.
#include "encoding-note.h"

#include <tapml/draft/encoding.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <math.h>
#include <string.h>

enum { VALUES = 8, HALVED_MAX = 7, SIGN = 8, BIAS = 128 };

// The exponent of the nearest power of two, as its logarithm rounds.
static int exponent_of(float value)
{
    return (int)lrintf(log2f(fabsf(value)));
}

static void encode(const float *values, uint8_t *const *out_spans)
{
    float largest = 0;

    for (int i = 0; i < VALUES; i++) {
        largest = fmaxf(largest, fabsf(values[i]));
    }
    const int top = largest > 0 ? (int)fmaxf((float)exponent_of(largest), 1 - BIAS) : 1 - BIAS;

    out_spans[1][0] = (uint8_t)(top + BIAS);
    for (int i = 0; i < VALUES; i++) {
        const float value = values[i];
        const int halved = value == 0 ? HALVED_MAX : top - exponent_of(value);
        const int code = (halved > HALVED_MAX ? HALVED_MAX : halved) | (value < 0 ? SIGN : 0);
        uint8_t *byte = &out_spans[0][i / 2];

        *byte = (uint8_t)(i % 2 == 0 ? code : *byte | code << 4);
    }
}

static void decode(const uint8_t *const *spans, float *out_values)
{
    for (int i = 0; i < VALUES; i++) {
        const int code = spans[0][i / 2] >> i % 2 * 4 & 15;
        const int halved = code & HALVED_MAX;
        const float value = halved == HALVED_MAX ? 0 : ldexpf(1, spans[1][0] - BIAS - halved);

        out_values[i] = (code & SIGN) != 0 ? -value : value;
    }
}

static const tapml_span halvings = {.hdr = TAPML_HDR(tapml_span),
                                    .name = "halvings",
                                    .dtype = TAPML_U8,
                                    .block_bytes = VALUES / 2,
                                    .align = 1};
static const tapml_span powers = {.hdr = TAPML_HDR(tapml_span),
                                  .name = "powers",
                                  .dtype = TAPML_U8,
                                  .block_bytes = 1,
                                  .align = 1};
static const tapml_span *const spans_of_block[] = {&halvings, &powers};
static const tapml_encoding layout = {.hdr = TAPML_HDR(tapml_encoding),
                                      .id = "org.example.outside-encoding.powers/1",
                                      .block_values = VALUES,
                                      .n_spans = 2,
                                      .spans = spans_of_block};
static const tapml_weight_encoding table = {.hdr = TAPML_HDR(tapml_weight_encoding),
                                            .layout = &layout,
                                            .word = "powers",
                                            .encode = encode,
                                            .decode = decode};

static void release(tapml_object *object)
{
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_KIND_ENCODING) == 0 ? &table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), release, interface_of};

// No state: two roots may be one struct, as long as they have two addresses.
static tapml_object roots[8];

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    static unsigned count;

    *out_root = &roots[count++ % 8];
    (*out_root)->vt = &root_vt;
    return TAPML_OK;
}

static const tapml_component powers_of_two = {.hdr = TAPML_HDR(tapml_component),
                                              .kind = TAPML_KIND_ENCODING,
                                              .id = "outside_powers",
                                              .title = "Powers of two",
                                              .create = create};

TAPML_PLUGIN("org.example.outside-encoding", "1.0.0", "Example", "Apache-2.0", &powers_of_two)
