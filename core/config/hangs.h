// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Probes that hung, remembered for a day, so that the next command does not wait for them again.
//
// The memory is a small file of the user, `tapml/hangs.ini` in $XDG_CACHE_HOME or in ~/.cache, with
// a line for each build of a component. Nothing is remembered under AT_SECURE, or without such a
// folder. A folder or file that is a link, belongs to somebody else, can be written by others, is
// too long or no INI file is not read, and neither replaced: then nothing is known.
//
// One thread, because the environment is read. Two processes may write at once; then what one of
// them has learnt is lost.
#pragma once

// Who was given less time than HANGS_LEAST_S seconds has not hung.
enum {
    HANGS_LEAST_S = 20,
    HANGS_DAY_S = 86400,
    HANGS_MAX = 64,
    HANGS_BYTES_MAX = 1 << 13,
    HANGS_SENTENCE = 160
};

// Whether a probe of this build of a component hung within the last day; if so, `out_sentence` says
// how long ago and what can be done.
int hangs_recall(const char *build_id, const char *component, char out_sentence[HANGS_SENTENCE]);

// Remembers that it did, just now. The oldest are forgotten where there are HANGS_MAX. What cannot
// be written is not remembered.
void hangs_note(const char *build_id, const char *component);

// Forgets all.
void hangs_forget(void);
