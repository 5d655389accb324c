// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int terminal_wants_colour(int descriptor)
{
    const char *refusal = getenv("NO_COLOR"), *kind = getenv("TERM");

    return isatty(descriptor) && (refusal == NULL || *refusal == '\0') &&
           (kind == NULL || strcmp(kind, "dumb") != 0);
}

int terminal_columns(int descriptor)
{
    struct winsize size = {.ws_col = 0};

    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int terminal_widen(int width, const char *word)
{
    int columns = 0;

    for (; *word != '\0' && columns < TERMINAL_COLUMN_MAX; word++) {
        columns += ((unsigned char)*word & 0xc0) != 0x80; // A character.
    }
    return columns > width ? columns : width;
}
