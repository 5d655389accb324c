// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What do other rules say of the same outputs? Every case of a store, kept or derived, runs on a
// backend once, and for each one line is printed, with a tab between two fields:
//
//   source  case  instance  op  phase  shape class  label  verdict  margin  seconds  call  outputs...
//
// Seconds are of the processor, for all that the case took; `call` is the time of its call alone.
//
// An output is NAME:KIND:BITS:ALL:RELATIVE:NMSE. KIND is `state` or `tensor`, BITS a digest of what
// was computed, with a `+` where memory outside of it was written as well or not all of it, ALL and
// RELATIVE are 1 where every element keeps the rule of that name: rtol 1e-2 with atol 1, and 1e-5
// of both. bench/scoreboard reads them.
#include "base/hash.h"
#include "config/run_file.h"
#include "measure.h"
#include "model/weight_files.h"
#include "run/setup.h"
#include "store/store.h"
#include "store/store_open.h"
#include "tensor/convert.h"
#include "verify/examiner.h"
#include "verify/verdicts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256 };

#define TARGET "gpu"

static const struct options_spec specs[] = {
    {"--store", "FILE", "the store of a run"},
    {"--config", "FILE",
     "the INI file of the run, with its target and the faults that are injected there"},
    {"--kept", NULL, "without derived cases"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

struct outputs {
    struct options options;
    struct run_config config;
    struct setup setup;
    struct store *store;
    struct checkpoint *checkpoint;
    struct moment begin; // Of the case at hand.
};

// What an absolute and a relative tolerance allow together.
struct rule {
    double absolute, relative;
};

static const struct rule ALL = {1, 1e-2}, RELATIVE = {1e-5, 1e-5};

static int keeps(const struct rule *rule, double expected, double computed)
{
    if (!isfinite(expected) || !isfinite(computed)) {
        return (isnan(expected) && isnan(computed)) || expected == computed;
    }
    return fabs(expected - computed) <= rule->absolute + rule->relative * fabs(expected);
}

// Bytes have no distance: they are equal or not.
static int keeps_all(const struct rule *rule, const struct replay_output *output)
{
    const uint64_t count = replay_output_count(output);
    const size_t bytes = TAPML_DT_BYTES(output->dtype);
    double expected[CHUNK], computed[CHUNK];

    for (uint64_t at = 0; at < count; at += CHUNK) {
        const size_t part = count - at < CHUNK ? (size_t)(count - at) : CHUNK;

        convert_to_f64(output->dtype, (const char *)output->expected + at * bytes, part, expected);
        convert_to_f64(output->dtype, (const char *)output->computed + at * bytes, part, computed);
        for (size_t i = 0; i < part; i++) {
            if (!keeps(rule, expected[i], computed[i])) {
                return 0;
            }
        }
    }
    return 1;
}

static int is_state(const struct carved_case *item, const char *param)
{
    for (uint32_t i = 0; i < item->argument_count; i++) {
        if (strcmp(item->arguments[i].name, param) == 0) {
            return case_is_state(&item->arguments[i]);
        }
    }
    return 0;
}

static int is_outside(const struct verdict *verdict, const char *param)
{
    for (size_t i = 0; i < verdict->error_count; i++) {
        if (strcmp(verdict->errors[i].param, param) == 0) {
            return verdict->errors[i].is_outside;
        }
    }
    return 0;
}

static void print_output(const struct examination *examination,
                         const struct replay_output *output,
                         int is_outside)
{
    const size_t bytes = (size_t)replay_output_count(output) * TAPML_DT_BYTES(output->dtype);
    char digest[HASH_TEXT];

    hash_text(hash_bytes(output->computed, bytes), digest);
    const struct compare_result distance = compare_tensors(
        output->dtype, output->expected, output->computed, output->rows, output->width);
    (void)printf("\t%s:%s:%s%s:%d:%d:%.6g", output->param,
                 is_state(examination->item, output->param) ? "state" : "tensor", digest,
                 is_outside ? "+" : "", keeps_all(&ALL, output), keeps_all(&RELATIVE, output),
                 distance.mismatched_non_finite > 0 ? (double)INFINITY : distance.nmse);
}

static void
observe(void *user, const struct examination *examination, const struct verdict *verdict)
{
    struct outputs *outputs = user;
    (void)printf("%s\t%" PRId64 "\t%s\t%s\t%s\t%s\t%s\t%s\t%.6g\t%.6f\t%.9f", verdict->source,
                 verdict->case_id, verdict->instance, verdict->op_name, verdict->phase,
                 verdict->shape_class, verdict->label, verdict_name(verdict->kind), verdict->margin,
                 reading_since(outputs->begin).processor, (double)verdict->time_ns * 1e-9);
    for (uint32_t i = 0; verdict->error_count > 0 && i < examination->result.output_count; i++) {
        const struct replay_output *output = &examination->result.outputs[i];

        print_output(examination, output, is_outside(verdict, output->param));
    }
    (void)printf("\n");
    (void)fflush(stdout); // What came before a crash is known.
    outputs->begin = reading_now();
}

static tapml_status needed(const struct options *options, const char *name, const char **out_value)
{
    *out_value = options_get(options, name);
    return *out_value != NULL ? TAPML_OK : status_fail(TAPML_INVALID, "%s is missing", name);
}

static tapml_status run(struct outputs *outputs, const char *program)
{
    const char *store = NULL, *config = NULL;
    struct place_settings settings;
    struct place *place = NULL;
    struct verdict_list list;

    TAPML_TRY(needed(&outputs->options, "--store", &store));
    TAPML_TRY(needed(&outputs->options, "--config", &config));
    TAPML_TRY(run_file_load(config, &outputs->config));
    TAPML_TRY(store_open(store, 0, &outputs->store));
    TAPML_TRY(setup_open(program, &outputs->options, &outputs->config.ini, &outputs->setup));
    TAPML_TRY(weight_files_open(outputs->config.model, &outputs->checkpoint));
    TAPML_TRY(run_config_find_target(&outputs->config, TARGET, &settings));
    TAPML_TRY(setup_add_place(&outputs->setup, &settings, &place));
    TAPML_TRY(setup_open_place(&outputs->setup, place));
    outputs->begin = reading_now();
    TAPML_TRY(verdicts_make(
        &(struct verdict_options){.registry = outputs->setup.registry,
                                  .store = outputs->store,
                                  .target = TARGET,
                                  .backend = place->backend,
                                  .checkpoint = outputs->checkpoint,
                                  .fresh = 1,
                                  .derived = options_get(&outputs->options, "--kept") == NULL,
                                  .observe = observe,
                                  .user = outputs},
        &list));
    (void)printf("executions\t%" PRIu64 "\t%" PRIu64 "\n", list.executions,
                 list.executions_derived);
    verdict_list_release(&list);
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    char program[4096];
    struct outputs outputs = {.store = NULL};

    measure_program(argv[0], program, sizeof(program));
    tapml_status status = options_parse(specs, argc - 1, argv + 1, &outputs.options);

    if (status == TAPML_OK) {
        status = run(&outputs, program);
    }
    if (status != TAPML_OK) {
        (void)fprintf(stderr, "%s\n", status_message());
    }
    setup_close(&outputs.setup);
    checkpoint_close(outputs.checkpoint);
    store_close(outputs.store);
    run_config_release(&outputs.config);
    return status == TAPML_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
