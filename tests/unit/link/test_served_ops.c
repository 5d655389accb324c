// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "../plugin/zoo_folder.h"
#include "base/arena.h"
#include "harness/fused.h"
#include "link/served_ops.h"

#include <string.h>

static struct ini ini;
static struct registry *registry;
static struct backend *backend;
static struct arena *arena;
static struct served_ops ops;
static struct wire_writer message;
static struct fused fused;

static void setup(void)
{
    const char *const names[] = {"good", NULL};
    registry = zoo_registry(names, NULL, &ini);
    arena = arena_create();
    message = MESSAGE_WRITER;
    cr_assert_eq(registry_open(registry, "good:first", &backend), TAPML_OK);
    cr_assert_eq(served_ops_list(&ops, backend, registry_catalogue(registry), arena), TAPML_OK);
}

static void teardown(void)
{
    backend_release(backend);
    registry_destroy(registry);
    ini_release(&ini);
    arena_destroy(arena);
    wire_writer_release(&message);
}

TestSuite(served_ops, .init = setup, .fini = teardown);

static struct wire_reader reader_of(uint64_t cut)
{
    struct wire_reader reader;
    static struct wire_frame frame;
    wire_end(&message);
    cr_assert_eq(wire_read(message.data, message.size, &frame), WIRE_FRAME);
    frame.size -= (uint32_t)cut;
    wire_reader_init(&reader, &frame);
    return reader;
}

static void put(const tapml_op *op)
{
    message.size = 0;
    wire_begin(&message, MESSAGE_DEFINE, 1);
    message_put_op(&message, op, "", &arithmetic_f32);
}

Test(served_ops, those_of_the_backend_come_first)
{
    const struct compiled_op *schema = NULL;
    cr_assert_gt(ops.count, 0);
    cr_assert_eq(ops.listed, ops.count);
    message.size = 0;
    wire_begin(&message, MESSAGE_CALL, 1);
    wire_put_u32(&message, 0);
    struct wire_reader reader = reader_of(0);
    cr_assert_eq(served_ops_take(&ops, &reader, &schema), TAPML_OK);
    cr_assert_eq(schema, ops.items[0]);
    message.size = 0;
    wire_begin(&message, MESSAGE_CALL, 1);
    wire_put_u32(&message, (uint32_t)ops.count);
    reader = reader_of(0);
    cr_assert_eq(served_ops_take(&ops, &reader, &schema), TAPML_INVALID);
}

Test(served_ops, an_op_that_the_backend_lacks_is_not_listed)
{
    const struct compiled_op *schema = ops.items[0];
    const size_t before = ops.count;
    fused_init(&fused, FUSED_FORM);
    put(&fused.op);
    struct wire_reader reader = reader_of(0);
    cr_assert_eq(served_ops_define(&ops, &reader, &schema), TAPML_OK, "%s", status_message());
    cr_assert_null(schema);
    cr_assert_eq(ops.count, before);
    message.size = 0;
    wire_begin(&message, MESSAGE_REPLY, 1);
    served_ops_put_defined(&ops, schema, &message);
    reader = reader_of(0);
    cr_assert_eq(wire_take_u32(&reader), 0);
    cr_assert(wire_is_done(&reader));
}

Test(served_ops, a_garbled_definition_is_refused)
{
    const struct compiled_op *schema = NULL;
    fused_init(&fused, FUSED_FORM);
    for (uint64_t cut = 1; cut < 64; cut++) {
        put(&fused.op);
        struct wire_reader reader = reader_of(cut);
        cr_assert_eq(served_ops_define(&ops, &reader, &schema), TAPML_INVALID, "%d", (int)cut);
        cr_assert_null(schema);
    }
}
