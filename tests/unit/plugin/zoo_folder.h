// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The zoo of the build for the tests of this layer: single plugins of it, or copies that can be
// corrupted.
#pragma once

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/ini.h"
#include "plugin/registry.h"

#include <tapml/abi.h>

enum { ZOO_NAMES_MAX = 8 };

// The manifest of one animal.
static inline const char *zoo_manifest(const char *name, char *out_path, size_t size)
{
    const char *root = getenv("TAPML_TEST_BUILD");
    cr_assert_not_null(root);
    snprintf(out_path, size, "%s/tests/zoo/org.example.%s.tapml", root, name);
    cr_assert(file_exists(out_path), "%s is not built", out_path);
    return out_path;
}

static inline const char *zoo_library(const char *name, char *out_path, size_t size)
{
    const char *root = getenv("TAPML_TEST_BUILD");
    cr_assert_not_null(root);
    snprintf(out_path, size, "%s/tests/zoo/%s.so", root, name);
    return out_path;
}

// A registry of the animals in `names`, ended by NULL, and of nothing else of this machine. `ini`
// belongs to the caller, and outlives it.
static inline struct registry *
zoo_registry(const char *const *names, const char *ini_text, struct ini *ini)
{
    static char paths[ZOO_NAMES_MAX][2 * SCRATCH_PATH];
    const char *files[ZOO_NAMES_MAX + 1] = {NULL};
    struct registry *registry = NULL;
    char text[4096];
    for (size_t i = 0; names[i]; ++i) {
        cr_assert_lt(i, ZOO_NAMES_MAX);
        files[i] = zoo_manifest(names[i], paths[i], sizeof(paths[i]));
    }
    snprintf(text, sizeof(text), "[plugins]\ntiers = 1\n%s", ini_text ? ini_text : "");
    cr_assert_eq(ini_parse("run.ini", text, strlen(text), ini), TAPML_OK, "%s", status_message());
    const struct registry_options options = {.files = files, .ini = ini};
    cr_assert_eq(registry_create(&options, &registry), TAPML_OK, "%s", status_message());
    return registry;
}

// Copies an animal into a folder, with `from` replaced by `to` in its manifest.
static inline void
zoo_copy(struct scratch *scratch, const char *name, const char *from, const char *to)
{
    char path[2 * SCRATCH_PATH];
    char file[SCRATCH_PATH];
    char *data = NULL;
    size_t size = 0;
    cr_assert_eq(file_read(zoo_library(name, path, sizeof(path)), 1 << 28, &data, &size), TAPML_OK);
    snprintf(file, sizeof(file), "%s.so", name);
    scratch_write(scratch, file, data, size);
    alloc_free(data);

    cr_assert_eq(file_read(zoo_manifest(name, path, sizeof(path)), 1 << 20, &data, &size),
                 TAPML_OK);
    char *at = strstr(data, from);
    cr_assert_not_null(at, "the manifest has no '%s'", from);
    char *changed = calloc(1, size + strlen(to) + 1);
    cr_assert_not_null(changed);
    snprintf(changed, size + strlen(to) + 1, "%.*s%s%s", (int)(at - data), data, to,
             at + strlen(from));
    snprintf(file, sizeof(file), "org.example.%s.tapml", name);
    scratch_text(scratch, file, changed);
    free(changed);
    alloc_free(data);
}
