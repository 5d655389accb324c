// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_hiding.h"

#include "base/file.h"
#include "base/text.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 256 };

static const char VARIABLE[] = "LD_LIBRARY_PATH";

// Whether the program has the library itself: without it, it would not start.
static int is_own(const char *name)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);

    if (library != NULL) {
        (void)dlclose(library); // It stays all the same.
    }
    return library != NULL;
}

static tapml_status hide(const char *folder, const char *word, size_t length)
{
    static const char content[] = "no library";
    char name[NAME_BYTES], path[sizeof(name) + 64];

    (void)snprintf(name, sizeof(name), "%.*s", (int)length, word);
    if (length >= sizeof(name) || strchr(name, '/') != NULL || is_own(name)) {
        return TAPML_OK; // A path is not searched for.
    }
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return file_write(path, content, sizeof(content) - 1);
}

static tapml_status hide_all(const char *folder, const struct ini *ini)
{
    for (size_t i = 0; i < ini->count; i++) {
        const char *at = strcmp(ini->entries[i].key, "dlopen") == 0 ? ini->entries[i].value : "";

        for (at += strspn(at, " "); *at != '\0'; at += strspn(at, " ")) {
            const size_t length = strcspn(at, " ");

            TAPML_TRY(hide(folder, at, length));
            at += length;
        }
    }
    return TAPML_OK;
}

static tapml_status search_first(struct kit_hiding *hiding)
{
    const char *before = secure_getenv(VARIABLE);
    struct text value;

    text_init(&value);
    text_format(&value, "%s%s%s", hiding->folder, before != NULL ? ":" : "",
                before != NULL ? before : "");
    tapml_status status = text_status(&value);

    if (status == TAPML_OK) {
        status = kit_variable_set(&hiding->variable, VARIABLE, value.data);
    }
    text_release(&value);
    return status;
}

tapml_status kit_hiding_begin(const struct manifest *manifest, struct kit_hiding *out_hiding)
{
    *out_hiding = (struct kit_hiding){.folder = "/tmp/tapml-hidden-XXXXXX"};
    if (mkdtemp(out_hiding->folder) == NULL) {
        const tapml_status status =
            status_fail(TAPML_UNAVAILABLE, "%s: %s", out_hiding->folder, strerror(errno));

        out_hiding->folder[0] = '\0';
        return status;
    }
    TAPML_TRY(hide_all(out_hiding->folder, &manifest->ini));
    return search_first(out_hiding);
}

void kit_hiding_end(struct kit_hiding *hiding)
{
    if (hiding->folder[0] == '\0') {
        return;
    }
    kit_variable_restore(&hiding->variable);
    file_remove_all(hiding->folder, "*");
    (void)rmdir(hiding->folder);
    *hiding = (struct kit_hiding){.folder = ""};
}
