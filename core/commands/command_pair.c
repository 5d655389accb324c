// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "run/pair.h"

static const struct options_spec specs[] = {
    {"--name", "NAME", "what the other machine is called from now on"},
    {"--listen", "ADDRESS",
     "waits at HOST:PORT for a machine that this one cannot reach, 'tapml-worker --pair URL'"},
    {"--remove", "NAME", "forgets a machine, whose key is not accepted any more"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_pair_manual = {
    .usage = "tapml-host pair URL [--name NAME]\n"
             "tapml-host pair --listen ADDRESS [--name NAME]\n"
             "tapml-host pair [--remove NAME]",
    .about = "Pairs this user with the machine at URL, tapml://HOST:PORT, which waits by "
             "'tapml-worker --pair HOST:PORT', or with one that calls, so that "
             "a target can be there. Both sides show a code; a person compares them. Without an "
             "address lists the machines that are paired.",
    .specs = specs,
};

static tapml_status pair(const struct options *options)
{
    const char *removed = options_get(options, "--remove");
    const char *address = options_get(options, "--listen");
    const size_t plain_max = removed == NULL && address == NULL;

    if (removed != NULL && address != NULL) {
        return status_fail(TAPML_INVALID, "--remove and --listen exclude each other");
    }
    if (options->plain_count > plain_max) {
        return status_fail(TAPML_INVALID, "expected one address, found '%s' too",
                           options->plain[options->plain_count - 1]);
    }
    if (removed != NULL) {
        return pair_remove(removed);
    }
    if (address != NULL) {
        return pair_wait(address, options_get(options, "--name"), "tapml-worker --pair");
    }
    return options->plain_count == 1 ? pair_call(options->plain[0], options_get(options, "--name"))
                                     : pair_list();
}

enum outcome command_pair_main(const struct command *command)
{
    struct options options;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return outcome_report(options_help(&command_pair_manual));
    }
    return outcome_report(status == TAPML_OK ? pair(&options) : status);
}
