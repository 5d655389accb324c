// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The description in an ELF file, read without opening it as a library: the plugin's note, the
// build-id, the machine, the sanitizer and the search path.
//
// The file is untrusted: every offset and length is checked against its size, and every loop has a
// bound.
//
// One thread.
#pragma once

#include "base/status.h"

#include <stdint.h>

enum { NOTE_BUILD_ID_TEXT = 129, NOTE_ARCH_TEXT = 48 };

struct note {
    char arch[NOTE_ARCH_TEXT]; // "x86_64-linux-gnu"
    int is_native; // Class, byte order and machine are the host's; else the rest is empty.
    char *text;    // The manifest in the note, or NULL if there is none.
    char build_id[NOTE_BUILD_ID_TEXT]; // Hexadecimal, or "".
    char *search_path;                 // RPATH and RUNPATH, joined by ':', or NULL.
    const char *sanitizer;             // "address", "memory", "thread" or "".
};

// Reads the open file `descriptor`, which stays open; `path` names it in messages. TAPML_INVALID if
// it is no ELF file, or a damaged one; TAPML_NO_MEMORY. The caller releases the note.
tapml_status note_read(int descriptor, const char *path, struct note *out_note) STATUS_USED;
void note_release(struct note *note);

// "x86_64-linux-gnu": the architecture of libraries that this host can open. Static.
const char *note_host_arch(void);

// The name of a TAPML_SANITIZER number: "" for 0. Static.
const char *note_sanitizer_name(uint32_t number);
