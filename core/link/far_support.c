// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/far_support.h"

#include <stdio.h>

tapml_status far_support_put_args(struct far_side *far,
                                  const tapml_op *op,
                                  const tapml_value *args,
                                  message_number_fn number)
{
    const tapml_status status = message_put_args(&far->log, op, args, number);
    if (status != TAPML_OK) {
        far->log.size = far->log.begin; // It is as if it had not been begun.
    }
    return status;
}

// Whether the device can do a call.
struct question {
    uint32_t index; // Of the op.
    const tapml_op *op;
    const tapml_value *args;
};

static tapml_status put_question(struct far_side *far, const struct question *question)
{
    far_side_begin(far, MESSAGE_SUPPORTS);
    wire_put_u32(&far->log, question->index);
    TAPML_TRY(far_support_put_args(far, question->op, question->args, NULL));
    return far->log.is_failed ? status_no_memory() : TAPML_OK;
}

// What a device supports does not change: layers of the same shape are asked for once.
static tapml_status
hash_question(struct far_side *far, const struct question *question, struct hash *out_key)
{
    const size_t before = far->log.size;
    const size_t payload = before + WIRE_HEADER_BYTES;
    TAPML_TRY(put_question(far, question));
    *out_key = hash_bytes(far->log.data + payload, far->log.size - payload);
    far->log.size = before; // As if it had not been begun.
    far->number--;
    return TAPML_OK;
}

// Nothing is lost with a far side that ends over a question alone, so that it is asked again. What
// has ended it each time is known by then, and not asked any more.
static tapml_status
ask_question(struct far_side *far, const struct question *question, struct known_answer *out)
{
    struct wire_reader reader;
    int is_answered = 0;
    tapml_status status = TAPML_OK;
    TAPML_TRY(far->is_busy ? far_side_settle(far) : TAPML_OK);
    const uint32_t kills = far->kill_count;
    for (int i = 0; i < CRASHES_MAX && !is_answered; i++) {
        TAPML_TRY(far_side_ready(far));
        TAPML_TRY(put_question(far, question));
        status = far_side_ask(far, &reader, &is_answered);
        if (status_ends_all(status)) {
            return status;
        }
    }
    if (status != TAPML_OK && (is_answered || far->kill_count > kills)) {
        return status; // A kill by somebody else is no answer to the question.
    }
    out->answer = (tapml_support){.hdr = TAPML_HDR(tapml_support)};
    out->failure = status;
    if (status != TAPML_OK) {
        (void)snprintf(out->how, sizeof(out->how), "asked for %s: %s", question->op->name,
                       status_message()); // Cut where it is too long.
        return TAPML_OK;
    }
    out->answer.grade = wire_take_u32(&reader);
    const char *reason = wire_take_text(&reader);
    (void)snprintf(out->answer.reason, sizeof(out->answer.reason), "%s", reason ? reason : "");
    return TAPML_OK;
}

tapml_status far_support_ask(struct far_support *support,
                             struct far_side *far,
                             const tapml_op *op,
                             const tapml_value *args,
                             tapml_support *out_answer)
{
    const int has = far_side_has_op(far, op);
    const uint32_t index = op_list_find(&far->ops, op);
    *out_answer = (tapml_support){.hdr = TAPML_HDR(tapml_support)};
    if (!has) {
        (void)snprintf(out_answer->reason, sizeof(out_answer->reason), "it has no op '%s'",
                       op->name);
        return TAPML_OK;
    }
    const struct question question = {index, op, args};
    struct hash key;
    TAPML_TRY(hash_question(far, &question, &key));
    struct known_answer *known = &support->known[key.low % FAR_SUPPORT_SLOTS];
    if (!known->is_known || !hash_equal(known->key, key)) {
        known->is_known = 0;
        TAPML_TRY(ask_question(far, &question, known));
        known->is_known = 1;
        known->key = key;
    }
    *out_answer = known->answer;
    return known->failure == TAPML_OK ? TAPML_OK : status_fail(known->failure, "%s", known->how);
}
