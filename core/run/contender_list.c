// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/contender_list.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "config/model_list.h"
#include "config/model_path.h"
#include "config/options.h"
#include "plugin/model.h"
#include "run/setup.h"
#include "tensor/encoding.h"

static const char *option_of(enum contender_over over)
{
    return over == CONTENDER_MODELS      ? "--model"
           : over == CONTENDER_ENCODINGS ? "--weights"
                                         : "--plan";
}

static struct contender make(enum contender_over over, const char *word)
{
    return (struct contender){.name = word,
                              .model = over == CONTENDER_MODELS ? word : NULL,
                              .weights = over == CONTENDER_ENCODINGS ? word : NULL,
                              .plan = over == CONTENDER_PLANS ? word : NULL};
}

static tapml_status reserve(struct arena *arena, size_t most, struct contender_list *list)
{
    list->items = arena_array(arena, most + 1, sizeof(*list->items));
    list->absent = arena_array(arena, most + 1, sizeof(*list->absent));
    return list->items != NULL && list->absent != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status take_named(const struct options *options,
                               enum contender_over over,
                               struct arena *arena,
                               struct contender_list *list)
{
    const char *word = NULL;

    TAPML_TRY(reserve(arena, options->given_count, list));
    for (size_t i = 0; (word = options_at(options, option_of(over), i)) != NULL; i++) {
        struct model_options checked = {.folder = NULL};

        TAPML_TRY(over == CONTENDER_ENCODINGS ? setup_read_weights(word, &checked) : TAPML_OK);
        list->items[list->count++] = make(over, word);
    }
    return TAPML_OK;
}

// All encodings, and the weights as they are stored; but for a divergence from these, which would
// be 0.
static tapml_status
take_encodings(enum contender_measure measure, struct arena *arena, struct contender_list *list)
{
    size_t count = 0;

    while (encoding_word(count) != NULL) {
        count++;
    }
    TAPML_TRY(reserve(arena, count + 1, list));
    if (measure != CONTENDER_KL) {
        list->items[list->count++] = make(CONTENDER_ENCODINGS, "stored");
    }
    for (size_t i = 0; i < count; i++) {
        list->items[list->count++] = make(CONTENDER_ENCODINGS, encoding_word(i));
    }
    return TAPML_OK;
}

static tapml_status take_model(const char *program,
                               const struct published_model *model,
                               struct arena *arena,
                               struct contender_list *list)
{
    char *folder = NULL;
    const char *name = arena_text(arena, model->name);
    const tapml_status status =
        model->hub != NULL ? model_path_find(program, model->hub, &folder) : TAPML_NOT_FOUND;

    alloc_free(folder);
    if (name == NULL) {
        return status_no_memory();
    }
    if (status == TAPML_OK) {
        list->items[list->count++] = make(CONTENDER_MODELS, name);
    } else if (status == TAPML_NOT_FOUND) {
        list->absent[list->absent_count++] = (struct contender_absent){
            name, model->hub != NULL ? "it is not in the hub's cache on this machine"
                                     : "its weights have no place on the hub"};
    }
    return status == TAPML_NOT_FOUND ? TAPML_OK : status;
}

static tapml_status
take_published(const char *program, struct arena *arena, struct contender_list *list)
{
    struct published *published = NULL;

    TAPML_TRY(model_list_open(program, &published));
    tapml_status status = reserve(arena, published_count(published), list);

    for (size_t i = 0; status == TAPML_OK && i < published_count(published); i++) {
        status = take_model(program, published_at(published, i), arena, list);
    }
    published_close(published);
    return status;
}

tapml_status contender_list_find(const char *program,
                                 const struct options *options,
                                 enum contender_over over,
                                 enum contender_measure measure,
                                 struct arena *arena,
                                 struct contender_list *out_list)
{
    struct contender_list list = {.count = 0};

    if (options_get(options, option_of(over)) != NULL) {
        TAPML_TRY(take_named(options, over, arena, &list));
    } else if (over == CONTENDER_ENCODINGS) {
        TAPML_TRY(take_encodings(measure, arena, &list));
    } else if (over == CONTENDER_MODELS) {
        TAPML_TRY(take_published(program, arena, &list));
    } else {
        return status_fail(TAPML_INVALID, "no plans: give --plan FILE for each of them");
    }
    *out_list = list;
    return TAPML_OK;
}
