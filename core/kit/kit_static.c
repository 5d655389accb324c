// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_static.h"

#include "base/file.h"
#include "kit/elf_image.h"
#include "kit/kit_subject.h"
#include "plugin/handshake.h"
#include "plugin/note.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_S = 20 };

// What every process that opens a plugin has, or gets with its compiler.
static const char *const COMMON_LIBRARIES[] = {
    "libc.",      "libm.",      "libdl.",    "libpthread.", "librt.",
    "ld-linux",   "ld.so",      "libgcc_s.", "libstdc++.",  "libc++.",
    "libc++abi.", "libatomic.", "libgomp.",  "libomp.",     NULL};

// What a plugin may not do to the process that it is in, by the name of the function that does it.
static const struct {
    const char *name, *why;
} FORBIDDEN[] = {
    {"exit", "it would end the host"},
    {"_exit", "it would end the host"},
    {"_Exit", "it would end the host"},
    {"quick_exit", "it would end the host"},
    {"longjmp", "it would leave frames of the host"},
    {"siglongjmp", "it would leave frames of the host"},
    {"__longjmp_chk", "it would leave frames of the host"},
    {"signal", "signal handlers are the host's"},
    {"sigaction", "signal handlers are the host's"},
    {"setlocale", "the locale is the host's"},
    {"setenv", "the environment is the host's"},
    {"putenv", "the environment is the host's"},
    {"unsetenv", "the environment is the host's"},
    {"chdir", "the current folder is the host's"},
    {"umask", "the mask of files is the host's"},
    {"atexit", "nothing is left to atexit: shutdown is the place"},
    {"fork", "a copy of the host's threads is none"},
    {"vfork", "a copy of the host's threads is none"},
};

// -- The manifest ------------------------------------------------------------------------------

// Who makes the check has read it.
static void manifest_is_read(const struct kit_subject *subject, struct kit_result *io_result)
{
    if (subject->manifest_path == NULL) {
        kit_result_warn(io_result,
                        "there is no '%s.tapml' beside the library: a host finds it by "
                        "--plugin alone",
                        subject->manifest.id);
    }
}

static tapml_status compare(const struct kit_subject *subject, const struct note *note)
{
    struct manifest inner;

    if (note->text == NULL) {
        return status_fail(TAPML_INVALID, "the library has no note of owner 'tapml'");
    }
    TAPML_TRY(manifest_parse_note(subject->library, note->text, &inner));
    const tapml_status status = manifest_compare(&subject->manifest, &inner);

    manifest_release(&inner);
    TAPML_TRY(status);
    return strcmp(subject->manifest.build_id, note->build_id) == 0
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "the manifest is for the build '%s', the library is the build '%s'",
                             subject->manifest.build_id, note->build_id);
}

// Reads the library's note. The caller releases it.
static tapml_status read_note(const struct kit_subject *subject, struct note *out_note)
{
    const int descriptor = open(subject->library, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (descriptor < 0) {
        return status_fail(TAPML_NOT_FOUND, "%s: %s", subject->library, strerror(errno));
    }
    const tapml_status status = note_read(descriptor, subject->library, out_note);

    (void)close(descriptor);
    return status;
}

static void manifest_agrees(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct note note = {.text = NULL};
    tapml_status status = read_note(subject, &note);

    if (status == TAPML_OK) {
        status = compare(subject, &note);
        note_release(&note);
    }
    if (status != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
    }
}

static void manifest_fits(const struct kit_subject *subject, struct kit_result *io_result)
{
    enum candidate_state state;

    if (handshake_check_manifest(&subject->manifest, &state) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
    }
}

// -- The library -------------------------------------------------------------------------------

// What a check of the library looks at; what cannot be read is its failure.
static void look(const struct kit_subject *subject,
                 struct kit_result *io_result,
                 void (*check)(const struct elf_image *image, struct kit_result *io_result))
{
    struct elf_image image;

    if (elf_image_read(subject->library, &image) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
        return;
    }
    check(&image, io_result);
    elf_image_release(&image);
}

static int is_export(const struct elf_symbol *symbol)
{
    return symbol->is_defined && !symbol->is_local && symbol->name[0] != '\0';
}

static void see_exports(const struct elf_image *image, struct kit_result *io_result)
{
    int has_query = 0;

    for (size_t i = 0; i < image->symbol_count; i++) {
        const struct elf_symbol *symbol = &image->symbols[i];
        const int is_query = strcmp(symbol->name, TAPML_PLUGIN_SYMBOL) == 0;

        has_query |= is_query && symbol->is_defined;
        if (is_export(symbol) && !is_query && !symbol->is_unique) {
            kit_result_fail(io_result, "it exports '%s', which is to be hidden", symbol->name);
        }
    }
    if (!has_query) {
        kit_result_fail(io_result, "it does not export '%s'", TAPML_PLUGIN_SYMBOL);
    }
}

static void see_unique(const struct elf_image *image, struct kit_result *io_result)
{
    for (size_t i = 0; i < image->symbol_count; i++) {
        if (image->symbols[i].is_defined && image->symbols[i].is_unique) {
            kit_result_fail(io_result,
                            "'%s' is one in the whole process (STB_GNU_UNIQUE), shared with every "
                            "library that has it",
                            image->symbols[i].name);
        }
    }
}

static void see_hardening(const struct elf_image *image, struct kit_result *io_result)
{
    if (image->has_text_relocations) {
        kit_result_fail(io_result,
                        "its code is relocated when it is opened: compile it with -fPIC");
    }
    if (image->has_executable_stack) {
        kit_result_fail(io_result, "it wants an executable stack: link with -z noexecstack");
    }
    if (!image->has_relro || !image->is_bound_now) {
        kit_result_fail(io_result, "%s: link with -z relro -z now",
                        image->has_relro ? "its symbols are bound one by one, while it runs"
                                         : "its relocated data can be written");
    }
}

static void see_tls(const struct elf_image *image, struct kit_result *io_result)
{
    if (image->has_static_tls) {
        kit_result_fail(io_result, "it has static thread-local storage, for which a process that "
                                   "runs may have no room: no -ftls-model=initial-exec");
    }
}

static void see_forbidden(const struct elf_image *image, struct kit_result *io_result)
{
    for (size_t i = 0; i < image->symbol_count; i++) {
        for (size_t k = 0; k < sizeof(FORBIDDEN) / sizeof(*FORBIDDEN); k++) {
            if (!image->symbols[i].is_defined &&
                strcmp(image->symbols[i].name, FORBIDDEN[k].name) == 0) {
                kit_result_fail(io_result, "it imports '%s': %s", FORBIDDEN[k].name,
                                FORBIDDEN[k].why);
            }
        }
    }
}

static int is_common(const char *library)
{
    for (size_t i = 0; COMMON_LIBRARIES[i] != NULL; i++) {
        if (strncmp(library, COMMON_LIBRARIES[i], strlen(COMMON_LIBRARIES[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

// A sanitizer has functions of the C library, too, without versions.
static int is_sanitized(const struct elf_image *image)
{
    static const char *const sanitizers[] = {"libasan.", "libubsan.", "libtsan.", "libclang_rt."};

    for (size_t i = 0; i < image->needed_count; i++) {
        for (size_t k = 0; k < sizeof(sanitizers) / sizeof(*sanitizers); k++) {
            if (strncmp(image->needed[i], sanitizers[k], strlen(sanitizers[k])) == 0) {
                return 1;
            }
        }
    }
    return 0;
}

// The undefined symbols of a library with versions say by them which library has each; one without
// is of a library without versions, or of nobody that the library names.
static void see_imports(const struct elf_image *image, struct kit_result *io_result)
{
    size_t others = 0;

    for (size_t i = 0; i < image->needed_count; i++) {
        others += !is_common(image->needed[i]);
    }
    if (!image->has_versions || others > 0 || is_sanitized(image)) {
        return;
    }
    for (size_t i = 0; i < image->symbol_count; i++) {
        const struct elf_symbol *symbol = &image->symbols[i];

        if (!symbol->is_defined && !symbol->is_weak && !symbol->is_local && !symbol->is_version &&
            symbol->name[0] != '\0') {
            kit_result_fail(io_result,
                            "it imports '%s', which no library has that it names: a host exports "
                            "nothing",
                            symbol->name);
        }
    }
}

static void exports_one(const struct kit_subject *subject, struct kit_result *io_result)
{
    look(subject, io_result, see_exports);
}

static void shares_nothing(const struct kit_subject *subject, struct kit_result *io_result)
{
    look(subject, io_result, see_unique);
}

static void is_hardened(const struct kit_subject *subject, struct kit_result *io_result)
{
    look(subject, io_result, see_hardening);
}

static void has_no_static_tls(const struct kit_subject *subject, struct kit_result *io_result)
{
    look(subject, io_result, see_tls);
}

static void imports_nothing_forbidden(const struct kit_subject *subject,
                                      struct kit_result *io_result)
{
    look(subject, io_result, see_forbidden);
}

static void imports_nothing_of_hosts(const struct kit_subject *subject,
                                     struct kit_result *io_result)
{
    look(subject, io_result, see_imports);
}

// -- What it needs -----------------------------------------------------------------------------

// Whether a word stands in a list that is separated by blanks.
static int has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");

        if (size == length && strncmp(at, word, length) == 0) {
            return 1;
        }
        at += size;
    }
    return 0;
}

static int is_driver(const struct kit_subject *subject, const char *library)
{
    for (uint32_t i = 0; i < subject->manifest.component_count; i++) {
        if (has_word(manifest_key(&subject->manifest, subject->manifest.components[i].id, "dlopen"),
                     library)) {
            return 1;
        }
    }
    return 0;
}

static void links_no_driver(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct elf_image image;

    if (elf_image_read(subject->library, &image) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
        return;
    }
    for (size_t i = 0; i < image.needed_count; i++) {
        if (is_driver(subject, image.needed[i])) {
            kit_result_fail(io_result,
                            "it is linked with '%s', which its manifest calls a library that "
                            "`probe` opens: it cannot be opened where that is missing",
                            image.needed[i]);
        }
    }
    elf_image_release(&image);
}

static void is_found_anywhere(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct note note = {.text = NULL};

    if (read_note(subject, &note) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
        return;
    }
    if (handshake_check_search_path(note.search_path) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
    }
    note_release(&note);
}

static const struct kit_check CHECKS[] = {
    {.id = "M-01",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "the manifest can be read",
     .limit_s = LIMIT_S,
     .run = manifest_is_read},
    {.id = "M-02",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "manifest, note and library are of one build",
     .limit_s = LIMIT_S,
     .run = manifest_agrees},
    {.id = "M-03",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "machine, ABI and sanitizer are those of the host",
     .limit_s = LIMIT_S,
     .run = manifest_fits,
     .ground = KIT_GROUND},
    {.id = "E-01",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "it exports the query alone",
     .limit_s = LIMIT_S,
     .run = exports_one},
    {.id = "E-02",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "no symbol is shared by all that is in the process",
     .limit_s = LIMIT_S,
     .run = shares_nothing},
    {.id = "E-03",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "code and relocated data are read-only",
     .limit_s = LIMIT_S,
     .run = is_hardened},
    {.id = "E-04",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "thread-local storage is not static",
     .limit_s = LIMIT_S,
     .run = has_no_static_tls},
    {.id = "E-05",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "it imports nothing that ends or changes the process",
     .limit_s = LIMIT_S,
     .run = imports_nothing_forbidden},
    {.id = "E-06",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "it is not linked with a driver",
     .limit_s = LIMIT_S,
     .run = links_no_driver},
    {.id = "E-07",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "libraries are searched where the system searches",
     .limit_s = LIMIT_S,
     .run = is_found_anywhere},
    {.id = "E-09",
     .level = KIT_STATIC,
     .scope = KIT_OF_FILE,
     .about = "it imports nothing of a host",
     .limit_s = LIMIT_S,
     .run = imports_nothing_of_hosts},
    {.id = NULL},
};

const struct kit_check *kit_static_checks(void)
{
    return CHECKS;
}
