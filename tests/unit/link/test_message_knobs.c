// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/message_knobs.h"

#include <criterion/criterion.h>
#include <string.h>

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static const int64_t forms[] = {1, 2, 3};
static struct knob knob = {
    .name = "form", .about = "how", .values = forms, .count = 3, .chosen = 2};
static unsigned char legal[1] = {5};
static struct wire_writer writer;
static struct arena *arena;

static void begin(void)
{
    struct knob_space space = {.shape_class = "n=8", .knobs = &knob, .count = 1, .legal = legal};
    MUST(knobs_check(&space));
    arena = arena_create();
    writer = MESSAGE_WRITER;
    wire_begin(&writer, MESSAGE_REPLY, 1);
    message_knobs_put(&writer, &space);
    wire_end(&writer);
}

static void end(void)
{
    wire_writer_release(&writer);
    arena_destroy(arena);
}

TestSuite(message_knobs, .init = begin, .fini = end);

static tapml_status take(uint32_t cut, struct knob_space *out_space)
{
    struct wire_frame frame;
    struct wire_reader reader;
    cr_assert_eq(wire_read(writer.data, writer.size, &frame), WIRE_FRAME);
    frame.size -= cut;
    wire_reader_init(&reader, &frame);
    return message_knobs_take(&reader, arena, out_space);
}

Test(message_knobs, a_space_comes_back)
{
    struct knob_space space;
    MUST(take(0, &space));
    cr_expect_str_eq(space.shape_class, "n=8");
    cr_assert_eq(space.count, 1);
    cr_expect_str_eq(space.knobs[0].name, "form");
    cr_expect_str_eq(space.knobs[0].about, "how");
    cr_expect_eq(space.knobs[0].values[1], 2);
    cr_expect_eq(space.legal_count, 2);
    cr_expect(!knobs_is_legal(&space, 1));
}

Test(message_knobs, what_is_cut_is_refused)
{
    struct knob_space space;
    cr_expect_eq(take(1, &space), TAPML_INVALID);
    cr_expect_eq(take(9, &space), TAPML_INVALID);
}
