// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "config/options.h"
#include "config/temporary_folder.h"
#include "remote/gateway.h"
#include "remote/identity.h"
#include "run/case_session.h"
#include "run/interrupt.h"

#include <stdio.h>
#include <unistd.h>

static const struct options_spec specs[] = {
    {"--listen", "ADDRESS", "HOST:PORT at which it waits for other hosts; port 0: any"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_serve_manual = {
    .usage = "tapml-host serve DIR --listen ADDRESS",
    .about = "Serves what a run carves, in its folder DIR, to runs on other machines with the same "
             "model, prompts and source, which take it over while it is carved: [source] shared = "
             "tapml://HOST:PORT. Their users are paired by 'tapml-host pair'. It reads the folder "
             "alone, may be started before the run or after it, and serves until it is ended: "
             "docs/many-machines.md.",
    .specs = specs,
};

struct serving {
    const char *folder;
    char scratch[TEMPORARY_FOLDER_TEXT];
};

static tapml_status create_session(void *user,
                                   const char *name,
                                   const char *cache_folder,
                                   struct host_session **out_session)
{
    const struct serving *serving = user;

    (void)cache_folder;
    return case_session_create(&(struct case_session_options){.folder = serving->folder,
                                                              .name = name,
                                                              .scratch = serving->scratch},
                               out_session);
}

static void tell(void *user, unsigned port)
{
    const struct serving *serving = user;

    (void)printf("serving '%s' on port %u\n", serving->folder, port);
    (void)fflush(stdout);
}

static tapml_status serve_until(struct serving *serving, const char *address, int stop)
{
    char *folder = NULL;

    TAPML_TRY(identity_folder(&folder));
    tapml_status status = temporary_folder_make("tapml-serve", serving->scratch);

    if (status == TAPML_OK) {
        status = gateway_run(&(struct gateway_options){.address = address,
                                                       .folder = folder,
                                                       .caches = serving->scratch,
                                                       .create = create_session,
                                                       .ready = tell,
                                                       .user = serving},
                             stop);
        file_remove_all(serving->scratch, "*");
        (void)rmdir(serving->scratch);
    }
    alloc_free(folder);
    return status;
}

static tapml_status serve(const struct options *options)
{
    const char *address = options_get(options, "--listen");
    struct serving serving = {.scratch = ""};
    int stop = -1;

    if (options->plain_count != 1 || address == NULL) {
        return status_fail(TAPML_INVALID, "the folder of one run and --listen expected");
    }
    serving.folder = options->plain[0];
    if (!file_is_folder(serving.folder)) {
        return status_fail(TAPML_INVALID, "%s: expected the folder of a run, found %s",
                           serving.folder, file_exists(serving.folder) ? "a file" : "nothing");
    }
    TAPML_TRY(interrupt_open(&stop));
    const tapml_status status = serve_until(&serving, address, stop);

    (void)close(stop);
    return status;
}

enum outcome command_serve_main(const struct command *command)
{
    struct options options;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_serve_manual));
    }
    return outcome_report(status == TAPML_OK ? serve(&options) : status);
}
