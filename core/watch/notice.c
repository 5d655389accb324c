// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/notice.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/text.h"
#include "link/child.h"
#include "schema/catalogue.h"
#include "store/look.h"
#include "store/store.h"
#include "store/turned.h"

#include <inttypes.h>
#include <stdio.h>

static const uint64_t SECOND_NS = 1000000000;

void notice_print(const struct look_row *look, const struct turned_row *first, struct text *out)
{
    text_format(out, "%" PRId64 " %s worse, %" PRId64 " %s better", look->worse,
                look->worse == 1 ? "verdict is" : "verdicts are", look->better,
                look->better == 1 ? "is" : "are");
    if (first != NULL) {
        text_sentence(out, ", first %s on %s at %s: %s, now %s", catalogue_shorten(first->op),
                      first->target, first->instance,
                      *first->before != '\0' ? first->before : "a new case", first->after);
    }
}

// -- The facts ---------------------------------------------------------------------------------

enum { FACTS = 17, PREFIX = 1, SUFFIX = 4 };

struct facts {
    struct arena *arena;
    const char *words[PREFIX + FACTS + SUFFIX]; // env NAME=VALUE ... /bin/sh -c COMMAND
    size_t count;
    int has_failed;
};

static void add_word(struct facts *facts, const char *word)
{
    facts->has_failed |= word == NULL;
    facts->words[facts->count++] = word;
}

static void add_text(struct facts *facts, const char *name, const char *value)
{
    add_word(facts, arena_format(facts->arena, "TAPML_%s=%s", name, value));
}

static void add_number(struct facts *facts, const char *name, int64_t value)
{
    add_word(facts, arena_format(facts->arena, "TAPML_%s=%" PRId64, name, value));
}

static void add_first(struct facts *facts, const struct turned_row *first)
{
    static const struct turned_row none = {.target = "",
                                           .op = "",
                                           .instance = "",
                                           .phase = "",
                                           .before = "",
                                           .after = "",
                                           .reason = ""};
    const struct turned_row *turned = first != NULL ? first : &none;

    add_text(facts, "TARGET", turned->target);
    add_text(facts, "OP", turned->op);
    add_text(facts, "INSTANCE", turned->instance);
    add_text(facts, "PHASE", turned->phase);
    add_text(facts, "BEFORE", turned->before);
    add_text(facts, "AFTER", turned->after);
    add_text(facts, "REASON", turned->reason);
}

// The words of the program: `env` sets what a process that has threads must not.
static tapml_status list_words(const struct notice_options *options,
                               const struct look_row *look,
                               const struct turned_row *first,
                               struct facts *facts)
{
    struct text sentence;

    text_init(&sentence);
    notice_print(look, first, &sentence);
    add_word(facts, "/usr/bin/env");
    add_text(facts, "SENTENCE", sentence.data);
    facts->has_failed |= text_status(&sentence) != TAPML_OK;
    text_release(&sentence);
    add_text(facts, "RUN", options->dir);
    add_text(facts, "CONFIG", options->config);
    add_text(facts, "PAGE", options->page);
    add_number(facts, "LOOK", look->id);
    add_number(facts, "WORSE", look->worse);
    add_number(facts, "BETTER", look->better);
    add_number(facts, "REMAINING", look->remaining);
    add_text(facts, "CAUSE", look->cause);
    add_text(facts, "TRIGGER", look->fired);
    add_first(facts, first);
    add_word(facts, "/bin/sh");
    add_word(facts, "-c");
    add_word(facts, options->command);
    facts->words[facts->count] = NULL;
    return facts->has_failed ? status_no_memory() : TAPML_OK;
}

// -- The command -------------------------------------------------------------------------------

static tapml_status run_command(const char *const *words, int *out_is_told)
{
    struct child_output output;

    TAPML_TRY(child_run(words, NOTICE_SECONDS * SECOND_NS, &output));
    *out_is_told = *output.ending == '\0';
    if (!*out_is_told) {
        log_line(LOG_WARNING, "the command of 'on-change' %s%s%s", output.ending,
                 *output.last_words != '\0' ? ": " : "", output.last_words);
    }
    alloc_free(output.text);
    return TAPML_OK;
}

static tapml_status
give_one(const struct notice_options *options, const struct look_row *look, struct arena *arena)
{
    struct turned_row *turned = NULL;
    struct facts facts = {.arena = arena};
    size_t count = 0;
    int is_told = 1;

    if (options->command != NULL) {
        TAPML_TRY(turned_list(options->store, look->id, arena, &turned, &count));
        TAPML_TRY(list_words(options, look, count > 0 ? turned : NULL, &facts));
        TAPML_TRY(run_command(facts.words, &is_told));
    }
    TAPML_TRY(store_begin(options->store));
    tapml_status status = look_tell(options->store, look->id, is_told);

    status = status == TAPML_OK ? store_commit(options->store) : status;
    if (status != TAPML_OK) {
        store_rollback(options->store);
    }
    return status;
}

tapml_status notice_give(const struct notice_options *options)
{
    struct arena *arena = arena_create();
    struct look_row *looks = NULL;
    size_t count = 0;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = look_list_untold(options->store, arena, &looks, &count);

    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        status = give_one(options, &looks[i], arena);
    }
    arena_destroy(arena);
    return status;
}
