// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "choose/bottleneck.h"

#include <math.h>
#include <string.h>

// A window has at most so many cases, and begins with one (verify/replay_ahead.h).
enum { WINDOW_CASES = 16, WINDOWS_OF_LESS = 4, MIB = 1 << 20 };

// A case in no window is waited for before its call, behind it, and for its outputs (verify/guard).
enum { WAITS_OF_ONE = 3 };

// Of a stage that is as much waiting, waiting is what holds it.
static const double WAITING_SHARE = 0.5;

// Targets in turn are what holds a run also where a stage of one of them is a little more.
static const double TURNS_SHARE = 0.9;

// A cache is worth its memory where so much of what is read was read before.
static const double AGAIN_SHARE = 1.5;

// What a visit may move for its bytes to be what it takes.
static const double BYTES_OF_A_VISIT = 65536;

static const char REPLAY[] = "replay", TURNS[] = "turns";

const char *bottleneck_bound_name(enum bottleneck_bound bound)
{
    static const char *const names[] = {
        [BOTTLENECK_PROCESSOR] = "processor", [BOTTLENECK_MEMORY] = "memory",
        [BOTTLENECK_BANDWIDTH] = "bandwidth", [BOTTLENECK_LATENCY] = "latency",
        [BOTTLENECK_DEVICE] = "device",       [BOTTLENECK_WAITING] = "waiting",
    };
    return names[bound];
}

// -- Rows ----------------------------------------------------------------------------------------

struct stage_sum {
    double visits, bytes, wall_ns, waiting_ns;
};

static int is_fact(const struct stage_row *row)
{
    return strcmp(row->phase, STAGE_PIPELINE) == 0;
}

// A fact of the pipeline; zeros where there is none.
static struct stage_sum fact_of(const struct bottleneck_rows *rows, const char *name)
{
    struct stage_sum found = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct stage_row *row = &rows->rows[i];
        if (is_fact(row) && strcmp(row->stage, name) == 0) {
            found = (struct stage_sum){(double)row->visits, (double)row->bytes,
                                       (double)row->wall_ns, 0};
        }
    }
    return found;
}

// The rows of a phase and a stage; NULL: of all of them. Facts are none.
static struct stage_sum
sum_of(const struct bottleneck_rows *rows, const char *phase, const char *stage)
{
    struct stage_sum sum = {0};
    for (size_t i = 0; i < rows->count; i++) {
        const struct stage_row *row = &rows->rows[i];
        if (!is_fact(row) && (!phase || strcmp(row->phase, phase) == 0) &&
            (!stage || strcmp(row->stage, stage) == 0)) {
            sum.visits += (double)row->visits;
            sum.bytes += (double)row->bytes;
            sum.wall_ns += (double)row->wall_ns;
            sum.waiting_ns += (double)row->waiting_ns;
        }
    }
    return sum;
}

// -- The replay of a target ----------------------------------------------------------------------

// What the replay of the kept cases of a target is made of.
struct bottleneck_replay {
    double elapsed_ns, waits, wait_ns; // The host waits, in all.
    double host_ns;                    // It does not.
    double device_ns;                  // The far side works on windows; 0: there are none.
    double alone_ns;                   // Cases in no window.
    double cases, ops, windows, bytes; // Bytes of the buffers of two windows.
    double round_trip_ns;
    double work_ns; // Of the device in single cases: two calls of each, without the way.
    int could_be_more;
};

static struct bottleneck_replay replaying_of(const struct bottleneck_rows *rows)
{
    const struct stage_sum device = sum_of(rows, REPLAY, stages_name(STAGES_DEVICE));
    const struct stage_sum windows = fact_of(rows, "windows"),
                           ahead = fact_of(rows, "could be more");
    struct bottleneck_replay replaying = {.elapsed_ns = sum_of(rows, REPLAY, NULL).wall_ns,
                                          .waits = device.visits,
                                          .wait_ns = device.wall_ns,
                                          .device_ns = windows.wall_ns,
                                          .alone_ns = fact_of(rows, "alone").wall_ns,
                                          .cases = fact_of(rows, "cases").visits,
                                          .ops = fact_of(rows, "ops").visits,
                                          .windows = windows.visits,
                                          .bytes = windows.bytes,
                                          .round_trip_ns = fact_of(rows, "round trip").wall_ns,
                                          .could_be_more = ahead.visits > 0};
    const struct stage_sum calls = fact_of(rows, "calls");
    const double way_ns = replaying.windows > 0 ? 0 : calls.visits * replaying.round_trip_ns;
    replaying.work_ns = fmin(2 * fmax(calls.wall_ns - way_ns, 0), replaying.wait_ns);
    replaying.host_ns = replaying.elapsed_ns - replaying.wait_ns;
    return replaying;
}

// What is left of the replay if its host has `saved_ns` less to do: windows take as long as the
// device works on them.
static double shorten(const struct bottleneck_replay *replaying, double saved_ns)
{
    const double left_ns = replaying->elapsed_ns - saved_ns;
    const double share = replaying->elapsed_ns > 0 ? saved_ns / replaying->elapsed_ns : 0;
    const double least_ns = replaying->device_ns + replaying->alone_ns * (1 - share);
    return replaying->windows > 0 ? fmax(left_ns, fmin(least_ns, replaying->elapsed_ns)) : left_ns;
}

// The way to the device and back, of all waits.
static double latency_of(const struct bottleneck_replay *replaying)
{
    return fmin(replaying->waits * replaying->round_trip_ns,
                replaying->wait_ns - replaying->work_ns);
}

// What cases take in so many windows, beside those that are alone: host and device work beside each
// other.
static double in_windows(const struct bottleneck_replay *replaying,
                         double host_ns,
                         double device_ns,
                         double windows)
{
    return fmax(host_ns, device_ns + windows * replaying->round_trip_ns);
}

// The replay if windows had as many cases as they can have. The first case of each op is alone, and
// ends the window that is being filled. What else is waited for stays as it is.
static double with_windows(const struct bottleneck_replay *replaying)
{
    const double cases = fmax(replaying->cases, 1), alone = fmin(replaying->ops, cases);
    const double share = 1 - alone / cases, host_ns = replaying->host_ns * share;
    const double windows = (cases - alone) / WINDOW_CASES + WINDOWS_OF_LESS + alone;
    double device_ns = replaying->device_ns, now_ns;
    if (replaying->windows > 0) {
        now_ns = in_windows(replaying, host_ns, device_ns, replaying->windows);
    } else {
        const double wait_ns = replaying->wait_ns / fmax(replaying->waits, 1);
        device_ns = (replaying->wait_ns - latency_of(replaying)) * share;
        now_ns = host_ns + fmin(WAITS_OF_ONE * (cases - alone), replaying->waits) * wait_ns;
    }
    const double then_ns = in_windows(replaying, host_ns, device_ns, windows);
    return replaying->elapsed_ns - fmax(now_ns - then_ns, 0);
}

// -- Stages --------------------------------------------------------------------------------------

static int waits(const struct stage_sum *sum)
{
    return sum->waiting_ns > WAITING_SHARE * sum->wall_ns;
}

// Stages that have something below them, a disk or another process: what they do themselves stays
// when that is no more.
static int is_host(enum stages_kind kind)
{
    return kind == STAGES_READ || kind == STAGES_DECODE || kind == STAGES_PREPARE ||
           kind == STAGES_COMPARE || kind == STAGES_CALIBRATE || kind == STAGES_RECORD;
}

// What of a stage would be gone.
static double saved_of(enum stages_kind kind, const struct stage_sum *sum)
{
    return is_host(kind) && waits(sum) ? sum->waiting_ns : sum->wall_ns;
}

// By how much the work on a target is shorter without a stage.
static double gain_of(const struct bottleneck_rows *rows, enum stages_kind kind)
{
    const char *stage = stages_name(kind);
    const struct stage_sum all = sum_of(rows, NULL, stage), replay = sum_of(rows, REPLAY, stage);
    const double share = all.wall_ns > 0 ? saved_of(kind, &all) / all.wall_ns : 0;
    const struct bottleneck_replay replaying = replaying_of(rows);
    const double inside = kind == STAGES_DEVICE
                              ? replaying.wait_ns
                              : replaying.elapsed_ns - shorten(&replaying, share * replay.wall_ns);
    return share * (all.wall_ns - replay.wall_ns) + inside;
}

// The phase in which most of a stage is.
static const char *phase_of(const struct bottleneck_rows *rows, const char *stage)
{
    const char *phase = "";
    uint64_t most_ns = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct stage_row *row = &rows->rows[i];
        if (!is_fact(row) && strcmp(row->stage, stage) == 0 && row->wall_ns >= most_ns) {
            most_ns = row->wall_ns;
            phase = row->phase;
        }
    }
    return phase;
}

static enum bottleneck_bound bound_of(enum stages_kind kind, const struct stage_sum *sum)
{
    const int is_large = sum->bytes >= BYTES_OF_A_VISIT * fmax(sum->visits, 1);
    if (kind == STAGES_UPLOAD || kind == STAGES_FETCH) {
        return is_large ? BOTTLENECK_BANDWIDTH : BOTTLENECK_LATENCY;
    }
    if (kind == STAGES_DEVICE || kind == STAGES_SOURCE) {
        return BOTTLENECK_DEVICE;
    }
    return kind == STAGES_LAUNCH ? BOTTLENECK_LATENCY
           : waits(sum)          ? BOTTLENECK_WAITING
                                 : BOTTLENECK_PROCESSOR;
}

// -- Candidates ----------------------------------------------------------------------------------

struct bottleneck_finding {
    const struct bottleneck_run *run;
    double elapsed_ns;
    double gain_ns; // Of what is found so far.
    struct bottleneck found;
};

static uint64_t whole_ns(double ns)
{
    return ns > 0 ? (uint64_t)ns : 0;
}

static void take(struct bottleneck_finding *finding, const struct bottleneck *found, double gain_ns)
{
    finding->gain_ns = gain_ns;
    finding->found = *found;
    finding->found.without_ns = whole_ns(finding->elapsed_ns - gain_ns);
}

static void
offer(struct bottleneck_finding *finding, const struct bottleneck *found, double gain_ns)
{
    if (gain_ns > finding->gain_ns) {
        take(finding, found, gain_ns);
    }
}

// Whether the work on targets is time of the run.
static int is_in_turn(const struct bottleneck_run *run)
{
    return fact_of(&run->own, "side by side").visits == 0;
}

// Whether the work on a target is a part of the run's time: side by side it is that of the longest.
static int is_counted(const struct bottleneck_run *run, size_t index)
{
    const double own_ns = sum_of(&run->targets[index], NULL, NULL).wall_ns;
    for (size_t i = 0; !is_in_turn(run) && i < run->target_count; i++) {
        if (sum_of(&run->targets[i], NULL, NULL).wall_ns > own_ns) {
            return 0;
        }
    }
    return 1;
}

// A stage of the host, of the run and of all targets.
static void offer_host(struct bottleneck_finding *finding, enum stages_kind kind)
{
    const struct bottleneck_run *run = finding->run;
    const char *stage = stages_name(kind);
    const struct bottleneck_rows *most = &run->own;
    struct stage_sum sum = sum_of(&run->own, NULL, stage);
    double gain_ns = gain_of(&run->own, kind), most_ns = sum.wall_ns;
    for (size_t i = 0; i < run->target_count; i++) {
        if (!is_counted(run, i)) {
            continue;
        }
        const struct stage_sum more = sum_of(&run->targets[i], NULL, stage);
        sum.visits += more.visits;
        sum.bytes += more.bytes;
        sum.wall_ns += more.wall_ns;
        sum.waiting_ns += more.waiting_ns;
        gain_ns += gain_of(&run->targets[i], kind);
        most = more.wall_ns > most_ns ? &run->targets[i] : most;
        most_ns = fmax(most_ns, more.wall_ns);
    }
    offer(finding,
          &(struct bottleneck){.stage = stage,
                               .target = "",
                               .phase = phase_of(most, stage),
                               .bound = bound_of(kind, &sum),
                               .time_ns = whole_ns(sum.wall_ns)},
          gain_ns);
}

// Time of a phase that is none of its stages.
static void offer_phases(struct bottleneck_finding *finding, const struct bottleneck_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct stage_row *row = &rows->rows[i];
        const int is_other = strcmp(row->stage, stages_name(STAGES_OTHER)) == 0;
        const struct stage_sum sum = {0, 0, (double)row->wall_ns, (double)row->waiting_ns};
        const int is_wait = strcmp(row->phase, row->stage) == 0 && !is_in_turn(finding->run);
        if (is_other && !is_fact(row) && !is_wait) { // Side by side the host waits in no phase.
            offer(finding,
                  &(struct bottleneck){.stage = row->phase,
                                       .target = rows->name,
                                       .phase = row->phase,
                                       .bound = bound_of(STAGES_OTHER, &sum),
                                       .time_ns = row->wall_ns},
                  sum.wall_ns);
        }
    }
}

// A wait for a worker: the way there, its uploads, its work.
static void offer_isolated(struct bottleneck_finding *finding, const struct bottleneck_rows *rows)
{
    const struct bottleneck_replay replaying = replaying_of(rows);
    const struct stage_sum all = sum_of(rows, NULL, stages_name(STAGES_DEVICE));
    const double way_ns = latency_of(&replaying), rest_ns = replaying.wait_ns - way_ns;
    const double work_ns = fmin(replaying.work_ns, rest_ns);
    struct bottleneck found = {
        .stage = stages_name(STAGES_DEVICE), .target = rows->name, .bound = BOTTLENECK_DEVICE};
    found.phase = phase_of(rows, found.stage);
    found.time_ns = whole_ns(all.wall_ns);
    double gain_ns = gain_of(rows, STAGES_DEVICE);
    const struct stage_sum asked = sum_of(rows, NULL, stages_name(STAGES_LAUNCH));
    if (way_ns > rest_ns) {
        found.stage = stages_name(STAGES_LAUNCH);
        found.bound = BOTTLENECK_LATENCY;
        found.phase = REPLAY;
        found.time_ns =
            whole_ns(fmin(all.visits * replaying.round_trip_ns, all.wall_ns) + asked.wall_ns);
        gain_ns = (double)found.time_ns;
    } else if (work_ns < rest_ns / 2 && strcmp(found.phase, REPLAY) == 0) {
        const struct stage_sum moved = sum_of(rows, REPLAY, "upload");
        found.stage = stages_name(STAGES_UPLOAD);
        found.bound = bound_of(STAGES_UPLOAD, &moved);
        found.time_ns = whole_ns(rest_ns - work_ns);
        gain_ns = rest_ns - work_ns;
    }
    offer(finding, &found, gain_ns);
}

static void offer_device(struct bottleneck_finding *finding, const struct bottleneck_rows *rows)
{
    static const enum stages_kind kinds[] = {STAGES_UPLOAD, STAGES_LAUNCH, STAGES_FETCH,
                                             STAGES_DEVICE};
    const int is_isolated = fact_of(rows, "isolated").visits > 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const char *stage = stages_name(kinds[i]);
        const struct stage_sum sum = sum_of(rows, NULL, stage);
        if (kinds[i] != STAGES_DEVICE || !is_isolated) {
            offer(finding,
                  &(struct bottleneck){.stage = stage,
                                       .target = rows->name,
                                       .phase = phase_of(rows, stage),
                                       .bound = bound_of(kinds[i], &sum),
                                       .time_ns = whole_ns(sum.wall_ns)},
                  gain_of(rows, kinds[i]));
        }
    }
    if (is_isolated) {
        offer_isolated(finding, rows);
    }
}

// -- Targets in turn -----------------------------------------------------------------------------

// What the processors have to do, each of them as much.
static double busy_ns(const struct bottleneck_run *run)
{
    struct stage_sum sum = sum_of(&run->own, NULL, NULL);
    double busy = sum.wall_ns - sum.waiting_ns;
    for (size_t i = 0; i < run->target_count; i++) {
        sum = sum_of(&run->targets[i], NULL, NULL);
        busy += sum.wall_ns - sum.waiting_ns;
    }
    return busy / fmax(fact_of(&run->own, "processors").visits, 1);
}

// The run if its targets were done side by side, each replaying while the source carves.
static double side_by_side_ns(const struct bottleneck_run *run)
{
    const double carve_ns = sum_of(&run->own, "carve", NULL).wall_ns;
    double longest_ns = carve_ns;
    for (size_t i = 0; i < run->target_count; i++) {
        const double all_ns = sum_of(&run->targets[i], NULL, NULL).wall_ns;
        const double replay_ns = sum_of(&run->targets[i], REPLAY, NULL).wall_ns;
        longest_ns = fmax(longest_ns, fmax(carve_ns, replay_ns) + all_ns - replay_ns);
    }
    return fmax(sum_of(&run->own, NULL, NULL).wall_ns - carve_ns + longest_ns, busy_ns(run));
}

static void offer_turns(struct bottleneck_finding *finding)
{
    const struct bottleneck_run *run = finding->run;
    const double together_ns = side_by_side_ns(run);
    const double gain_ns = finding->elapsed_ns - together_ns;
    const struct bottleneck found = {.stage = TURNS,
                                     .target = "",
                                     .phase = REPLAY,
                                     .bound = BOTTLENECK_WAITING,
                                     .time_ns = whole_ns(gain_ns),
                                     .remedy = BOTTLENECK_SIDE_BY_SIDE,
                                     .remedied_ns = whole_ns(together_ns)};
    if (run->target_count > 1 && is_in_turn(run) && gain_ns > TURNS_SHARE * finding->gain_ns) {
        take(finding, &found, gain_ns);
    }
}

// -- Remedies ------------------------------------------------------------------------------------

static const struct bottleneck_rows *rows_of(const struct bottleneck_run *run, const char *target)
{
    for (size_t i = 0; i < run->target_count; i++) {
        if (strcmp(run->targets[i].name, target) == 0) {
            return &run->targets[i];
        }
    }
    return &run->own;
}

static void
remedy(struct bottleneck *found, enum bottleneck_remedy remedy, int64_t amount, double ns)
{
    found->remedy = remedy;
    found->amount = amount;
    found->remedied_ns = whole_ns(ns);
}

// More cases of a window, where those are few and the way is long.
static void remedy_latency(const struct bottleneck_finding *finding, struct bottleneck *found)
{
    const struct bottleneck_replay replaying = replaying_of(rows_of(finding->run, found->target));
    const double saved_ns = replaying.elapsed_ns - with_windows(&replaying);
    if (replaying.could_be_more && saved_ns > 0) {
        remedy(found, BOTTLENECK_AHEAD, WINDOW_CASES, finding->elapsed_ns - saved_ns);
    }
}

// Pages that were read again, since they were not kept.
static void remedy_read(const struct bottleneck_finding *finding, struct bottleneck *found)
{
    const struct bottleneck_run *run = finding->run;
    const double file = fact_of(&run->own, "store").bytes;
    double bytes = sum_of(&run->own, NULL, found->stage).bytes;
    for (size_t i = 0; is_in_turn(run) && i < run->target_count; i++) {
        bytes += sum_of(&run->targets[i], NULL, found->stage).bytes;
    }
    if (file > 0 && bytes > AGAIN_SHARE * file) {
        const double gain_ns = finding->elapsed_ns - (double)found->without_ns;
        found->bound = BOTTLENECK_MEMORY;
        remedy(found, BOTTLENECK_CACHE, (int64_t)ceil(file / MIB) + 1,
               finding->elapsed_ns - gain_ns * (1 - file / bytes));
    }
}

// A budget that is smaller than the weights makes them go and come: how much of the uploads that
// is, nobody has counted.
static void remedy_upload(const struct bottleneck_finding *finding, struct bottleneck *found)
{
    const double budget = fact_of(rows_of(finding->run, found->target), "budget").bytes;
    if (budget > 0 && strcmp(found->phase, "offload") == 0) {
        remedy(found, BOTTLENECK_NO_BUDGET, 0, (double)found->without_ns);
        found->bound = BOTTLENECK_MEMORY;
        found->is_guess = 1;
    }
}

static void find_remedy(const struct bottleneck_finding *finding, struct bottleneck *found)
{
    const struct bottleneck_run *run = finding->run;
    const double together_ns = side_by_side_ns(run);
    const enum stages_kind kind = stages_find(found->stage);
    if (kind == STAGES_READ) {
        remedy_read(finding, found);
    } else if (kind == STAGES_COMPARERS) {
        remedy(found, BOTTLENECK_NO_COMPARERS, 0, (double)found->without_ns);
    } else if (kind == STAGES_LAUNCH) {
        remedy_latency(finding, found);
    } else if (kind == STAGES_UPLOAD) {
        remedy_upload(finding, found);
    } else if (kind == STAGES_SOURCE && run->target_count > 1 && is_in_turn(run) &&
               together_ns < finding->elapsed_ns) {
        remedy(found, BOTTLENECK_SIDE_BY_SIDE, 0, together_ns);
    }
}

// -- The whole -----------------------------------------------------------------------------------

uint64_t bottleneck_elapsed_ns(const struct bottleneck_run *run)
{
    double elapsed_ns = sum_of(&run->own, NULL, NULL).wall_ns;
    for (size_t i = 0; is_in_turn(run) && i < run->target_count; i++) {
        elapsed_ns += sum_of(&run->targets[i], NULL, NULL).wall_ns;
    }
    return whole_ns(elapsed_ns);
}

static void offer_all(struct bottleneck_finding *finding)
{
    static const enum stages_kind hosts[] = {STAGES_READ,    STAGES_DECODE,    STAGES_PREPARE,
                                             STAGES_COMPARE, STAGES_COMPARERS, STAGES_CALIBRATE,
                                             STAGES_RECORD,  STAGES_SOURCE};
    const struct bottleneck_run *run = finding->run;
    for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
        offer_host(finding, hosts[i]);
    }
    offer_phases(finding, &run->own);
    for (size_t i = 0; i < run->target_count; i++) {
        if (is_counted(run, i)) {
            offer_phases(finding, &run->targets[i]);
            offer_device(finding, &run->targets[i]);
        }
    }
    offer_turns(finding);
}

int bottleneck_find(const struct bottleneck_run *run, struct bottleneck *out_found)
{
    struct bottleneck_finding finding = {.run = run,
                                         .elapsed_ns = (double)bottleneck_elapsed_ns(run)};
    offer_all(&finding);
    if (!finding.found.stage) {
        return 0;
    }
    if (finding.found.remedy == BOTTLENECK_NOTHING) {
        find_remedy(&finding, &finding.found);
    }
    finding.found.elapsed_ns = whole_ns(finding.elapsed_ns);
    finding.found.is_guess |= !is_in_turn(run); // How far others hide it was not measured.
    *out_found = finding.found;
    return 1;
}
