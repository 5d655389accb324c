// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/file.h"
#include "carve/foreign_store.h"
#include "config/options.h"
#include "dump/dump.h"
#include "dump/dump_catalogue.h"
#include "dump/dump_open.h"
#include "dump/import_map.h"
#include "dump/importer.h"
#include "model/safetensors.h"
#include "model/weight_files.h"
#include "schema/catalogue.h"

#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--map", "FILE", "which tensors are the arguments of which operators: docs/bridges.md"},
    {"--out", "FILE", "the store of cases that is written: x.tapmlrun"},
    {"--model", "NAME", "what tells the model from others; by default the path of the dump"},
    {"--weights", "PATH", "a model's folder, a GGUF file or safetensors: of '@' in the map"},
    {"--prompt", "TEXT", "what the model was given; by default the path of the dump"},
    {"--step", "N", "0 (default) is the prefill, others a token each"},
    {"--help", NULL, "prints this"},
    {NULL, NULL, NULL},
};

const struct options_manual command_import_manual = {
    .usage = "tapml-host import DUMP --map FILE --out FILE",
    .about = "Makes cases of what another program has dumped: a folder or a file of arrays "
             "of NumPy, safetensors, tensors of ONNX, or calls of MLC's debugger. [source] "
             "store = x.tapmlrun runs them.",
    .specs = specs,
};

struct importing_dump {
    struct options options;
    struct catalogue *catalogue;
    struct dump *dump;
    struct import_map map;
    struct checkpoint *weights;
    struct foreign_store *store;
    int is_new; // The store was not there before.
};

static int is_single_file(const char *path)
{
    const char *end = strrchr(path, '.');

    return end != NULL && strcmp(end, ".safetensors") == 0;
}

// Weights that a later run finds by itself are not copied into the store.
static tapml_status open_weights(struct importing_dump *importing)
{
    const char *path = options_get(&importing->options, "--weights");

    if (path == NULL) {
        return TAPML_OK;
    }
    if (is_single_file(path)) {
        return safetensors_open_file(path, &importing->weights);
    }
    TAPML_TRY(weight_files_open(path, &importing->weights));
    return foreign_store_weights_in(importing->store, path);
}

static void
print(const struct importing_dump *importing, const char *out, const struct import_counts *counts)
{
    const struct dump *dump = importing->dump;

    (void)printf("%s: %zu calls of %zu tensors", out, counts->calls, dump->count);
    if (counts->opaque > 0) {
        (void)printf(", %zu of them opaque", counts->opaque);
    }
    (void)puts("");
    if (counts->unused > 0) {
        (void)printf("left out: %zu tensors that no rule names, such as '%s'\n", counts->unused,
                     counts->unused_name);
    }
    if (counts->idle_rules > 0) {
        (void)printf("without a call: %zu rules whose output the dump does not have, such as "
                     "'%s'\n",
                     counts->idle_rules, counts->idle_rule);
    }
    if (dump->skipped > 0) {
        (void)printf("not read: %zu tensors of a type that no operator takes\n", dump->skipped);
    }
}

static tapml_status import(struct importing_dump *importing)
{
    const struct options *options = &importing->options;
    const char *map = options_get(options, "--map"), *out = options_get(options, "--out");
    const char *model = options_get(options, "--model"), *prompt = options_get(options, "--prompt");
    struct import_counts counts;
    int64_t step = 0;

    if (options->plain_count != 1 || map == NULL || out == NULL) {
        return status_fail(TAPML_INVALID, "a dump, --map and --out expected");
    }
    const char *path = options->plain[0];

    TAPML_TRY(options_i64(options, "--step", 0, 0, INT32_MAX, &step));
    TAPML_TRY(dump_catalogue_create(&importing->catalogue));
    TAPML_TRY(import_map_load(map, importing->catalogue, &importing->map));
    TAPML_TRY(dump_open(path, &importing->dump));
    importing->is_new = !file_exists(out);
    TAPML_TRY(foreign_store_open(out, model != NULL ? model : path, "tapml-host import",
                                 importing->catalogue, &importing->store));
    TAPML_TRY(open_weights(importing));
    TAPML_TRY(importer_run(&(struct import_options){.dump = importing->dump,
                                                    .map = &importing->map,
                                                    .weights = importing->weights,
                                                    .store = importing->store,
                                                    .prompt = prompt != NULL ? prompt : path,
                                                    .step = step},
                           &counts));
    print(importing, out, &counts);
    return TAPML_OK;
}

enum outcome command_import_main(const struct command *command)
{
    struct importing_dump importing = {0};
    tapml_status status = options_parse(specs, command->argc, command->argv, &importing.options);

    if (status == TAPML_OK && options_get(&importing.options, "--help") != NULL) {
        return outcome_report(options_help(&command_import_manual));
    }
    if (status == TAPML_OK) {
        status = import(&importing);
    }
    const enum outcome outcome = outcome_report(status);

    foreign_store_close(importing.store);
    if (status != TAPML_OK && importing.is_new && importing.store != NULL) {
        // An empty store would be one of this model for ever. What cannot be removed stays.
        (void)remove(options_get(&importing.options, "--out"));
    }
    checkpoint_close(importing.weights);
    import_map_release(&importing.map);
    dump_destroy(importing.dump);
    catalogue_destroy(importing.catalogue);
    return outcome;
}
