// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/merge.h"

#include "base/assert.h"
#include "base/text.h"
#include "store/row.h"
#include "store/store.h"

#include <stdio.h>

static const char DOING[] = "merging stores";

// What is merged: all of a run, its cases alone, what became on targets of cases that both have,
// some of the cases with the limits that are known, or what was carved with the cases of some
// calls.
enum merge_kind { OF_RUN = 1, OF_CASES = 2, OF_RESULTS = 4, OF_SHARE = 8, OF_CARVED = 16 };
enum { OF_IDS = OF_SHARE | OF_CARVED };
enum { OF_ANY_CASES = OF_RUN | OF_CASES | OF_IDS, OF_ALL = OF_ANY_CASES | OF_RESULTS };

// Tables that are copied into temporary ones named "from_...", to be compared with the own ones.
// Tensors are not: they have no other key than their contents.
static const struct copied {
    const char *name, *copy;
    int kinds; // Which of `enum merge_kind` need it.
} COPIED[] = {
    {"metadata", "from_metadata", OF_ALL},
    {"run", "from_run", OF_ALL},
    {"prompt", "from_prompt", OF_ANY_CASES},
    {"weight", "from_weight", OF_ANY_CASES},
    {"\"case\"", "from_case", OF_ALL},
    {"argument", "from_argument", OF_ANY_CASES},
    {"page", "from_page", OF_ANY_CASES},
    {"call", "from_call", OF_ANY_CASES},
    {"statistic", "from_statistic", OF_ANY_CASES},
    {"result", "from_result", OF_RUN | OF_RESULTS},
    {"element", "from_element", OF_RUN | OF_RESULTS},
    {"\"limit\"", "from_limit", OF_RUN | OF_RESULTS | OF_SHARE},
    {"output_error", "from_output_error", OF_RUN | OF_RESULTS},
    {"measure", "from_measure", OF_RUN | OF_RESULTS},
    {"target", "from_target", OF_RESULTS},
    {"look", "from_look", OF_RESULTS},
    {"watched", "from_watched", OF_RESULTS},
    {"turned", "from_turned", OF_RESULTS},
    {"looked", "from_looked", OF_RESULTS},
    {"trial", "from_trial", OF_RUN | OF_RESULTS},
    {"invariance", "from_invariance", OF_RUN | OF_RESULTS},
    {"usage", "from_usage", OF_RUN},
};
enum { COPIED_ALL = sizeof(COPIED) / sizeof(*COPIED) };

// Metadata that say which run it is.
static const char DIFFERENT[] =
    "SELECT a.name, a.value, b.value FROM metadata AS a JOIN from_metadata AS b USING (name)"
    " WHERE a.value <> b.value AND name IN"
    "  ('model.hash', 'model.weights', 'model.state', 'source', 'prompts.hash', 'decode')"
    " ORDER BY name LIMIT 1";

// Ids are local: `number` maps those of the other store to the own ones. A case that both stores
// have under one label with different keys is mapped to none, so nothing of it comes over.
static const char NUMBER[] =
    "CREATE TEMP TABLE number (old INTEGER PRIMARY KEY, new INTEGER, is_new INTEGER);"
    "INSERT INTO number SELECT b.id, a.id, 0 FROM from_case AS b JOIN main.\"case\" AS a"
    "  USING (instance, prompt, step, part) WHERE a.key = b.key;"
    "INSERT INTO number SELECT b.id, (SELECT coalesce(max(id), 0) FROM main.\"case\")"
    "   + row_number() OVER (ORDER BY b.id), 1"
    "  FROM from_case AS b WHERE NOT EXISTS (SELECT 1 FROM main.\"case\" AS a"
    "   WHERE a.instance = b.instance AND a.prompt = b.prompt AND a.step = b.step"
    "    AND a.part = b.part);"
    "CREATE TEMP TABLE call_number (old INTEGER PRIMARY KEY, new INTEGER);"
    "INSERT INTO call_number SELECT b.id, (SELECT coalesce(max(id), 0) FROM main.call)"
    "   + row_number() OVER (ORDER BY b.id)"
    "  FROM from_call AS b WHERE NOT EXISTS (SELECT 1 FROM main.call AS a"
    "   WHERE a.instance = b.instance AND a.prompt = b.prompt AND a.step = b.step"
    "    AND a.part = b.part);";

// The same by content alone, whatever label it has. Of several cases with one key that with a
// result counts.
static const char NUMBER_BY_KEYS[] =
    "CREATE TEMP TABLE number (old INTEGER, new INTEGER PRIMARY KEY);"
    "INSERT INTO number SELECT min(b.id), a.id FROM from_case AS b JOIN main.\"case\" AS a"
    "  ON b.key = a.key WHERE b.key <> x'' AND b.id IN (SELECT case_id FROM from_result)"
    "  GROUP BY a.id;";

static const char NUMBER_RESULTS[] =
    "CREATE TEMP TABLE came AS SELECT b.target, b.case_id, n.new FROM from_result AS b"
    "  JOIN number AS n ON n.old = b.case_id"
    "  WHERE (b.target, n.new) NOT IN (SELECT target, case_id FROM main.result);";

#define LABEL "a.instance || ', prompt ' || a.prompt || ', step ' || a.step || ', part ' || a.part"

#define ERRORS                                                                                     \
    "position, param, class, is_equal, ulp, nmse, row_error, non_finite, is_outside, margin"

// A sentence for each row of both stores that says different things; the last ones are of what
// became of cases on targets, and of trials.
static const char *const DISAGREEMENTS[] = {
    "SELECT 'prompt ' || a.hash || ': the source chose other tokens'"
    " FROM prompt AS a JOIN from_prompt AS b USING (hash)"
    " WHERE a.greedy <> b.greedy ORDER BY a.hash",

    "SELECT 'weight ' || a.name || ': its bytes are others'"
    " FROM weight AS a JOIN from_weight AS b USING (name)"
    " WHERE a.key <> b.key ORDER BY a.name",

    "SELECT 'case of ' || " LABEL " || ': its content is another'"
    " FROM \"case\" AS a JOIN from_case AS b USING (instance, prompt, step, part)"
    " WHERE a.key <> b.key ORDER BY a.id",

    "SELECT 'call of ' || " LABEL " || ': the statistics of ' || s.param || ' differ'"
    " FROM call AS a JOIN from_call AS b USING (instance, prompt, step, part)"
    " JOIN statistic AS s ON s.call_id = a.id"
    " JOIN from_statistic AS t ON t.call_id = b.id AND t.param = s.param"
    " WHERE s.largest IS NOT t.largest OR s.least IS NOT t.least OR s.count <> t.count"
    "  OR s.mean_square IS NOT t.mean_square OR s.non_finite <> t.non_finite ORDER BY a.id",

    "SELECT 'result of ' || r.target || ', case of ' || " LABEL " || iif(r.implementation ="
    "   q.implementation AND r.device = q.device AND r.driver = q.driver AND r.options ="
    "   q.options, iif(r.outcome <> q.outcome, ': ' || r.outcome || ' here, ' || q.outcome || ' "
    "there',"
    "   ': its errors differ'), ': it is that of another implementation, device, driver or option')"
    " FROM result AS r JOIN number AS n ON n.new = r.case_id AND NOT n.is_new"
    " JOIN from_result AS q ON q.case_id = n.old AND q.target = r.target"
    " JOIN \"case\" AS a ON a.id = r.case_id"
    " WHERE r.outcome <> q.outcome"
    "  OR EXISTS (SELECT " ERRORS
    " FROM output_error WHERE target = r.target AND case_id = r.case_id"
    "   EXCEPT SELECT " ERRORS " FROM from_output_error"
    "    WHERE target = q.target AND case_id = q.case_id)"
    "  OR r.implementation <> q.implementation OR r.device <> q.device OR r.driver <> q.driver"
    "  OR r.options <> q.options ORDER BY r.target, a.id",

    "SELECT 'invariance of ' || target || ', ' || axis || ' of ' || op || ': ' || v.verdict ||"
    "   ' here, ' || w.verdict || ' there'"
    " FROM invariance AS v JOIN from_invariance AS w USING (target, op, version, axis, basis)"
    " WHERE v.verdict <> w.verdict ORDER BY target, op, axis",

    // Two speeds of one key are both true.
    "SELECT 'trial of ' || a.name || ': its ' || a.measure || ' is ' || a.value || ' here, '"
    "   || b.value || ' there'"
    " FROM trial AS a JOIN from_trial AS b USING (key)"
    " WHERE a.measure <> 'speed' AND (a.value IS NOT b.value OR a.beside IS NOT b.beside)"
    " ORDER BY a.key",
};
enum {
    DISAGREEMENTS_ALL = sizeof(DISAGREEMENTS) / sizeof(*DISAGREEMENTS),
    DISAGREEMENTS_OF_CASES = DISAGREEMENTS_ALL - 3
};
#undef LABEL
#undef ERRORS

// Of targets nothing comes over that says how far an offload is.
static const char TAKE_METADATA[] =
    "INSERT OR IGNORE INTO metadata SELECT name, value FROM from_metadata"
    "  WHERE name NOT LIKE 'target.%.finished' AND name NOT LIKE 'target.%.given_up';";

// Of model, source, prompts and groups of ops; the rest is about targets and limits.
static const char TAKE_METADATA_OF_CASES[] =
    "INSERT OR IGNORE INTO metadata SELECT name, value FROM from_metadata"
    "  WHERE name LIKE 'model.%' OR name = 'source' OR name LIKE 'source.%'"
    "   OR name LIKE 'prompts.%' OR name LIKE 'op.%'"
    "   OR name IN ('decode', 'capacity', 'chunk', 'keep');";

// Of the copies only what the cases in `share` need.
static const char CUT_TO_SHARE[] =
    "DELETE FROM from_case WHERE id NOT IN (SELECT id FROM share);"
    "DELETE FROM from_argument WHERE case_id NOT IN (SELECT id FROM share);"
    "DELETE FROM from_page WHERE case_id NOT IN (SELECT id FROM share);"
    "DELETE FROM from_weight WHERE name NOT IN (SELECT origin FROM from_argument"
    "  WHERE origin IS NOT NULL);"
    "DELETE FROM from_call WHERE (instance, prompt, step, part) NOT IN"
    "  (SELECT instance, prompt, step, part FROM from_case);"
    "DELETE FROM from_statistic WHERE call_id NOT IN (SELECT id FROM from_call);";

// The same of the calls in `share`, beside all that was carved.
static const char CUT_TO_CARVED[] =
    "DELETE FROM from_prompt WHERE greedy IS NULL;"
    "DELETE FROM from_call WHERE prompt NOT IN (SELECT hash FROM from_prompt);"
    "DELETE FROM from_statistic WHERE call_id NOT IN (SELECT id FROM from_call);"
    "UPDATE from_call SET kept = id IN (SELECT id FROM share);"
    "DELETE FROM from_case WHERE (instance, prompt, step, part) NOT IN"
    "  (SELECT instance, prompt, step, part FROM from_call WHERE kept);"
    "DELETE FROM from_argument WHERE case_id NOT IN (SELECT id FROM from_case);"
    "DELETE FROM from_page WHERE case_id NOT IN (SELECT id FROM from_case);";

static const char KEYS_OF_SHARE[] =
    "SELECT before FROM from_argument WHERE before IS NOT NULL"
    " UNION SELECT after FROM from_argument WHERE after IS NOT NULL"
    " UNION SELECT key FROM from_page UNION SELECT key FROM from_weight";

static const char TAKE_CASES[] =
    "INSERT OR IGNORE INTO run SELECT * FROM from_run;"
    "INSERT OR IGNORE INTO prompt SELECT * FROM from_prompt;"
    "UPDATE prompt SET (position, text, ids, greedy, run) ="
    "   (SELECT position, text, ids, greedy, run FROM from_prompt AS b WHERE b.hash = prompt.hash)"
    "  WHERE greedy IS NULL"
    "   AND hash IN (SELECT hash FROM from_prompt WHERE greedy IS NOT NULL);"
    "INSERT OR IGNORE INTO weight SELECT * FROM from_weight;"
    "INSERT INTO \"case\" SELECT n.new, key, instance, op, version, phase, shape_class, prompt,"
    "   step, part, tokens, run FROM from_case JOIN number AS n ON n.old = id WHERE n.is_new;"
    "INSERT INTO argument SELECT n.new, position, param, kind, effects, i, d, dtype, shape, stride,"
    "   offset_bytes, base_bytes, origin, region_begin, region_end, kept_begin, kept_end, before,"
    "   after FROM from_argument JOIN number AS n ON n.old = case_id WHERE n.is_new;"
    "INSERT INTO page SELECT n.new, position, moment, page, key FROM from_page"
    "   JOIN number AS n ON n.old = case_id WHERE n.is_new;"
    "INSERT INTO call SELECT n.new, instance, prompt, step, part, phase, shape_class, time_ns, kept"
    "   FROM from_call JOIN call_number AS n ON n.old = id;"
    "INSERT INTO statistic SELECT n.new, param, least, largest, mean_square, count, non_finite,"
    "   kinds FROM from_statistic JOIN call_number AS n ON n.old = call_id;"
    "UPDATE call SET kept = 1 WHERE NOT kept AND EXISTS (SELECT 1 FROM \"case\" AS c"
    "   WHERE c.instance = call.instance AND c.prompt = call.prompt AND c.step = call.step"
    "    AND c.part = call.part);";

static const char TAKE_RESULTS[] =
    "INSERT INTO result SELECT target, c.new, outcome, reason, time_ns,"
    "   implementation, device, driver, options, oracle, beyond, elements, run"
    "  FROM from_result JOIN came AS c USING (target, case_id);"
    "INSERT INTO element SELECT target, c.new, position, param, place, expected, computed, allowed"
    "  FROM from_element JOIN came AS c USING (target, case_id);"
    "INSERT INTO output_error SELECT target, c.new, position, param, class, is_equal, ulp, nmse,"
    "   row_error, cosine, non_finite, is_outside, place, expected, computed, margin"
    "  FROM from_output_error JOIN came AS c USING (target, case_id);"
    "INSERT INTO measure SELECT target, c.new, position, comparer, build, unit, param, value,"
    "   allowed FROM from_measure JOIN came AS c USING (target, case_id);"
    // A key stands for all that a trial depends on, but for what a speed was at that moment: the
    // own row stays.
    "INSERT OR IGNORE INTO trial SELECT * FROM from_trial;"
    // The next start knows by its basis whether a row holds.
    "INSERT OR IGNORE INTO invariance SELECT * FROM from_invariance;";

// Of two rows of one start the longer one is the later one.
static const char TAKE_USAGE[] =
    "INSERT INTO usage SELECT * FROM from_usage WHERE true"
    "  ON CONFLICT (run, place) DO UPDATE SET"
    "   (rate, currency, began_s, start_ns, held_ns, busy_ns, bytes, cases, limits, cases_ns,"
    "    cases_busy_ns, calls_ns, cases_bytes, firsts, firsts_ns) ="
    "   (excluded.rate, excluded.currency,"
    "    excluded.began_s, excluded.start_ns, excluded.held_ns, excluded.busy_ns, excluded.bytes,"
    "    excluded.cases, excluded.limits, excluded.cases_ns, excluded.cases_busy_ns,"
    "    excluded.calls_ns, excluded.cases_bytes, excluded.firsts, excluded.firsts_ns)"
    "  WHERE excluded.held_ns > usage.held_ns;";

// Limits of one oracle only grow.
static const char TAKE_LIMITS[] =
    "INSERT INTO \"limit\" SELECT * FROM from_limit WHERE true"
    "  ON CONFLICT (op, version, shape_class, param, calibration) DO UPDATE SET"
    "   ulp = max(ulp, excluded.ulp), nmse = max(nmse, excluded.nmse),"
    "   row_error = max(row_error, excluded.row_error)"
    "  WHERE \"limit\".oracle = excluded.oracle;";

// Before TAKE_RESULTS, where no case comes over: limits of classes that no result is of stay
// behind.
static const char TAKE_TARGETS[] =
    "INSERT OR IGNORE INTO run SELECT * FROM from_run;"
    "DELETE FROM from_limit WHERE (op, version, shape_class) NOT IN (SELECT op, version,"
    "   shape_class FROM from_case JOIN came ON case_id = id);"
    "UPDATE target SET identity = b.identity, implementations = b.implementations,"
    "   device_name = b.device_name, driver = b.driver, build = b.build"
    "  FROM from_target AS b WHERE b.name = target.name AND target.identity = '';"
    "INSERT OR IGNORE INTO metadata SELECT name, value FROM from_metadata"
    "  WHERE name LIKE 'watch.%';"
    "INSERT OR IGNORE INTO look SELECT * FROM from_look;"
    "INSERT OR IGNORE INTO watched SELECT * FROM from_watched;"
    "INSERT OR IGNORE INTO turned SELECT * FROM from_turned;"
    "INSERT OR IGNORE INTO looked SELECT * FROM from_looked;";

// One of two stores on its way.
struct store_merge {
    struct store *into, *from;
    enum merge_kind kind;
    const struct merge_ids *ids; // Of OF_SHARE: these cases of `from`; of OF_CARVED: calls.
    merge_report_fn report;
    void *user;
    struct merge_counts counts;
};

static tapml_status run_sql(struct store *store, const char *sql)
{
    const int code = sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TAPML_OK : store_fail(store, code, DOING);
}

static tapml_status count(struct store *store, const char *sql, int64_t *out_count)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, sql, DOING, &row));
    TAPML_TRY(row_next(&row, &has));
    *out_count = has ? row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

// The row that `from` is at, as a row of the statement `sql` of the other store.
static tapml_status copy_row(struct store *into, const char *sql, struct row *from)
{
    struct row row;
    TAPML_TRY(row_begin(into, sql, DOING, &row));
    for (int i = 0; i < row_columns(from); i++) {
        row_put_column(&row, from, i);
    }
    return row_run(&row);
}

static tapml_status
copy_rows(struct store *into, const char *insert, struct store *from, const char *select)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(from, select, DOING, &row));
    TAPML_TRY(row_next(&row, &has));
    while (has) {
        const tapml_status status = copy_row(into, insert, &row);
        if (status != TAPML_OK) {
            row_end(&row);
            return status;
        }
        TAPML_TRY(row_next(&row, &has));
    }
    return TAPML_OK;
}

static tapml_status print_insert(struct store *into, const struct copied *table, struct text *sql)
{
    int64_t columns = 0;
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(into, "SELECT count(*) FROM pragma_table_info(?)", DOING, &row));
    row_put_text(&row, table->copy);
    TAPML_TRY(row_next(&row, &has));
    columns = has ? row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    text_format(sql, "INSERT INTO %s VALUES (?", table->copy);
    for (int64_t i = 1; i < columns; i++) {
        text_append(sql, ", ?");
    }
    text_append(sql, ")");
    return text_status(sql);
}

static tapml_status
copy_table(struct store *into, struct store *from, const struct copied *table, struct text *texts)
{
    for (int i = 0; i < 3; i++) {
        text_clear(&texts[i]);
    }
    text_format(&texts[0], "CREATE TEMP TABLE %s AS SELECT * FROM main.%s WHERE 0", table->copy,
                table->name);
    text_format(&texts[1], "SELECT * FROM %s", table->name);
    TAPML_TRY(text_status(&texts[0]));
    TAPML_TRY(text_status(&texts[1]));
    TAPML_TRY(run_sql(into, texts[0].data));
    TAPML_TRY(print_insert(into, table, &texts[2]));
    return copy_rows(into, texts[2].data, from, texts[1].data);
}

static tapml_status copy_tables(struct store_merge *merging)
{
    struct text texts[3];
    tapml_status status = TAPML_OK;
    for (int i = 0; i < 3; i++) {
        text_init(&texts[i]);
    }
    for (size_t i = 0; status == TAPML_OK && i < COPIED_ALL; i++) {
        if (COPIED[i].kinds & (int)merging->kind) {
            status = copy_table(merging->into, merging->from, &COPIED[i], texts);
        }
    }
    for (int i = 0; i < 3; i++) {
        text_release(&texts[i]);
    }
    return status;
}

static tapml_status check_run(struct store *into, const struct store *from)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(into, DIFFERENT, DOING, &row));
    TAPML_TRY(row_next(&row, &has));
    if (!has) {
        return TAPML_OK;
    }
    const tapml_status status =
        status_fail(TAPML_PRECONDITION,
                    "'%s' and '%s' are of different runs: %s is %.80s and %.80s", store_path(into),
                    store_path(from), row_text(&row, 0), row_text(&row, 1), row_text(&row, 2));
    row_end(&row);
    return status;
}

static tapml_status report_disagreements(struct store_merge *merging)
{
    const size_t count = merging->kind == OF_RUN ? DISAGREEMENTS_ALL : DISAGREEMENTS_OF_CASES;
    for (size_t i = 0; i < count; i++) {
        struct row row;
        int has = 0;
        TAPML_TRY(row_begin(merging->into, DISAGREEMENTS[i], DOING, &row));
        TAPML_TRY(row_next(&row, &has));
        while (has) {
            merging->report(merging->user, row_text(&row, 0));
            merging->counts.disagreements++;
            TAPML_TRY(row_next(&row, &has));
        }
    }
    return TAPML_OK;
}

static tapml_status count_new(struct store_merge *merging)
{
    struct store *into = merging->into;
    TAPML_TRY(count(into,
                    "SELECT count(*) FROM from_prompt WHERE greedy IS NOT NULL AND hash NOT IN"
                    " (SELECT hash FROM prompt WHERE greedy IS NOT NULL)",
                    &merging->counts.prompts));
    TAPML_TRY(count(into, "SELECT count(*) FROM number WHERE is_new", &merging->counts.cases));
    TAPML_TRY(count(into, "SELECT count(*) FROM call_number", &merging->counts.calls));
    if (merging->kind != OF_RUN) {
        return TAPML_OK;
    }
    TAPML_TRY(count(into, "SELECT count(*) FROM came", &merging->counts.results));
    return count(into, "SELECT count(*) FROM from_trial WHERE key NOT IN (SELECT key FROM trial)",
                 &merging->counts.trials);
}

// Of the prompts that were copied only those that are asked for.
static tapml_status cut_to_prompts(const struct store_merge *merging)
{
    struct store *into = merging->into;
    TAPML_TRY(run_sql(into, "CREATE TEMP TABLE wanted (hash TEXT PRIMARY KEY)"));
    for (size_t i = 0; i < merging->ids->prompt_count; i++) {
        char hash[HASH_TEXT];
        struct row row;
        hash_text(merging->ids->prompts[i], hash);
        TAPML_TRY(row_begin(into, "INSERT OR IGNORE INTO wanted VALUES (?)", DOING, &row));
        row_put_text(&row, hash);
        TAPML_TRY(row_run(&row));
    }
    return run_sql(into, "DELETE FROM from_prompt WHERE hash NOT IN (SELECT hash FROM wanted);"
                         "DROP TABLE temp.wanted;");
}

static tapml_status cut_to_share(struct store_merge *merging)
{
    struct store *into = merging->into;
    TAPML_TRY(run_sql(into, "CREATE TEMP TABLE share (id INTEGER PRIMARY KEY)"));
    for (size_t i = 0; i < merging->ids->count; i++) {
        struct row row;
        TAPML_TRY(row_begin(into, "INSERT INTO share VALUES (?)", DOING, &row));
        row_put_i64(&row, merging->ids->items[i]);
        TAPML_TRY(row_run(&row));
    }
    TAPML_TRY(merging->ids->prompts ? cut_to_prompts(merging) : TAPML_OK);
    return run_sql(into, merging->kind == OF_SHARE ? CUT_TO_SHARE : CUT_TO_CARVED);
}

static const char INSERT_TENSOR[] = "INSERT OR IGNORE INTO tensor VALUES (?, ?, ?, ?, ?)";

static tapml_status take_tensor(void *user, struct row *key)
{
    const struct store_merge *merging = user;
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(merging->from,
                        "SELECT key, dtype, shape, encoding, bytes FROM tensor WHERE key = ?",
                        DOING, &row));
    row_put_column(&row, key, 0);
    TAPML_TRY(row_next(&row, &has));
    if (!has) { // A weight that is known by its name.
        return TAPML_OK;
    }
    const tapml_status status = copy_row(merging->into, INSERT_TENSOR, &row);
    row_end(&row);
    return status;
}

static tapml_status take_tensors(struct store_merge *merging)
{
    return merging->kind & OF_IDS
               ? row_each(merging->into, KEYS_OF_SHARE, NULL, take_tensor, merging)
               : copy_rows(merging->into, INSERT_TENSOR, merging->from,
                           "SELECT key, dtype, shape, encoding, bytes FROM tensor");
}

// What became of cases that both stores have.
static tapml_status merge_by_keys(struct store_merge *merging)
{
    struct store *into = merging->into;
    TAPML_TRY(copy_tables(merging));
    TAPML_TRY(run_sql(into, NUMBER_BY_KEYS));
    TAPML_TRY(run_sql(into, NUMBER_RESULTS));
    TAPML_TRY(count(into, "SELECT count(*) FROM came", &merging->counts.results));
    TAPML_TRY(run_sql(into, TAKE_TARGETS));
    TAPML_TRY(run_sql(into, TAKE_RESULTS));
    return run_sql(into, TAKE_LIMITS);
}

static tapml_status merge_at_once(struct store_merge *merging)
{
    struct store *into = merging->into;
    TAPML_TRY(copy_tables(merging));
    TAPML_TRY(check_run(into, merging->from));
    TAPML_TRY(merging->kind & OF_IDS ? cut_to_share(merging) : TAPML_OK);
    TAPML_TRY(run_sql(into, NUMBER));
    TAPML_TRY(merging->kind == OF_RUN ? run_sql(into, NUMBER_RESULTS) : TAPML_OK);
    TAPML_TRY(count_new(merging));
    TAPML_TRY(report_disagreements(merging));
    TAPML_TRY(take_tensors(merging));
    TAPML_TRY(run_sql(into, merging->kind == OF_RUN ? TAKE_METADATA : TAKE_METADATA_OF_CASES));
    TAPML_TRY(run_sql(into, TAKE_CASES));
    TAPML_TRY(merging->kind == OF_RUN ? run_sql(into, TAKE_RESULTS) : TAPML_OK);
    TAPML_TRY(merging->kind == OF_RUN ? run_sql(into, TAKE_USAGE) : TAPML_OK);
    return merging->kind & (OF_CASES | OF_CARVED) ? TAPML_OK : run_sql(into, TAKE_LIMITS);
}

// Temporary tables outlive a transaction that is committed.
static tapml_status drop_copies(const struct store_merge *merging)
{
    for (size_t i = 0; i < COPIED_ALL; i++) {
        char sql[64];
        (void)snprintf(sql, sizeof(sql), "DROP TABLE IF EXISTS temp.%s", COPIED[i].copy);
        TAPML_TRY(run_sql(merging->into, sql));
    }
    return run_sql(merging->into, "DROP TABLE temp.number; DROP TABLE IF EXISTS temp.call_number;"
                                  "DROP TABLE IF EXISTS temp.came;"
                                  "DROP TABLE IF EXISTS temp.share;");
}

static tapml_status run_merge(struct store_merge *merging, struct merge_counts *out_counts)
{
    ASSERT(merging->into != merging->from);
    TAPML_TRY(store_begin_to_read(merging->from)); // All of it as it is at one moment.
    tapml_status status = store_begin(merging->into);
    if (status == TAPML_OK) {
        status = merging->kind == OF_RESULTS ? merge_by_keys(merging) : merge_at_once(merging);
    }
    if (status == TAPML_OK) {
        status = drop_copies(merging);
    }
    if (status == TAPML_OK) {
        status = store_commit(merging->into);
    }
    if (status != TAPML_OK) {
        store_rollback(merging->into);
    }
    store_rollback(merging->from);
    if (status == TAPML_OK) {
        *out_counts = merging->counts;
    }
    return status;
}

tapml_status merge_run(struct store *into,
                       struct store *from,
                       merge_report_fn report,
                       void *user,
                       struct merge_counts *out_counts)
{
    return run_merge(
        &(struct store_merge){
            .into = into, .from = from, .kind = OF_RUN, .report = report, .user = user},
        out_counts);
}

tapml_status merge_cases(struct store *into,
                         struct store *from,
                         merge_report_fn report,
                         void *user,
                         struct merge_counts *out_counts)
{
    return run_merge(
        &(struct store_merge){
            .into = into, .from = from, .kind = OF_CASES, .report = report, .user = user},
        out_counts);
}

tapml_status merge_share(struct store *into,
                         struct store *from,
                         const struct merge_ids *ids,
                         merge_report_fn report,
                         void *user,
                         struct merge_counts *out_counts)
{
    return run_merge(&(struct store_merge){.into = into,
                                           .from = from,
                                           .kind = ids->are_calls ? OF_CARVED : OF_SHARE,
                                           .ids = ids,
                                           .report = report,
                                           .user = user},
                     out_counts);
}

tapml_status merge_results(struct store *into, struct store *from, struct merge_counts *out_counts)
{
    return run_merge(&(struct store_merge){.into = into, .from = from, .kind = OF_RESULTS},
                     out_counts);
}

static tapml_status count_of_run(struct store *store, const char *sql, const char *id, int64_t *out)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, sql, DOING, &row));
    row_put_text(&row, id);
    TAPML_TRY(row_next(&row, &has));
    *out = has ? row_i64(&row, 0) : 0;
    if (has) {
        row_end(&row);
    }
    return TAPML_OK;
}

// `condemned` names the run: statements that are executed as a text take no values. Findings of
// invariance are of no run; they go where results do, and the next start makes them anew.
static const char REMOVE[] =
    "DELETE FROM invariance WHERE target IN (SELECT target FROM result"
    "  WHERE run IN (SELECT id FROM condemned));"
    "DELETE FROM result WHERE run IN (SELECT id FROM condemned);"
    "DELETE FROM trial WHERE run IN (SELECT id FROM condemned);"
    "DELETE FROM usage WHERE run IN (SELECT id FROM condemned);"
    "DELETE FROM \"case\" WHERE run IN (SELECT id FROM condemned)"
    "  OR prompt IN (SELECT hash FROM prompt WHERE run IN (SELECT id FROM condemned));"
    "DELETE FROM call"
    "  WHERE prompt IN (SELECT hash FROM prompt WHERE run IN (SELECT id FROM condemned));"
    "DELETE FROM prompt WHERE run IN (SELECT id FROM condemned);"
    "UPDATE call SET kept = 0 WHERE kept AND NOT EXISTS (SELECT 1 FROM \"case\" AS c"
    "  WHERE c.instance = call.instance AND c.prompt = call.prompt AND c.step = call.step"
    "   AND c.part = call.part);"
    "DELETE FROM tensor WHERE key NOT IN (SELECT before FROM argument WHERE before IS NOT NULL"
    "  UNION SELECT after FROM argument WHERE after IS NOT NULL UNION SELECT key FROM page);"
    "DELETE FROM run WHERE id IN (SELECT id FROM condemned);"
    "DROP TABLE temp.condemned;";

static tapml_status remove_at_once(struct store *store, const char *id, struct merge_counts *counts)
{
    struct row row;
    int64_t cases = 0;
    int64_t has = 0;
    TAPML_TRY(count_of_run(store, "SELECT count(*) FROM run WHERE id = ?", id, &has));
    if (has == 0) {
        return status_fail(TAPML_NOT_FOUND, "store '%s' has no run '%.80s'", store_path(store), id);
    }
    TAPML_TRY(
        count_of_run(store, "SELECT count(*) FROM prompt WHERE run = ?", id, &counts->prompts));
    TAPML_TRY(
        count_of_run(store, "SELECT count(*) FROM result WHERE run = ?", id, &counts->results));
    TAPML_TRY(count_of_run(store, "SELECT count(*) FROM trial WHERE run = ?", id, &counts->trials));
    TAPML_TRY(count(store, "SELECT count(*) FROM \"case\"", &cases));
    TAPML_TRY(count(store, "SELECT count(*) FROM call", &counts->calls));
    TAPML_TRY(run_sql(store, "CREATE TEMP TABLE condemned (id TEXT)"));
    TAPML_TRY(row_begin(store, "INSERT INTO condemned VALUES (?)", DOING, &row));
    row_put_text(&row, id);
    TAPML_TRY(row_run(&row));
    TAPML_TRY(run_sql(store, REMOVE));
    TAPML_TRY(count(store, "SELECT count(*) FROM \"case\"", &counts->cases));
    counts->cases = cases - counts->cases;
    cases = counts->calls;
    TAPML_TRY(count(store, "SELECT count(*) FROM call", &counts->calls));
    counts->calls = cases - counts->calls;
    return TAPML_OK;
}

tapml_status merge_remove(struct store *store, const char *id, struct merge_counts *out_counts)
{
    struct merge_counts counts = {0};
    TAPML_TRY(store_begin(store));
    tapml_status status = remove_at_once(store, id, &counts);
    if (status == TAPML_OK) {
        status = store_commit(store);
    }
    if (status != TAPML_OK) {
        store_rollback(store);
        return status;
    }
    *out_counts = counts;
    return TAPML_OK;
}
