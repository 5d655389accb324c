// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/file.h"
#include "run/interrupt.h"
#include "run/setup.h"
#include "tensor/convert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 5, WAYS = 3 };

// What an encoder, a model without logits, is given beside its ids, one at a time. What comes of it
// stands in the file under the output's name with this ending.
static const struct given {
    const char *input, *ending;
} givens[] = {{"token_type_ids", "_tt"}, {"attention_mask", "_masked"}};

enum { GIVENS = sizeof(givens) / sizeof(*givens) };

// A row agrees where max|a - b| <= TOLERANCE * max(1, max|b|).
static const double tolerance = 1e-4;

// In f16, whose roundings are 2^13 times as large, over all layers.
static const double tolerance_reduced = 1e-2;

static const struct options_spec specs[] = {
    {"--model", "DIR", "the model's folder, with expected.safetensors beside the weights"},
    {"--backend", "B", "COMPONENT or COMPONENT:DEVICE"},
    {"--activations", "TYPE",
     "f32 (default) or f16; with f16, operators that the backend refuses in f16 run in f32"},
    SETUP_MODEL_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

// A tensor of expected.safetensors as doubles.
struct expected {
    double *values;
    int64_t rows, width; // Rank 1: one row.
};

struct eval {
    struct setup setup;
    const char *folder;
    struct checkpoint *file;
    struct session *session;
    int32_t *ids;
    int64_t tokens;
    int32_t *greedy;
    int64_t greedy_count; // 0 of an encoder.
    int is_encoder;
    double tolerance;
};

// What one way of feeding gave.
struct score {
    double worst; // Relative error.
    char worst_name[64];
    int64_t first_hidden; // The first hidden layer that departs, or -1.
    int64_t greedy_equal;
    size_t compared; // Rows.
};

// -- The file ----------------------------------------------------------------------------------

static tapml_status
read_expected(const struct eval *eval, const char *name, uint32_t rank, struct expected *out)
{
    const struct checkpoint_tensor *tensor = checkpoint_find(eval->file, name);

    if (tensor == NULL || rank < 1 || tensor->tensor.rank != rank) {
        return status_fail(TAPML_INVALID,
                           "'%s/expected.safetensors': tensor '%s' of rank %u expected, %s",
                           eval->folder, name, (unsigned)rank,
                           tensor == NULL ? "none found" : "found another rank");
    }
    out->rows = rank == 2 ? tensor->tensor.shape[0] : 1;
    out->width = tensor->tensor.shape[rank - 1];
    const size_t count = (size_t)out->rows * (size_t)out->width;

    out->values = alloc_array(count + 1, sizeof(*out->values));
    if (out->values == NULL) {
        return status_no_memory();
    }
    convert_to_f64(tensor->tensor.dtype, tensor->data, count, out->values);
    return TAPML_OK;
}

static tapml_status
read_ids(const struct eval *eval, const char *name, int32_t **out_ids, int64_t *out_count)
{
    struct expected expected = {NULL, 0, 0};

    TAPML_TRY(read_expected(eval, name, 1, &expected));
    int32_t *ids = alloc_array((size_t)expected.width + 1, sizeof(*ids));

    const int64_t vocabulary = setup_vocabulary(&eval->setup); // An encoder's embedding knows it.
    const int64_t last = vocabulary > 0 ? vocabulary - 1 : INT32_MAX;
    tapml_status status = ids != NULL ? TAPML_OK : status_no_memory();

    for (int64_t i = 0; status == TAPML_OK && i < expected.width; i++) {
        const double value = expected.values[i];

        if (!(value >= 0 && value <= (double)last)) {
            status = status_fail(TAPML_INVALID,
                                 "'%s/expected.safetensors': tensor '%s': expected ids within "
                                 "0 .. %lld, found %g",
                                 eval->folder, name, (long long)last, value);
        } else {
            ids[i] = (int32_t)value;
        }
    }
    if (status == TAPML_OK && expected.width == 0) {
        status = status_fail(TAPML_INVALID,
                             "'%s/expected.safetensors': tensor '%s': expected at least one id",
                             eval->folder, name);
    }
    alloc_free(expected.values);
    if (status != TAPML_OK) {
        alloc_free(ids);
        return status;
    }
    *out_ids = ids;
    *out_count = expected.width;
    return TAPML_OK;
}

// Whether `name` is that of an output, followed by `ending`. The output's is copied.
static int
ends_output(const struct eval *eval, const char *name, const char *ending, char output[static 64])
{
    const size_t length = strlen(name), rest = strlen(ending);

    if (length < rest || length - rest >= 64 || strcmp(name + length - rest, ending) != 0) {
        return 0;
    }
    (void)snprintf(output, 64, "%.*s", (int)(length - rest), name);
    return graph_find_output(model_graph(eval->setup.model), output) != GRAPH_NONE;
}

// Whether `name` is what an encoder is given, or an output of that.
static int is_of_given(const struct eval *eval, const char *name)
{
    char output[64];

    for (size_t i = 0; i < GIVENS && eval->is_encoder; i++) {
        if (checkpoint_find(eval->file, givens[i].input) != NULL &&
            (strcmp(name, givens[i].input) == 0 ||
             ends_output(eval, name, givens[i].ending, output))) {
            return 1;
        }
    }
    return 0;
}

// Everything in the file must be something that is compared.
static tapml_status check_names(const struct eval *eval)
{
    static const char *const known[] = {"input_ids", "greedy_ids", "prefill_logits",
                                        "decode_logits"};

    for (size_t i = 0; i < checkpoint_count(eval->file); i++) {
        const char *name = checkpoint_at(eval->file, i)->name;
        int found = graph_find_output(model_graph(eval->setup.model), name) != GRAPH_NONE ||
                    is_of_given(eval, name);

        for (size_t k = 0; k < sizeof(known) / sizeof(*known) && !found; k++) {
            found = strcmp(name, known[k]) == 0;
        }
        if (!found) {
            return status_fail(TAPML_INVALID,
                               "'%s/expected.safetensors' has '%s', which the model does not give",
                               eval->folder, name);
        }
    }
    return TAPML_OK;
}

// -- Comparing ---------------------------------------------------------------------------------

static double row_error(const float *computed, const double *expected, int64_t width)
{
    double difference = 0, magnitude = 1;

    for (int64_t i = 0; i < width; i++) {
        const double distance = fabs((double)computed[i] - expected[i]);

        if (isnan(distance)) {
            return INFINITY;
        }
        difference = fmax(difference, distance);
        magnitude = fmax(magnitude, fabs(expected[i]));
    }
    return difference / magnitude;
}

// The rows that are compared: as many as an output has. Of an encoder, those that a mask hides may
// be missing at the end of what is expected. 0: the shapes do not fit.
static int64_t rows_of(const struct eval *eval,
                       const int64_t *shape,
                       const struct expected *expected,
                       int64_t left)
{
    if (shape[1] != expected->width || left < 1 || (left < shape[0] && !eval->is_encoder)) {
        return 0;
    }
    return left < shape[0] ? left : shape[0];
}

// Compares rows `first` .. of an expected tensor with the rows of an output of the last step; one
// of a single axis is a row.
static tapml_status compare_rows(const struct eval *eval,
                                 const char *output,
                                 const char *name,
                                 int64_t first,
                                 struct score *score)
{
    const float *values = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    struct expected expected = {NULL, 0, 0};

    TAPML_TRY(session_output(eval->session, output, &values, shape, &rank));
    TAPML_TRY(read_expected(eval, name, rank, &expected));
    if (rank == 1) {
        shape[1] = shape[0];
        shape[0] = 1;
    }

    const int64_t rows = rank <= 2 ? rows_of(eval, shape, &expected, expected.rows - first) : 0;
    tapml_status status = TAPML_OK;

    if (rows == 0) {
        status = status_fail(TAPML_INVALID,
                             "output '%s' has another shape than '%s' of expected.safetensors",
                             output, name);
    }
    for (int64_t row = 0; row < rows; row++) {
        const double error =
            row_error(values + row * expected.width,
                      expected.values + (first + row) * expected.width, expected.width);

        score->compared++;
        if (strncmp(name, "hidden.", 7) == 0 && error > eval->tolerance) {
            const int64_t layer = strtol(name + 7, NULL, 10);

            score->first_hidden = score->first_hidden < 0 || layer < score->first_hidden
                                      ? layer
                                      : score->first_hidden;
        }
        if (!(error <= score->worst)) {
            score->worst = error;
            (void)snprintf(score->worst_name, sizeof(score->worst_name), "%s", name);
        }
    }
    alloc_free(expected.values);
    return status;
}

// Everything of the file that a prefill step of `count` tokens at `first` gives.
static tapml_status compare_prefill(const struct eval *eval, int64_t first, struct score *score)
{
    for (size_t i = 0; i < checkpoint_count(eval->file); i++) {
        const char *name = checkpoint_at(eval->file, i)->name;

        if (strcmp(name, "prefill_logits") == 0) {
            TAPML_TRY(compare_rows(eval, "logits", name, first, score));
        } else if (graph_find_output(model_graph(eval->setup.model), name) != GRAPH_NONE) {
            TAPML_TRY(compare_rows(eval, name, name, first, score));
        }
    }
    return TAPML_OK;
}

static tapml_status note_greedy(const struct eval *eval, int64_t step, struct score *score)
{
    int32_t id = -1;

    if (session_greedy(eval->session, &id) == TAPML_OK && id == eval->greedy[step]) {
        score->greedy_equal++;
    }
    return interrupt_check();
}

// -- Ways of feeding ---------------------------------------------------------------------------

static tapml_status run_way(const struct eval *eval, int64_t chunk, struct score *score)
{
    TAPML_TRY(session_begin(eval->session, eval->tokens));
    for (int64_t first = 0; first < eval->tokens; first += chunk) {
        const int64_t left = eval->tokens - first;

        TAPML_TRY(
            session_step(eval->session, eval->ids + first, left < chunk ? left : chunk, NULL, 0));
        TAPML_TRY(compare_prefill(eval, first, score));
    }
    for (int64_t step = 0; step < eval->greedy_count; step++) {
        TAPML_TRY(note_greedy(eval, step, score));
        if (step + 1 < eval->greedy_count) {
            TAPML_TRY(session_step(eval->session, &eval->greedy[step], 1, NULL, 0));
            TAPML_TRY(compare_rows(eval, "logits", "decode_logits", step, score));
        }
    }
    return TAPML_OK;
}

static int agrees(const struct eval *eval, const struct score *score)
{
    return score->compared > 0 && score->worst <= eval->tolerance &&
           score->greedy_equal == eval->greedy_count;
}

static void print_score(const struct eval *eval, const char *way, const struct score *score)
{
    char hidden[64] = "no hidden layer diverges";

    if (score->first_hidden >= 0) {
        (void)snprintf(hidden, sizeof(hidden), "the first hidden layer that diverges: %lld",
                       (long long)score->first_hidden);
    }
    (void)printf("%-16s %s  worst relative error %.2e (%s), %s, greedy %lld / %lld, %zu rows\n",
                 way, agrees(eval, score) ? "agrees " : "DIVERGES", score->worst, score->worst_name,
                 hidden, (long long)score->greedy_equal, (long long)eval->greedy_count,
                 score->compared);
}

// A text at once, with an input beside its ids, or (NULL) without any.
static tapml_status
run_given(const struct eval *eval, const struct given *given, struct score *score)
{
    int32_t *values = NULL;
    int64_t count = 0;

    if (given != NULL) {
        TAPML_TRY(read_ids(eval, given->input, &values, &count));

        const tapml_status status = session_set_input(eval->session, given->input, values,
                                                      (uint64_t)count * sizeof(*values));

        alloc_free(values);
        TAPML_TRY(status);
    }
    TAPML_TRY(session_begin(eval->session, eval->tokens));
    TAPML_TRY(session_step(eval->session, eval->ids, eval->tokens, NULL, 0));
    for (size_t i = 0; i < checkpoint_count(eval->file); i++) {
        const char *name = checkpoint_at(eval->file, i)->name;
        char output[64];

        if (ends_output(eval, name, given != NULL ? given->ending : "", output)) {
            TAPML_TRY(compare_rows(eval, output, name, 0, score));
        }
    }
    return given != NULL ? session_set_input(eval->session, given->input, NULL, 0) : TAPML_OK;
}

static tapml_status run_encoder(const struct eval *eval, int *out_agrees)
{
    struct score score = {.first_hidden = -1};

    TAPML_TRY(run_given(eval, NULL, &score));
    print_score(eval, "at once", &score);
    *out_agrees = agrees(eval, &score);
    for (size_t i = 0; i < GIVENS; i++) {
        if (checkpoint_find(eval->file, givens[i].input) != NULL) {
            score = (struct score){.first_hidden = -1};
            TAPML_TRY(run_given(eval, &givens[i], &score));
            print_score(eval, givens[i].input, &score);
            *out_agrees = *out_agrees && agrees(eval, &score);
        }
    }
    return TAPML_OK;
}

static tapml_status run_ways(const struct eval *eval, int *out_agrees)
{
    static const char *const names[WAYS] = {"at once", "chunks of 5", "token by token"};
    const int64_t chunks[WAYS] = {eval->tokens, CHUNK, 1};

    *out_agrees = 1;
    for (int way = 0; way < WAYS; way++) {
        struct score score = {.first_hidden = -1};

        TAPML_TRY(run_way(eval, chunks[way], &score));
        print_score(eval, names[way], &score);
        *out_agrees = *out_agrees && agrees(eval, &score);
    }
    return TAPML_OK;
}

// -- The command -------------------------------------------------------------------------------

static tapml_status open_all(struct eval *eval, const struct options *options)
{
    const char *backend = options_get(options, "--backend");
    char *path = NULL;
    enum activation activation = ACTIVATION_F32;

    eval->folder = options_get(options, "--model");
    if (eval->folder == NULL) {
        return status_fail(TAPML_INVALID, "no model: give --model DIR");
    }
    struct model_options model = {.folder = eval->folder};

    TAPML_TRY(setup_read_model(options, &model));
    TAPML_TRY(setup_model(&eval->setup, &model));
    setup_warn_no_text(&eval->setup);
    path = file_join(eval->folder, "expected.safetensors");
    if (path == NULL) {
        return status_no_memory();
    }
    const tapml_status status = checkpoint_open_file(path, &eval->file);

    alloc_free(path);
    TAPML_TRY(status);
    eval->is_encoder = graph_find_output(model_graph(eval->setup.model), "logits") == GRAPH_NONE;
    TAPML_TRY(check_names(eval));
    TAPML_TRY(read_ids(eval, "input_ids", &eval->ids, &eval->tokens));
    if (!eval->is_encoder) {
        TAPML_TRY(read_ids(eval, "greedy_ids", &eval->greedy, &eval->greedy_count));
    }
    if (backend == NULL) {
        TAPML_TRY(setup_default_backend(&eval->setup, &backend));
    }
    TAPML_TRY(setup_place(&eval->setup, "source", backend));
    TAPML_TRY(setup_read_activations(options, &activation));
    eval->tolerance = activation_is_reduced(activation) ? tolerance_reduced : tolerance;
    return activation_is_reduced(activation)
               ? setup_place_reduced(&eval->setup, activation_type(activation)->name,
                                     eval->setup.places[0], activation)
               : TAPML_OK;
}

// What ran in f32 all the same.
static void print_refusals(const struct eval *eval)
{
    const struct graph *graph = model_graph(eval->setup.model);
    const uint32_t count = session_refusal_count(eval->session);

    for (uint32_t i = 0; i < count; i++) {
        const struct schedule_refusal *refusal = session_refusal_at(eval->session, i);

        (void)printf("in f32: %s (%s): %s\n", graph->ops[refusal->op].instance,
                     graph->ops[refusal->op].op->name, refusal->reason);
    }
}

static tapml_status evaluate(struct eval *eval, const struct options *options, int *out_agrees)
{
    struct plan *plan = NULL;

    TAPML_TRY(open_all(eval, options));
    TAPML_TRY(setup_plan(&eval->setup, &plan));
    tapml_status status =
        session_create(&(struct session_options){.model = eval->setup.model,
                                                 .places = eval->setup.places,
                                                 .place_count = eval->setup.place_count,
                                                 .plan = plan,
                                                 .capacity = eval->tokens + eval->greedy_count,
                                                 .chunk = eval->tokens},
                       &eval->session);

    plan_destroy(plan);
    if (status == TAPML_OK) {
        const struct backend_info *info = backend_info(eval->setup.places[0]->backend);

        (void)printf("%s on %s:%s (%s)%s\n", eval->folder, info->component, info->device,
                     info->device_name, eval->setup.place_count > 1 ? ", activations f16" : "");
        status = eval->is_encoder ? run_encoder(eval, out_agrees) : run_ways(eval, out_agrees);
        print_refusals(eval);
    }
    return status;
}

enum outcome command_eval_main(const struct command *command)
{
    struct options options;
    struct eval eval = {.folder = NULL};
    int is_right = 0;
    tapml_status status = options_parse(specs, command->argc, command->argv, &options);

    if (status == TAPML_OK) {
        status = options_no_plain(&options);
    }
    if (status == TAPML_OK && options_get(&options, "--help") != NULL) {
        options_help(
            "eval --model DIR [--backend B]",
            "Compares a model with expected.safetensors, fed at once, in chunks and token by "
            "token;\nan encoder at once, also with token_type_ids and attention_mask.\n",
            specs);
        return OUTCOME_OK;
    }
    if (status == TAPML_OK) {
        status = setup_open(command->program, &options, NULL, &eval.setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    interrupt_watch();
    status = evaluate(&eval, &options, &is_right);
    const enum outcome outcome = outcome_report(status);

    session_destroy(eval.session);
    checkpoint_close(eval.file);
    alloc_free(eval.ids);
    alloc_free(eval.greedy);
    setup_close(&eval.setup);
    return outcome != OUTCOME_OK ? outcome : is_right ? OUTCOME_OK : OUTCOME_WRONG;
}
