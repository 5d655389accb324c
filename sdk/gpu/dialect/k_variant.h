// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_variant.h - the structural switches out of one number, K_VARIANT: a sum of K_V_* of
// <tapml/gpu/kernel.h>. It is for builds; by hand the switches can be given one by one.
#define K_SUBGROUP ((K_VARIANT & 1) != 0)
#define K_X4 ((K_VARIANT & 8) != 0)
#define K_F16 ((K_VARIANT & 256) != 0)

#if K_VARIANT & 512
#define K_S 1
#elif K_VARIANT & 16384
#define K_S 2
#endif

#if K_VARIANT & 16
#define K_W 2
#elif K_VARIANT & 32
#define K_W 3
#elif K_VARIANT & 64
#define K_W 4
#elif K_VARIANT & 128
#define K_W 5
#elif K_VARIANT & 1024
#define K_W 6
#elif K_VARIANT & 2048
#define K_W 7
#elif K_VARIANT & 4096
#define K_W 8
#elif K_VARIANT & 8192
#define K_W 9
#elif K_VARIANT & 32768
#define K_W 10
#endif
