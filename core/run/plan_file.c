// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/plan_file.h"

#include "base/file.h"
#include "base/text.h"
#include "config/run_config.h"
#include "exec/place.h"
#include "model/prompts.h"

#include <inttypes.h>

// Sizes that the plan was judged with: with others nothing is proved.
static void print_sizes(const struct run_judge *judge, struct text *out)
{
    const struct run_config *config = judge->from.config;
    const struct judge_prompt *prompts = judge->prompts;
    const size_t count = judge->from.prompts->count;
    int64_t least = count > 0 ? prompts[0].count : 0, largest = least;

    for (size_t i = 1; i < count; i++) {
        least = prompts[i].count < least ? prompts[i].count : least;
        largest = prompts[i].count > largest ? prompts[i].count : largest;
    }
    text_format(out,
                "; judged with %zu prompts of %" PRId64 " .. %" PRId64
                " tokens in chunks of at most %" PRId64 ", %" PRId64 " decoded behind each\n",
                count, least, largest, (int64_t)config->chunk, (int64_t)config->decode);
}

static void
print(const struct run_judge *judge, const struct place_settings *target, struct text *out)
{
    const struct run_config *config = judge->from.config;

    if (config->store != NULL) {
        text_format(out, "# cases of %s, %s = %s; no model was run\n", config->store, target->name,
                    target->backend);
    } else {
        text_format(out, "# source = %s, %s = %s; model %s", config->source.backend, target->name,
                    target->backend, config->model);
        print_sizes(judge, out);
    }
}

tapml_status plan_file_write(const struct run_judge *judge,
                             const struct place_settings *target,
                             const char *plan)
{
    struct text text, path;

    text_init(&text);
    text_init(&path);
    text_format(&path, "%s/plan-%s.txt", judge->from.config->dir, target->name);
    print(judge, target, &text);
    text_append(&text, plan);
    tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        status = text_status(&path);
    }
    if (status == TAPML_OK) {
        status = file_write(path.data, text.data, text.length);
    }
    text_release(&text);
    text_release(&path);
    return status;
}
