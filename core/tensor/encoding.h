// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Block-quantised tensors: their layout in memory, encoding and decoding. docs/encodings.md defines
// the meaning of the bits, which the codecs of the SDK read and write (tapml/codec/codec.h).
//
// An encoded tensor is dense and complete: its last axis consists of complete blocks, it begins at
// a multiple of encoding_align bytes, and it has no partial views. What is said of blocks does not
// hold for encodings in tiles (tensor/tiles.h), which encoding_find and encoding_bytes know too.
#pragma once

#include "base/status.h"

#include <tapml/codec/codec.h>

enum { ENCODING_BLOCK_MAX = CODEC_VALUES_MAX };

enum { ENCODING_ADDED_MAX = 16 };

// Adds the encoding of blocks of a codec, which is copied: from now on it is found by its id and
// its word, until it was removed as often as it was added. TAPML_INVALID if another one has its id
// or its word; TAPML_UNAVAILABLE beyond ENCODING_ADDED_MAX. While no other thread uses encodings.
tapml_status encoding_add(const struct codec *codec) STATUS_USED;
void encoding_remove(const tapml_encoding *encoding);

// Whether an encoding is one that was added. [any]
int encoding_is_added(const tapml_encoding *encoding);

// Returns the encoding with this id, or NULL. It is constant. [any]
const tapml_encoding *encoding_find(const char *id);

// The words of users for the host's own encodings, in their order.
#define ENCODING_WORDS "q8_0 q4_0 q4_1 q5_0 q5_1 q4_k q5_k q6_k"

// Returns a word by its index, behind these of the encodings that were added; NULL behind the last.
// [any]
const char *encoding_word(size_t index);

// The user's word of an encoding; its id where it has none. [any]
const char *encoding_word_of(const tapml_encoding *encoding);

// Returns the encoding of a user's word, such as "q8_0" or "q4_k"; NULL for another word. [any]
const tapml_encoding *encoding_find_word(const char *word);

// Finds the encoding of a word, NULL for "stored". TAPML_INVALID names all words, and the one that
// may have been meant. [any]
tapml_status encoding_read(const char *word, const tapml_encoding **out_encoding) STATUS_USED;

// Returns the bytes of which a multiple is the start and the size of every tensor: the largest
// `align` of the spans. [any]
uint64_t encoding_align(const tapml_encoding *encoding);

// Returns the id of an encoding, or the name of `dtype` if `encoding` is NULL: "tapml.q8/1", "f32".
// [any]
const char *encoding_name(const tapml_encoding *encoding, uint32_t dtype);

// What a device takes beside the encodings of devices.
enum { ENCODING_TAKES_BLOCKS = 1 << 0, ENCODING_TAKES_TILES = 1 << 1 };

// The form of a weight's bytes.
struct encoding_form {
    const tapml_encoding *encoding; // NULL is plain.
    uint32_t dtype;                 // U8 where there is an encoding.
};

// Returns the form that a weight of `encoding` and `dtype` has on a device: the same one if the
// device takes such encodings, else of the blocks of files the one whose spans are read in words,
// and of tiles and of what was added the plain dtype of tensor/widen. [any]
struct encoding_form
encoding_on_device(const tapml_encoding *encoding, uint32_t dtype, unsigned takes);

// Turns `block_count` blocks of `from`, an encoding of blocks, into those of its encoding on a
// device that takes no blocks of files, which is another one. The values stay the same.
// TAPML_INVALID names the first block whose scale has no such form. [any]
tapml_status encoding_spread(const tapml_encoding *from,
                             const void *source,
                             uint64_t block_count,
                             void *out_target) STATUS_USED;

// Counts the bytes of a dense tensor, which is plain if `encoding` is NULL; of tiles those of the
// spans one after another. The size of an encoded
// tensor is a multiple of encoding_align. TAPML_INVALID if the size does not fit into 63 bits, or
// the last axis does not consist of complete blocks. [any]
tapml_status encoding_bytes(const tapml_encoding *encoding,
                            uint32_t dtype,
                            const int64_t *shape,
                            uint32_t rank,
                            uint64_t *out_bytes) STATUS_USED;

// Changes `shape`, of values, to that of the bytes that they lie in, of an encoding of one span:
// rows of it are rows of bytes. [any]
void encoding_byte_shape(const tapml_encoding *encoding, int64_t *shape, uint32_t rank);

// Returns the offset in bytes of span `index` in a tensor of `block_count` blocks. [any]
uint64_t encoding_span_begin(const tapml_encoding *encoding, uint64_t block_count, uint32_t index);

// The loss of precision of an encoding.
struct encoding_loss {
    double error_squares; // Sum over all values of (encoded - value)^2
    double value_squares; // and of value^2.
    double error_max;     // The largest |encoded - value|.
};

// Returns the root of error squares over value squares; 0 if all values are zero. [any]
double encoding_loss_relative(const struct encoding_loss *loss);

// Encodes `block_count` blocks of plain values of a float type to `out_target`, which has room for
// encoding_bytes, and adds to `loss`. TAPML_INVALID names the first block with a value that is not
// finite or that exceeds the range of the scales.
tapml_status encoding_encode(const tapml_encoding *encoding,
                             uint32_t dtype,
                             const void *source,
                             uint64_t block_count,
                             void *out_target,
                             struct encoding_loss *loss) STATUS_USED;

// Decodes one block of a tensor of `block_count` blocks at `source`. [any]
void encoding_decode(const tapml_encoding *encoding,
                     const void *source,
                     uint64_t block_count,
                     uint64_t block,
                     float out_values[ENCODING_BLOCK_MAX]);

// Copies blocks `first` .. `first + count - 1` of a tensor of `block_count` blocks into a tensor of
// `count` blocks. [any]
void encoding_slice(const tapml_encoding *encoding,
                    const void *source,
                    uint64_t block_count,
                    uint64_t first,
                    uint64_t count,
                    void *out_target);
