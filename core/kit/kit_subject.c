// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_subject.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "kit/stand_in.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static int is_manifest(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot != NULL && strcmp(dot, ".tapml") == 0;
}

// The manifest lies beside the library, under the id that is in the note.
static tapml_status read_library(const char *path, struct kit_subject *subject)
{
    struct text name;

    TAPML_TRY(manifest_load_library(path, &subject->manifest));
    char *folder = file_folder(path);

    text_init(&name);
    text_format(&name, "%s.tapml", subject->manifest.id);
    char *beside = folder != NULL ? file_join(folder, name.data) : NULL;
    tapml_status status = beside == NULL ? status_no_memory() : text_status(&name);

    subject->library = alloc_text(path);
    if (status == TAPML_OK && file_exists(beside)) {
        manifest_release(&subject->manifest);
        subject->manifest_path = beside;
        beside = NULL;
        status = manifest_load(subject->manifest_path, &subject->manifest);
    }
    text_release(&name);
    alloc_free(folder);
    alloc_free(beside);
    return status == TAPML_OK && subject->library == NULL ? status_no_memory() : status;
}

static tapml_status read_manifest(const char *path, struct kit_subject *subject)
{
    TAPML_TRY(manifest_load(path, &subject->manifest));
    char *folder = file_folder(path);

    subject->manifest_path = alloc_text(path);
    subject->library = folder != NULL ? file_join(folder, subject->manifest.library) : NULL;
    alloc_free(folder);
    return subject->library != NULL && subject->manifest_path != NULL ? TAPML_OK
                                                                      : status_no_memory();
}

tapml_status kit_subject_read(const char *path, struct kit_subject *out_subject)
{
    struct kit_subject subject = {.minor = TAPML_ABI_MINOR};
    char *whole = realpath(path, NULL);

    if (whole == NULL) {
        return status_fail(TAPML_NOT_FOUND, "%s: there is no such file", path);
    }
    const tapml_status status =
        is_manifest(whole) ? read_manifest(whole, &subject) : read_library(whole, &subject);

    free(whole);
    if (status != TAPML_OK) {
        kit_subject_release(&subject);
        return status;
    }
    *out_subject = subject;
    return TAPML_OK;
}

void kit_subject_release(struct kit_subject *subject)
{
    ini_release(&subject->options);
    manifest_release(&subject->manifest);
    alloc_free((char *)(uintptr_t)subject->library);
    alloc_free((char *)(uintptr_t)subject->manifest_path);
    *subject = (struct kit_subject){.minor = 0};
}

tapml_status kit_subject_open(struct kit_subject *subject)
{
    void *handle = dlopen(subject->library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

    if (handle == NULL) {
        const char *reason = dlerror();

        return status_fail(TAPML_INVALID, "it cannot be opened: %s",
                           reason != NULL ? reason : "no reason");
    }
    // POSIX lets an address of an object be one of a function; ISO C has no cast for it.
    void *address = dlsym(handle, TAPML_PLUGIN_SYMBOL);

    if (address == NULL) {
        return status_fail(TAPML_INVALID, "it has no symbol '%s'", TAPML_PLUGIN_SYMBOL);
    }
    memcpy(&subject->query, &address, sizeof(subject->query));
    return TAPML_OK;
}

static const tapml_component *find(const struct kit_subject *subject)
{
    for (uint32_t i = 0; i < subject->plugin->n_components; i++) {
        if (strcmp(subject->plugin->components[i]->id, subject->component) == 0) {
            return subject->plugin->components[i];
        }
    }
    return NULL;
}

tapml_query kit_subject_question(uint32_t minor)
{
    return (tapml_query){.hdr = TAPML_HDR(tapml_query),
                         .abi_major = TAPML_ABI_MAJOR,
                         .abi_minor = minor,
                         .host_name = "tapml-plugin-check",
                         .host_version = TAPML_VERSION};
}

tapml_status kit_subject_ask(struct kit_subject *subject)
{
    const tapml_query question = kit_subject_question(subject->minor);
    const tapml_status status = subject->query(&question, &subject->plugin);

    if (status != TAPML_OK || subject->plugin == NULL) {
        return status_fail(TAPML_ABI_MISMATCH, "it does not answer the query: %s",
                           status == TAPML_OK ? "no description" : status_name(status));
    }
    if (subject->component == NULL) {
        return TAPML_OK;
    }
    subject->descriptor = find(subject);
    return subject->descriptor != NULL
               ? TAPML_OK
               : status_fail(TAPML_ABI_MISMATCH, "its code has no component '%s'",
                             subject->component);
}

const struct manifest_component *kit_subject_component(const struct kit_subject *subject)
{
    for (uint32_t i = 0; subject->component != NULL && i < subject->manifest.component_count; i++) {
        if (strcmp(subject->manifest.components[i].id, subject->component) == 0) {
            return &subject->manifest.components[i];
        }
    }
    return NULL;
}

tapml_status kit_subject_host(const struct kit_subject *subject, struct stand_in **out_host)
{
    return stand_in_create(&(struct stand_in_options){.component = subject->descriptor,
                                                      .manifest = kit_subject_component(subject),
                                                      .ini = &subject->options,
                                                      .minor = subject->minor},
                           out_host);
}
