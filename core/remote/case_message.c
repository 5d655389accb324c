// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "remote/case_message.h"

#include "base/alloc.h"
#include "base/assert.h"

enum { HASH_BYTES = 16 };

void case_message_put_ask(struct wire_writer *writer,
                          const char *key,
                          const struct hash *prompts,
                          size_t count)
{
    ASSERT(count <= CASE_PROMPTS_MAX);
    wire_begin(writer, CASE_ASK, 0);
    wire_put_text(writer, key);
    wire_put_u32(writer, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        wire_put_u64(writer, prompts[i].high);
        wire_put_u64(writer, prompts[i].low);
    }
    wire_end(writer);
}

static tapml_status malformed(void)
{
    return status_fail(TAPML_INVALID, "a question for cases is malformed");
}

tapml_status case_message_take_ask(const struct wire_frame *frame,
                                   struct case_question *out_question)
{
    struct wire_reader reader;
    struct case_question question = {.key = NULL};

    wire_reader_init(&reader, frame);
    question.key = wire_take_text(&reader);
    question.count = wire_take_count(&reader, HASH_BYTES);
    if (question.key == NULL || reader.is_broken || question.count > CASE_PROMPTS_MAX ||
        wire_left(&reader) != question.count * HASH_BYTES) {
        return malformed();
    }
    question.prompts = alloc_array(question.count + 1, sizeof(*question.prompts));
    if (question.prompts == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < question.count; i++) {
        question.prompts[i].high = wire_take_u64(&reader);
        question.prompts[i].low = wire_take_u64(&reader);
    }
    *out_question = question;
    return TAPML_OK;
}
