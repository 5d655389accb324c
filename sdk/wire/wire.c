// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include <tapml/wire/wire.h>

#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 4096, VERSION_END = 6 };

static void store(unsigned char *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(value >> 8 * i);
    }
}

static uint64_t load(const unsigned char *from, unsigned bytes)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < bytes; i++) {
        value |= (uint64_t)from[i] << 8 * i;
    }
    return value;
}

// -- Frames ------------------------------------------------------------------------------------

enum wire_result wire_read(const void *bytes, size_t size, struct wire_frame *out_frame)
{
    const unsigned char *at = bytes;

    if (size < VERSION_END) {
        return WIRE_MORE;
    }
    *out_frame = (struct wire_frame){.version = (uint16_t)load(at + 4, 2)};
    if (load(at, 4) != WIRE_MAGIC) {
        return WIRE_BAD_MAGIC;
    }
    if (out_frame->version != WIRE_VERSION) {
        return WIRE_WRONG_VERSION;
    }
    if (size < WIRE_HEADER_BYTES) {
        return WIRE_MORE;
    }
    out_frame->verb = (uint16_t)load(at + 6, 2);
    out_frame->number = load(at + 8, 8);
    out_frame->size = (uint32_t)load(at + 16, 4);
    out_frame->data = at + WIRE_HEADER_BYTES;
    if (out_frame->size > WIRE_PAYLOAD_MAX) {
        return WIRE_TOO_LONG;
    }
    return size - WIRE_HEADER_BYTES < out_frame->size ? WIRE_MORE : WIRE_FRAME;
}

size_t wire_frame_bytes(const struct wire_frame *frame)
{
    return WIRE_HEADER_BYTES + (size_t)frame->size;
}

void wire_explain(enum wire_result result,
                  const struct wire_frame *frame,
                  char *out_text,
                  size_t text_size)
{
    switch (result) {
    case WIRE_BAD_MAGIC:
        (void)snprintf(out_text, text_size, "what it sends are no frames of the wire");
        return;
    case WIRE_WRONG_VERSION:
        (void)snprintf(out_text, text_size,
                       "it speaks version %u of the wire, this side speaks version %u",
                       frame->version, WIRE_VERSION);
        return;
    case WIRE_TOO_LONG:
        (void)snprintf(out_text, text_size, "its frame has %u bytes, at most %d are read",
                       (unsigned)frame->size, WIRE_PAYLOAD_MAX);
        return;
    case WIRE_FRAME:
    case WIRE_MORE:
        break;
    }
    (void)snprintf(out_text, text_size, "%s", "");
}

// -- Writing -----------------------------------------------------------------------------------

void wire_writer_release(struct wire_writer *writer)
{
    if (writer->data != NULL) {
        (void)writer->grow(writer->data, 0, 0);
    }
    *writer = (struct wire_writer){.grow = writer->grow};
}

// Room for `size` bytes at the end, or NULL.
static unsigned char *extend(struct wire_writer *writer, size_t size)
{
    size_t capacity = writer->capacity > 0 ? writer->capacity : FIRST_CAPACITY;

    if (writer->is_failed || size > WIRE_PAYLOAD_MAX) {
        writer->is_failed = 1;
        return NULL;
    }
    while (capacity - writer->size < size) {
        capacity *= 2;
    }
    if (capacity != writer->capacity) {
        unsigned char *data = writer->grow(writer->data, writer->size, capacity);

        if (data == NULL) {
            writer->is_failed = 1;
            return NULL;
        }
        writer->data = data;
        writer->capacity = capacity;
    }
    writer->size += size;
    return writer->data + writer->size - size;
}

static void put(struct wire_writer *writer, uint64_t value, unsigned bytes)
{
    unsigned char *to = extend(writer, bytes);

    if (to != NULL) {
        store(to, value, bytes);
    }
}

void wire_begin(struct wire_writer *writer, uint16_t verb, uint64_t number)
{
    writer->begin = writer->size;
    put(writer, WIRE_MAGIC, 4);
    put(writer, WIRE_VERSION, 2);
    put(writer, verb, 2);
    put(writer, number, 8);
    put(writer, 0, 8); // The size, once it is known, and four bytes so that payloads are aligned.
}

void wire_end(struct wire_writer *writer)
{
    if (writer->is_failed) {
        return;
    }
    const size_t size = writer->size - writer->begin - WIRE_HEADER_BYTES;

    if (size > WIRE_PAYLOAD_MAX) {
        writer->is_failed = 1;
        return;
    }
    store(writer->data + writer->begin + 16, size, 4);
}

void wire_put_u32(struct wire_writer *writer, uint32_t value)
{
    put(writer, value, 4);
}

void wire_put_u64(struct wire_writer *writer, uint64_t value)
{
    put(writer, value, 8);
}

void wire_put_i64(struct wire_writer *writer, int64_t value)
{
    put(writer, (uint64_t)value, 8);
}

void wire_put_f64(struct wire_writer *writer, double value)
{
    uint64_t bits = 0;

    memcpy(&bits, &value, sizeof(bits));
    put(writer, bits, 8);
}

void wire_put_text(struct wire_writer *writer, const char *text)
{
    const size_t size = text != NULL ? strlen(text) + 1 : 0;

    if (size > WIRE_PAYLOAD_MAX) {
        writer->is_failed = 1;
        return;
    }
    put(writer, size, 4);
    unsigned char *to = size > 0 ? extend(writer, size) : NULL;

    if (to != NULL) {
        memcpy(to, text, size);
    }
}

void wire_put_bytes(struct wire_writer *writer, const void *bytes, size_t size)
{
    unsigned char *to = size > 0 ? extend(writer, size) : NULL;

    if (to != NULL) {
        memcpy(to, bytes, size);
    }
}

// -- Reading -----------------------------------------------------------------------------------

void wire_reader_init(struct wire_reader *reader, const struct wire_frame *frame)
{
    const unsigned char *data = frame->data;

    *reader = (struct wire_reader){.at = data, .end = data + frame->size};
}

// The next `size` bytes, or NULL.
static const unsigned char *skip(struct wire_reader *reader, size_t size)
{
    const unsigned char *at = reader->at;

    if (reader->is_broken || (size_t)(reader->end - at) < size) {
        reader->is_broken = 1;
        return NULL;
    }
    reader->at += size;
    return at;
}

static uint64_t take(struct wire_reader *reader, unsigned bytes)
{
    const unsigned char *at = skip(reader, bytes);

    return at != NULL ? load(at, bytes) : 0;
}

uint32_t wire_take_u32(struct wire_reader *reader)
{
    return (uint32_t)take(reader, 4);
}

uint64_t wire_take_u64(struct wire_reader *reader)
{
    return take(reader, 8);
}

int64_t wire_take_i64(struct wire_reader *reader)
{
    return (int64_t)take(reader, 8);
}

double wire_take_f64(struct wire_reader *reader)
{
    const uint64_t bits = take(reader, 8);
    double value = 0;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

const char *wire_take_text(struct wire_reader *reader)
{
    const size_t size = wire_take_u32(reader);
    const unsigned char *at = size > 0 ? skip(reader, size) : NULL;

    if (at != NULL && (at[size - 1] != 0 || memchr(at, 0, size - 1) != NULL)) {
        reader->is_broken = 1;
        return NULL;
    }
    return (const char *)at;
}

const void *wire_take_bytes(struct wire_reader *reader, size_t size)
{
    return size > 0 ? skip(reader, size) : NULL;
}

size_t wire_left(const struct wire_reader *reader)
{
    return reader->is_broken ? 0 : (size_t)(reader->end - reader->at);
}

uint32_t wire_take_count(struct wire_reader *reader, size_t least)
{
    const uint32_t count = wire_take_u32(reader);

    if (!reader->is_broken && count > (size_t)(reader->end - reader->at) / least) {
        reader->is_broken = 1;
    }
    return reader->is_broken ? 0 : count;
}

int wire_is_done(const struct wire_reader *reader)
{
    return !reader->is_broken && reader->at == reader->end;
}
