// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// remote/greeting and remote/stream: any bytes as what comes over a connection. Bit 0 of the first
// byte says whether a greeting stands in front of the records; the rest of it is in how large parts
// they come.
#include "fuzz.h"

#include "remote/greeting.h"
#include "remote/stream.h"

#include <string.h>

enum { SENT_BYTES = 100, RECORD_BYTES = (1 << 14) + 8 };

static void check_text(const char *text)
{
    const size_t length = strnlen(text, GREETING_TEXT_BYTES);
    FUZZ_CHECK(length < GREETING_TEXT_BYTES);
    for (size_t i = 0; i < length; i++) {
        FUZZ_CHECK(text[i] >= ' ' && text[i] < 127);
    }
}

static void feed_greeting(const uint8_t *bytes)
{
    struct greeting greeting;
    struct greeting_answer answer;
    if (!fuzz_refused(greeting_read(bytes, &greeting))) {
        check_text(greeting.features);
        const uint16_t version = greeting_choose_version(&greeting);
        FUZZ_CHECK(version == 0 ||
                   (version >= greeting.version_least && version <= greeting.version_most));
    }
    if (!fuzz_refused(greeting_read_answer(bytes, &answer))) {
        check_text(answer.text);
        FUZZ_CHECK(answer.state <= GREETING_REFUSED);
    }
}

// Takes the frames that are there. Returns 0 if something is none.
static int take_frames(struct stream *stream)
{
    struct wire_frame frame;
    enum wire_result result = WIRE_MORE;
    while ((result = stream_next(stream, &frame)) == WIRE_FRAME) {
        FUZZ_CHECK(frame.size <= WIRE_PAYLOAD_MAX);
    }
    return result == WIRE_MORE;
}

static void feed_records(const uint8_t *data, size_t size, size_t part)
{
    static const uint8_t sent[SENT_BYTES];
    struct stream *stream = NULL;
    FUZZ_CHECK(stream_create(&stream) == TAPML_OK);
    FUZZ_CHECK(stream_put(stream, sent, sizeof(sent)) == TAPML_OK);
    for (int goes_on = 1; goes_on && size > 0;) {
        const size_t now = part < size ? part : size;
        const uint64_t before = stream_received(stream);
        goes_on = !fuzz_refused(stream_take(stream, data, now)) && take_frames(stream);
        FUZZ_CHECK(stream_received(stream) >= before);
        FUZZ_CHECK(stream_received(stream) - before <= now + RECORD_BYTES);
        FUZZ_CHECK(stream_backlog(stream) <= sizeof(sent));
        data += now;
        size -= now;
    }
    stream_destroy(stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const unsigned how = data[0];
    fuzz_begin();
    data++;
    size--;
    if (how % 2 == 1 && size >= GREETING_BYTES) {
        feed_greeting(data);
        data += GREETING_BYTES;
        size -= GREETING_BYTES;
    }
    feed_records(data, size, how / 2 + 1);
    fuzz_end();
    return 0;
}
