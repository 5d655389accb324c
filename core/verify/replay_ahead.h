// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Cases that are replayed in windows: while the device is at work on one window, the results of the
// one before are judged, and the cases of the next are read and made ready. A window is queued as a
// whole and waited for once, so that a case costs a small part of a round trip.
//
// The device gets the same work in the same order as where each case is replayed and waited for
// alone (`replay_run`), and cases are judged in their order: what comes out does not depend on
// times, nor on the size of a window. As soon as something is not as it should be, cases are alone:
//
// - If work of a window fails, or contents of memory were lost amidst of it, none of its results is
//   used, its end is excused (`backend_excuse`), and each of its cases is replayed alone.
// - If the guard finds something in a case, this stands, and what was queued behind it is replayed
//   alone, since the call may have harmed it.
// - The first case of an op is alone, and all cases of an op of which one was suspect: crashes,
//   hangs and kernels that write outside are met alone.
//
// The size of a window is tuned: it begins with one case, doubles with each window that went well
// and halves if one has taken long; its bytes are bounded. One thread, that of the backend.
#pragma once

#include "base/status.h"
#include "verify/replay.h"

enum {
    REPLAY_AHEAD_CASES_MAX = 16,        // Of a window. Two are under way.
    REPLAY_AHEAD_BYTES_MAX = 4 << 20,   // Of its buffers; a case that has more is alone.
    REPLAY_AHEAD_NS_MAX = 500 * 1000000 // That it should take.
};

// A case that was read. The arena and all that is in it are the window's.
struct replay_ahead_case {
    size_t index;
    struct arena *arena;
    struct carved_case item;
    const struct compiled_op *schema;
};

// What a stage has done. `busy_ns` is time of the host.
struct replay_ahead_stage {
    uint64_t visits, bytes, busy_ns;
};

enum replay_ahead_stage_kind {
    REPLAY_AHEAD_READ,  // Cases from the store, decoded.
    REPLAY_AHEAD_READY, // What buffers have before the call.
    REPLAY_AHEAD_QUEUE, // Uploads, launches and reads, as messages.
    REPLAY_AHEAD_WAIT,  // The host has nothing else to do: windows.
    REPLAY_AHEAD_JUDGE, // Checked, compared, and recorded.
    REPLAY_AHEAD_ALONE, // All of it, of cases that are in no window.
    REPLAY_AHEAD_STAGES
};

struct replay_ahead_counts {
    struct replay_ahead_stage stages[REPLAY_AHEAD_STAGES];
    uint64_t cases, alone; // Of all; replayed alone.
    uint64_t windows, broken;
    uint64_t largest, peak_bytes; // Of a window; of the buffers of both.
    uint64_t launches;            // Of kernels; 0 where the backend does not count them.
    uint64_t elapsed_ns;
};

// "read", "ready", "queue", "wait", "judge", "alone". Static.
const char *replay_ahead_stage_name(enum replay_ahead_stage_kind kind);

// "1815 cases, 20 of them alone, in 130 windows of at most 16, 0 broken; ..." with the time of each
// stage.
enum { REPLAY_AHEAD_TEXT = 512 };
void replay_ahead_print(const struct replay_ahead_counts *counts, char out_text[REPLAY_AHEAD_TEXT]);

struct replay_ahead;

// All is borrowed. Functions get `user`; a failure of one ends it all.
struct replay_ahead_options {
    struct replay *replay;
    struct backend *backend; // Of the replay.
    size_t count;            // Of cases: they have the indices below.
    size_t cases_max;        // Of a window; at most REPLAY_AHEAD_CASES_MAX.

    // Reads a case into its arena. `*out_is_alone` is 1 if it is not to be queued: it has no result
    // that could be waited for, or is judged in another way.
    tapml_status (*read)(void *user, struct replay_ahead_case *io_case, int *out_is_alone);

    // Judges a result, which lives until this returns. `replay_ahead_settle` is called before
    // anything is done with the backend. `*out_is_suspect`: cases of its op are alone from
    // now on.
    tapml_status (*judge)(void *user,
                          struct replay_ahead *ahead,
                          const struct replay_ahead_case *item,
                          const struct replay_result *result,
                          int *out_is_suspect);

    // Does all with a case that is alone. No work is pending.
    tapml_status (*alone)(void *user, size_t index, int *out_is_suspect);

    // Called for each case in its order, some time after it was judged. No work is pending.
    tapml_status (*told)(void *user, size_t index);

    // Whether no case is begun any more, of those from `index` on.
    int (*is_over)(void *user, size_t index);
    void *user;
};

// Whether cases can be queued ahead on a backend: it has stamps of time. Asks it, which waits.
int replay_ahead_is_possible(struct backend *backend);

// Replays all cases. Also after a failure `*out_counts` is set, and no work is pending.
tapml_status replay_ahead_run(const struct replay_ahead_options *options,
                              struct replay_ahead_counts *out_counts) STATUS_USED;

// Waits for the window under way, from within `judge`. A failure of its work is none of the
// caller's.
void replay_ahead_settle(struct replay_ahead *ahead);
