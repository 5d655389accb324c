// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/vendor_program.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "plugin/registry.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PROGRAM_BYTES_MAX = 1 << 20, NAME_BYTES = 256 };

static const char key[] = "vendor-program";

const char *vendor_program_path(const char *bundle, struct arena *arena)
{
    static const char suffix[] = ".tapmlrun";
    const size_t length = strlen(bundle), tail = sizeof(suffix) - 1;
    const int has_suffix = length > tail && strcmp(bundle + length - tail, suffix) == 0;

    return arena_format(arena, "%.*s.c", (int)(has_suffix ? length - tail : length), bundle);
}

// A name is a stranger's: in a comment nothing that ends a line, or goes on with it.
static void put_comment(struct text *out, const char *name)
{
    for (; *name != '\0'; name++) {
        const unsigned char byte = (unsigned char)*name;
        const int is_plain = byte >= 0x20 && byte != 0x7f && byte != '\\' && byte != '?';

        text_append_bytes(out, is_plain ? name : ".", 1);
    }
}

// The same in a literal of C. A name that has another byte is cut in front of it: it is looked for
// as a part of the device's.
static void put_literal(struct text *out, const char *name)
{
    size_t plain = 0;

    while ((unsigned char)name[plain] >= 0x20 && name[plain] != 0x7f && name[plain] != '\\' &&
           name[plain] != '"' && name[plain] != '?') {
        plain++;
    }
    text_append(out, "\"");
    text_append_bytes(out, name, plain);
    text_append(out, "\"");
}

static void put_found(const struct driver_bundle_options *what, struct text *out)
{
    const struct backend_info *info = backend_info(what->place->backend);
    const struct driver_result *failure = what->failure;

    text_append(out, "// Found on ");
    put_comment(out, info->device_name);
    text_append(out, info->driver[0] != '\0' ? ", driver " : "");
    put_comment(out, info->driver);
    text_format(out, ", by the check '%s':\n// ", driver_check_name(what->check));
    put_comment(out, failure->reason);
    text_format(out, "\n#define FOUND_CHECK  \"%s\"\n#define FOUND_DEVICE ",
                driver_check_name(what->check));
    put_literal(out, info->device_name);
    text_format(out,
                "\n#define FOUND_SEED   %" PRIu64 "\n#define FOUND_OFFSET %" PRIu64
                "\n#define FOUND_SIZE   %" PRIu64 "\n",
                what->seed, failure->offset, failure->size);
}

// What was found stands behind the comment that the program begins with.
static void put_program(const struct driver_bundle_options *what,
                        const char *program,
                        size_t size,
                        struct text *out)
{
    const char *blank = strstr(program, "\n\n");
    const size_t head = blank != NULL ? (size_t)(blank - program) + 1 : 0;

    text_append_bytes(out, program, head);
    text_append(out, head > 0 ? "\n" : "");
    put_found(what, out);
    text_append_bytes(out, program + head, size - head);
}

static tapml_status write_made(const struct driver_bundle_options *what,
                               const char *program,
                               size_t size,
                               const char *path)
{
    struct text made;

    text_init(&made);
    put_program(what, program, size, &made);
    tapml_status status = text_status(&made);

    if (status == TAPML_OK) {
        status = file_write(path, made.data, made.length);
    }
    text_release(&made);
    return status;
}

// The path of the plugin's file; NULL if it has none.
static tapml_status
find_file(const struct backend *backend, struct registry *registry, const char **out_file)
{
    const struct backend_info *info = backend_info(backend);
    char name[NAME_BYTES];

    (void)snprintf(name, sizeof(name), "%s/%s", info->plugin, info->component);
    return registry_component_file(registry, name, key, out_file);
}

static tapml_status read_file(const struct driver_bundle_options *what,
                              struct registry *registry,
                              char **out_program,
                              size_t *out_size)
{
    const char *file = NULL;

    *out_program = NULL;
    TAPML_TRY(find_file(what->place->backend, registry, &file));
    return file != NULL ? file_read(file, PROGRAM_BYTES_MAX, out_program, out_size) : TAPML_OK;
}

tapml_status vendor_program_write(const struct driver_bundle_options *what,
                                  struct registry *registry,
                                  const char *path,
                                  int *out_is_written)
{
    char *program = NULL;
    size_t size = 0;
    tapml_status status = read_file(what, registry, &program, &size);

    (void)remove(path); // Of something else; or there is none.
    if (status != TAPML_OK && status != TAPML_NO_MEMORY) {
        log_line(LOG_WARNING, "no program for the vendor of the driver: %s", status_message());
        status = TAPML_OK;
    }
    const int has_program = status == TAPML_OK && program != NULL;

    if (has_program) {
        status = write_made(what, program, size, path);
    }
    alloc_free(program);
    TAPML_TRY(status);
    *out_is_written = has_program;
    return TAPML_OK;
}
