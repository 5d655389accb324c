// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/carved_copy.h"

#include "base/alloc.h"
#include "base/text.h"
#include "config/run_config.h"
#include "graph/group.h"
#include "store/call_line.h"
#include "store/merge.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// -- The key -------------------------------------------------------------------------------------

// The metadata of a run that decide over its cases, beside its groups.
static const char *const DECIDING[] = {
    "model.hash",   "model.weights", "model.state", "source", "source.replaced_by",
    "prompts.hash", "decode",        "capacity",    "chunk",  "keep"};

static void print_groups(const struct run_config *config, struct text *out)
{
    for (size_t i = 0; i < config->group_count; i++) {
        const struct group_rule *rule = &config->groups[i];

        text_format(out, "group %s: %s, %s\n", rule->name, rule->ops != NULL ? rule->ops : "",
                    rule->below != NULL ? rule->below : "");
    }
}

tapml_status carved_copy_settle_key(struct store *store,
                                    const struct run_config *config,
                                    char out_key[HASH_TEXT])
{
    struct text text;

    text_init(&text);
    for (size_t i = 0; i < sizeof(DECIDING) / sizeof(*DECIDING); i++) {
        const char *value = metadata_get(store, DECIDING[i]);

        text_format(&text, "%s = %s\n", DECIDING[i], value != NULL ? value : "");
    }
    text_format(&text, "plain inputs = %d\nversion = %d\n", config->plain_inputs, STORE_VERSION);
    print_groups(config, &text);
    hash_text(hash_bytes(text.data, text.length), out_key);
    const tapml_status status = text_status(&text);

    text_release(&text);
    TAPML_TRY(status);
    const char *known = metadata_get(store, CARVED_COPY_KEY);

    return known != NULL && strcmp(known, out_key) == 0
               ? TAPML_OK
               : metadata_note(store, CARVED_COPY_KEY, out_key);
}

// -- Copies --------------------------------------------------------------------------------------

struct kept_calls {
    int64_t *ids;
    size_t count, capacity;
    int is_failed;
};

static void keep_call(void *user, const struct call_line *call)
{
    struct kept_calls *kept = user;
    void *grown = kept->ids;

    if (!call->is_kept || kept->is_failed) {
        return;
    }
    if (!alloc_grow(&grown, &kept->capacity, kept->count, sizeof(*kept->ids))) {
        kept->is_failed = 1;
        return;
    }
    kept->ids = grown;
    kept->ids[kept->count++] = call->id;
}

// A store that is new has nothing that could be another.
static void pass_over(void *user, const char *sentence)
{
    (void)user;
    (void)sentence;
}

static tapml_status
copy_to(struct store *from, const struct hash *prompts, size_t count, struct store *into)
{
    struct kept_calls kept = {.count = 0};
    struct merge_counts counts = {0};
    tapml_status status = call_line_visit(from, keep_call, &kept);

    if (status == TAPML_OK && kept.is_failed) {
        status = status_no_memory();
    }
    if (status == TAPML_OK) {
        const struct merge_ids ids = {.items = kept.ids,
                                      .count = kept.count,
                                      .are_calls = 1,
                                      .prompts = prompts,
                                      .prompt_count = count};

        status = merge_share(into, from, &ids, pass_over, NULL, &counts);
    }
    alloc_free(kept.ids);
    return status;
}

static tapml_status remove_ends(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        struct text name;

        text_init(&name);
        text_format(&name, "%s%s", path, ends[i]);
        const tapml_status status = text_status(&name);
        const int is_gone = status == TAPML_OK && (unlink(name.data) == 0 || errno == ENOENT);
        const int error = errno;

        text_release(&name);
        TAPML_TRY(status);
        if (!is_gone) {
            return status_fail(TAPML_UNAVAILABLE, "cannot remove '%s%s': %s", path, ends[i],
                               strerror(error));
        }
    }
    return TAPML_OK;
}

static tapml_status write_part(struct store *from,
                               const struct hash *prompts,
                               size_t count,
                               const char *part,
                               const char *path)
{
    struct store *into = NULL;

    TAPML_TRY(remove_ends(part));
    tapml_status status = store_open(part, 1, &into);

    status = status == TAPML_OK ? copy_to(from, prompts, count, into) : status;
    store_close(into);
    TAPML_TRY(status);
    return rename(part, path) == 0
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "cannot rename '%s': %s", part, strerror(errno));
}

tapml_status
carved_copy_write(struct store *from, const struct hash *prompts, size_t count, const char *path)
{
    struct text part;

    text_init(&part);
    text_format(&part, "%s.part", path);
    tapml_status status = text_status(&part);

    status = status == TAPML_OK ? write_part(from, prompts, count, part.data, path) : status;
    text_release(&part);
    return status;
}
