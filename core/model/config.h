// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// config.json as model plugins read it: tapml.host.config/1, which keeps account of what was read.
//
// Both dialects are accepted as they are: keys of 4.x and 5.x differ, and the plugin asks for
// either. A wrapper's keys are asked for by their pointer.
#pragma once

#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"

#include <tapml/model.h>

#include <jansson.h>

struct config;

// Reads FOLDER/config.json, or the metadata of a GGUF file as if it was one. The caller owns the
// result.
tapml_status config_open(const char *folder, struct config **out_config) STATUS_USED;

// The same from a text; `name` stands for the file in messages.
tapml_status
config_parse(const char *name, const char *text, struct config **out_config) STATUS_USED;
void config_close(struct config *config);

tapml_object *config_object(struct config *config);
const tapml_host_config *config_table(void);

// Refuses what a plugin could not have understood: values of another type than asked for, keys not
// as expected, and, unless `allow_unknown`, keys that were not read, that are on no ignore list and
// neither null nor false. The message names each.
tapml_status config_check(const struct config *config, int allow_unknown) STATUS_USED;

// Appends what became of the keys: how many were read, which were passed over, and which are
// unknown.
void config_account(const struct config *config, struct text *out_text);

// Of the file's bytes.
struct hash config_hash(const struct config *config);

// For the host itself: the value at `pointer`, which counts as read; NULL where there is none, or
// null. It lives as long as the config.
const json_t *config_value(struct config *config, const char *pointer);

// The name that stands for the file in messages.
const char *config_name(const struct config *config);

// For the host itself; does not count as read. NULL where absent.
const char *config_model_type(const struct config *config);
