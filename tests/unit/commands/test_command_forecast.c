// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/json_file.h"
#include "harness/command.h"
#include "harness/scratch.h"

static const char figures[] = "[device]\nname = X\nsource = a test\n[memory]\nbytes = 100000000\n";

Test(command_forecast, prints_the_verdict_and_writes_the_document)
{
    struct scratch scratch;
    json_t *document = NULL;

    scratch_make(&scratch);
    char *model = strdup(scratch_source("models/tiny"));
    char *device = strdup(scratch_text(&scratch, "x.ini", figures));
    char *json = strdup(scratch_path(&scratch, "x.json"));
    struct printed printed = PRINTED(command_forecast_main, "--model", model, "--device", device,
                                     "--ids", "0 352 528", "--count", "1", "--json", json);

    cr_assert_eq(printed.outcome, OUTCOME_OK, "%s", printed.err);
    cr_assert_eq(
        strncmp(printed.out, "X: no op leaves a range or exceeds a limit; the model fits\n", 59), 0,
        "%s", printed.out);
    cr_assert_eq(json_file_load(json, &document), TAPML_OK, "%s", status_message());
    cr_assert_eq(json_integer_value(json_object_get(document, "tokens")), 3);
    json_decref(document);
    printed_release(&printed);
    free(model);
    free(device);
    free(json);
    scratch_remove(&scratch);
}

Test(command_forecast, what_exceeds_the_device_is_no_success)
{
    struct scratch scratch;

    scratch_make(&scratch);
    char *model = strdup(scratch_source("models/tiny"));
    char *device = strdup(scratch_text(&scratch, "x.ini", figures));
    struct printed large = PRINTED(command_forecast_main, "--model", model, "--device", device,
                                   "--ids", "0 352", "--count", "0", "--capacity", "50000");
    struct printed none = PRINTED(command_forecast_main, "--model", model);

    cr_assert_eq(large.outcome, OUTCOME_WRONG, "%s", large.err);
    cr_assert_not_null(strstr(large.out, "the model does not fit"), "%s", large.out);
    cr_assert_eq(none.outcome, OUTCOME_USAGE);
    cr_assert_not_null(strstr(none.err, "no device: give --device FILE"), "%s", none.err);
    printed_release(&large);
    printed_release(&none);
    free(model);
    free(device);
    scratch_remove(&scratch);
}
