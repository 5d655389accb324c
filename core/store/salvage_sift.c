// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/salvage_sift.h"

#include "base/text.h"
#include "store/metadata.h"
#include "store/row.h"
#include "store/store.h"

#include <inttypes.h>

// Prompts of which something is lost, or may be. The calls of a prompt follow one another, so that
// lost ones belong to a prompt beside the gap, or to one that has none left.
static const char FIND_DROPPED[] =
    "CREATE TEMP TABLE dropped (hash TEXT PRIMARY KEY);"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT hash FROM prompt WHERE greedy IS NULL OR position IS NULL;"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM gap JOIN call ON id BETWEEN low AND high"
    "    WHERE name IN ('call', 'statistic');"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT hash FROM prompt WHERE hash NOT IN (SELECT prompt FROM call)"
    "    AND EXISTS (SELECT 1 FROM gap WHERE name = 'call');"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM gap JOIN \"case\" ON id BETWEEN low AND high"
    "    WHERE name IN ('argument', 'page');"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM (SELECT instance, prompt, step, part FROM call WHERE kept"
    "    EXCEPT SELECT instance, prompt, step, part FROM \"case\");"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM (SELECT instance, prompt, step, part FROM \"case\""
    "    EXCEPT SELECT instance, prompt, step, part FROM call WHERE kept);"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM \"case\" JOIN argument ON case_id = id"
    "    WHERE before NOT IN (SELECT key FROM tensor) OR after NOT IN (SELECT key FROM tensor)"
    "      OR (before IS NULL AND kind IN ('in', 'inout') AND effects LIKE '%weight%'"
    "          AND origin NOT IN (SELECT name FROM weight));"
    "INSERT OR IGNORE INTO dropped"
    "  SELECT prompt FROM \"case\" JOIN page ON case_id = id"
    "    WHERE page.key NOT IN (SELECT key FROM tensor);";

static const char DROP[] =
    "DELETE FROM prompt WHERE hash IN (SELECT hash FROM dropped);"
    "DELETE FROM call WHERE prompt NOT IN (SELECT hash FROM prompt);"
    "DELETE FROM \"case\" WHERE prompt NOT IN (SELECT hash FROM prompt);"
    "DELETE FROM statistic WHERE call_id NOT IN (SELECT id FROM call);"
    "DELETE FROM argument WHERE case_id NOT IN (SELECT id FROM \"case\");"
    "DELETE FROM page WHERE case_id NOT IN (SELECT id FROM \"case\");"
    "DELETE FROM result WHERE case_id NOT IN (SELECT id FROM \"case\");"
    // What a target was is not known; a class is calibrated by its cases, all of them.
    "DELETE FROM result WHERE target NOT IN (SELECT name FROM target);"
    "DELETE FROM step WHERE target NOT IN (SELECT name FROM target);"
    "DELETE FROM result WHERE EXISTS (SELECT 1 FROM gap WHERE name = '\"limit\"')"
    "  AND (target, case_id) IN (SELECT e.target, e.case_id FROM output_error AS e"
    "   JOIN result AS r USING (target, case_id) JOIN \"case\" AS c ON c.id = e.case_id"
    "   WHERE e.class <> 'exact' AND NOT EXISTS (SELECT 1 FROM \"limit\" AS l WHERE l.op = c.op"
    "    AND l.version = c.version AND l.shape_class = c.shape_class AND l.param = e.param"
    "    AND l.oracle = r.oracle));"
    "DELETE FROM result WHERE EXISTS (SELECT 1 FROM gap WHERE name = 'output_error')"
    "  AND outcome = 'ran';"
    "DELETE FROM result WHERE EXISTS (SELECT 1 FROM gap WHERE name = 'element')"
    "  AND beyond IS NOT NULL;"
    "DELETE FROM element WHERE (target, case_id) NOT IN (SELECT target, case_id FROM result);"
    "DELETE FROM output_error WHERE (target, case_id) NOT IN (SELECT target, case_id FROM result);"
    "DELETE FROM measure WHERE (target, case_id) NOT IN (SELECT target, case_id FROM result);"
    "DELETE FROM turned WHERE look NOT IN (SELECT id FROM look);"
    "DELETE FROM looked WHERE look NOT IN (SELECT id FROM look);"
    // The order of the steps is that of the times of all calls; what they have found goes with
    // them.
    "DELETE FROM step WHERE EXISTS (SELECT 1 FROM dropped)"
    "  OR EXISTS (SELECT 1 FROM gap WHERE name IN ('prompt', 'blame', 'offload', 'timing'))"
    "  OR id > (SELECT min(low) FROM gap WHERE name = 'step');"
    "CREATE TEMP TABLE unfinished AS SELECT 1 FROM dropped"
    "  UNION SELECT 1 FROM gap"
    "    WHERE name IN ('target', 'prompt', 'blame', 'offload', 'timing', 'step');"
    "DELETE FROM blame WHERE EXISTS (SELECT 1 FROM unfinished);"
    "DELETE FROM timing WHERE EXISTS (SELECT 1 FROM unfinished);"
    "DELETE FROM offload WHERE EXISTS (SELECT 1 FROM unfinished);"
    // Of a run whose row is lost the id is left.
    "INSERT OR IGNORE INTO run SELECT run, '', '', 0 FROM (SELECT run FROM prompt"
    "  UNION SELECT run FROM \"case\" UNION SELECT run FROM result UNION SELECT run FROM trial"
    "  UNION SELECT run FROM usage);";

// What is reported of a store: the rows that it shows there were, then those that are kept.
static const struct counted {
    const char *what, *had, *has;
} COUNTED[] = {
    {"prompts",
     "SELECT count(*) FROM (SELECT hash FROM prompt UNION SELECT prompt FROM call"
     " UNION SELECT prompt FROM \"case\")",
     "SELECT count(*) FROM prompt"},
    {"cases",
     "SELECT count(*) FROM (SELECT instance, prompt, step, part FROM \"case\""
     " UNION SELECT instance, prompt, step, part FROM call WHERE kept)",
     "SELECT count(*) FROM \"case\""},
    {"results", "SELECT count(*) FROM result", "SELECT count(*) FROM result"},
    {"steps of the offload", "SELECT count(*) FROM step", "SELECT count(*) FROM step"},
};
enum { COUNTED_COUNT = (int)(sizeof(COUNTED) / sizeof(*COUNTED)) };

// Tables of which rows could not be read.
static tapml_status print_gaps(struct store *store, struct text *out)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store,
                        "SELECT group_concat(name, ', ') FROM"
                        " (SELECT DISTINCT trim(name, '\"') AS name FROM gap ORDER BY 1)",
                        "counting", &row));
    TAPML_TRY(row_next(&row, &has));
    if (has && !row_is_null(&row, 0)) {
        text_format(out, "; rows that cannot be read were in: %s", row_text(&row, 0));
    }
    if (has) {
        row_end(&row);
    }
    return text_status(out);
}

// Leaves in the new store what can be trusted.
static tapml_status sift(struct store *store, struct text *out_report)
{
    int64_t had[COUNTED_COUNT];
    int64_t has = 0;
    for (int i = 0; i < COUNTED_COUNT; i++) {
        TAPML_TRY(row_count(store, COUNTED[i].had, NULL, &had[i]));
    }
    TAPML_TRY(store_begin(store));
    TAPML_TRY(store_execute(store, FIND_DROPPED, "salvaging"));
    TAPML_TRY(store_execute(store, DROP, "salvaging"));
    TAPML_TRY(store_commit(store));
    text_append(out_report, ": kept are ");
    for (int i = 0; i < COUNTED_COUNT; i++) {
        TAPML_TRY(row_count(store, COUNTED[i].has, NULL, &has));
        text_format(out_report, "%s%" PRId64 " of %" PRId64 " %s",
                    i == 0                   ? ""
                    : i + 1 == COUNTED_COUNT ? " and "
                                             : ", ",
                    has, had[i], COUNTED[i].what);
    }
    TAPML_TRY(print_gaps(store, out_report));
    TAPML_TRY(row_count(store, "SELECT count(*) FROM pragma_foreign_key_check", NULL, &has));
    return has == 0 ? TAPML_OK : status_fail(TAPML_INTERNAL, "%" PRId64 " rows hang loose", has);
}

static tapml_status check_metadata(struct store *store, const char *const *metadata)
{
    int64_t gaps = 0;
    TAPML_TRY(row_count(store, "SELECT count(*) FROM gap WHERE name = 'metadata'", NULL, &gaps));
    for (; gaps > 0 && *metadata; metadata++) {
        if (!metadata_get(store, *metadata)) {
            return status_fail(TAPML_INVALID, "fact '%s' is lost, which says what run it is",
                               *metadata);
        }
    }
    return TAPML_OK;
}

tapml_status
salvage_sift_run(struct store *store, const char *const *metadata, struct text *out_report)
{
    TAPML_TRY(check_metadata(store, metadata));
    return sift(store, out_report);
}
