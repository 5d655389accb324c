// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/far_machine.h"

#include "base/arena.h"
#include "base/text.h"
#include "remote/address.h"
#include "remote/remote.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

// The settings of a worker, as run/far_worker makes them.
static tapml_status settle(void *user,
                           const struct message_setting *asked,
                           size_t asked_count,
                           struct arena *arena,
                           struct message_setting **out_settings,
                           size_t *out_count)
{
    struct far_machine *machine = user;
    struct message_setting *settings = arena_array(arena, asked_count + 3, sizeof(*settings));
    struct registry_location location;

    if (settings == NULL) {
        return status_no_memory();
    }
    if (asked_count == 0 || strcmp(asked[0].key, "backend") != 0) {
        return status_fail(TAPML_INVALID, "a host asks for a worker without a backend");
    }
    TAPML_TRY(registry_locate(machine->registry, asked[0].value, &location));
    settings[0] = (struct message_setting){"worker", "manifest", location.manifest};
    settings[1] = (struct message_setting){"worker", "build-id", location.build_id};
    settings[2] = (struct message_setting){"worker", "threads", "1"};
    memcpy(settings + 3, asked, asked_count * sizeof(*settings));
    *out_settings = settings;
    *out_count = asked_count + 3;
    return TAPML_OK;
}

static tapml_status list(void *user, struct text *out_lines)
{
    const struct far_machine *machine = user;

    text_append(out_lines, "first:0  one \x1b[31mdevice\n");
    return machine->lists ? TAPML_OK : status_fail(TAPML_UNAVAILABLE, "there is no worker program");
}

static tapml_status create_session(void *user,
                                   const char *name,
                                   const char *cache_folder,
                                   struct host_session **out_session)
{
    struct far_machine *machine = user;

    (void)name;
    return far_session_create(&(struct far_session_options){.program = machine->program,
                                                            .cache_folder = cache_folder,
                                                            .cache_bytes = machine->cache_bytes,
                                                            .memory_bytes = machine->memory_bytes,
                                                            .settle = settle,
                                                            .list = list,
                                                            .user = machine,
                                                            .settling = &machine->settling},
                              out_session);
}

static void note_port(void *user, unsigned port)
{
    struct far_machine *machine = user;

    atomic_store(&machine->port, machine->dials ? 1 : port);
}

static void *run(void *user)
{
    struct far_machine *machine = user;
    const char *const dials[] = {machine->url};
    const struct gateway_options options = {.address = machine->dials ? NULL : "127.0.0.1:0",
                                            .dials = dials,
                                            .dial_count = (size_t)machine->dials,
                                            .folder =
                                                machine->paired.sides[PAIRED_WORKER].scratch.folder,
                                            .caches = machine->caches.folder,
                                            .create = create_session,
                                            .ready = note_port,
                                            .user = machine};

    machine->status = gateway_run(&options, machine->stop);
    (void)snprintf(machine->message, sizeof(machine->message), "%s",
                   machine->status != TAPML_OK ? status_message() : "");
    atomic_store(&machine->has_ended, 1);
    return NULL;
}

void far_machine_open(struct far_machine *machine)
{
    *machine = (struct far_machine){
        .stop = -1, .cache_bytes = UINT64_C(1) << 30, .memory_bytes = UINT64_C(1) << 31};
    (void)pthread_mutex_init(&machine->settling, NULL);
    paired_open(&machine->paired);
    scratch_make(&machine->caches);
    cutting_proxy_open(&machine->proxy, 7);
    (void)snprintf(machine->program, sizeof(machine->program), "%s",
                   scratch_join("TAPML_TEST_BUILD", "tapml-worker"));
    (void)snprintf(machine->url, sizeof(machine->url), "tapml://127.0.0.1:%u", machine->proxy.port);
}

// A port that is free, most likely: the system gives another one to whoever asks next.
void far_machine_turn(struct far_machine *machine)
{
    struct address address;
    unsigned port = 0;
    int listening = -1;

    PAIRED_MUST(address_parse("127.0.0.1:0", &address));
    PAIRED_MUST(address_listen(&address, &listening, &port));
    close(listening);
    machine->dials = 1;
    (void)snprintf(machine->listen, sizeof(machine->listen), "127.0.0.1:%u", port);
    atomic_store(&machine->proxy.target, port);
    atomic_store(&machine->proxy.keeps, 1);
}

void far_machine_start(struct far_machine *machine)
{
    PAIRED_MUST(registry_create(&(struct registry_options){.program = machine->program},
                                &machine->registry));
    machine->stop = eventfd(0, EFD_CLOEXEC);
    atomic_store(&machine->port, 0);
    atomic_store(&machine->has_ended, 0);
    cr_assert_eq(pthread_create(&machine->thread, NULL, run, machine), 0);
    while (atomic_load(&machine->port) == 0) {
        cr_assert_not(atomic_load(&machine->has_ended), "%s", machine->message);
        (void)poll(NULL, 0, 2);
    }
    if (!machine->dials) {
        atomic_store(&machine->proxy.target, atomic_load(&machine->port));
    }
}

void far_machine_stop(struct far_machine *machine)
{
    if (machine->stop < 0) {
        return;
    }
    if (!machine->dials) {
        atomic_store(&machine->proxy.target, 0);
    }
    (void)eventfd_write(machine->stop, 1);
    cr_assert_eq(pthread_join(machine->thread, NULL), 0);
    close(machine->stop);
    machine->stop = -1;
    registry_destroy(machine->registry);
    machine->registry = NULL;
    cr_assert_eq(machine->status, TAPML_OK, "%s", machine->message);
}

void far_machine_close(struct far_machine *machine)
{
    far_machine_stop(machine);
    cutting_proxy_close(&machine->proxy);
    scratch_remove(&machine->caches);
    paired_close(&machine->paired);
}

struct channel *far_machine_channel(struct far_machine *machine, uint64_t patience_ns)
{
    struct channel *channel = NULL;

    PAIRED_MUST(remote_create(
        &(struct remote_options){.url = machine->dials ? NULL : machine->url,
                                 .listen = machine->dials ? machine->listen : NULL,
                                 .folder = machine->paired.sides[PAIRED_HOST].scratch.folder,
                                 .patience_ns = patience_ns},
        &channel));
    return channel;
}

// The parent of a process that is not a zombie; 0: there is none.
static long parent_of(long process)
{
    char path[64], text[512] = "", state = '\0';
    long parent = 0;

    (void)snprintf(path, sizeof(path), "/proc/%ld/stat", process);
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        return 0;
    }
    const size_t size = fread(text, 1, sizeof(text) - 1, file);

    (void)fclose(file);
    text[size] = '\0';
    const char *behind = strrchr(text, ')');

    return behind != NULL && sscanf(behind + 1, " %c %ld", &state, &parent) == 2 && state != 'Z'
               ? parent
               : 0;
}

// This process has started what watches the worker, and that the worker.
int far_machine_kill_workers(int signal)
{
    DIR *folder = opendir("/proc");
    int count = 0;

    cr_assert_not_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const long process = strtol(entry->d_name, NULL, 10);
        const long parent = process > 0 ? parent_of(process) : 0;

        if (parent > 1 && parent_of(parent) == (long)getpid()) {
            count += kill((pid_t)process, signal) == 0;
        }
    }
    (void)closedir(folder);
    return count;
}
