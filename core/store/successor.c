// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/successor.h"

#include "base/file.h"

#include <unistd.h>

enum { DAMAGED_NAMES_MAX = 10000 }; // PATH.damaged-N

static tapml_status move_if_there(const char *from, const char *to)
{
    return file_exists(from) ? file_move(from, to) : TAPML_OK;
}

static tapml_status print_name(struct text *out, const char *path, const char *end)
{
    text_clear(out);
    text_format(out, "%s%s", path, end);
    return text_status(out);
}

// The first name that no damaged store has yet.
static tapml_status choose_name(const char *path, struct text *out)
{
    TAPML_TRY(print_name(out, path, ".damaged"));
    for (int i = 2; file_exists(out->data); i++) {
        text_clear(out);
        text_format(out, "%s.damaged-%d", path, i);
        TAPML_TRY(text_status(out));
        if (i == DAMAGED_NAMES_MAX) {
            return status_fail(TAPML_INVALID, "'%s' and all before it exist: remove some",
                               out->data);
        }
    }
    return TAPML_OK;
}

// The old store goes with its log, or the new one would be given the log of another. After a kill
// in between, the next process finds the same name free.
static tapml_status move_old(const char *path, const char *damaged)
{
    struct text from, to;
    text_init(&from);
    text_init(&to);
    tapml_status status = print_name(&from, path, "-shm");
    if (status == TAPML_OK) {
        (void)unlink(from.data); // Mostly not there; SQLite makes it anew.
        status = print_name(&from, path, "-wal");
    }
    if (status == TAPML_OK) {
        status = print_name(&to, damaged, "-wal");
    }
    if (status == TAPML_OK) {
        status = move_if_there(from.data, to.data);
    }
    if (status == TAPML_OK) {
        status = move_if_there(path, damaged);
    }
    text_release(&from);
    text_release(&to);
    return status;
}

tapml_status successor_init(struct successor *successor, const char *path)
{
    *successor = (struct successor){.path = path};
    text_init(&successor->making);
    text_init(&successor->made);
    TAPML_TRY(print_name(&successor->making, path, ".salvage"));
    return print_name(&successor->made, path, ".salvaged");
}

void successor_release(struct successor *successor)
{
    text_release(&successor->making);
    text_release(&successor->made);
}

void successor_remove_making(const struct successor *successor)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    struct text name;
    text_init(&name);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        if (print_name(&name, successor->making.data, ends[i]) == TAPML_OK) {
            (void)unlink(name.data); // What cannot be removed fails when the store is made.
        }
    }
    text_release(&name);
}

tapml_status successor_finish(const struct successor *successor)
{
    return file_move(successor->making.data, successor->made.data);
}

tapml_status successor_swap(const struct successor *successor, struct text *out_damaged)
{
    TAPML_TRY(choose_name(successor->path, out_damaged));
    TAPML_TRY(move_old(successor->path, out_damaged->data));
    return file_move(successor->made.data, successor->path);
}

tapml_status successor_resume(const struct successor *successor)
{
    struct text damaged;
    if (!file_exists(successor->made.data)) {
        return TAPML_OK;
    }
    text_init(&damaged);
    const tapml_status status = successor_swap(successor, &damaged);
    text_release(&damaged);
    return status;
}
