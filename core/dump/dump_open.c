// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "dump/dump_open.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/text.h"
#include "dump/archive.h"
#include "dump/callback_text.h"
#include "dump/dump.h"
#include "dump/recorded.h"
#include "dump/tensor_proto.h"
#include "model/checkpoint.h"
#include "model/safetensors.h"
#include "run/npy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char store_name[] = "run.tapmlrun";

// A file of a folder.
struct dump_file {
    const char *name; // Without the folder.
    const char *path;
    const char *stem;     // The name without its ending.
    struct timespec time; // When it was written.
};

// -- Arrays of NumPy ---------------------------------------------------------------------------

static tapml_status add_array(struct dump *dump, const char *name, const void *data, size_t size)
{
    struct npy_array array;
    struct dump_tensor tensor = {.name = name};

    TAPML_TRY(npy_read(name, data, size, &array));
    if (array.dtype == 0) {
        dump->skipped++;
        return TAPML_OK;
    }
    tensor.dtype = array.dtype;
    tensor.rank = array.rank;
    tensor.data = array.data;
    memcpy(tensor.shape, array.shape, sizeof(tensor.shape));
    if (array.is_column_major) {
        void *rows = arena_new(dump->arena, (size_t)array.bytes + 1);

        if (rows == NULL) {
            return status_no_memory();
        }
        npy_copy(&array, rows);
        tensor.data = rows;
    }
    return dump_add(dump, &tensor);
}

static tapml_status add_npy(struct dump *dump, const struct dump_file *file)
{
    const void *data = NULL;
    size_t size = 0;

    TAPML_TRY(dump_map(dump, file->path, &data, &size));
    return add_array(dump, file->stem, data, size);
}

// "f12_rms_norm", as MLC's debugger names the file of a call: behind the number, the function.
static const char *find_function(const char *stem)
{
    const size_t digits = *stem == 'f' ? strspn(stem + 1, "0123456789") : 0;

    return digits > 0 && stem[1 + digits] == '_' && stem[2 + digits] != '\0' ? stem + 2 + digits
                                                                             : NULL;
}

static tapml_status name_entry(struct dump *dump,
                               const struct dump_file *file,
                               const struct archive_entry *entry,
                               int is_alone,
                               const char **out_name)
{
    const size_t ending = strlen(".npy");
    size_t length = entry->name_length;

    if (length > ending && memcmp(entry->name + length - ending, ".npy", ending) == 0) {
        length -= ending;
    }
    if (memchr(entry->name, 0, length) != NULL) {
        return status_fail(TAPML_INVALID, "%s: an entry's name has a zero byte", file->path);
    }
    *out_name = is_alone
                    ? arena_format(dump->arena, "%.*s", (int)length, entry->name)
                    : arena_format(dump->arena, "%s/%.*s", file->stem, (int)length, entry->name);
    return *out_name != NULL ? TAPML_OK : status_no_memory();
}

static tapml_status add_entry(struct dump *dump,
                              const struct archive *archive,
                              const struct archive_entry *entry,
                              const char *name)
{
    void *bytes = NULL;

    TAPML_TRY(archive_read(archive, entry, &bytes));
    TAPML_TRY(dump_keep(dump, bytes));
    return add_array(dump, name, bytes, entry->bytes);
}

// The last argument of a function is what it writes; all others are what it was given.
static tapml_status
mark_function(struct dump *dump, size_t first, const struct dump_file *file, const char *function)
{
    const size_t count = dump->count - first;
    const char **sources = arena_array(dump->arena, count + 1, sizeof(*sources));

    if (sources == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        struct dump_tensor *tensor = &dump->tensors[first + i];

        // Numbers of calls change where something was fused.
        tensor->key =
            arena_format(dump->arena, "%s%s", function, tensor->name + strlen(file->stem));
        if (tensor->key == NULL) {
            return status_no_memory();
        }
        sources[i] = tensor->name;
        if (i + 1 == count) {
            tensor->op = function;
            tensor->sources = sources;
            tensor->source_count = (uint32_t)i;
        }
    }
    dump->is_ordered = 1;
    return TAPML_OK;
}

static tapml_status add_npz(struct dump *dump, const struct dump_file *file, int is_alone)
{
    const char *function = find_function(file->stem);
    const size_t first = dump->count;
    struct archive archive;
    const void *data = NULL;
    size_t size = 0;

    TAPML_TRY(dump_map(dump, file->path, &data, &size));
    TAPML_TRY(archive_open(file->path, data, size, &archive));
    for (;;) {
        struct archive_entry entry;
        const char *name = NULL;
        int has = 0;

        TAPML_TRY(archive_next(&archive, &entry, &has));
        if (!has) {
            break;
        }
        TAPML_TRY(name_entry(dump, file, &entry, is_alone && function == NULL, &name));
        TAPML_TRY(add_entry(dump, &archive, &entry, name));
    }
    return function != NULL && dump->count > first ? mark_function(dump, first, file, function)
                                                   : TAPML_OK;
}

// -- Other files -------------------------------------------------------------------------------

static int compare_tensors(const void *left, const void *right)
{
    const struct checkpoint_tensor *const *a = left, *const *b = right;

    return dump_compare_names((*a)->name, (*b)->name);
}

static tapml_status add_safetensors(struct dump *dump, const struct dump_file *file)
{
    struct checkpoint *checkpoint = NULL;

    TAPML_TRY(safetensors_open_file(file->path, &checkpoint));
    TAPML_TRY(dump_keep_checkpoint(dump, checkpoint));
    const size_t count = checkpoint_count(checkpoint);
    const struct checkpoint_tensor **sorted = arena_array(dump->arena, count + 1, sizeof(*sorted));

    if (sorted == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = checkpoint_at(checkpoint, i);
    }
    qsort(sorted, count, sizeof(*sorted), compare_tensors);
    for (size_t i = 0; i < count; i++) {
        const tapml_tensor *found = &sorted[i]->tensor;
        struct dump_tensor tensor = {.name = sorted[i]->name,
                                     .dtype = found->dtype,
                                     .rank = found->rank,
                                     .data = sorted[i]->data};

        if (sorted[i]->stored != NULL) {
            dump->skipped++;
            continue;
        }
        if (found->rank > 0) {
            memcpy(tensor.shape, found->shape, found->rank * sizeof(*tensor.shape));
        }
        TAPML_TRY(dump_add(dump, &tensor));
    }
    return TAPML_OK;
}

static tapml_status add_proto(struct dump *dump, const struct dump_file *file)
{
    const void *data = NULL;
    size_t size = 0;

    TAPML_TRY(dump_map(dump, file->path, &data, &size));
    return tensor_proto_add(dump, file->stem, data, size);
}

static tapml_status add_text(struct dump *dump, const struct dump_file *file)
{
    const void *data = NULL;
    size_t size = 0;

    TAPML_TRY(dump_map(dump, file->path, &data, &size));
    TAPML_TRY(callback_text_add(dump, file->path, data, size));
    dump->is_ordered = 1;
    return TAPML_OK;
}

static int is_proto(const char *name)
{
    return text_ends_with(name, ".pb") || text_ends_with(name, ".tensorproto");
}

static tapml_status add_file(struct dump *dump, const struct dump_file *file, int is_alone)
{
    if (text_ends_with(file->name, ".npy")) {
        return add_npy(dump, file);
    }
    if (text_ends_with(file->name, ".npz")) {
        return add_npz(dump, file, is_alone);
    }
    if (text_ends_with(file->name, ".safetensors")) {
        return add_safetensors(dump, file);
    }
    if (is_proto(file->name)) {
        return add_proto(dump, file);
    }
    if (text_ends_with(file->name, ".tapmlrun")) {
        return recorded_add(dump, file->path);
    }
    if (is_alone || text_ends_with(file->name, ".txt") || text_ends_with(file->name, ".log")) {
        return add_text(dump, file);
    }
    return TAPML_OK; // A folder may have other files.
}

// -- A folder ----------------------------------------------------------------------------------

static int compare_files(const void *left, const void *right)
{
    const struct dump_file *a = left, *b = right;

    // ONNX Runtime's files have no numbers: their order is that in which they were written.
    if (is_proto(a->name) && is_proto(b->name)) {
        if (a->time.tv_sec != b->time.tv_sec) {
            return a->time.tv_sec < b->time.tv_sec ? -1 : 1;
        }
        if (a->time.tv_nsec != b->time.tv_nsec) {
            return a->time.tv_nsec < b->time.tv_nsec ? -1 : 1;
        }
    }
    return dump_compare_names(a->name, b->name);
}

static tapml_status
describe_file(struct dump *dump, const char *folder, const char *name, struct dump_file *out_file)
{
    const char *end = strrchr(name, '.');
    struct stat about = {0};

    out_file->name = arena_text(dump->arena, name);
    out_file->path = folder != NULL ? arena_format(dump->arena, "%s/%s", folder, name) : dump->path;
    out_file->stem =
        arena_format(dump->arena, "%.*s",
                     end != NULL && end > name ? (int)(end - name) : (int)strlen(name), name);
    if (out_file->name == NULL || out_file->path == NULL || out_file->stem == NULL) {
        return status_no_memory();
    }
    if (lstat(out_file->path, &about) == 0) {
        out_file->time = about.st_mtim;
    }
    return TAPML_OK;
}

static int is_plain_file(DIR *directory, const char *name)
{
    struct stat about;

    return fstatat(dirfd(directory), name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(about.st_mode);
}

static tapml_status
list_files(struct dump *dump, DIR *directory, struct dump_file **out_files, size_t *out_count)
{
    void *files = NULL;
    size_t capacity = 0;
    const struct dirent *entry = NULL;

    *out_count = 0;
    while ((entry = readdir(directory)) != NULL) {
        if (!is_plain_file(directory, entry->d_name)) {
            continue;
        }
        if (!alloc_grow(&files, &capacity, *out_count, sizeof(**out_files))) {
            alloc_free(files);
            return status_no_memory();
        }
        *out_files = files;
        if (describe_file(dump, dump->path, entry->d_name, &(*out_files)[*out_count]) != TAPML_OK) {
            alloc_free(files);
            return status_no_memory();
        }
        (*out_count)++;
    }
    *out_files = files;
    return TAPML_OK;
}

static tapml_status add_folder(struct dump *dump)
{
    struct dump_file *files = NULL;
    size_t count = 0;
    DIR *directory = opendir(dump->path);

    if (directory == NULL) {
        return status_fail(TAPML_NOT_FOUND, "cannot open '%s': %s", dump->path, strerror(errno));
    }
    tapml_status status = list_files(dump, directory, &files, &count);

    (void)closedir(directory);
    if (status != TAPML_OK) {
        return status;
    }
    if (count > 1) {
        qsort(files, count, sizeof(*files), compare_files);
    }
    for (size_t i = 0; status == TAPML_OK && i < count; i++) {
        dump->is_ordered |= is_proto(files[i].name);
        status = add_file(dump, &files[i], 0);
    }
    alloc_free(files);
    return status;
}

// -- What a path is ----------------------------------------------------------------------------

static int has_store(const char *path)
{
    char *store = file_is_folder(path) ? file_join(path, store_name) : NULL;
    const int has = store != NULL && file_exists(store);

    alloc_free(store);
    return has;
}

int dump_open_is_run(const char *path)
{
    return has_store(path);
}

static tapml_status add_path(struct dump *dump)
{
    if (has_store(dump->path)) {
        const char *store = arena_format(dump->arena, "%s/%s", dump->path, store_name);

        return store != NULL ? recorded_add(dump, store) : status_no_memory();
    }
    if (file_is_folder(dump->path)) {
        return add_folder(dump);
    }
    if (!file_exists(dump->path)) {
        return status_fail(TAPML_NOT_FOUND, "there is no '%s'", dump->path);
    }
    const char *slash = strrchr(dump->path, '/');
    struct dump_file file = {0};

    TAPML_TRY(describe_file(dump, NULL, slash != NULL ? slash + 1 : dump->path, &file));
    return add_file(dump, &file, 1);
}

tapml_status dump_open(const char *path, struct dump **out_dump)
{
    struct dump *dump = NULL;

    TAPML_TRY(dump_create(path, &dump));
    tapml_status status = add_path(dump);

    if (status == TAPML_OK && dump->count == 0) {
        status = status_fail(TAPML_INVALID,
                             "there is no run in '%s', and no dump: expected arrays of NumPy, "
                             "safetensors, tensors of ONNX, or the text of an evaluation "
                             "callback",
                             path);
    }
    if (status != TAPML_OK) {
        dump_destroy(dump);
        return status;
    }
    *out_dump = dump;
    return TAPML_OK;
}
