// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file.h"
#include "harness/command.h"
#include "harness/scratch.h"
#include "store/bundle.h"
#include "store/store.h"
#include "store/store_open.h"

static struct scratch scratch;

static void begin(void)
{
    const struct bundle_metadata metadata[] = {{BUNDLE_METADATA_INSTANCE, "driver"},
                                               {BUNDLE_METADATA_CHECK, "fill"}};
    struct store *store = NULL;

    scratch_make(&scratch);
    cr_assert_eq(
        bundle_create(scratch_path(&scratch, "FAULT-1.tapmlrun"), NULL, metadata, 2, &store),
        TAPML_OK);
    store_close(store);
}

static void end(void)
{
    scratch_remove(&scratch);
}

TestSuite(command_find, .init = begin, .fini = end);

#define FIND(...) PRINTED(command_find_main, __VA_ARGS__)

static char json[] = "--json", tags[] = "--tags", fill[] = "check=fill", copy[] = "check=copy";
static char wrong[] = "oq=silu", absent[] = "/nowhere";

Test(command_find, lists_what_meets_all_conditions)
{
    printed_expect(FIND(scratch.folder), OUTCOME_OK, "FAULT-1.tapmlrun\n");
    printed_expect(FIND(scratch.folder, fill), OUTCOME_OK, "fill");
    printed_expect(FIND(json, fill, scratch.folder), OUTCOME_OK, "\"kind\": \"driver\"");
    printed_expect(FIND(scratch.folder, fill, copy), OUTCOME_WRONG, "");
    printed_expect(FIND(json, scratch.folder, copy), OUTCOME_WRONG, "[]\n");
}

Test(command_find, lists_the_keys_of_tags)
{
    printed_expect(FIND(tags), OUTCOME_OK, "id\nkind\nop\n");
    printed_expect(FIND(tags, fill), OUTCOME_USAGE, "expected no argument");
}

Test(command_find, is_refused_with_a_sentence)
{
    printed_expect(FIND(scratch.folder, wrong), OUTCOME_USAGE, "no tag 'oq', did you mean 'op'?");
    printed_expect(FIND(absent), OUTCOME_USAGE, "there is no file or folder '/nowhere'");
}
