// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "base/file.h"
#include "model/published.h"

#include <criterion/criterion.h>
#include <string.h>

#define SOURCE "\"source\": {\"repository\": \"r\", \"path\": \"p\"}"
#define CONFIG "\"config\": {\"model_type\": \"t\"}"
#define LEAST  "\"name\": \"a-1b\", \"type\": \"t\", " SOURCE ", " CONFIG

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(published, .init = setup, .fini = teardown);

static tapml_status parse(const char *text, struct published **out_list)
{
    return published_parse("x.json", text, strlen(text), out_list);
}

static void expect_refused(const char *text, const char *message)
{
    struct published *list = NULL;
    const size_t live = alloc_live();

    cr_assert_eq(parse(text, &list), TAPML_INVALID, "%s", text);
    cr_assert_str_eq(status_message(), message);
    cr_assert_null(list);
    cr_assert_eq(alloc_live(), live);
}

// An entry with more members than it needs.
static void expect_entry_refused(const char *members, const char *message)
{
    char text[1024], whole[1024];

    snprintf(text, sizeof(text), "{\"models\": [{" LEAST ", %s}]}", members);
    snprintf(whole, sizeof(whole), "x.json: model 'a-1b': %s", message);
    expect_refused(text, whole);
}

Test(published, members_are_read)
{
    struct published *list = NULL;

    cr_assert_eq(parse("{\"models\": [{" LEAST "}, {\"name\": \"b.2\", \"hub\": \"Org/B.2\", "
                       "\"type\": \"t\", \"tokenizer\": \"gpt2\", \"licence\": \"mit\", "
                       "\"refused\": \"key\", \"parameters\": 12, \"quirks\": [\"q\", \"tied\"], "
                       "\"source\": {\"repository\": \"r\", \"commit\": \"c\", \"path\": \"p\", "
                       "\"excerpt\": true}, " CONFIG "}]}",
                       &list),
                 TAPML_OK, "%s", status_message());
    cr_assert_eq(published_count(list), 2);
    const struct published_model *least = published_at(list, 0);
    const struct published_model *whole = published_find(list, "b.2");

    cr_assert_str_eq(least->name, "a-1b");
    cr_assert_null(least->hub);
    cr_assert_null(least->licence);
    cr_assert_eq(least->parameters, 0);
    cr_assert_eq(whole, published_at(list, 1));
    cr_assert_eq(whole, published_find(list, "Org/B.2"));
    cr_assert_str_eq(whole->licence, "mit");
    cr_assert_str_eq(whole->refused, "key");
    cr_assert_eq(whole->parameters, 12);
    cr_assert_eq(whole->quirk_count, 2);
    cr_assert_str_eq(whole->quirks[1], "tied");
    cr_assert_str_eq(whole->commit, "c");
    cr_assert(json_is_object(whole->config));
    cr_assert_null(published_find(list, "b"));
    cr_assert_str_eq(published_nearest(list, "a-2b"), "a-1b");
    published_close(list);
    published_close(NULL);
}

Test(published, what_is_wrong_is_named)
{
    expect_refused("[]", "x.json: expected an object with the list 'models' alone");
    expect_refused("{\"models\": [], \"more\": 1}",
                   "x.json: expected an object with the list 'models' alone");
    expect_refused("{\"models\": [7]}", "x.json: models[0]: expected an object, found '7'");
    expect_refused("{\"models\": [{}]}", "x.json: models[0]: 'name': expected a text of one line, "
                                         "at most 256 bytes, found nothing");
    expect_refused("{\"models\": [{\"name\": \"A\"}]}",
                   "x.json: models[0]: 'name': expected small letters, digits, '.', '_', '-', "
                   "found '\"A\"'");
    expect_refused("{\"models\": [{\"name\": \"a\", \"hub\": \"../a\"}]}",
                   "x.json: model 'a': 'hub': expected ORGANISATION/NAME, found '\"../a\"'");
    expect_refused("{\"models\": [{" LEAST "}, {" LEAST "}]}",
                   "x.json: model 'a-1b': 'a-1b' is in x.json already");
    expect_entry_refused("\"size\": 1",
                         "expected one of name, hub, type, tokenizer, licence, refused, "
                         "parameters, quirks, source, config, found '\"size\"'");
    expect_entry_refused("\"parameters\": 0",
                         "'parameters': expected a whole number above 0, found '0'");
    expect_entry_refused("\"licence\": \"a\\nb\"", "'licence': expected a text of one line, at "
                                                   "most 256 bytes, found '\"a\\nb\"'");
    expect_entry_refused("\"quirks\": \"q\"",
                         "'quirks': expected a list of at most 32 texts, found '\"q\"'");
    expect_entry_refused("\"quirks\": [1]", "'quirks': expected texts of one line, at most 256 "
                                            "bytes, found '1'");
    expect_refused("{\"models\": [{\"name\": \"a\", \"type\": \"t\", \"source\": {\"url\": 1}}]}",
                   "x.json: model 'a': expected in 'source' one of repository, commit, path, "
                   "excerpt, quoted, found '\"url\"'");
    expect_refused("{\"models\": [{\"name\": \"a\", \"type\": \"u\", " SOURCE ", " CONFIG "}]}",
                   "x.json: model 'a': 'config': expected a 'model_type' that is the entry's "
                   "'type', found '\"t\"'");
}

Test(published, a_folder_is_read_in_the_order_of_its_names)
{
    struct published *list = NULL;
    char path[2 * SCRATCH_PATH];

    scratch_text(&scratch, "b.json", "{\"models\": [{" LEAST "}]}");
    scratch_text(&scratch, "a.json",
                 "{\"models\": [{\"name\": \"z\", \"type\": \"t\", " SOURCE ", " CONFIG "}]}");
    scratch_text(&scratch, ".c.json", "{");
    scratch_text(&scratch, "README.md", "{");
    cr_assert_eq(published_open(scratch.folder, &list), TAPML_OK, "%s", status_message());
    cr_assert_eq(published_count(list), 2);
    cr_assert_str_eq(published_at(list, 0)->name, "z");
    cr_assert_not_null(strstr(published_at(list, 1)->file, "/b.json"));
    published_close(list);
    // A name of another file is taken.
    scratch_text(&scratch, "c.json", "{\"models\": [{" LEAST "}]}");
    cr_assert_eq(published_open(scratch.folder, &list), TAPML_INVALID);
    snprintf(path, sizeof(path), "'a-1b' is in %s/b.json already", scratch.folder);
    cr_assert_not_null(strstr(status_message(), path), "%s", status_message());
    cr_assert_eq(published_open(scratch_path(&scratch, "nowhere"), &list), TAPML_NOT_FOUND);
}

Test(published, the_list_of_this_tree_is_read)
{
    struct published *list = NULL;
    size_t models = 0;

    cr_assert_eq(published_open(scratch_source("conf/models"), &list), TAPML_OK, "%s",
                 status_message());
    for (size_t i = 0; i < published_count(list); i++) {
        models += strstr(published_at(list, i)->name, "tiny-") == NULL;
    }
    cr_assert_gt(models, 220);
    published_close(list);
}

Test(published, memory_may_run_out)
{
    struct published *list = NULL;

    scratch_text(&scratch, "a.json", "{\"models\": [{" LEAST ", \"quirks\": [\"q\"]}]}");
    SCRATCH_SWEEP(published_open(scratch.folder, &list));
    published_close(list);
    const char *text = "{\"models\": [{" LEAST "}]}";

    SCRATCH_SWEEP(parse(text, &list));
    published_close(list);
}
