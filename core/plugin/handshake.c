// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/handshake.h"

#include "base/log.h"
#include "plugin/note.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void fill_file(const struct stat *about, struct handshake_file *out_file)
{
    out_file->device = about->st_dev;
    out_file->inode = about->st_ino;
    out_file->size = about->st_size;
    out_file->changed = about->st_mtim;
}

static int is_same_file(const struct handshake_file *a, const struct handshake_file *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

int handshake_look(const char *path, struct handshake_file *out_file)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return 0;
    }
    fill_file(&about, out_file);
    return 1;
}

int handshake_has_unknown_demands(const tapml_hdr *hdr)
{
    return (hdr->flags >> 16) != 0;
}

void handshake_enter(struct process_state *out_state)
{
    process_save(out_state);
}

static void
add_remark(struct text *remark, const char *what, const char *kind, const struct text *changes)
{
    if (changes->length > 0) {
        text_format(remark, "%s%s changed %s%s, restored", remark->length > 0 ? "; " : "", what,
                    kind, changes->data);
    }
}

void handshake_leave(struct process_state *state,
                     const char *who,
                     const char *what,
                     struct text *remark)
{
    struct text changes;
    struct text handlers;
    text_init(&changes);
    text_init(&handlers);
    process_restore(state, &changes, &handlers);
    if (changes.length > 0) {
        log_line(LOG_WARNING, "%s: %s changed process state, which the host restored: %s", who,
                 what, changes.data);
    }
    if (handlers.length > 0) {
        log_line(LOG_INFO, "%s: %s set signal handlers, which the host restored: %s", who, what,
                 handlers.data);
    }
    add_remark(remark, what, "", &changes);
    add_remark(remark, what, "handlers of signals: ", &handlers);
    text_release(&changes);
    text_release(&handlers);
}

// -- Before opening ----------------------------------------------------------------------------

static const char *or_none(const char *sanitizer)
{
    return sanitizer[0] != '\0' ? sanitizer : "none";
}

// `who` is what has a sanitizer that this host has not, or the other way round: "its code is".
static tapml_status refuse_sanitizer(const char *who, const char *sanitizer)
{
    return status_fail(TAPML_ABI_MISMATCH, "%s built with the sanitizer '%s', this host with '%s'",
                       who, or_none(sanitizer), or_none(note_sanitizer_name(TAPML_SANITIZER)));
}

tapml_status handshake_check_manifest(const struct manifest *manifest,
                                      enum candidate_state *out_state)
{
    *out_state = CANDIDATE_WRONG_ARCH;
    if (strcmp(manifest->arch, note_host_arch()) != 0) {
        return status_fail(TAPML_ABI_MISMATCH, "it is built for '%s', this host for '%s'",
                           manifest->arch, note_host_arch());
    }
    *out_state = CANDIDATE_WRONG_ABI;
    if (manifest->abi_major != TAPML_ABI_MAJOR || manifest->abi_minor > TAPML_ABI_MINOR) {
        return status_fail(TAPML_ABI_MISMATCH, "it needs the ABI %u.%u, this host has %u.%u",
                           manifest->abi_major, manifest->abi_minor, TAPML_ABI_MAJOR,
                           TAPML_ABI_MINOR);
    }
    if (strcmp(manifest->sanitizer, note_sanitizer_name(TAPML_SANITIZER)) != 0) {
        return refuse_sanitizer("it is", manifest->sanitizer);
    }
    *out_state = CANDIDATE_USABLE;
    return TAPML_OK;
}

tapml_status handshake_check_search_path(const char *path)
{
    for (const char *at = path; at && *at;) {
        const size_t length = strcspn(at, ":");
        const int is_origin = (length == 7 && strncmp(at, "$ORIGIN", 7) == 0) ||
                              (length == 9 && strncmp(at, "${ORIGIN}", 9) == 0);
        if (!is_origin) {
            return status_fail(TAPML_PRECONDITION,
                               "the library carries the search path '%s', allowed is $ORIGIN",
                               path);
        }
        at += length + (at[length] == ':');
    }
    return TAPML_OK;
}

static tapml_status compare_note(const char *library,
                                 const struct manifest *manifest,
                                 const struct note *note,
                                 enum candidate_state *out_state)
{
    struct manifest inner;
    *out_state = CANDIDATE_WRONG_ARCH;
    if (!note->is_native) {
        return status_fail(TAPML_ABI_MISMATCH, "the library is for '%s', this host for '%s'",
                           note->arch, note_host_arch());
    }
    *out_state = CANDIDATE_MISMATCH;
    if (!note->text) {
        return status_fail(TAPML_INVALID, "the library has no note of owner 'tapml'");
    }
    TAPML_TRY(manifest_parse_note(library, note->text, &inner));
    const tapml_status status = manifest_compare(manifest, &inner);
    manifest_release(&inner);
    TAPML_TRY(status);
    if (strcmp(manifest->build_id, note->build_id) != 0) {
        return status_fail(TAPML_INVALID,
                           "the manifest is for the build '%s', the library is the build '%s'",
                           manifest->build_id, note->build_id);
    }
    *out_state = CANDIDATE_WRONG_ABI;
    if (strcmp(note->sanitizer, note_sanitizer_name(TAPML_SANITIZER)) != 0) {
        return refuse_sanitizer("the library is", note->sanitizer);
    }
    *out_state = CANDIDATE_REFUSED;
    return handshake_check_search_path(note->search_path);
}

static tapml_status check_file(const char *library,
                               const struct manifest *manifest,
                               int descriptor,
                               enum candidate_state *out_state)
{
    struct note note;
    *out_state = CANDIDATE_MALFORMED;
    TAPML_TRY(note_read(descriptor, library, &note));
    const tapml_status status = compare_note(library, manifest, &note, out_state);
    note_release(&note);
    return status;
}

// -- Opening -----------------------------------------------------------------------------------

static tapml_status open_library(const char *library, tapml_plugin_query_fn *out_query)
{
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *reason = dlerror();
        return status_fail(TAPML_INVALID, "it cannot be opened: %s", reason ? reason : "no reason");
    }
    // POSIX lets an address of an object be one of a function; ISO C has no cast for it.
    void *address = dlsym(handle, TAPML_PLUGIN_SYMBOL);
    if (!address) {
        return status_fail(TAPML_NOT_FOUND, "it has no symbol '%s'", TAPML_PLUGIN_SYMBOL);
    }
    memcpy(out_query, &address, sizeof(*out_query));
    return TAPML_OK;
}

// -- After the query ---------------------------------------------------------------------------

tapml_status handshake_check_sizes(const tapml_plugin *plugin)
{
    if (!TAPML_HAS(tapml_plugin, plugin, components) ||
        handshake_has_unknown_demands(&plugin->hdr)) {
        return status_fail(TAPML_ABI_MISMATCH,
                           "its description is too short, or demands what this host does not know");
    }
    if (plugin->abi_major != TAPML_ABI_MAJOR || plugin->abi_needed > TAPML_ABI_MINOR) {
        return status_fail(TAPML_ABI_MISMATCH, "its code needs the ABI %u.%u, this host has %u.%u",
                           plugin->abi_major, plugin->abi_needed, TAPML_ABI_MAJOR, TAPML_ABI_MINOR);
    }
    if (plugin->sanitizer != TAPML_SANITIZER) {
        return refuse_sanitizer("its code is", note_sanitizer_name(plugin->sanitizer));
    }
    for (uint32_t i = 0; i < plugin->n_components; ++i) {
        const tapml_component *component = plugin->components ? plugin->components[i] : NULL;
        if (!TAPML_HAS(tapml_component, component, shutdown) || !component->id ||
            !component->kind || !component->create ||
            handshake_has_unknown_demands(&component->hdr)) {
            return status_fail(TAPML_ABI_MISMATCH,
                               "component %u is described by too short a struct, or demands what "
                               "this host does not know",
                               i);
        }
    }
    return TAPML_OK;
}

static tapml_status differs(const char *what, const char *manifest, const char *code)
{
    return status_fail(TAPML_INVALID, "the manifest says %s '%s', its code says '%s'", what,
                       manifest, code ? code : "");
}

tapml_status handshake_compare_words(const struct manifest *manifest, const tapml_plugin *plugin)
{
    if (!plugin->id || strcmp(plugin->id, manifest->id) != 0) {
        return differs("id", manifest->id, plugin->id);
    }
    if (!plugin->version || strcmp(plugin->version, manifest->version) != 0) {
        return differs("version", manifest->version, plugin->version);
    }
    if (plugin->abi_needed != manifest->abi_minor) {
        return status_fail(TAPML_INVALID, "the manifest says ABI %u.%u, its code needs %u.%u",
                           manifest->abi_major, manifest->abi_minor, plugin->abi_major,
                           plugin->abi_needed);
    }
    if (plugin->n_components != manifest->component_count) {
        return status_fail(TAPML_INVALID, "the manifest names %u components, its code has %u",
                           manifest->component_count, plugin->n_components);
    }
    for (uint32_t i = 0; i < plugin->n_components; ++i) {
        const char *kind = manifest_key(manifest, plugin->components[i]->id, "kind");
        if (!kind) {
            return status_fail(TAPML_INVALID,
                               "its code has a component '%s', which the manifest does not name",
                               plugin->components[i]->id);
        }
        if (strcmp(kind, plugin->components[i]->kind) != 0) {
            return differs("kind", kind, plugin->components[i]->kind);
        }
    }
    return TAPML_OK;
}

static tapml_status ask(const struct manifest *manifest,
                        tapml_plugin_query_fn query,
                        const tapml_plugin **out_plugin,
                        enum candidate_state *out_state)
{
    const tapml_query question = {
        .hdr = TAPML_HDR(tapml_query),
        .abi_major = TAPML_ABI_MAJOR,
        .abi_minor = TAPML_ABI_MINOR,
        .host_name = "tapml-host",
        .host_version = TAPML_VERSION,
    };
    const tapml_plugin *plugin = NULL;
    const tapml_status status = query(&question, &plugin);
    *out_state = CANDIDATE_WRONG_ABI;
    if (status != TAPML_OK || !plugin) {
        return status_fail(TAPML_ABI_MISMATCH, "it does not answer to this host: %s",
                           status == TAPML_OK ? "no description" : status_name(status));
    }
    TAPML_TRY(handshake_check_sizes(plugin));
    *out_state = CANDIDATE_MISMATCH;
    TAPML_TRY(handshake_compare_words(manifest, plugin));
    *out_plugin = plugin;
    *out_state = CANDIDATE_USABLE;
    return TAPML_OK;
}

static tapml_status check_and_open(const char *library,
                                   const struct manifest *manifest,
                                   const struct handshake_file *scanned,
                                   int descriptor,
                                   tapml_plugin_query_fn *out_query,
                                   enum candidate_state *out_state)
{
    struct handshake_file after;
    TAPML_TRY(check_file(library, manifest, descriptor, out_state));
    *out_state = CANDIDATE_MALFORMED;
    TAPML_TRY(open_library(library, out_query));
    *out_state = CANDIDATE_REPLACED;
    if (!handshake_look(library, &after) || !is_same_file(scanned, &after)) {
        return status_fail(TAPML_PRECONDITION, "the library changed while it was opened");
    }
    return TAPML_OK;
}

// The descriptor of the library that was scanned, which the caller closes.
static tapml_status open_file(const char *library,
                              const struct handshake_file *scanned,
                              int *out_descriptor,
                              enum candidate_state *out_state)
{
    struct stat about;
    struct handshake_file now = {0};
    const int descriptor = open(library, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        *out_state = CANDIDATE_MISMATCH;
        return status_fail(TAPML_NOT_FOUND, "the library '%s': %s", library, strerror(errno));
    }
    // What is open counts, not what stands at the path by now.
    if (fstat(descriptor, &about) == 0) {
        fill_file(&about, &now);
    }
    if (!is_same_file(&now, scanned)) {
        close(descriptor);
        *out_state = CANDIDATE_REPLACED;
        return status_fail(TAPML_PRECONDITION, "the library changed since the folder was read");
    }
    *out_descriptor = descriptor;
    return TAPML_OK;
}

tapml_status handshake_check_library(const char *library,
                                     const struct manifest *manifest,
                                     const struct handshake_file *scanned,
                                     enum candidate_state *out_state)
{
    int descriptor = -1;
    TAPML_TRY(open_file(library, scanned, &descriptor, out_state));
    const tapml_status status = check_file(library, manifest, descriptor, out_state);
    close(descriptor);
    return status;
}

tapml_status handshake_open(const char *library,
                            const struct manifest *manifest,
                            const struct handshake_file *scanned,
                            struct text *remark,
                            const tapml_plugin **out_plugin,
                            enum candidate_state *out_state)
{
    struct process_state state;
    tapml_plugin_query_fn query = NULL;
    int descriptor = -1;
    TAPML_TRY(open_file(library, scanned, &descriptor, out_state));
    handshake_enter(&state);
    tapml_status status = check_and_open(library, manifest, scanned, descriptor, &query, out_state);
    handshake_leave(&state, manifest->id, "opening it", remark);
    close(descriptor);
    TAPML_TRY(status);
    handshake_enter(&state);
    status = ask(manifest, query, out_plugin, out_state);
    handshake_leave(&state, manifest->id, "its query", remark);
    return status;
}
