// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/suggestion.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "commands/command.h"

#include <string.h>

enum { NAMES_MAX = 128 };

// A file by the end of its name, a folder by a file in it; and a command that takes it.
struct purpose {
    const char *mark;
    const char *purpose;
    const char *before; // Of the word in the command, and what is behind it.
    const char *after;
};

static const struct purpose of_files[] = {
    {".ini", "for a run", "--config ", ""},
    {".tapmlrun", "for its cases", "show ", ""},
    {".gguf", "to continue a prompt", "generate --model ", " --prompt TEXT"},
    {".tapml", "for what the plugin brings", "plugins --plugin ", ""},
    {".so", "for what the plugin brings", "plugins --plugin ", ""},
};
static const struct purpose of_folders[] = {
    {"run.tapmlrun", "for the report of the run", "report ", ""},
    {"config.json", "to continue a prompt", "generate --model ", " --prompt TEXT"},
};

static int has_file(const char *folder, const char *name)
{
    char *path = file_join(folder, name);
    const int has = path != NULL && file_exists(path);

    alloc_free(path);
    return has;
}

static const struct purpose *find_purpose(const char *word)
{
    for (size_t i = 0; i < sizeof(of_files) / sizeof(*of_files); i++) {
        if (!file_is_folder(word) && text_ends_with(word, of_files[i].mark)) {
            return &of_files[i];
        }
    }
    for (size_t i = 0; i < sizeof(of_folders) / sizeof(*of_folders); i++) {
        if (file_is_folder(word) && has_file(word, of_folders[i].mark)) {
            return &of_folders[i];
        }
    }
    return NULL;
}

// The sentence on a word for which some command has a use.
static tapml_status fail_with_purpose(const char *word, const struct purpose *purpose)
{
    const char *what = file_is_folder(word) ? " is a folder"
                       : file_exists(word)  ? " is a file"
                                            : " is no command";
    struct text command;

    text_init(&command);
    text_format(&command, "'tapml-host %s", purpose->before);
    text_append_shell(&command, word);
    text_format(&command, "%s'", purpose->after);
    tapml_status status = text_status(&command);

    if (status == TAPML_OK) {
        status =
            status_fail(TAPML_INVALID, "'%s'%s: %s %s", word, what, purpose->purpose, command.data);
    }
    text_release(&command);
    return status;
}

static size_t add_options(const struct options_spec *specs, const char **names, size_t count)
{
    for (; specs->name != NULL && count < NAMES_MAX; specs++) {
        names[count++] = specs->name;
    }
    return count;
}

// The nearest of the commands, or also of the options that may stand first.
static const char *find_nearest(const char *word)
{
    const char *names[NAMES_MAX + 1] = {NULL};
    size_t count = 0;

    for (size_t i = 0; command_list_at(i) != NULL && count < NAMES_MAX; i++) {
        names[count++] = command_list_at(i)->name;
    }
    if (*word == '-') {
        count = add_options(command_list_manual.specs, names, count);
        (void)add_options(command_list_at(0)->manual->specs, names, count);
    }
    return text_nearest(word, names);
}

tapml_status suggestion_fail(const char *word)
{
    const char *kind = *word == '-' ? "option" : "command";
    const struct purpose *purpose = *word == '-' ? NULL : find_purpose(word);
    const char *nearest = find_nearest(word);

    if (purpose != NULL) {
        return fail_with_purpose(word, purpose);
    }
    if (nearest != NULL) {
        return status_fail(TAPML_INVALID, "unknown %s '%s', did you mean '%s'?", kind, word,
                           nearest);
    }
    if (file_exists(word)) {
        return status_fail(TAPML_INVALID,
                           "'%s' is a %s, and a command is expected before it, see --help", word,
                           file_is_folder(word) ? "folder" : "file");
    }
    return status_fail(TAPML_INVALID, "unknown %s '%s', see --help", kind, word);
}
