// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/calibration.h"

#include "base/text.h"
#include "store/metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_TEXT = 320 };

static void name_metadata(const struct calibration *calibration, char out_name[NAME_TEXT])
{
    (void)snprintf(out_name, NAME_TEXT, "calibration.%.256s", calibration->name);
}

// What the limits hold for; they stand behind it.
static tapml_status print_key(const struct calibration *calibration, struct text *out)
{
    text_format(out, "%s %s %" PRId64 ":", calibration->device, calibration->source,
                calibration->prompts);
    return text_status(out);
}

static int parse_limits(const char *words, struct judge_limits *out_limits)
{
    char distance[64] = "", tie[64] = "";

    return sscanf(words, "%63s %63s", distance, tie) == 2 &&
           text_parse_f64(distance, &out_limits->distance) == TAPML_OK &&
           text_parse_f64(tie, &out_limits->tie) == TAPML_OK;
}

tapml_status calibration_find(struct store *store,
                              const struct calibration *calibration,
                              struct judge_limits *out_limits,
                              int *out_has)
{
    char name[NAME_TEXT];
    struct text key;

    text_init(&key);
    name_metadata(calibration, name);
    const tapml_status status = print_key(calibration, &key);
    const char *metadata = status == TAPML_OK ? metadata_get(store, name) : NULL;

    *out_has = metadata != NULL && strncmp(metadata, key.data, key.length) == 0 &&
               parse_limits(metadata + key.length, out_limits);
    text_release(&key);
    return status;
}

tapml_status calibration_keep(struct store *store,
                              const struct calibration *calibration,
                              const struct judge_limits *limits)
{
    char name[NAME_TEXT];
    struct text metadata;

    text_init(&metadata);
    name_metadata(calibration, name);
    tapml_status status = print_key(calibration, &metadata);

    text_format(&metadata, " %.17g %.17g", limits->distance, limits->tie);
    status = status == TAPML_OK ? text_status(&metadata) : status;
    if (status == TAPML_OK) {
        status = metadata_set(store, name, metadata.data);
    }
    text_release(&metadata);
    return status;
}
