// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/manifest.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "plugin/note.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { ID_LENGTH_MAX = 120, COMPONENTS_MAX = 64 };

static const char section_prefix[] = "component.";

static tapml_status wrong(const struct manifest *manifest, const char *key, const char *expected)
{
    const char *found = ini_get(&manifest->ini, "plugin", key);
    return status_fail(TAPML_INVALID, "%s: [plugin] %s: expected %s, found '%s'",
                       manifest->ini.name, key, expected, found ? found : "");
}

static const char *get(const struct manifest *manifest, const char *section, const char *key)
{
    const char *value = ini_get(&manifest->ini, section, key);
    return value ? value : "";
}

static int is_word(const char *text, const char *extra)
{
    const size_t length = strlen(text);
    if (length == 0 || length > ID_LENGTH_MAX) {
        return 0;
    }
    for (const char *at = text; *at; ++at) {
        const int is_plain =
            (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9');
        if (!is_plain && !strchr(extra, *at)) {
            return 0;
        }
    }
    return 1;
}

// "1.0": two decimal numbers of at most six digits.
static int parse_abi(const char *text, uint32_t *out_major, uint32_t *out_minor)
{
    uint32_t parts[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        int digits = 0;
        for (; *text >= '0' && *text <= '9' && digits <= 6; ++text, ++digits) {
            parts[i] = parts[i] * 10 + (uint32_t)(*text - '0');
        }
        if (digits == 0 || digits > 6 || *text != (i == 0 ? '.' : '\0')) {
            return 0;
        }
        text += i == 0;
    }
    *out_major = parts[0];
    *out_minor = parts[1];
    return 1;
}

static tapml_status read_plugin(struct manifest *manifest)
{
    manifest->id = get(manifest, "plugin", "id");
    manifest->version = get(manifest, "plugin", "version");
    manifest->library = get(manifest, "plugin", "library");
    manifest->arch = get(manifest, "plugin", "arch");
    manifest->build_id = get(manifest, "plugin", "build-id");
    manifest->sanitizer = get(manifest, "plugin", "sanitizer");
    if (strcmp(get(manifest, "plugin", "format"), "1") != 0) {
        return wrong(manifest, "format", "'1', the only format there is");
    }
    if (!is_word(manifest->id, ".-_") || !strchr(manifest->id, '.')) {
        return wrong(manifest, "id", "a reversed domain name such as 'org.example.thing'");
    }
    if (manifest->version[0] == '\0') {
        return wrong(manifest, "version", "a version");
    }
    if (!is_word(manifest->library, ".-_+") || manifest->library[0] == '.') {
        return wrong(manifest, "library", "the plain name of a file in the manifest's folder");
    }
    if (!parse_abi(get(manifest, "plugin", "abi"), &manifest->abi_major, &manifest->abi_minor)) {
        return wrong(manifest, "abi", "MAJOR.MINOR");
    }
    return TAPML_OK;
}

// All values of `key` with blanks between: a long list repeats its key.
static tapml_status
join(struct manifest *manifest, const char *section, const char *key, const char **out_joined)
{
    struct text joined;
    text_init(&joined);
    for (size_t i = 0; i < manifest->ini.count; ++i) {
        const struct ini_entry *entry = &manifest->ini.entries[i];
        if (strcmp(entry->section, section) == 0 && strcmp(entry->key, key) == 0) {
            text_append(&joined, joined.length > 0 ? " " : "");
            text_append(&joined, entry->value);
        }
    }
    tapml_status status = text_status(&joined);
    *out_joined = status == TAPML_OK ? arena_text(manifest->ini.arena, joined.data) : NULL;
    if (status == TAPML_OK && !*out_joined) {
        status = status_no_memory();
    }
    text_release(&joined);
    return status;
}

static tapml_status
read_component(struct manifest *manifest, const char *section, struct manifest_component *out)
{
    out->section = section;
    out->id = section + strlen(section_prefix);
    out->kind = get(manifest, section, "kind");
    out->title = get(manifest, section, "title");
    TAPML_TRY(join(manifest, section, "options", &out->options));
    if (!is_word(out->id, "-_.")) {
        return status_fail(TAPML_INVALID,
                           "%s: [%s]: a component's id has letters, digits, '-', '_' and '.'",
                           manifest->ini.name, section);
    }
    if (out->kind[0] == '\0') {
        return status_fail(TAPML_INVALID, "%s: [%s] has no kind, such as 'tapml.backend/1'",
                           manifest->ini.name, section);
    }
    return TAPML_OK;
}

static tapml_status read_components(struct manifest *manifest)
{
    const struct ini *ini = &manifest->ini;
    manifest->components = arena_array(ini->arena, COMPONENTS_MAX, sizeof(*manifest->components));
    if (!manifest->components) {
        return status_no_memory();
    }
    for (size_t i = 0; i < ini->section_count; ++i) {
        const char *section = ini->sections[i];
        if (strncmp(section, section_prefix, strlen(section_prefix)) != 0) {
            continue;
        }
        if (manifest->component_count == COMPONENTS_MAX) {
            return status_fail(TAPML_INVALID, "%s: more than %d components", ini->name,
                               COMPONENTS_MAX);
        }
        TAPML_TRY(
            read_component(manifest, section, &manifest->components[manifest->component_count]));
        ++manifest->component_count;
    }
    if (manifest->component_count == 0) {
        return status_fail(TAPML_INVALID,
                           "%s: no section [component.ID], so the plugin has nothing", ini->name);
    }
    return TAPML_OK;
}

// Takes over `ini`, also where it fails.
static tapml_status read_ini(const struct ini *ini, struct manifest *out_manifest)
{
    struct manifest manifest = {.ini = *ini};
    tapml_status status = TAPML_OK;
    if (!ini_has_section(ini, "plugin")) {
        status = status_fail(TAPML_INVALID, "%s: no section [plugin]", ini->name);
    }
    if (status == TAPML_OK) {
        status = read_plugin(&manifest);
    }
    if (status == TAPML_OK) {
        status = read_components(&manifest);
    }
    if (status != TAPML_OK) {
        manifest_release(&manifest);
        return status;
    }
    *out_manifest = manifest;
    return TAPML_OK;
}

tapml_status manifest_load(const char *path, struct manifest *out_manifest)
{
    struct ini ini;
    struct manifest manifest;
    TAPML_TRY(ini_load(path, &ini));
    TAPML_TRY(read_ini(&ini, &manifest));
    const char *const needed[] = {"arch", "build-id"};
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); ++i) {
        if (get(&manifest, "plugin", needed[i])[0] == '\0') {
            const tapml_status status = status_fail(
                TAPML_INVALID, "%s: [plugin] has no '%s', which the manifest tool writes", path,
                needed[i]);
            manifest_release(&manifest);
            return status;
        }
    }
    *out_manifest = manifest;
    return TAPML_OK;
}

tapml_status manifest_parse_note(const char *path, const char *text, struct manifest *out_manifest)
{
    struct ini ini;
    struct manifest manifest;
    tapml_status status = ini_parse(path, text, strlen(text), &ini);
    if (status == TAPML_OK) {
        status = read_ini(&ini, &manifest);
    }
    if (status != TAPML_OK) {
        return status_explain(status, "the library's note");
    }
    manifest.arch = manifest.build_id = manifest.sanitizer = "";
    *out_manifest = manifest;
    return TAPML_OK;
}

static tapml_status
from_note(const char *path, const struct note *note, struct manifest *out_manifest)
{
    if (!note->is_native) {
        return status_fail(TAPML_INVALID, "%s: the library is for '%s', this host is '%s'", path,
                           note->arch, note_host_arch());
    }
    if (!note->text) {
        return status_fail(TAPML_INVALID, "%s: no note of owner 'tapml', so no plugin", path);
    }
    struct manifest manifest;
    TAPML_TRY(manifest_parse_note(path, note->text, &manifest));
    manifest.arch = arena_text(manifest.ini.arena, note->arch);
    manifest.build_id = arena_text(manifest.ini.arena, note->build_id);
    manifest.sanitizer = note->sanitizer;
    if (!manifest.arch || !manifest.build_id) {
        manifest_release(&manifest);
        return status_no_memory();
    }
    *out_manifest = manifest;
    return TAPML_OK;
}

tapml_status manifest_load_library(const char *path, struct manifest *out_manifest)
{
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        return status_fail(TAPML_NOT_FOUND, "%s: cannot open: %s", path, strerror(errno));
    }
    struct note note;
    tapml_status status = note_read(descriptor, path, &note);
    close(descriptor);
    TAPML_TRY(status);
    status = from_note(path, &note, out_manifest);
    note_release(&note);
    return status;
}

void manifest_release(struct manifest *manifest)
{
    if (manifest) {
        ini_release(&manifest->ini);
    }
}

static int is_from_build(const struct ini_entry *entry)
{
    return strcmp(entry->section, "plugin") == 0 &&
           (strcmp(entry->key, "arch") == 0 || strcmp(entry->key, "build-id") == 0 ||
            strcmp(entry->key, "sanitizer") == 0);
}

// The entry at or behind `*index` that the author wrote, or NULL.
static const struct ini_entry *next_entry(const struct manifest *manifest, size_t *index)
{
    while (*index < manifest->ini.count && is_from_build(&manifest->ini.entries[*index])) {
        ++*index;
    }
    return *index < manifest->ini.count ? &manifest->ini.entries[(*index)++] : NULL;
}

tapml_status manifest_compare(const struct manifest *file, const struct manifest *note)
{
    size_t file_index = 0;
    size_t note_index = 0;
    for (;;) {
        const struct ini_entry *a = next_entry(file, &file_index);
        const struct ini_entry *b = next_entry(note, &note_index);
        if (!a && !b) {
            return TAPML_OK;
        }
        if (a && b && strcmp(a->section, b->section) == 0 && strcmp(a->key, b->key) == 0 &&
            strcmp(a->value, b->value) == 0) {
            continue;
        }
        return status_fail(
            TAPML_INVALID,
            "the manifest says '%s = %s' in [%s], the library's note '%s = %s' in [%s]",
            a ? a->key : "", a ? a->value : "", a ? a->section : "", b ? b->key : "",
            b ? b->value : "", b ? b->section : "");
    }
}

const char *manifest_key(const struct manifest *manifest, const char *component, const char *key)
{
    for (uint32_t i = 0; i < manifest->component_count; ++i) {
        if (strcmp(manifest->components[i].id, component) == 0) {
            return ini_get(&manifest->ini, manifest->components[i].section, key);
        }
    }
    return NULL;
}

int manifest_is_draft(const char *id)
{
    static const char mark[] = "-draft";
    const size_t length = strlen(id);
    const size_t mark_length = sizeof(mark) - 1;
    size_t end = length;
    while (end > 0 && id[end - 1] >= '0' && id[end - 1] <= '9') {
        --end;
    }
    return end < length && end >= mark_length &&
           memcmp(id + end - mark_length, mark, mark_length) == 0;
}

int manifest_has_option(const struct manifest_component *component, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = component->options; *at;) {
        const size_t word = strcspn(at, " \t");
        if (word == length && length > 0 && memcmp(at, key, length) == 0) {
            return 1;
        }
        at += word;
        at += strspn(at, " \t");
    }
    return 0;
}
