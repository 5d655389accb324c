// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// References of a page to files beside it (RFC 3986): relative, so that a folder of pages can be
// moved, and of characters that mean nothing in a reference.
//
// Any thread.
#pragma once

#include "base/text.h"

// Appends a path as a reference: what is no letter, digit, '-', '.', '_', '~' or '/' as %XX.
void page_link_encode(const char *path, struct text *out);

// Appends the reference from the page `page` to the file `path`, whose folders are there. Where the
// one cannot be reached from the other's folder it begins with "../". TAPML_NOT_FOUND names a
// folder that is not there.
tapml_status page_link_print(const char *page, const char *path, struct text *out) STATUS_USED;
