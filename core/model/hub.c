// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "model/hub.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"

#include <string.h>

enum { PART_BYTES_MAX = 96, COMMIT_BYTES = 40, REF_BYTES_MAX = 256 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

static int is_part(const char *part, size_t length)
{
    return length > 0 && length <= PART_BYTES_MAX && strchr(".-", part[0]) == NULL &&
           strspn(part, letters) >= length;
}

int hub_is_id(const char *id)
{
    const char *slash = strchr(id, '/');

    return slash != NULL && is_part(id, (size_t)(slash - id)) &&
           is_part(slash + 1, strlen(slash + 1)) && strstr(id, "..") == NULL &&
           strstr(id, "--") == NULL;
}

// Reads the commit, of which nothing leads out of the folder of snapshots.
static tapml_status read_commit(const char *path, char out_commit[COMMIT_BYTES + 1])
{
    char *text = NULL;
    size_t size = 0;

    TAPML_TRY(file_read(path, REF_BYTES_MAX, &text, &size));
    const size_t length = strspn(text, "0123456789abcdef");
    const int is_commit = length == COMMIT_BYTES && length + strspn(text + length, "\r\n") == size;

    if (is_commit) {
        memcpy(out_commit, text, COMMIT_BYTES);
        out_commit[COMMIT_BYTES] = '\0';
    }
    alloc_free(text);
    return is_commit
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: expected a commit of 40 hexadecimal digits", path);
}

// CACHE/models--ORGANISATION--NAME/`below`
static tapml_status
path_in(const char *cache, const char *id, const char *below, struct text *out_path)
{
    const size_t length = strcspn(id, "/");

    text_init(out_path);
    text_format(out_path, "%s/models--%.*s--%s/%s", cache, (int)length, id, id + length + 1, below);
    const tapml_status status = text_status(out_path);

    if (status != TAPML_OK) {
        text_release(out_path);
    }
    return status;
}

static tapml_status
find_commit(const char *cache, const char *id, char out_commit[COMMIT_BYTES + 1])
{
    struct text path;

    TAPML_TRY(path_in(cache, id, "refs/main", &path));
    const tapml_status status = read_commit(path.data, out_commit);

    text_release(&path);
    return status;
}

tapml_status hub_find(const char *cache, const char *id, char **out_folder)
{
    char below[COMMIT_BYTES + sizeof("snapshots/")] = "snapshots/";
    struct text path;
    size_t length = 0;

    ASSERT(hub_is_id(id));
    TAPML_TRY(find_commit(cache, id, below + strlen(below)));
    TAPML_TRY(path_in(cache, id, below, &path));
    if (file_is_folder(path.data)) {
        return text_take(&path, out_folder, &length);
    }
    const tapml_status status =
        status_fail(TAPML_INVALID, "%s: expected the folder that 'refs/main' names, found %s",
                    path.data, file_exists(path.data) ? "a file" : "nothing");

    text_release(&path);
    return status;
}
