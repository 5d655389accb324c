// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The driver table: what sdk/gpu asks of a GPU interface, and all that a GPU plugin writes.
//
// sdk/gpu is the backend (tapml/backend.h): it owns the ABI's objects, checks views, chooses
// kernels and tile sizes, caches pipelines, packs parameters, folds grids, loops over panels,
// counts op calls. A driver owns memory and executes commands in their order.
//
// What holds everywhere:
//
// - A device is one stream. A command sees all that the commands before it wrote, and overwrites
//   nothing that they still read: where the interface does not promise this, the driver puts the
//   barrier. Several queues of the ABI share the stream.
// - A driver may hold commands back until `flush`. It hands them over by itself when they are many.
// - The host and sdk/gpu check every argument. A driver trusts what it is given.
// - One thread at a time calls a root and its devices.
// - A function that fails says why with gpu_fail (support.h). An `out_` parameter is written on
//   TAPML_OK only. A failure of queued work comes out of the next `wait` and of all that follow, up
//   to a `restart`; where the driver knows the launch, it calls `core->blame` with its `number`.
// - Memory of the driver itself comes from `core->alloc`; none of it outlives the root.
//
// This is not part of the ABI. Table and library, which is static, are linked into one plugin and
// are of one version of the SDK, so the structs carry no size, and a later version may change them.
// A driver names the members that it sets; what it does not name is NULL or 0.
#ifndef TAPML_GPU_DRIVER_H
#define TAPML_GPU_DRIVER_H

#include <tapml/gpu/kernel.h>
#include <tapml/gpu/product.h>
#include <tapml/host.h>
#include <tapml/op.h>

#ifdef __cplusplus
extern "C" {
#endif

// Each driver defines these four in its own source file.
struct driver_root;     // The loader, the instance, the browser: what stands before a device.
struct driver_device;   // A device with its stream.
struct driver_buffer;   // Bytes on the device. At least 16, a multiple of 4.
struct driver_pipeline; // A kernel, ready to launch.

// Of sdk/gpu: a host that waits to be notified.
struct gpu_notice;

// What a driver gets of its host.
struct gpu_host {
    const tapml_host *host;
    const tapml_host_core *core;
    const char *domain; // The driver's id; names its errors.
};

// What the host wants to know before it opens a device.
struct gpu_description {
    char id[64];           // Stable across runs: a UUID, an address, a name with a number.
    char name[128];        // For people.
    char driver[128];      // Name and version; or empty.
    uint64_t memory_bytes; // 0 unknown.
    uint64_t buffer_bytes; // Of the largest buffer that a kernel can bind whole.
    uint32_t bindings;     // Buffers that a kernel can bind; 0 unknown.
    uint32_t align;        // Bytes of which the offset of a binding is a multiple; 0 unknown.
    uint32_t import_grain; // Bytes of which begin and size of imports are multiples, a power of
                           // two; 0: nothing is imported.
};

#define GPU_FEATURE_SUBGROUP (1u << 0) // Reductions and shuffles in compute kernels.

// The work items of a group run one after another, as on a CPU: a barrier is dear, and so is memory
// that a group shares. Where the option `tile` is not set, such a device gets lanes, or small tiles
// if it has no subgroups of one size.
#define GPU_FEATURE_SERIAL (1u << 1)

// Kernels can load and store single values of 16 bits. Without it, activations are f32 alone.
#define GPU_FEATURE_F16 (1u << 2)

// What kernels may use: the device's own limits, not the defaults of its interface. What the
// dialect promises its kernels is the least: 8 buffers, 128 bytes of parameters, and the below.
struct gpu_limits {
    uint32_t group_items;  // Work items of a workgroup, all on axis x. At least 128.
    uint32_t shared_bytes; // Of a workgroup. At least 16 KiB.
    uint32_t grid;         // Workgroups on one axis. At least 65535.
    uint32_t subgroup_min; // Work items of a subgroup: the fewest,
    uint32_t subgroup_max; // and the most. 0 without subgroups.
    uint32_t features;     // GPU_FEATURE_*
};

// An argument of a kernel that was not written for the dialect: an address or a number.
struct gpu_argument {
    struct driver_buffer *buffer; // Of an address; NULL: a null pointer.
    uint64_t offset;              // Of the address in the buffer, in bytes.
    int is_number;
    uint32_t bytes; // Of the number: 4 or 8.
    union {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } number;
};

enum gpu_passing {
    GPU_PASSES_NOTHING,   // There are no such kernels.
    GPU_PASSES_ARGUMENTS, // By `arguments` of a launch.
    GPU_PASSES_BINDINGS,  // As kernels of the table, with `offsets`: numbers in `params`.
};

struct gpu_launch {
    struct driver_pipeline *pipeline;

    // One for each binding of the kernel, up to its end. A buffer that is written appears once.
    struct driver_buffer *const *buffers;
    const void *params; // The kernel's `params_size` bytes.
    uint32_t groups[3]; // None is zero, none above the limit.
    uint64_t number;    // Of the op call, for `core->blame`.

    // Where each binding begins in its buffer, in bytes: multiples of what the device binds at.
    // NULL: the buffers are bound whole.
    const uint64_t *offsets;

    // What the kernel gets, in its order, in place of `params` and bindings, which say what it
    // reads and writes. NULL: those of the dialect.
    const struct gpu_argument *arguments;
    uint32_t argument_count;
};

// Operators and kernels that sdk/gpu does not have; NULL where there are none. Launches of such
// operators are planned by tapml/gpu/plan.h. `gpu_backend_probe` and `gpu_backend_create` look at
// all of it, and answer TAPML_INVALID with the op or the kernel for what cannot be.
struct gpu_own {
    // What launches of its own name (`is_own` of struct gpu_plan), under any names. In the language
    // of the driver, as the tool kexpand makes them, ended by one without a name.
    const struct k_kernel *kernels;

    // Each takes the place of the kernel of that name and variant in the driver's table, in
    // launches of the catalogue's ops. It has the same parameters, constants and buffers.
    const struct k_kernel *replacements;

    // Ended by NULL, each filled by TAPML_IMPL: ops under names that begin with one's own domain,
    // from headers that opgen makes; and ops of <tapml/ops.h>, which take the place of those of
    // sdk/gpu. Constant, and there as long as the driver.
    const tapml_op_impl *const *ops;

    // Calls an op of one's own with a value for each parameter: `org_example_ops_apply`, which
    // `opgen tables` writes. Not needed for ops of <tapml/ops.h>.
    tapml_status (*apply)(const tapml_op_impl *impl,
                          tapml_object *queue,
                          tapml_call *call,
                          const tapml_value *args);
};

struct gpu_driver {
    const char *id;                 // "vulkan": of the component, and the domain of its errors.
    const struct k_kernel *kernels; // In the language of this driver.
    const struct gpu_own *own;      // What sdk/gpu does not have; NULL: nothing.

    // -- Life ----------------------------------------------------------------------------------

    // Finds the interface. TAPML_UNAVAILABLE where it is not installed. `host` outlives the root.
    tapml_status (*load)(const struct gpu_host *host,
                         tapml_call *call,
                         struct driver_root **out_root);
    void (*unload)(struct driver_root *root);

    // Device number `index`, counted from 0. TAPML_NOT_FOUND past the last one.
    tapml_status (*describe)(struct driver_root *root,
                             tapml_call *call,
                             uint32_t index,
                             struct gpu_description *out_description);
    tapml_status (*open)(struct driver_root *root,
                         tapml_call *call,
                         uint32_t index,
                         struct gpu_limits *out_limits,
                         struct driver_device **out_device);

    // Waits for the work. Buffers and pipelines have been freed.
    void (*close)(struct driver_device *device);

    // The content is undefined. TAPML_NO_MEMORY where there is none left.
    tapml_status (*buffer_new)(struct driver_device *device,
                               tapml_call *call,
                               uint64_t size,
                               struct driver_buffer **out_buffer);

    // No work that was not yet waited for uses the buffer.
    void (*buffer_free)(struct driver_device *device, struct driver_buffer *buffer);

    // Compiles. `tune` has a value for each of the kernel's constants. Slow: sdk/gpu asks once for
    // each combination. The kernel is in this driver's table and stays.
    tapml_status (*pipeline_new)(struct driver_device *device,
                                 tapml_call *call,
                                 const struct k_kernel *kernel,
                                 const uint32_t *tune,
                                 struct driver_pipeline **out_pipeline);
    void (*pipeline_free)(struct driver_device *device, struct driver_pipeline *pipeline);

    // -- Commands, in order --------------------------------------------------------------------

    // Offsets and sizes are multiples of 4. `source` and `target` in host memory stay until a
    // ticket behind the command is reached, and a read has arrived by then.
    tapml_status (*write)(struct driver_device *device,
                          tapml_call *call,
                          struct driver_buffer *buffer,
                          uint64_t offset,
                          const void *source,
                          uint64_t size);
    tapml_status (*read)(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         void *target,
                         uint64_t size);

    // Between two buffers, never within one.
    tapml_status (*copy)(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *source,
                         uint64_t source_offset,
                         struct driver_buffer *target,
                         uint64_t target_offset,
                         uint64_t size);

    // Writes `pattern` into each four bytes. NULL: the kernel `fill` of the table does it.
    tapml_status (*fill)(struct driver_device *device,
                         tapml_call *call,
                         struct driver_buffer *buffer,
                         uint64_t offset,
                         uint64_t size,
                         uint32_t pattern);

    tapml_status (*launch)(struct driver_device *device,
                           tapml_call *call,
                           const struct gpu_launch *launch);

    // Whether `product` takes such a product (product.h). sdk/gpu asks before each one, so that an
    // answer is looked up, not searched for again. NULL: no product is taken.
    int (*takes_product)(struct driver_device *device, const struct gpu_product *product);

    // Queues a product. TAPML_UNIMPLEMENTED, without a message: it is not taken after all, and
    // kernels compute everything that belongs to it anew.
    tapml_status (*product)(struct driver_device *device,
                            tapml_call *call,
                            const struct gpu_product *product);

    // `ticket` is reached when all commands before are done. Tickets count 1, 2, 3 ...
    tapml_status (*signal)(struct driver_device *device, tapml_call *call, uint64_t ticket);

    // Hands over what is held back. Does not wait.
    tapml_status (*flush)(struct driver_device *device, tapml_call *call);

    // Waits until `ticket` is reached or `timeout_ns` has passed, which is no failure:
    // `*out_reached` is the last ticket reached, either way. With timeout 0 it only asks.
    // UINT64_MAX waits as long as the device works. The ticket has been flushed.
    tapml_status (*wait)(struct driver_device *device,
                         tapml_call *call,
                         uint64_t ticket,
                         uint64_t timeout_ns,
                         uint64_t *out_reached);

    // After a failure of queued work: drops what is queued, and begins a stream on which commands
    // work again. Buffers and pipelines stay; what the dropped commands use is undefined. Tickets
    // are counted on from where they were, and those given out count as reached.
    // TAPML_DEVICE_LOST where the device does not work any more. NULL: it never does.
    tapml_status (*restart)(struct driver_device *device, tapml_call *call);

    // Calls gpu_notice_give (support.h) once, on any thread, when `ticket` is reached or the work
    // before it has failed: perhaps before this returns, at the latest in `close`. The ticket has
    // been flushed. After a failure of `notify` itself the driver does not touch the notice. NULL:
    // the host waits.
    tapml_status (*notify)(struct driver_device *device,
                           tapml_call *call,
                           uint64_t ticket,
                           struct gpu_notice *notice);

    // -- What it is ----------------------------------------------------------------------------

    // A digest of the sources of this driver, as `identity sources` writes it (sdk/tools), those of
    // its own ops among them. It counts into the digests of all ops (tapml.identity/1); in that of
    // an op of its own are all kernels that the driver has. NULL: the device has no such
    // interface, and any change of the library makes all results stale.
    const char *sources;

    // How a kernel that is not of the table gets what it computes with; its text, in the driver's
    // language, stays until its pipelines are gone.
    enum gpu_passing passing;

    // The ending of the file, beside a text, that has what is compiled of it; NULL: the text
    // itself.
    const char *code_ending;

    // -- Memory of the host --------------------------------------------------------------------

    // A buffer over memory that exists and outlives it. Without TAPML_ACCESS_WRITE no command
    // writes it. Only for devices that reach such memory as fast as their own: a copy is better
    // than a bus. TAPML_UNIMPLEMENTED where the interface refuses this memory. NULL: none is
    // imported.
    tapml_status (*buffer_import)(struct driver_device *device,
                                  tapml_call *call,
                                  void *memory,
                                  uint64_t size,
                                  uint32_t access,
                                  struct driver_buffer **out_buffer);

    // -- Beside the stream ---------------------------------------------------------------------

    // A second stream, of writes alone, which are done while the first one computes. What a second
    // queue of the host writes goes there. All NULL: the device has nothing to copy with beside its
    // work, and everything is done in one order.
    tapml_status (*aside_write)(struct driver_device *device,
                                tapml_call *call,
                                struct driver_buffer *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size);

    // Writes aside from now on begin when a ticket of the stream is reached. It has been flushed.
    tapml_status (*aside_follow)(struct driver_device *device, tapml_call *call, uint64_t ticket);

    // `mark` is reached when all writes aside before it are done; it is handed over. Marks count 1,
    // 2, 3 ... Commands of the stream from now on begin when a mark is reached.
    tapml_status (*aside_signal)(struct driver_device *device, tapml_call *call, uint64_t mark);
    tapml_status (*aside_join)(struct driver_device *device, tapml_call *call, uint64_t mark);
};

#ifdef __cplusplus
}
#endif

#endif
