// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/outlook.h"

#include "base/assert.h"

#include <math.h>
#include <stdio.h>

void outlook_add(struct outlook *outlook, enum verdict_kind kind, double seconds)
{
    ASSERT(outlook->judged < outlook->all);
    outlook->judged++;
    outlook->passed += kind == VERDICT_PASS;
    if (!isnan(seconds)) {
        outlook->timed++;
        outlook->seconds += seconds;
        outlook->squares += seconds * seconds;
    }
}

// The middle has two passes and two failures more (Agresti and Coull, 1998): of a few cases that
// all pass, one cannot know that all will.
int outlook_pass_rate(const struct outlook *outlook, double *out_low, double *out_high)
{
    const double judged = (double)outlook->judged, all = (double)outlook->all;
    if (outlook->judged < OUTLOOK_LEAST) {
        return 0;
    }
    const double rate = ((double)outlook->passed + 2) / (judged + 4);
    const double spread = 2 * sqrt(rate * (1 - rate) / (judged + 4) * (1 - judged / all));
    const double failed = judged - (double)outlook->passed;
    // What is known bounds it too; at the end nothing else does.
    const double least = (double)outlook->passed / all, most = 1 - failed / all;
    *out_low = fmin(fmax(rate - spread, least), most);
    *out_high = fmax(fmin(rate + spread, most), least);
    return 1;
}

int outlook_left(const struct outlook *outlook, double *out_seconds, double *out_spread)
{
    const double timed = (double)outlook->timed;
    const double left = (double)(outlook->all - outlook->judged);
    if (outlook->timed < OUTLOOK_LEAST) {
        return 0;
    }
    const double mean = outlook->seconds / timed;
    const double variance = fmax(outlook->squares / timed - mean * mean, 0) * timed / (timed - 1);
    *out_seconds = left * mean;
    *out_spread = 2 * sqrt(variance * left * (1 + left / timed));
    return 1;
}

void outlook_print(const struct outlook *outlook, char out_text[OUTLOOK_TEXT])
{
    double low = 0, high = 0, seconds = 0, spread = 0;
    char within[OUTLOOK_TEXT / 4] = "";
    out_text[0] = '\0';
    if (!outlook_pass_rate(outlook, &low, &high)) {
        return;
    }
    if (outlook_left(outlook, &seconds, &spread) && spread >= 1) {
        (void)snprintf(within, sizeof(within), ", within %.0f s", spread);
    }
    (void)snprintf(out_text, OUTLOOK_TEXT, "%s; %.1f %% pass, %.1f to %.1f %% of all expected",
                   within, 100 * (double)outlook->passed / (double)outlook->judged, 100 * low,
                   100 * high);
}
