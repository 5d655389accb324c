// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/layer.h>
#include <tapml/model/wrapper.h>

#include <stdio.h>
#include <string.h>

// -- Names of tensors ----------------------------------------------------------------------------

static int has_table(struct model_context *context, const char *embed, const int64_t shape[2])
{
    const struct model_name name = model_name(context, embed, 0, ".weight");

    return model_has_tensor(context, name.text, shape, 2, 1);
}

void model_find_names(struct model_context *context, const char *embed, int64_t rows, int64_t width)
{
    // As written; of a wrapper, on the hub, in memory, and in between; of a body without its head.
    static const struct model_renaming usual[] = {{NULL, NULL},
                                                  {"", "language_model."},
                                                  {"model.", "model.language_model."},
                                                  {"", "model.language_model."},
                                                  {"model.", "language_model."},
                                                  {"model.", ""},
                                                  {"transformer.", ""},
                                                  {"gpt_neox.", ""}};
    const int64_t shape[] = {rows, width};

    for (size_t i = 0; i < sizeof(usual) / sizeof(*usual) && context->status == TAPML_OK; i++) {
        context->renaming = usual[i];
        if (has_table(context, embed, shape)) {
            return;
        }
    }
    context->renaming = usual[0];
}

// -- The section as a config ---------------------------------------------------------------------

// A config whose root is a section of another one.
struct section {
    tapml_object object; // First: the object is the section.
    const struct model_context *outer;
    const struct model_wrapper *wrapper;
    const char *place; // Of the section; "" where its keys stand outside.
};

static const struct section *section_of(const tapml_object *object)
{
    return (const struct section *)object;
}

static const tapml_host_config *table_of(const struct section *section)
{
    return section->outer->config_table;
}

static int is_shared(const struct model_wrapper *wrapper, const char *pointer)
{
    for (size_t i = 0; i < MODEL_WRAPPER_KEYS_MAX && wrapper->shared[i] != NULL; i++) {
        if (strcmp(wrapper->shared[i], pointer) == 0) {
            return 1;
        }
    }
    return 0;
}

// Where a key is in the whole config: in the section, unless it is shared and stands outside. One
// that is too long for a name is nowhere, as the host has it.
static struct model_name outer_key(const struct section *section, const char *pointer)
{
    tapml_object *config = section->outer->config;
    struct model_name name, outer;

    if ((size_t)snprintf(name.text, sizeof(name.text), "%s%s", section->place, pointer) >=
        sizeof(name.text)) {
        return (struct model_name){"/"};
    }
    if (!is_shared(section->wrapper, pointer) || !table_of(section)->has(config, pointer)) {
        return name;
    }
    table_of(section)->ignore(config, name.text);
    snprintf(outer.text, sizeof(outer.text), "%s", pointer);
    return outer;
}

static int32_t has(tapml_object *object, const char *pointer)
{
    const struct section *section = section_of(object);

    return table_of(section)->has(section->outer->config, outer_key(section, pointer).text);
}

static int64_t i64(tapml_object *object, const char *pointer, int64_t fallback)
{
    const struct section *section = section_of(object);

    return table_of(section)->i64(section->outer->config, outer_key(section, pointer).text,
                                  fallback);
}

static double f64(tapml_object *object, const char *pointer, double fallback)
{
    const struct section *section = section_of(object);

    return table_of(section)->f64(section->outer->config, outer_key(section, pointer).text,
                                  fallback);
}

static const char *string(tapml_object *object, const char *pointer, const char *fallback)
{
    const struct section *section = section_of(object);

    return table_of(section)->string(section->outer->config, outer_key(section, pointer).text,
                                     fallback);
}

static int32_t boolean(tapml_object *object, const char *pointer, int32_t fallback)
{
    const struct section *section = section_of(object);

    return table_of(section)->boolean(section->outer->config, outer_key(section, pointer).text,
                                      fallback);
}

static int64_t length(tapml_object *object, const char *pointer)
{
    const struct section *section = section_of(object);

    return table_of(section)->length(section->outer->config, outer_key(section, pointer).text);
}

static void ignore(tapml_object *object, const char *pointer)
{
    const struct section *section = section_of(object);

    table_of(section)->ignore(section->outer->config, outer_key(section, pointer).text);
}

static void expect(tapml_object *object, const char *pointer, const char *json)
{
    const struct section *section = section_of(object);

    table_of(section)->expect(section->outer->config, outer_key(section, pointer).text, json);
}

static int32_t is_null(tapml_object *object, const char *pointer)
{
    const struct section *section = section_of(object);

    return table_of(section)->is_null(section->outer->config, outer_key(section, pointer).text);
}

static const tapml_host_config section_table = {
    .hdr = TAPML_HDR(tapml_host_config),
    .has = has,
    .i64 = i64,
    .f64 = f64,
    .string = string,
    .boolean = boolean,
    .length = length,
    .ignore = ignore,
    .expect = expect,
    .is_null = is_null,
};

// -- The other parts -----------------------------------------------------------------------------

tapml_graph_value model_stand_in(struct model_context *context, tapml_graph_value x, int64_t width)
{
    const struct model_stand_in *part = &context->stand_in;
    const tapml_part asked = {.hdr = TAPML_HDR(tapml_part),
                              .component = part->component,
                              .output = part->output,
                              .width = width,
                              .token = part->token};
    const int64_t column[] = {TAPML_SYM_TOKENS, 1};
    tapml_graph_value rows = 0, others = 0;

    if (context->status != TAPML_OK || part->component == NULL ||
        !TAPML_HAS_FN(tapml_host_parts, context->parts_table, rows)) {
        return x;
    }
    model_note(context,
               context->parts_table->rows(context->graph, context->call, &asked, &rows, &others));
    others = model_repeat(context, model_reshape(context, others, column, 2), 1, width);
    model_scope_begin(context, part->component);
    x = model_add(context, "add", model_multiply(context, "others", x, others), rows);
    model_scope_end(context);
    return x;
}

// -- The text part -------------------------------------------------------------------------------

static const char *place_of(const struct model_context *context,
                            const struct model_wrapper *wrapper)
{
    return wrapper->may_lack_section &&
                   !context->config_table->has(context->config, wrapper->section)
               ? ""
               : wrapper->section;
}

static const struct model_architecture *find_text(struct model_context *context,
                                                  const struct model_wrapper *wrapper)
{
    if (*place_of(context, wrapper) == '\0') {
        return &wrapper->texts[0];
    }

    const char *known[MODEL_WRAPPER_TEXTS_MAX + 1] = {NULL};
    struct model_name key;

    for (size_t i = 0; i < MODEL_WRAPPER_TEXTS_MAX && wrapper->texts[i].model_type != NULL; i++) {
        known[i] = wrapper->texts[i].model_type;
    }
    snprintf(key.text, sizeof(key.text), "%s/model_type", wrapper->section);

    const char *type = model_config_choice(context, key.text, known[0], known);

    for (size_t i = 0; i < MODEL_WRAPPER_TEXTS_MAX && known[i] != NULL; i++) {
        if (strcmp(known[i], type) == 0) {
            return &wrapper->texts[i];
        }
    }
    return &wrapper->texts[0];
}

// The part that `wrapper` names, of a config with a section.
static struct model_stand_in read_part(struct model_context *context,
                                       const struct model_wrapper *wrapper)
{
    const struct model_name key = model_config_key(context, wrapper->part.token);
    const int has_section = *place_of(context, wrapper) != '\0';
    const int64_t token =
        context->config_table->i64(context->config, key.text, wrapper->part.usual_token);

    if (has_section && (token < 0 || token > INT32_MAX)) {
        model_fail(context, TAPML_INVALID, "'%s' is %lld, expected the id of a token", key.text + 1,
                   (long long)token);
    }
    return (struct model_stand_in){.component = has_section ? wrapper->part.component : NULL,
                                   .output = wrapper->part.output,
                                   .token = token};
}

// A context of the text part, which is the wrapper's but for its config.
static struct model_context begin_text(struct model_context *context,
                                       const struct model_wrapper *wrapper,
                                       struct section *out_section)
{
    struct model_context text = *context;

    for (size_t i = 0; i < MODEL_WRAPPER_KEYS_MAX && wrapper->ignored[i] != NULL; i++) {
        context->config_table->ignore(context->config, wrapper->ignored[i]);
    }
    *out_section =
        (struct section){.outer = context, .wrapper = wrapper, .place = place_of(context, wrapper)};
    if (wrapper->part.component != NULL) {
        text.stand_in = read_part(context, wrapper);
    }
    text.config_table = &section_table;
    text.config = &out_section->object;
    return text;
}

void model_wrapper_build(struct model_context *context, const void *description)
{
    const struct model_wrapper *wrapper = description;
    const struct model_architecture *part = find_text(context, wrapper);
    struct section section;
    struct model_context text = begin_text(context, wrapper, &section);

    if (context->status == TAPML_OK) {
        part->build(&text, part->description);
        model_note(context, text.status);
    }
}

void model_wrapper_fill(struct model_context *context,
                        const void *description,
                        const struct model_fill *fill)
{
    const struct model_wrapper *wrapper = description;
    const struct model_architecture *part = find_text(context, wrapper);
    struct section section;
    struct model_context text = begin_text(context, wrapper, &section);

    if (context->status == TAPML_OK) {
        part->fill(&text, part->description, fill);
        model_note(context, text.status);
    }
}
