// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
//
// tapml-op: rms_norm
// tapml-entry: main
// tapml-arguments: x weight y x.width:i32 weight.count:i32 eps:f32
// tapml-items: 64
// tapml-groups: x.rows
#version 450

#define ITEMS 64

layout(local_size_x = ITEMS) in;
layout(set = 0, binding = 0) readonly buffer X { float x[]; };
layout(set = 0, binding = 1) readonly buffer Weight { float weight[]; };
layout(set = 0, binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Numbers { int width; int weights; float eps; };

shared float parts[ITEMS];

void main()
{
    const uint item = gl_LocalInvocationID.x, begin = gl_WorkGroupID.x * uint(width);
    float sum = 0;

    for (uint i = item; i < uint(width); i += ITEMS) {
        sum += x[begin + i] * x[begin + i];
    }
    parts[item] = sum;
    for (uint step = ITEMS / 2; step > 0; step /= 2) {
        barrier();
        if (item < step) {
            parts[item] += parts[item + step];
        }
    }
    barrier();
    const float factor = inversesqrt(parts[0] / width + eps);

    for (uint i = item; i < uint(width); i += ITEMS) {
        y[begin + i] = x[begin + i] * factor * (weights > 0 ? weight[i] : 1.0);
    }
}
