// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/reported.h"

static struct scratch scratch;
static char folder[2 * SCRATCH_PATH], site[2 * SCRATCH_PATH];

static void begin(void)
{
    scratch_make(&scratch);
    snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "run"));
    snprintf(site, sizeof(site), "%s", scratch_path(&scratch, "site"));
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_publish, .init = begin, .fini = end, .timeout = 110);

#define PUBLISH(...) PRINTED(command_publish_main, __VA_ARGS__)

static char out[] = "--out", by[] = "--by=device", wrong[] = "--by=op", nothing[] = "--redact=all";

Test(command_publish, writes_a_site_over_its_own_alone)
{
    json_decref(reported_run(&scratch, "", OUTCOME_OK));
    printed_expect(PUBLISH(folder, out, site, by), OUTCOME_OK, "site/index.html: 1 runs\n");
    cr_assert(file_exists(scratch_path(&scratch, "site/runs/run.html")));
    printed_expect(PUBLISH(folder, out, site), OUTCOME_OK, "index.html: 1 runs\n");
    printed_expect(PUBLISH(folder, out, folder), OUTCOME_USAGE, "is no site of 'tapml-host");
}

Test(command_publish, is_refused_with_a_sentence)
{
    printed_expect(PUBLISH(folder), OUTCOME_USAGE, "folders of runs and --out expected");
    printed_expect(PUBLISH(out, site), OUTCOME_USAGE, "folders of runs and --out expected");
    printed_expect(PUBLISH(folder, out, site), OUTCOME_USAGE, "there is no run in '");
    printed_expect(PUBLISH(folder, out, site, wrong), OUTCOME_USAGE, "--by is 'op'");
    printed_expect(PUBLISH(folder, out, site, nothing), OUTCOME_USAGE, "--redact is 'all'");
    cr_assert_not(file_exists(site));
}
