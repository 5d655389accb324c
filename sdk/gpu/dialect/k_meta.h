// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_meta.h - what the host needs to know of a kernel, as @-tokens. kembed reads them and ignores
// every other token (the body).
#define f32x2 f32x2
#define VAR(t, n, e)
#define LET(t, n, e)
#define ARRAY(t, n, len)
#define SELECT(c, a, b)
#define UNROLL
#define ARG(t, n)
#define FN(t, n, ...)
#define UNPACK_F16X2(u)
#define PACK_F16X2(v)
#define WORKGROUP(x, y, z) @tune WG_X 0 x @tune WG_Y 1 y @tune WG_Z 2 z
#define TUNE(n, id, def) @tune n id def
#define FIELD(t, n) @field t n
#define PARAMS(...) __VA_ARGS__
#define IN(b, t, n) @in b t n
#define OUT(b, t, n) @out b t n
#define INOUT(b, t, n) @inout b t n
#define ATOMIC(b, n) @inout b u32 n
#define ATOMIC_ADD(n, i, v)
#define NO_SHARED
#define SHARED(t, n, len) @shared t n (len) @;
#define KERNEL(name, params, bufs, shr) @kernel name params bufs shr @body
#define END_KERNEL @end
#define BARRIER()
#define SG_ADD(v)
#define SG_MAX(v)
#define SG_XOR(v, m)
#define SG_LANE
#define SG_ID
#define SG_SIZE
