// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/page_link.h"

#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_plain(char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
           (byte >= '0' && byte <= '9') || (byte != '\0' && strchr("-._~/", byte) != NULL);
}

void page_link_encode(const char *path, struct text *out)
{
    for (; *path != '\0'; path++) {
        if (is_plain(*path)) {
            text_append_bytes(out, path, 1);
        } else {
            text_format(out, "%%%02X", (unsigned)(unsigned char)*path);
        }
    }
}

// The folder of a path without links and dots, freed by free.
static tapml_status find_folder(const char *path, char **out_folder)
{
    char *folder = file_folder(path);

    if (folder == NULL) {
        return status_no_memory();
    }
    *out_folder = realpath(folder, NULL);
    const tapml_status status =
        *out_folder != NULL
            ? TAPML_OK
            : status_fail(TAPML_NOT_FOUND, "folder '%s': %s", folder, strerror(errno));

    alloc_free(folder);
    return status;
}

// How much of two folders is the same folder: up to a '/' or the end of both.
static size_t common_length(const char *from, const char *to)
{
    size_t common = 0, at = 0;

    for (; from[at] != '\0' && from[at] == to[at]; at++) {
        common = from[at] == '/' ? at : common;
    }
    return (from[at] == '\0' || from[at] == '/') && (to[at] == '\0' || to[at] == '/') ? at : common;
}

static void print_between(const char *from, const char *to, struct text *out)
{
    const size_t common = common_length(from, to);
    const char *rest = to + common;

    for (const char *at = from + common; *at != '\0'; at++) {
        if (*at == '/' && at[1] != '\0') {
            text_append(out, "../");
        }
    }
    rest += strspn(rest, "/");
    if (*rest != '\0') {
        page_link_encode(rest, out);
        text_append(out, "/");
    }
}

tapml_status page_link_print(const char *page, const char *path, struct text *out)
{
    const char *slash = strrchr(path, '/');
    char *from = NULL, *to = NULL;
    tapml_status status = find_folder(page, &from);

    if (status == TAPML_OK) {
        status = find_folder(path, &to);
    }
    if (status == TAPML_OK) {
        print_between(from, to, out);
        page_link_encode(slash != NULL ? slash + 1 : path, out);
        status = text_status(out);
    }
    free(from);
    free(to);
    return status;
}
