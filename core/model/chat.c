// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/chat.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "gguf/gguf.h"
#include "gguf/gguf_tokenizer.h"
#include "template/template.h"
#include "tokenizer/special.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TEMPLATE_BYTES_MAX = 4 << 20 };

struct chat {
    struct template *plain;
    struct template *tools; // For messages with tools; NULL: the same.
    json_t *tokens;         // The special tokens, as variables.
};

// -- Special tokens ------------------------------------------------------------------------------

// Takes over the tokens that `root` names and that are not known yet.
static int add_tokens(json_t *tokens, const json_t *root)
{
    int failed = 0;
    for (size_t i = 0; special_roles[i]; ++i) {
        const char *role = special_roles[i];
        const char *content = special_content(json_object_get(root, role));
        if (content && !json_object_get(tokens, role)) {
            failed |= json_object_set_new(tokens, role, json_string(content)) != 0;
        }
    }
    return !failed;
}

// The texts of a list of tokens; NULL: without memory.
static json_t *list_contents(const json_t *list)
{
    json_t *contents = json_array();
    int failed = !contents;
    for (size_t i = 0; i < json_array_size(list) && !failed; ++i) {
        const char *content = special_content(json_array_get(list, i));
        failed = content && json_array_append_new(contents, json_string(content)) != 0;
    }
    if (failed) {
        json_decref(contents);
    }
    return failed ? NULL : contents;
}

// The tokens of a model's own names, such as "image_token".
static int add_more_tokens(json_t *tokens, const json_t *root)
{
    const json_t *list = json_object_get(root, "additional_special_tokens");
    json_t *map = json_object_get(root, "extra_special_tokens");
    const char *name = NULL;
    json_t *token = NULL;
    int failed = 0;
    if (json_is_array(list)) {
        failed |=
            json_object_set_new(tokens, "additional_special_tokens", list_contents(list)) != 0;
    }
    json_object_foreach(map, name, token)
    {
        if (special_content(token) && !json_object_get(tokens, name)) {
            failed |= json_object_set_new(tokens, name, json_string(special_content(token))) != 0;
        }
    }
    return !failed;
}

// -- The template --------------------------------------------------------------------------------

// Reads a file of the folder, if there is one.
static tapml_status read_file(const char *folder, const char *name, struct template **out_template)
{
    char *path = file_join(folder, name);
    char *source = NULL;
    size_t size = 0;
    if (!path) {
        return status_no_memory();
    }
    const int is_there = file_exists(path);
    tapml_status status = is_there ? file_read(path, TEMPLATE_BYTES_MAX, &source, &size) : TAPML_OK;
    if (status == TAPML_OK && is_there) {
        status = template_create(path, source, size, out_template);
    }
    alloc_free(source);
    alloc_free(path);
    return status;
}

// A template that is a text of a JSON file.
static tapml_status
create(const char *folder, const char *file, const json_t *source, struct template **out_template)
{
    struct text name;
    text_init(&name);
    text_format(&name, "%s/%s: chat_template", folder, file);
    tapml_status status = text_status(&name);
    if (status == TAPML_OK) {
        status = template_create(name.data, json_string_value(source), json_string_length(source),
                                 out_template);
    }
    text_release(&name);
    return status;
}

// The template of a name in a list of them.
static const json_t *find_named(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); ++i) {
        const json_t *entry = json_array_get(list, i);
        const char *found = json_string_value(json_object_get(entry, "name"));
        if (found && strcmp(found, name) == 0) {
            return json_object_get(entry, "template");
        }
    }
    return NULL;
}

static tapml_status
read_member(const char *folder, const char *file, const json_t *root, struct chat *chat)
{
    const json_t *member = json_object_get(root, "chat_template");
    const json_t *plain = json_is_array(member) ? find_named(member, "default") : member;
    const json_t *tools = json_is_array(member) ? find_named(member, "tool_use") : NULL;
    if (!member || json_is_null(member)) {
        return TAPML_OK;
    }
    if (!json_is_string(plain) || (tools && !json_is_string(tools))) {
        return status_fail(TAPML_INVALID,
                           "%s/%s: expected 'chat_template' to be a text, or a list with a "
                           "template of the name 'default'",
                           folder, file);
    }
    TAPML_TRY(create(folder, file, plain, &chat->plain));
    return tools ? create(folder, file, tools, &chat->tools) : TAPML_OK;
}

static tapml_status read_tokens(const char *folder, const json_t *config, struct chat *chat)
{
    json_t *map = NULL;
    TAPML_TRY(json_file_find(folder, "special_tokens_map.json", &map));
    chat->tokens = json_object();
    const int done = chat->tokens && add_tokens(chat->tokens, config) &&
                     add_tokens(chat->tokens, map) && add_more_tokens(chat->tokens, config);
    json_decref(map);
    return done ? TAPML_OK : status_no_memory();
}

static tapml_status read_config(const char *folder, const json_t *config, struct chat *chat)
{
    static const char processor[] = "chat_template.json";
    json_t *root = NULL;
    TAPML_TRY(read_tokens(folder, config, chat));
    TAPML_TRY(read_file(folder, "chat_template.jinja", &chat->plain));
    if (chat->plain) {
        return read_file(folder, "additional_chat_templates/tool_use.jinja", &chat->tools);
    }
    TAPML_TRY(read_member(folder, "tokenizer_config.json", config, chat));
    if (!chat->plain) {
        TAPML_TRY(json_file_find(folder, processor, &root));
        const tapml_status status = read_member(folder, processor, root, chat);
        json_decref(root);
        TAPML_TRY(status);
    }
    return chat->plain ? TAPML_OK
                       : status_fail(TAPML_NOT_FOUND,
                                     "the model '%s' has no chat template: no chat_template.jinja, "
                                     "none in tokenizer_config.json",
                                     folder);
}

tapml_status chat_open(const char *folder, struct chat **out_chat)
{
    json_t *config = NULL;
    struct chat *chat = alloc_new(sizeof(*chat));
    if (!chat) {
        return status_no_memory();
    }
    tapml_status status = gguf_is(folder)
                              ? gguf_tokenizer_config(folder, &config)
                              : json_file_find(folder, "tokenizer_config.json", &config);
    if (status == TAPML_OK) {
        status = read_config(folder, config, chat);
    }
    json_decref(config);
    if (status != TAPML_OK) {
        chat_close(chat);
        return status;
    }
    *out_chat = chat;
    return TAPML_OK;
}

void chat_close(struct chat *chat)
{
    if (chat) {
        template_destroy(chat->plain);
        template_destroy(chat->tools);
        json_decref(chat->tokens);
        alloc_free(chat);
    }
}

// -- Messages ------------------------------------------------------------------------------------

static tapml_status check_messages(const json_t *messages)
{
    if (!json_is_array(messages) || json_array_size(messages) == 0) {
        return status_fail(TAPML_INVALID, "expected a list of messages");
    }
    for (size_t i = 0; i < json_array_size(messages); ++i) {
        if (!json_is_string(json_object_get(json_array_get(messages, i), "role"))) {
            return status_fail(TAPML_INVALID,
                               "expected messages such as {\"role\": \"user\", \"content\": "
                               "\"...\"}, found another at place %zu",
                               i + 1);
        }
    }
    return TAPML_OK;
}

// The object {"messages": ...} that a text stands for.
static tapml_status read_text(const char *text, json_t **out_root)
{
    json_t *json = NULL;
    const size_t length = strlen(text);
    if (!utf8_is_valid(text, length)) {
        return status_fail(TAPML_INVALID, "expected messages in UTF-8");
    }
    if (text[0] != '[' && text[0] != '{') {
        json = json_pack("[{s:s, s:s}]", "role", "user", "content", text);
    } else {
        TAPML_TRY(json_file_parse("the messages", text, length, &json));
    }
    json_t *root = json_is_object(json) ? json : json_pack("{s:o}", "messages", json);
    if (!root) {
        return status_no_memory();
    }
    *out_root = root;
    return TAPML_OK;
}

static tapml_status add_system(json_t *messages, const char *system)
{
    if (!system) {
        return TAPML_OK;
    }
    if (!utf8_is_valid(system, strlen(system))) {
        return status_fail(TAPML_INVALID, "expected the system's message in UTF-8");
    }
    json_t *message = json_pack("{s:s, s:s}", "role", "system", "content", system);
    return message && json_array_insert_new(messages, 0, message) == 0 ? TAPML_OK
                                                                       : status_no_memory();
}

// The time for strftime_now: noon of the day that "now" names, or the present.
static tapml_status read_now(const json_t *root, int64_t *out_now)
{
    const json_t *member = json_object_get(root, "now");
    const char *day = json_string_value(member);
    struct tm date = {.tm_hour = 12, .tm_isdst = -1};
    const char *rest = day ? strptime(day, "%Y-%m-%d", &date) : NULL;
    if (member && (!rest || *rest)) {
        return status_fail(TAPML_INVALID, "expected \"now\" to be a day, \"YYYY-MM-DD\"");
    }
    *out_now = (int64_t)(member ? mktime(&date) : time(NULL));
    return TAPML_OK;
}

// Puts under the variables of the template what it can rely on.
static tapml_status add_defaults(const struct chat *chat, json_t *root)
{
    json_t *defaults =
        json_pack("{s:b, s:n, s:n}", "add_generation_prompt", 1, "tools", "documents");
    const int done = defaults && json_object_update_missing(root, chat->tokens) == 0 &&
                     json_object_update_missing(root, defaults) == 0;
    json_decref(defaults);
    return done ? TAPML_OK : status_no_memory();
}

static tapml_status render(
    const struct chat *chat, json_t *root, const char *system, char **out_text, size_t *out_length)
{
    json_t *messages = json_object_get(root, "messages");
    int64_t now = 0;
    TAPML_TRY(check_messages(messages));
    TAPML_TRY(add_system(messages, system));
    TAPML_TRY(read_now(root, &now));
    TAPML_TRY(add_defaults(chat, root));
    const int has_tools = !json_is_null(json_object_get(root, "tools"));
    return template_render(has_tools && chat->tools ? chat->tools : chat->plain, root, now,
                           out_text, out_length);
}

tapml_status chat_render(const struct chat *chat,
                         const char *text,
                         const char *system,
                         char **out_text,
                         size_t *out_length)
{
    json_t *root = NULL;
    TAPML_TRY(read_text(text, &root));
    const tapml_status status = render(chat, root, system, out_text, out_length);
    json_decref(root);
    return status;
}
