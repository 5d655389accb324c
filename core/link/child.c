// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/child.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "base/text.h"
#include "link/socket.h"
#include "link/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SLICE_MS = 20,        // Between two looks at the child while nothing comes.
    LOOK_NS = 100000000,  // And at its memory while much does.
    END_MS = 3000,        // A child whose socket is closed is given so long to end by itself,
    CLOSE_MS = 5000,      // and one that was asked to, or whose work is done.
    HIGH_DESCRIPTOR = 64, // Out of the way of those that the child gets.
    WORDS_BYTES = 4096,
    SHOWN_LINES = 10,
    SHOWN_BYTES = 1024,
    OUTPUT_BYTES_MAX = 1 << 22
};

// A process and what it says to people.
struct life {
    pid_t process; // 0: none.
    int words_end; // Of the pipe of its error stream; -1: none.
    char words[WORDS_BYTES];
    size_t words_size;
    int is_silent;
    int was_killed; // By SIGKILL, which this process has not sent.
    uint64_t bytes; // Of its own memory, when they were looked at last.
    char ending[256];
};

struct child {
    struct channel channel; // First.
    struct life life;
    int socket;
    struct socket_inbox inbox;
    char *program;
    uint64_t memory_bytes;
    struct worker_limits limits;
    uint64_t looked_ns;
    char shown[SHOWN_BYTES];
};

static struct child *own(struct channel *channel)
{
    return (struct child *)channel;
}

static void close_end(int *descriptor)
{
    if (*descriptor >= 0) {
        close(*descriptor);
        *descriptor = -1;
    }
}

// -- Starting ----------------------------------------------------------------------------------

// Descriptors that the child gets as its own 1, 2 and (-1: none) CHILD_SOCKET.
struct inheritance {
    int output, errors, socket;
};

static int add_actions(posix_spawn_file_actions_t *actions, const struct inheritance *given)
{
    return posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0) == 0 &&
           posix_spawn_file_actions_adddup2(actions, given->output, 1) == 0 &&
           posix_spawn_file_actions_adddup2(actions, given->errors, 2) == 0 &&
           (given->socket < 0 ||
            posix_spawn_file_actions_adddup2(actions, given->socket, CHILD_SOCKET) == 0) &&
           posix_spawn_file_actions_addclosefrom_np(
               actions, given->socket < 0 ? CHILD_SOCKET : CHILD_SOCKET + 1) == 0;
}

// A session of its own, no signal blocked or ignored.
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    return posix_spawnattr_setsigmask(attributes, &none) == 0 &&
           posix_spawnattr_setsigdefault(attributes, &all) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF) == 0;
}

static tapml_status
spawn(const char *const *arguments, const struct inheritance *given, pid_t *out_process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (posix_spawn_file_actions_init(&actions) != 0) {
        return status_no_memory();
    }
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return status_no_memory();
    }
    int failure = ENOMEM;
    if (add_actions(&actions, given) && set_attributes(&attributes)) {
        // The interface has no const for what it does not change.
        failure = posix_spawn(out_process, arguments[0], &actions, &attributes,
                              (char *const *)(uintptr_t)arguments, environ);
    }
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failure == 0 ? TAPML_OK
                        : status_fail(TAPML_UNAVAILABLE, "'%s' cannot be started: %s", arguments[0],
                                      strerror(failure));
}

// A pair of connected descriptors, both out of the way and closed in every child.
static tapml_status open_pair(int is_socket, int out_ends[2])
{
    int ends[2] = {-1, -1};
    const int failed = is_socket ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
                                 : pipe2(ends, O_CLOEXEC);
    for (int i = 0; i < 2; i++) {
        out_ends[i] = failed ? -1 : fcntl(ends[i], F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
        close_end(&ends[i]);
    }
    if (out_ends[0] >= 0 && out_ends[1] >= 0) {
        return TAPML_OK;
    }
    const int error = errno;
    char why[DESCRIPTORS_WHY_TEXT];
    close_end(&out_ends[0]);
    close_end(&out_ends[1]);
    return status_fail(TAPML_UNAVAILABLE, "no descriptors for a worker: %s",
                       descriptors_why(error, why));
}

// -- Listening to its words --------------------------------------------------------------------

static void keep_words(struct life *life, const char *words, size_t size)
{
    if (size > WORDS_BYTES / 2) {
        words += size - WORDS_BYTES / 2;
        size = WORDS_BYTES / 2;
    }
    if (life->words_size + size > WORDS_BYTES) {
        const size_t kept = WORDS_BYTES / 2;
        memmove(life->words, life->words + life->words_size - kept, kept);
        life->words_size = kept;
    }
    memcpy(life->words + life->words_size, words, size);
    life->words_size += size;
}

// Takes in what is there, without waiting.
static void listen_to(struct life *life)
{
    char piece[1024];
    ssize_t size = 0;
    while (life->words_end >= 0 && (size = read(life->words_end, piece, sizeof(piece))) > 0) {
        if (!life->is_silent) {
            log_words(piece, (size_t)size);
        }
        keep_words(life, piece, (size_t)size);
    }
    if (size == 0) {
        close_end(&life->words_end);
    }
}

// The last lines, one behind the other.
static void show_words(const struct life *life, char *out_text, size_t text_size)
{
    size_t end = life->words_size;
    while (end > 0 && life->words[end - 1] == '\n') {
        end--;
    }
    size_t begin = end;
    for (int lines = 0; begin > 0 && end - begin < text_size / 2; begin--) {
        lines += life->words[begin - 1] == '\n';
        if (lines == SHOWN_LINES) {
            break;
        }
    }
    size_t used = 0;
    for (size_t i = begin; i < end && used + 4 < text_size; i++) {
        const unsigned char letter = (unsigned char)life->words[i];
        if (letter == '\n') {
            memcpy(out_text + used, " | ", 3);
            used += 3;
        } else {
            out_text[used++] = letter < ' ' || letter == 127 ? '?' : (char)letter;
        }
    }
    out_text[used] = '\0';
}

// -- Its end -----------------------------------------------------------------------------------

static void describe_end(struct life *life, const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED) {
        (void)snprintf(life->ending, sizeof(life->ending), "ended with exit status %d",
                       info->si_status);
        return;
    }
    const char *name = sigabbrev_np(info->si_status);
    life->was_killed = info->si_status == SIGKILL;
    if (life->was_killed) {
        (void)snprintf(
            life->ending, sizeof(life->ending),
            "was killed by SIGKILL, which this host did not send (its own memory was %llu"
            " MiB)",
            (unsigned long long)(life->bytes >> 20));
    } else if (name) {
        (void)snprintf(life->ending, sizeof(life->ending), "was killed by SIG%s", name);
    } else {
        (void)snprintf(life->ending, sizeof(life->ending), "was killed by signal %d",
                       info->si_status);
    }
}

// Whether it has ended within `wait_ms`; it is still to be reaped.
static int has_ended(struct life *life, int wait_ms, siginfo_t *out_info)
{
    for (int waited = 0;; waited++) {
        memset(out_info, 0, sizeof(*out_info));
        if (waitid(P_PID, (id_t)life->process, out_info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            out_info->si_pid != 0) {
            return 1;
        }
        if (waited == wait_ms) {
            return 0;
        }
        listen_to(life);
        (void)poll(NULL, 0, 1);
    }
}

// Gives it `wait_ms` to end by itself, then ends it, and in any case all that it started. `ending`
// says how it ended, unless that is known already.
static void bury(struct life *life, int wait_ms, const char *otherwise)
{
    siginfo_t info;
    if (life->process == 0) {
        return;
    }
    const int is_over = has_ended(life, wait_ms, &info);
    if (life->ending[0] == '\0' && is_over) {
        describe_end(life, &info);
    } else if (life->ending[0] == '\0') {
        (void)snprintf(life->ending, sizeof(life->ending), "%s", otherwise);
    }
    if (!is_over && kill(life->process, SIGTERM) == 0) {
        (void)has_ended(life, END_MS, &info); // A supervisor ends all that is below it.
    }
    (void)kill(-life->process, SIGKILL); // The group is there as long as it is not reaped.
    (void)kill(life->process, SIGKILL);
    while (waitpid(life->process, NULL, 0) < 0 && errno == EINTR) {
        // Asked again.
    }
    life->process = 0;
    listen_to(life);
    close_end(&life->words_end);
}

// -- The channel -------------------------------------------------------------------------------

static void end_child(struct child *child, int wait_ms)
{
    bury(&child->life, wait_ms, "closed its end of the wire");
    close_end(&child->socket);
    socket_inbox_release(&child->inbox);
}

static void child_stop(struct channel *channel)
{
    end_child(own(channel), 0);
}

static void child_release(struct channel *channel)
{
    struct child *child = own(channel);
    if (child->socket >= 0) {
        (void)shutdown(child->socket, SHUT_WR);
    }
    end_child(child, CLOSE_MS);
    alloc_free(child->program);
    alloc_free(child);
}

static tapml_status start(struct child *child, int sockets[2], int pipes[2])
{
    const struct worker_limits *limits = &child->limits;
    char parent[32], files[32], processes[32], cpu[32];
    (void)snprintf(parent, sizeof(parent), "%ld", (long)getpid());
    (void)snprintf(files, sizeof(files), "%lld", (long long)limits->files);
    (void)snprintf(processes, sizeof(processes), "%lld", (long long)limits->processes);
    (void)snprintf(cpu, sizeof(cpu), "%lld", (long long)limits->cpu_s);
    const char *const arguments[] = {child->program,
                                     "--under",
                                     parent,
                                     "--serve",
                                     "--limit-files",
                                     files,
                                     "--limit-processes",
                                     processes,
                                     "--limit-cpu",
                                     cpu,
                                     NULL};
    TAPML_TRY(open_pair(1, sockets));
    TAPML_TRY(open_pair(0, pipes));
    TAPML_TRY(spawn(arguments, &(struct inheritance){pipes[1], pipes[1], sockets[1]},
                    &child->life.process));
    child->socket = sockets[0];
    child->life.words_end = pipes[0];
    socket_set_timeout(child->socket, SLICE_MS);
    (void)fcntl(child->life.words_end, F_SETFL, O_NONBLOCK);
    sockets[0] = pipes[0] = -1;
    return TAPML_OK;
}

static tapml_status child_start(struct channel *channel)
{
    struct child *child = own(channel);
    int sockets[2] = {-1, -1}, pipes[2] = {-1, -1};
    end_child(child, 0);
    child->life.ending[0] = '\0';
    child->life.words_size = 0;
    child->life.was_killed = 0;
    child->life.bytes = 0;
    const tapml_status status = start(child, sockets, pipes);
    for (int i = 0; i < 2; i++) {
        close_end(&sockets[i]);
        close_end(&pipes[i]);
    }
    return status;
}

// The other side is gone: says how.
static tapml_status report_end(struct child *child)
{
    end_child(child, END_MS);
    return status_fail(TAPML_UNAVAILABLE, "%s", child->life.ending);
}

static tapml_status
child_send(struct channel *channel, const void *bytes, size_t size, int descriptor)
{
    struct child *child = own(channel);
    if (child->socket < 0 || socket_send(child->socket, bytes, size, descriptor) != TAPML_OK) {
        return report_end(child);
    }
    return TAPML_OK;
}

// Bytes that are the process's alone: resident, and not shared.
static uint64_t private_bytes(long process)
{
    char path[64], text[128];
    unsigned long long all = 0, resident = 0, common = 0;
    (void)snprintf(path, sizeof(path), "/proc/%ld/statm", process);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
    if (file >= 0) {
        close(file);
    }
    text[size > 0 ? size : 0] = '\0';
    if (sscanf(text, "%llu %llu %llu", &all, &resident, &common) != 3 || resident < common) {
        return 0;
    }
    return (resident - common) * (uint64_t)sysconf(_SC_PAGESIZE);
}

// TAPML_UNAVAILABLE where it takes more memory than it may, and was ended.
static tapml_status look_at(struct child *child)
{
    child->looked_ns = clock_now_ns();
    const uint64_t bytes = private_bytes(supervisor_watched(child->life.process));
    child->life.bytes = bytes > 0 ? bytes : child->life.bytes; // 0: it has just ended.
    if (child->memory_bytes == 0 || bytes <= child->memory_bytes) {
        return TAPML_OK;
    }
    (void)snprintf(child->life.ending, sizeof(child->life.ending),
                   "took %llu MiB of memory, may take %llu, and was ended",
                   (unsigned long long)(bytes >> 20),
                   (unsigned long long)(child->memory_bytes >> 20));
    end_child(child, 0);
    return status_fail(TAPML_UNAVAILABLE, "%s", child->life.ending);
}

// Waits for a slice. Takes in what has come.
static tapml_status attend(struct child *child)
{
    const tapml_status status = socket_receive(child->socket, &child->inbox);
    if (status == TAPML_OK) {
        return clock_now_ns() - child->looked_ns > LOOK_NS ? look_at(child) : TAPML_OK;
    }
    if (status != TAPML_DEADLINE) {
        return report_end(child);
    }
    listen_to(&child->life);
    return look_at(child);
}

static int is_readable(const struct child *child)
{
    struct pollfd end = {.fd = child->socket, .events = POLLIN};
    return poll(&end, 1, 0) == 1;
}

// Looks at the child without waiting.
static tapml_status glance(struct child *child)
{
    listen_to(&child->life);
    return clock_now_ns() - child->looked_ns > LOOK_NS ? look_at(child) : TAPML_OK;
}

int child_socket(const struct channel *channel)
{
    return ((const struct child *)channel)->socket;
}

static tapml_status
child_receive(struct channel *channel, uint64_t timeout_ns, struct wire_frame *out_frame)
{
    struct child *child = own(channel);
    const uint64_t begin_ns = clock_now_ns();
    for (;;) {
        char sentence[128];
        if (child->socket < 0) {
            return report_end(child);
        }
        const enum wire_result result = socket_next(&child->inbox, out_frame);
        if (result == WIRE_FRAME) {
            return TAPML_OK;
        }
        if (result != WIRE_MORE) {
            wire_explain(result, out_frame, sentence, sizeof(sentence));
            end_child(child, 0);
            return status_fail(TAPML_UNAVAILABLE, "cannot be understood: %s", sentence);
        }
        if (timeout_ns == 0 ? !is_readable(child) : clock_now_ns() - begin_ns >= timeout_ns) {
            TAPML_TRY(timeout_ns == 0 ? glance(child) : TAPML_OK);
            return status_fail(TAPML_DEADLINE, "did not answer in time");
        }
        TAPML_TRY(attend(child));
    }
}

static const char *child_last_words(struct channel *channel)
{
    struct child *child = own(channel);
    show_words(&child->life, child->shown, sizeof(child->shown));
    return child->shown;
}

static int child_was_killed(const struct channel *channel)
{
    return ((const struct child *)channel)->life.was_killed;
}

static const struct channel_vt child_vt = {
    .release = child_release,
    .start = child_start,
    .send = child_send,
    .receive = child_receive,
    .stop = child_stop,
    .last_words = child_last_words,
    .was_killed = child_was_killed,
};

tapml_status child_create(const struct child_options *options, struct channel **out_channel)
{
    struct child *child = alloc_new(sizeof(*child));
    char *program = alloc_text(options->program);
    if (!child || !program) {
        alloc_free(child);
        alloc_free(program);
        return status_no_memory();
    }
    child->channel.vt = &child_vt;
    child->program = program;
    child->memory_bytes = options->memory_bytes;
    child->limits = options->limits;
    child->life.is_silent = options->is_silent;
    child->life.words_end = child->socket = -1;
    *out_channel = &child->channel;
    return TAPML_OK;
}

// -- Any program -------------------------------------------------------------------------------

struct child_running {
    struct life life;
    int output; // The end of the pipe of its standard output.
    struct text text;
};

// Reads until both pipes are at their ends or the time is over. Returns whether it is.
static int attend_running(struct child_running *running, uint64_t end_ns)
{
    char piece[4096];
    while (running->output >= 0) {
        struct pollfd ends[] = {{.fd = running->output, .events = POLLIN},
                                {.fd = running->life.words_end, .events = POLLIN}};
        if (clock_now_ns() >= end_ns) {
            return 1;
        }
        (void)poll(ends, 2, SLICE_MS);
        if (ends[1].revents != 0) {
            listen_to(&running->life);
        }
        const ssize_t size =
            ends[0].revents != 0 ? read(running->output, piece, sizeof(piece)) : -1;
        if (size > 0 && running->text.length < OUTPUT_BYTES_MAX) {
            text_append_bytes(&running->text, piece, (size_t)size);
        }
        if (size == 0) {
            close_end(&running->output);
        }
    }
    return 0;
}

static tapml_status begin_running(const char *const *arguments, struct child_running *running)
{
    int outputs[2] = {-1, -1}, errors[2] = {-1, -1};
    tapml_status status = open_pair(0, outputs);
    if (status == TAPML_OK) {
        status = open_pair(0, errors);
    }
    if (status == TAPML_OK) {
        status = spawn(arguments, &(struct inheritance){outputs[1], errors[1], -1},
                       &running->life.process);
    }
    running->output = outputs[0];
    running->life.words_end = errors[0];
    close_end(&outputs[1]);
    close_end(&errors[1]);
    if (status == TAPML_OK) {
        (void)fcntl(running->life.words_end, F_SETFL, O_NONBLOCK);
    }
    return status;
}

tapml_status
child_run(const char *const *arguments, uint64_t timeout_ns, struct child_output *out_output)
{
    struct child_running running = {.life = {.words_end = -1, .is_silent = 1}, .output = -1};
    const uint64_t end_ns = clock_now_ns() + timeout_ns;
    text_init(&running.text);
    tapml_status status = begin_running(arguments, &running);
    memset(out_output, 0, sizeof(*out_output));
    if (status == TAPML_OK) {
        const int is_late = attend_running(&running, end_ns);
        char late[64] = "closed its output and did not end";
        if (is_late) {
            (void)snprintf(late, sizeof(late), "did not end within %.3g s",
                           (double)timeout_ns / 1e9);
        }
        bury(&running.life, is_late ? 0 : CLOSE_MS, late);
        show_words(&running.life, out_output->last_words, sizeof(out_output->last_words));
        out_output->was_killed = running.life.was_killed;
        out_output->was_late = is_late;
        if (strcmp(running.life.ending, "ended with exit status 0") != 0) {
            memcpy(out_output->ending, running.life.ending, sizeof(out_output->ending));
        }
        out_output->text = alloc_text(running.text.data);
        status = out_output->text ? text_status(&running.text) : status_no_memory();
    }
    close_end(&running.output);
    close_end(&running.life.words_end);
    text_release(&running.text);
    return status;
}
