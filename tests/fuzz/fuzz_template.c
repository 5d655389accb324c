// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// template/template: any bytes as a template, rendered for a conversation.
#include "fuzz.h"

#include "base/alloc.h"
#include "template/template.h"

#include <string.h>

static const char sample[] =
    "{\"messages\":[{\"role\":\"system\",\"content\":\"Be \\u00e9\"},{\"role\":\"user\","
    "\"content\":\" Hi <|x|> \"},{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
    "\"text\":\"a,b\"}]}],\"tools\":null,\"add_generation_prompt\":true,\"bos_token\":\"<s>\","
    "\"n\":7,\"f\":2.5,\"d\":{\"b\":1,\"a\":[1,2,[]]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static json_t *variables;
    struct template *template = NULL;
    char *text = NULL;
    size_t length = 0;
    if (!variables) {
        variables = json_loads(sample, 0, NULL);
        FUZZ_CHECK(variables != NULL);
    }
    fuzz_begin();
    if (!fuzz_refused(template_create("t", (const char *)data, size, &template))) {
        if (!fuzz_refused(template_render(template, variables, 0, &text, &length))) {
            FUZZ_CHECK(strlen(text) <= length && length <= (16 << 20));
            alloc_free(text);
        }
        template_destroy(template);
    }
    fuzz_end();
    return 0;
}
