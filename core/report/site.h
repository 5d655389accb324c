// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A folder of pages with the verdicts of runs, to share: `index.html` with the matrix
// (report/matrix.h), `matrix.json`, and the report of each run as `runs/NAME.html`. The same stores
// give the same bytes.
//
// `tapml-site.json` lists the files, so that a later start writes over its own and over nothing
// else, and removes what it does not write any more. It is written before them, with those of
// before and those to come: what a start that was killed has left is known, too.
//
// One thread. Failures are those of files, and TAPML_NO_MEMORY.
#pragma once

#include "report/matrix.h"

#define SITE_MARKER "tapml-site.json"

struct arena;

struct site_run {
    const char *name; // Of its page: the last part of its folder, of letters that a link may have.
    const char *file; // "runs/NAME.html"
    json_t *report;   // What the matrix needs of it; NULL until site_add.
};

struct site {
    const char *dir;     // Borrowed.
    struct arena *arena; // Of the texts; borrowed.
    json_t *earlier;     // An array of the files that an earlier start has written.
    struct site_run *runs;
    size_t count;
};

// Begins a site in the folder `dir` with a page for each run in `folders`; makes the folder where
// it is absent. TAPML_INVALID where there is something that is no site of this, or a file in it
// that is to be written and is not its own: nothing is written then.
tapml_status site_begin(const char *dir,
                        const char *const *folders,
                        size_t count,
                        struct arena *arena,
                        struct site *out_site) STATUS_USED;

// Writes the page of a run, whose report is taken over, be it that this fails, and made smaller.
tapml_status site_add(struct site *site, size_t run, json_t *report) STATUS_USED;

// Writes the matrix of all of them, removes what is no part of the site any more, and lists the
// files.
tapml_status site_end(struct site *site, enum matrix_by by) STATUS_USED;
void site_release(struct site *site);
