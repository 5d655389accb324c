// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Memory of the host that is shared with the far side of a link: what that side knows of it, and
// the place of a span in it. One thread.
#pragma once

#include "device/backend.h"

#include <stddef.h>

struct share {
    struct backend_share given;
    uint32_t users; // 0: the place is free.
    int is_sent;    // The far side has it.
};

// Numbered by their places. Zeroed to begin with.
struct share_list {
    struct share *shares;
    size_t count, capacity;
};

void share_list_release(struct share_list *list);

// Adds memory, or one more user of it. TAPML_INVALID if it has another size than the last time;
// TAPML_NO_MEMORY.
tapml_status share_add(struct share_list *list, const struct backend_share *given) STATUS_USED;

// One user less. Returns the share if that was the last, which the caller clears; else NULL.
struct share *share_remove(struct share_list *list, const void *memory);

// The share in which all of a span lies, or NULL.
struct share *share_find(const struct share_list *list, const void *memory, uint64_t bytes);

// The far side has ended: it knows none of them.
void share_forget_sent(struct share_list *list);
