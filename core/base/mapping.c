// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/mapping.h"

#include "base/alloc.h"
#include "base/assert.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// A mapping that is watched, or one that is free (`begin` is 0). A watch is never freed, so that
// the handler can walk along them while another thread changes one.
struct watch {
    _Atomic(uintptr_t) begin;
    _Atomic(uintptr_t) end;
    atomic_int is_torn; // The handler has put zeros into it.
    int descriptor;
    char *path;
    struct watch *next; // Constant once the watch can be reached.
};

// The first ones: most programs need no more, and what is never freed is not counted as lost.
enum { FIRST_COUNT = 16 };
static struct watch first[FIRST_COUNT];
static size_t first_used;

static _Atomic(struct watch *) watches;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // Of all but what the handler reads.
static struct sigaction before;                          // Who had SIGBUS.

static struct watch *watch_of(uintptr_t address)
{
    struct watch *watch = atomic_load(&watches);

    while (watch && (address < atomic_load(&watch->begin) || address >= atomic_load(&watch->end))) {
        watch = watch->next;
    }
    return watch;
}

// Zeros from the page of `address` to the end of the mapping. Of what this calls only mmap is
// missing from POSIX's list of what a handler may call; it is one system call here.
static int put_zeros(const struct watch *watch, uintptr_t address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = address - address % page;
    const uintptr_t end = atomic_load(&watch->end);

    return mmap((void *)begin, end - begin, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    if (before.sa_flags & SA_SIGINFO) {
        before.sa_sigaction(number, info, context);
    } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
        before.sa_handler(number);
    } else {
        (void)sigaction(number, &before, NULL); // The access is tried again, and ends the program.
    }
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const uintptr_t address = (uintptr_t)info->si_addr;
    struct watch *watch = info->si_code == BUS_ADRERR ? watch_of(address) : NULL;

    if (watch && put_zeros(watch, address)) {
        atomic_store(&watch->is_torn, 1);
    } else {
        pass_on(number, info, context);
    }
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    (void)sigemptyset(&action.sa_mask); // Cannot fail on a set of our own.
    (void)sigaction(SIGBUS, &action, &before);
}

// A watch that is free, or a new one. NULL: no memory.
static struct watch *take_watch(void)
{
    struct watch *watch = atomic_load(&watches);

    while (watch && atomic_load(&watch->begin) != 0) {
        watch = watch->next;
    }
    if (!watch) {
        watch = first_used < FIRST_COUNT ? &first[first_used++] : alloc_new(sizeof(*watch));
        if (watch) {
            memset(watch, 0, sizeof(*watch));
            watch->next = atomic_load(&watches);
            atomic_store(&watches, watch);
        }
    }
    return watch;
}

tapml_status mapping_watch(const void *data, size_t size, int descriptor, const char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    char *copy = alloc_text(path);

    ASSERT(data && size > 0);
    (void)pthread_once(&once, install);
    pthread_mutex_lock(&lock);
    struct watch *watch = copy ? take_watch() : NULL;
    if (watch) {
        watch->descriptor = descriptor;
        watch->path = copy;
        atomic_store(&watch->is_torn, 0);
        atomic_store(&watch->end, (uintptr_t)data + size);
        atomic_store(&watch->begin, (uintptr_t)data);
    }
    pthread_mutex_unlock(&lock);
    if (!watch) {
        alloc_free(copy);
        return status_no_memory();
    }
    return TAPML_OK;
}

void mapping_forget(const void *data)
{
    pthread_mutex_lock(&lock);
    struct watch *watch = data ? watch_of((uintptr_t)data) : NULL;
    if (watch) {
        atomic_store(&watch->end, 0);
        atomic_store(&watch->begin, 0);
        alloc_free(watch->path);
        watch->path = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static tapml_status check_watch(const struct watch *watch)
{
    const size_t size = (size_t)(atomic_load(&watch->end) - atomic_load(&watch->begin));
    struct stat about = {.st_size = 0};

    if (fstat(watch->descriptor, &about) == 0 && (uint64_t)about.st_size >= size &&
        !atomic_load(&watch->is_torn)) {
        return TAPML_OK;
    }
    return status_fail(TAPML_INVALID,
                       "%s: the file has changed while it was read: it was %zu bytes when it was "
                       "opened and is %lld now",
                       watch->path, size, (long long)about.st_size);
}

tapml_status mapping_check(void)
{
    tapml_status status = TAPML_OK;

    pthread_mutex_lock(&lock);
    for (const struct watch *watch = atomic_load(&watches); watch && status == TAPML_OK;
         watch = watch->next) {
        if (atomic_load(&watch->begin) != 0) {
            status = check_watch(watch);
        }
    }
    pthread_mutex_unlock(&lock);
    return status;
}
