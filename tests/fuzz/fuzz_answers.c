// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// plugins/webgpu/answers: what a page sends through its socket. The first byte says how much was
// asked of it before; the rest is a message.
#include "fuzz.h"

#include "answers.h"

#include <string.h>

enum { READ_BYTES = 8, NUMBER = 7 };

static void check_text(const char *text, size_t size)
{
    FUZZ_CHECK(memchr(text, 0, size) != NULL);
    for (; *text != '\0'; text++) {
        FUZZ_CHECK(*text >= ' ' && *text <= '~');
    }
}

static void check(const struct answers *answers)
{
    check_text(answers->name, sizeof(answers->name));
    check_text(answers->driver, sizeof(answers->driver));
    check_text(answers->refusal, sizeof(answers->refusal));
    check_text(answers->message, sizeof(answers->message));
    FUZZ_CHECK((answers->failure != ANSWERS_FINE) == (answers->message[0] != '\0'));
    FUZZ_CHECK(answers->count <= ANSWERS_READ_MAX && answers->first < ANSWERS_READ_MAX);
    FUZZ_CHECK(answers->taken <= answers->sent);
    for (int i = 0; i < ANSWERS_STREAM_MAX; i++) {
        FUZZ_CHECK(answers->reached[i] <= answers->signalled[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct answers answers = {.sent = 3};
    unsigned char room[ANSWERS_READ_MAX][READ_BYTES];

    if (size == 0) {
        return 0;
    }
    answers.asked = data[0] & 1u ? NUMBER : 0;
    answers.first = data[0] >> 2;
    for (uint32_t i = 0; data[0] & 2u && i < ANSWERS_READ_MAX; i++) {
        answers_expect(&answers, &(struct answers_read){NUMBER + i, READ_BYTES, room[i]});
    }
    for (int i = 0; i < ANSWERS_STREAM_MAX; i++) {
        answers.signalled[i] = 5;
    }
    answers_take(&answers, data + 1, size - 1);
    check(&answers);
    return 0;
}
