// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/redaction.h"

#include "base/text.h"
#include "dump/dump_catalogue.h"
#include "report/report_markup.h"
#include "run/op_integers.h"
#include "schema/catalogue.h"

#include <string.h>

static const char redacted[] = "redacted";

struct redaction {
    struct catalogue *catalogue;
    int failed;
};

// Puts a text in place of a member that is there.
static void replace(struct redaction *redaction, json_t *object, const char *key, const char *text)
{
    if (json_object_get(object, key) != NULL) {
        redaction->failed |= json_object_set_new(object, key, json_string(text)) != 0;
    }
}

// Whether numbers of an op may tell tokens. Those of what nobody knows here may.
static int may_tell_tokens(const struct redaction *redaction, const char *op)
{
    int is_known = 0;

    for (size_t i = 0; i < catalogue_count(redaction->catalogue); i++) {
        const tapml_op *one = catalogue_at(redaction->catalogue, i)->op;

        if (strcmp(one->name, op) == 0) {
            if (op_integers_tells(one)) {
                return 1;
            }
            is_known = 1;
        }
    }
    return !is_known;
}

// A case, an instance, what is blamed or what was not compared: each has the op that it is of.
static void redact_item(struct redaction *redaction, json_t *item, const char *op)
{
    static const char *const sentences[] = {"reason", "key"};

    if (!may_tell_tokens(redaction, op)) {
        return;
    }
    for (size_t i = 0; i < sizeof(sentences) / sizeof(*sentences); i++) {
        const int is_empty = *report_markup_string(item, sentences[i]) == '\0';

        if (!is_empty) {
            replace(redaction, item, sentences[i], redacted);
        }
    }
    (void)json_object_del(item, "values"); // Most have none.
}

// What is left of a command is what its file is replayed by anywhere.
static void redact_command(struct redaction *redaction, json_t *object, const char *file_key)
{
    struct text command;

    if (*report_markup_string(object, "command") == '\0') {
        return;
    }
    text_init(&command);
    text_append(&command, "tapml-host replay ");
    text_append_shell(&command, report_markup_string(object, file_key));
    redaction->failed |= command.failed;
    replace(redaction, object, "command", command.data);
    text_release(&command);
}

static void redact_list(struct redaction *redaction, json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *item = json_array_get(list, i);
        json_t *of_blame = json_object_get(item, "case");
        const char *op = report_markup_string(item, "op");

        redact_command(redaction, json_object_get(item, "bundle"), "file");
        if (of_blame != NULL) {
            redact_item(redaction, of_blame, op);
        }
        redact_item(redaction, item, op);
    }
}

// Where a NaN first arises is told with what the source has there.
static void cut_sentence(struct redaction *redaction, json_t *object, const char *key)
{
    const char *sentence = report_markup_string(object, key);
    const char *value = strstr(sentence, ": element [");

    if (value != NULL) {
        json_t *cut = json_stringn(sentence, (size_t)(value - sentence));

        redaction->failed |= json_object_set_new(object, key, cut) != 0;
    }
}

static void redact_target(struct redaction *redaction, json_t *target)
{
    static const char *const lists[] = {"blamed", "cases", "derived", "instances", "not_compared"};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        redact_list(redaction, json_object_get(target, lists[i]));
    }
    redact_command(redaction, json_object_get(target, "driver_check"), "bundle");
    cut_sentence(redaction, target, "nonfinite");
}

tapml_status redaction_apply(json_t *report)
{
    json_t *run = json_object_get(report, "run");
    json_t *targets = json_object_get(report, "targets");
    struct redaction redaction = {.failed = 0};

    TAPML_TRY(dump_catalogue_create(&redaction.catalogue));
    replace(&redaction, run, "prompts_hash", redacted);
    replace(&redaction, run, "arguments", "");
    for (size_t i = 0; i < json_array_size(targets); i++) {
        redact_target(&redaction, json_array_get(targets, i));
    }
    catalogue_destroy(redaction.catalogue);
    return redaction.failed ? status_no_memory() : TAPML_OK;
}
