// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/chat.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "template/template.h"

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

static const char *content_of(const json_t *token)
{
    return json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
}

// Takes over the tokens that `root` names and that are not known yet.
static int add_tokens(json_t *tokens, const json_t *root)
{
    static const char *const names[] = {"bos_token", "eos_token", "unk_token",  "sep_token",
                                        "pad_token", "cls_token", "mask_token", NULL};
    int failed = 0;
    for (int i = 0; names[i]; ++i) {
        const char *content = content_of(json_object_get(root, names[i]));
        if (content && !json_object_get(tokens, names[i])) {
            failed |= json_object_set_new(tokens, names[i], json_string(content)) != 0;
        }
    }
    return !failed;
}

static json_t *list_contents(const json_t *list)
{
    json_t *contents = json_array();
    for (size_t i = 0; i < json_array_size(list); ++i) {
        const char *content = content_of(json_array_get(list, i));
        if (content) {
            json_array_append_new(contents, json_string(content));
        }
    }
    return contents;
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
        failed |= json_object_set_new(tokens, "additional_special_tokens", list_contents(list));
    }
    json_object_foreach(map, name, token)
    {
        if (content_of(token) && !json_object_get(tokens, name)) {
            failed |= json_object_set_new(tokens, name, json_string(content_of(token)));
        }
    }
    return !failed;
}

// -- The template --------------------------------------------------------------------------------

// The path of `name` in the folder if there is such a file, else NULL in `*out_path`.
static tapml_status find_file(const char *folder, const char *name, char **out_path)
{
    char *path = file_join(folder, name);
    if (!path) {
        return status_no_memory();
    }
    if (!file_exists(path)) {
        alloc_free(path);
        path = NULL;
    }
    *out_path = path;
    return TAPML_OK;
}

// Reads a JSON file of the folder; NULL where there is none.
static tapml_status load_json(const char *folder, const char *name, json_t **out_root)
{
    char *path = NULL;
    *out_root = NULL;
    TAPML_TRY(find_file(folder, name, &path));
    const tapml_status status = path ? json_file_load(path, out_root) : TAPML_OK;
    alloc_free(path);
    return status;
}

static tapml_status read_file(const char *folder, struct template **out_template)
{
    char *path = NULL;
    char *source = NULL;
    size_t size = 0;
    TAPML_TRY(find_file(folder, "chat_template.jinja", &path));
    if (!path) {
        return TAPML_OK;
    }
    tapml_status status = file_read(path, TEMPLATE_BYTES_MAX, &source, &size);
    if (status == TAPML_OK) {
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
    TAPML_TRY(load_json(folder, "special_tokens_map.json", &map));
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
    TAPML_TRY(read_file(folder, &chat->plain));
    if (!chat->plain) {
        TAPML_TRY(read_member(folder, "tokenizer_config.json", config, chat));
    }
    if (!chat->plain) {
        TAPML_TRY(load_json(folder, processor, &root));
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
    tapml_status status = load_json(folder, "tokenizer_config.json", &config);
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
    if (text[0] != '[' && text[0] != '{') {
        json = json_pack("[{s:s, s:s}]", "role", "user", "content", text);
    } else {
        TAPML_TRY(json_file_parse("the messages", text, length, &json));
    }
    json_t *root = json_is_object(json) ? json_incref(json) : json_pack("{s:O?}", "messages", json);
    json_decref(json);
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
    int failed = json_object_update_missing(root, chat->tokens);
    if (!json_object_get(root, "add_generation_prompt")) {
        failed |= json_object_set_new(root, "add_generation_prompt", json_true());
    }
    if (!json_object_get(root, "tools")) {
        failed |= json_object_set_new(root, "tools", json_null());
    }
    if (!json_object_get(root, "documents")) {
        failed |= json_object_set_new(root, "documents", json_null());
    }
    return failed ? status_no_memory() : TAPML_OK;
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
