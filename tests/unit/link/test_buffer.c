// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "link/buffer.h"

#include <criterion/criterion.h>

static struct buffer_list list;

static void teardown(void)
{
    buffer_list_release(&list);
}

TestSuite(buffer, .fini = teardown);

static struct buffer *add(uint64_t bytes)
{
    struct buffer *buffer = NULL;
    cr_assert_eq(buffer_add(&list, &(struct buffer){.bytes = bytes}, &buffer), TAPML_OK);
    cr_assert_eq(buffer->bytes, bytes);
    cr_assert_eq(buffer_of(&buffer->object), buffer);
    cr_assert_eq(buffer_number_of(&buffer->object), buffer->number);
    return buffer;
}

Test(buffer, has_a_number_of_its_own)
{
    const struct buffer *const a = add(4), *const b = add(8), *const c = add(0);
    cr_assert_eq(a->number, 1, "0 is no buffer");
    cr_assert_eq(b->number, 2);
    cr_assert_eq(c->number, 3);
    cr_assert_eq(list.first, c);
    cr_assert_eq(c->next, b);
    cr_assert_eq(b->next, a);
    cr_assert_null(a->next);
}

Test(buffer, leaves_its_number_to_another_one)
{
    struct buffer *const a = add(1), *const b = add(2), *const c = add(3);
    buffer_remove(&list, b);
    cr_assert_eq(c->next, a, "from the middle");
    cr_assert_eq(a->previous, c);
    buffer_remove(&list, c);
    cr_assert_eq(list.first, a, "from the front");
    cr_assert_null(a->previous);
    const struct buffer *const d = add(4), *const e = add(5), *const f = add(6);
    cr_assert_eq(d->number + e->number, 5, "2 and 3 are free");
    cr_assert_eq(f->number, 4);
}

Test(buffer, is_not_there_without_memory)
{
    struct buffer *buffer = NULL;
    const struct buffer wanted = {.bytes = 4};
    for (size_t n = 1; n <= 2; n++) {
        alloc_fail_at(n);
        cr_assert_eq(buffer_add(&list, &wanted, &buffer), TAPML_NO_MEMORY, "allocation %zu", n);
        alloc_fail_at(0);
        cr_assert_null(list.first);
        alloc_free(list.free_numbers);
        list = (struct buffer_list){0};
    }
    const size_t before = alloc_made();
    buffer = add(4);
    cr_assert_gt(alloc_made(), before);
    const size_t made = alloc_made();
    buffer_remove(&list, buffer);
    cr_assert_eq(alloc_made(), made, "to give it back needs no memory");
}
