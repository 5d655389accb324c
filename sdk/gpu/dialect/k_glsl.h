// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// k_glsl.h - GLSL 4.50 for Vulkan 1.1, which the build compiles to SPIR-V.
K_HASH version 450
K_HASH extension GL_EXT_control_flow_attributes : require
#if K_HALVES
K_HASH extension GL_EXT_shader_16bit_storage : require
#endif
#if K_SUBGROUP
K_HASH extension GL_KHR_shader_subgroup_basic : require
K_HASH extension GL_KHR_shader_subgroup_arithmetic : require
K_HASH extension GL_KHR_shader_subgroup_shuffle : require
#endif
#define f32 float
#define u32 uint
#define i32 int
#define f32x2 vec2
#define f32x4 vec4
#define u32x2 uvec2
#define u32x4 uvec4
#define K_HALF uint16_t
#define K_HALF_F32(h) unpackHalf2x16(uint(h)).x
#define K_HALF_OF(u) uint16_t(u)
#define UNPACK_F16X2(u) unpackHalf2x16(u)
#define PACK_F16X2(v) packHalf2x16(v)
#define AS_F32(u) uintBitsToFloat(u)
#define AS_U32(f) floatBitsToUint(f)
#define rsqrt(x) inversesqrt(x)

#define VAR(t, n, e) t n = e
#define LET(t, n, e) const t n = e
#define ARRAY(t, n, len) t n[len]
#define SELECT(c, a, b) ((c) ? (a) : (b))
#define UNROLL [[unroll]]
#define ARG(t, n) t n
#define FN(t, n, ...) t n(__VA_ARGS__)

#define WORKGROUP(x, y, z) \
  layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in; \
  layout(constant_id = 0) const uint WG_X = x; \
  layout(constant_id = 1) const uint WG_Y = y; \
  layout(constant_id = 2) const uint WG_Z = z;
#define TUNE(n, id, def) layout(constant_id = id) const uint n = def;
#define FIELD(t, n) t n;
#define PARAMS(...) layout(push_constant, std430) uniform K_params { __VA_ARGS__ } p;
#define IN(b, t, n) layout(set = 0, binding = b, std430) readonly restrict buffer K_buf##b { t n[]; };
#define OUT(b, t, n) layout(set = 0, binding = b, std430) writeonly restrict buffer K_buf##b { t n[]; };
#define INOUT(b, t, n) layout(set = 0, binding = b, std430) restrict buffer K_buf##b { t n[]; };
#define ATOMIC(b, n) layout(set = 0, binding = b, std430) buffer K_buf##b { uint n[]; };
#define ATOMIC_ADD(n, i, v) atomicAdd(n[i], v)
#define NO_SHARED
#define SHARED(t, n, len) shared t n[len];
#define KERNEL(name, params, bufs, shr) params bufs shr void main() {
#define END_KERNEL }

#define LOCAL_X gl_LocalInvocationID.x
#define LOCAL_Y gl_LocalInvocationID.y
#define GROUP_X gl_WorkGroupID.x
#define GROUP_Y gl_WorkGroupID.y
#define GROUP_Z gl_WorkGroupID.z
#define NGROUP_X gl_NumWorkGroups.x
#define NGROUP_Y gl_NumWorkGroups.y
#define GLOBAL_X gl_GlobalInvocationID.x
#define BARRIER() barrier()

#if K_SUBGROUP
#define SG_SIZE gl_SubgroupSize
#define SG_LANE gl_SubgroupInvocationID
#define SG_ID gl_SubgroupID
#define SG_ADD(v) subgroupAdd(v)
#define SG_MAX(v) subgroupMax(v)
#define SG_XOR(v, m) subgroupShuffleXor(v, m)
#endif
