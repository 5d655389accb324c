// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Messages to the text that a chat model was trained on, by the template in the model's folder.
//
// The template is, in this order: chat_template.jinja; `chat_template` of tokenizer_config.json, a
// text or a list of {"name", "template"}, of which "tool_use" serves messages with tools and
// "default" the others; `chat_template` of chat_template.json. It sees the special tokens that
// tokenizer_config.json names, or special_tokens_map.json where that does not. A GGUF file has
// template and tokens in its metadata.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct chat;

// Reads the template of a model's folder. The caller owns the result. TAPML_NOT_FOUND if there is
// none; a template that is not understood is refused with its file and line.
tapml_status chat_open(const char *folder, struct chat **out_chat) STATUS_USED;

// NULL is allowed.
void chat_close(struct chat *chat);

// Renders `text`, which is one of:
//   a message of the user, as it is
//   [{"role": "user", "content": "..."}, ...], the messages
//   {"messages": [...], "tools": [...], "NAME": ...}, messages and more variables of the template
// A text that begins with '[' or '{' has to be such JSON. In the last form "now", "YYYY-MM-DD", is
// the day for the template's strftime_now, which is today otherwise. `system`, unless it is NULL,
// becomes the first message, of the role "system". The caller frees `*out_text` by alloc_free; a
// zero byte follows its `*out_length` bytes. It contains all special tokens, also the first one.
tapml_status chat_render(const struct chat *chat,
                         const char *text,
                         const char *system,
                         char **out_text,
                         size_t *out_length) STATUS_USED;
