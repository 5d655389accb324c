// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "gguf/gguf_family.h"

#include "base/alloc.h"
#include "base/text.h"
#include "gguf/gguf_tables.h"
#include "gguf/gguf_term.h"

#include <stdio.h>
#include <string.h>

enum { LIKE_MAX = 4 };

// What becomes null, where an absent key would mean a default.
static const char nothing[] = "=null";

struct gguf_family {
    const struct gguf *gguf;
    char *architecture;
    json_t *root; // Of the table, with what the tables have that it is like.
};

// -- Finding -----------------------------------------------------------------------------------

// Puts what `base` has under a member of `root`, in which null says that there is nothing.
static tapml_status add_missing(json_t *root, const json_t *base, const char *member)
{
    json_t *own = json_object_get(root, member);
    json_t *other = json_object_get(base, member);
    if (!other) {
        return TAPML_OK;
    }
    const int failed =
        own ? json_object_update_missing(own, other) : json_object_set(root, member, other);
    return failed ? status_no_memory() : TAPML_OK;
}

// Takes over what the table has that this one is like, and so on.
static tapml_status complete(json_t *root)
{
    for (int i = 0; i < LIKE_MAX; ++i) {
        const char *like = json_string_value(json_object_get(root, "like"));
        json_t *base = NULL;
        if (!like) {
            return TAPML_OK;
        }
        TAPML_TRY(gguf_tables_load_named(like, &base));
        tapml_status status = add_missing(root, base, "config");
        if (status == TAPML_OK) {
            status = add_missing(root, base, "tensors");
        }
        json_t *next = json_object_get(base, "like");
        const int failed =
            next ? json_object_set(root, "like", next) : json_object_del(root, "like");
        json_decref(base);
        TAPML_TRY(status);
        if (failed) {
            return status_no_memory();
        }
    }
    return status_fail(TAPML_INTERNAL, "a table of a GGUF family is like too many others");
}

static int names(const json_t *root, const char *architecture)
{
    const json_t *list = json_object_get(root, "architectures");
    for (size_t i = 0; i < json_array_size(list); ++i) {
        if (strcmp(json_string_value(json_array_get(list, i)), architecture) == 0) {
            return 1;
        }
    }
    return 0;
}

// Whether a table is that of the model.
static tapml_status fits(const struct gguf_family *family, const json_t *root, int *out_fits)
{
    const char *when = json_string_value(json_object_get(root, "when"));
    json_t *value = NULL;
    *out_fits = names(root, family->architecture);
    if (!*out_fits || !when) {
        return TAPML_OK;
    }
    TAPML_TRY(gguf_family_evaluate(family, when, &value));
    *out_fits = gguf_term_is_true(value);
    json_decref(value);
    return TAPML_OK;
}

static void list_architectures(const json_t *root, struct text *out)
{
    const json_t *list = json_object_get(root, "architectures");
    for (size_t i = 0; i < json_array_size(list); ++i) {
        text_format(out, " %s", json_string_value(json_array_get(list, i)));
    }
}

// Asks the tables in the order of their names.
static tapml_status find_table(struct gguf_family *family, struct text *known)
{
    for (size_t i = 0; i < gguf_tables_count(); ++i) {
        int is_found = 0;
        json_t *root = NULL;
        TAPML_TRY(gguf_tables_load(i, &root));
        list_architectures(root, known);
        const tapml_status status = fits(family, root, &is_found);
        if (status == TAPML_OK && is_found) {
            family->root = root;
            return complete(root);
        }
        json_decref(root);
        TAPML_TRY(status);
    }
    return status_fail(TAPML_NOT_FOUND,
                       "%s: expected an architecture that is known, which are%s, found '%.64s'",
                       gguf_path(family->gguf), known->data, family->architecture);
}

tapml_status gguf_family_open(const struct gguf *gguf, struct gguf_family **out_family)
{
    static const char key[] = "general.architecture";
    struct gguf_text text;
    struct text known;
    if (!gguf_find_text(gguf, key, &text) || memchr(text.bytes, '\0', text.length)) {
        return status_fail(TAPML_INVALID, "%s: key '%s': expected a text, found none",
                           gguf_path(gguf), key);
    }
    struct gguf_family *family = alloc_new(sizeof(*family));
    if (!family) {
        return status_no_memory();
    }
    family->gguf = gguf;
    family->architecture = alloc_new(text.length + 1);
    text_init(&known);
    tapml_status status = status_no_memory();
    if (family->architecture) {
        memcpy(family->architecture, text.bytes, text.length);
        status = find_table(family, &known);
    }
    text_release(&known);
    if (status != TAPML_OK) {
        gguf_family_close(family);
        return status;
    }
    *out_family = family;
    return TAPML_OK;
}

void gguf_family_close(struct gguf_family *family)
{
    if (family) {
        json_decref(family->root);
        alloc_free(family->architecture);
        alloc_free(family);
    }
}

const char *gguf_family_architecture(const struct gguf_family *family)
{
    return family->architecture;
}

json_t *gguf_family_tensors(const struct gguf_family *family)
{
    return json_object_get(family->root, "tensors");
}

int gguf_family_ignores(const struct gguf_family *family, const char *tensor)
{
    const json_t *list = json_object_get(family->root, "ignored");
    for (size_t i = 0; i < json_array_size(list); ++i) {
        if (text_glob(json_string_value(json_array_get(list, i)), tensor)) {
            return 1;
        }
    }
    return 0;
}

tapml_status
gguf_family_evaluate(const struct gguf_family *family, const char *term, json_t **out_value)
{
    return gguf_term_evaluate(family->gguf, family->architecture, term, out_value);
}

// -- The configuration -------------------------------------------------------------------------

static tapml_status
make_value(const struct gguf_family *family, const json_t *template, json_t **out_value);

// The member that the value of the term "=" names.
static tapml_status
make_chosen(const struct gguf_family *family, const json_t *template, json_t **out_value)
{
    json_t *value = NULL;
    char number[32];
    TAPML_TRY(
        gguf_family_evaluate(family, json_string_value(json_object_get(template, "=")), &value));
    const char *name = json_string_value(value);
    if (json_is_integer(value)) {
        (void)snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
        name = number;
    } else if (json_is_boolean(value)) {
        name = json_is_true(value) ? "true" : "false";
    }
    const json_t *chosen = name ? json_object_get(template, name) : NULL;
    const tapml_status status = chosen ? make_value(family, chosen, out_value) : TAPML_OK;
    json_decref(value);
    return status;
}

static tapml_status add_member(const struct gguf_family *family,
                               const char *key,
                               const json_t *template,
                               json_t *object)
{
    json_t *value = NULL;
    TAPML_TRY(make_value(family, template, &value));
    return !value || json_object_set_new(object, key, value) == 0 ? TAPML_OK : status_no_memory();
}

static tapml_status
make_object(const struct gguf_family *family, const json_t *template, json_t **out_value)
{
    json_t *object = json_object();
    const char *key = NULL;
    json_t *member = NULL;
    tapml_status status = object ? TAPML_OK : status_no_memory();
    json_object_foreach((json_t *)(uintptr_t) template, key, member)
    {
        if (status == TAPML_OK && strcmp(key, "?") != 0) {
            status = add_member(family, key, member, object);
        }
    }
    if (status != TAPML_OK) {
        json_decref(object);
        return status;
    }
    *out_value = object;
    return TAPML_OK;
}

// Makes a value from that of a table: a text that begins with '=' is a term; an object with the
// member "?" is there if that term is true; one with "=" is a choice. NULL: it is not there.
static tapml_status
make_value(const struct gguf_family *family, const json_t *template, json_t **out_value)
{
    const char *text = json_string_value(template);
    const char *condition = json_string_value(json_object_get(template, "?"));
    if (text && strcmp(text, nothing) == 0) {
        *out_value = json_null();
        return TAPML_OK;
    }
    if (text && *text == '=') {
        return gguf_family_evaluate(family, text + 1, out_value);
    }
    if (!json_is_object(template)) {
        *out_value = json_is_null(template) ? NULL : json_incref((json_t *)(uintptr_t) template);
        return TAPML_OK;
    }
    if (condition) {
        json_t *value = NULL;
        TAPML_TRY(gguf_family_evaluate(family, condition, &value));
        const int is_true = gguf_term_is_true(value);
        json_decref(value);
        if (!is_true) {
            return TAPML_OK;
        }
    }
    return json_object_get(template, "=") ? make_chosen(family, template, out_value)
                                          : make_object(family, template, out_value);
}

tapml_status gguf_family_config(const struct gguf_family *family, json_t **out_config)
{
    return make_object(family, json_object_get(family->root, "config"), out_config);
}
