// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Kind tapml.backend/1: devices that hold buffers and run ops on in-order queues.
//
// One thread submits per session. A synchronous device does the work inside the call; its timelines
// are counters. On an asynchronous one an error of queued work comes out of timeline_wait, in the
// tapml_call of the wait, with the number of the op call; from then on the queue and its timelines
// answer with that error. The host releases both and asks for new ones. Buffers of the device stay
// valid, and those that the failed work uses are undefined; a device that cannot work again answers
// TAPML_DEVICE_LOST, to the wait or to queue_new.
//
// The host keeps, until a signal behind the work that uses them is reached: buffers, queues, and
// memory given to queue_write and queue_read. What else a launch needs is the backend's.
#ifndef TAPML_BACKEND_H
#define TAPML_BACKEND_H

#include <tapml/op.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAPML_KIND_BACKEND "tapml.backend/1"

#define TAPML_MEMORY_DEVICE_LOCAL (1u << 0)
#define TAPML_MEMORY_HOST_VISIBLE (1u << 1) // buffer_map works.

typedef struct tapml_memory_type {
    tapml_hdr hdr;
    uint32_t traits; // TAPML_MEMORY_*
    uint32_t reserved;
    uint64_t size;      // Bytes in all, 0 unknown.
    uint64_t align;     // Where buffers begin. Tensors in them lie anywhere.
    uint64_t max_bytes; // Of one buffer that an op can use.
} tapml_memory_type;

// Its buffers are ordinary memory: buffer_wrap is there, and between two such devices nothing
// has to be moved.
#define TAPML_DEVICE_HOST_MEMORY   (1u << 0)
#define TAPML_DEVICE_DETERMINISTIC (1u << 1) // The same call gives the same bits.

// Its ops take weights in the blocks of files ("gguf."), which the host then need not rearrange for
// it. Without this trait they come in the encodings of `<tapml/tensor.h>`. Since minor 5.
#define TAPML_DEVICE_FILE_BLOCKS (1u << 2)

// Its ops take weights in tiles ("tiles.") of quantised checkpoints; a device of host memory also
// with spans that have buffers of their own. Without this trait the host widens them. Since
// minor 7.
#define TAPML_DEVICE_TILES (1u << 3)

typedef struct tapml_device_info {
    tapml_hdr hdr;
    const char *id;        // Stable across runs: a PCI address, a UUID, "f64".
    const char *name;      // For people.
    const char *arch;      // "sm_90", "gfx1100", "x86-64-v3"; or NULL.
    const char *driver;    // Name and version; or NULL.
    uint64_t memory_total; // Bytes, 0 unknown.
    uint64_t memory_free;  // Bytes, 0 unknown.
    uint32_t traits;       // TAPML_DEVICE_*
    uint32_t n_memory_types;
    const tapml_memory_type *const *memory_types; // The first is for what ops compute.
} tapml_device_info;

#define TAPML_SUPPORT_NO        0u
#define TAPML_SUPPORT_SLOW      1u
#define TAPML_SUPPORT_YES       2u
#define TAPML_SUPPORT_PREFERRED 3u

// Whether a device runs an op with these arguments. The host sets `hdr` and zeros the rest; the
// backend fills in the members that are there.
typedef struct tapml_support {
    tapml_hdr hdr;
    uint32_t grade; // TAPML_SUPPORT_*
    uint32_t reserved;
    char reason[128]; // Where it is NO or SLOW: "head size 80, this device has 64 and 128".
} tapml_support;

// A moment in the work of a queue. Frozen, without a header.
typedef struct tapml_point {
    tapml_object *timeline;
    uint64_t value;
} tapml_point;

// Is called when a moment has come, with TAPML_OK, or with the failure of the queue if it never
// comes. It returns soon, allocates nothing and calls no function of a plugin. [any]
typedef void (*tapml_notified)(void *user, tapml_status status);

#define TAPML_ACCESS_READ  (1u << 0)
#define TAPML_ACCESS_WRITE (1u << 1)

// Offsets and sizes in bytes, of buffers and transfers, are multiples of this; the host pads.
#define TAPML_TRANSFER_GRAIN 4u

typedef struct tapml_backend {
    tapml_hdr hdr;

    // The devices at hand, perhaps none. The list lives until the next call or the release.
    tapml_status (*devices)(tapml_object *backend,
                            tapml_call *call,
                            const tapml_device_info *const **out_list,
                            uint32_t *out_count);
    tapml_status (*open)(tapml_object *backend,
                         tapml_call *call,
                         const char *device_id,
                         tapml_object **out_device);

    // What the device can run at all. The list lives as long as the device, the schemas in it as
    // long as the plugin.
    tapml_status (*ops)(tapml_object *device,
                        tapml_call *call,
                        const tapml_op_impl *const **out_list,
                        uint32_t *out_count);

    // What it can run with these arguments, one for each parameter; tensors without buffers. YES
    // is a promise: the call then works. Not being able is an answer, not a failure. NULL: YES to
    // all that the schemas allow.
    tapml_status (*supports)(tapml_object *device,
                             tapml_call *call,
                             const tapml_op *op,
                             const tapml_value *args,
                             uint32_t n_args,
                             tapml_support *answer);

    // `size` is not zero. The content is undefined.
    tapml_status (*buffer_new)(tapml_object *device,
                               tapml_call *call,
                               uint32_t memory_type,
                               uint64_t size,
                               tapml_object **out_buffer);

    // A buffer over memory that exists, such as a mapped file. The memory outlives it; without
    // TAPML_ACCESS_WRITE it is never written. Alignment is as it comes. NULL: impossible.
    tapml_status (*buffer_wrap)(tapml_object *device,
                                tapml_call *call,
                                void *memory,
                                uint64_t size,
                                uint32_t access,
                                tapml_object **out_buffer);

    // Shows a buffer of HOST_VISIBLE memory to the CPU. One mapping at a time, with no work pending
    // on the buffer. What was written counts from buffer_unmap. NULL, both: no memory is visible.
    tapml_status (*buffer_map)(tapml_object *buffer,
                               tapml_call *call,
                               uint64_t offset,
                               uint64_t size,
                               uint32_t access,
                               void **out_memory);
    tapml_status (*buffer_unmap)(tapml_object *buffer, tapml_call *call);

    // A queue does its work in order.
    tapml_status (*queue_new)(tapml_object *device, tapml_call *call, tapml_object **out_queue);
    tapml_status (*queue_write)(tapml_object *queue,
                                tapml_call *call,
                                tapml_object *buffer,
                                uint64_t offset,
                                const void *source,
                                uint64_t size);
    tapml_status (*queue_read)(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               void *target,
                               uint64_t size);
    tapml_status (*queue_copy)(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *source,
                               uint64_t source_offset,
                               tapml_object *target,
                               uint64_t target_offset,
                               uint64_t size);

    // Repeats the four bytes of `pattern`, in the machine's byte order.
    tapml_status (*queue_fill)(tapml_object *queue,
                               tapml_call *call,
                               tapml_object *buffer,
                               uint64_t offset,
                               uint64_t size,
                               uint32_t pattern);

    // Raises the timeline to the value when all work before is done. Values only grow.
    tapml_status (*queue_signal)(tapml_object *queue, tapml_call *call, tapml_point point);

    // Hands to the device what is still held back. Does not wait. NULL: nothing ever is.
    tapml_status (*queue_flush)(tapml_object *queue, tapml_call *call);

    tapml_status (*timeline_new)(tapml_object *device,
                                 tapml_call *call,
                                 uint64_t initial,
                                 tapml_object **out_timeline);
    tapml_status (*timeline_value)(tapml_object *timeline, tapml_call *call, uint64_t *out_value);

    // TAPML_DEADLINE when `timeout_ns` passes first. The signal has been flushed.
    tapml_status (*timeline_wait)(tapml_object *timeline,
                                  tapml_call *call,
                                  uint64_t value,
                                  uint64_t timeout_ns);

    // Minor 1. Work that is queued later on this queue begins when `point` is reached, without a
    // wait of the host. The timeline is one of this backend, of any device, and the signal has been
    // queued. TAPML_UNIMPLEMENTED: not for this point, the host waits. NULL: the host always waits.
    tapml_status (*queue_wait)(tapml_object *queue, tapml_call *call, tapml_point point);

    // Minor 3. Calls `function` once: when the timeline reaches `value`, or with the failure of its
    // queue if that comes first. On any thread, in no order, perhaps before this function returns,
    // and in any case before a timeline_wait for the value returns, if not with TAPML_DEADLINE, and
    // before the timeline is released. What queue_read was to read may arrive only with such a
    // wait. The signal has been queued and flushed. A failure: `function` is never called.
    // TAPML_UNIMPLEMENTED: not on this device, the host waits. NULL: the host always waits.
    tapml_status (*timeline_notify)(tapml_object *timeline,
                                    tapml_call *call,
                                    uint64_t value,
                                    tapml_notified function,
                                    void *user);
} tapml_backend;

// An optional interface of a queue: `interface_of(queue, TAPML_COUNTERS)`. A backend that launches
// no kernels leaves it out.
#define TAPML_COUNTERS "tapml.counters/1"

typedef struct tapml_counters {
    tapml_hdr hdr;

    // How many kernels the op calls on this queue have launched so far. Only grows.
    uint64_t (*launches)(tapml_object *queue);
} tapml_counters;

// An optional interface of a device: `interface_of(device, TAPML_IDENTITY)`. The host keeps results
// of an op as long as the digest of what computed them stays. Without this interface that is the
// build id of the library, so that any change of the plugin makes all results stale.
#define TAPML_IDENTITY "tapml.identity/1"

// Minor 2.
typedef struct tapml_identity {
    tapml_hdr hdr;

    // A digest of everything in the plugin that can change what the device computes for an op: the
    // kernels, the code that launches them, what ops share, compiler and options. It leaves out
    // what the host knows: device, driver, options of the component. Text of 1 to 63 printable
    // characters without blanks, which lives as long as the device. NULL: the build id counts for
    // this op.
    const char *(*digest)(tapml_object *device, const tapml_op *op);
} tapml_identity;

// An optional interface of a device, which is data: `interface_of(device, TAPML_LIMITS)`. The host
// prints it and forecasts by it; `supports` alone decides what runs.
#define TAPML_LIMITS "tapml.limits/1"

#define TAPML_LIMITS_HALF_UNKNOWN    0u
#define TAPML_LIMITS_HALF_NONE       1u // Kernels cannot load and store values of f16.
#define TAPML_LIMITS_HALF_STORAGE    2u // They can,
#define TAPML_LIMITS_HALF_ARITHMETIC 3u // and compute in f16.

// Minor 6. What a kernel may use on the device; 0 is unknown. Lives as long as the device.
typedef struct tapml_limits {
    tapml_hdr hdr;
    uint32_t bindings;     // Buffers of a kernel.
    uint32_t align;        // Bytes of which the offset of a binding is a multiple.
    uint32_t group_items;  // Work items of a workgroup.
    uint32_t shared_bytes; // That they share.
    uint32_t grid;         // Workgroups on one axis.
    uint32_t half;         // TAPML_LIMITS_HALF_*
} tapml_limits;

// An optional interface of a device: `interface_of(device, TAPML_ARITHMETIC)`. What its kernels
// lose on purpose. The host computes the same way in wide sums, judges the op by that, and says
// what it costs against f32. Ops that declare nothing are judged by f32.
#define TAPML_ARITHMETIC "tapml.arithmetic/1"

// Formats of numbers. Rounding is to nearest, ties to even, unless it says something else. With a
// scale: blocks of neighbouring values of a row have the scale `largest magnitude / largest number
// of the format`, and each value is the nearest number times it.
#define TAPML_FORMAT_F32      0u // Values as they come.
#define TAPML_FORMAT_TF32     1u // The exponents of f32, 10 binary digits behind the first.
#define TAPML_FORMAT_TF32_CUT 2u // The same, the other digits are dropped.
#define TAPML_FORMAT_BF16     3u
#define TAPML_FORMAT_F16      4u
#define TAPML_FORMAT_Q8       5u // Whole numbers from -127 to 127, with a scale in f32.
#define TAPML_FORMAT_Q8_HALF  6u // The same; the scale that they are multiplied by is in f16.
#define TAPML_FORMAT_E4M3     7u // 8-bit floats up to 448, with a scale in f32.
#define TAPML_FORMAT_E5M2     8u // 8-bit floats up to 57344, with a scale in f32.

// How an op is computed. The formats are TAPML_FORMAT_*.
typedef struct tapml_arithmetic_form {
    tapml_hdr hdr;

    // What values are rounded to before the op is computed: of the parameters that the schema also
    // takes as f16, those that only go in, states too. What is in an encoding stays.
    uint32_t inputs;  // Of activations and states.
    uint32_t block;   // Values that share a scale, where `inputs` has one; 0: a whole row.
    uint32_t weights; // Of plain weights; a format without a scale.

    uint32_t accumulator; // Of sums: F32, F16 or BF16. Formats of more digits are F32.
    uint32_t result;      // What outputs are rounded to; a format without a scale.
    uint32_t reserved;    // Zero.
} tapml_arithmetic_form;

// Minor 9.
typedef struct tapml_arithmetic {
    tapml_hdr hdr;

    // How the device computes an op, the same for all calls; NULL: in f32. Lives as long as the
    // device. A form that changes makes results stale, as another digest does.
    const tapml_arithmetic_form *(*form)(tapml_object *device, const tapml_op *op);
} tapml_arithmetic;

// An optional interface of a device: `interface_of(device, TAPML_MEMORY_HANDLES)`. Buffers over
// memory that something else has made, and memory of buffers for others, without a copy: between
// host and device, two devices, two processes.
#define TAPML_MEMORY_HANDLES "tapml.memory_handles/1"

// Kinds of handles: an open list of ids. What is written on one side of a handle is seen on the
// other by work that begins when the work that wrote it was waited for.
#define TAPML_HANDLE_POINTER "tapml.handle.pointer/1" // `pointer`: memory of this process.
#define TAPML_HANDLE_FILE    "tapml.handle.file/1"    // `descriptor`: a file to be mapped, a memfd.

#define TAPML_HANDLE_IMPORTS (1u << 0)
#define TAPML_HANDLE_EXPORTS (1u << 1)

// What a device does with the handles of a kind.
typedef struct tapml_handle_kind {
    tapml_hdr hdr;
    const char *id;  // TAPML_HANDLE_POINTER, ...
    uint32_t traits; // TAPML_HANDLE_IMPORTS, TAPML_HANDLE_EXPORTS
    uint32_t reserved;
    uint64_t grain; // Of imports address or offset, and size, are multiples: a power of two.
} tapml_handle_kind;

// Memory: `size` bytes behind the first `offset` of what the handle stands for.
typedef struct tapml_handle {
    tapml_hdr hdr;
    const char *kind;
    void *pointer;      // NULL of a kind that has none.
    int64_t descriptor; // -1 of a kind that has none.
    uint64_t offset;
    uint64_t size;
} tapml_handle;

// Minor 10.
typedef struct tapml_memory_handles {
    tapml_hdr hdr;

    // The list and what is in it live as long as the device.
    tapml_status (*kinds)(tapml_object *device,
                          tapml_call *call,
                          const tapml_handle_kind *const **out_list,
                          uint32_t *out_count);

    // A buffer of `size` bytes over the memory of a handle. A descriptor stays the caller's, who
    // may close it when this returns: the backend keeps a mapping or a duplicate of its own, up to
    // the buffer's release. Memory behind a pointer outlives the buffer, and a file does not become
    // shorter meanwhile; one that is too short is TAPML_INVALID. Without TAPML_ACCESS_WRITE nothing
    // is ever written. TAPML_UNIMPLEMENTED: not this kind, or not this memory, and a copy works.
    tapml_status (*buffer_import)(tapml_object *device,
                                  tapml_call *call,
                                  const tapml_handle *handle,
                                  uint32_t access,
                                  tapml_object **out_buffer);

    // A buffer, as that of tapml_backend, which can be exported as this kind.
    tapml_status (*buffer_new)(tapml_object *device,
                               tapml_call *call,
                               const char *kind,
                               uint64_t size,
                               tapml_object **out_buffer);

    // A handle of all memory of a buffer of this device; the caller has set its `hdr`. A descriptor
    // is a new one, which is closed by exec and which the caller closes: it keeps the memory, also
    // without the buffer. A pointer is one to memory as long as the buffer lives.
    // TAPML_UNIMPLEMENTED: not this kind, or the buffer was not made for it.
    tapml_status (*buffer_export)(tapml_object *buffer,
                                  tapml_call *call,
                                  const char *kind,
                                  tapml_handle *out_handle);
} tapml_memory_handles;

#ifdef __cplusplus
}
#endif

#endif
