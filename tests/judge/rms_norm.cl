// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
//
// tapml-op: rms_norm
// tapml-entry: rms_norm
// tapml-arguments: x weight y x.width:i32 eps:f32
// tapml-items: 64
// tapml-groups: x.rows

#define ITEMS 64

__kernel void rms_norm(__global const float *x,
                       __global const float *weight,
                       __global float *y,
                       const int width,
                       const float eps)
{
    __local float parts[ITEMS];
    const int item = get_local_id(0);
    __global const float *row = x + get_group_id(0) * width;
    float sum = 0;

    for (int i = item; i < width; i += ITEMS) {
        sum += row[i] * row[i];
    }
    parts[item] = sum;
    for (int step = ITEMS / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < step) {
            parts[item] += parts[item + step];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float factor = rsqrt(parts[0] / width + eps);

    for (int i = item; i < width; i += ITEMS) {
        y[get_group_id(0) * width + i] = row[i] * factor * (weight ? weight[i] : 1.0f);
    }
}
