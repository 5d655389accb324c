// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Frames of the byte protocol: what a worker process and its host say to each other, and a page in
// a browser and the plugin that serves it. Each has verbs of its own.
//
// A frame is a header of 16 bytes and a payload; all numbers are little-endian. No pointer is ever
// in one. Whoever reads checks: a reader that runs past its payload gives zeros and stays broken.
// docs/wire.md has the verbs of a worker, plugins/webgpu/README.md those of a page.
#ifndef TAPML_WIRE_WIRE_H
#define TAPML_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_VERSION 2u          // Of the verbs and their payloads; both sides must have the same.
#define WIRE_MAGIC   0x4c504154u // "TAPL" as it lies in memory.

enum { WIRE_HEADER_BYTES = 16, WIRE_PAYLOAD_MAX = 1 << 24 };

struct wire_frame {
    uint16_t version;
    uint16_t verb;
    uint32_t number;  // A reply has that of its question.
    uint32_t size;    // Of the payload.
    const void *data; // In the bytes that were read.
};

enum wire_result {
    WIRE_FRAME, // A frame is there.
    WIRE_MORE,  // It goes on in bytes that are still to come.
    WIRE_BAD_MAGIC,
    WIRE_WRONG_VERSION, // `out_frame->version` is the other side's.
    WIRE_TOO_LONG
};

// Reads the frame at the begin of `bytes`. The header is looked at as soon as all of it is there.
enum wire_result wire_read(const void *bytes, size_t size, struct wire_frame *out_frame);

// Bytes of a frame that was read, with its header.
size_t wire_frame_bytes(const struct wire_frame *frame);

// What is wrong, as a sentence in `out_text`; "" for WIRE_FRAME and WIRE_MORE.
void wire_explain(enum wire_result result,
                  const struct wire_frame *frame,
                  char *out_text,
                  size_t text_size);

// -- Writing -----------------------------------------------------------------------------------

// Frames, one after the other. Zeroed to begin with, but for `grow`. Running out of memory marks
// it, as growing beyond the largest payload does: then nothing more is written.
struct wire_writer {
    // Gives a block of `size` bytes that begins with the `used` ones of `data`, which is freed; or
    // NULL, and then `data` stays. With a size of 0 it only frees. `data` may be NULL.
    void *(*grow)(void *data, size_t used, size_t size);
    unsigned char *data;
    size_t size;
    size_t capacity;
    size_t begin; // Of the open frame.
    int is_failed;
};

void wire_writer_release(struct wire_writer *writer); // `grow` stays.
void wire_begin(struct wire_writer *writer, uint16_t verb, uint32_t number);
void wire_end(struct wire_writer *writer);

void wire_put_u32(struct wire_writer *writer, uint32_t value);
void wire_put_u64(struct wire_writer *writer, uint64_t value);
void wire_put_i64(struct wire_writer *writer, int64_t value);
void wire_put_f64(struct wire_writer *writer, double value);

// With its zero byte and its length; NULL stays NULL.
void wire_put_text(struct wire_writer *writer, const char *text);

// Bytes as they are: their number must be known from elsewhere, or be all the rest of the payload.
void wire_put_bytes(struct wire_writer *writer, const void *bytes, size_t size);

// -- Reading -----------------------------------------------------------------------------------

struct wire_reader {
    const unsigned char *at;
    const unsigned char *end;
    int is_broken; // Something was not there, or was not what it should be.
};

void wire_reader_init(struct wire_reader *reader, const struct wire_frame *frame);
uint32_t wire_take_u32(struct wire_reader *reader);
uint64_t wire_take_u64(struct wire_reader *reader);
int64_t wire_take_i64(struct wire_reader *reader);
double wire_take_f64(struct wire_reader *reader);

// In the frame: lives as long. NULL where it was NULL, and where the reader is broken.
const char *wire_take_text(struct wire_reader *reader);

// The next `size` bytes, in the frame; NULL where they are not there, and for none.
const void *wire_take_bytes(struct wire_reader *reader, size_t size);

// Bytes that are left.
size_t wire_left(const struct wire_reader *reader);

// A count of things of which each takes at least `least` bytes of what is left; else the reader is
// broken and the answer 0: nobody allocates by a number that cannot be true.
uint32_t wire_take_count(struct wire_reader *reader, size_t least);

// Whether all was there and nothing is left.
int wire_is_done(const struct wire_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
