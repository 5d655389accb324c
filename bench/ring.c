// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What does a model cost whose weights go through a part of the memory that they take? Calls of 1,
// 8 and 32 rows with all weights resident, through a ring (exec/ring), and through a ring of one
// slot, which loads and then runs, by turns; the least time of each. The weights come over a link
// of `--rate` GB/s: that is how fast they are read from their files. The logits have to be those
// of resident weights, bit for bit. Exit status 1 if they are not.
#include "exec/ring.h"

#include "base/clock.h"
#include "base/text.h"
#include "exec/plan.h"
#include "measure.h"
#include "tensor/encoding.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WAYS = 3, ROWS_MOST = 32, ROUNDS_MOST = 64 };
enum way { RESIDENT, RING, ONE_SLOT };

static const char *const way_names[WAYS] = {"resident", "ring", "load, then run"};
static const int64_t row_counts[] = {1, 8, ROWS_MOST};

enum { ROW_COUNTS = sizeof(row_counts) / sizeof(*row_counts) };

static const struct options_spec specs[] = {
    {"--model", "M", "a model's folder, as tools/make_model writes it, or a GGUF file"},
    {"--backend", "B", "COMPONENT or COMPONENT:DEVICE; cpu by default"},
    {"--weights", "W", "an encoding for the weights, such as 'q8_0'"},
    {"--memory", "MEMORY", "of the ring: MiB, or a share of the weights; 12.5% by default"},
    {"--slots", "N", "of the ring; chosen by default"},
    {"--rate", "MB/S", "of the link, 2000 by default; 0: any"},
    {"--rounds", "N", "turns of all ways; 5 by default"},
    {"--short", NULL, "one turn: does it run?"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

struct bench {
    struct options options;
    struct setup setup;
    struct plan *plan;
    struct session *sessions[WAYS];
    int64_t rounds, vocabulary;
    float *logits[WAYS];
};

static tapml_status read_ring(struct bench *bench, enum way way, struct ring_settings *out_ring)
{
    const char *memory = options_get(&bench->options, "--memory");
    int64_t rate = 0;

    *out_ring = (struct ring_settings){.amount = RING_OFF};
    if (way == RESIDENT) {
        return TAPML_OK;
    }
    TAPML_TRY(ring_plan_read(memory != NULL ? memory : "12.5%", out_ring));
    TAPML_TRY(options_i64(&bench->options, "--slots", 0, 0, RING_SLOTS_MAX, &out_ring->slots));
    TAPML_TRY(options_i64(&bench->options, "--rate", 2000, 0, 1 << 30, &rate));
    out_ring->slots = way == ONE_SLOT ? 1 : out_ring->slots;
    out_ring->bytes_per_s = (uint64_t)rate * 1000000;
    return TAPML_OK;
}

static tapml_status open_way(struct bench *bench, enum way way)
{
    const char *backend = options_get(&bench->options, "--backend");

    TAPML_TRY(read_ring(bench, way, &bench->setup.ring));
    TAPML_TRY(setup_place(&bench->setup, "source", backend != NULL ? backend : "cpu"));
    bench->logits[way] = calloc((size_t)bench->vocabulary, sizeof(float));
    if (bench->logits[way] == NULL) {
        return status_no_memory();
    }
    return session_create(&(struct session_options){.model = bench->setup.model,
                                                    .places = &bench->setup.places[way],
                                                    .place_count = 1,
                                                    .plan = bench->plan,
                                                    .capacity = 2 * ROWS_MOST,
                                                    .chunk = ROWS_MOST},
                          &bench->sessions[way]);
}

static tapml_status open_model(struct bench *bench)
{
    const char *weights = options_get(&bench->options, "--weights");
    const struct model_options options = {.folder = options_get(&bench->options, "--model"),
                                          .encoding =
                                              weights != NULL ? encoding_find_word(weights) : NULL};

    if (options.folder == NULL) {
        return status_fail(TAPML_INVALID, "no model: give --model DIR or FILE.gguf");
    }
    if (weights != NULL && options.encoding == NULL) {
        return status_fail(TAPML_INVALID, "--weights is one of " ENCODING_WORDS ", found '%s'",
                           weights);
    }
    TAPML_TRY(setup_model(&bench->setup, &options));
    bench->vocabulary = setup_vocabulary(&bench->setup);
    return plan_create(&bench->plan);
}

// Pages of files and of shared memory that this process has, in bytes: encoded weights are in the
// latter.
static uint64_t file_pages(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "RssFile:", 8) == 0 || strncmp(line, "RssShmem:", 9) == 0) {
            kib += strtoull(strchr(line, ':') + 1, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return kib << 10;
}

// The most of them while something runs, looked up every few milliseconds.
struct peak {
    pthread_t thread;
    atomic_int is_over;
    uint64_t before, most;
};

static void *watch(void *user)
{
    struct peak *peak = user;

    while (!atomic_load(&peak->is_over)) {
        const uint64_t pages = file_pages();

        peak->most = pages > peak->most ? pages : peak->most;
        (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    return NULL;
}

static tapml_status peak_begin(struct peak *peak)
{
    *peak = (struct peak){.before = file_pages()};
    return pthread_create(&peak->thread, NULL, watch, peak) == 0
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "the system gives no thread");
}

static uint64_t peak_end(struct peak *peak)
{
    atomic_store(&peak->is_over, 1);
    (void)pthread_join(peak->thread, NULL);
    return peak->most > peak->before ? peak->most - peak->before : 0;
}

// A call of `rows` tokens behind another one, and the wait for its logits.
static tapml_status
call(struct bench *bench, enum way way, int64_t rows, double *out_s, float *out_logits)
{
    int32_t ids[ROWS_MOST];
    const int32_t last = (int32_t)rows - 1;
    const float *logits = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    for (int64_t i = 0; i < rows; i++) {
        ids[i] = (int32_t)((i * 7919 + 17) % bench->vocabulary);
    }
    TAPML_TRY(session_begin(bench->sessions[way], rows));
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(session_step(bench->sessions[way], ids, rows, &last, 1));
    TAPML_TRY(session_output(bench->sessions[way], "logits", &logits, shape, &rank));
    *out_s = (double)(clock_now_ns() - begin_ns) / 1e9;
    memcpy(out_logits, logits, (size_t)bench->vocabulary * sizeof(float));
    return TAPML_OK;
}

static tapml_status check_bits(const struct bench *bench, int64_t rows)
{
    for (int way = RING; way < WAYS; way++) {
        if (memcmp(bench->logits[way], bench->logits[RESIDENT],
                   (size_t)bench->vocabulary * sizeof(float)) != 0) {
            return status_fail(TAPML_INTERNAL, "%s: the logits of %lld rows are others",
                               way_names[way], (long long)rows);
        }
    }
    return TAPML_OK;
}

// One way after the other, so that a slower machine is slower for all.
static tapml_status run_rows(struct bench *bench, int64_t rows)
{
    double best[WAYS] = {0}, taken = 0;

    for (int64_t round = 0; round <= bench->rounds; round++) {
        for (int way = 0; way < WAYS; way++) {
            TAPML_TRY(call(bench, way, rows, &taken, bench->logits[way]));
            if (round > 0 && (best[way] == 0 || taken < best[way])) { // The first warms up.
                best[way] = taken;
            }
        }
        TAPML_TRY(check_bits(bench, rows));
    }
    (void)printf("%4lld rows", (long long)rows);
    for (int way = 0; way < WAYS; way++) {
        (void)printf(", %s %.1f ms (%.2f)", way_names[way], best[way] * 1e3,
                     best[RESIDENT] / best[way]);
    }
    (void)printf("; the same bits\n");
    return TAPML_OK;
}

// What the ring is, and the pages that it takes, before any other way has run.
static tapml_status run_ring(struct bench *bench)
{
    double taken = 0;
    struct peak peak;
    struct text text;

    TAPML_TRY(call(bench, RING, 1, &taken, bench->logits[RING])); // Loads kernels, too.
    TAPML_TRY(peak_begin(&peak));
    tapml_status status = TAPML_OK;

    for (int i = 0; i < 2 && status == TAPML_OK; i++) {
        status = call(bench, RING, ROWS_MOST, &taken, bench->logits[RING]);
    }
    const uint64_t most = peak_end(&peak);

    TAPML_TRY(status);
    const struct ring_figures figures = ring_figures(session_ring(bench->sessions[RING], 0));

    text_init(&text);
    ring_describe(&figures, "source", &text);
    (void)printf("%s\npages of files and shared memory beyond those before: %.1f MB at most, %.3f "
                 "of the weights\n",
                 text.data != NULL ? text.data : "", (double)most / 1e6,
                 (double)most / (double)figures.weights_bytes);
    text_release(&text);
    return TAPML_OK;
}

static tapml_status run(struct bench *bench, int argc, char **argv)
{
    static char program[4096];
    const int is_short = options_get(&bench->options, "--short") != NULL;

    measure_program(argv[0], program, sizeof(program));
    TAPML_TRY(
        options_i64(&bench->options, "--rounds", is_short ? 1 : 5, 1, ROUNDS_MOST, &bench->rounds));
    TAPML_TRY(setup_open(program, &bench->options, NULL, &bench->setup));
    TAPML_TRY(open_model(bench));
    for (int way = 0; way < WAYS; way++) {
        TAPML_TRY(open_way(bench, way));
    }
    TAPML_TRY(run_ring(bench));
    for (int i = 0; i < ROW_COUNTS; i++) {
        TAPML_TRY(run_rows(bench, row_counts[i]));
    }
    (void)argc;
    return TAPML_OK;
}

int main(int argc, char **argv)
{
    struct bench bench = {.rounds = 0};
    tapml_status status = options_parse(specs, argc - 1, argv + 1, &bench.options);

    if (status == TAPML_OK) {
        status = run(&bench, argc, argv);
    }
    if (status != TAPML_OK) {
        (void)fprintf(stderr, "%s\n", status_message());
    }
    for (int way = 0; way < WAYS; way++) {
        session_destroy(bench.sessions[way]);
        free(bench.logits[way]);
    }
    plan_destroy(bench.plan);
    if (bench.setup.registry != NULL) {
        setup_close(&bench.setup);
    }
    return status == TAPML_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
