// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/look_cause.h"

#include "base/alloc.h"
#include "base/file.h"
#include "config/run_config.h"
#include "plugin/registry.h"
#include "store/metadata.h"
#include "store/target.h"

#include <string.h>

void look_cause_add(struct text *cause, const char *sentence)
{
    text_append(cause, cause->length > 0 ? "; " : "");
    text_append(cause, sentence);
}

static tapml_status add_plugins(const struct registry *registry, struct watched_files *files)
{
    for (size_t i = 0; i < registry_count(registry); i++) {
        const char *manifest = registry_location_at(registry, i).manifest;
        char *folder = file_folder(manifest);

        if (folder == NULL) {
            return status_no_memory();
        }
        tapml_status status = watched_files_add(files, manifest);

        if (status == TAPML_OK) {
            status = watched_files_add_all(files, folder, "*.so");
        }
        alloc_free(folder);
        TAPML_TRY(status);
    }
    return TAPML_OK;
}

tapml_status look_cause_list_model(const char *model, struct watched_files *files)
{
    if (file_is_folder(model)) {
        return watched_files_add_all(files, model, "*");
    }
    char *folder = file_folder(model);
    const tapml_status status =
        folder != NULL ? watched_files_add_all(files, folder, "*.gguf") : status_no_memory();

    alloc_free(folder);
    return status;
}

tapml_status look_cause_list(const struct run_config *config,
                             const struct registry *registry,
                             struct watched_files *files)
{
    TAPML_TRY(watched_files_add(files, config->path));
    if (config->prompts != NULL) {
        TAPML_TRY(watched_files_add(files, config->prompts));
    }
    if (config->store != NULL) {
        TAPML_TRY(watched_files_add(files, config->store));
    }
    return add_plugins(registry, files);
}

tapml_status
look_cause_compare(struct store *store, const struct watched_files *files, struct text *cause)
{
    const char *known = metadata_get(store, LOOK_CAUSE_FILES);
    struct watched_files before = {.count = 0};
    struct text text;

    if (known == NULL) {
        look_cause_add(cause, "the first look");
        return TAPML_OK;
    }
    TAPML_TRY(watched_files_read(known, &before));
    text_init(&text);
    if (watched_files_compare(&before, files, &text) > 0 && text_status(&text) == TAPML_OK) {
        look_cause_add(cause, text.data);
    }
    text_release(&text);
    watched_files_release(&before);
    return TAPML_OK;
}

static void add_kept(struct store *store, struct text *text)
{
    const char *kept = metadata_get(store, LOOK_CAUSE_KEPT);

    if (kept != NULL && *kept != '\0') {
        look_cause_add(text, kept);
    }
}

tapml_status look_cause_keep(struct store *store, const char *sentence)
{
    struct text kept;

    text_init(&kept);
    add_kept(store, &kept);
    look_cause_add(&kept, sentence);
    tapml_status status = text_status(&kept);

    status = status == TAPML_OK ? metadata_note(store, LOOK_CAUSE_KEPT, kept.data) : status;
    text_release(&kept);
    return status;
}

tapml_status look_cause_resume(struct store *store, struct text *cause)
{
    const size_t length = cause->length;

    add_kept(store, cause);
    TAPML_TRY(text_status(cause));
    return length > 0 ? metadata_note(store, LOOK_CAUSE_KEPT, cause->data) : TAPML_OK;
}

void look_cause_target(const struct target_row *before,
                       const struct target_row *now,
                       struct text *cause)
{
    struct text text;

    if (*before->identity == '\0') {
        return;
    }
    text_init(&text);
    if (strcmp(before->driver, now->driver) != 0) {
        text_sentence(&text, "the driver of %s was %s and is %s", now->name, before->driver,
                      now->driver);
    } else if (strcmp(before->identity, now->identity) != 0) {
        text_sentence(&text, "%s has another device or other options", now->name);
    } else if (strcmp(before->build, now->build) != 0) {
        text_sentence(&text, "the plugin of %s has another build", now->name);
    }
    if (text.length > 0) {
        look_cause_add(cause, text.data);
    }
    cause->failed |= text.failed;
    text_release(&text);
}
