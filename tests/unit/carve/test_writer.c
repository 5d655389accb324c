// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "base/arena.h"
#include "carve/writer.h"
#include "harness/cases.h"
#include "harness/scratch.h"
#include "store/call_line.h"

#include <sqlite3.h>

static struct scratch scratch;
static char path[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "a.tapmlrun"));
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(writer, .init = begin, .fini = end, .timeout = 60);

static struct writer *create(void)
{
    struct writer *writer = NULL;
    cr_assert_eq(writer_create(path, &writer), TAPML_OK, "%s", status_message());
    return writer;
}

static void push_call(struct writer *writer, int64_t step, int is_kept, struct cases_silu *made)
{
    struct writer_item *item = writer_item_create(WRITER_CALL);
    cr_assert_not_null(item);
    if (is_kept) {
        cases_make_silu(made, "s", step);
        item->item = made->item;
    }
    item->call = (struct call_line){.instance = "s",
                                    .prompt = {0x0123456789abcdef, 0x7edcba9876543210},
                                    .step = step,
                                    .phase = "decode",
                                    .shape_class = "x=[2,3]",
                                    .is_kept = is_kept};
    writer_push(writer, item);
}

// A call that is not kept, yet to be pushed.
static struct writer_item *line_of(int64_t step)
{
    struct writer_item *item = writer_item_create(WRITER_CALL);
    cr_assert_not_null(item);
    item->call =
        (struct call_line){.instance = "s", .step = step, .phase = "decode", .shape_class = ""};
    return item;
}

static void push(struct writer *writer, enum writer_kind kind)
{
    struct writer_item *item = writer_item_create(kind);
    cr_assert_not_null(item);
    item->prompt.text = "";
    writer_push(writer, item);
}

static int64_t number_of(const char *sql)
{
    sqlite3 *connection = NULL;
    sqlite3_stmt *statement = NULL;
    cr_assert_eq(sqlite3_open(path, &connection), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(connection, sql, -1, &statement, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(statement), SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(connection);
    return number;
}

Test(writer, writes_what_was_committed)
{
    struct cases_silu made[2];
    struct writer *writer = create();
    push_call(writer, 0, 1, &made[0]);
    push_call(writer, 1, 0, NULL);
    push(writer, WRITER_COMMIT);
    push_call(writer, 2, 1, &made[1]);
    cr_assert_eq(writer_finish(writer), TAPML_OK, "%s", status_message());
    cr_assert_eq(writer_finish(writer), TAPML_OK, "a second time too");
    writer_destroy(writer);
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 2);
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 1);
    cr_assert_eq(number_of("SELECT sum(kept) FROM call"), 1);
}

Test(writer, large_steps_are_committed_in_chunks)
{
    struct writer *writer = create();
    for (int i = 0; i < 3; i++) {
        struct writer_item *item = line_of(i);
        item->bytes = WRITER_CHUNK_BYTES / 2;
        writer_push(writer, item);
    }
    cr_assert_eq(writer_finish(writer), TAPML_OK, "%s", status_message());
    writer_destroy(writer);
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 2, "the third begins another chunk");
}

Test(writer, prompts_come_with_their_step)
{
    struct writer *writer = create();
    push(writer, WRITER_PROMPT);
    push(writer, WRITER_COMMIT);
    push(writer, WRITER_COMMIT); // Nothing to commit.
    writer_destroy(writer);
    cr_assert_eq(number_of("SELECT count(*) FROM prompt WHERE greedy = '[]'"), 1);
}

Test(writer, weights_are_noted_once)
{
    static const float DATA[] = {1, 2, 3};
    struct writer *writer = create();
    for (int i = 0; i < 2; i++) {
        struct writer_item *item = line_of(i);
        item->weights = arena_array(item->arena, 1, sizeof(*item->weights));
        item->weights[0] = (struct writer_weight){"w", TAPML_F32, DATA, sizeof(DATA), NULL};
        item->weight_count = 1;
        writer_push(writer, item);
    }
    push(writer, WRITER_COMMIT);
    writer_destroy(writer);
    cr_assert_eq(number_of("SELECT count(*) FROM weight"), 1);
}

Test(writer, queue_is_bounded_and_nothing_is_lost)
{
    enum { ITEMS = 200 };
    struct writer *writer = create();
    for (int i = 0; i < ITEMS; i++) {
        struct writer_item *item = line_of(i);
        item->bytes = WRITER_QUEUE_BYTES - 1; // Each waits for the one before.
        if (i == ITEMS / 2) {
            item->bytes = 2 * (uint64_t)WRITER_QUEUE_BYTES; // Larger than the queue: alone.
        }
        writer_push(writer, item);
    }
    push(writer, WRITER_COMMIT);
    cr_assert_eq(writer_finish(writer), TAPML_OK, "%s", status_message());
    writer_destroy(writer);
    cr_assert_eq(number_of("SELECT count(*) FROM call"), ITEMS);
}

Test(writer, what_waits_for_room_wakes_the_thread)
{
    struct writer *writer = create();
    push_call(writer, 0, 0, NULL); // Too little to wake it.
    struct writer_item *item = line_of(1);
    item->bytes = WRITER_QUEUE_BYTES;
    writer_push(writer, item);
    push(writer, WRITER_COMMIT);
    writer_destroy(writer);
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 2);
}

Test(writer, failure_is_kept_and_the_rest_dropped)
{
    struct cases_silu made;
    struct writer *writer = create();
    struct writer_item *item = writer_item_create(WRITER_CALL);
    cr_assert_not_null(item);
    cases_make_silu(&made, "wrong", 0);
    made.arguments[0].base_bytes = 4; // Smaller than its view.
    item->item = made.item;
    item->call = (struct call_line){
        .instance = "wrong", .phase = "prefill", .shape_class = "", .is_kept = 1};
    writer_push(writer, item);
    push(writer, WRITER_COMMIT);
    push_call(writer, 1, 0, NULL);
    push(writer, WRITER_COMMIT);
    cr_assert_eq(writer_finish(writer), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "'wrong'"), "%s", status_message());
    cr_assert_eq(writer_status(writer), TAPML_INVALID);
    writer_destroy(writer);
    cr_assert_eq(number_of("SELECT count(*) FROM call"), 0);
    cr_assert_eq(number_of("SELECT count(*) FROM \"case\""), 0);
}

Test(writer, a_place_that_cannot_be_written_is_named)
{
    struct writer *writer = NULL;
    cr_assert_eq(writer_create("/nowhere/at/all.tapmlrun", &writer), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "/nowhere/at/all"), "%s", status_message());
}

Test(writer, a_line_has_texts_of_its_own)
{
    char text[] = "y";
    struct writer *writer = create();
    struct writer_item *item = line_of(0);
    item->call.output_count = 1;
    item->call.outputs[0] = (struct call_statistics){.param = text, .largest = 3, .count = 1};
    struct writer_item *line = writer_item_create_line(&item->call);
    cr_assert_not_null(line);
    text[0] = '?';
    writer_item_reset(item); // Empty, and as good as a new one.
    cr_assert_eq(item->call.output_count, 0);
    cr_assert_eq(arena_size(item->arena), 0);
    writer_item_destroy(item);
    writer_push(writer, line);
    push(writer, WRITER_COMMIT);
    cr_assert_eq(writer_finish(writer), TAPML_OK, "%s", status_message());
    writer_destroy(writer);
    cr_assert_eq(number_of("SELECT count(*) FROM call JOIN statistic ON call_id = id"
                           " WHERE instance = 's' AND phase = 'decode' AND param = 'y'"),
                 1);
}

Test(writer, leaves_no_memory_behind)
{
    const size_t live = alloc_live();
    struct writer *writer = create();
    push_call(writer, 0, 0, NULL);
    writer_destroy(writer);
    writer_destroy(NULL);
    writer_item_destroy(NULL);
    cr_assert_eq(alloc_live(), live);
}
