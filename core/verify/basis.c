// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/basis.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"

tapml_status basis_make(const struct result_maker *maker,
                        const struct representative_group *group,
                        const char *how,
                        struct arena *arena,
                        const char **out_basis)
{
    struct text text;
    char digest[HASH_TEXT];
    text_init(&text);
    text_format(&text, "%s %s|%s|%s|%s|%s|%s|%s", TAPML_VERSION, how, maker->implementation,
                maker->device, maker->driver, maker->options, maker->oracle, group->keys);
    const tapml_status status = text_status(&text);
    if (status == TAPML_OK) {
        hash_text(hash_bytes(text.data, text.length), digest);
        *out_basis = arena_text(arena, digest);
    }
    text_release(&text);
    return status == TAPML_OK && !*out_basis ? status_no_memory() : status;
}
