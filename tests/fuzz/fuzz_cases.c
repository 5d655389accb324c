// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// remote/case_message: any frames as what a host sends that asks for cases.
#include "fuzz.h"

#include "base/alloc.h"
#include "remote/case_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_frame frame;

    while (wire_read(data, size, &frame) == WIRE_FRAME) {
        struct case_question question;

        if (!fuzz_refused(case_message_take_ask(&frame, &question))) {
            FUZZ_CHECK(question.key && question.count <= CASE_PROMPTS_MAX);
            FUZZ_CHECK(question.count * sizeof(*question.prompts) < frame.size);
            alloc_free(question.prompts);
        }
        data += wire_frame_bytes(&frame);
        size -= wire_frame_bytes(&frame);
    }
    return 0;
}
