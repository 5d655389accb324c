// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Published models, as data: the files of conf/models, whose README.md lists the members.
//
// The files are read strictly: an unknown member, a value of another type, a name that is given
// twice are refused with file and entry. The configurations are not read here; architectures do.
//
// Texts live as long as the list. Several threads may read one list.
#pragma once

#include "base/status.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { PUBLISHED_QUIRKS_MAX = 32 };

struct published;

// One published model. What is not known is NULL or 0.
struct published_model {
    const char *name;      // "qwen3-0.6b": what users write.
    const char *hub;       // "Qwen/Qwen3-0.6B": its folder on the hub, or NULL.
    const char *type;      // The `model_type` of its configuration.
    const char *tokenizer; // The kind of its tokenizer.
    const char *licence;   // The identifier on its model card.
    const char *refused;   // The key for which this version refuses it; NULL: it opens.
    int64_t parameters;    // As its publisher counts them.
    const char *quirks[PUBLISHED_QUIRKS_MAX];
    size_t quirk_count;
    const char *repository, *commit, *path; // Where the configuration was found; `commit`: or NULL.
    const json_t *config;                   // An object.
    const char *file;                       // Of the list, for messages.
};

// Reads all files NAME.json of `folder`, in the byte order of their names. TAPML_NOT_FOUND if there
// is no such folder. The caller owns the list; `published_close` accepts NULL.
tapml_status published_open(const char *folder, struct published **out_list) STATUS_USED;

// The same from the text of one file; `name` stands for the file in messages.
tapml_status published_parse(const char *name,
                             const char *text,
                             size_t size,
                             struct published **out_list) STATUS_USED;
void published_close(struct published *list);

// The models in the order of the files.
size_t published_count(const struct published *list);
const struct published_model *published_at(const struct published *list, size_t index);

// The model of that name, or of that folder on the hub, or NULL.
const struct published_model *published_find(const struct published *list, const char *word);

// The name that is nearest to `word`, or NULL if none is near or memory is exhausted.
const char *published_nearest(const struct published *list, const char *word);
