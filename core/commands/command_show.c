// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "carve/foreign_call.h"
#include "config/options.h"
#include "report/case_text.h"
#include "store/case.h"
#include "store/label.h"
#include "store/metadata.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--case", "ID", "one case: its tensors, and what targets made of it"},
    {"--op", "NAME", "in the list only cases of this op"},
    {"--tensor", "NAME", "with --case: the values of one tensor, as they go in and come out"},
    {"--slice", "PART", "with --tensor: indices and ranges, 0, 2:5"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_show_manual = {
    .usage = "tapml-host show STORE [--case ID [--tensor NAME [--slice PART]]]",
    .about = "Lists the cases of a store (a run's run.tapmlrun, or a bundle), or shows "
             "one: what is in its tensors, and what each target made of it.",
    .specs = specs,
};

// What is printed.
struct showing {
    const struct options *options;
    struct store *store;
    struct arena *arena;
    struct text text;
};

// A target's verdict on the case, where it has one.
static tapml_status show_target(struct showing *showing, const char *target, int64_t case_id)
{
    struct verdict_list list;

    TAPML_TRY(verdict_read(showing->store, target, &list));
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].case_id == case_id) {
            case_text_print_verdict(target, &list.items[i], &showing->text);
        }
    }
    verdict_list_release(&list);
    return TAPML_OK;
}

// Where its program makes the call, if libtapml-carve was told.
static tapml_status show_line(struct showing *showing, const char *instance)
{
    const char *key = arena_format(showing->arena, FOREIGN_CALL_LINE "%s", instance);

    if (key == NULL) {
        return status_no_memory();
    }
    const char *line = metadata_get(showing->store, key);

    if (line != NULL) {
        text_format(&showing->text, "  called in %s\n", line);
    }
    return TAPML_OK;
}

static tapml_status show_case(struct showing *showing, int64_t case_id)
{
    const char *tensor = options_get(showing->options, "--tensor");
    struct carved_case item;
    struct target_row *targets = NULL;
    size_t count = 0;

    TAPML_TRY(stored_case_load(showing->store, case_id, showing->arena, &item));
    if (tensor != NULL) {
        return case_text_print_values(&item, tensor, options_get(showing->options, "--slice"),
                                      &showing->text);
    }
    case_text_print_name(&item, &showing->text);
    TAPML_TRY(show_line(showing, item.instance));
    case_text_print_arguments(&item, &showing->text);
    TAPML_TRY(target_list(showing->store, showing->arena, &targets, &count));
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(show_target(showing, targets[i].name, case_id));
    }
    return TAPML_OK;
}

static int is_asked(const struct showing *showing, const struct carved_case *item)
{
    const char *op = options_get(showing->options, "--op");
    const char *dot = strrchr(item->op_name, '.');

    return op == NULL || strcmp(op, item->op_name) == 0 ||
           (dot != NULL && strcmp(op, dot + 1) == 0);
}

static tapml_status list_case(struct showing *showing, int64_t id)
{
    struct carved_case item;

    TAPML_TRY(label_read(showing->store, id, showing->arena, &item));
    if (is_asked(showing, &item)) {
        text_sentence(&showing->text, "%6" PRId64 "  %-8s %-24s %-40s %s\n", id, item.phase,
                      item.op_name, item.instance, item.shape_class);
    }
    return TAPML_OK;
}

static tapml_status list_cases(struct showing *showing)
{
    int64_t *ids = NULL;
    size_t count = 0;

    TAPML_TRY(stored_case_ids(showing->store, &ids, &count));
    tapml_status status = TAPML_OK;

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = list_case(showing, ids[i]);
    }
    alloc_free(ids);
    return status;
}

static tapml_status check_options(const struct options *options)
{
    const int has_case = options_get(options, "--case") != NULL;

    if (options->plain_count != 1) {
        return status_fail(TAPML_INVALID, "one store expected, %zu given", options->plain_count);
    }
    if (!has_case && options_get(options, "--tensor") != NULL) {
        return status_fail(TAPML_INVALID, "--tensor needs --case");
    }
    return options_get(options, "--slice") == NULL || options_get(options, "--tensor") != NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "--slice needs --tensor");
}

static tapml_status show(struct showing *showing)
{
    const struct options *options = showing->options;
    int64_t case_id = 0;

    TAPML_TRY(check_options(options));
    TAPML_TRY(options_i64(options, "--case", 0, 1, INT64_MAX, &case_id));
    TAPML_TRY(store_open_to_read(options->plain[0], &showing->store));
    showing->arena = arena_create();
    if (showing->arena == NULL) {
        return status_no_memory();
    }
    TAPML_TRY(case_id != 0 ? show_case(showing, case_id) : list_cases(showing));
    TAPML_TRY(text_status(&showing->text));
    (void)fputs(showing->text.length > 0 ? showing->text.data : "", stdout);
    return TAPML_OK;
}

enum outcome command_show_main(const struct command *command)
{
    struct options options;
    struct showing showing = {.options = &options};
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_show_manual));
    }
    text_init(&showing.text);
    if (status == TAPML_OK) {
        status = show(&showing);
    }
    text_release(&showing.text);
    arena_destroy(showing.arena);
    store_close(showing.store);
    return outcome_report(status);
}
