// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Frames of the byte protocol between a host and its worker process, and between the plugin webgpu
// and its page in a browser. Each of the two has verbs of its own.
//
// A frame is a header of 24 bytes and a payload; all numbers are little-endian. A frame never
// contains a pointer. Readers check bounds: a reader behind the end of its payload returns zeros
// and stays broken. docs/wire.md has the verbs of a worker, plugins/webgpu/README.md those of a
// page.
//
// Writers and readers belong to one thread at a time.
#ifndef TAPML_WIRE_WIRE_H
#define TAPML_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WIRE_VERSION 3u          // Of the verbs and their payloads; both sides must have the same.
#define WIRE_MAGIC   0x4c504154u // "TAPL" in memory.

enum { WIRE_HEADER_BYTES = 24, WIRE_PAYLOAD_MAX = 1 << 24 };

struct wire_frame {
    uint16_t version;
    uint16_t verb;
    uint64_t number;  // A reply has that of its request.
    uint32_t size;    // Of the payload.
    const void *data; // In the bytes that were read.
};

enum wire_result {
    WIRE_FRAME, // A complete frame.
    WIRE_MORE,  // The frame is not complete yet.
    WIRE_BAD_MAGIC,
    WIRE_WRONG_VERSION, // `out_frame->version` is the other side's.
    WIRE_TOO_LONG
};

// Reads the frame at the beginning of `bytes`. Magic and version are checked as soon as they are
// there, since the headers of other versions may be shorter; the rest with the whole header.
// `out_frame` borrows `bytes`.
enum wire_result wire_read(const void *bytes, size_t size, struct wire_frame *out_frame);

// Returns the bytes of a frame that was read, including its header.
size_t wire_frame_bytes(const struct wire_frame *frame);

// Writes the error as a sentence to `out_text`; "" for WIRE_FRAME and WIRE_MORE.
void wire_explain(enum wire_result result,
                  const struct wire_frame *frame,
                  char *out_text,
                  size_t text_size);

// -- Writing -----------------------------------------------------------------------------------

// Consecutive frames. Zeroed at first, except `grow`. If memory is exhausted, or a payload becomes
// too long, `is_failed` is set and later writes do nothing.
struct wire_writer {
    // Returns a block of `size` bytes that begins with the `used` bytes of `data`, and frees
    // `data`; or returns NULL and keeps `data`. A size of 0 only frees. `data` may be NULL.
    void *(*grow)(void *data, size_t used, size_t size);
    unsigned char *data;
    size_t size;
    size_t capacity;
    size_t begin; // Of the open frame.
    int is_failed;
};

// Frees the frames; `grow` stays, so that the writer can be used again.
void wire_writer_release(struct wire_writer *writer);
// Begins a frame, and ends it by writing the size of its payload.
void wire_begin(struct wire_writer *writer, uint16_t verb, uint64_t number);
void wire_end(struct wire_writer *writer);

// Append a number to the payload, in little-endian order.
void wire_put_u32(struct wire_writer *writer, uint32_t value);
void wire_put_u64(struct wire_writer *writer, uint64_t value);
void wire_put_i64(struct wire_writer *writer, int64_t value);
void wire_put_f64(struct wire_writer *writer, double value);

// Appends a text with its length and its zero byte; NULL is read as NULL.
void wire_put_text(struct wire_writer *writer, const char *text);

// Appends plain bytes. The reader must know their number, or read the rest of the payload.
void wire_put_bytes(struct wire_writer *writer, const void *bytes, size_t size);

// -- Reading -----------------------------------------------------------------------------------

struct wire_reader {
    const unsigned char *at;
    const unsigned char *end;
    int is_broken; // The payload was too short, or a value was malformed.
};

// Starts at the beginning of a frame's payload, which the reader borrows.
void wire_reader_init(struct wire_reader *reader, const struct wire_frame *frame);
// Read a number; 0 if the payload is too short, which breaks the reader.
uint32_t wire_take_u32(struct wire_reader *reader);
uint64_t wire_take_u64(struct wire_reader *reader);
int64_t wire_take_i64(struct wire_reader *reader);
double wire_take_f64(struct wire_reader *reader);

// Reads a text, which lives as long as the frame. NULL if it was written as NULL, or if the reader
// is broken.
const char *wire_take_text(struct wire_reader *reader);

// Reads `size` bytes, which live as long as the frame. NULL if the payload is too short, and for
// size 0.
const void *wire_take_bytes(struct wire_reader *reader, size_t size);

// Returns the number of bytes that are left.
size_t wire_left(const struct wire_reader *reader);

// A count of things of which each takes at least `least` bytes of what is left; else the reader is
// broken and the answer 0: no memory is allocated by a number that cannot be true.
uint32_t wire_take_count(struct wire_reader *reader, size_t least);

// Whether all was there and nothing is left.
int wire_is_done(const struct wire_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
