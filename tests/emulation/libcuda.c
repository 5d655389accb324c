// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for NVIDIA's driver: one device, which is this CPU. It is an emulation for tests: it
// shows that the plugin makes the calls that it must, in an order that is allowed, and that the
// kernels compute what they should; it has no memory model of a GPU, no speed, and is not NVIDIA's
// code.
//
// Commands are put into a list and run when somebody waits, or one with each question, as late as
// the interface allows: what is taken back too early shows. Memory of the device ends at a page
// that nobody can touch, and begins as NaN. A callback has a thread of its own, from which no other
// function can be called, and may come after the wait for what is behind it.
//
// The environment corrupts it:
//   EMULATED_CUDA_FAULT  "absent" finds no device; "launch" loses the device at its third launch
//   EMULATED_CUDA_CAPABILITY  80; another one, such as 999
#include "compile.h"
#include "cuda.h"
#include "memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INVALID_VALUE = 1,
    NOT_INITIALIZED = 3,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NOT_FOUND = 500,
    FAULTY_LAUNCH = 3,
    ARGUMENT_MAX = 16,
};

struct CUctx_st {
    int uses;
    int launches;
    CUresult failure;
};

struct CUmod_st {
    struct emulation_object object;
};

struct CUfunc_st {
    void (*run)(void **arguments, const unsigned *grid, unsigned items);
    unsigned params_size, argument_count;
    struct CUfunc_st *next;
};

enum command_kind {
    COMMAND_COPY,
    COMMAND_LAUNCH,
    COMMAND_RUN,
    COMMAND_EVENT,
    COMMAND_WAIT,
    COMMAND_CALLBACK
};

struct command {
    struct command *next;
    enum command_kind kind;
    unsigned char *target;
    const unsigned char *source;
    size_t size;
    CUevent event;
    unsigned reached; // What a wait wants of the event.
    CUstreamCallback *callback;
    void *user;           // Of a callback, or the data of what another library does,
    void (*work)(void *); // which is this.
    CUfunction function;
    unsigned grid[3], items;
    unsigned char params[128];
    CUdeviceptr buffers[ARGUMENT_MAX];
};

struct CUstream_st {
    struct command *first, **last;
    CUstream next;

    // The last callback, of which no other one of the stream is called before it returns.
    CUstreamCallback *callback;
    void *user;
    CUresult code;
    pthread_t thread;
    int is_calling;
};

struct CUevent_st {
    CUstream stream;
    unsigned recorded, reached; // Times.
};

struct span {
    struct span *next;
    struct emulation_memory memory;
};

static struct CUctx_st primary;
static CUfunction functions;
static CUstream streams;
static struct span *spans;
static int is_initialized;
static _Thread_local CUcontext current;

#define WANTS_CONTEXT()                                                                            \
    do {                                                                                           \
        if (current == NULL) {                                                                     \
            return INVALID_CONTEXT;                                                                \
        }                                                                                          \
        if (current->failure != CUDA_SUCCESS) {                                                    \
            return current->failure;                                                               \
        }                                                                                          \
    } while (0)

static int is_fault(const char *name)
{
    const char *fault = getenv("EMULATED_CUDA_FAULT");

    return fault != NULL && strcmp(fault, name) == 0;
}

CUresult cuGetErrorString(CUresult code, const char **out_text)
{
    switch (code) {
    case CUDA_ERROR_NO_DEVICE:
        *out_text = "no CUDA-capable device is detected";
        return CUDA_SUCCESS;
    case CUDA_ERROR_ILLEGAL_ADDRESS:
        *out_text = "an illegal memory access was encountered";
        return CUDA_SUCCESS;
    default:
        *out_text = NULL;
        return INVALID_VALUE;
    }
}

// -- Devices -----------------------------------------------------------------------------------

CUresult cuInit(unsigned flags)
{
    if (is_fault("absent")) {
        return CUDA_ERROR_NO_DEVICE;
    }
    is_initialized = 1;
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *out_version)
{
    *out_version = 13000;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *out_count)
{
    *out_count = 1;
    return is_initialized ? CUDA_SUCCESS : NOT_INITIALIZED;
}

CUresult cuDeviceGet(CUdevice *out_device, int ordinal)
{
    *out_device = ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)snprintf(name, (size_t)size, "CUDA emulated on the CPU");
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *out_uuid, CUdevice device)
{
    memcpy(out_uuid->bytes, "tapml emulation!", sizeof(out_uuid->bytes));
    return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *out_bytes, CUdevice device)
{
    *out_bytes = (size_t)2 << 30;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *out_value, CUdevice_attribute attribute, CUdevice device)
{
    const char *capability = getenv("EMULATED_CUDA_CAPABILITY");
    const int number = capability != NULL ? (int)strtol(capability, NULL, 10) : 80;

    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *out_value = 1024;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *out_value = 48 << 10;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *out_value = 32;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *out_value = number / 10;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *out_value = number % 10;
        return CUDA_SUCCESS;
    default:
        return INVALID_VALUE;
    }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *out_context, CUdevice device)
{
    if (!is_initialized) {
        return NOT_INITIALIZED;
    }
    primary.uses++;
    *out_context = &primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    return --primary.uses < 0 ? INVALID_CONTEXT : CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

// -- Commands ----------------------------------------------------------------------------------

static void run_launch(const struct command *command)
{
    void *arguments[ARGUMENT_MAX];

    if (++current->launches == FAULTY_LAUNCH && is_fault("launch")) {
        current->failure = CUDA_ERROR_ILLEGAL_ADDRESS;
        return;
    }
    for (unsigned i = 0; i < command->function->argument_count; i++) {
        const void *argument = i == 0 ? (const void *)command->params : &command->buffers[i];

        memcpy(&arguments[i], &argument, sizeof(argument)); // The kernel only reads them.
    }
    command->function->run(arguments, command->grid, command->items);
}

static void finish_callback(CUstream stream)
{
    if (stream->is_calling) {
        (void)pthread_join(stream->thread, NULL);
        stream->is_calling = 0;
    }
}

static void *call_back(void *user)
{
    CUstream stream = user;

    stream->callback(stream, stream->code, stream->user);
    return NULL;
}

static void begin_callback(CUstream stream, const struct command *command)
{
    finish_callback(stream);
    stream->callback = command->callback;
    stream->user = command->user;
    stream->code = current->failure;
    stream->is_calling = pthread_create(&stream->thread, NULL, call_back, stream) == 0;
    if (!stream->is_calling) {
        (void)call_back(stream);
    }
}

// Runs the oldest command. Nothing but a callback runs on a device that is lost.
static void run_one(CUstream stream)
{
    struct command *command = stream->first;

    stream->first = command->next;
    if (stream->first == NULL) {
        stream->last = &stream->first;
    }
    if (command->kind == COMMAND_EVENT) {
        command->event->reached++;
    } else if (command->kind == COMMAND_WAIT) {
        while (command->event->reached < command->reached) {
            run_one(command->event->stream);
        }
    } else if (command->kind == COMMAND_CALLBACK) {
        begin_callback(stream, command);
    } else if (current->failure == CUDA_SUCCESS) {
        if (command->kind == COMMAND_COPY) {
            memcpy(command->target, command->source, command->size);
        } else if (command->kind == COMMAND_RUN) {
            command->work(command->user);
        } else {
            run_launch(command);
        }
    }
    if (command->kind == COMMAND_RUN) {
        free(command->user);
    }
    free(command);
}

static int is_ready(const struct command *command)
{
    return command != NULL &&
           (command->kind == COMMAND_CALLBACK ||
            (command->kind == COMMAND_WAIT && command->event->reached >= command->reached));
}

// Calls back what waits for nothing more. The host need not wait for that.
static void call_back_all(void)
{
    for (CUstream stream = streams; stream != NULL; stream = stream->next) {
        while (is_ready(stream->first)) {
            run_one(stream);
        }
    }
}

static CUresult append(CUstream stream, const struct command *command)
{
    struct command *copy = malloc(sizeof(*copy));

    if (copy == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *copy = *command;
    copy->next = NULL;
    *stream->last = copy;
    stream->last = &copy->next;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *out_stream, unsigned flags)
{
    WANTS_CONTEXT();
    *out_stream = calloc(1, sizeof(**out_stream));
    if (*out_stream == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    (*out_stream)->last = &(*out_stream)->first;
    (*out_stream)->next = streams;
    streams = *out_stream;
    return CUDA_SUCCESS;
}

static void drain(CUstream stream)
{
    while (stream->first != NULL) {
        run_one(stream);
    }
    finish_callback(stream);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    WANTS_CONTEXT();
    drain(stream);
    call_back_all();
    return current->failure;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    CUstream *at = &streams;

    drain(stream);
    while (*at != stream) {
        at = &(*at)->next;
    }
    *at = stream->next;
    free(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    WANTS_CONTEXT();
    return append(stream, &(struct command){
                              .kind = COMMAND_WAIT, .event = event, .reached = event->recorded});
}

CUresult
cuStreamAddCallback(CUstream stream, CUstreamCallback *function, void *user, unsigned flags)
{
    WANTS_CONTEXT();
    const CUresult code = append(
        stream, &(struct command){.kind = COMMAND_CALLBACK, .callback = function, .user = user});

    call_back_all();
    return code;
}

CUresult cuEventCreate(CUevent *out_event, unsigned flags)
{
    WANTS_CONTEXT();
    *out_event = calloc(1, sizeof(**out_event));
    return *out_event != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy_v2(CUevent event)
{
    free(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    WANTS_CONTEXT();
    event->stream = stream;
    event->recorded++;
    return append(stream, &(struct command){.kind = COMMAND_EVENT, .event = event});
}

CUresult cuEventQuery(CUevent event)
{
    WANTS_CONTEXT();
    if (event->reached == event->recorded) {
        return CUDA_SUCCESS;
    }
    run_one(event->stream);
    call_back_all();
    return current->failure != CUDA_SUCCESS ? current->failure : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent event)
{
    WANTS_CONTEXT();
    while (event->reached < event->recorded) {
        run_one(event->stream);
        call_back_all();
    }
    return current->failure;
}

// -- Memory ------------------------------------------------------------------------------------

static CUdeviceptr address(const struct span *span)
{
    return (CUdeviceptr)(uintptr_t)span->memory.begin;
}

CUresult cuMemAlloc_v2(CUdeviceptr *out_memory, size_t size)
{
    WANTS_CONTEXT();
    struct span *span = calloc(1, sizeof(*span));

    if (span == NULL || size == 0 || !emulation_memory_new(size, &span->memory)) {
        free(span);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    span->next = spans;
    spans = span;
    *out_memory = address(span);
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr memory)
{
    for (struct span **at = &spans; *at != NULL; at = &(*at)->next) {
        if (address(*at) == memory) {
            struct span *span = *at;

            *at = span->next;
            emulation_memory_free(&span->memory);
            free(span);
            return CUDA_SUCCESS;
        }
    }
    return INVALID_VALUE;
}

CUresult cuMemHostAlloc(void **out_memory, size_t size, unsigned flags)
{
    WANTS_CONTEXT();
    *out_memory = malloc(size);
    return *out_memory != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFreeHost(void *memory)
{
    free(memory);
    return CUDA_SUCCESS;
}

api_emulated_cuda_find emulated_cuda_find;

unsigned char *emulated_cuda_find(CUdeviceptr memory, size_t size)
{
    for (struct span *span = spans; span != NULL; span = span->next) {
        const CUdeviceptr at = memory - address(span); // Huge where it lies before.

        if (at <= span->memory.size && size <= span->memory.size - at) {
            return span->memory.begin + at;
        }
    }
    return NULL;
}

api_emulated_cuda_run emulated_cuda_run;

CUresult emulated_cuda_run(CUstream stream, void (*function)(void *), const void *data, size_t size)
{
    WANTS_CONTEXT();
    struct command command = {.kind = COMMAND_RUN, .work = function, .user = malloc(size)};

    if (command.user == NULL) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(command.user, data, size);
    return append(stream, &command);
}

static CUresult copy(unsigned char *target, const void *source, size_t size, CUstream stream)
{
    WANTS_CONTEXT();
    if (target == NULL || source == NULL) {
        return INVALID_VALUE;
    }
    return append(
        stream,
        &(struct command){.kind = COMMAND_COPY, .target = target, .source = source, .size = size});
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream)
{
    return copy(emulated_cuda_find(target, size), emulated_cuda_find(source, size), size, stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t size, CUstream stream)
{
    return copy(target, emulated_cuda_find(source, size), size, stream);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t size, CUstream stream)
{
    return copy(emulated_cuda_find(target, size), source, size, stream);
}

// -- Kernels -----------------------------------------------------------------------------------

CUresult cuModuleLoadData(CUmodule *out_module, const void *image)
{
    struct cuda_image head;

    WANTS_CONTEXT();
    memcpy(&head, image, sizeof(head));
    if (memcmp(head.magic, CUDA_IMAGE_MAGIC, sizeof(head.magic)) != 0) {
        return INVALID_IMAGE;
    }
    CUmodule module = calloc(1, sizeof(*module));

    if (module == NULL ||
        !emulation_load((const unsigned char *)image + sizeof(head), head.size, &module->object)) {
        free(module);
        return INVALID_IMAGE;
    }
    *out_module = module;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    emulation_unload(&module->object);
    free(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *out_function, CUmodule module, const char *name)
{
    unsigned (*params)(void) = NULL, (*count)(void) = NULL;
    CUfunction function = calloc(1, sizeof(*function));

    WANTS_CONTEXT();
    if (function == NULL || !emulation_find(&module->object, "run", name, &function->run) ||
        !emulation_find(&module->object, "params", name, &params) ||
        !emulation_find(&module->object, "count", name, &count)) {
        free(function);
        return NOT_FOUND;
    }
    function->params_size = params();
    function->argument_count = count();
    function->next = functions; // Kept: nothing gives a function back.
    functions = function;
    *out_function = function;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function,
                        unsigned grid_x,
                        unsigned grid_y,
                        unsigned grid_z,
                        unsigned block_x,
                        unsigned block_y,
                        unsigned block_z,
                        unsigned shared_bytes,
                        CUstream stream,
                        void **params,
                        void **extra)
{
    struct command command = {
        .kind = COMMAND_LAUNCH,
        .function = function,
        .grid = {grid_x, grid_y, grid_z},
        .items = block_x,
    };

    WANTS_CONTEXT();
    if (grid_x == 0 || grid_y == 0 || grid_z == 0 || grid_y > 65535 || grid_z > 65535 ||
        block_x == 0 || block_x > 1024 || block_y != 1 || block_z != 1) {
        return INVALID_VALUE;
    }
    memcpy(command.params, params[0], function->params_size);
    for (unsigned i = 1; i < function->argument_count; i++) {
        memcpy(&command.buffers[i], params[i], sizeof(CUdeviceptr));
        if (emulated_cuda_find(command.buffers[i], 0) == NULL) {
            return INVALID_VALUE;
        }
    }
    return append(stream, &command);
}
