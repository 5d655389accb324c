// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where the time of a thread goes: it is in one stage of one phase at any moment, and each stretch
// of time counts for that stage alone. The stages of a phase come to its whole time, whatever
// begins inside of what: a page that is read while a case is compared is time of reading.
//
// A thread that has no account pays nothing: it does not look at a clock. One that has one looks at
// the monotonic clock when it enters a stage and when it leaves it. The clock of its processor
// time, which can cost microseconds, is asked only behind a stretch of STAGES_LONG_NS or more; the
// time since it was asked last in which the thread did not run counts as waiting of that stretch,
// as far as it is as long. So waits below that are not seen, and where others want the processor,
// being made to wait for it is waiting, too.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum stages_kind {
    STAGES_OTHER,     // Nothing of what follows: the phase says what it is.
    STAGES_READ,      // Bytes and rows of the store.
    STAGES_DECODE,    // Contents of the store, unpacked and checked.
    STAGES_PREPARE,   // What the buffers of a call have before it.
    STAGES_UPLOAD,    // Bytes on their way to a target.
    STAGES_LAUNCH,    // Calls on their way to a target that works while the host goes on.
    STAGES_DEVICE,    // The host waits for a target, or the target works in the call.
    STAGES_FETCH,     // Bytes on their way back.
    STAGES_COMPARE,   // Outputs with what is expected.
    STAGES_COMPARERS, // The same by comparers of plugins.
    STAGES_CALIBRATE, // Limits, on the devices of the reference.
    STAGES_RECORD,    // Rows and bytes of the store that are written.
    STAGES_SOURCE,    // All that is asked of the source.
    STAGES_KINDS
};

enum {
    STAGES_PHASES_MAX = 16,
    STAGES_PHASE_TEXT = 24,
    STAGES_FACTS_MAX = 16,
    STAGES_LONG_NS = 100000
};

struct stages_count {
    uint64_t visits, bytes;
    uint64_t wall_ns, waiting_ns; // Of the former, the thread did not run in the latter.
};

// Something else that is counted, which explains a time and is none that adds up.
struct stages_fact {
    const char *name; // Static.
    struct stages_count count;
};

struct stages_phase {
    char name[STAGES_PHASE_TEXT];
    struct stages_count counts[STAGES_KINDS];
};

// An account. All members may be read once it is left.
struct stages {
    struct stages_phase phases[STAGES_PHASES_MAX]; // In the order in which they began.
    size_t phase_count;
    struct stages_fact facts[STAGES_FACTS_MAX];
    size_t fact_count;
    size_t phase;                          // The one at hand, and
    enum stages_kind kind;                 // the stage,
    uint64_t since_ns;                     // since then.
    uint64_t asked_ns, asked_processor_ns; // When the processor's clock was asked last.
};

// "read"; static. And the kind of a name: STAGES_KINDS where it is none.
const char *stages_name(enum stages_kind kind);
enum stages_kind stages_find(const char *name);

// The time of the calling thread goes to `stages`, which is emptied, from now on, in the phase
// "other". Gives the account that it went to before, which is continued by `stages_leave`; NULL: to
// none. An account is borrowed, and belongs to one thread.
struct stages *stages_begin(struct stages *stages);
void stages_leave(struct stages *before);

// Whether the calling thread has an account.
int stages_are_kept(void);

// Another phase begins, named by the first word of `name`; NULL: "other". Where there are too many,
// it is "other". Within no stage.
void stages_phase(const char *name);

// Adds to a fact of the account, which begins with zeros. `name` is a constant.
void stages_add(const char *name, struct stages_count more);

// The fact of a name; zeros where there is none.
struct stages_count stages_fact(const struct stages *stages, const char *name);

// The thread is in another stage until it returns to the one that this gives, with what was moved
// in between. Within STAGES_CALIBRATE all but bytes of the store is a part of it, and within
// STAGES_SOURCE everything is. Calls are nested.
enum stages_kind stages_enter(enum stages_kind kind);
void stages_return(enum stages_kind before, uint64_t bytes);
