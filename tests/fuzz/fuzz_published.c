// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// model/published: any bytes as a list of published models.
#include "fuzz.h"

#include "model/hub.h"
#include "model/published.h"

#include <string.h>

static void check(const struct published *list)
{
    for (size_t i = 0; i < published_count(list); i++) {
        const struct published_model *model = published_at(list, i);
        FUZZ_CHECK(published_find(list, model->name) == model);
        FUZZ_CHECK(!model->hub ||
                   (hub_is_id(model->hub) && published_find(list, model->hub) == model));
        FUZZ_CHECK(!strchr(model->name, '/') && model->parameters >= 0);
        FUZZ_CHECK(model->quirk_count <= PUBLISHED_QUIRKS_MAX && json_is_object(model->config));
        FUZZ_CHECK(model->type && model->repository && model->path);
    }
    (void)published_nearest(list, "a-1b");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct published *list = NULL;
    fuzz_begin();
    if (!fuzz_refused(published_parse("list.json", (const char *)data, size, &list))) {
        check(list);
        published_close(list);
    }
    fuzz_end();
    return 0;
}
