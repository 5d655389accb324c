// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
//
// tapml-op: rms_norm
// tapml-entry: rms_norm
// tapml-arguments: x weight y x.width:i32 weight.count:i32 eps:f32
// tapml-items: 64
// tapml-groups: x.rows

const ITEMS = 64u;

struct Numbers { width: i32, weights: i32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(30) var<uniform> numbers: Numbers;

var<workgroup> parts: array<f32, ITEMS>;

@compute @workgroup_size(ITEMS)
fn rms_norm(@builtin(local_invocation_id) local: vec3u, @builtin(workgroup_id) group: vec3u) {
    let item = local.x;
    let width = u32(numbers.width);
    let begin = group.x * width;
    var sum = 0.0;

    for (var i = item; i < width; i += ITEMS) {
        sum += x[begin + i] * x[begin + i];
    }
    parts[item] = sum;
    for (var step = ITEMS / 2u; step > 0u; step /= 2u) {
        workgroupBarrier();
        if (item < step) {
            parts[item] += parts[item + step];
        }
    }
    workgroupBarrier();
    let factor = inverseSqrt(parts[0] / f32(width) + numbers.eps);

    for (var i = item; i < width; i += ITEMS) {
        var scaled = x[begin + i] * factor;
        if (numbers.weights > 0) {
            scaled *= weight[i];
        }
        y[begin + i] = scaled;
    }
}
