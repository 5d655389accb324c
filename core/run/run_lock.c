// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/run_lock.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json_file.h"
#include "base/text.h"
#include "run/interrupt.h"
#include "run/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The file has always this size, padded with blanks: rewriting it needs no room.
enum { TEXT_BYTES = 8192, TIME_TEXT = 32 };

struct run_lock {
    int descriptor;
    char *path;
    struct run_lock_state state; // As it was written last.
    // As it is written if the host is interrupted and has to end within a step. The one that is
    // set is not the one that is changed.
    struct {
        char page[TEXT_BYTES];
        struct interrupt_farewell words;
    } farewells[2];
    int farewell; // The one that is set.
};

// -- Locks and text ----------------------------------------------------------------------------

// Of the whole file, for one writer. It belongs to the process: children do not inherit it.
static struct flock whole_file(void)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
}

static void print_time(int64_t seconds, char out[TIME_TEXT])
{
    const time_t when = (time_t)seconds;
    struct tm parts = {0};

    (void)localtime_r(&when, &parts);
    if (strftime(out, TIME_TEXT, "%Y-%m-%d %H:%M:%S", &parts) == 0) {
        out[0] = '\0';
    }
}

static void print_state(const struct run_lock_state *state, struct text *text)
{
    text_format(text, "{\"process\": %" PRId64 ", \"machine\": ", state->process);
    text_append_json(text, state->machine);
    text_format(text,
                ", \"since\": %" PRId64 ", \"told\": %" PRId64 ",\n \"phase\": ", state->since_s,
                state->published_s);
    text_append_json(text, state->phase);
    text_append(text, ", \"unit\": ");
    text_append_json(text, state->unit);
    text_format(text, ", \"done\": %" PRId64 ", \"all\": %" PRId64, state->done, state->all);
    if (!isnan(state->left_s)) {
        text_format(text, ", \"left_s\": %.3f", state->left_s);
    }
    if (state->has_ended) {
        text_format(text, ",\n \"exit\": %" PRId64 ", \"message\": ", state->exit_code);
        text_append_json(text, state->message);
    }
    text_append(text, "}\n");
}

// If a write is short, the next one fails with the reason.
static int write_page(int descriptor, const char page[TEXT_BYTES])
{
    ssize_t done = 0;

    for (ssize_t size = 1; done < TEXT_BYTES && size > 0; done += size > 0 ? size : 0) {
        size = pwrite(descriptor, page + done, (size_t)(TEXT_BYTES - done), done);
    }
    return done == TEXT_BYTES;
}

static int print_page(const struct run_lock_state *state, char page[TEXT_BYTES])
{
    struct text text;

    text_init(&text);
    print_state(state, &text);
    const int fits = text_status(&text) == TAPML_OK && text.length <= TEXT_BYTES;

    if (fits) {
        memset(page, ' ', TEXT_BYTES);
        memcpy(page, text.data, text.length);
        page[TEXT_BYTES - 1] = '\n';
    }
    text_release(&text);
    return fits;
}

static void set_end(struct run_lock_state *state, int exit_code, const char *message)
{
    state->has_ended = 1;
    state->exit_code = exit_code;
    state->left_s = NAN;
    (void)snprintf(state->message, sizeof(state->message), "%s", message);
}

// The same state with an interruption as its end.
static void set_farewell(struct run_lock *lock)
{
    const int next = !lock->farewell;
    struct run_lock_state state = lock->state;

    if (!state.has_ended) {
        set_end(&state, OUTCOME_INTERRUPTED, interrupt_sentence());
    }
    if (print_page(&state, lock->farewells[next].page)) {
        lock->farewells[next].words =
            (struct interrupt_farewell){.descriptor = lock->descriptor,
                                        .bytes = lock->farewells[next].page,
                                        .size = sizeof(lock->farewells[next].page)};
        interrupt_set_farewell(&lock->farewells[next].words);
        lock->farewell = next;
    }
}

// In one write, which a reader sees whole or not at all on the usual file systems.
static int write_state(struct run_lock *lock)
{
    char page[TEXT_BYTES];

    lock->state.published_s = clock_wall_s();
    const int fits = print_page(&lock->state, page);

    set_farewell(lock);
    errno = ENOMEM;
    return fits && write_page(lock->descriptor, page);
}

// -- Taking ------------------------------------------------------------------------------------

static tapml_status report_holder(const char *folder)
{
    struct run_lock_state state;
    char since[TIME_TEXT];

    TAPML_TRY(run_lock_read(folder, &state));
    print_time(state.since_s, since);
    return status_fail(TAPML_UNAVAILABLE,
                       "another host works in '%s': process %" PRId64
                       " on '%s', since %s; wait for "
                       "it, or end it",
                       folder, state.process, state.machine, since);
}

static tapml_status lock_folder(struct run_lock *lock, const char *folder)
{
    struct flock all = whole_file();

    lock->descriptor =
        open(lock->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (lock->descriptor < 0) {
        const int is_forbidden = errno == EACCES || errno == EPERM; // As of any other file.

        return status_fail(
            is_forbidden ? TAPML_INVALID : TAPML_UNAVAILABLE, "cannot open '%s': %s", lock->path,
            errno == ELOOP ? "it is a link, and links are not followed" : strerror(errno));
    }
    if (fcntl(lock->descriptor, F_SETLK, &all) == 0) {
        return TAPML_OK;
    }
    return errno == EACCES || errno == EAGAIN
               ? report_holder(folder)
               : status_fail(TAPML_UNAVAILABLE, "cannot lock '%s': %s", lock->path,
                             strerror(errno));
}

static tapml_status write_first(struct run_lock *lock)
{
    char why[FILE_WHY_TEXT] = "";

    lock->state = (struct run_lock_state){
        .process = (int64_t)getpid(), .since_s = clock_wall_s(), .left_s = NAN};
    if (gethostname(lock->state.machine, sizeof(lock->state.machine) - 1) != 0) {
        lock->state.machine[0] = '\0'; // It has none.
    }
    if (write_state(lock)) {
        return TAPML_OK;
    }
    const int error = errno;

    return status_fail(TAPML_UNAVAILABLE, "cannot write '%s' of %d bytes: %s", lock->path,
                       TEXT_BYTES, file_is_full(error, lock->path, why) ? why : strerror(error));
}

tapml_status run_lock_take(const char *folder, struct run_lock **out_lock)
{
    struct run_lock *lock = alloc_new(sizeof(*lock));

    if (lock == NULL) {
        return status_no_memory();
    }
    lock->descriptor = -1;
    lock->path = file_join(folder, "run.lock");
    tapml_status status = lock->path != NULL ? lock_folder(lock, folder) : status_no_memory();

    if (status == TAPML_OK) {
        status = write_first(lock);
    }
    if (status != TAPML_OK) {
        run_lock_release(lock);
        return status;
    }
    *out_lock = lock;
    return TAPML_OK;
}

void run_lock_release(struct run_lock *lock)
{
    if (lock == NULL) {
        return;
    }
    interrupt_drop_farewell(&lock->farewells[0].words); // That of another lock stays.
    interrupt_drop_farewell(&lock->farewells[1].words);
    if (lock->descriptor >= 0) {
        (void)close(lock->descriptor); // Which gives the lock back.
    }
    alloc_free(lock->path);
    alloc_free(lock);
}

void run_lock_publish(struct run_lock *lock, const struct run_lock_phase *phase)
{
    if (lock == NULL) {
        return;
    }
    struct run_lock_state *state = &lock->state;

    (void)snprintf(state->phase, sizeof(state->phase), "%s", phase->name);
    (void)snprintf(state->unit, sizeof(state->unit), "%s", phase->unit);
    state->done = (int64_t)phase->done;
    state->all = (int64_t)phase->all;
    state->left_s = phase->left_s;
    (void)write_state(lock); // News, not a result.
}

void run_lock_end(struct run_lock *lock, int exit_code, const char *message)
{
    if (lock == NULL) {
        return;
    }
    if (exit_code == OUTCOME_OK || exit_code == OUTCOME_WRONG) {
        run_lock_publish(lock, &(struct run_lock_phase){.name = "", .unit = "", .left_s = NAN});
    }
    set_end(&lock->state, exit_code, message);
    (void)write_state(lock); // The exit code says it too.
}

// -- Reading -----------------------------------------------------------------------------------

static int64_t number_of(const json_t *root, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(root, key));
}

static void copy_text(const json_t *root, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(root, key));

    (void)snprintf(out, size, "%s", text != NULL ? text : "");
}

static void parse(const json_t *root, struct run_lock_state *state)
{
    const json_t *left = json_object_get(root, "left_s");

    state->has_text = json_is_object(root);
    state->process = number_of(root, "process");
    state->since_s = number_of(root, "since");
    state->published_s = number_of(root, "told");
    state->done = number_of(root, "done");
    state->all = number_of(root, "all");
    state->left_s = json_is_number(left) ? json_number_value(left) : NAN;
    state->has_ended = json_object_get(root, "exit") != NULL;
    state->exit_code = number_of(root, "exit");
    copy_text(root, "machine", state->machine, sizeof(state->machine));
    copy_text(root, "phase", state->phase, sizeof(state->phase));
    copy_text(root, "unit", state->unit, sizeof(state->unit));
    copy_text(root, "message", state->message, sizeof(state->message));
}

static void read_opened(int descriptor, const char *path, struct run_lock_state *state)
{
    char page[TEXT_BYTES];
    json_t *root = NULL;
    struct flock all = whole_file();
    const ssize_t size = pread(descriptor, page, sizeof(page), 0);

    // Between taking and writing, the text is still the one of the host before.
    if (size > 0 && json_file_parse(path, page, (size_t)size, &root) == TAPML_OK) {
        parse(root, state);
        json_decref(root);
    }
    state->is_held = fcntl(descriptor, F_GETLK, &all) == 0 && all.l_type != F_UNLCK;
    if (state->is_held && all.l_pid > 0) { // 0 where the holder is out of sight: in a container.
        state->process = all.l_pid;
    }
}

tapml_status run_lock_read(const char *folder, struct run_lock_state *out_state)
{
    char *path = file_join(folder, "run.lock");

    if (path == NULL) {
        return status_no_memory();
    }
    *out_state = (struct run_lock_state){.left_s = NAN};
    const int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (descriptor >= 0) {
        read_opened(descriptor, path, out_state);
        (void)close(descriptor); // Nothing was written.
    }
    alloc_free(path);
    return TAPML_OK;
}
