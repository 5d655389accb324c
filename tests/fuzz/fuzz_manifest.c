// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// plugin/manifest: any bytes as a manifest, as the text of a note, and as [plugins] of a run.
#include "fuzz.h"

#include "base/alloc.h"
#include "plugin/handshake.h"
#include "plugin/manifest.h"
#include "plugin/search.h"

#include <string.h>

static void check(const struct manifest *manifest)
{
    enum candidate_state state = CANDIDATE_USABLE;
    FUZZ_CHECK(strchr(manifest->id, '.') && !strchr(manifest->library, '/'));
    FUZZ_CHECK(manifest->component_count > 0);
    for (uint32_t i = 0; i < manifest->component_count; i++) {
        const struct manifest_component *component = &manifest->components[i];
        FUZZ_CHECK(manifest_key(manifest, component->id, "kind"));
        FUZZ_CHECK(!manifest_has_option(component, ""));
    }
    FUZZ_CHECK(manifest_compare(manifest, manifest) == TAPML_OK);
    (void)fuzz_refused(handshake_check_manifest(manifest, &state)); // Either is fine.
    (void)fuzz_refused(search_check_policy(&manifest->ini, manifest->id));
}

static void read_note(const uint8_t *data, size_t size)
{
    struct manifest manifest;
    char *text = alloc_new(size + 1);
    FUZZ_CHECK(text);
    if (size > 0) {
        memcpy(text, data, size);
    }
    if (!fuzz_refused(manifest_parse_note("library", text, &manifest))) {
        check(&manifest);
        manifest_release(&manifest);
    }
    alloc_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct manifest manifest;
    fuzz_begin();
    if (!fuzz_refused(manifest_load(fuzz_file(data, size), &manifest))) {
        check(&manifest);
        manifest_release(&manifest);
    }
    read_note(data, size);
    fuzz_end();
    return 0;
}
