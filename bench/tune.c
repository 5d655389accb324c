// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// How soon does a tuner find a good setting? `--measure` times every legal setting of `linear` and
// `attention` on a device, in a few classes of shapes, into a table; a second start goes on where
// the first ended. Without it tuners are asked for that table instead of a device, many times over
// with other random numbers: the best setting that they know after 16, 32 and 64 trials, over the
// best of all. The device's own choice, which all try first, is left out of both.
//
// Timed settings are not judged here: what is wrong is a test's question (test_tune.py).
#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include "choose/tuner.h"
#include "config/tuning_file.h"
#include "device/knobs.h"
#include "exec/place.h"
#include "measure.h"
#include "plugin/registry.h"
#include "run/outcome.h"
#include "run/setup.h"
#include "schema/catalogue.h"

#include <tapml/ops.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A device makes 256 pipelines at most, so that it is opened anew now and then.
enum { RUNS = 4, SETTINGS_OF_A_DEVICE = 100, REPETITIONS = 60, ARGS_MAX = 16, TRIALS_MAX = 64 };

static const struct options_spec specs[] = {
    {"--table", "FILE", "of times; may be given several times without --measure"},
    {"--measure", "BACKEND", "times all settings of this device into the table"},
    {"--op", "linear|attention", "that is measured; both if absent"},
    {"--seconds", "N", "after which a measurement ends, to be gone on with; 60 if absent"},
    {"--repetitions", "N", "of each tuner; 60 if absent"},
    {"--short", NULL, "few repetitions, and it has to hold what is promised of tuners"},
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

static const struct options_manual manual = {
    .usage = "tune --table FILE [--measure BACKEND] [--seconds N]",
    .about = "Measures settings of a device's kernels, and how soon tuners find good ones.",
    .specs = specs};

// -- Calls that are measured -------------------------------------------------------------------

// Sizes of a call: tokens, outputs and inputs of linear; queries, heads and rows of attention.
struct sizes {
    const char *op;
    int64_t a, b, c;
};

static const struct sizes measured_sizes[] = {
    {"tapml.linear", 1, 512, 512},
    {"tapml.linear", 32, 256, 512},
    {"tapml.attention", 1, 8, 256},
    {"tapml.attention", 32, 8, 128},
};
enum { SIZES = sizeof(measured_sizes) / sizeof(*measured_sizes), HEAD = 64 };

struct subject {
    struct backend *backend;
    struct backend *device; // The innermost, which takes settings.
    const struct compiled_op *schema;
    int64_t shapes[ARGS_MAX][3];
    tapml_tensor tensors[ARGS_MAX];
    tapml_value args[ARGS_MAX];
    struct inferred inferred;
};

static void set_tensor(struct subject *subject, int at, uint32_t rank, const int64_t *shape)
{
    memcpy(subject->shapes[at], shape, rank * sizeof(*shape));
    subject->tensors[at] = (tapml_tensor){.hdr = TAPML_HDR(tapml_tensor),
                                          .dtype = TAPML_F32,
                                          .rank = rank,
                                          .shape = subject->shapes[at]};
    subject->args[at].u.p = &subject->tensors[at];
}

static void set_linear(struct subject *subject, const struct sizes *sizes)
{
    set_tensor(subject, 0, 2, (const int64_t[]){sizes->a, sizes->c});
    set_tensor(subject, 1, 2, (const int64_t[]){sizes->b, sizes->c});
    for (uint32_t i = 0; i < subject->schema->op->n_params; i++) {
        if (strcmp(subject->schema->op->params[i]->name, "y") == 0) {
            set_tensor(subject, (int)i, 2, (const int64_t[]){sizes->a, sizes->b});
        }
    }
}

static void set_attention(struct subject *subject, const struct sizes *sizes)
{
    const int64_t state[] = {sizes->c, sizes->b / 2, HEAD}, query[] = {sizes->a, sizes->b, HEAD};

    set_tensor(subject, 0, 3, query);
    set_tensor(subject, 1, 3, state);
    set_tensor(subject, 2, 3, state);
    for (uint32_t i = 3; i < subject->schema->op->n_params; i++) {
        const char *name = subject->schema->op->params[i]->name;

        if (strcmp(name, "y") == 0) {
            set_tensor(subject, (int)i, 3, query);
        } else if (strcmp(name, "position") == 0) {
            subject->args[i].u.i = sizes->c - sizes->a;
        } else if (strcmp(name, "scale") == 0) {
            subject->args[i].u.d = 0.125;
        } else if (strcmp(name, "causal") == 0) {
            subject->args[i].u.i = 1;
        }
    }
}

static tapml_status make_subject(struct backend *backend,
                                 const struct catalogue *catalogue,
                                 const struct sizes *sizes,
                                 struct subject *subject)
{
    *subject =
        (struct subject){.backend = backend, .schema = catalogue_find(catalogue, sizes->op, 1)};
    for (uint32_t v = 2; subject->schema == NULL && v < 9; v++) {
        subject->schema = catalogue_find(catalogue, sizes->op, v);
    }
    if (subject->schema == NULL || subject->schema->op->n_params > ARGS_MAX) {
        return status_fail(TAPML_NOT_FOUND, "there is no '%s'", sizes->op);
    }
    for (uint32_t i = 0; i < subject->schema->op->n_params; i++) {
        subject->args[i].kind = subject->schema->op->params[i]->kind;
    }
    if (strcmp(sizes->op, "tapml.linear") == 0) {
        set_linear(subject, sizes);
    } else {
        set_attention(subject, sizes);
    }
    for (uint32_t i = 0; i < subject->schema->op->n_params; i++) {
        const int is_tensor =
            subject->args[i].kind != TAPML_P_I64 && subject->args[i].kind != TAPML_P_F64;

        if (is_tensor && subject->args[i].u.p == NULL) {
            subject->args[i].kind = TAPML_V_NONE; // An optional one.
        }
    }
    return infer_call(subject->schema, subject->args, &subject->inferred);
}

static tapml_status make_buffers(struct subject *subject)
{
    enum { SMALL = 0x3c23d70a }; // 0.01 as f32.

    for (uint32_t i = 0; i < subject->schema->op->n_params; i++) {
        tapml_tensor *tensor = &subject->tensors[i];
        uint64_t bytes = sizeof(float);

        for (uint32_t axis = 0; axis < tensor->rank; axis++) {
            bytes *= (uint64_t)tensor->shape[axis];
        }
        if (tensor->rank > 0) {
            TAPML_TRY(backend_buffer_new(subject->backend, bytes, &tensor->buffer));
            TAPML_TRY(backend_fill(subject->backend, tensor->buffer, 0, bytes, SMALL));
        }
    }
    return backend_wait(subject->backend);
}

static void free_buffers(struct subject *subject)
{
    for (uint32_t i = 0; i < ARGS_MAX; i++) {
        backend_buffer_free(subject->backend, subject->tensors[i].buffer);
        subject->tensors[i].buffer = NULL;
    }
}

// The least time of some calls behind the first, which compiles.
static tapml_status time_calls(struct subject *subject, uint64_t *out_ns)
{
    const struct backend_call call = {
        .op = subject->schema->op, .args = subject->args, .inferred = &subject->inferred};

    *out_ns = UINT64_MAX;
    for (int i = 0; i <= RUNS; i++) {
        const uint64_t begin_ns = clock_now_ns();

        TAPML_TRY(backend_call(subject->backend, &call));
        TAPML_TRY(backend_wait(subject->backend));
        const uint64_t took_ns = clock_now_ns() - begin_ns;

        *out_ns = i > 0 && took_ns < *out_ns ? took_ns : *out_ns;
    }
    return TAPML_OK;
}

// -- Measuring ---------------------------------------------------------------------------------

struct measuring {
    struct setup setup;
    const char *backend, *path;
    uint64_t end_ns;
    struct tuning_file file;
    size_t measured, known;
};

static tapml_status save(const struct measuring *measuring)
{
    struct text text;

    text_init(&text);
    tuning_file_print(&measuring->file, &text);
    const tapml_status status = text_status(&text) == TAPML_OK
                                    ? file_write(measuring->path, text.data, text.length)
                                    : text_status(&text);

    text_release(&text);
    return status;
}

static int is_known(const struct tuning_class *item, const char *values)
{
    for (size_t i = 0; i < item->count; i++) {
        if (strcmp(item->trials[i].values, values) == 0) {
            return 1;
        }
    }
    return 0;
}

// Times a setting, NULL: the device's own.
static tapml_status time_setting(struct subject *subject, const char *values, uint64_t *out_ns)
{
    struct arena *arena = arena_create();
    tapml_setting setting = {.hdr = TAPML_HDR(tapml_setting),
                             .shape_class = TAPML_TUNING_ALL_CLASSES};
    tapml_status status = TAPML_OK;

    if (values != NULL) {
        status = knobs_read(TAPML_TUNING_ALL_CLASSES, values, arena, &setting);
    }
    if (status == TAPML_OK) {
        status = knobs_set(subject->device, subject->schema->op->name, &setting);
    }
    arena_destroy(arena);
    return status == TAPML_OK ? time_calls(subject, out_ns) : status;
}

static tapml_status measure_one(struct measuring *measuring,
                                struct subject *subject,
                                const struct knob_space *space,
                                uint32_t number,
                                struct tuning_class *item)
{
    struct tuning_trial trial = {.time_ns = 0};
    struct text values;

    text_init(&values);
    knobs_print(space, number, &values);
    tapml_status status = text_status(&values);

    measuring->known += is_known(item, values.data);
    if (status == TAPML_OK && !is_known(item, values.data)) {
        status = time_setting(subject, values.data, &trial.time_ns);
        trial.values = values.data;
        if (status == TAPML_OK) {
            status = tuning_file_add_trial(&measuring->file, item, &trial);
            measuring->measured++;
        }
        if (status == TAPML_OK && number == knobs_chosen(space)) {
            item->own = item->trials[item->count - 1];
        }
    }
    text_release(&values);
    return status;
}

// Goes through the settings from `*io_number` on, as many as a device makes.
static tapml_status measure_some(struct measuring *measuring,
                                 const struct sizes *sizes,
                                 struct place *place,
                                 struct arena *arena,
                                 int *io_is_done)
{
    const size_t before = measuring->measured;
    const struct backend_info *info = backend_info(place->backend);
    struct tuning_class *item = NULL;
    struct knob_space space;
    struct subject subject;

    TAPML_TRY(make_subject(place->backend, registry_catalogue(measuring->setup.registry), sizes,
                           &subject));
    TAPML_TRY(knobs_ask(place->backend, subject.schema, subject.args, arena, &space));
    if (space.count == 0) {
        *io_is_done = 1;
        return TAPML_OK;
    }
    const struct tuning_key key = {.component = info->component,
                                   .device = info->device,
                                   .driver = info->driver,
                                   .op = sizes->op,
                                   .version = subject.schema->op->version,
                                   .digest = backend_identity(place->backend, subject.schema->op),
                                   .shape_class = space.shape_class};

    TAPML_TRY(tuning_file_add(&measuring->file, &key, &item));
    subject.device = place->links[PLACE_DEVICE];
    tapml_status status = make_buffers(&subject);
    uint32_t number = 0;

    for (; status == TAPML_OK && number < space.size && clock_now_ns() < measuring->end_ns &&
           measuring->measured < before + SETTINGS_OF_A_DEVICE;
         number++) {
        if (knobs_is_legal(&space, number)) {
            status = measure_one(measuring, &subject, &space, number, item);
        }
    }
    free_buffers(&subject);
    tuning_file_choose(item);
    *io_is_done = number == space.size;
    return status;
}

static tapml_status measure_sizes(struct measuring *measuring, const struct sizes *sizes)
{
    int is_done = 0;

    while (!is_done && clock_now_ns() < measuring->end_ns) {
        struct arena *arena = arena_create();
        struct place *place = NULL;
        tapml_status status = place_create(&(struct place_settings){.name = "bench",
                                                                    .backend = measuring->backend,
                                                                    .ignores_winners = 1},
                                           &place);

        if (status == TAPML_OK) {
            status = setup_open_place(&measuring->setup, place);
        }
        if (status == TAPML_OK) {
            status = measure_some(measuring, sizes, place, arena, &is_done);
        }
        place_destroy(place);
        arena_destroy(arena);
        TAPML_TRY(status);
        TAPML_TRY(save(measuring));
    }
    return TAPML_OK;
}

static tapml_status load(const char *path, struct tuning_file *file)
{
    struct file_map map;

    TAPML_TRY(file_map(path, &map));
    const tapml_status status = tuning_file_parse(path, (const char *)map.data, map.size, file);

    file_unmap(&map);
    return status;
}

static tapml_status measure(const char *own, const struct options *options)
{
    struct measuring measuring = {.backend = options_get(options, "--measure"),
                                  .path = options_get(options, "--table")};
    const char *op = options_get(options, "--op");
    static char program[4096];
    int64_t seconds = 0;

    TAPML_TRY(options_i64(options, "--seconds", 60, 1, 86400, &seconds));
    measure_program(own, program, sizeof(program));
    TAPML_TRY(setup_open(program, options, NULL, &measuring.setup));
    measuring.end_ns = clock_now_ns() + (uint64_t)seconds * 1000000000u;
    tapml_status status = tuning_file_init(&measuring.file);

    if (status == TAPML_OK && file_exists(measuring.path)) {
        status = load(measuring.path, &measuring.file);
    }
    for (size_t i = 0; status == TAPML_OK && i < SIZES; i++) {
        if (op == NULL || strcmp(measured_sizes[i].op + strlen("tapml."), op) == 0) {
            status = measure_sizes(&measuring, &measured_sizes[i]);
        }
    }
    printf("%zu settings measured now, %zu known before\n", measuring.measured, measuring.known);
    tuning_file_release(&measuring.file);
    setup_close(&measuring.setup);
    return status;
}

// -- The table as a device ---------------------------------------------------------------------

struct timed_table {
    const struct tuning_class *item;
    struct knob_space space;
    double *ratios; // Of each combination, to the device's own; NaN: not legal.
    double best;    // Of all but the device's own, which each tuner tries first.
};

static int by_value(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return one < other ? -1 : one > other;
}

static tapml_status add_values(struct timed_table *table, const char *values, struct arena *arena)
{
    tapml_setting setting;

    TAPML_TRY(knobs_read("*", values, arena, &setting));
    for (uint32_t i = 0; i < setting.n_values; i++) {
        struct knob *knob = &table->space.knobs[i];
        int64_t *all = (int64_t *)(uintptr_t)knob->values; // Ours.

        knob->name = setting.names[i];
        knob->about = "";
        for (uint32_t k = 0; k < knob->count; k++) {
            if (all[k] == setting.values[i]) {
                goto next;
            }
        }
        if (knob->count < TAPML_TUNING_VALUES_MAX) {
            all[knob->count++] = setting.values[i];
        }
    next:;
    }
    table->space.count = setting.n_values;
    return TAPML_OK;
}

static tapml_status find_number(const struct timed_table *table,
                                const char *values,
                                struct arena *arena,
                                uint32_t *out_number)
{
    tapml_setting setting;
    uint32_t places[TAPML_TUNING_KNOBS_MAX] = {0};

    TAPML_TRY(knobs_read("*", values, arena, &setting));
    for (uint32_t i = 0; i < table->space.count; i++) {
        const struct knob *knob = &table->space.knobs[i];

        while (places[i] < knob->count && knob->values[places[i]] != setting.values[i]) {
            places[i]++;
        }
        if (places[i] == knob->count) {
            return status_fail(TAPML_NOT_FOUND, "another space");
        }
    }
    *out_number = knobs_number(&table->space, places);
    return TAPML_OK;
}

static tapml_status
make_table(const struct tuning_class *item, struct arena *arena, struct timed_table *table)
{
    *table = (struct timed_table){.item = item, .best = INFINITY};
    table->space.knobs = arena_array(arena, TAPML_TUNING_KNOBS_MAX, sizeof(struct knob));
    for (uint32_t i = 0; i < TAPML_TUNING_KNOBS_MAX; i++) {
        table->space.knobs[i].values = arena_array(arena, TAPML_TUNING_VALUES_MAX, sizeof(int64_t));
    }
    (void)snprintf(table->space.shape_class, sizeof(table->space.shape_class), "%s",
                   item->key.shape_class);
    for (size_t i = 0; i < item->count; i++) {
        TAPML_TRY(add_values(table, item->trials[i].values, arena));
    }
    for (uint32_t i = 0; i < table->space.count; i++) {
        struct knob *knob = &table->space.knobs[i];

        qsort((void *)(uintptr_t)knob->values, knob->count, sizeof(int64_t), by_value);
    }
    TAPML_TRY(knobs_check(&table->space));
    table->space.legal = arena_array(arena, table->space.size / 8 + 1, 1);
    table->ratios = arena_array(arena, table->space.size, sizeof(double));
    for (uint32_t i = 0; i < table->space.size; i++) {
        table->ratios[i] = NAN;
    }
    for (size_t i = 0; i < item->count; i++) {
        uint32_t number = 0;

        TAPML_TRY(find_number(table, item->trials[i].values, arena, &number));
        table->space.legal[number / 8] |= (unsigned char)(1 << number % 8);
        table->ratios[number] = (double)item->trials[i].time_ns / (double)item->own.time_ns;
        if (strcmp(item->trials[i].values, item->own.values) != 0) {
            table->best = fmin(table->best, table->ratios[number]);
        }
    }
    uint32_t own = 0, places[TAPML_TUNING_KNOBS_MAX] = {0};

    TAPML_TRY(find_number(table, item->own.values, arena, &own));
    knobs_places(&table->space, own, places);
    for (uint32_t i = 0; i < table->space.count; i++) {
        table->space.knobs[i].chosen = places[i];
    }
    return knobs_check_legal(&table->space);
}

// -- Tuners ------------------------------------------------------------------------------------

struct others {
    struct tuner_trial trials[TUNER_OTHERS_MAX];
    size_t count;
};

// Tunes on a table, and fills the best after each trial.
static tapml_status tune(const struct timed_table *table,
                         enum tuner_chooser chooser,
                         const struct others *others,
                         uint64_t seed,
                         struct tuner_trial out_trials[TRIALS_MAX],
                         size_t *out_count)
{
    *out_count = 0;
    while (1) {
        uint32_t number = 0;
        int has = 0;

        TAPML_TRY(tuner_next(&(struct tuner_input){.space = &table->space,
                                                   .chooser = chooser,
                                                   .trials = out_trials,
                                                   .count = *out_count,
                                                   .others = others->trials,
                                                   .other_count = others->count,
                                                   .budget = TRIALS_MAX,
                                                   .seed = seed},
                             &number, &has));
        if (!has) {
            return TAPML_OK;
        }
        out_trials[(*out_count)++] = (struct tuner_trial){number, table->ratios[number]};
    }
}

// What tuning the other classes of the op has found, as combinations of this space.
static tapml_status find_others(
    const struct timed_table *tables, size_t count, size_t mine, uint64_t seed, struct others *out)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct timed_table *other = &tables[i];
        struct tuner_trial trials[TRIALS_MAX];
        struct others none = {.count = 0};
        size_t tried = 0;

        if (i == mine || strcmp(other->item->key.op, tables[mine].item->key.op) != 0) {
            continue;
        }
        TAPML_TRY(tune(other, TUNER_PREDICTOR, &none, seed, trials, &tried));
        for (size_t k = 0; k < tried && out->count < TUNER_OTHERS_MAX; k++) {
            struct arena *arena = arena_create();
            struct text values;
            uint32_t number = 0;

            text_init(&values);
            knobs_print(&other->space, trials[k].number, &values);
            if (text_status(&values) == TAPML_OK &&
                find_number(&tables[mine], values.data, arena, &number) == TAPML_OK) {
                out->trials[out->count++] = (struct tuner_trial){number, trials[k].ratio};
            }
            text_release(&values);
            arena_destroy(arena);
        }
    }
    return TAPML_OK;
}

static double best_after(const struct tuner_trial *trials, size_t count, size_t budget)
{
    const size_t last = count < budget ? count : budget;
    const struct tuner_trial *best = last > 1 ? tuner_best(trials + 1, last - 1) : NULL;

    return best != NULL ? best->ratio : INFINITY;
}

enum { CHOOSERS = 3, BUDGETS = 3 };
static const size_t budgets[BUDGETS] = {16, 32, 64};

static tapml_status simulate_one(const struct timed_table *tables,
                                 size_t count,
                                 size_t mine,
                                 int64_t repetitions,
                                 double out_means[CHOOSERS][BUDGETS])
{
    memset(out_means, 0, sizeof(double[CHOOSERS][BUDGETS]));
    for (int64_t seed = 1; seed <= repetitions; seed++) {
        struct others others;

        TAPML_TRY(find_others(tables, count, mine, (uint64_t)seed + 1000, &others));
        for (int chooser = 0; chooser < CHOOSERS; chooser++) {
            struct tuner_trial trials[TRIALS_MAX];
            size_t tried = 0;

            TAPML_TRY(tune(&tables[mine], (enum tuner_chooser)chooser, &others, (uint64_t)seed,
                           trials, &tried));
            for (int b = 0; b < BUDGETS; b++) {
                out_means[chooser][b] +=
                    best_after(trials, tried, budgets[b]) / tables[mine].best / (double)repetitions;
            }
        }
    }
    return TAPML_OK;
}

static void print_one(const struct timed_table *table, double means[CHOOSERS][BUDGETS])
{
    static const char *const names[] = {"random", "predictor", "transferred"};

    printf(
        "%s on %s, %s: %u settings, the best of the others takes %.2f of what the device chooses\n",
        table->item->key.op, table->item->key.component, table->item->key.shape_class,
        table->space.legal_count, table->best);
    for (int chooser = 0; chooser < CHOOSERS; chooser++) {
        printf("  %-12s", names[chooser]);
        for (int b = 0; b < BUDGETS; b++) {
            printf("  %zu: %.3f", budgets[b], means[chooser][b]);
        }
        printf("\n");
    }
}

static tapml_status
simulate_all(const struct tuning_file *file, int64_t repetitions, int is_short, struct arena *arena)
{
    struct timed_table *tables = arena_array(arena, file->count + 1, sizeof(*tables));
    double sums[CHOOSERS][BUDGETS] = {{0}};
    size_t count = 0;

    for (size_t i = 0; i < file->count; i++) {
        if (file->classes[i].own.time_ns > 0 && file->classes[i].count >= 32) {
            TAPML_TRY(make_table(&file->classes[i], arena, &tables[count++]));
        }
    }
    for (size_t i = 0; i < count; i++) {
        double means[CHOOSERS][BUDGETS];

        TAPML_TRY(simulate_one(tables, count, i, repetitions, means));
        print_one(&tables[i], means);
        for (int k = 0; k < CHOOSERS * BUDGETS; k++) {
            (&sums[0][0])[k] += (&means[0][0])[k] / (double)count;
        }
    }
    printf("all %zu, the mean after 16: random %.3f, predictor %.3f, transferred %.3f\n", count,
           sums[0][0], sums[1][0], sums[2][0]);
    return !is_short || (count > 0 && sums[1][0] < sums[0][0] && sums[2][0] < sums[0][0])
               ? TAPML_OK
               : status_fail(TAPML_INTERNAL, "a tuner that knows more is no better than chance");
}

static tapml_status simulate(const struct options *options)
{
    const int is_short = options_get(options, "--short") != NULL;
    struct tuning_file file;
    int64_t repetitions = 0;

    TAPML_TRY(
        options_i64(options, "--repetitions", is_short ? 6 : REPETITIONS, 1, 10000, &repetitions));
    tapml_status status = tuning_file_init(&file);

    for (size_t i = 0; status == TAPML_OK && options_at(options, "--table", i) != NULL; i++) {
        status = load(options_at(options, "--table", i), &file);
    }
    if (status == TAPML_OK) {
        status = simulate_all(&file, repetitions, is_short, file.arena);
    }
    tuning_file_release(&file);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    tapml_status status = options_parse(specs, argc - 1, argv + 1, &options);

    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        return (int)outcome_report(options_help(&manual));
    }
    if (status == TAPML_OK && options_get(&options, "--table") == NULL) {
        status = status_fail(TAPML_INVALID, "no --table");
    }
    if (status == TAPML_OK) {
        status = options_get(&options, "--measure") != NULL ? measure(argv[0], &options)
                                                            : simulate(&options);
    }
    return (int)outcome_report(status);
}
