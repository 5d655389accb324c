// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/contender.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/pool.h"
#include "base/text.h"
#include "exec/plan.h"
#include "exec/session.h"
#include "graph/encode.h"
#include "run/forecast_limits.h"
#include "run/identity.h"
#include "run/interrupt.h"
#include "run/perplexity.h"
#include "run/plan_setup.h"
#include "run/text_setup.h"

#include <math.h>
#include <string.h>

enum { DECODE_MOST = 32, TEXT_BYTES_MAX = 1 << 30 };

const char *contender_measure_name(enum contender_measure measure)
{
    static const char *const names[] = {"kl", "perplexity", "speed"};

    ASSERT((size_t)measure < sizeof(names) / sizeof(*names));
    return names[measure];
}

// A contender that is open.
struct contender_session {
    struct contender_options given;
    struct contender contender;
    struct options options; // Of the command, with what is said of the contender.
    const char *weights;    // The encoding by its word; NULL: as stored, or as in the plan's run.
    struct setup setup;
    struct plan_setup plan_setup;
    struct model_options model; // As it was opened.
    struct plan *plan;
    struct text_chunks chunks;
    struct session_options session_options;
    struct session *session;
    struct text_setup_base base;
    int is_warm;
};

// -- Opening -----------------------------------------------------------------------------------

// Gives an option one value, in the place of those that it has.
static void set_option(struct options *options, const char *name, const char *value)
{
    const struct options_spec *spec = options->specs;
    size_t kept = 0;

    for (size_t i = 0; i < options->given_count; i++) {
        if (strcmp(options->given[i].spec->name, name) != 0) {
            options->given[kept++] = options->given[i];
        }
    }
    while (spec->name != NULL && strcmp(spec->name, name) != 0) {
        spec++;
    }
    ASSERT(spec->name != NULL && kept < OPTIONS_MAX);
    options->given[kept].spec = spec;
    options->given[kept].value = value;
    options->given_count = kept + 1;
}

static void set_options(struct contender_session *session, const struct contender *contender)
{
    struct options *options = &session->options;

    *options = *session->given.options;
    if (contender->model != NULL) {
        set_option(options, "--model", contender->model);
    }
    if (contender->weights != NULL) {
        set_option(options, "--weights", contender->weights);
    }
    if (contender->plan != NULL) {
        set_option(options, "--plan", contender->plan);
    }
    session->contender = *contender;
    session->weights = options_get(options, "--weights");
}

static int is_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

// Whether what is open for one contender is what another one needs, but for the rules.
static int can_turn(const struct contender_session *session,
                    const struct contender_options *options,
                    const struct contender *to)
{
    const struct contender_options *given = &session->given;
    const struct contender *from = &session->contender;

    return to->rules != NULL && from->rules != NULL && session->weights == NULL &&
           to->weights == NULL && given->options == options->options &&
           given->measure == options->measure && given->fits == options->fits &&
           (given->context == options->context || session->chunks.context == options->context) &&
           is_same(given->base, options->base) && is_same(from->model, to->model) &&
           is_same(from->plan, to->plan);
}

static tapml_status read_plan(const struct contender_session *session, struct plan **out_plan)
{
    const struct contender *contender = &session->contender;

    return contender->rules != NULL ? plan_parse(contender->rules, contender->name, out_plan)
                                    : plan_setup_plan(&session->plan_setup, out_plan);
}

// Makes an open session that of another contender.
static tapml_status turn(struct contender_session *session, const struct contender *to)
{
    struct plan *plan = NULL;

    session->contender = *to;
    TAPML_TRY(read_plan(session, &plan));
    plan_destroy(session->plan);
    session->plan = plan;
    session->session_options.plan = plan;
    session->is_warm = 0;
    return session->session != NULL ? session_set_plan(session->session, plan) : TAPML_OK;
}

// The model, its places and its text. Without `is_encoded`, weights stay as they are stored where
// options say how they are encoded.
static tapml_status open_model(struct contender_session *session, int is_encoded)
{
    TAPML_TRY(setup_open(session->given.program, &session->options, NULL, &session->setup));
    if (session->weights != NULL && !is_encoded) {
        struct model_options checked = {.folder = NULL};

        TAPML_TRY(setup_read_weights(session->weights, &checked));
        set_option(&session->options, "--weights", "stored");
    }
    TAPML_TRY(plan_setup_open(&session->setup, &session->options, &session->plan_setup));
    TAPML_TRY(plan_setup_model(&session->plan_setup, &session->model));
    TAPML_TRY(plan_setup_places(&session->plan_setup));
    TAPML_TRY(read_plan(session, &session->plan));
    TAPML_TRY(text_setup_chunks(&session->setup, &session->options, session->model.folder,
                                session->given.context, &session->chunks));
    session->session_options = text_setup_session(&session->setup, session->plan, &session->chunks);
    return TAPML_OK;
}

static tapml_status create(const struct contender_options *given,
                           struct contender_session **out_session)
{
    struct contender_session *session = alloc_new(sizeof(*session));

    if (session == NULL) {
        return status_no_memory();
    }
    session->given = *given;
    *out_session = session;
    return TAPML_OK;
}

static tapml_status open_sessions(struct contender_session *session)
{
    TAPML_TRY(session_create(&session->session_options, &session->session));
    return session->given.measure == CONTENDER_KL
               ? text_setup_open_base(&session->setup, &session->options, session->given.base,
                                      &session->session_options, &session->base)
               : TAPML_OK;
}

// Makes `*io_session` that of a contender, opening it where it cannot be turned.
static tapml_status take_session(const struct contender_options *options,
                                 const struct contender *contender,
                                 int is_encoded,
                                 struct contender_session **io_session)
{
    if (*io_session != NULL && can_turn(*io_session, options, contender)) {
        return turn(*io_session, contender);
    }
    contender_close(*io_session);
    *io_session = NULL;
    TAPML_TRY(create(options, io_session));
    set_options(*io_session, contender);
    return open_model(*io_session, is_encoded);
}

tapml_status contender_open(const struct contender_options *options,
                            const struct contender *contender,
                            struct contender_session **io_session)
{
    tapml_status status = take_session(options, contender, 1, io_session);

    if (status == TAPML_OK && (*io_session)->session == NULL) {
        status = open_sessions(*io_session);
    }
    if (status != TAPML_OK) {
        contender_close(*io_session);
        *io_session = NULL;
    }
    return status;
}

void contender_close(struct contender_session *session)
{
    if (session == NULL) {
        return;
    }
    session_destroy(session->session);
    text_setup_close_base(&session->setup, &session->base);
    plan_destroy(session->plan);
    text_chunks_release(&session->chunks);
    plan_setup_close(&session->plan_setup);
    setup_close(&session->setup);
    alloc_free(session);
}

// -- What a value depends on -------------------------------------------------------------------

static void add_text(struct hash_state *state, const char *text)
{
    text = text != NULL ? text : "";
    hash_add(state, text, strlen(text) + 1);
}

static tapml_status add_place(struct hash_state *state,
                              const struct contender_session *session,
                              const struct place *place)
{
    const struct backend_info *info = backend_info(place->backend);
    char identity[HASH_TEXT];

    TAPML_TRY(identity_of_graph(place->backend, model_graph(session->setup.model), identity));
    add_text(state, place->settings.name);
    add_text(state, info->component);
    add_text(state, info->device);
    add_text(state, info->device_name);
    add_text(state, info->driver);
    add_text(state, activation_type(place->settings.activation)->name);
    add_text(state, place->settings.observers);
    add_text(state, identity);
    return TAPML_OK;
}

// The time of a call depends on how the device is reached, too.
static void add_speed(struct hash_state *state, const struct contender_session *session)
{
    const uint32_t threads = pool_width(session->setup.pool);

    hash_add(state, &threads, sizeof(threads));
    for (uint32_t i = 0; i < session->setup.place_count; i++) {
        const int mode = session->setup.places[i]->settings.isolation.mode;

        hash_add(state, &mode, sizeof(mode));
    }
}

// The base on the source, whose code is that of the first place. A model of its own has to have
// logits as wide, so that it is opened here.
static tapml_status add_base(struct hash_state *state, struct contender_session *session)
{
    struct model_options options = {.folder = session->given.base};
    struct model *model = NULL;
    char hash[HASH_TEXT];

    if (options.folder == NULL) {
        add_text(state, "source");
        return TAPML_OK;
    }
    TAPML_TRY(setup_read_model(&session->setup, &session->options, &options));
    options.delta = NULL;
    options.adapter = NULL;
    TAPML_TRY(model_open(session->setup.registry, &options, &model));
    const tapml_status status = text_setup_check_base(&session->setup, model, options.folder);

    hash_text(model_hash(model), hash);
    add_text(state, hash);
    model_close(model);
    return status;
}

static tapml_status add_plan(struct hash_state *state, const struct plan *plan)
{
    struct text text;

    text_init(&text);
    plan_print(plan, &text);
    const tapml_status status = text_status(&text);

    add_text(state, status == TAPML_OK ? text.data : NULL);
    text_release(&text);
    return status;
}

// The word of a plugin says less than the id behind it.
static void add_encoding(struct hash_state *state, const char *word)
{
    const tapml_encoding *encoding = word != NULL ? encoding_find_word(word) : NULL;

    if (encoding != NULL && encoding_is_added(encoding)) {
        add_text(state, encoding->id);
    }
}

static tapml_status add_all(struct hash_state *state, struct contender_session *session)
{
    const enum contender_measure measure = session->given.measure;
    const int64_t sizes[] = {session->chunks.context, session->session_options.chunk};
    char hash[HASH_TEXT];

    hash_text(model_hash(session->setup.model), hash);
    add_text(state, "trial 1, host " TAPML_VERSION);
    add_text(state, contender_measure_name(measure));
    add_text(state, hash);
    add_text(state, session->weights);
    add_encoding(state, session->weights);
    hash_add(state, sizes, sizeof(sizes));
    TAPML_TRY(add_plan(state, session->plan));
    for (uint32_t i = 0; i < session->setup.place_count; i++) {
        TAPML_TRY(add_place(state, session, session->setup.places[i]));
    }
    if (measure == CONTENDER_SPEED) {
        add_speed(state, session);
    }
    return measure == CONTENDER_KL ? add_base(state, session) : TAPML_OK;
}

static tapml_status
make_keys(struct contender_session *session, struct arena *arena, struct contender_look *look)
{
    struct hash_state *state = hash_begin();
    const struct text_chunks *chunks = &session->chunks;
    const tapml_status status = state != NULL ? add_all(state, session) : status_no_memory();
    char common[HASH_TEXT] = "";

    if (state != NULL) {
        hash_text(hash_end(state), common);
    }
    TAPML_TRY(status);
    look->chunk_count = (size_t)chunks->chunk_count;
    look->keys = arena_array(arena, look->chunk_count, sizeof(*look->keys));
    int32_t *ids = arena_array(arena, (size_t)chunks->context, sizeof(*ids));

    for (size_t i = 0; i < look->chunk_count; i++) {
        state = look->keys != NULL && ids != NULL ? hash_begin() : NULL;
        if (state == NULL) {
            return status_no_memory();
        }
        text_chunks_copy(chunks, (int64_t)i, ids);
        add_text(state, common);
        hash_add(state, ids, (size_t)chunks->context * sizeof(*ids));
        hash_text(hash_end(state), look->keys[i]);
    }
    return TAPML_OK;
}

// -- Memory ------------------------------------------------------------------------------------

static void note_argument(const struct graph *graph,
                          const struct graph_argument *argument,
                          unsigned char *is_read)
{
    switch (argument->kind) {
    case TAPML_P_TENSOR_IN:
    case TAPML_P_TENSOR_OUT:
    case TAPML_P_TENSOR_INOUT:
        is_read[graph->values[argument->value].base] = 1;
        return;
    case TAPML_P_TENSORS_IN:
        for (uint32_t i = 0; i < argument->count; i++) {
            is_read[graph->values[argument->values[i]].base] = 1;
        }
        return;
    default:
        return;
    }
}

// Marks the base values that ops away from the source have as arguments.
static tapml_status mark(const struct contender_session *session, unsigned char *is_read)
{
    const struct graph *graph = model_graph(session->setup.model);
    const char *names[SESSION_PLACES_MAX];
    uint8_t *places = alloc_array((size_t)graph->op_count * PLAN_PHASES + 1, sizeof(*places));

    if (places == NULL) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < session->setup.place_count; i++) {
        names[i] = session->setup.places[i]->settings.name;
    }
    const tapml_status status =
        plan_resolve(session->plan, graph, names, session->setup.place_count, places);

    for (uint32_t op = 0; status == TAPML_OK && op < graph->op_count; op++) {
        const int is_away = places[op] != 0 || places[graph->op_count + op] != 0;

        for (uint32_t p = 0; is_away && p < graph->ops[op].op->n_params; p++) {
            note_argument(graph, &graph->ops[op].arguments[p], is_read);
        }
    }
    alloc_free(places);
    return status;
}

// Of a plan, what its ops away from the source read; activations are counted whole.
static tapml_status count_planned(const struct contender_session *session,
                                  const struct forecast_frame *frame,
                                  struct forecast_memory *memory)
{
    const struct graph *graph = frame->graph;
    unsigned char *is_read = alloc_new(graph->value_count + 1);

    if (is_read == NULL) {
        return status_no_memory();
    }
    const tapml_status status = mark(session, is_read);

    memory->weights = 0;
    memory->states = 0;
    for (uint32_t v = 0; status == TAPML_OK && v < graph->value_count; v++) {
        const enum graph_kind kind = graph->values[v].kind;
        const uint64_t bytes = is_read[v] ? forecast_frame_bytes(frame, v) : 0;

        memory->weights += kind == GRAPH_WEIGHT || kind == GRAPH_CONSTANT ? bytes : 0;
        memory->states += kind == GRAPH_STATE ? bytes : 0;
    }
    alloc_free(is_read);
    return status;
}

static tapml_status
count_in(const struct contender_session *session, struct forecast_frame *frame, uint64_t *out_bytes)
{
    struct forecast_limits limits;

    TAPML_TRY(forecast_limits_find(frame, &limits));
    const tapml_status status =
        session->plan_setup.plan != NULL ? count_planned(session, frame, &limits.memory) : TAPML_OK;

    *out_bytes = forecast_limits_bytes(&limits.memory);
    forecast_limits_release(&limits);
    return status;
}

static tapml_status
count_of(const struct contender_session *session, struct model *model, uint64_t *out_bytes)
{
    const struct forecast_frame_options options = {.model = model,
                                                   .source = session->setup.places[0],
                                                   .file = session->given.fits,
                                                   .activation = session->plan_setup.activation,
                                                   .capacity = session->session_options.capacity,
                                                   .chunk = session->session_options.chunk};
    struct forecast_frame frame; // It has pointers to itself.

    TAPML_TRY(forecast_frame_open(&options, &frame));
    const tapml_status status = count_in(session, &frame, out_bytes);

    forecast_frame_close(&frame);
    return status;
}

static tapml_status count_bytes(struct contender_session *session, uint64_t *out_bytes)
{
    struct model_options encoded = session->model;
    struct model *model = NULL;

    if (session->weights != NULL) {
        TAPML_TRY(setup_read_weights(session->weights, &encoded));
    }
    if (encoded.encoding == session->model.encoding) {
        return count_of(session, session->setup.model, out_bytes);
    }
    TAPML_TRY(model_open(session->setup.registry, &encoded, &model));
    const tapml_status status = count_of(session, model, out_bytes);

    model_close(model);
    return status;
}

// -- A look ------------------------------------------------------------------------------------

static tapml_status check_encoding(const struct contender_session *session)
{
    const struct graph *graph = model_graph(session->setup.model);
    struct encode_size size;
    struct model_options options = {.folder = NULL};

    if (session->weights == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(setup_read_weights(session->weights, &options));
    TAPML_TRY(encode_measure(graph, options.encoding, &size));
    return options.encoding == NULL || size.encoded > 0
               ? TAPML_OK
               : status_fail(TAPML_UNIMPLEMENTED,
                             "no weight of the model has rows of whole blocks of '%s'",
                             session->weights);
}

static tapml_status count_text(const struct contender_session *session, double *out_bytes_of_token)
{
    char *text = NULL;
    size_t length = 0;

    TAPML_TRY(file_read(options_get(&session->options, "--text"), TEXT_BYTES_MAX, &text, &length));
    *out_bytes_of_token = (double)length / (double)session->chunks.count;
    alloc_free(text);
    return TAPML_OK;
}

static tapml_status
look_at(struct contender_session *session, struct arena *arena, struct contender_look *look)
{
    TAPML_TRY(check_encoding(session));
    TAPML_TRY(count_text(session, &look->bytes_of_token));
    look->context = session->chunks.context;
    if (session->given.fits != NULL) {
        TAPML_TRY(count_bytes(session, &look->bytes));
    }
    return make_keys(session, arena, look);
}

tapml_status contender_look(const struct contender_options *options,
                            const struct contender *contender,
                            struct contender_session **io_session,
                            struct arena *arena,
                            struct contender_look *out_look)
{
    struct contender_look look = {.keys = NULL};

    tapml_status status = take_session(options, contender, 0, io_session);

    if (status == TAPML_OK) {
        status = look_at(*io_session, arena, &look);
    }
    if (status != TAPML_OK) {
        contender_close(*io_session);
        *io_session = NULL;
        return status;
    }
    *out_look = look;
    return TAPML_OK;
}

// -- A chunk -----------------------------------------------------------------------------------

// A chunk as a text of its own.
static struct text_chunks chunk_at(const struct contender_session *session, size_t chunk)
{
    struct text_chunks one = session->chunks;

    ASSERT((int64_t)chunk < one.chunk_count);
    one.ids += (int64_t)chunk * one.context;
    one.count = one.context;
    one.chunk_count = 1;
    return one;
}

static tapml_status try_text(struct contender_session *session,
                             const struct text_chunks *chunk,
                             struct contender_trial *trial)
{
    struct perplexity perplexity;
    const tapml_status status =
        perplexity_run(&(struct perplexity_options){.session = session->session,
                                                    .base = session->base.session,
                                                    .chunks = chunk,
                                                    .call = session->session_options.chunk},
                       &perplexity);

    if (status == TAPML_OK) {
        const double surprise = perplexity.surprise.mean;
        const int is_kl = session->given.measure == CONTENDER_KL;
        const double divergence = perplexity.divergence.divergences.mean;

        trial->value = !is_kl ? surprise : divergence > 0 ? divergence : 0; // Nor a zero below 0.
        trial->beside = is_kl ? surprise : NAN;
    }
    perplexity_release(&perplexity);
    return status;
}

// Waits for what was queued, as whoever chooses a token has to.
static tapml_status wait_for(struct session *session)
{
    int32_t id = 0;

    return session_greedy(session, &id);
}

// Feeds half a chunk, and behind it `count` tokens one by one.
static tapml_status
decode(struct session *session, const int32_t *ids, int64_t first, int64_t count, uint64_t *out_ns)
{
    const uint64_t begin_ns = clock_now_ns();

    TAPML_TRY(session_begin(session, first));
    TAPML_TRY(session_feed(session, ids, first));
    TAPML_TRY(wait_for(session));
    const uint64_t middle_ns = clock_now_ns();

    for (int64_t i = 0; i < count; i++) {
        TAPML_TRY(session_feed(session, ids + first + i, 1));
        TAPML_TRY(wait_for(session));
    }
    out_ns[0] = middle_ns - begin_ns;
    out_ns[1] = clock_now_ns() - middle_ns;
    return interrupt_check();
}

static tapml_status try_speed(struct contender_session *session,
                              const struct text_chunks *chunk,
                              struct contender_trial *trial)
{
    const int64_t first = text_chunks_first(chunk), left = chunk->context - first;
    const int64_t count = left < DECODE_MOST ? left : DECODE_MOST;
    int32_t *ids = alloc_array((size_t)chunk->context, sizeof(*ids));
    uint64_t times_ns[2] = {0, 0};

    if (ids == NULL) {
        return status_no_memory();
    }
    text_chunks_copy(chunk, 0, ids);
    tapml_status status = TAPML_OK;

    if (!session->is_warm) {
        status = decode(session->session, ids, first, 2, times_ns);
        session->is_warm = 1;
    }
    if (status == TAPML_OK) {
        status = decode(session->session, ids, first, count, times_ns);
    }
    alloc_free(ids);
    trial->value = (double)times_ns[1] / (double)count;
    trial->beside = (double)times_ns[0] / (double)first;
    return status;
}

tapml_status
contender_try(struct contender_session *session, size_t chunk, struct contender_trial *out_trial)
{
    const struct text_chunks one = chunk_at(session, chunk);
    const uint64_t begin_ns = clock_now_ns();
    struct contender_trial trial = {.value = NAN};

    TAPML_TRY(session->given.measure == CONTENDER_SPEED ? try_speed(session, &one, &trial)
                                                        : try_text(session, &one, &trial));
    trial.time_ns = clock_now_ns() - begin_ns;
    *out_trial = trial;
    return TAPML_OK;
}
