// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/watched_files.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/file.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS_BYTES = 16384 };

static const double SECOND_NS = 1e9;
static const double QUIET_S = 0.3, QUIET_MOST_S = 5; // After an event.

// -- The list ----------------------------------------------------------------------------------

static int by_path(const void *path, const void *file)
{
    return strcmp(path, ((const struct watched_file *)file)->path);
}

static const struct watched_file *find(const struct watched_files *files, const char *path)
{
    return files->count > 0
               ? bsearch(path, files->items, files->count, sizeof(*files->items), by_path)
               : NULL;
}

static tapml_status insert(struct watched_files *files, const struct watched_file *file)
{
    void *grown = files->items;

    if (!alloc_grow(&grown, &files->capacity, files->count, sizeof(*files->items))) {
        return status_no_memory();
    }
    files->items = grown;
    size_t at = files->count;

    while (at > 0 && by_path(file->path, &files->items[at - 1]) < 0) {
        at--;
    }
    memmove(&files->items[at + 1], &files->items[at], (files->count - at) * sizeof(*file));
    files->items[at] = *file;
    files->count++;
    return TAPML_OK;
}

// Takes a file, whose path is freed if there is one of that path already.
static tapml_status take(struct watched_files *files, const struct watched_file *file)
{
    if (find(files, file->path) != NULL) {
        alloc_free(file->path);
        return TAPML_OK;
    }
    const tapml_status status = insert(files, file);

    if (status != TAPML_OK) {
        alloc_free(file->path);
    }
    return status;
}

static int64_t in_ns(struct timespec time)
{
    return (int64_t)time.tv_sec * (int64_t)SECOND_NS + time.tv_nsec;
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec now = {.tv_sec = 0};

    (void)clock_gettime(clock, &now); // Cannot fail.
    return in_ns(now);
}

// Times of files are those of the coarse clock, or finer ones.
void watched_files_begin(struct watched_files *files)
{
    ASSERT(files->count == 0);
    files->begun_ns = read_clock(CLOCK_REALTIME_COARSE);
}

// A time that is still to come is another machine's.
static int has_changed_since(int64_t begun_ns, const struct stat *about)
{
    const int64_t changed_ns = in_ns(about->st_ctim);

    return begun_ns != 0 && changed_ns >= begun_ns && changed_ns <= read_clock(CLOCK_REALTIME);
}

// Sets what the system says of a file; see watched_files_begin.
static void look_at(struct watched_file *file, int64_t begun_ns)
{
    struct stat about;

    if (stat(file->path, &about) == 0) {
        file->size = S_ISDIR(about.st_mode) ? 0 : (int64_t)about.st_size;
        file->changed_ns = has_changed_since(begun_ns, &about) ? 0 : in_ns(about.st_mtim);
        file->inode = (uint64_t)about.st_ino;
    }
}

tapml_status watched_files_add(struct watched_files *files, const char *path)
{
    struct watched_file file = {.size = 0};

    if (strchr(path, '\n') != NULL) {
        return TAPML_OK;
    }
    file.path = alloc_text(path);
    if (file.path == NULL) {
        return status_no_memory();
    }
    look_at(&file, files->begun_ns);
    return take(files, &file);
}

// Magic letters in the name of the folder are letters.
static tapml_status append_pattern(const char *folder, const char *pattern, struct text *out)
{
    for (const char *at = folder; *at != '\0'; at++) {
        text_append(out, strchr("*?[]\\", *at) != NULL ? "\\" : "");
        text_append_bytes(out, at, 1);
    }
    text_format(out, "/%s", pattern);
    return text_status(out);
}

tapml_status
watched_files_add_all(struct watched_files *files, const char *folder, const char *pattern)
{
    struct text text;
    glob_t found = {0};

    text_init(&text);
    tapml_status status = append_pattern(folder, pattern, &text);

    if (status == TAPML_OK && glob(text.data, 0, NULL, &found) == 0) {
        for (size_t i = 0; status == TAPML_OK && i < found.gl_pathc; i++) {
            status = file_is_folder(found.gl_pathv[i])
                         ? TAPML_OK
                         : watched_files_add(files, found.gl_pathv[i]);
        }
        globfree(&found);
    }
    text_release(&text);
    return status;
}

void watched_files_release(struct watched_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        alloc_free(files->items[i].path);
    }
    alloc_free(files->items);
    *files = (struct watched_files){.count = 0};
}

// -- As a text ---------------------------------------------------------------------------------

void watched_files_print(const struct watched_files *files, struct text *out)
{
    for (size_t i = 0; i < files->count; i++) {
        const struct watched_file *file = &files->items[i];

        text_format(out, "%" PRId64 " %" PRId64 " %" PRIu64 " %s\n", file->size, file->changed_ns,
                    file->inode, file->path);
    }
}

static tapml_status read_line(const char *line, size_t length, struct watched_files *files)
{
    struct watched_file file = {.size = 0};
    int begin = 0;
    char *copy = alloc_raw(length + 1);

    if (copy == NULL) {
        return status_no_memory();
    }
    memcpy(copy, line, length);
    copy[length] = '\0';
    const int read = sscanf(copy, "%" SCNd64 " %" SCNd64 " %" SCNu64 " %n", &file.size,
                            &file.changed_ns, &file.inode, &begin);

    const int is_line = read == 3 && begin > 0 && copy[begin] != '\0';

    file.path = is_line ? alloc_text(copy + begin) : NULL;
    alloc_free(copy);
    if (is_line && file.path == NULL) {
        return status_no_memory();
    }
    return is_line ? take(files, &file) : TAPML_OK;
}

tapml_status watched_files_read(const char *text, struct watched_files *out_files)
{
    struct watched_files files = {.count = 0};
    tapml_status status = TAPML_OK;

    while (status == TAPML_OK && *text != '\0') {
        const size_t length = strcspn(text, "\n");

        status = read_line(text, length, &files);
        text += length + (text[length] == '\n');
    }
    if (status != TAPML_OK) {
        watched_files_release(&files);
        return status;
    }
    *out_files = files;
    return TAPML_OK;
}

// -- Comparing ---------------------------------------------------------------------------------

static const char *name_of(const char *path)
{
    const char *name = strrchr(path, '/');

    return name != NULL && name[1] != '\0' ? name + 1 : path;
}

static int is_there(const struct watched_file *file)
{
    return file != NULL && file->inode != 0;
}

static int is_other(const struct watched_file *before, const struct watched_file *now)
{
    if (!is_there(before) || !is_there(now)) {
        return is_there(before) || is_there(now);
    }
    return before->size != now->size || before->changed_ns != now->changed_ns ||
           before->inode != now->inode;
}

void watched_files_visit(const struct watched_files *before,
                         const struct watched_files *now,
                         watched_files_fn see,
                         void *user)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct watched_file *file = &now->items[i], *old = find(before, file->path);

        if (is_other(old, file)) {
            see(user, file->path, is_there(old), is_there(file));
        }
    }
    for (size_t i = 0; i < before->count; i++) {
        const struct watched_file *file = &before->items[i];

        if (find(now, file->path) == NULL && is_there(file)) {
            see(user, file->path, 1, 0);
        }
    }
}

struct telling {
    struct text *out;
    size_t count;
};

static void tell(void *user, const char *path, int was_there, int is_there)
{
    struct telling *telling = user;

    text_format(telling->out, "%s%s%s", telling->out->length > 0 ? ", " : "", name_of(path),
                !was_there  ? " is new"
                : !is_there ? " is gone"
                            : " changed");
    telling->count++;
}

size_t watched_files_compare(const struct watched_files *before,
                             const struct watched_files *now,
                             struct text *out)
{
    struct telling telling = {.out = out};

    watched_files_visit(before, now, tell, &telling);
    return telling.count;
}

// -- Waiting -----------------------------------------------------------------------------------

struct waiting {
    const struct watched_files *files;
    int *watches; // The watch of the folder of each file, or -1.
    int inotify;
};

// What writes, replaces, makes or removes a file. A folder is watched, since a file that is
// replaced by another one takes its own watch along.
static void watch_folders(struct waiting *waiting)
{
    const uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE |
                            IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;

    for (size_t i = 0; i < waiting->files->count; i++) {
        char *folder = file_folder(waiting->files->items[i].path);

        waiting->watches[i] =
            folder != NULL ? inotify_add_watch(waiting->inotify, folder, events) : -1;
        alloc_free(folder);
    }
}

static int is_of_list(const struct waiting *waiting, const struct inotify_event *event)
{
    if (event->mask & (IN_Q_OVERFLOW | IN_DELETE_SELF | IN_MOVE_SELF)) {
        return 1;
    }
    ASSERT(waiting->watches != NULL); // Without them nothing is waited for.
    for (size_t i = 0; event->len > 0 && i < waiting->files->count; i++) {
        if (waiting->watches[i] == event->wd &&
            strcmp(name_of(waiting->files->items[i].path), event->name) == 0) {
            return 1;
        }
    }
    return 0;
}

// What has changed since the list was made sends no event.
static int has_changed(const struct watched_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct watched_file now = {.path = files->items[i].path};

        look_at(&now, 0);
        if (is_other(&files->items[i], &now)) {
            return 1;
        }
    }
    return 0;
}

// Whether one of the events that have come is of a file of the list.
static int read_events(const struct waiting *waiting)
{
    _Alignas(struct inotify_event) char bytes[EVENTS_BYTES];
    const ssize_t size = read(waiting->inotify, bytes, sizeof(bytes));
    int is_one = 0;

    for (ssize_t at = 0; at + (ssize_t)sizeof(struct inotify_event) <= size;) {
        const struct inotify_event *event = (const struct inotify_event *)(bytes + at);

        is_one = is_one || is_of_list(waiting, event);
        at += (ssize_t)(sizeof(*event) + event->len);
    }
    return is_one;
}

// Waits for events until a time.
static void wait_until(const struct waiting *waiting,
                       uint64_t end_ns,
                       const sigset_t *mask,
                       int (*is_over)(void))
{
    const uint64_t most_ns = (uint64_t)(QUIET_MOST_S * SECOND_NS);
    uint64_t last_ns = 0;

    for (uint64_t now_ns = clock_now_ns(); now_ns < end_ns && !is_over(); now_ns = clock_now_ns()) {
        struct pollfd end = {.fd = waiting->inotify, .events = POLLIN};
        const uint64_t left_ns = end_ns - now_ns;
        const struct timespec left = {.tv_sec = (time_t)(left_ns / (uint64_t)SECOND_NS),
                                      .tv_nsec = (long)(left_ns % (uint64_t)SECOND_NS)};
        const int count = ppoll(&end, 1, &left, mask);

        if (count > 0 && read_events(waiting)) {
            now_ns = clock_now_ns();
            last_ns = last_ns == 0 ? now_ns + most_ns : last_ns;
            const uint64_t quiet_ns = now_ns + (uint64_t)(QUIET_S * SECOND_NS);

            end_ns = quiet_ns < last_ns ? quiet_ns : last_ns;
        } else if (count < 0 && errno != EINTR) {
            return;
        }
    }
}

void watched_files_wait(const struct watched_files *files,
                        double seconds,
                        const void *mask,
                        int (*is_over)(void))
{
    struct waiting waiting = {.files = files,
                              .watches = alloc_array(files->count + 1, sizeof(int)),
                              .inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    const uint64_t end_ns = clock_now_ns() + (uint64_t)(fmax(seconds, 0) * SECOND_NS);

    if (waiting.watches != NULL && waiting.inotify >= 0) {
        watch_folders(&waiting);
    }
    if (!has_changed(files)) {
        wait_until(&waiting, end_ns, mask, is_over); // poll skips a descriptor below 0.
    }
    if (waiting.inotify >= 0) {
        (void)close(waiting.inotify);
    }
    alloc_free(waiting.watches);
}
