// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The far side of a link as the near side knows it: the messages that are queued for it, its
// answers, and how it is started, and started again with the buffers that it had.
//
// Messages are written down and sent together; a message is begun, filled through `log`, and ended
// by one of the functions below. If the far side ends or hangs, the function at hand fails with a
// sentence: how it ended, in which op and instance, and its last words. What was queued is then
// forgotten, and the next `far_side_ready` starts it again. Everything belongs to one thread.
#pragma once

#include "base/arena.h"
#include "base/shared.h"
#include "device/backend.h"
#include "link/buffer.h"
#include "link/channel.h"
#include "link/crashes.h"
#include "link/message.h"
#include "link/op_list.h"
#include "link/share.h"
#include "link/staging.h"
#include "schema/catalogue.h"

enum { FAR_SIDE_COUNTS_MAX = 64, FAR_SIDE_HANGS_MAX = 16 };

// An op whose calls have hung, of whatever instance.
struct far_side_hang {
    const tapml_op *op;
    uint32_t count;
};

struct far_side_options {
    const char *name;        // Of what is opened, in messages until it is open; or NULL. Borrowed.
    struct channel *channel; // The far side's from now on, also after a failure.
    const struct message_setting *settings; // What is to be opened. Borrowed.
    size_t setting_count;
    struct catalogue *catalogue; // Takes in the ops,
    struct arena *arena;         // whose schemas are kept here: it outlives the catalogue.
    uint64_t deadline_ns;        // The least that an answer may take, a quarter of it where a call
                                 // is queued of an op that has hung twice; 0: without limit.
    uint32_t counter_count;      // Counts to be asked for beside the launches.
};

// Its modules (link/client, link/far_memory, link/far_support) work with the members.
struct far_side {
    struct far_side_options given;
    struct backend_info info;
    int is_wrapping; // The far device is one of host memory.
    struct shared *shared;
    struct shared_span control; // Its first word is the far side's progress.
    uint32_t regions_sent;
    struct share_list shares;
    struct op_list ops;

    struct wire_writer log; // Messages since the last time that all was done.
    size_t sent;            // Bytes of them.
    uint64_t number;        // Of the last message.
    int is_busy;            // Work was queued since the last wait,
    int is_pending;         // and some of it leaves results: calls, reads.
    int is_unmarked;        // Work was queued since the last point.
    uint64_t signalled;     // The last point,
    uint64_t reached;       // and the last that is known to be reached.

    struct buffer_list buffers;
    struct staging staging;

    int is_up;
    int is_lost;
    char loss[512];       // What the far side reported when its device was lost; or "".
    uint32_t crash_count; // Ends of any kind,
    uint32_t kill_count;  // and those that somebody else has brought about.
    struct crashes crashes;
    struct far_side_hang hangs[FAR_SIDE_HANGS_MAX]; // Those of further ops are not counted.
    uint32_t hang_count;
    struct far_side_hang *last_hang; // Of the last end; NULL: it was none.

    int is_counted;                                  // No call since the counts were asked for.
    int has_launches;                                // No call since a wait told `counts[0]`.
    uint64_t counts[FAR_SIDE_COUNTS_MAX + 1];        // Launches first.
    uint64_t counts_before[FAR_SIDE_COUNTS_MAX + 1]; // Of lives that are over.
};

// Starts it; `out_far` is zeroed. Also after a failure the caller calls `far_side_release`.
tapml_status far_side_open(struct far_side *out_far,
                           const struct far_side_options *options) STATUS_USED;

// Ends it, and releases all that belongs to it, its buffers too.
void far_side_release(struct far_side *far);

// What ended it last is held against no call and no op.
void far_side_excuse(struct far_side *far);

// Before every message: starts the far side if it is not there. TAPML_DEVICE_LOST if its device is
// lost or if it cannot be started.
tapml_status far_side_ready(struct far_side *far) STATUS_USED;

// The same before a message that is work. Waits if much is under way, so that what is sent always
// fits between the two sides: without a deadline, a full channel would block both.
tapml_status far_side_make_room(struct far_side *far) STATUS_USED;

// Begins a message.
void far_side_begin(struct far_side *far, enum message_verb verb);

// The message that was begun is work: something is queued until the next wait.
void far_side_note_work(struct far_side *far);

// Ends a message that is not answered, and sends what is queued if that is worth a system call.
tapml_status far_side_end(struct far_side *far) STATUS_USED;

// Sends all whole messages, with a descriptor beside them; -1: none.
tapml_status far_side_send(struct far_side *far, int descriptor) STATUS_USED;

// Ends a message, sends it and takes its answer apart: `out_reader` is behind the status, which is
// returned, and lives until the next answer. `*out_is_answered` is 1 if a failure is the far side's
// own, 0 if the far side has ended.
tapml_status far_side_ask(struct far_side *far,
                          struct wire_reader *out_reader,
                          int *out_is_answered) STATUS_USED;

// Whether it has an op. It is asked, once, about an op that it has not listed and that has a plain
// form; it counts as lacking while the far side cannot be asked.
int far_side_has_op(struct far_side *far, const tapml_op *op);

// Waits until all that is queued is done.
tapml_status far_side_settle(struct far_side *far) STATUS_USED;

// Waits until what is queued in front of `point`, which was signalled, is done.
tapml_status far_side_wait_for(struct far_side *far, uint64_t point) STATUS_USED;

// Tells it of the regions of `shared` that it does not know.
tapml_status far_side_announce_regions(struct far_side *far) STATUS_USED;

// Tells it of a share, if it does not know it. `far_side_share` is the share that a span lies in.
tapml_status far_side_announce_share(struct far_side *far, struct share *share) STATUS_USED;
struct share *far_side_share(const struct far_side *far, const struct shared_span *span);

// Tells it of a buffer.
tapml_status far_side_put_buffer(struct far_side *far, const struct buffer *buffer) STATUS_USED;
