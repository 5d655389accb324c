// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/pool_labels.h"

#include "base/arena.h"
#include "base/assert.h"
#include "base/text.h"
#include "run/bundle_tags.h"

#include <string.h>

static const char blanks[] = " \t";

// Calls `visit` with each word, which lives until it returns.
static tapml_status
visit_words(const char *labels, tapml_status (*visit)(void *user, const char *word), void *user)
{
    tapml_status status = TAPML_OK;

    for (const char *at = labels; status == TAPML_OK && *(at += strspn(at, blanks)) != '\0';) {
        const size_t length = strcspn(at, blanks);
        struct text word;

        text_init(&word);
        text_append_bytes(&word, at, length);
        status = text_status(&word);
        status = status == TAPML_OK ? visit(user, word.data) : status;
        text_release(&word);
        at += length;
    }
    return status;
}

static tapml_status check_word(void *user, const char *word)
{
    struct bundle_condition condition;

    (void)user;
    if (!bundle_tags_is_condition(word)) {
        return status_fail(TAPML_INVALID, "expected TAG=GLOB or TAG>=VERSION, found '%s'", word);
    }
    TAPML_TRY(bundle_tags_read_condition(word, &condition));
    return bundle_tags_is_of_place(condition.key)
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "expected a tag of devices, such as device_name, "
                             "found '%s'",
                             word);
}

tapml_status pool_labels_check(const char *labels)
{
    return visit_words(labels, check_word, NULL);
}

static tapml_status meet_word(void *user, const char *word)
{
    const struct bundle_tags *tags = user;
    struct bundle_condition condition;

    TAPML_TRY(bundle_tags_read_condition(word, &condition));
    return bundle_tags_meet(tags, &condition, 1)
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE,
                             "it is no member of the pool: expected %s, found "
                             "'%s'",
                             word, bundle_tags_first(tags, condition.key));
}

tapml_status pool_labels_meet(const char *labels, const struct backend_info *info)
{
    struct bundle_tags tags;
    struct arena *arena = arena_create();

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = bundle_tags_of_backend(info, arena, &tags);

    if (status == TAPML_OK) {
        status = visit_words(labels, meet_word, &tags);
        bundle_tags_release(&tags);
    }
    arena_destroy(arena);
    return status;
}
