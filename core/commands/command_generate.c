// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "commands/command.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"
#include "exec/run.h"
#include "model/chat.h"
#include "model/safetensors.h"
#include "run/fine_tunes.h"
#include "run/interrupt.h"
#include "run/model_parts.h"
#include "run/nonfinite_search.h"
#include "run/plan_setup.h"
#include "run/pooling.h"
#include "run/setup.h"
#include "run/text_printer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct options_spec specs[] = {
    {"--model", "PATH",
     "the model's folder, a name or a GGUF file; default with --plan: that of the plan's run"},
    {"--prompt", "TEXT", "the prompt to continue"},
    {"--ids", "IDS", "the same as ids: '5 17 3'"},
    {"--chat", NULL, "--prompt is a user's message, or messages as JSON; prints the answer alone"},
    {"--system", "TEXT", "with --chat: the system's message before them"},
    {"--inputs", "FILE",
     "what the model's other parts read, such as images, as safetensors: 'pixel_values'"},
    {"--count", "N", "tokens to produce, 32 by default"},
    PLAN_SETUP_OPTIONS,
    {"--capacity", "N", "maximum tokens of prompt and answer"},
    {"--json", NULL, "prints ids and text, or the embedding, as JSON"},
    POOLING_OPTIONS,
    FINE_TUNES_OPTIONS,
    SETUP_ISOLATION_OPTIONS,
    SETUP_OBSERVER_OPTIONS,
    SETUP_MODEL_OPTIONS,
    SETUP_OPTIONS,
    {NULL, NULL, NULL},
};

const struct options_manual command_generate_manual = {
    .usage = "tapml-host generate --model PATH --prompt TEXT [--backend B | --plan FILE]",
    .about =
        "Continues a prompt, greedily; with --fine-tune by each of them, behind a line with its "
        "path.",
    .specs = specs,
};

struct generate {
    struct options options;
    struct setup setup;
    struct plan_setup plan_setup;
    struct plan *plan;
    const char *model; // Its folder.
    int32_t *ids;
    int64_t count, decode;
    struct checkpoint *inputs_file; // Or NULL.
    struct model_inputs inputs;     // Of the parts: that file.
    struct model_parts parts;       // That tokens of the prompt stand for.
    struct prompt_givens given;     // Their rows.
    struct pooling pooling;
    struct session *session;
    struct session_options session_options;
    struct fine_tunes fine_tunes;
    const struct fine_tune *fine_tune; // Whose session it is; NULL: the model's own.
    int is_infinite;                   // A logit was.
    struct text_printer *printer;      // With --json: NULL.
    tapml_status printed;              // What became of it.
};

// -- The prompt --------------------------------------------------------------------------------

static tapml_status parse_ids(struct generate *generate, const char *text)
{
    size_t capacity = 0;
    void *ids = NULL;

    while (text[strspn(text, " ")] != '\0') {
        char word[24];
        int64_t id = 0;

        text += strspn(text, " ");
        const size_t length = strcspn(text, " ");

        (void)snprintf(word, sizeof(word), "%.*s", (int)(length < 23 ? length : 23), text);
        if (length > 22 || text_parse_i64(word, &id) != TAPML_OK || id < 0 || id > INT32_MAX) {
            alloc_free(ids);
            return status_fail(TAPML_INVALID, "--ids: '%s' is no token id", word);
        }
        if (!alloc_grow(&ids, &capacity, (size_t)generate->count, sizeof(int32_t))) {
            alloc_free(ids);
            return status_no_memory();
        }
        ((int32_t *)ids)[generate->count++] = (int32_t)id;
        text += length;
    }
    generate->ids = ids;
    return TAPML_OK;
}

// The template writes the special tokens, so that the tokenizer adds none.
static tapml_status encode_chat(struct generate *generate, const char *messages, size_t *out_count)
{
    struct chat *chat = NULL;
    char *text = NULL;
    size_t length = 0;

    TAPML_TRY(chat_open(generate->model, &chat));
    tapml_status status =
        chat_render(chat, messages, options_get(&generate->options, "--system"), &text, &length);

    if (status == TAPML_OK) {
        status =
            tokenizer_encode(generate->setup.tokenizer, text, length, 0, &generate->ids, out_count);
    }
    alloc_free(text);
    chat_close(chat);
    return status;
}

static tapml_status read_prompt(struct generate *generate)
{
    const int is_chat = options_get(&generate->options, "--chat") != NULL;
    const char *text = options_get(&generate->options, "--prompt");
    const char *ids = options_get(&generate->options, "--ids");
    size_t count = 0;

    if ((text == NULL) == (ids == NULL)) {
        return status_fail(TAPML_INVALID, "give either --prompt or --ids");
    }
    if ((is_chat && text == NULL) ||
        (!is_chat && options_get(&generate->options, "--system") != NULL)) {
        return status_fail(TAPML_INVALID,
                           is_chat ? "--chat needs --prompt, not --ids" : "--system needs --chat");
    }
    if (ids != NULL) {
        TAPML_TRY(parse_ids(generate, ids));
        setup_warn_no_text(&generate->setup);
    } else if (generate->setup.no_text != NULL) {
        return status_fail(TAPML_INVALID, "%s; give --ids", generate->setup.no_text);
    } else if (generate->setup.tokenizer == NULL) {
        return status_fail(TAPML_INVALID, "the model '%s' has no tokenizer; give --ids",
                           generate->model);
    } else {
        TAPML_TRY(is_chat ? encode_chat(generate, text, &count)
                          : tokenizer_encode(generate->setup.tokenizer, text, strlen(text), 1,
                                             &generate->ids, &count));
        generate->count = (int64_t)count;
    }
    return generate->count > 0 ? TAPML_OK : status_fail(TAPML_INVALID, "the prompt is empty");
}

// The parts that tokens of the prompt stand for. `model` is how the model was opened.
static tapml_status open_parts(struct generate *generate, const struct model_options *model)
{
    const char *path = options_get(&generate->options, "--inputs");

    TAPML_TRY(model_parts_open(generate->setup.registry, generate->setup.model, model,
                               generate->ids, generate->count, &generate->parts));
    if ((path != NULL) != (generate->parts.count > 0)) {
        return path != NULL
                   ? status_fail(TAPML_INVALID, "--inputs is given, and no token of the prompt "
                                                "stands for what another part of the model reads")
                   : status_fail(TAPML_INVALID,
                                 "token %lld of the prompt stands for a row of '%s' of '%s': give "
                                 "--inputs, with what that reads",
                                 (long long)generate->parts.items[0].part->token,
                                 generate->parts.items[0].part->output,
                                 generate->parts.items[0].part->component);
    }
    if (path == NULL) {
        return TAPML_OK;
    }
    TAPML_TRY(safetensors_open_file(path, &generate->inputs_file));
    generate->inputs = (struct model_inputs){.file = generate->inputs_file, .name = path};
    return model_parts_expand(&generate->parts, &generate->inputs, &generate->ids,
                              &generate->count);
}

// Their rows, under the plan of the prompt; under one of a file, which is made for the operators of
// the text, on the source.
static tapml_status run_parts(struct generate *generate)
{
    struct session_options options = generate->session_options;
    struct plan *plan = NULL;

    if (generate->parts.count == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(plan_create(&plan));
    if (generate->plan_setup.plan != NULL) {
        options.plan = plan;
    }
    const tapml_status status = model_parts_compute(&generate->parts, &generate->inputs, &options);

    plan_destroy(plan);
    generate->given = model_parts_givens(&generate->parts);
    return status == TAPML_OK ? session_give(generate->session, &generate->given) : status;
}

// -- Running -----------------------------------------------------------------------------------

// The prompt, unless it is a chat, which has marks that are not shown, and then each token.
static tapml_status print_step(struct generate *generate, int64_t step, int32_t next_id)
{
    if (step == 0 && options_get(&generate->options, "--chat") == NULL) {
        TAPML_TRY(text_printer_add(generate->printer, generate->ids, (size_t)generate->count));
    }
    return text_printer_add(generate->printer, &next_id, 1);
}

// A logit that is NaN is a failure, an infinite one is reported behind the run.
static tapml_status after_step(void *user, int64_t step, int32_t next_id)
{
    struct generate *generate = user;
    const float *logits = NULL;
    int64_t shape[TAPML_MAX_RANK];
    uint32_t rank = 0;

    if (!generate->is_infinite && next_id >= 0) {
        TAPML_TRY(session_output(generate->session, "logits", &logits, shape, &rank));
        generate->is_infinite = isinf(logits[(shape[0] - 1) * shape[1] + next_id]) != 0;
    }
    if (generate->printer != NULL) {
        generate->printed = print_step(generate, step, next_id);
        TAPML_TRY(generate->printed);
    }
    return interrupt_check();
}

// Ids and text as JSON, of a chat the text of the answer alone.
static tapml_status print_json(const struct generate *generate, const int32_t *ids, int64_t count)
{
    const int64_t first = options_get(&generate->options, "--chat") != NULL ? generate->count : 0;
    char *decoded = NULL;
    size_t length = 0;
    struct text text;

    if (generate->setup.tokenizer != NULL) {
        TAPML_TRY(tokenizer_decode(generate->setup.tokenizer, ids + first, (size_t)(count - first),
                                   1, &decoded, &length));
    }
    text_init(&text);
    text_append(&text, "{");
    if (generate->fine_tune != NULL) {
        text_append(&text, "\"fine_tune\": ");
        text_append_json(&text, generate->fine_tune->path);
        text_append(&text, ", ");
    }
    text_format(&text, "\"prompt_tokens\": %lld, \"ids\": [", (long long)generate->count);
    for (int64_t i = 0; i < count; i++) {
        text_format(&text, "%s%d", i > 0 ? ", " : "", ids[i]);
    }
    text_append(&text, "], \"text\": ");
    text_append_json_bytes(&text, decoded != NULL ? decoded : "", length);
    text_append(&text, "}\n");
    alloc_free(decoded);
    return text_print(&text);
}

static struct nonfinite_run nonfinite_run_of(const struct generate *generate)
{
    return (struct nonfinite_run){.session = &generate->session_options,
                                  .ids = generate->ids,
                                  .count = generate->count,
                                  .decode = generate->decode,
                                  .given = &generate->given};
}

static tapml_status warn_infinite(const struct generate *generate)
{
    const struct nonfinite_run run = nonfinite_run_of(generate);
    struct nonfinite nonfinite;

    if (!generate->is_infinite) {
        return TAPML_OK;
    }
    TAPML_TRY(nonfinite_search(&run, &nonfinite));
    if (nonfinite.is_found) {
        log_line(LOG_WARNING, "%s", nonfinite.sentence);
    }
    return TAPML_OK;
}

// Writes the ids behind those of the prompt and their number.
static tapml_status decode(struct generate *generate, int32_t *out_ids, int64_t *out_count)
{
    const struct special *special = &generate->setup.special;
    const struct nonfinite_run again = nonfinite_run_of(generate);
    const tapml_status status = run_greedy(generate->session,
                                           &(struct run_options){.ids = generate->ids,
                                                                 .count = generate->count,
                                                                 .decode = generate->decode,
                                                                 .end = special->end,
                                                                 .end_count = special->end_count,
                                                                 .after_step = after_step,
                                                                 .user = generate},
                                           out_ids, out_count);

    if (generate->printer != NULL && generate->printed == TAPML_OK) {
        generate->printed = text_printer_end(generate->printer); // A line that was begun.
    }
    if (generate->printed != TAPML_OK) {
        return generate->printed;
    }
    return nonfinite_search_explain(status, &again);
}

static tapml_status run_session(struct generate *generate)
{
    const int is_json = options_get(&generate->options, "--json") != NULL;
    int64_t produced = 0;

    if (!is_json) {
        TAPML_TRY(text_printer_create(generate->setup.tokenizer, stdout, &generate->printer));
    }
    int32_t *ids =
        alloc_array((size_t)(generate->count + generate->decode) + 1, sizeof(*generate->ids));

    if (ids == NULL) {
        return status_no_memory();
    }
    memcpy(ids, generate->ids, (size_t)generate->count * sizeof(*ids));
    tapml_status status = decode(generate, ids + generate->count, &produced);

    if (status == TAPML_OK && is_json) {
        status = print_json(generate, ids, generate->count + produced);
    }
    alloc_free(ids);
    return status == TAPML_OK ? warn_infinite(generate) : status;
}

// The embedding of the prompt, which is fed in calls of at most a chunk.
static tapml_status pool_prompt(struct generate *generate)
{
    const int64_t chunk = generate->session_options.chunk;
    const char *output = NULL;

    TAPML_TRY(pooling_find(model_graph(generate->setup.model), &output));
    TAPML_TRY(session_begin(generate->session, generate->count));
    pooling_begin(&generate->pooling);
    for (int64_t first = 0; first < generate->count; first += chunk) {
        const int64_t left = generate->count - first, count = left < chunk ? left : chunk;
        const int32_t last = (int32_t)count - 1;
        const float *values = NULL;
        int64_t shape[TAPML_MAX_RANK];
        uint32_t rank = 0;

        TAPML_TRY(session_step(generate->session, generate->ids + first, count, &last, 1));
        TAPML_TRY(session_output(generate->session, output, &values, shape, &rank));
        TAPML_TRY(rank == 2 ? pooling_add(&generate->pooling, values, shape[0], shape[1], NULL)
                            : status_fail(TAPML_INVALID, "output '%s' has no rows", output));
        TAPML_TRY(interrupt_check());
    }
    return pooling_end(&generate->pooling);
}

static tapml_status print_embedding(const struct generate *generate)
{
    const int is_json = options_get(&generate->options, "--json") != NULL;
    const struct pooling *pooling = &generate->pooling;
    struct text text;

    text_init(&text);
    if (is_json) {
        text_format(&text, "{\"prompt_tokens\": %lld, \"embedding\": [",
                    (long long)generate->count);
    }
    for (int64_t i = 0; i < pooling->width; i++) {
        text_format(&text, "%s%.9g", i == 0 ? "" : is_json ? ", " : " ", pooling->values[i]);
    }
    text_append(&text, is_json ? "]}" : "");
    const tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        (void)printf("%s\n", text.data);
    }
    text_release(&text);
    return status;
}

static tapml_status run_embedding(struct generate *generate)
{
    const struct nonfinite_run again = nonfinite_run_of(generate);
    struct nonfinite nonfinite;

    TAPML_TRY(pool_prompt(generate));
    for (int64_t i = 0; i < generate->pooling.width; i++) {
        if (!isfinite(generate->pooling.values[i])) {
            TAPML_TRY(nonfinite_search(&again, &nonfinite));
            return status_fail(TAPML_INVALID, "value %lld of the embedding is not finite%s%s",
                               (long long)i, nonfinite.is_found ? "; " : "", nonfinite.sentence);
        }
    }
    return print_embedding(generate);
}

// -- Fine-tunes --------------------------------------------------------------------------------

// Continues the prompt by one of them, over weights of the base that stay where they are.
static tapml_status run_fine_tune(struct generate *generate, const struct fine_tune *fine_tune)
{
    generate->fine_tune = fine_tune;
    generate->is_infinite = 0;
    generate->session_options.model = fine_tune->model;
    TAPML_TRY(session_create(&generate->session_options, &generate->session));
    if (options_get(&generate->options, "--json") == NULL) {
        (void)printf("%s:\n", fine_tune->path);
    }
    const tapml_status status = run_session(generate);

    text_printer_destroy(generate->printer);
    generate->printer = NULL;
    session_destroy(generate->session);
    generate->session = NULL;
    return status;
}

// With --explain: what weights take, in files and at each place.
static tapml_status explain_fine_tunes(const struct generate *generate)
{
    struct text text;

    if (options_get(&generate->options, "--explain") == NULL) {
        return TAPML_OK;
    }
    text_init(&text);
    fine_tunes_print(&generate->fine_tunes, &text);
    for (uint32_t i = 0; i < generate->setup.place_count; i++) {
        const struct place *place = generate->setup.places[i];

        text_format(&text, "; %s has copied %llu", place->settings.name,
                    place->weights != NULL
                        ? (unsigned long long)residency_copied_bytes(place->weights)
                        : 0ULL);
    }
    const tapml_status status = text_status(&text);

    if (status == TAPML_OK) {
        log_say("%s", text.data);
    }
    text_release(&text);
    return status;
}

static tapml_status run_fine_tunes(struct generate *generate)
{
    session_destroy(generate->session); // The base's own is not asked.
    generate->session = NULL;
    for (size_t i = 0; i < generate->fine_tunes.count; i++) {
        const struct fine_tune *item = &generate->fine_tunes.items[i];
        const tapml_status status = run_fine_tune(generate, item);

        if (status != TAPML_OK) {
            return status_explain(status, "fine-tune '%s'", item->path);
        }
    }
    return explain_fine_tunes(generate);
}

static tapml_status open_fine_tunes(struct generate *generate, const struct model_options *model)
{
    TAPML_TRY(fine_tunes_open(&generate->setup, &generate->options, model, &generate->fine_tunes));
    return generate->fine_tunes.count == 0 ||
                   (generate->pooling.kind == POOLING_NONE && generate->parts.count == 0)
               ? TAPML_OK
               : status_fail(TAPML_INVALID, "--fine-tune continues a prompt of text, and is not "
                                            "for --pool and --inputs");
}

static tapml_status make_session(struct generate *generate)
{
    int64_t capacity = 0;

    TAPML_TRY(options_i64(&generate->options, "--capacity", generate->count + generate->decode, 1,
                          1 << 24, &capacity));
    TAPML_TRY(plan_setup_plan(&generate->plan_setup, &generate->plan));
    const int is_whole = setup_vocabulary(&generate->setup) == 0; // An encoder sees all of a text.
    const int64_t chunk = is_whole || capacity < 128 ? capacity : 128;

    generate->session_options = (struct session_options){.model = generate->setup.model,
                                                         .places = generate->setup.places,
                                                         .place_count = generate->setup.place_count,
                                                         .plan = generate->plan,
                                                         .capacity = capacity,
                                                         .chunk = chunk};
    TAPML_TRY(session_create(&generate->session_options, &generate->session));
    return run_parts(generate);
}

static tapml_status generate(struct generate *generate)
{
    struct model_options model = {.folder = NULL};

    TAPML_TRY(pooling_read(&generate->options, &generate->pooling));
    const int is_embedding = generate->pooling.kind != POOLING_NONE;

    TAPML_TRY(plan_setup_open(&generate->setup, &generate->options, &generate->plan_setup));
    TAPML_TRY(options_i64(&generate->options, "--count", 32, 1, 1 << 24, &generate->decode));
    generate->decode = is_embedding ? 0 : generate->decode;
    TAPML_TRY(plan_setup_model(&generate->plan_setup, &model));
    generate->model = model.folder;
    TAPML_TRY(setup_check_decode(&generate->setup, generate->decode));
    TAPML_TRY(read_prompt(generate));
    TAPML_TRY(open_parts(generate, &model));
    TAPML_TRY(open_fine_tunes(generate, &model));
    TAPML_TRY(plan_setup_places(&generate->plan_setup));
    TAPML_TRY(make_session(generate));
    if (generate->fine_tunes.count > 0) {
        return run_fine_tunes(generate);
    }
    TAPML_TRY(is_embedding ? run_embedding(generate) : run_session(generate));
    return plan_setup_explain(&generate->plan_setup, generate->session);
}

enum outcome command_generate_main(const struct command *command)
{
    struct generate state = {.count = 0};
    tapml_status status = options_parse(specs, command->argc, command->argv, &state.options);

    if (status == TAPML_OK) {
        status = options_no_plain(&state.options);
    }
    if (status == TAPML_OK && options_get(&state.options, "--help") != NULL) {
        return outcome_report(options_help(&command_generate_manual));
    }
    if (status == TAPML_OK) {
        status = setup_open(command->program, &state.options, NULL, &state.setup);
    }
    if (status != TAPML_OK) {
        return outcome_report(status);
    }
    interrupt_watch();
    status = generate(&state);
    const enum outcome outcome = outcome_report(status);

    text_printer_destroy(state.printer);
    session_destroy(state.session);
    pooling_release(&state.pooling);
    model_parts_close(&state.parts);
    checkpoint_close(state.inputs_file);
    plan_destroy(state.plan);
    plan_setup_close(&state.plan_setup);
    alloc_free(state.ids);
    fine_tunes_close(&state.setup, &state.fine_tunes);
    setup_close(&state.setup);
    return outcome;
}
