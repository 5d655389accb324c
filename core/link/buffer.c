// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "link/buffer.h"

#include "base/alloc.h"

void buffer_list_release(struct buffer_list *list)
{
    while (list->first) {
        buffer_remove(list, list->first);
    }
    alloc_free(list->free_numbers);
    *list = (struct buffer_list){0};
}

tapml_status
buffer_add(struct buffer_list *list, const struct buffer *wanted, struct buffer **out_buffer)
{
    // Room first: giving a number back must not fail.
    if (!alloc_grow((void **)&list->free_numbers, &list->free_capacity, list->number_count,
                    sizeof(*list->free_numbers))) {
        return status_no_memory();
    }
    struct buffer *buffer = alloc_new(sizeof(*buffer));
    if (!buffer) {
        return status_no_memory();
    }
    *buffer = *wanted;
    buffer->number =
        list->free_count > 0 ? list->free_numbers[--list->free_count] : ++list->number_count;
    buffer->next = list->first;
    if (list->first) {
        list->first->previous = buffer;
    }
    list->first = buffer;
    *out_buffer = buffer;
    return TAPML_OK;
}

void buffer_remove(struct buffer_list *list, struct buffer *buffer)
{
    if (buffer->next) {
        buffer->next->previous = buffer->previous;
    }
    if (buffer->previous) {
        buffer->previous->next = buffer->next;
    } else {
        list->first = buffer->next;
    }
    list->free_numbers[list->free_count++] = buffer->number;
    alloc_free(buffer);
}

struct buffer *buffer_of(const tapml_object *object)
{
    return (struct buffer *)(uintptr_t)object;
}

uint32_t buffer_number_of(const tapml_object *object)
{
    return buffer_of(object)->number;
}
