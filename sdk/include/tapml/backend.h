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

#ifdef __cplusplus
}
#endif

#endif
