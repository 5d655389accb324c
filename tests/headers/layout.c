// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The layout of minor 0, size and place of every member, where pointers have 64 bits. From the
// first release on, lines are added and never changed: a member that moves breaks every plugin.
#include <tapml/abi.h>
#include <tapml/backend.h>
#include <tapml/host.h>
#include <tapml/model.h>
#include <tapml/op.h>
#include <tapml/plugin.h>
#include <tapml/tensor.h>

#include <stddef.h>

#define SIZE(type, bytes) _Static_assert(sizeof(struct type) >= (bytes), #type " shrank")
#define AT(type, member, place)                                                                    \
    _Static_assert(offsetof(struct type, member) == (place), #type "." #member " moved")

SIZE(tapml_hdr, 8);
AT(tapml_hdr, struct_size, 0);
AT(tapml_hdr, flags, 4);

SIZE(tapml_object_vt, 24);
AT(tapml_object_vt, hdr, 0);
AT(tapml_object_vt, release, 8);
AT(tapml_object_vt, interface_of, 16);

SIZE(tapml_object, 8);
AT(tapml_object, vt, 0);

SIZE(tapml_memory_type, 40);
AT(tapml_memory_type, hdr, 0);
AT(tapml_memory_type, traits, 8);
AT(tapml_memory_type, reserved, 12);
AT(tapml_memory_type, size, 16);
AT(tapml_memory_type, align, 24);
AT(tapml_memory_type, max_bytes, 32);

SIZE(tapml_device_info, 72);
AT(tapml_device_info, hdr, 0);
AT(tapml_device_info, id, 8);
AT(tapml_device_info, name, 16);
AT(tapml_device_info, arch, 24);
AT(tapml_device_info, driver, 32);
AT(tapml_device_info, memory_total, 40);
AT(tapml_device_info, memory_free, 48);
AT(tapml_device_info, traits, 56);
AT(tapml_device_info, n_memory_types, 60);
AT(tapml_device_info, memory_types, 64);

SIZE(tapml_support, 144);
AT(tapml_support, hdr, 0);
AT(tapml_support, grade, 8);
AT(tapml_support, reserved, 12);
AT(tapml_support, reason, 16);

SIZE(tapml_point, 16);
AT(tapml_point, timeline, 0);
AT(tapml_point, value, 8);

SIZE(tapml_backend, 168);
AT(tapml_backend, hdr, 0);
AT(tapml_backend, devices, 8);
AT(tapml_backend, open, 16);
AT(tapml_backend, ops, 24);
AT(tapml_backend, supports, 32);
AT(tapml_backend, buffer_new, 40);
AT(tapml_backend, buffer_wrap, 48);
AT(tapml_backend, buffer_map, 56);
AT(tapml_backend, buffer_unmap, 64);
AT(tapml_backend, queue_new, 72);
AT(tapml_backend, queue_write, 80);
AT(tapml_backend, queue_read, 88);
AT(tapml_backend, queue_copy, 96);
AT(tapml_backend, queue_fill, 104);
AT(tapml_backend, queue_signal, 112);
AT(tapml_backend, queue_flush, 120);
AT(tapml_backend, timeline_new, 128);
AT(tapml_backend, timeline_value, 136);
AT(tapml_backend, timeline_wait, 144);
AT(tapml_backend, queue_wait, 152);
AT(tapml_backend, timeline_notify, 160);

SIZE(tapml_counters, 16);
AT(tapml_counters, hdr, 0);
AT(tapml_counters, launches, 8);

SIZE(tapml_host, 32);
AT(tapml_host, hdr, 0);
AT(tapml_host, abi_major, 8);
AT(tapml_host, abi_minor, 12);
AT(tapml_host, impl, 16);
AT(tapml_host, interface_of, 24);

SIZE(tapml_host_core, 64);
AT(tapml_host_core, hdr, 0);
AT(tapml_host_core, fail, 8);
AT(tapml_host_core, blame, 16);
AT(tapml_host_core, log, 24);
AT(tapml_host_core, alloc, 32);
AT(tapml_host_core, free, 40);
AT(tapml_host_core, cancelled, 48);
AT(tapml_host_core, option, 56);

SIZE(tapml_host_work, 24);
AT(tapml_host_work, hdr, 0);
AT(tapml_host_work, width, 8);
AT(tapml_host_work, parallel_for, 16);

SIZE(tapml_host_config, 80);
AT(tapml_host_config, hdr, 0);
AT(tapml_host_config, has, 8);
AT(tapml_host_config, i64, 16);
AT(tapml_host_config, f64, 24);
AT(tapml_host_config, string, 32);
AT(tapml_host_config, boolean, 40);
AT(tapml_host_config, length, 48);
AT(tapml_host_config, ignore, 56);
AT(tapml_host_config, expect, 64);
AT(tapml_host_config, is_null, 72);

SIZE(tapml_host_weights, 40);
AT(tapml_host_weights, hdr, 0);
AT(tapml_host_weights, count, 8);
AT(tapml_host_weights, at, 16);
AT(tapml_host_weights, find, 24);
AT(tapml_host_weights, read, 32);

SIZE(tapml_host_graph, 120);
AT(tapml_host_graph, hdr, 0);
AT(tapml_host_graph, scope_begin, 8);
AT(tapml_host_graph, scope_end, 16);
AT(tapml_host_graph, affine, 24);
AT(tapml_host_graph, input, 32);
AT(tapml_host_graph, constant, 40);
AT(tapml_host_graph, weight, 48);
AT(tapml_host_graph, state, 56);
AT(tapml_host_graph, op, 64);
AT(tapml_host_graph, slice, 72);
AT(tapml_host_graph, reshape, 80);
AT(tapml_host_graph, transpose, 88);
AT(tapml_host_graph, repeat, 96);
AT(tapml_host_graph, describe, 104);
AT(tapml_host_graph, output, 112);

SIZE(tapml_model, 32);
AT(tapml_model, hdr, 0);
AT(tapml_model, match, 8);
AT(tapml_model, build, 16);
AT(tapml_model, fill, 24);

SIZE(tapml_param, 64);
AT(tapml_param, hdr, 0);
AT(tapml_param, name, 8);
AT(tapml_param, kind, 16);
AT(tapml_param, effects, 20);
AT(tapml_param, dtype, 24);
AT(tapml_param, shape, 32);
AT(tapml_param, layout, 40);
AT(tapml_param, region, 48);
AT(tapml_param, domain, 56);

SIZE(tapml_op, 88);
AT(tapml_op, hdr, 0);
AT(tapml_op, name, 8);
AT(tapml_op, version, 16);
AT(tapml_op, n_params, 20);
AT(tapml_op, params, 24);
AT(tapml_op, title, 32);
AT(tapml_op, formula, 40);
AT(tapml_op, source, 48);
AT(tapml_op, doc, 56);
AT(tapml_op, tolerance, 64);
AT(tapml_op, flops, 72);
AT(tapml_op, expands, 80);

SIZE(tapml_op_impl, 32);
AT(tapml_op_impl, hdr, 0);
AT(tapml_op_impl, op, 8);
AT(tapml_op_impl, fn, 16);
AT(tapml_op_impl, convention, 24);
AT(tapml_op_impl, reserved, 28);

SIZE(tapml_value, 16);
AT(tapml_value, kind, 0);
AT(tapml_value, count, 4);
AT(tapml_value, u, 8);

SIZE(tapml_query, 32);
AT(tapml_query, hdr, 0);
AT(tapml_query, abi_major, 8);
AT(tapml_query, abi_minor, 12);
AT(tapml_query, host_name, 16);
AT(tapml_query, host_version, 24);

SIZE(tapml_component, 64);
AT(tapml_component, hdr, 0);
AT(tapml_component, kind, 8);
AT(tapml_component, id, 16);
AT(tapml_component, title, 24);
AT(tapml_component, host_needs, 32);
AT(tapml_component, probe, 40);
AT(tapml_component, create, 48);
AT(tapml_component, shutdown, 56);

SIZE(tapml_plugin, 72);
AT(tapml_plugin, hdr, 0);
AT(tapml_plugin, abi_major, 8);
AT(tapml_plugin, abi_built, 12);
AT(tapml_plugin, abi_needed, 16);
AT(tapml_plugin, sanitizer, 20);
AT(tapml_plugin, id, 24);
AT(tapml_plugin, version, 32);
AT(tapml_plugin, vendor, 40);
AT(tapml_plugin, license, 48);
AT(tapml_plugin, n_components, 56);
AT(tapml_plugin, reserved, 60);
AT(tapml_plugin, components, 64);

SIZE(tapml_span, 32);
AT(tapml_span, hdr, 0);
AT(tapml_span, name, 8);
AT(tapml_span, dtype, 16);
AT(tapml_span, block_bytes, 20);
AT(tapml_span, align, 24);

SIZE(tapml_encoding, 32);
AT(tapml_encoding, hdr, 0);
AT(tapml_encoding, id, 8);
AT(tapml_encoding, block_values, 16);
AT(tapml_encoding, n_spans, 20);
AT(tapml_encoding, spans, 24);

SIZE(tapml_tensor, 64);
AT(tapml_tensor, hdr, 0);
AT(tapml_tensor, dtype, 8);
AT(tapml_tensor, rank, 12);
AT(tapml_tensor, shape, 16);
AT(tapml_tensor, stride, 24);
AT(tapml_tensor, offset, 32);
AT(tapml_tensor, buffer, 40);
AT(tapml_tensor, encoding, 48);
AT(tapml_tensor, next, 56);

// Since minor 7.
SIZE(tapml_span, 40);
AT(tapml_span, tile_rows, 32);
AT(tapml_span, tile_values, 36);

SIZE(tapml_tensor, 72);
AT(tapml_tensor, spans, 64);

// Since minor 8.
AT(tapml_op, critical, 88);

// Since minor 9.
SIZE(tapml_arithmetic_form, 32);
AT(tapml_arithmetic_form, block, 12);
AT(tapml_arithmetic_form, result, 24);
SIZE(tapml_arithmetic, 16);
AT(tapml_arithmetic, form, 8);

// Frozen.
_Static_assert(sizeof(struct tapml_value) == 16 && sizeof(struct tapml_point) == 16,
               "they never grow");
