// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/log.h"
#include "run/choices.h"
#include "run/eval_score.h"
#include "run/expected.h"
#include "run/expected_names.h"
#include "run/interrupt.h"
#include "run/model_parts.h"
#include "run/nonfinite.h"
#include "run/op_checks.h"
#include "run/op_judge.h"
#include "run/plan_setup.h"
#include "run/pooling.h"
#include "run/probe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK = 5, WAYS = 3 };

static const struct options_spec specs[] = {
    {"--model", "PATH",
     "the model's folder, a name or a GGUF file; default with --plan: that of the plan's run"},
    {"--expected", "FILE", "what is expected; by default expected.safetensors beside the weights"},
    {"--limit", "NUMBER",
     "the relative error that is allowed; weights in blocks and, in f16, quantised inputs need it"},
    POOLING_OPTIONS,
    PLAN_SETUP_OPTIONS,
    SETUP_ISOLATION_OPTIONS,
    SETUP_OBSERVER_OPTIONS,
    SETUP_MODEL_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_eval_manual = {
    .usage = "tapml-host eval --model PATH [--backend B | --plan FILE | --sharding FILE]",
    .about = "Compares a model with expected.safetensors, fed at once, in chunks and token "
             "by token; an encoder at once, also with token_type_ids and attention_mask. "
             "Its parts, such as that of images, read their inputs from that file. With "
             "--activations f16, operators that the backend refuses in f16 run in f32.",
    .specs = specs,
};

struct eval {
    struct setup setup;
    struct plan_setup plan_setup;
    const char *folder;
    struct checkpoint *file;
    struct model_inputs inputs; // Of the parts: the same file.
    struct session *session;
    int32_t *ids;
    int64_t tokens;
    int32_t *greedy;
    int64_t greedy_count; // 0 of an encoder.
    int is_encoder;
    int is_part;              // Without ids: a part of a model, whose file it shares.
    struct model_parts parts; // That tokens of the prompt stand for.
    struct eval_limit limit;
    struct place *probed[SESSION_PLACES_MAX]; // The places of the setup, under a probe.
    struct op_judge *ops;
    struct choices *choices; // In reduced activations; else NULL.
    int is_learning;         // What f32 chooses: nothing else is looked at.
    struct nonfinite nonfinite;
    int is_warned; // Of what is not finite.
    struct pooling pooling;
    const char *pooled; // The output that is pooled.
};

// What the probe shows: outputs of all ops, and what is compared.
static int wants(void *user, const struct backend_call *call, uint32_t param)
{
    const struct eval *eval = user;
    const uint32_t op = op_judge_find(eval->ops, call->instance);

    return op != GRAPH_NONE &&
           ((eval->choices != NULL && choices_want(eval->choices, op, param)) ||
            call->args[param].kind != TAPML_P_TENSOR_IN || op_judge_wants(eval->ops, op, param));
}

static tapml_status visit(void *user, const struct probe_call *call)
{
    struct eval *eval = user;
    const uint32_t op = op_judge_find(eval->ops, call->instance);

    if (eval->choices != NULL) {
        TAPML_TRY(choices_see(eval->choices, op, call));
    }
    if (eval->is_learning) {
        return TAPML_OK;
    }
    nonfinite_look(&eval->nonfinite, op, call->arguments);
    return op_judge_see(eval->ops, op, call->arguments);
}

// -- The file ----------------------------------------------------------------------------------

// Ids of the model; an encoder's embedding knows which there are.
static tapml_status
read_ids(const struct eval *eval, const char *name, int32_t **out_ids, int64_t *out_count)
{
    const int64_t vocabulary = setup_vocabulary(&eval->setup);

    return expected_read_ids(eval->file, name, vocabulary > 0 ? vocabulary - 1 : INT32_MAX, out_ids,
                             out_count);
}

// -- Comparing ---------------------------------------------------------------------------------

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

// Whether the row of a token follows from a choice of experts that is a near tie.
static int is_behind_tie(const struct eval *eval, const char *output, int64_t position)
{
    return eval->choices != NULL &&
           choices_hide(eval->choices, graph_find_output(model_graph(eval->setup.model), output),
                        position);
}

// Compares rows `first` .. of an expected tensor with the rows of an output of the last step, whose
// first token is at `position`; one of a single axis is a row.
static tapml_status compare_rows(const struct eval *eval,
                                 const char *output,
                                 const char *name,
                                 int64_t first,
                                 int64_t position,
                                 struct eval_score *score)
{
    const float *values = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;
    struct expected expected = {NULL, 0, 0};

    TAPML_TRY(session_output(eval->session, output, &values, shape, &rank));
    TAPML_TRY(expected_read(eval->file, name, rank, &expected));
    if (rank == 1) {
        shape[1] = shape[0];
        shape[0] = 1;
    }

    const int64_t rows = rank <= 2 ? rows_of(eval, shape, &expected, expected.rows - first) : 0;
    tapml_status status = TAPML_OK;
    double worst = 0;

    if (rows == 0) {
        status = status_fail(TAPML_INVALID,
                             "output '%s' has another shape than '%s' of expected.safetensors",
                             output, name);
    }
    for (int64_t row = 0; row < rows; row++) {
        if (is_behind_tie(eval, output, position + row)) {
            score->behind++;
            continue;
        }
        const double error =
            expected_row_error(values + row * expected.width,
                               expected.values + (first + row) * expected.width, expected.width);

        worst = error > worst ? error : worst;
        eval_score_note(score, name, error, 1);
    }
    op_judge_note(eval->ops, graph_find_output(model_graph(eval->setup.model), output),
                  worst <= eval->limit.error);
    alloc_free(expected.values);
    return status;
}

// Everything of the file that a prefill step of `count` tokens at `first` gives.
static tapml_status
compare_prefill(const struct eval *eval, int64_t first, struct eval_score *score)
{
    for (size_t i = 0; i < checkpoint_count(eval->file); i++) {
        const char *name = checkpoint_at(eval->file, i)->name;

        if (strcmp(name, "prefill_logits") == 0) {
            TAPML_TRY(compare_rows(eval, "logits", name, first, first, score));
        } else if (graph_find_output(model_graph(eval->setup.model), name) != GRAPH_NONE) {
            TAPML_TRY(compare_rows(eval, name, name, first, first, score));
        }
    }
    return TAPML_OK;
}

// Adds the rows of the last step to the embedding. `mask` is that of all tokens, or NULL.
static tapml_status pool_step(struct eval *eval, int64_t first, const int32_t *mask)
{
    const float *values = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    if (eval->pooling.kind == POOLING_NONE) {
        return TAPML_OK;
    }
    TAPML_TRY(session_output(eval->session, eval->pooled, &values, shape, &rank));
    if (rank != 2) {
        return status_fail(TAPML_INVALID, "output '%s' has no rows to pool", eval->pooled);
    }
    return pooling_add(&eval->pooling, values, shape[0], shape[1],
                       mask != NULL ? mask + first : NULL);
}

// Compares the embedding of all steps since `pooling_begin`.
static tapml_status compare_embedding(struct eval *eval,
                                      const char *ending,
                                      const int32_t *mask,
                                      struct eval_score *score)
{
    const int is_in_file =
        ending[0] == '\0' && checkpoint_find(eval->file, EXPECTED_EMBEDDING) != NULL;
    char rows[80];
    double error = 0;

    if (eval->pooling.kind == POOLING_NONE) {
        return TAPML_OK;
    }
    (void)snprintf(rows, sizeof(rows), "%.64s%s", eval->pooled, ending);
    TAPML_TRY(pooling_end(&eval->pooling));
    TAPML_TRY(
        is_in_file
            ? expected_embedding_error(eval->file, EXPECTED_EMBEDDING, &eval->pooling, &error)
            : expected_pooled_error(eval->file, rows, mask, eval->tokens, &eval->pooling, &error));
    (void)snprintf(rows, sizeof(rows), EXPECTED_EMBEDDING "%s", ending);
    eval_score_note(score, rows, error, 1);
    return TAPML_OK;
}

static tapml_status note_greedy(const struct eval *eval, int64_t step, struct eval_score *score)
{
    const char *name = step == 0 ? "prefill_logits" : "decode_logits";
    int32_t id = -1;
    struct expected_margin margin = {.margin = (double)INFINITY};

    if (is_behind_tie(eval, "logits", eval->tokens - 1 + step)) {
        score->greedy_behind++;
        return interrupt_check();
    }
    const int has = session_greedy(eval->session, &id) == TAPML_OK;
    const int is_equal = has && id == eval->greedy[step];

    if (has && !is_equal && eval->limit.is_lossy) {
        TAPML_TRY(expected_margin(eval->file, name, step == 0 ? -1 : step - 1, eval->greedy[step],
                                  id, &margin));
    }
    eval_score_note_greedy(score, is_equal, margin.margin, margin.most);
    return interrupt_check();
}

// Compares the rows that the prompt's tokens stand for.
static tapml_status
compare_part(const struct eval *eval, const struct model_part *item, struct eval_score *score)
{
    const char *name = item->part->output;
    double error = 0;

    if (checkpoint_find(eval->file, name) == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(
        expected_rows_error(eval->file, name, item->rows, item->count, item->part->width, &error));
    eval_score_note(score, name, error, (size_t)item->count);
    return TAPML_OK;
}

// What a way of feeding begins with.
static tapml_status begin_score(const struct eval *eval, struct eval_score *score)
{
    *score = eval_score_begin(eval->limit, eval->greedy_count);
    for (size_t i = 0; i < eval->parts.count; i++) {
        TAPML_TRY(compare_part(eval, &eval->parts.items[i], score));
    }
    return TAPML_OK;
}

// -- Ways of feeding ---------------------------------------------------------------------------

static void set_position(const struct eval *eval, int64_t position)
{
    if (eval->choices != NULL) {
        choices_set_position(eval->choices, position);
    }
}

static tapml_status run_way(struct eval *eval, int64_t chunk, struct eval_score *score)
{
    TAPML_TRY(session_begin(eval->session, eval->tokens));
    op_judge_begin(eval->ops);
    if (eval->choices != NULL) {
        choices_begin(eval->choices, 0);
    }
    pooling_begin(&eval->pooling);
    for (int64_t first = 0; first < eval->tokens; first += chunk) {
        const int64_t left = eval->tokens - first;

        op_judge_set_position(eval->ops, first);
        set_position(eval, first);
        TAPML_TRY(
            session_step(eval->session, eval->ids + first, left < chunk ? left : chunk, NULL, 0));
        TAPML_TRY(compare_prefill(eval, first, score));
        TAPML_TRY(pool_step(eval, first, NULL));
    }
    TAPML_TRY(compare_embedding(eval, "", NULL, score));
    op_judge_set_position(eval->ops, eval->tokens); // Of steps behind the prompt it has nothing.
    for (int64_t step = 0; step < eval->greedy_count; step++) {
        TAPML_TRY(note_greedy(eval, step, score));
        if (step + 1 < eval->greedy_count) {
            set_position(eval, eval->tokens + step);
            TAPML_TRY(session_step(eval->session, &eval->greedy[step], 1, NULL, 0));
            TAPML_TRY(
                compare_rows(eval, "logits", "decode_logits", step, eval->tokens + step, score));
        }
    }
    return TAPML_OK;
}

// What is known of single ops: the first one that diverges, if the way does.
static tapml_status print_ops(const struct eval *eval, const struct eval_score *score)
{
    const struct op_judge_counts counts = op_judge_counts(eval->ops);
    struct text text;

    if (counts.worst_name != NULL) {
        (void)printf("%-16s worst relative error of an op %.2e (%s), %zu of %zu modules compared\n",
                     "", counts.worst, counts.worst_name, counts.entries - counts.unused,
                     counts.entries);
    }
    if (eval_score_agrees(score)) {
        return TAPML_OK;
    }
    text_init(&text);
    const tapml_status status = op_judge_print(eval->ops, &text);

    if (status == TAPML_OK && text.length > 0) {
        (void)printf("%-16s %s\n", "", text.data);
    }
    text_release(&text);
    return status;
}

static tapml_status
print_score(struct eval *eval, const char *way, const struct eval_score *score, int *io_agrees)
{
    eval_score_print(score, way);
    if (eval->choices != NULL) {
        choices_print(eval->choices);
    }
    *io_agrees = *io_agrees && eval_score_agrees(score);
    if (eval->nonfinite.is_found && !eval->is_warned) {
        log_line(LOG_WARNING, "%s", eval->nonfinite.sentence);
        eval->is_warned = 1;
    }
    return print_ops(eval, score);
}

// A text at once.
static tapml_status
run_text(struct eval *eval, const char *ending, const int32_t *mask, struct eval_score *score)
{
    TAPML_TRY(session_begin(eval->session, eval->tokens));
    op_judge_begin(eval->ops);
    op_judge_set_position(eval->ops, ending[0] == '\0' ? 0 : eval->tokens);
    pooling_begin(&eval->pooling);
    TAPML_TRY(session_step(eval->session, eval->ids, eval->tokens, NULL, 0));
    for (size_t i = 0; i < checkpoint_count(eval->file); i++) {
        const char *name = checkpoint_at(eval->file, i)->name;
        char output[64];

        if (expected_names_end(model_graph(eval->setup.model), name, ending, output)) {
            TAPML_TRY(compare_rows(eval, output, name, 0, 0, score));
        }
    }
    TAPML_TRY(pool_step(eval, 0, mask));
    return compare_embedding(eval, ending, mask, score);
}

// The same with an input beside its ids, or (NULL) without any.
static tapml_status
run_given(struct eval *eval, const struct expected_given *given, struct eval_score *score)
{
    int32_t *values = NULL;
    int64_t count = 0;

    if (given == NULL) {
        return run_text(eval, "", NULL, score);
    }
    TAPML_TRY(read_ids(eval, given->input, &values, &count));
    tapml_status status =
        session_set_input(eval->session, given->input, values, (uint64_t)count * sizeof(*values));
    const int is_mask = strcmp(given->input, "attention_mask") == 0 && count >= eval->tokens;

    if (status == TAPML_OK) {
        status = run_text(eval, given->ending, is_mask ? values : NULL, score);
    }
    alloc_free(values);
    TAPML_TRY(status);
    return session_set_input(eval->session, given->input, NULL, 0);
}

static tapml_status run_encoder(struct eval *eval, int *out_agrees)
{
    *out_agrees = 1;
    for (size_t i = 0; i <= EXPECTED_GIVENS; i++) {
        const struct expected_given *given = i > 0 ? &expected_names_givens[i - 1] : NULL;
        struct eval_score score = eval_score_begin(eval->limit, eval->greedy_count);

        if (given == NULL || checkpoint_find(eval->file, given->input) != NULL) {
            TAPML_TRY(run_given(eval, given, &score));
            TAPML_TRY(
                print_score(eval, given != NULL ? given->input : "at once", &score, out_agrees));
        }
    }
    return TAPML_OK;
}

static tapml_status give_thing(struct eval *eval, int64_t thing, int64_t *out_things)
{
    struct arena *arena = arena_create();
    struct prompt_givens inputs;

    if (arena == NULL) {
        return status_no_memory();
    }
    tapml_status status = model_parts_read(model_graph(eval->setup.model), &eval->inputs, thing,
                                           arena, &inputs, out_things);

    if (status == TAPML_OK) {
        status = session_give(eval->session, &inputs);
    }
    arena_destroy(arena);
    return status;
}

// A part alone: all things that its inputs are there for, one after the other.
static tapml_status run_part(struct eval *eval, int *out_agrees)
{
    const struct graph *graph = model_graph(eval->setup.model);
    struct eval_score score = eval_score_begin(eval->limit, eval->greedy_count);
    int64_t things = 1;

    *out_agrees = 1;
    for (int64_t thing = 0; thing < things; thing++) {
        TAPML_TRY(give_thing(eval, thing, &things));
        TAPML_TRY(session_begin(eval->session, 1));
        op_judge_begin(eval->ops);
        TAPML_TRY(session_step(eval->session, NULL, 1, NULL, 0));
        for (uint32_t i = 0; i < graph->output_count; i++) {
            const struct graph_output *output = &graph->outputs[i];

            if (checkpoint_find(eval->file, output->name) != NULL) {
                const int64_t rows = graph->values[output->value].shape[0].constant;

                TAPML_TRY(compare_rows(eval, output->name, output->name, thing * rows, 0, &score));
            }
        }
    }
    return print_score(eval, "at once", &score, out_agrees);
}

static tapml_status run_ways(struct eval *eval, int *out_agrees)
{
    static const char *const names[WAYS] = {"at once", "chunks of 5", "token by token"};
    const int64_t chunks[WAYS] = {eval->tokens, CHUNK, 1};

    *out_agrees = 1;
    for (int way = 0; way < WAYS; way++) {
        struct eval_score score;

        TAPML_TRY(begin_score(eval, &score));
        TAPML_TRY(run_way(eval, chunks[way], &score));
        TAPML_TRY(print_score(eval, names[way], &score, out_agrees));
    }
    return TAPML_OK;
}

// -- The command -------------------------------------------------------------------------------

// The ids, and the parts that they need. A part has none.
static tapml_status open_prompt(struct eval *eval, const struct model_options *model)
{
    eval->is_part =
        graph_find_value(model_graph(eval->setup.model), GRAPH_INPUT, "input_ids") == GRAPH_NONE;
    eval->tokens = 1;
    if (eval->is_part) {
        return TAPML_OK;
    }
    TAPML_TRY(read_ids(eval, "input_ids", &eval->ids, &eval->tokens));
    return model_parts_open(eval->setup.registry, eval->setup.model, model, eval->ids, eval->tokens,
                            &eval->parts);
}

// What loses something has no limit of its own.
static tapml_status check_limit(const struct options *options, const struct model_options *model)
{
    const char *option = model->encoding != NULL     ? "--weights"
                         : model->state != STATE_F32 ? "--state"
                                                     : NULL;

    return option == NULL || options_get(options, "--limit") != NULL
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "%s loses something: give --limit, the relative error that is allowed",
                             option);
}

static tapml_status open_all(struct eval *eval, const struct options *options)
{
    struct model_options model = {.folder = NULL};

    TAPML_TRY(plan_setup_open(&eval->setup, options, &eval->plan_setup));
    TAPML_TRY(plan_setup_model(&eval->plan_setup, &model));
    TAPML_TRY(check_limit(options, &model));
    eval->folder = model.folder;
    setup_warn_no_text(&eval->setup);
    TAPML_TRY(expected_open(eval->folder, options_get(options, "--expected"), &eval->file));
    eval->inputs = (struct model_inputs){.file = eval->file, .name = "expected.safetensors"};
    eval->is_encoder = graph_find_output(model_graph(eval->setup.model), "logits") == GRAPH_NONE;
    TAPML_TRY(pooling_read(options, &eval->pooling));
    TAPML_TRY(eval->pooling.kind == POOLING_NONE
                  ? TAPML_OK
                  : pooling_find(model_graph(eval->setup.model), &eval->pooled));
    TAPML_TRY(open_prompt(eval, &model));
    TAPML_TRY(expected_names_check(
        &(struct expected_names){.folder = eval->folder,
                                 .graph = model_graph(eval->setup.model),
                                 .file = eval->file,
                                 .parts = &eval->parts,
                                 .is_encoder = eval->is_encoder,
                                 .is_part = eval->is_part,
                                 .is_pooled = eval->pooling.kind != POOLING_NONE}));
    if (!eval->is_encoder) {
        TAPML_TRY(read_ids(eval, "greedy_ids", &eval->greedy, &eval->greedy_count));
    }
    TAPML_TRY(plan_setup_places(&eval->plan_setup));
    return eval_score_read_limit(options, model_checkpoint(eval->setup.model),
                                 plan_setup_least(&eval->plan_setup), &eval->limit);
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

// Puts a probe around each place.
static tapml_status open_probes(struct eval *eval)
{
    const struct graph *graph = model_graph(eval->setup.model);
    struct probe_options options = {.wants = wants, .visit = visit, .user = eval};
    const struct place_link link = probe_link(&options);

    eval->nonfinite.graph = graph;
    TAPML_TRY(op_judge_create(&(struct op_judge_options){.graph = graph,
                                                         .expected = eval->file,
                                                         .tokens = eval->tokens,
                                                         .tolerance = eval->limit.error},
                              &eval->ops));
    for (uint32_t i = 0; i < eval->setup.place_count; i++) {
        const struct place *base = eval->setup.places[i];

        TAPML_TRY(place_wrap(base, &base->settings, &link, 1, &eval->probed[i]));
    }
    return TAPML_OK;
}

static void close_all(struct eval *eval)
{
    session_destroy(eval->session);
    for (uint32_t i = 0; i < SESSION_PLACES_MAX; i++) {
        place_destroy(eval->probed[i]);
    }
    op_judge_destroy(eval->ops);
    choices_destroy(eval->choices);
    pooling_release(&eval->pooling);
    model_parts_close(&eval->parts);
    checkpoint_close(eval->file);
    alloc_free(eval->ids);
    alloc_free(eval->greedy);
    plan_setup_close(&eval->plan_setup);
    setup_close(&eval->setup);
}

// The session, which has the rows of all parts. These are not under the probe.
static tapml_status open_session(struct eval *eval, const struct session_options *options)
{
    struct session_options of_parts = *options;

    of_parts.places = eval->setup.places;
    TAPML_TRY(model_parts_compute(&eval->parts, &eval->inputs, &of_parts));
    TAPML_TRY(session_create(options, &eval->session));
    const struct prompt_givens inputs = model_parts_givens(&eval->parts);

    return session_give(eval->session, &inputs);
}

// Learns which experts the tokens take in f32, the first place.
static tapml_status learn_choices(struct eval *eval, const struct session_options *options)
{
    const struct choices_text text = {eval->ids, eval->greedy, eval->tokens, eval->greedy_count};

    if (!eval->limit.is_lossy || eval->is_encoder || eval->is_part) {
        return TAPML_OK;
    }
    TAPML_TRY(choices_create(model_graph(eval->setup.model), model_checkpoint(eval->setup.model),
                             eval->setup.places[0]->backend, eval->limit.error, &eval->choices));
    if (!choices_are_there(eval->choices)) {
        return TAPML_OK;
    }
    eval->is_learning = 1;
    const struct prompt_givens inputs = model_parts_givens(&eval->parts);
    const tapml_status status = choices_learn(eval->choices, options, &inputs, &text);

    eval->is_learning = 0;
    return status;
}

static tapml_status evaluate(struct eval *eval, const struct options *options, int *out_agrees)
{
    struct plan *plan = NULL;

    TAPML_TRY(open_all(eval, options));
    TAPML_TRY(open_probes(eval));
    TAPML_TRY(plan_setup_plan(&eval->plan_setup, &plan));
    const struct session_options session = {.model = eval->setup.model,
                                            .places = eval->probed,
                                            .place_count = eval->setup.place_count,
                                            .plan = plan,
                                            .capacity = eval->tokens + eval->greedy_count,
                                            .chunk = eval->tokens};
    tapml_status status = open_session(eval, &session);

    if (status == TAPML_OK) {
        status = learn_choices(eval, &session);
    }
    plan_destroy(plan);
    if (status == TAPML_OK) {
        TAPML_TRY(plan_setup_print(&eval->plan_setup, eval->folder));
        status = eval->is_part      ? run_part(eval, out_agrees)
                 : eval->is_encoder ? run_encoder(eval, out_agrees)
                                    : run_ways(eval, out_agrees);
        print_refusals(eval);
    }
    return status == TAPML_OK ? plan_setup_explain(&eval->plan_setup, eval->session) : status;
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
        return outcome_report(options_help(&command_eval_manual));
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

    close_all(&eval);
    return outcome != OUTCOME_OK ? outcome : is_right ? OUTCOME_OK : OUTCOME_WRONG;
}
