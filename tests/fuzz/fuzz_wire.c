// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// sdk/wire, link/serve and link/client: any bytes as what the one side says to the other. The first
// byte chooses the side that is fed; the rest is frames.
#include "fuzz.h"

#include "harness/calls.h"
#include "harness/plain.h"
#include "link/client.h"
#include "link/far_side.h"
#include "link/serve.h"

#include <tapml/ops.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUFFER_BYTES_MAX = 1 << 16, REGION_BYTES = 4096 };

// -- A device in ordinary memory, whose ops read and write the ends of their tensors ------------

struct device {
    struct backend_wrapper wrapper; // First. What it wraps is plain memory.
    struct backend_vt vt;
    struct backend_info info;
    struct catalogue *catalogue;
};

static const struct backend_info *device_info(const struct backend *backend)
{
    return &((const struct device *)backend)->info;
}

static int device_has_op(struct backend *backend, const tapml_op *op)
{
    return 1;
}

static tapml_status device_supports(struct backend *backend,
                                    const struct compiled_op *schema,
                                    const tapml_value *args,
                                    tapml_support *answer)
{
    answer->grade = TAPML_SUPPORT_YES;
    return TAPML_OK;
}

static tapml_status device_new(struct backend *backend, uint64_t size, tapml_object **out_buffer)
{
    if (size > BUFFER_BYTES_MAX) {
        return status_fail(TAPML_NO_MEMORY, "it is too large");
    }
    return backend_forward_vt.buffer_new(backend, size, out_buffer);
}

// Memory that was shared can only be read.
static void touch(const tapml_tensor *tensor, int is_written)
{
    uint64_t last = 0, dense = 1;
    for (uint32_t i = tensor->rank; i > 0; i--) {
        const uint64_t extent = (uint64_t)tensor->shape[i - 1];
        if (extent == 0) {
            return;
        }
        last += (extent - 1) * (tensor->stride ? (uint64_t)tensor->stride[i - 1] : dense);
        dense *= extent;
    }
    const uint64_t element = TAPML_DT_BYTES(tensor->dtype);
    unsigned char *memory = (unsigned char *)plain_bytes(tensor->buffer) + tensor->offset;
    unsigned char *const ends[] = {memory, memory + (last + 1) * element - 1};
    for (int i = 0; i < 2; i++) {
        const volatile unsigned char found = *ends[i];
        if (is_written) {
            *ends[i] = found ^ 1;
        }
    }
}

static tapml_status device_call(struct backend *backend, const struct backend_call *call)
{
    for (uint32_t p = 0; p < call->op->n_params; p++) {
        const tapml_value *value = &call->args[p];
        const tapml_tensor *one = value->u.p;
        const tapml_tensor *const *list = value->kind == TAPML_P_TENSORS_IN ? value->u.p : &one;
        const int has_tensors =
            value->kind >= TAPML_P_TENSOR_IN && value->kind <= TAPML_P_TENSORS_IN;
        const uint32_t count = value->kind == TAPML_P_TENSORS_IN ? value->count : 1;
        for (uint32_t i = 0; has_tensors && i < count; i++) {
            for (const tapml_tensor *panel = list[i]; panel; panel = panel->next) {
                touch(panel, value->kind == TAPML_P_TENSOR_OUT);
            }
        }
    }
    return TAPML_OK;
}

static struct catalogue *make_catalogue(void)
{
    struct catalogue *catalogue = NULL;
    FUZZ_CHECK(catalogue_create(&catalogue) == TAPML_OK);
    FUZZ_CHECK(catalogue_add(catalogue, &tapml_silu, "fuzz", NULL) == TAPML_OK);
    FUZZ_CHECK(catalogue_add(catalogue, &tapml_linear, "fuzz", NULL) == TAPML_OK);
    return catalogue;
}

static void make_device(struct device *device)
{
    struct backend *memory = plain_create();
    *device = (struct device){.wrapper = {.backend = {.vt = &device->vt}, .inner = memory},
                              .vt = backend_forward_vt,
                              .info = *backend_info(memory),
                              .catalogue = make_catalogue()};
    device->vt.info = device_info;
    device->vt.has_op = device_has_op;
    device->vt.supports = device_supports;
    device->vt.buffer_new = device_new;
    device->vt.call = device_call;
    device->info.buffer_bytes_max = BUFFER_BYTES_MAX;
}

static void release_device(struct device *device)
{
    catalogue_destroy(device->catalogue);
    backend_forget(&device->wrapper.backend);
    backend_release(device->wrapper.inner);
}

// -- The far side, fed ---------------------------------------------------------------------------

static tapml_status open_device(void *user,
                                const struct message_setting *settings,
                                size_t count,
                                struct backend **out_backend,
                                struct catalogue **out_catalogue)
{
    struct device *device = user;
    *out_backend = &device->wrapper.backend;
    *out_catalogue = device->catalogue;
    return TAPML_OK;
}

static int make_region(void)
{
    const int descriptor = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(descriptor >= 0 && ftruncate(descriptor, REGION_BYTES) == 0);
    return descriptor;
}

static void feed_server(const uint8_t *data, size_t size)
{
    struct device device;
    struct server *server = NULL;
    struct wire_writer replies = MESSAGE_WRITER;
    struct wire_frame frame = {0};
    make_device(&device);
    tapml_status status =
        serve_create(&(struct serve_options){.open = open_device, .user = &device}, &server);
    while (status == TAPML_OK && wire_read(data, size, &frame) == WIRE_FRAME) {
        const int has_memory = message_has_descriptor(frame.verb);
        status = serve_frame(server, &frame, has_memory ? make_region() : -1, &replies);
        data += wire_frame_bytes(&frame);
        size -= wire_frame_bytes(&frame);
        replies.size = 0;
    }
    serve_destroy(server);
    wire_writer_release(&replies);
    release_device(&device);
}

// -- The near side, fed --------------------------------------------------------------------------

struct answers {
    struct channel channel; // First.
    const uint8_t *data;
    size_t size;
};

static tapml_status answers_start(struct channel *channel)
{
    return TAPML_OK;
}

static tapml_status
answers_send(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    return TAPML_OK;
}

static tapml_status
answers_receive(struct channel *channel, uint64_t timeout_ns, struct wire_frame *out_frame)
{
    struct answers *answers = (struct answers *)channel;
    if (wire_read(answers->data, answers->size, out_frame) != WIRE_FRAME) {
        answers->size = 0;
        return status_fail(TAPML_UNAVAILABLE, "said nothing more");
    }
    answers->data += wire_frame_bytes(out_frame);
    answers->size -= wire_frame_bytes(out_frame);
    return TAPML_OK;
}

static void answers_stop(struct channel *channel)
{
    // There is nobody to end.
}

static const char *answers_last_words(struct channel *channel)
{
    return "";
}

static const struct channel_vt answers_vt = {
    .release = answers_stop,
    .start = answers_start,
    .send = answers_send,
    .receive = answers_receive,
    .stop = answers_stop,
    .last_words = answers_last_words,
};

static void use(struct backend *backend)
{
    unsigned char bytes[64] = {0};
    tapml_object *buffer = NULL;
    if (backend_buffer_new(backend, sizeof(bytes), &buffer) != TAPML_OK) {
        return;
    }
    const int64_t shape[] = {4, 4};
    const tapml_tensor x = {.hdr = TAPML_HDR(tapml_tensor),
                            .dtype = TAPML_F32,
                            .rank = 2,
                            .shape = shape,
                            .buffer = buffer};
    const tapml_value args[] = {{.kind = TAPML_P_TENSOR_IN, .u.p = &x},
                                {.kind = TAPML_P_TENSOR_OUT, .u.p = &x}};
    const struct backend_call call = {.op = &tapml_silu, .args = args, .instance = "here"};
    tapml_support support;
    struct backend_point point;
    // Each may fail or not: what counts is what they do to this process.
    (void)backend_supports(backend, schema_of(&tapml_silu), args, &support);
    (void)backend_write(backend, buffer, 0, bytes, sizeof(bytes));
    (void)calls_make(backend, &call);
    (void)backend_read(backend, buffer, 0, bytes, sizeof(bytes));
    if (backend_signal(backend, &point) == TAPML_OK) {
        (void)backend_fill(backend, buffer, 0, sizeof(bytes), 0);
        (void)backend_wait_for(backend, point);
    }
    (void)backend_wait(backend);
    (void)backend_launches(backend);
    (void)client_count(backend, 0);
    backend_buffer_free(backend, buffer);
}

static void feed_client(const uint8_t *data, size_t size)
{
    struct answers answers = {.channel = {.vt = &answers_vt}, .data = data, .size = size};
    struct catalogue *catalogue = make_catalogue();
    struct arena *arena = arena_create();
    struct backend *backend = NULL;
    FUZZ_CHECK(arena);
    const tapml_status status =
        client_create(&(struct far_side_options){.channel = &answers.channel,
                                                 .catalogue = catalogue,
                                                 .arena = arena,
                                                 .counter_count = 1},
                      &backend);
    // A worker that says what makes no sense is TAPML_INTERNAL, too.
    FUZZ_CHECK(status == TAPML_OK || status_message()[0]);
    if (status == TAPML_OK) {
        use(backend);
        backend_release(backend);
    }
    catalogue_destroy(catalogue);
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    (void)schema_of(&tapml_silu); // It is kept from input to input.
    fuzz_begin();
    if (data[0] % 2 == 0) {
        feed_server(data + 1, size - 1);
    } else {
        feed_client(data + 1, size - 1);
    }
    fuzz_end();
    return 0;
}
