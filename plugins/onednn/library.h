// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The library behind one door. A step is one primitive on operands; it is made once for each
// description and kept. A status of the library that is not success becomes a sentence that names
// the call.
#pragma once

#include <tapml/memory/object.h>
#include <tapml/op.h>

#include <oneapi/dnnl/dnnl.h>
#include <pthread.h>

enum library_kind {
    LIBRARY_REORDER,    // from, to
    LIBRARY_ELTWISE,    // x, y, which lie alike
    LIBRARY_BINARY,     // a, b, y
    LIBRARY_MATMUL,     // x, weights, y, perhaps a bias
    LIBRARY_REDUCTION,  // x, y
    LIBRARY_LAYER_NORM, // x, y, which lie alike, perhaps a weight, perhaps a bias; alpha is eps
    LIBRARY_SOFTMAX,    // x, y: over the last axis
};

// Memory beside tensors, by what it holds; it grows and stays.
enum library_scratch {
    SCRATCH_WEIGHTS,
    SCRATCH_BIAS,
    SCRATCH_INPUTS,
    SCRATCH_SCALES,
    SCRATCH_SUMS,
    SCRATCH_MASK,
    SCRATCH_COUNT,
};

// What products do with what goes into them. Everything else is f32 on all devices.
enum device_form {
    DEVICE_F32,
    DEVICE_BF16, // Activations and plain weights of f32 are rounded to bf16.
    DEVICE_INT8, // Activations are rounded to 8 bits in blocks of 32; weights have such blocks.
    DEVICE_FORMS,
};

enum { LIBRARY_OPERANDS = 4, LIBRARY_ENTRIES = 256, LIBRARY_PROBLEM = 128 };

// How an operand lies. No padding and nothing undefined: views are compared as bytes.
struct view {
    int32_t rank, type;        // No axes: it is absent.
    dnnl_dims_t shape, stride; // Stride 0 repeats.
};

struct operand {
    struct view view;
    void *address; // NULL in a trial.
};

struct step {
    enum library_kind kind;
    dnnl_alg_kind_t algorithm; // Of an eltwise, a binary and a reduction.
    float alpha, beta;
    const struct operand *operands[LIBRARY_OPERANDS]; // NULL where one may be absent.
};

// A step without addresses.
struct recipe {
    uint32_t kind, algorithm, alpha, beta; // Numbers as bits, to be compared as such.
    struct view views[LIBRARY_OPERANDS];
};

struct library {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    pthread_mutex_t lock; // Calls of several queues come one after the other.
    uint64_t steps;       // So far.
    struct {
        void *data;
        size_t bytes;
    } scratch[SCRATCH_COUNT];
    struct entry {           // A primitive that is kept; the one not used for longest makes room.
        uint64_t hash, used; // `used` is 0 where there is none.
        struct recipe recipe;
        dnnl_primitive_t primitive;
        dnnl_memory_t memories[LIBRARY_OPERANDS];
    } entries[LIBRARY_ENTRIES];
};

// A call of an op, or the question whether it would work: then primitives are made and nothing is
// computed. Behind the first problem all steps do nothing, so that a caller looks at the end alone.
struct run {
    struct library *library;
    const struct memory_object *object;
    const tapml_op *op;
    enum device_form form;
    int is_trial;
    char problem[LIBRARY_PROBLEM]; // Empty while all is well.
};

// Opens the engine and a stream. `library` is zero. Returns 1, or 0 with a sentence; either way
// library_close is called.
int library_open(struct library *library, char problem[LIBRARY_PROBLEM]);
void library_close(struct library *library, const struct memory_object *object);

// Whether there is something to compute: neither a trial nor a problem.
int run_is_live(const struct run *run);

// Sets the problem, if it is the first.
void run_refuse(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A tensor, or no axes for NULL. An encoding and panels are a problem.
struct operand run_operand(struct run *run, const tapml_tensor *tensor);

// Dense memory of a shape and a type, undefined, until the same is asked for again. No address
// where nothing is computed.
struct operand run_scratch(struct run *run, enum library_scratch scratch, struct view view);

// `operand` where it has the type or is absent, else its values in that type, in scratch memory.
struct operand run_convert(struct run *run,
                           const struct operand *operand,
                           dnnl_data_type_t type,
                           enum library_scratch scratch);

void run_step(struct run *run, const struct step *step);

// Moves the address by elements of the operand.
void operand_move(struct operand *operand, int64_t elements);

// Puts axes of extent 1 in front, up to `rank` axes; one that is absent stays so.
void operand_raise(struct operand *operand, int32_t rank);
