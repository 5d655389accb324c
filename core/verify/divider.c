// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/divider.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/text.h"
#include "carve/recorder.h"
#include "exec/expanded.h"
#include "store/case.h"
#include "verify/examiner.h"
#include "verify/oracle.h"
#include "verify/subgroup.h"

#include <stdio.h>
#include <string.h>

enum { OPS_MAX = 64, DIVIDER_TEXT = 240 };

struct divider {
    struct verdict_options options; // As given, without an observer.
    struct examiner *examiner;      // Made with the first question.
    struct divided {
        const tapml_op *op;
        char text[DIVIDER_TEXT]; // "" where nothing is known.
    } divided[OPS_MAX];
    size_t divided_count;
};

// What became of a part on the target.
enum part_verdict { PART_UNKNOWN, PART_RIGHT, PART_WRONG };

// A question on its way.
struct division {
    struct divider *divider;
    const struct carved_case *item;
    const struct compiled_op *schema;
    struct arena *arena;
    const struct plain_form *form;
    struct plain_frame *frame;
    struct inferred inferred;
    struct backend *exact;     // Computes what is right,
    struct expanded *parts;    // by forms,
    struct recorder *recorder; // as is seen here,
    const tapml_op *wanted;    // of this op,
    enum part_verdict verdict; // which then is that.
};

// -- A part ------------------------------------------------------------------------------------

static int wants(void *user, const struct backend_call *call)
{
    const struct division *division = user;
    return call->op == division->wanted;
}

// Judges a call that the exact device has made, on the target.
static tapml_status judge(struct division *division, const struct carved_case *seen)
{
    struct examiner *examiner = division->divider->examiner;
    struct carved_case item = *seen;
    struct examination examination = {.item = &item, .is_derived = 1};
    struct verdict verdict = {.source = "part", .label = ""};
    const char *refusal = NULL;
    item.is_derived = 1;
    examination.schema = examiner_schema(examiner, &item);
    TAPML_TRY(examiner_name(division->arena, &item, &verdict));
    TAPML_TRY(examiner_expect(examiner, &item, &examination, division->arena, &refusal));
    if (refusal) {
        return TAPML_OK;
    }
    TAPML_TRY(examiner_try(examiner, &examination, division->arena, &verdict));
    if (verdict.kind == VERDICT_PASS) {
        division->verdict = PART_RIGHT;
    } else if (verdict_count_failed(&verdict, 1) > 0) {
        division->verdict = PART_WRONG;
    }
    return TAPML_OK;
}

static tapml_status visit(void *user, const struct carved_case *item, const tapml_op *op)
{
    struct division *division = user;
    (void)op;
    return judge(division, item);
}

// Lets the exact device compute the op by its form, in which the wanted op is seen.
static tapml_status
run_form(struct division *division, const struct compiled_op *whole, const struct carved_case *item)
{
    struct registry *registry = division->divider->options.registry;
    struct expanded *outer = NULL;
    struct replay *replay = NULL;
    struct replay_result result;
    TAPML_TRY(expanded_create(recorder_backend(division->recorder), registry_catalogue(registry),
                              &outer));
    expanded_split(outer, whole->op);
    tapml_status status =
        replay_create(expanded_backend(outer), division->divider->options.checkpoint, &replay);
    if (status == TAPML_OK) {
        status = recorder_begin_step(division->recorder, item->prompt, item->step, item->phase,
                                     item->tokens);
    }
    if (status == TAPML_OK) {
        status = replay_run(replay, item, whole, 0, &result);
    }
    replay_destroy(replay);
    expanded_destroy(outer);
    return status;
}

// The verdict on calls [begin, end) as one op; of one call, on that call.
static tapml_status
try_part(struct division *division, uint32_t begin, uint32_t end, enum part_verdict *out_verdict)
{
    struct registry *registry = division->divider->options.registry;
    const struct subgroup_range range = {begin, end};
    struct carved_case item = *division->item;
    struct subgroup made;
    division->verdict = PART_UNKNOWN;
    tapml_status status =
        subgroup_make(division->frame, &division->inferred, &range, registry_catalogue(registry),
                      registry_arena(registry), &made);
    if (status == TAPML_OK) {
        item.op_name = made.whole->op->name;
        item.op_version = made.whole->op->version;
        division->wanted = made.part->op;
        status = run_form(division, made.whole, &item);
    }
    *out_verdict = division->verdict;
    return status_ends_all(status) ? status : TAPML_OK; // Of other failures nothing follows.
}

// -- The search --------------------------------------------------------------------------------

static const char *name_of(const struct division *division, uint32_t call)
{
    const struct plain_call *found = &division->form->calls[call];
    return found->label[0] ? found->label : catalogue_short_name(found->schema->op);
}

static tapml_status
say(const struct division *division, const char *what, uint32_t begin, uint32_t end, char *out_text)
{
    struct text text;
    text_init(&text);
    text_append(&text, what);
    for (uint32_t i = begin; i < end; i++) {
        text_format(&text, "%s%s", i > begin ? " + " : " ", name_of(division, i));
    }
    const tapml_status status = text_status(&text);
    (void)snprintf(out_text, DIVIDER_TEXT, "%s", status == TAPML_OK ? text.data : "");
    text_release(&text);
    return status;
}

// Each call alone. `*out_tried` is how many of them the target computes.
static tapml_status try_alone(struct division *division, uint32_t *out_tried, char *out_text)
{
    *out_tried = 0;
    for (uint32_t i = 0; i < division->form->call_count && out_text[0] == '\0'; i++) {
        enum part_verdict verdict = PART_UNKNOWN;
        TAPML_TRY(try_part(division, i, i + 1, &verdict));
        *out_tried += verdict != PART_UNKNOWN;
        if (verdict == PART_WRONG) {
            TAPML_TRY(say(division, "wrong alone:", i, i + 1, out_text));
        }
    }
    return TAPML_OK;
}

// The shortest sequences first.
static tapml_status try_sequences(struct division *division, uint32_t tried, char *out_text)
{
    const uint32_t count = division->form->call_count;
    const char *what = tried == count ? "wrong only when fused:" : "wrong as a group:";
    for (uint32_t length = 2; length < count; length++) {
        for (uint32_t begin = 0; begin + length <= count; begin++) {
            enum part_verdict verdict = PART_UNKNOWN;
            TAPML_TRY(try_part(division, begin, begin + length, &verdict));
            if (verdict == PART_WRONG) {
                return say(division, what, begin, begin + length, out_text);
            }
        }
    }
    return say(division, what, 0, count, out_text);
}

static tapml_status evaluate(struct division *division)
{
    struct registry *registry = division->divider->options.registry;
    tapml_value *args = NULL;
    TAPML_TRY(plain_form_create(division->schema, registry_catalogue(registry), division->arena,
                                &division->form));
    TAPML_TRY(plain_frame_create(division->form, division->arena, &division->frame));
    TAPML_TRY(case_values(division->item, division->arena, &args));
    TAPML_TRY(infer_call(division->schema, args, &division->inferred));
    return plain_frame_evaluate(division->frame, args, &division->inferred, ACTIVATION_F32);
}

static tapml_status open_exact(struct division *division)
{
    struct registry *registry = division->divider->options.registry;
    TAPML_TRY(oracle_open_exact(registry, division->schema->op, &division->exact));
    if (!division->exact) {
        return status_fail(TAPML_NOT_FOUND, "no device computes it exactly");
    }
    TAPML_TRY(expanded_create(division->exact, registry_catalogue(registry), &division->parts));
    return recorder_create(&(struct recorder_options){.inner = expanded_backend(division->parts),
                                                      .wants = wants,
                                                      .visit = visit,
                                                      .user = division},
                           &division->recorder);
}

static tapml_status divide(struct division *division, char *out_text)
{
    uint32_t tried = 0;
    TAPML_TRY(evaluate(division));
    TAPML_TRY(open_exact(division));
    TAPML_TRY(try_alone(division, &tried, out_text));
    return out_text[0] == '\0' ? try_sequences(division, tried, out_text) : TAPML_OK;
}

// -- Life --------------------------------------------------------------------------------------

tapml_status divider_create(const struct verdict_options *options, struct divider **out_divider)
{
    struct divider *divider = alloc_new(sizeof(*divider));
    if (!divider) {
        return status_no_memory();
    }
    divider->options = *options;
    divider->options.observe = NULL;
    *out_divider = divider;
    return TAPML_OK;
}

void divider_destroy(struct divider *divider)
{
    if (divider) {
        examiner_destroy(divider->examiner);
        alloc_free(divider);
    }
}

static const struct divided *find_divided(const struct divider *divider, const tapml_op *op)
{
    for (size_t i = 0; i < divider->divided_count; i++) {
        if (divider->divided[i].op == op) {
            return &divider->divided[i];
        }
    }
    return NULL;
}

static tapml_status divide_case(struct divider *divider,
                                const struct carved_case *item,
                                const struct compiled_op *schema,
                                char *out_text)
{
    if (!divider->examiner) {
        TAPML_TRY(examiner_create(&divider->options, &divider->examiner));
    }
    struct division division = {
        .divider = divider, .item = item, .schema = schema, .arena = arena_create()};
    const tapml_status status = division.arena ? divide(&division, out_text) : status_no_memory();
    recorder_destroy(division.recorder);
    expanded_destroy(division.parts);
    backend_release(division.exact);
    arena_destroy(division.arena);
    return status_ends_all(status) ? status : TAPML_OK;
}

// Finds what is known of the part of an op that is wrong, or "". The first case that fails is
// divided, and speaks for the others.
static tapml_status ask(struct divider *divider,
                        const struct carved_case *item,
                        const struct compiled_op *schema,
                        const char **out_text)
{
    const struct divided *known = find_divided(divider, schema->op);
    *out_text = known ? known->text : "";
    if (known || !schema->op->expands || schema->op->expands[0] == '\0' ||
        divider->divided_count == OPS_MAX) {
        return TAPML_OK;
    }
    struct divided *made = &divider->divided[divider->divided_count++];
    *made = (struct divided){.op = schema->op};
    *out_text = made->text;
    return divide_case(divider, item, schema, made->text);
}

static tapml_status tell(struct verdict *io_verdict,
                         const struct examination *examination,
                         const char *text,
                         struct arena *arena)
{
    const char *observed = io_verdict->observed;
    io_verdict->observed =
        arena_format(arena, "%s%s%s", observed, observed[0] != '\0' ? "; " : "", text);
    if (!io_verdict->observed) {
        return status_no_memory();
    }
    if (io_verdict->kind == VERDICT_FAIL) {
        return verdict_judge(io_verdict, examination->limits, arena);
    }
    io_verdict->reason = arena_format(arena, "%s; %s", io_verdict->reason, text);
    return io_verdict->reason ? TAPML_OK : status_no_memory();
}

tapml_status divider_try(struct divider *divider,
                         struct examiner *examiner,
                         struct examination *examination,
                         struct arena *arena,
                         struct verdict *io_verdict)
{
    TAPML_TRY(examiner_try(examiner, examination, arena, io_verdict));
    return divider_explain(divider, examination, arena, io_verdict);
}

tapml_status divider_explain(struct divider *divider,
                             const struct examination *examination,
                             struct arena *arena,
                             struct verdict *io_verdict)
{
    const char *text = "";
    if (!divider->options.divides || verdict_count_failed(io_verdict, 1) == 0 ||
        !examination->schema) {
        return TAPML_OK;
    }
    TAPML_TRY(ask(divider, examination->item, examination->schema, &text));
    return text[0] != '\0' ? tell(io_verdict, examination, text, arena) : TAPML_OK;
}

uint64_t divider_executions(const struct divider *divider)
{
    return divider->examiner ? examiner_executions(divider->examiner) : 0;
}

uint64_t divider_calibrations(const struct divider *divider)
{
    return divider->examiner ? examiner_calibrations(divider->examiner) : 0;
}
