// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How long do questions take over many stores? It makes stores with results of a run of many cases
// in a folder of its own, and asks them as `tapml-host query` does.
#include "base/alloc.h"
#include "base/file.h"
#include "config/options.h"
#include "reading.h"
#include "report/querying.h"
#include "run/outcome.h"
#include "store/limit.h"
#include "store/maker.h"
#include "store/output_error.h"
#include "store/result.h"
#include "store/store.h"
#include "store/store_open.h"
#include "store/stored_case.h"
#include "store/target.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_TEXT = 512, FAILING = 97, CLASSES = 4, ROUNDS_MAX = 64, FILE_BYTES_MAX = 1 << 30 };

static const struct options_spec specs[] = {
    {"--stores", "N", "that are asked; 50 if absent"},
    {"--results", "N", "that each has; 10000 if absent"},
    {"--rounds", "N", "of each question, the fastest of which counts; 3 if absent"},
    {"--only", "TEXT", "asks the questions that have it in their name"},
    {"--short", NULL, "5 stores of 500 results, once"},
    {NULL, NULL, NULL},
};

// What the first run and the last one judged differently.
#define KEYS "SELECT run, key, verdict FROM verdicts JOIN cases USING (run, case_id)"
#define FLIPPED                                                                                    \
    "SELECT count(*) FROM v AS a JOIN v AS b USING (key)"                                          \
    " WHERE a.run = (SELECT min(run) FROM runs)"                                                   \
    " AND b.run = (SELECT max(run) FROM runs) AND a.verdict <> b.verdict"

static const struct {
    const char *name, *sql;
} questions[] = {
    {"verdicts by run", "SELECT run, verdict, count(*) FROM verdicts GROUP BY 1, 2"},
    {"worst margins", "SELECT run, op, instance, margin, reason FROM verdicts"
                      " WHERE verdict = 'fail' ORDER BY margin DESC LIMIT 20"},
    {"times of both sides", "SELECT v.op, sum(time_ns), sum(source_ns) FROM verdicts AS v"
                            " JOIN cases USING (run, case_id) GROUP BY 1"},
    {"operators by driver",
     "SELECT op, ran_driver, count(*), sum(verdict = 'fail'), max(margin) AS w"
     " FROM verdicts GROUP BY op, ran_driver ORDER BY w DESC LIMIT 20"},
    {"joined by key", "WITH v AS (" KEYS ") " FLIPPED},
    {"joined by key, no table", "WITH v AS NOT MATERIALIZED (" KEYS ") " FLIPPED},
    {"all columns, the worst", "SELECT * FROM verdicts ORDER BY margin DESC LIMIT 100"},
    {"all columns, joined", "SELECT * FROM verdicts JOIN cases USING (run, case_id)"
                            " ORDER BY margin DESC LIMIT 100"},
    {"all columns, numbered",
     "SELECT count(*) FROM (SELECT *, row_number() OVER () FROM verdicts)"},
    {"100000 rows", "SELECT * FROM verdicts LIMIT 100000"},
    {"every row", "SELECT * FROM verdicts"},
};

static const char *const ops[] = {"tapml.linear",     "tapml.rms_norm",     "tapml.silu",
                                  "tapml.attention",  "tapml.state_append", "tapml.add",
                                  "tapml.rope",       "tapml.mul",          "tapml.embed",
                                  "tapml.linear_sum", "tapml.softmax",      "tapml.copy"};
enum { OPS = (int)(sizeof(ops) / sizeof(*ops)) };

static const struct result_maker maker = {
    .implementation = "org.example.plugin 0123456789abcdef0123456789abcdef",
    .device = "other:0",
    .driver = "a device of some maker (a driver of some version 1.2.3)",
    .options = "activations=f32",
    .oracle = "fedcba9876543210fedcba9876543210"};

// -- Stores ------------------------------------------------------------------------------------

static tapml_status add_result(struct store *store, int64_t number)
{
    const int64_t id = number + 1;
    const struct result_row result = {
        .case_id = id, .outcome = RESULT_RAN, .reason = "", .time_ns = 1000};
    const struct output_error error = {.param = "y",
                                       .class_ = "reduction",
                                       .nmse = 1e-14,
                                       .row_error = number % FAILING == 0 ? 1 : 1e-7,
                                       .cosine = 1,
                                       .place = "3, 17",
                                       .expected = 1,
                                       .computed = 1,
                                       .margin = 0};

    TAPML_TRY(result_write(store, "gpu", &result, &maker));
    return output_error_write(store, "gpu", id, &error, 1);
}

static tapml_status add_case(struct store *store, int64_t number)
{
    struct case_argument own = {.name = "n", .kind = TAPML_P_I64, .i = number, .origin = ""};
    char instance[64], shapes[64];

    (void)snprintf(instance, sizeof(instance), "layers.%" PRId64 "/attn/part_%" PRId64,
                   number / OPS, number % OPS);
    (void)snprintf(shapes, sizeof(shapes), "x=[%d,4096] w=[11008,4096]",
                   (int)(number / OPS % CLASSES) + 1);
    TAPML_TRY(stored_case_add(store, &(struct carved_case){.instance = instance,
                                                           .op_name = ops[number % OPS],
                                                           .op_version = 1,
                                                           .phase = "prefill",
                                                           .shape_class = shapes,
                                                           .arguments = &own, // Of its key.
                                                           .argument_count = 1}));
    if (number < OPS * CLASSES) {
        TAPML_TRY(limit_write(store, &(struct limit_row){.op = ops[number % OPS],
                                                         .version = 1,
                                                         .shape_class = shapes,
                                                         .param = "y",
                                                         .calibration = "reference",
                                                         .oracle = maker.oracle,
                                                         .nmse = 1e-12,
                                                         .row_error = 1e-6}));
    }
    return add_result(store, number);
}

static tapml_status fill(struct store *store, int64_t results)
{
    const struct target_row target = {.name = "gpu",
                                      .backend = "other:0",
                                      .activations = "f32",
                                      .faults = "",
                                      .goal = "* -> gpu\n"};

    TAPML_TRY(store_begin(store));
    TAPML_TRY(target_declare(store, &target, 1));
    for (size_t i = 0; i < OPS; i++) {
        TAPML_TRY(maker_write(store, "gpu", ops[i], 1, &maker));
    }
    for (int64_t i = 0; i < results; i++) {
        TAPML_TRY(add_case(store, i));
    }
    return store_commit(store);
}

// The stores have the same content, and are files of their own all the same.
static tapml_status make_stores(const char *folder, int64_t stores, int64_t results)
{
    char path[PATH_TEXT];
    struct store *store = NULL;
    char *bytes = NULL;
    size_t size = 0;

    (void)snprintf(path, sizeof(path), "%s/first.tapmlrun", folder);
    TAPML_TRY(store_open(path, 1, &store));
    const tapml_status status = fill(store, results);

    store_close(store);
    TAPML_TRY(status);
    TAPML_TRY(file_read(path, FILE_BYTES_MAX, &bytes, &size));
    tapml_status written = TAPML_OK;

    for (int64_t i = 0; written == TAPML_OK && i < stores; i++) {
        (void)snprintf(path, sizeof(path), "%s/run-%03" PRId64, folder, i);
        written = file_make_folder(path);
        (void)snprintf(path, sizeof(path), "%s/run-%03" PRId64 "/run.tapmlrun", folder, i);
        written = written == TAPML_OK ? file_write(path, bytes, size) : written;
    }
    (void)printf("%-24s%.1f MB\n", "each store", (double)size / 1e6);
    alloc_free(bytes);
    return written;
}

static int remove_one(const char *path, const struct stat *about, int type, struct FTW *walk)
{
    (void)about;
    (void)type;
    (void)walk;
    return remove(path);
}

// -- Questions ---------------------------------------------------------------------------------

static tapml_status
ask(const char *folder, const char *sql, struct moment *out_time, size_t *out_bytes)
{
    const char *const folders[] = {folder};
    const struct moment begin = reading_now();
    struct text text;

    text_init(&text);
    const tapml_status status = querying_run(&(struct querying_options){.folders = folders,
                                                                        .folder_count = 1,
                                                                        .sql = sql,
                                                                        .form = QUERY_FORM_CSV,
                                                                        .seconds = 600,
                                                                        .memory_mib = 4096,
                                                                        .rows = 1000000},
                                             &text);

    *out_time = reading_since(begin);
    *out_bytes = text.length;
    text_release(&text);
    return status;
}

static tapml_status ask_all(const char *folder, int64_t rounds, const char *only)
{
    for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++) {
        struct moment best = {0, 0};
        size_t bytes = 0;

        if (only != NULL && strstr(questions[i].name, only) == NULL) {
            continue;
        }
        for (int64_t round = 0; round < rounds; round++) {
            struct moment time;

            TAPML_TRY(ask(folder, questions[i].sql, &time, &bytes));
            best = round == 0 || time.wall < best.wall ? time : best;
        }
        if (bytes < 4) {
            return status_fail(TAPML_INTERNAL, "'%s' has no answer", questions[i].name);
        }
        (void)printf("%-24s%.3f s, %.3f s of the processor\n", questions[i].name, best.wall,
                     best.processor);
    }
    return TAPML_OK;
}

static tapml_status run(int argc, char **argv)
{
    struct options options;
    int64_t stores = 0, results = 0, rounds = 0;
    char folder[] = "/tmp/tapml-query-XXXXXX";

    TAPML_TRY(options_parse(specs, argc - 1, argv + 1, &options));
    const int is_short = options_get(&options, "--short") != NULL;

    TAPML_TRY(options_i64(&options, "--stores", is_short ? 5 : 50, 1, 10000, &stores));
    TAPML_TRY(options_i64(&options, "--results", is_short ? 500 : 10000, 1, 10000000, &results));
    TAPML_TRY(options_i64(&options, "--rounds", is_short ? 1 : 3, 1, ROUNDS_MAX, &rounds));
    if (mkdtemp(folder) == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "no folder '%s' can be made", folder);
    }
    tapml_status status = make_stores(folder, stores, results);

    if (status == TAPML_OK) {
        status = ask_all(folder, rounds, options_get(&options, "--only"));
    }
    (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}

int main(int argc, char **argv)
{
    return (int)outcome_report(run(argc, argv));
}
