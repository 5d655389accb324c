// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_wgsl.h - WGSL. The host appends WG_X WG_Y WG_Z and the TUNE constants as lines of the form
// "const NAME: u32 = 64u;": module scope has no order, and "enable" must stay first.
#if K_SUBGROUP
enable subgroups;
#endif
#if K_HALVES
enable f16;
#endif
alias f32x2 = vec2<f32>;
alias f32x4 = vec4<f32>;
alias u32x2 = vec2<u32>;
alias u32x4 = vec4<u32>;
#define K_HALF f16
#define K_HALF_F32(h) f32(h)
#define K_HALF_OF(u) f16(unpack2x16float(u).x)
#define UNPACK_F16X2(u) unpack2x16float(u)
#define PACK_F16X2(v) pack2x16float(v)
#define AS_F32(u) bitcast<f32>(u)
#define AS_U32(f) bitcast<u32>(f)
#define rsqrt(x) inverseSqrt(x)

#define VAR(t, n, e) var n: t = e
#define LET(t, n, e) let n: t = e
#define ARRAY(t, n, len) var n: array<t, (len)>
#define SELECT(c, a, b) select(b, a, c)
#define UNROLL
#define ARG(t, n) n: t
#define FN(t, n, ...) fn n(__VA_ARGS__) -> t

#define WORKGROUP(x, y, z)
#define TUNE(n, id, def)
#define FIELD(t, n) n: t,
#define PARAMS(...) struct K_params { __VA_ARGS__ } \
  @group(0) @binding(30) var<uniform> p: K_params;
#define IN(b, t, n) @group(0) @binding(b) var<storage, read> n: array<t>;
#define OUT(b, t, n) @group(0) @binding(b) var<storage, read_write> n: array<t>;
#define INOUT(b, t, n) @group(0) @binding(b) var<storage, read_write> n: array<t>;
#define ATOMIC(b, n) @group(0) @binding(b) var<storage, read_write> n: array<atomic<u32>>;
#define ATOMIC_ADD(n, i, v) atomicAdd(&n[i], v)
#define NO_SHARED
#define SHARED(t, n, len) var<workgroup> n: array<t, (len)>;
#if K_SUBGROUP
#define K_SG_IDS , @builtin(subgroup_size) K_sgs: u32, @builtin(subgroup_invocation_id) K_sgl: u32
#else
#define K_SG_IDS
#endif
#define KERNEL(name, params, bufs, shr) params bufs shr \
  @compute @workgroup_size(WG_X, WG_Y, WG_Z) \
  fn name(@builtin(local_invocation_id) K_lid: vec3<u32>, \
          @builtin(workgroup_id) K_wid: vec3<u32>, \
          @builtin(num_workgroups) K_nwg: vec3<u32> K_SG_IDS) {
#define END_KERNEL }

#define LOCAL_X K_lid.x
#define LOCAL_Y K_lid.y
#define GROUP_X K_wid.x
#define GROUP_Y K_wid.y
#define GROUP_Z K_wid.z
#define NGROUP_X K_nwg.x
#define NGROUP_Y K_nwg.y
#define GLOBAL_X (K_wid.x * WG_X + K_lid.x)
#define BARRIER() workgroupBarrier()

#if K_SUBGROUP
#define SG_SIZE K_sgs
#define SG_LANE K_sgl
#define SG_ID (K_lid.x / K_sgs)  // subgroup_id is a later language feature.
#define SG_ADD(v) subgroupAdd(v)
#define SG_MAX(v) subgroupMax(v)
#define SG_XOR(v, m) subgroupShuffleXor(v, m)
#endif
