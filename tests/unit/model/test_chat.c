// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "model/chat.h"

// What a folder with a tokenizer_config.json, and another file unless `name` is NULL, renders.
struct folder {
    const char *config;
    const char *name, *content;
    const char *text, *system;
};

static tapml_status render(const struct folder *folder, char *out, size_t size)
{
    struct scratch scratch;
    struct chat *chat = NULL;
    char *text = NULL;
    size_t length = 0;
    scratch_make(&scratch);
    if (folder->config) {
        scratch_text(&scratch, "tokenizer_config.json", folder->config);
    }
    if (folder->name) {
        scratch_text(&scratch, folder->name, folder->content);
    }
    tapml_status status = chat_open(scratch.folder, &chat);
    if (status == TAPML_OK) {
        status = chat_render(chat, folder->text, folder->system, &text, &length);
    }
    if (status == TAPML_OK) {
        snprintf(out, size, "%s", text);
        cr_assert_eq(strlen(text), length);
    }
    alloc_free(text);
    chat_close(chat);
    scratch_remove(&scratch);
    return status;
}

static void renders(const struct folder *folder, const char *expected)
{
    char out[512] = "";
    cr_assert_eq(render(folder, out, sizeof(out)), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(out, expected);
}

static void refuses(const struct folder *folder, tapml_status code, const char *part)
{
    char out[512] = "";
    cr_assert_eq(render(folder, out, sizeof(out)), code);
    cr_assert_not_null(strstr(status_message(), part), "%s", status_message());
}

#define ALL                                                                                        \
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}"             \
    "{{ '[assistant]' if add_generation_prompt }}"

Test(chat, renders_messages_in_every_form)
{
    static const char config[] =
        "{\"bos_token\": {\"content\": \"<s>\"}, \"chat_template\": \"" ALL "{{ mood }}\"}";
    renders(&(struct folder){config, NULL, NULL, "Hi", NULL}, "<s>[user] Hi[assistant]");
    renders(&(struct folder){config, NULL, NULL, "Hi", "Be brief."},
            "<s>[system] Be brief.[user] Hi[assistant]");
    renders(&(struct folder){config, NULL, NULL, "[{\"role\": \"a\", \"content\": \"b\"}]", NULL},
            "<s>[a] b[assistant]");
    renders(&(struct folder){config, NULL, NULL,
                             "{\"messages\": [{\"role\": \"a\", \"content\": \"b\"}], "
                             "\"add_generation_prompt\": false, \"mood\": \"!\"}",
                             NULL},
            "<s>[a] b!");
}

Test(chat, takes_the_templates_in_the_order_of_transformers)
{
    static const char text[] = "{\"chat_template\": \"config\"}";
    static const char named[] =
        "{\"chat_template\": [{\"name\": \"tool_use\", \"template\": \"tools\"}, "
        "{\"name\": \"default\", \"template\": \"plain\"}]}";
    static const char tools[] =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}], \"tools\": [{}]}";
    renders(&(struct folder){text, "chat_template.jinja", "file", "x", NULL}, "file");
    renders(
        &(struct folder){text, "chat_template.json", "{\"chat_template\": \"json\"}", "x", NULL},
        "config");
    renders(
        &(struct folder){NULL, "chat_template.json", "{\"chat_template\": \"json\"}", "x", NULL},
        "json");
    renders(&(struct folder){named, NULL, NULL, "x", NULL}, "plain");
    renders(&(struct folder){named, NULL, NULL, tools, NULL}, "tools");
}

Test(chat, tools_may_have_a_file_of_their_own)
{
    struct scratch scratch;
    struct chat *chat = NULL;
    char *text = NULL;
    size_t length = 0;
    scratch_make(&scratch);
    scratch_text(&scratch, "chat_template.jinja", "plain");
    cr_assert_eq(file_make_folder(scratch_path(&scratch, "additional_chat_templates")), TAPML_OK);
    scratch_text(&scratch, "additional_chat_templates/tool_use.jinja", "tools");
    cr_assert_eq(chat_open(scratch.folder, &chat), TAPML_OK, "%s", status_message());
    cr_assert_eq(chat_render(chat, "Hi", NULL, &text, &length), TAPML_OK);
    cr_assert_str_eq(text, "plain");
    alloc_free(text);
    cr_assert_eq(chat_render(chat,
                             "{\"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}], "
                             "\"tools\": [{}]}",
                             NULL, &text, &length),
                 TAPML_OK);
    cr_assert_str_eq(text, "tools");
    alloc_free(text);
    chat_close(chat);
    scratch_remove(&scratch);
}

Test(chat, knows_the_special_tokens)
{
    static const char config[] =
        "{\"eos_token\": null, \"extra_special_tokens\": {\"image_token\": \"<i>\"}, "
        "\"additional_special_tokens\": [\"<a>\"], \"chat_template\": "
        "\"{{ bos_token }}{{ eos_token }}{{ image_token }}{{ additional_special_tokens }}\"}";
    renders(&(struct folder){config, "special_tokens_map.json",
                             "{\"bos_token\": \"<s>\", \"eos_token\": {\"content\": \"</s>\"}}",
                             "x", NULL},
            "<s></s><i>['<a>']");
}

Test(chat, writes_the_day_that_is_given)
{
    static const char config[] = "{\"chat_template\": \"{{ strftime_now('%d %b %Y') }}\"}";
    renders(&(struct folder){config, NULL, NULL,
                             "{\"messages\": [{\"role\": \"user\"}], \"now\": \"2024-07-26\"}",
                             NULL},
            "26 Jul 2024");
    refuses(&(struct folder){config, NULL, NULL,
                             "{\"messages\": [{\"role\": \"user\"}], \"now\": \"today\"}", NULL},
            TAPML_INVALID, "YYYY-MM-DD");
}

Test(chat, refuses_with_a_sentence)
{
    static const char config[] = "{\"chat_template\": \"{{ raise_exception('no') }}\"}";
    refuses(&(struct folder){"{}", NULL, NULL, "x", NULL}, TAPML_NOT_FOUND, "no chat template");
    refuses(&(struct folder){"{\"chat_template\": 1}", NULL, NULL, "x", NULL}, TAPML_INVALID,
            "expected 'chat_template' to be a text");
    refuses(&(struct folder){"{\"chat_template\": \"{% x %}\"}", NULL, NULL, "x", NULL},
            TAPML_INVALID, "tokenizer_config.json: chat_template:1: the statement 'x'");
    refuses(&(struct folder){NULL, "chat_template.jinja", "\n{{", "x", NULL}, TAPML_INVALID,
            "chat_template.jinja:2: ");
    refuses(&(struct folder){config, NULL, NULL, "x", NULL}, TAPML_INVALID,
            "refuses the messages: no");
    refuses(&(struct folder){config, NULL, NULL, "[x", NULL}, TAPML_INVALID, "the messages");
    refuses(&(struct folder){config, NULL, NULL, "\xff", NULL}, TAPML_INVALID, "in UTF-8");
    refuses(&(struct folder){config, NULL, NULL, "x", "\xff"}, TAPML_INVALID, "in UTF-8");
    refuses(&(struct folder){config, NULL, NULL, "[]", NULL}, TAPML_INVALID, "a list of messages");
    refuses(&(struct folder){config, NULL, NULL, "{}", NULL}, TAPML_INVALID, "a list of messages");
    refuses(&(struct folder){config, NULL, NULL, "[{\"role\": \"u\"}, 5]", NULL}, TAPML_INVALID,
            "another at place 2");
}
