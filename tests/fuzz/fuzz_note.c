// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// plugin/note: any bytes as an ELF library, and its note as a manifest.
#include "fuzz.h"

#include "plugin/manifest.h"
#include "plugin/note.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void check(const struct note *note)
{
    FUZZ_CHECK(strlen(note->arch) < sizeof(note->arch));
    FUZZ_CHECK(strlen(note->build_id) < sizeof(note->build_id));
    FUZZ_CHECK(note->sanitizer);
    FUZZ_CHECK(!note->text || strlen(note->text) < (1 << 20));
    FUZZ_CHECK(!note->search_path || strlen(note->search_path) < 4096);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct note note;
    struct manifest manifest;
    fuzz_begin();
    const char *path = fuzz_file(data, size);
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    FUZZ_CHECK(descriptor >= 0);
    if (!fuzz_refused(note_read(descriptor, path, &note))) {
        check(&note);
        note_release(&note);
    }
    FUZZ_CHECK(close(descriptor) == 0);
    if (!fuzz_refused(manifest_load_library(path, &manifest))) {
        manifest_release(&manifest);
    }
    fuzz_end();
    return 0;
}
