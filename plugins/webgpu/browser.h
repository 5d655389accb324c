// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A headless browser on one address: a process group of its own, with a profile that goes with it.
// It ends with the host, however the host ends; the profile that a killed host leaves is removed
// when the next browser is started.
#pragma once

#include <tapml/gpu/support.h>

#include <sys/types.h>

enum { BROWSER_PATH_BYTES = 512 };

struct browser {
    pid_t process; // 0: there is none.
    char path[BROWSER_PATH_BYTES];
    char profile[64]; // Its folder; "" before it is made.
    int lock;         // On the folder: a descriptor, where there is one.
};

// Finds `name`, a path or a program of PATH. TAPML_UNAVAILABLE where it is not there.
tapml_status browser_find(struct browser *browser,
                          const struct gpu_host *host,
                          tapml_call *call,
                          const char *name);

// Starts it on `address`. `flags` are more options, with blanks between them, or NULL.
tapml_status browser_start(struct browser *browser,
                           const struct gpu_host *host,
                           tapml_call *call,
                           const char *address,
                           const char *flags);

// Whether it has ended by itself, and then how: "was killed by signal 9". `text` holds 64 bytes.
int browser_has_ended(struct browser *browser, char *text);

// Ends it and removes its profile.
void browser_stop(struct browser *browser);
