// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_tanh.h - tanh to the precision of its value, on top of k.h.
//
// Vulkan and WebGPU take tanh from quotients of exponentials, as their specifications allow, which
// near 0 leaves an error of 1e-7 whatever the value: all of it, of a small one. There the series of
// its powers is taken: x - x^3 / 3 + 2 x^5 / 15 - ..., below 2e-9 of the value up to 0.3 after six
// terms. Far from 0 the exponentials overflow, and one over the other is no number: above 10, where
// it is 1 to all digits of f32, none is taken of more.
#ifndef K_TANH_H
#define K_TANH_H

FN(f32, precise_tanh, ARG(f32, v))
{
  LET(f32, z, v * v);
  VAR(f32, series, fma(z, -0.008863235f, 0.021869489f));
  series = fma(z, series, -0.053968254f);
  series = fma(z, series, 0.13333333f);
  series = fma(z, series, -0.33333333f);
  return SELECT(z < 0.09f, fma(v * z, series, v),
                tanh(SELECT(z > 100.0f, SELECT(v < 0.0f, -10.0f, 10.0f), v)));
}

#endif
