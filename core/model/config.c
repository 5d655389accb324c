// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/config.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/sentence.h"
#include "base/table.h"
#include "base/text.h"
#include "gguf/gguf.h"
#include "gguf/gguf_config.h"
#include "model/quantised_file.h"

#include <math.h>
#include <string.h>

enum {
    FILE_SIZE_MAX = 16 << 20,
    POINTER_LENGTH_MAX = 512,
    UNREAD_POINTER_MAX = 2048, // No reader asks for what lies deeper.
    UNREAD_FOUND_MAX = 2048,   // More would not fit in a message.
};

// What is known of a pointer that was asked for.
enum { MARK_READ = 1, MARK_IGNORED = 2, MARK_WRONG = 4 };

struct config {
    tapml_object object; // First: the object is the config.
    char *name;          // For messages.
    json_t *root;
    struct hash hash;
    struct table marks;  // Pointers, and what is known of them.
    struct text errors;  // What `config_check` will say, separated by "; ".
    tapml_status status; // TAPML_NO_MEMORY where a mark was lost.
};

// Keys that change no number: training, output options, generation, what Hugging Face keeps for
// itself. A key that is read all the same counts as read.
static const char *const ignored_keys[] = {
    // Training and initialisation.
    "*dropout*",
    "*pdrop*",
    "initializer_*",
    "init_*",
    "summary_*",
    "layerdrop",
    "input_jitter_noise",
    "router_aux_loss_coef",
    "rescale_prenorm_residual",
    "time_step_min",
    "time_step_max",
    "time_step_floor",
    "time_step_scale",
    "time_step_init_scheme",
    "gradient_checkpointing",
    "problem_type",
    "_num_labels",
    "type_vocab_size", // Of encoders; tests of Hugging Face write it into any config.
    "tf_legacy_loss",
    // How it is computed, and what is given back.
    "use_cache",
    "output_*",
    "torch_dtype",
    "dtype",
    "use_bfloat16",
    "pretraining_tp",
    "slow_but_exact",
    "residual_in_fp32",
    "attention_softmax_in_fp32",
    "scale_attention_softmax_in_fp32",
    "reorder_and_upcast_attn",
    "rescale_every",
    "use_mambapy",
    "use_associative_scan",
    "chunk_size_feed_forward",
    "torchscript",
    "return_dict",
    "use_return_dict",
    "attn_implementation",
    "_attn_implementation*",
    "transformers.js_config",
    "max_sequence_length",
    "is_decoder",
    "is_composition",
    // Who it is.
    "architectures",
    "model_type",
    "transformers_version",
    "tokenizer_class",
    "_name_or_path",
    "base_model_tp_plan",
    "name_or_path",
    "_commit_hash",
    "unsloth_fixed",
    "unsloth_version",
    "auto_map",
    "finetuning_task",
    "custom_pipelines",
    "sentence_transformers",
    "sbert_ce_default_activation_function",
    "task_specific_params",
    "id2label",
    "label2id",
    "pruned_heads",
    // How text is made of it.
    "*_token_id",
    "max_length",
    "min_length",
    "max_new_tokens",
    "min_new_tokens",
    "do_sample",
    "early_stopping",
    "temperature",
    "top_k",
    "top_p",
    "min_p",
    "typical_p",
    "num_beams",
    "num_beam_groups",
    "num_return_sequences",
    "diversity_penalty",
    "length_penalty",
    "repetition_penalty",
    "exponential_decay_length_penalty",
    "no_repeat_ngram_size",
    "encoder_no_repeat_ngram_size",
    "bad_words_ids",
    "suppress_tokens",
    "begin_suppress_tokens",
    "remove_invalid_values",
    "return_dict_in_generate",
    "prefix",
};

static struct config *config_of(tapml_object *object)
{
    return (struct config *)object;
}

// The part of a pointer up to the next slash, with "~1" and "~0" for slash and tilde. Returns what
// follows, or NULL where the part is too long.
static const char *next_part(const char *pointer, char out_part[POINTER_LENGTH_MAX])
{
    size_t length = 0;
    while (*pointer && *pointer != '/') {
        char c = *pointer++;
        if (c == '~' && (*pointer == '0' || *pointer == '1')) {
            c = *pointer++ == '0' ? '~' : '/';
        }
        if (length + 1 >= POINTER_LENGTH_MAX) {
            return NULL;
        }
        out_part[length++] = c;
    }
    out_part[length] = '\0';
    return pointer;
}

// The item of an array that `part` names; indices have no leading zeros, so that each has one name.
static json_t *array_item(const json_t *array, const char *part)
{
    int64_t index = 0;
    if (part[0] < '0' || part[0] > '9' || (part[0] == '0' && part[1]) ||
        text_parse_i64(part, &index) != TAPML_OK) {
        return NULL;
    }
    return json_array_get(array, (size_t)index);
}

// The value at `pointer`, which may be null, or NULL where there is none.
static const json_t *resolve_any(const struct config *config, const char *pointer)
{
    const json_t *value = config->root;
    char part[POINTER_LENGTH_MAX];
    while (pointer && *pointer == '/' && value) {
        pointer = next_part(pointer + 1, part);
        value = json_is_array(value) ? array_item(value, part) : json_object_get(value, part);
    }
    return pointer && !*pointer ? value : NULL;
}

// The value at `pointer`, or NULL where there is none, or null.
static const json_t *resolve(const struct config *config, const char *pointer)
{
    const json_t *value = resolve_any(config, pointer);
    return json_is_null(value) ? NULL : value;
}

static size_t marks_of(const struct config *config, const char *pointer)
{
    size_t marks = 0;
    (void)table_find(&config->marks, pointer, &marks); // Without an entry there are none.
    return marks;
}

static void mark(struct config *config, const char *pointer, size_t marks)
{
    const size_t before = marks_of(config, pointer);
    if ((before | marks) != before &&
        table_set(&config->marks, pointer, before | marks) != TAPML_OK) {
        config->status = TAPML_NO_MEMORY;
    }
}

static void
add_error(struct config *config, const char *pointer, const char *expected, const json_t *found)
{
    if (marks_of(config, pointer) & MARK_WRONG) {
        return;
    }
    mark(config, pointer, MARK_WRONG);
    text_format(&config->errors, "%s'%s': expected %s, found ",
                config->errors.length > 0 ? "; " : "", pointer, expected);
    json_file_append(&config->errors, found);
}

// Whoever asks for a key of an empty list expects an object, and finds nothing that the check could
// name.
static void refuse_empty_lists(struct config *config, const char *pointer)
{
    const json_t *value = config->root;
    char part[POINTER_LENGTH_MAX], before[POINTER_LENGTH_MAX];
    for (const char *at = pointer; at && *at == '/' && value;) {
        const size_t length = (size_t)(at - pointer);
        at = next_part(at + 1, part);
        if (at && json_is_array(value) && json_array_size(value) == 0 && length < sizeof(before) &&
            (part[0] < '0' || part[0] > '9')) {
            memcpy(before, pointer, length);
            before[length] = '\0';
            add_error(config, before, "an object", value);
        }
        value = at ? json_object_get(value, part) : NULL;
    }
}

static const json_t *read_value(struct config *config, const char *pointer)
{
    const json_t *value = resolve(config, pointer);
    if (value) {
        mark(config, pointer, MARK_READ);
    } else {
        refuse_empty_lists(config, pointer);
    }
    return value;
}

static int32_t has(tapml_object *object, const char *pointer)
{
    return read_value(config_of(object), pointer) != NULL;
}

// Whether a number is whole and fits into 64 bits.
static int whole_number(const json_t *value, int64_t *out_number)
{
    if (json_is_integer(value)) {
        *out_number = json_integer_value(value);
        return 1;
    }
    const double number = json_real_value(value);
    if (!json_is_real(value) || number != floor(number) || fabs(number) >= 0x1p63) {
        return 0;
    }
    *out_number = (int64_t)number;
    return 1;
}

static int32_t is_null(tapml_object *object, const char *pointer)
{
    return json_is_null(resolve_any(config_of(object), pointer));
}

static int64_t i64(tapml_object *object, const char *pointer, int64_t fallback)
{
    struct config *config = config_of(object);
    const json_t *value = read_value(config, pointer);
    int64_t number = fallback;
    if (value && !whole_number(value, &number)) {
        add_error(config, pointer, "a whole number", value);
    }
    return number;
}

static double f64(tapml_object *object, const char *pointer, double fallback)
{
    struct config *config = config_of(object);
    const json_t *value = read_value(config, pointer);
    double number = fallback;
    if (value && !json_file_number(value, &number)) {
        add_error(config, pointer, "a number", value);
    }
    return number;
}

static const char *string(tapml_object *object, const char *pointer, const char *fallback)
{
    struct config *config = config_of(object);
    const json_t *value = read_value(config, pointer);
    if (value && !json_is_string(value)) {
        add_error(config, pointer, "a string", value);
    }
    return json_is_string(value) ? json_string_value(value) : fallback;
}

static int32_t boolean(tapml_object *object, const char *pointer, int32_t fallback)
{
    struct config *config = config_of(object);
    const json_t *value = read_value(config, pointer);
    if (json_is_integer(value)) {
        return json_integer_value(value) != 0; // As Python has it.
    }
    if (value && !json_is_boolean(value)) {
        add_error(config, pointer, "true or false", value);
    }
    return json_is_boolean(value) ? json_is_true(value) : fallback;
}

static int64_t length(tapml_object *object, const char *pointer)
{
    struct config *config = config_of(object);
    const json_t *value = read_value(config, pointer);
    if (value && !json_is_array(value)) {
        add_error(config, pointer, "a list", value);
    }
    return json_is_array(value) ? (int64_t)json_array_size(value) : -1;
}

static void ignore(tapml_object *object, const char *pointer)
{
    mark(config_of(object), pointer, MARK_IGNORED);
}

// Whether two values are the same, 1 and 1.0 among them.
static int same_value(const json_t *a, const json_t *b)
{
    double x = 0;
    double y = 0;
    if (json_is_number(a) && json_is_number(b)) {
        return json_number_value(a) == json_number_value(b);
    }
    if (json_file_number(a, &x) && json_file_number(b, &y)) {
        return x == y || (isnan(x) && isnan(y));
    }
    return json_equal(a, b);
}

static void expect(tapml_object *object, const char *pointer, const char *json)
{
    struct config *config = config_of(object);
    const json_t *value = resolve(config, pointer);
    if (!value) {
        return;
    }
    mark(config, pointer, MARK_READ | MARK_IGNORED); // All inside is compared.
    json_t *expected = json_loads(json, JSON_DECODE_ANY, NULL);
    if (!same_value(expected, value)) {
        add_error(config, pointer, json, value);
    }
    json_decref(expected);
}

static int is_ignored_key(const char *key)
{
    for (size_t i = 0; i < sizeof(ignored_keys) / sizeof(ignored_keys[0]); ++i) {
        if (text_glob(ignored_keys[i], key)) {
            return 1;
        }
    }
    return 0;
}

static void append_part(struct text *pointer, const char *key)
{
    text_append(pointer, "/");
    for (; *key; ++key) {
        if (*key == '~' || *key == '/') {
            text_append(pointer, *key == '~' ? "~0" : "~1");
        } else {
            text_append_bytes(pointer, key, 1);
        }
    }
}

static void cut(struct text *text, size_t to_length)
{
    text->length = to_length;
    if (text->capacity > 0) {
        text->data[to_length] = '\0';
    }
}

// The walk over a file for what was not read: the pointer to where it is, and what it found.
struct unread {
    const struct config *config;
    struct text pointer;
    struct text found;
    struct text passed; // Keys on the list, and those that are null or false.
    size_t known_count; // Values that were read or ignored.
    size_t read_count;
    size_t passed_count;
};

static void walk(struct unread *unread, json_t *value);

// Appends a pointer to a list of them, which stays one line whatever the keys hold.
static void add_to(struct text *list, const char *pointer)
{
    const size_t before = list->length;
    if (before > UNREAD_FOUND_MAX) {
        return;
    }
    char room[POINTER_LENGTH_MAX];
    text_format(list, "%s'%s'", before > 0 ? ", " : "",
                sentence_shorten(pointer, room, sizeof(room)));
    for (size_t i = before; i < list->length; ++i) {
        list->data[i] = list->data[i] == '\n' || list->data[i] == '\t' ? '?' : list->data[i];
    }
}

static void add_found(struct unread *unread)
{
    add_to(&unread->found, unread->pointer.data);
}

static void pass_over(struct unread *unread)
{
    add_to(&unread->passed, unread->pointer.data);
    ++unread->passed_count;
}

static void walk_object(struct unread *unread, json_t *object)
{
    const size_t before = unread->pointer.length;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(object, key, value)
    {
        append_part(&unread->pointer, key);
        if (!is_ignored_key(key)) {
            walk(unread, value);
        } else if ((marks_of(unread->config, unread->pointer.data) & MARK_READ) == 0) {
            pass_over(unread);
        }
        cut(&unread->pointer, before);
    }
}

// An array of which nothing was read is named once, not by its items.
static void walk_array(struct unread *unread, json_t *array)
{
    const size_t pointer_before = unread->pointer.length;
    const size_t found_before = unread->found.length;
    const size_t known_before = unread->known_count;
    for (size_t i = 0; i < json_array_size(array); ++i) {
        text_format(&unread->pointer, "/%zu", i);
        walk(unread, json_array_get(array, i));
        cut(&unread->pointer, pointer_before);
    }
    if (unread->known_count == known_before && unread->found.length > found_before) {
        cut(&unread->found, found_before);
        add_found(unread);
    }
}

// Recursion ends with the nesting of the file, which the parser limits. So that a long key does not
// cost its length again for each value inside, what lies behind one is not looked at.
static void walk(struct unread *unread, json_t *value)
{
    if (unread->pointer.length > UNREAD_POINTER_MAX) {
        add_found(unread);
        return;
    }
    const size_t marks = marks_of(unread->config, unread->pointer.data);
    double number = 0;
    unread->read_count += (marks & MARK_READ) ? 1 : 0;
    if ((marks & MARK_IGNORED) || json_is_null(value) || json_is_false(value)) {
        ++unread->known_count;
        if ((marks & MARK_READ) == 0) {
            pass_over(unread);
        }
    } else if (json_is_object(value) && !json_file_number(value, &number)) {
        walk_object(unread, value);
    } else if (json_is_array(value)) {
        walk_array(unread, value);
    } else if (marks != 0) {
        ++unread->known_count;
    } else {
        add_found(unread);
    }
}

static tapml_status walk_all(const struct config *config, struct unread *out_unread)
{
    *out_unread = (struct unread){.config = config};
    text_init(&out_unread->pointer);
    text_init(&out_unread->found);
    text_init(&out_unread->passed);
    walk(out_unread, config->root);
    TAPML_TRY(text_status(&out_unread->pointer));
    TAPML_TRY(text_status(&out_unread->passed));
    return text_status(&out_unread->found);
}

static void unread_release(struct unread *unread)
{
    text_release(&unread->passed);
    text_release(&unread->found);
    text_release(&unread->pointer);
}

static tapml_status check_all_read(const struct config *config)
{
    struct unread unread;
    tapml_status status = walk_all(config, &unread);
    if (status == TAPML_OK && unread.found.length > 0) {
        status = status_fail(TAPML_INVALID,
                             "%s: expected keys that the architecture knows, found %s; %zu keys "
                             "were read, and 'unknown-keys = allow' in [model] or --unknown-keys "
                             "allow passes over the others",
                             config->name, unread.found.data, unread.read_count);
    }
    unread_release(&unread);
    return status;
}

void config_account(const struct config *config, struct text *out_text)
{
    struct unread unread;
    const tapml_status status = walk_all(config, &unread);
    text_format(out_text, "%zu keys read, %zu passed over", unread.read_count, unread.passed_count);
    if (unread.passed_count > 0) {
        text_format(out_text, " (%s)", unread.passed.data);
    }
    if (unread.found.length > 0) {
        text_format(out_text, ", unknown are %s", unread.found.data);
    }
    out_text->failed |= status != TAPML_OK;
    unread_release(&unread);
}

static void release(tapml_object *object)
{
    config_close(config_of(object));
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, TAPML_HOST_CONFIG) == 0 ? config_table() : NULL;
}

static const tapml_object_vt object_table = {
    .hdr = TAPML_HDR(tapml_object_vt),
    .release = release,
    .interface_of = interface_of,
};

static tapml_status
parse_bytes(const char *name, const char *text, size_t size, struct config **out_config)
{
    struct config *config = alloc_new(sizeof(*config));
    if (!config) {
        return status_no_memory();
    }
    config->object.vt = &object_table;
    config->hash = hash_bytes(text, size);
    table_init(&config->marks);
    text_init(&config->errors);
    config->name = alloc_text(name);
    tapml_status status = config->name ? TAPML_OK : status_no_memory();
    if (status == TAPML_OK) {
        status = json_file_parse(name, text, size, &config->root);
    }
    if (status == TAPML_OK && !json_is_object(config->root)) {
        status = status_fail(TAPML_INVALID, "%s: expected an object", name);
    }
    if (status != TAPML_OK) {
        config_close(config);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}

// The configuration that follows from the metadata of a GGUF file.
static tapml_status open_gguf(const char *path, struct config **out_config)
{
    json_t *root = NULL;
    TAPML_TRY(gguf_config_load(path, &root));
    struct text text;
    text_init(&text);
    json_file_print(&text, root, JSON_REAL_PRECISION(17));
    json_decref(root);
    tapml_status status = text_status(&text);
    if (status == TAPML_OK) {
        status = parse_bytes(path, text.data, text.length, out_config);
    }
    text_release(&text);
    return status;
}

tapml_status config_open(const char *folder, struct config **out_config)
{
    if (gguf_is(folder)) {
        return open_gguf(folder, out_config);
    }
    char *path = file_join(folder, "config.json");
    if (!path) {
        return status_no_memory();
    }
    char *text = NULL;
    size_t size = 0;
    struct config *config = NULL;
    tapml_status status = file_read(path, FILE_SIZE_MAX, &text, &size);
    if (status == TAPML_OK) {
        status = parse_bytes(path, text, size, &config);
    }
    alloc_free(text);
    alloc_free(path);
    TAPML_TRY(status);
    status = quantised_file_merge(folder, config->root);
    if (status != TAPML_OK) {
        config_close(config);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}

tapml_status config_parse(const char *name, const char *text, struct config **out_config)
{
    return parse_bytes(name, text, strlen(text), out_config);
}

void config_close(struct config *config)
{
    if (config) {
        json_decref(config->root);
        table_release(&config->marks);
        text_release(&config->errors);
        alloc_free(config->name);
        alloc_free(config);
    }
}

tapml_object *config_object(struct config *config)
{
    return &config->object;
}

const tapml_host_config *config_table(void)
{
    static const tapml_host_config table = {
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
    return &table;
}

tapml_status config_check(const struct config *config, int allow_unknown)
{
    if (config->status != TAPML_OK) {
        return status_no_memory();
    }
    TAPML_TRY(text_status(&config->errors));
    if (config->errors.length > 0) {
        return status_fail(TAPML_INVALID, "%s: %s", config->name, config->errors.data);
    }
    return allow_unknown ? TAPML_OK : check_all_read(config);
}

struct hash config_hash(const struct config *config)
{
    return config->hash;
}

const json_t *config_value(struct config *config, const char *pointer)
{
    return read_value(config, pointer);
}

const char *config_name(const struct config *config)
{
    return config->name;
}

const char *config_model_type(const struct config *config)
{
    return json_string_value(json_object_get(config->root, "model_type"));
}
