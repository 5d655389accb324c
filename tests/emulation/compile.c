// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "compile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 512 };

// FNV-1a, going on from `sum`.
static unsigned long long hash_text(unsigned long long sum, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3u;
    }
    return sum;
}

// The whole file in malloc's memory, or NULL.
static unsigned char *read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rbe");
    struct stat info;

    if (file == NULL || fstat(fileno(file), &info) != 0) {
        if (file != NULL) {
            (void)fclose(file);
        }
        return NULL;
    }
    const size_t size = (size_t)info.st_size;
    unsigned char *bytes = malloc(size + 1);

    if (bytes != NULL && fread(bytes, 1, size, file) != size) {
        free(bytes);
        bytes = NULL;
    }
    (void)fclose(file);
    *out_size = size;
    return bytes;
}

static bool write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    if (file == NULL) {
        return false;
    }
    const bool is_whole = fputs(text, file) >= 0;

    return fclose(file) == 0 && is_whole;
}

static bool
run_compiler(const char *header, const char *source, const char *object, const char *log)
{
    char include[PATH_SIZE];
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int state = -1;

    (void)snprintf(include, sizeof(include), EMULATION_FOLDER "/%s", header);
    // C's libraries alone: to read those of C++ takes the linker longer than to link a kernel. One
    // thread runs a kernel, so that its statics need no lock.
    // clang-format off
    const char *const words[] = {
        EMULATION_COMPILER, "-std=c++17", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-w",
        "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-nostdlib", "-I", EMULATION_FOLDER,
        "-include", include, "-x", "c++", source, "-o", object, "-lm", "-lc", NULL,
    };
    // clang-format on
    char *arguments[sizeof(words) / sizeof(*words)];

    memcpy(arguments, words, sizeof(words)); // posix_spawn does not write to them.
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT, 0600);
    const bool is_started =
        posix_spawn(&child, EMULATION_COMPILER, &actions, NULL, arguments, environ) == 0;

    (void)posix_spawn_file_actions_destroy(&actions);
    return is_started && waitpid(child, &state, 0) == child && state == 0;
}

static bool compile(const char *folder,
                    const char *header,
                    const char *text,
                    struct emulation_code *out_code,
                    char log[EMULATION_LOG_SIZE])
{
    char source[PATH_SIZE], object[PATH_SIZE], complaint[PATH_SIZE];

    (void)snprintf(source, sizeof(source), "%s/kernel.cc", folder);
    (void)snprintf(object, sizeof(object), "%s/kernel.so", folder);
    (void)snprintf(complaint, sizeof(complaint), "%s/log", folder);
    out_code->bytes = NULL;
    if (write_file(source, text) && run_compiler(header, source, object, complaint)) {
        out_code->bytes = read_file(object, &out_code->size);
    } else {
        size_t size = 0;
        unsigned char *bytes = read_file(complaint, &size);

        (void)snprintf(log, EMULATION_LOG_SIZE, "%.*s", bytes != NULL ? (int)size : 0,
                       (const char *)bytes);
        free(bytes);
    }
    (void)unlink(source);
    (void)unlink(object);
    (void)unlink(complaint);
    return out_code->bytes != NULL;
}

unsigned long long emulation_version(const char *header)
{
    const char *const names[] = {"fibers.h", header};
    unsigned long long sum = 0xcbf29ce484222325u;

    for (int i = 0; i < 2; i++) {
        char path[PATH_SIZE];
        size_t size = 0;

        (void)snprintf(path, sizeof(path), EMULATION_FOLDER "/%s", names[i]);
        unsigned char *bytes = read_file(path, &size);

        sum = bytes != NULL ? hash_text(sum, (const char *)bytes, size) : sum;
        free(bytes);
    }
    return sum;
}

// Where the object of this text is kept, so that the many processes of a test compile it once;
// empty without a cache.
static void name_object(const char *header, const char *text, char path[PATH_SIZE])
{
    const char *cache = getenv("XDG_CACHE_HOME");
    const unsigned long long sum = hash_text(emulation_version(header), text, strlen(text));

    path[0] = '\0';
    if (cache != NULL) {
        (void)mkdir(cache, S_IRWXU); // Or it is there.
        (void)snprintf(path, PATH_SIZE, "%s/emulated-%016llx.so", cache, sum);
    }
}

// Under a name of its own first: who reads finds a whole file.
static void keep_object(const struct emulation_code *code, const char *path)
{
    char part[PATH_SIZE + 32];

    (void)snprintf(part, sizeof(part), "%s.%ld.part", path, (long)getpid());
    FILE *file = path[0] != '\0' ? fopen(part, "wbe") : NULL;

    if (file != NULL) {
        const bool is_whole = fwrite(code->bytes, 1, code->size, file) == code->size;

        if (fclose(file) != 0 || !is_whole || rename(part, path) != 0) {
            (void)unlink(part);
        }
    }
}

bool emulation_compile(const char *header,
                       const char *text,
                       struct emulation_code *out_code,
                       char log[EMULATION_LOG_SIZE])
{
    const char *parent = getenv("TMPDIR");
    char folder[PATH_SIZE / 2], path[PATH_SIZE];

    name_object(header, text, path);
    out_code->bytes = path[0] != '\0' ? read_file(path, &out_code->size) : NULL;
    if (out_code->bytes != NULL) {
        return true;
    }
    (void)snprintf(folder, sizeof(folder), "%s/emulation-XXXXXX", parent ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) {
        (void)snprintf(log, EMULATION_LOG_SIZE, "no folder for the compiler's files");
        return false;
    }
    const bool is_good = compile(folder, header, text, out_code, log);

    (void)rmdir(folder);
    if (is_good) {
        keep_object(out_code, path);
    }
    return is_good;
}

bool emulation_load(const unsigned char *bytes, size_t size, struct emulation_object *out_object)
{
    char path[64];

    // Open until it is unloaded: the loader knows it by this name.
    out_object->fd = memfd_create("emulated-kernel", MFD_CLOEXEC);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", out_object->fd);
    if (out_object->fd >= 0 && write(out_object->fd, bytes, size) == (ssize_t)size) {
        out_object->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    if (out_object->handle == NULL && out_object->fd >= 0) {
        (void)close(out_object->fd);
    }
    return out_object->handle != NULL;
}

bool emulation_find(const struct emulation_object *object,
                    const char *prefix,
                    const char *name,
                    void *out_function)
{
    char symbol[128];

    (void)snprintf(symbol, sizeof(symbol), "emulated_%s_%s", prefix, name);
    void *found = dlsym(object->handle, symbol);

    memcpy(out_function, &found, sizeof(found));
    return found != NULL;
}

void emulation_unload(struct emulation_object *object)
{
    (void)dlclose(object->handle);
    (void)close(object->fd);
}
