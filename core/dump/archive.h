// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Archives in the format of zip, as NumPy's npz: entries that are stored or deflated, one after the
// other, from memory.
//
// Nothing is unpacked into files. Sizes, places and checksums are checked; an entry that claims to
// be larger than deflate can make it is refused. One thread.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct archive {
    const char *name; // For messages.
    const unsigned char *data;
    size_t size;
    size_t at;        // Of the next entry in the directory.
    size_t remaining; // Entries behind it.
};

struct archive_entry {
    const char *name; // Not ended by a zero byte.
    size_t name_length;
    int is_deflated;
    uint32_t checksum;
    const unsigned char *packed;
    size_t packed_bytes, bytes;
};

// Finds the directory of an archive of `size` bytes, which outlive it. TAPML_INVALID: it has none.
tapml_status archive_open(const char *name,
                          const void *data,
                          size_t size,
                          struct archive *out_archive) STATUS_USED;

// The next entry; `*out_has` is 0 behind the last. TAPML_INVALID: it does not lie in the archive,
// or is encrypted or packed otherwise.
tapml_status
archive_next(struct archive *archive, struct archive_entry *out_entry, int *out_has) STATUS_USED;

// The bytes of an entry, `entry->bytes` of them, which the caller frees by alloc_free.
// TAPML_INVALID: they are not what the archive says.
tapml_status archive_read(const struct archive *archive,
                          const struct archive_entry *entry,
                          void **out_bytes) STATUS_USED;
