// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "model/adapter_config.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "tokenizer/pattern.h"

#include <math.h>
#include <string.h>

// Words that are compared are cheap; each expression has a budget of its own (tokenizer/pattern.h).
enum { WORDS_MAX = 1 << 14, EXPRESSIONS_MAX = 16, RANK_MAX = 1 << 16 };

static const char file_name[] = "adapter_config.json";

// A word or an expression that matches modules.
struct matcher {
    const char *word;        // Of the file.
    struct pattern *pattern; // NULL: the last parts of the module's name are `word`.
    struct pattern_search search;
    double number; // Of rank_pattern and alpha_pattern.
    int is_used;
};

struct matchers {
    struct matcher *items;
    size_t count;
};

struct adapter_config {
    json_t *root;
    char *path;
    int64_t rank;
    double alpha;
    int is_stabilised; // use_rslora.
    int takes_all;     // There is no list of targets.
    size_t expressions;
    struct matchers targets, excluded, ranks, alphas;
};

// -- Which keys --------------------------------------------------------------------------------

// Keys that are read here, and keys that no number of a finished adapter depends on.
static const char *const known[] = {
    "alpha_pattern",
    "auto_mapping",
    "base_model_name_or_path",
    "bias",
    "corda_config",
    "eva_config",
    "exclude_modules",
    "fan_in_fan_out",
    "inference_mode",
    "init_lora_weights",
    "layers_pattern",
    "layers_to_transform",
    "loftq_config",
    "lora_alpha",
    "lora_dropout",
    "lora_ga_config",
    "megatron_core",
    "peft_type",
    "peft_version",
    "qalora_group_size",
    "r",
    "rank_pattern",
    "revision",
    "runtime_config",
    "target_modules",
    "task_type",
    "use_rslora",
};

static int is_known(const char *key)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        if (strcmp(known[i], key) == 0) {
            return 1;
        }
    }
    return 0;
}

static int says_nothing(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static tapml_status refuse(const struct adapter_config *config,
                           tapml_status status,
                           const char *key,
                           const char *expected,
                           const json_t *found)
{
    struct text text;
    text_init(&text);
    if (found) {
        json_file_append(&text, found);
    }
    if (text_status(&text) == TAPML_OK) {
        status = status_fail(status, "%s: expected %s as '%.99s', found %s", config->path, expected,
                             key, found ? text.data : "none");
    } else {
        status = status_no_memory();
    }
    text_release(&text);
    return status;
}

static tapml_status check_keys(const struct adapter_config *config)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(config->root, key, value)
    {
        if (!is_known(key) && !says_nothing(value)) {
            return refuse(config, TAPML_UNIMPLEMENTED, key,
                          "null, false or nothing, since it is not supported,", value);
        }
    }
    return TAPML_OK;
}

// -- Single values -----------------------------------------------------------------------------

static const json_t *get(const struct adapter_config *config, const char *key)
{
    return json_object_get(config->root, key);
}

static tapml_status
check_word(const struct adapter_config *config, const char *key, const char *expected)
{
    const json_t *value = get(config, key);
    const char *word = json_string_value(value);
    return word && strcmp(word, expected) == 0
               ? TAPML_OK
               : refuse(config, TAPML_UNIMPLEMENTED, key, expected, value);
}

static tapml_status read_flag(const struct adapter_config *config, const char *key, int *out_flag)
{
    const json_t *value = get(config, key);
    if (value && !json_is_boolean(value) && !json_is_null(value)) {
        return refuse(config, TAPML_INVALID, key, "true or false", value);
    }
    *out_flag = json_is_true(value);
    return TAPML_OK;
}

// Those that leave the base as it is: the others take something of it into the adapter.
static tapml_status check_beginning(const struct adapter_config *config)
{
    static const char key[] = "init_lora_weights";
    const json_t *value = get(config, key);
    const char *word = json_string_value(value);
    const int is_plain = !value || json_is_boolean(value) || json_is_null(value) ||
                         (word && (strcmp(word, "gaussian") == 0 || strcmp(word, "eva") == 0));
    return is_plain
               ? TAPML_OK
               : refuse(config, TAPML_UNIMPLEMENTED, key,
                        "true, false, \"gaussian\" or \"eva\", which leave the base alone,", value);
}

static int is_rank(double number)
{
    return number >= 1 && number <= RANK_MAX && floor(number) == number;
}

static tapml_status read_numbers(struct adapter_config *config)
{
    double rank = 0;
    const json_t *of_rank = get(config, "r");
    const json_t *of_alpha = get(config, "lora_alpha");
    if (!json_file_number(of_rank, &rank) || !is_rank(rank)) {
        return refuse(config, TAPML_INVALID, "r", "a whole number from 1 to 65536", of_rank);
    }
    config->rank = (int64_t)rank;
    return json_file_number(of_alpha, &config->alpha) && isfinite(config->alpha)
               ? TAPML_OK
               : refuse(config, TAPML_INVALID, "lora_alpha", "a number", of_alpha);
}

static tapml_status check_values(struct adapter_config *config)
{
    int is_transposed = 0; // How the base lies in its files, which its graph knows.
    TAPML_TRY(check_word(config, "peft_type", "LORA"));
    if (get(config, "bias")) {
        TAPML_TRY(check_word(config, "bias", "none"));
    }
    TAPML_TRY(check_beginning(config));
    TAPML_TRY(read_flag(config, "fan_in_fan_out", &is_transposed));
    TAPML_TRY(read_flag(config, "use_rslora", &config->is_stabilised));
    return read_numbers(config);
}

// -- Matchers ----------------------------------------------------------------------------------

static int is_plain(const char *word)
{
    return !strpbrk(word, "\\^$*+?()[]{}|");
}

// PEFT compares whole names with an expression, and with a key of a pattern their last parts.
static tapml_status
make_expression(struct adapter_config *config, const char *before, struct matcher *matcher)
{
    struct text text;
    if (config->expressions++ == EXPRESSIONS_MAX) {
        return status_fail(TAPML_UNIMPLEMENTED, "%s: expected at most %d expressions, found more",
                           config->path, EXPRESSIONS_MAX);
    }
    text_init(&text);
    text_format(&text, "^%s(?:%s)$", before, matcher->word);
    tapml_status status = text_status(&text);
    if (status == TAPML_OK) {
        status = pattern_create_foreign(config->path, text.data, &matcher->pattern);
    }
    text_release(&text);
    return status == TAPML_OK ? pattern_search_init(&matcher->search, matcher->pattern) : status;
}

static tapml_status
make_room(const struct adapter_config *config, const char *key, size_t count, struct matchers *list)
{
    if (count > WORDS_MAX) {
        return status_fail(TAPML_INVALID, "%s: expected at most %d entries in '%s', found %zu",
                           config->path, WORDS_MAX, key, count);
    }
    list->items = alloc_array(count > 0 ? count : 1, sizeof(*list->items));
    return list->items ? TAPML_OK : status_no_memory();
}

static tapml_status
read_words(const struct adapter_config *config, const char *key, struct matchers *list)
{
    const json_t *value = get(config, key);
    TAPML_TRY(make_room(config, key, json_array_size(value), list));
    for (size_t i = 0; i < json_array_size(value); ++i) {
        const char *word = json_string_value(json_array_get(value, i));
        if (!word || !*word) {
            return refuse(config, TAPML_INVALID, key, "names of modules", value);
        }
        list->items[list->count++] = (struct matcher){.word = word};
    }
    return TAPML_OK;
}

// A list of names, or an expression for whole ones.
static tapml_status
read_modules(struct adapter_config *config, const char *key, struct matchers *list, int *out_is_all)
{
    const json_t *value = get(config, key);
    const char *word = json_string_value(value);
    *out_is_all = !value || json_is_null(value) || (word && strcmp(word, "all-linear") == 0);
    if (*out_is_all || json_is_array(value)) {
        return *out_is_all ? TAPML_OK : read_words(config, key, list);
    }
    if (!word) {
        return refuse(config, TAPML_INVALID, key, "a list of names or an expression", value);
    }
    TAPML_TRY(make_room(config, key, 1, list));
    list->items[list->count] = (struct matcher){.word = word, .is_used = 1};
    return make_expression(config, "", &list->items[list->count++]);
}

// Modules with a number of their own.
static tapml_status
read_pattern(struct adapter_config *config, const char *key, int is_of_ranks, struct matchers *list)
{
    const char *word = NULL;
    json_t *item = NULL;
    json_t *value = json_object_get(config->root, key);
    if (value && !json_is_object(value) && !json_is_null(value)) {
        return refuse(config, TAPML_INVALID, key, "an object of numbers", value);
    }
    TAPML_TRY(make_room(config, key, json_object_size(value), list));
    json_object_foreach(value, word, item)
    {
        struct matcher *matcher = &list->items[list->count++];
        *matcher = (struct matcher){.word = word};
        if (!json_file_number(item, &matcher->number) || !isfinite(matcher->number) ||
            (is_of_ranks && !is_rank(matcher->number))) {
            return refuse(config, TAPML_INVALID, key, "an object of numbers", value);
        }
        if (!is_plain(word)) {
            TAPML_TRY(make_expression(config, "(?:.*\\.)?", matcher));
        }
    }
    return TAPML_OK;
}

static int ends_with(const char *module, const char *word)
{
    const size_t length = strlen(module), part = strlen(word);
    return part <= length && strcmp(module + length - part, word) == 0 &&
           (part == length || module[length - part - 1] == '.');
}

static tapml_status match(struct matcher *matcher, const char *module, int *out_matches)
{
    size_t begin = PATTERN_NONE, end = 0;
    if (!matcher->pattern) {
        *out_matches = ends_with(module, matcher->word);
        return TAPML_OK;
    }
    pattern_search_start(&matcher->search, module, strlen(module));
    TAPML_TRY(pattern_search_next(&matcher->search, &begin, &end));
    *out_matches = begin != PATTERN_NONE;
    return TAPML_OK;
}

// The first that matches, or NULL. Of a list of targets all that match are used.
static tapml_status find(const struct adapter_config *config,
                         const struct matchers *list,
                         const char *module,
                         const struct matcher **out_found)
{
    *out_found = NULL;
    for (size_t i = 0; i < list->count; ++i) {
        struct matcher *matcher = &list->items[i];
        int matches = 0;
        const tapml_status status = match(matcher, module, &matches);
        if (status != TAPML_OK) {
            return status_explain(status, "%s", config->path);
        }
        matcher->is_used |= matches;
        if (matches && !*out_found) {
            *out_found = matcher;
        }
    }
    return TAPML_OK;
}

// -- All of it ---------------------------------------------------------------------------------

static tapml_status read_all(struct adapter_config *config)
{
    int is_absent = 0;
    if (!json_is_object(config->root)) {
        return status_fail(TAPML_INVALID, "%s: expected an object", config->path);
    }
    TAPML_TRY(check_values(config));
    TAPML_TRY(check_keys(config));
    TAPML_TRY(read_modules(config, "target_modules", &config->targets, &config->takes_all));
    TAPML_TRY(read_modules(config, "exclude_modules", &config->excluded, &is_absent));
    TAPML_TRY(read_pattern(config, "rank_pattern", 1, &config->ranks));
    return read_pattern(config, "alpha_pattern", 0, &config->alphas);
}

tapml_status adapter_config_open(const char *folder, struct adapter_config **out_config)
{
    struct adapter_config *config = alloc_new(sizeof(*config));
    if (!config) {
        return status_no_memory();
    }
    config->path = file_join(folder, file_name);
    tapml_status status = config->path ? TAPML_OK : status_no_memory();
    if (status == TAPML_OK) {
        status = json_file_load(config->path, &config->root);
    }
    if (status == TAPML_OK) {
        status = read_all(config);
    }
    if (status != TAPML_OK) {
        adapter_config_close(config);
        return status;
    }
    *out_config = config;
    return TAPML_OK;
}

static void release(struct matchers *list)
{
    for (size_t i = 0; i < list->count; ++i) {
        pattern_search_release(&list->items[i].search);
        pattern_destroy(list->items[i].pattern);
    }
    alloc_free(list->items);
}

void adapter_config_close(struct adapter_config *config)
{
    if (!config) {
        return;
    }
    release(&config->targets);
    release(&config->excluded);
    release(&config->ranks);
    release(&config->alphas);
    json_decref(config->root);
    alloc_free(config->path);
    alloc_free(config);
}

tapml_status adapter_config_find(struct adapter_config *config,
                                 const char *module,
                                 struct adapter_scale *out_scale)
{
    const struct matcher *target = NULL, *excluded = NULL, *rank = NULL, *alpha = NULL;
    TAPML_TRY(find(config, &config->targets, module, &target));
    TAPML_TRY(find(config, &config->excluded, module, &excluded));
    if ((!target && !config->takes_all) || excluded) {
        return status_fail(TAPML_INVALID, "%s: module '%s' is none that '%s'", config->path, module,
                           excluded ? "exclude_modules' leaves" : "target_modules' matches");
    }
    TAPML_TRY(find(config, &config->ranks, module, &rank));
    TAPML_TRY(find(config, &config->alphas, module, &alpha));
    const double r = rank ? rank->number : (double)config->rank;
    const double factor =
        (alpha ? alpha->number : config->alpha) / (config->is_stabilised ? sqrt(r) : r);
    *out_scale = (struct adapter_scale){.rank = (int64_t)r, .factor = factor};
    return TAPML_OK;
}

const char *adapter_config_unused(const struct adapter_config *config, size_t index)
{
    for (size_t i = 0; i < config->targets.count; ++i) {
        if (!config->targets.items[i].is_used && index-- == 0) {
            return config->targets.items[i].word;
        }
    }
    return NULL;
}
