// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "config/tuning_file.h"

#include "base/alloc.h"
#include "base/ini.h"
#include "base/log.h"
#include "config/user_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Of a value with its end, so that a line is none that an INI file cannot have; and of a setting.
enum { VALUE_BYTES = 180, SETTING_BYTES = 140 };

static const char file_name[] = "tuning.ini";

tapml_status tuning_file_init(struct tuning_file *out_file)
{
    *out_file = (struct tuning_file){.arena = arena_create()};
    return out_file->arena != NULL ? TAPML_OK : status_no_memory();
}

void tuning_file_release(struct tuning_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        alloc_free(file->classes[i].trials);
    }
    alloc_free(file->classes);
    arena_destroy(file->arena);
    *file = (struct tuning_file){.arena = NULL};
}

// -- Classes -----------------------------------------------------------------------------------

static int is_same(const struct tuning_key *a, const struct tuning_key *b)
{
    return a->version == b->version && strcmp(a->component, b->component) == 0 &&
           strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0 &&
           strcmp(a->op, b->op) == 0 && strcmp(a->digest, b->digest) == 0 &&
           strcmp(a->shape_class, b->shape_class) == 0;
}

struct tuning_class *tuning_file_find(const struct tuning_file *file, const struct tuning_key *key)
{
    for (size_t i = 0; i < file->count; i++) {
        if (is_same(&file->classes[i].key, key)) {
            return &file->classes[i];
        }
    }
    return NULL;
}

// Whether a text can be the value of a key, and comes back as it is: a blank at an end, or a
// comment behind one, would not.
static int can_hold(const char *text)
{
    const size_t length = strlen(text);

    for (size_t i = 0; i < length; i++) {
        const int is_comment = text[i] == ';' && (i == 0 || text[i - 1] == ' ');

        if ((unsigned char)text[i] < ' ' || text[i] == 127 || is_comment) {
            return 0;
        }
    }
    return length < VALUE_BYTES &&
           (length == 0 || (text[0] != ' ' && text[length - 1] != ' ' && text[0] != '"'));
}

static tapml_status
copy_key(struct tuning_file *file, const struct tuning_key *from, struct tuning_key *to)
{
    const char *const texts[] = {from->component, from->device, from->driver,
                                 from->op,        from->digest, from->shape_class};
    const char **const copies[] = {&to->component, &to->device, &to->driver,
                                   &to->op,        &to->digest, &to->shape_class};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        if (!can_hold(texts[i])) {
            return status_fail(TAPML_INVALID, "'%.40s' cannot stand in %s", texts[i], file_name);
        }
        *copies[i] = arena_text(file->arena, texts[i]);
        if (*copies[i] == NULL) {
            return status_no_memory();
        }
    }
    to->version = from->version;
    return knobs_is_class(to->shape_class)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "'%.95s' is no class of shapes", to->shape_class);
}

tapml_status tuning_file_add(struct tuning_file *file,
                             const struct tuning_key *key,
                             struct tuning_class **out_class)
{
    struct tuning_class item = {.count = 0};
    void *grown = file->classes;

    *out_class = tuning_file_find(file, key);
    if (*out_class != NULL) {
        return TAPML_OK;
    }
    if (file->count == TUNING_FILE_CLASSES_MAX) {
        return status_fail(TAPML_INVALID, "more than %d classes", TUNING_FILE_CLASSES_MAX);
    }
    TAPML_TRY(copy_key(file, key, &item.key));
    if (!alloc_grow(&grown, &file->capacity, file->count, sizeof(*file->classes))) {
        return status_no_memory();
    }
    file->classes = grown;
    file->classes[file->count] = item;
    *out_class = &file->classes[file->count++];
    return TAPML_OK;
}

static tapml_status check_values(const char *values)
{
    struct arena *arena = arena_create();
    tapml_setting setting;
    const tapml_status status =
        arena != NULL ? knobs_read("*", values, arena, &setting) : status_no_memory();

    arena_destroy(arena);
    if (status == TAPML_OK && (strlen(values) >= SETTING_BYTES || !can_hold(values))) {
        return status_fail(TAPML_INVALID, "a setting of more than %d bytes", SETTING_BYTES - 1);
    }
    return status;
}

static tapml_status
copy_trial(struct tuning_file *file, const struct tuning_trial *from, struct tuning_trial *to)
{
    char why[TUNING_FILE_WHY_TEXT];

    TAPML_TRY(check_values(from->values));
    *to = *from;
    to->values = arena_text(file->arena, from->values);
    if (from->wrong != NULL) {
        const size_t room = VALUE_BYTES - 4 - strlen(from->values); // Both stand in one value.

        (void)snprintf(why, room < sizeof(why) ? room : sizeof(why), "%s",
                       from->wrong[0] != '\0' ? from->wrong : "wrong");
        for (char *letter = why; *letter != '\0'; letter++) {
            *letter = *letter < ' ' || *letter > '~' || *letter == ';' ? '?' : *letter;
        }
        size_t length = strlen(why);
        while (length > 1 && why[length - 1] == ' ') {
            why[--length] = '\0';
        }
        to->wrong = arena_text(file->arena, why[0] == ' ' ? "wrong" : why);
        to->time_ns = 0;
    }
    return to->values != NULL && (from->wrong == NULL || to->wrong != NULL) ? TAPML_OK
                                                                            : status_no_memory();
}

tapml_status tuning_file_add_trial(struct tuning_file *file,
                                   struct tuning_class *item,
                                   const struct tuning_trial *trial)
{
    void *grown = item->trials;
    struct tuning_trial copy;

    if (item->count == TUNING_FILE_TRIALS_MAX) {
        return status_fail(TAPML_INVALID, "more than %d trials of the class '%s'",
                           TUNING_FILE_TRIALS_MAX, item->key.shape_class);
    }
    TAPML_TRY(copy_trial(file, trial, &copy));
    if (!alloc_grow(&grown, &item->capacity, item->count, sizeof(*item->trials))) {
        return status_no_memory();
    }
    item->trials = grown;
    item->trials[item->count++] = copy;
    return TAPML_OK;
}

void tuning_file_choose(struct tuning_class *item)
{
    const struct tuning_trial *best = NULL;

    for (size_t i = 0; i < item->count; i++) {
        const struct tuning_trial *trial = &item->trials[i];

        if (trial->wrong == NULL && (best == NULL || trial->time_ns < best->time_ns)) {
            best = trial;
        }
    }
    // Where what the device chooses itself is wrong, anything that is right is better.
    const int is_worth =
        best != NULL && item->own.values != NULL &&
        (item->own.wrong != NULL ||
         (double)best->time_ns * 100 <= (double)item->own.time_ns * TUNING_FILE_WORTH_PERCENT);

    item->winner = is_worth ? best->values : NULL;
}

// -- Reading -----------------------------------------------------------------------------------

static tapml_status wrong_line(const char *name, const struct ini_entry *entry)
{
    char why[256];

    (void)snprintf(why, sizeof(why), "%s", status_message());
    return status_fail(TAPML_INVALID, "%s:%u: %s", name, entry->line, why);
}

// "41000 form=1 width=4"
static tapml_status read_timed(const char *value, struct arena *arena, struct tuning_trial *out)
{
    const char *blank = strchr(value, ' ');
    const char *number =
        blank != NULL ? arena_format(arena, "%.*s", (int)(blank - value), value) : NULL;
    int64_t time_ns = 0;

    if (number == NULL || text_parse_i64(number, &time_ns) != TAPML_OK || time_ns <= 0) {
        return status_fail(TAPML_INVALID, "'%.60s' is no trial, expected NANOSECONDS NAME=NUMBER",
                           value);
    }
    *out = (struct tuning_trial){.values = blank + 1, .time_ns = (uint64_t)time_ns};
    return TAPML_OK;
}

// "form=1 width=4, y[3] is 2": commas stand between values and reason.
static tapml_status read_wrong(const char *value, struct arena *arena, struct tuning_trial *out)
{
    const char *comma = strchr(value, ',');

    if (comma == NULL || comma[1] == '\0') {
        return status_fail(TAPML_INVALID, "'%.60s' is no wrong setting, expected NAME=NUMBER, why",
                           value);
    }
    *out = (struct tuning_trial){.values = arena_format(arena, "%.*s", (int)(comma - value), value),
                                 .wrong = comma + 1 + strspn(comma + 1, " ")};
    return out->values != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status
read_entry(struct tuning_file *file, struct tuning_class *item, const struct ini_entry *entry)
{
    struct tuning_trial trial;

    if (strcmp(entry->key, "auto") == 0 || strcmp(entry->key, "trial") == 0) {
        TAPML_TRY(read_timed(entry->value, file->arena, &trial));
    } else if (strcmp(entry->key, "wrong") == 0 || strcmp(entry->key, "auto_wrong") == 0) {
        TAPML_TRY(read_wrong(entry->value, file->arena, &trial));
    } else {
        return TAPML_OK;
    }
    return strncmp(entry->key, "auto", 4) == 0 ? copy_trial(file, &trial, &item->own)
                                               : tuning_file_add_trial(file, item, &trial);
}

static tapml_status
need(const struct ini *ini, const char *section, const char *key, const char **out_value)
{
    *out_value = ini_get(ini, section, key);
    return *out_value != NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: [%s] has no '%s'", ini->name, section, key);
}

static tapml_status read_key(const struct ini *ini, const char *section, struct tuning_key *out_key)
{
    const char *version = NULL;

    TAPML_TRY(need(ini, section, "component", &out_key->component));
    TAPML_TRY(need(ini, section, "device", &out_key->device));
    TAPML_TRY(need(ini, section, "driver", &out_key->driver));
    TAPML_TRY(need(ini, section, "op", &out_key->op));
    TAPML_TRY(need(ini, section, "digest", &out_key->digest));
    TAPML_TRY(need(ini, section, "class", &out_key->shape_class));
    TAPML_TRY(need(ini, section, "version", &version));
    return text_parse_i64(version, &out_key->version) == TAPML_OK && out_key->version >= 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "%s: [%s] version is '%.40s', expected a number",
                             ini->name, section, version);
}

// A winner is one of the trials: what nobody has found right is no winner.
static tapml_status
read_winner(const struct ini *ini, const char *section, struct tuning_class *item)
{
    const char *winner = ini_get(ini, section, "winner");

    for (size_t i = 0; winner != NULL && i < item->count; i++) {
        if (item->trials[i].wrong == NULL && strcmp(item->trials[i].values, winner) == 0) {
            item->winner = item->trials[i].values;
        }
    }
    return winner == NULL || item->winner != NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s: [%s] the winner '%.80s' is none of the trials that are right",
                             ini->name, section, winner);
}

static tapml_status read_class(const struct ini *ini, size_t index, struct tuning_file *file)
{
    const char *section = ini->sections[index];
    struct tuning_key key;
    struct tuning_class *item = NULL;
    const size_t before = file->count;

    if (strncmp(section, "class.", strlen("class.")) != 0) {
        return status_fail(TAPML_INVALID, "%s:%u: the section [%s], expected [class.N]", ini->name,
                           ini->section_lines[index], section);
    }
    TAPML_TRY(read_key(ini, section, &key));
    TAPML_TRY(tuning_file_add(file, &key, &item));
    if (file->count == before) {
        return status_fail(TAPML_INVALID, "%s:%u: [%s] is a class that stands there twice",
                           ini->name, ini->section_lines[index], section);
    }
    for (size_t i = 0; i < ini->count; i++) {
        if (strcmp(ini->entries[i].section, section) == 0 &&
            read_entry(file, item, &ini->entries[i]) != TAPML_OK) {
            return wrong_line(ini->name, &ini->entries[i]);
        }
    }
    return read_winner(ini, section, item);
}

tapml_status
tuning_file_parse(const char *name, const char *text, size_t size, struct tuning_file *file)
{
    struct ini ini = {.arena = NULL};
    tapml_status status = ini_parse(name, text, size, &ini);

    for (size_t i = 0; status == TAPML_OK && i < ini.section_count; i++) {
        status = read_class(&ini, i, file);
    }
    ini_release(&ini);
    return status;
}

tapml_status tuning_file_load(struct tuning_file *out_file)
{
    size_t size = 0;
    char *data = user_cache_read(file_name, TUNING_FILE_BYTES_MAX, &size);
    tapml_status status = tuning_file_init(out_file);

    if (status == TAPML_OK && data != NULL &&
        tuning_file_parse(file_name, data, size, out_file) != TAPML_OK) {
        log_line(LOG_WARNING, "what 'tapml-host tune' has found is not used: %s", status_message());
        tuning_file_release(out_file);
        status = tuning_file_init(out_file);
    }
    alloc_free(data);
    return status;
}

// -- Writing -----------------------------------------------------------------------------------

static void print_trial(const char *right,
                        const char *wrong,
                        const struct tuning_trial *trial,
                        struct text *out)
{
    if (trial->wrong != NULL) {
        text_format(out, "%s = %s, %s\n", wrong, trial->values, trial->wrong);
    } else {
        text_format(out, "%s = %" PRIu64 " %s\n", right, trial->time_ns, trial->values);
    }
}

static void print_class(const struct tuning_class *item, size_t number, struct text *out)
{
    const struct tuning_key *key = &item->key;

    text_format(out, "[class.%zu]\ncomponent = %s\ndevice = %s\ndriver = %s\n", number,
                key->component, key->device, key->driver);
    text_format(out, "op = %s\nversion = %" PRId64 "\ndigest = %s\nclass = %s\n", key->op,
                key->version, key->digest, key->shape_class);
    if (item->own.values != NULL) {
        print_trial("auto", "auto_wrong", &item->own, out);
    }
    for (size_t i = 0; i < item->count; i++) {
        print_trial("trial", "wrong", &item->trials[i], out);
    }
    if (item->winner != NULL) {
        text_format(out, "winner = %s\n", item->winner);
    }
    text_append(out, "\n");
}

void tuning_file_print(const struct tuning_file *file, struct text *out_text)
{
    for (size_t i = 0; i < file->count; i++) {
        print_class(&file->classes[i], i + 1, out_text);
    }
}

static tapml_status put(struct tuning_file *file, const struct tuning_class *mine)
{
    struct tuning_class *item = NULL;

    TAPML_TRY(tuning_file_add(file, &mine->key, &item));
    item->count = 0;
    item->own = mine->own;
    for (size_t i = 0; i < mine->count; i++) {
        TAPML_TRY(tuning_file_add_trial(file, item, &mine->trials[i]));
    }
    item->winner = mine->winner;
    return TAPML_OK;
}

int tuning_file_save(const struct tuning_class *mine)
{
    struct tuning_file file;
    struct text text;
    int is_written = 0;

    text_init(&text);
    if (tuning_file_load(&file) == TAPML_OK && put(&file, mine) == TAPML_OK) {
        tuning_file_print(&file, &text);
        is_written = text.length <= TUNING_FILE_BYTES_MAX && user_cache_write(file_name, &text);
    }
    tuning_file_release(&file);
    text_release(&text);
    return is_written;
}

tapml_status tuning_file_winners(const struct tuning_file *file,
                                 const char *component,
                                 struct arena *arena,
                                 struct tuned_settings *out_settings)
{
    struct tuned_setting *items = arena_array(arena, file->count + 1, sizeof(*items));
    size_t count = 0;

    if (items == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < file->count; i++) {
        const struct tuning_class *item = &file->classes[i];

        if (item->winner != NULL && strcmp(item->key.component, component) == 0) {
            items[count++] = (struct tuned_setting){.device = item->key.device,
                                                    .driver = item->key.driver,
                                                    .digest = item->key.digest,
                                                    .op = item->key.op,
                                                    .version = item->key.version,
                                                    .shape_class = item->key.shape_class,
                                                    .values = item->winner};
        }
    }
    *out_settings = (struct tuned_settings){items, count};
    return TAPML_OK;
}
