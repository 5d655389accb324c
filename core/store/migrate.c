// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/migrate.h"

#include "base/assert.h"
#include "base/text.h"
#include "store/case_key.h"
#include "store/row.h"
#include "store/schema.h"
#include "store/store.h"

// A table that is new or has changed. The statement reads the old tables by `main.NAME`, and what
// was filled before it by name.
struct change {
    const char *table; // As in the schema of this version; NULL: the table `old` goes.
    const char *fill;  // INSERT INTO temp.TABLE ...; NULL: the table begins empty.
    const char *old;   // The table that it takes the place of; NULL: none.
};

// Before version 4 a result had a verdict and the margin of its worst output. What was compared
// keeps that margin, in the place of errors that were not kept.
#define OUTCOME "iif(verdict IN ('pass', 'fail'), 'ran', verdict)"
static const char ERRORS_OF_2_AND_3[] =
    "INSERT INTO temp.output_error (target, case_id, position, param, margin)"
    " SELECT target, case_id, 0, output, margin FROM main.result WHERE verdict IN ('pass', 'fail')";

static const char RESULTS_OF_3[] = "INSERT INTO temp.result"
                                   " SELECT target, case_id, " OUTCOME
                                   ", reason, time_ns, implementation, device, driver, options,"
                                   "  oracle, beyond, elements, run FROM main.result";

// What a result of version 2 has in `backend`: "PLUGIN VERSION BUILD, COMPONENT:DEVICE, NAME,
// DRIVER[, activations f16]".
#define FIRST "instr(backend, ', ')"
#define REST  "substr(backend, " FIRST " + 2)"
#define F16   "', activations f16'"
static const char RESULTS_OF_2[] =
    "INSERT INTO temp.result"
    " SELECT target, case_id, " OUTCOME ", reason, time_ns,"
    "  implementation, substr(rest, 1, at - 1), substr(rest, at + 2), options, '',"
    "  beyond, elements, (SELECT id FROM temp.run)"
    " FROM (SELECT *, instr(rest, ', ') AS at"
    "  FROM (SELECT *, substr(backend, 1, " FIRST " - 1) AS implementation,"
    "    replace(" REST ", " F16 ", '') AS rest,"
    "    iif(instr(backend, " F16 ") > 0, 'activations=f16', '') AS options"
    "   FROM main.result))";
#undef FIRST
#undef REST
#undef F16
#undef OUTCOME

// What version 2 has as facts: "targets", a list of names, and "target.NAME.goal" and its like.
#define FACT_OF_2(name_)                                                                           \
    "coalesce((SELECT value FROM main.fact WHERE fact.name = 'target.' || word || " name_ "), '')"
static const char TARGETS_OF_2[] =
    "INSERT OR IGNORE INTO temp.target (name, position, backend, activations, faults, goal,"
    "  needs_all, identity, given_up)"
    " WITH RECURSIVE split (word, rest, number) AS ("
    "  SELECT '', value || ' ', -1 FROM main.fact WHERE name = 'targets'"
    "  UNION ALL SELECT substr(rest, 1, instr(rest, ' ') - 1), substr(rest, instr(rest, ' ') + 1),"
    "   number + 1 FROM split WHERE rest <> '')"
    " SELECT word, number, " FACT_OF_2(
        "''") ","
              "  iif(" FACT_OF_2("'.activations'") " = 'f16', 'f16', 'f32'), " FACT_OF_2(
                  "'.faults'") ","
                               "  " FACT_OF_2("'.goal'") ", 0, " FACT_OF_2(
                                   "'.build'") ", " FACT_OF_2("'.given_up'") " FROM split WHERE "
                                                                             "word <> ''";
#undef FACT_OF_2

// Of a target that has finished: what its last step came to.
static const char OFFLOADS_OF_2[] =
    "INSERT INTO temp.offload"
    " SELECT target, CAST(value AS INTEGER), verdict <> 'departs', margin, reason,"
    "  coalesce((SELECT reason FROM main.ledger AS other WHERE other.target = ledger.target"
    "   AND verdict = 'unexplained' ORDER BY id DESC LIMIT 1), ''),"
    "  plan, 0, 0, 0, (SELECT count(*) FROM main.call), 0, 0, 0, 0, 0, 0, 0, 0"
    " FROM main.ledger JOIN main.fact ON name = 'target.' || target || '.finished'"
    " WHERE id IN (SELECT max(id) FROM main.ledger WHERE step = 'final' GROUP BY target)";

static const char STEPS_OF_2[] =
    "INSERT INTO temp.step"
    " SELECT id, target, iif(step LIKE 'accuse %', 'blame ' || substr(step, 8), step),"
    "  CASE verdict WHEN 'taken back' THEN 'reverted' WHEN 'accused' THEN 'blamed'"
    "   WHEN 'departs' THEN 'diverges' WHEN 'watched' THEN 'judged' ELSE verdict END,"
    "  reason, plan, margin, time_ns, written_s FROM main.ledger";

static const struct change FROM_2[] = {
    {"metadata",
     "INSERT INTO temp.metadata SELECT name, value FROM main.fact"
     " WHERE name NOT LIKE 'target.%' AND name <> 'targets'",
     NULL},
    {"target", TARGETS_OF_2, "fact"},
    {"run",
     "INSERT INTO temp.run SELECT lower(hex(randomblob(16))),"
     " coalesce((SELECT value FROM main.fact WHERE name = 'host.version'), ''), '', 0",
     NULL},
    {"prompt",
     "INSERT INTO temp.prompt"
     " SELECT hash, position, text, ids, greedy, (SELECT id FROM temp.run) FROM main.prompt",
     "prompt"},
    {"\"case\"",
     "INSERT INTO temp.\"case\" SELECT id, x'', instance, op, version, phase, shape_class, prompt,"
     " step, part, tokens, (SELECT id FROM temp.run) FROM main.\"case\"",
     "\"case\""},
    {"result", RESULTS_OF_2, "result"},
    {"output_error", ERRORS_OF_2_AND_3, NULL},
    // Which oracle gave them is not known: they are stale.
    {"\"limit\"", "INSERT INTO temp.\"limit\" SELECT *, '' FROM main.\"limit\"", "\"limit\""},
    {"instance",
     "INSERT INTO temp.instance SELECT row_number() OVER (ORDER BY min(id)) - 1, instance, op, ''"
     " FROM main.\"case\" GROUP BY instance",
     NULL},
    {"loss", NULL, NULL},
    {"derived", NULL, NULL},
    {"derived_element", NULL, NULL},
    {"offload", OFFLOADS_OF_2, NULL},
    {"step", STEPS_OF_2, "ledger"},
    {"blame",
     "INSERT INTO temp.blame"
     " SELECT target, instance, iif(kind = 'refused', 'unsupported', kind), margin, reason,"
     "  CASE WHEN kind = 'refused' THEN '' WHEN evidence = 0 THEN 'case'"
     "  WHEN evidence = 1 THEN 'derived' WHEN evidence = 2 THEN 'call' ELSE 'model' END,"
     "  NULL, '', '', tried, failed FROM main.finding",
     "finding"},
    {"bundle", NULL, NULL},
    {"maker", NULL, NULL},
};

static const struct change FROM_3[] = {
    {"result", RESULTS_OF_3, "result"},
    {"output_error", ERRORS_OF_2_AND_3, NULL},
    {"maker", NULL, NULL},
};

// Of an error these versions did not keep the cosine.
static const struct change FROM_4_AND_5[] = {
    {"output_error",
     "INSERT INTO temp.output_error SELECT target, case_id, position, param, class, is_equal, ulp,"
     "  nmse, row_error, NULL, non_finite, is_outside, place, expected, computed, margin"
     " FROM main.output_error",
     "output_error"},
};

// What the first cases of ops took was not kept.
static const struct change FROM_10[] = {
    {"usage", "INSERT INTO temp.usage SELECT *, 0, 0 FROM main.usage", "usage"},
};

// A version, and how its tables become those of this one.
struct migration {
    int64_t version;
    const struct change *changes; // Beside tables that were added later (schema_added).
    size_t change_count;
    int lacks_keys; // Of its cases: they are computed.
};

static const struct migration MIGRATIONS[] = {
    {2, FROM_2, sizeof(FROM_2) / sizeof(*FROM_2), 1},
    {3, FROM_3, sizeof(FROM_3) / sizeof(*FROM_3), 0},
    {4, FROM_4_AND_5, sizeof(FROM_4_AND_5) / sizeof(*FROM_4_AND_5), 0},
    {5, FROM_4_AND_5, sizeof(FROM_4_AND_5) / sizeof(*FROM_4_AND_5), 0},
    {6, NULL, 0, 0},
    {7, NULL, 0, 0},
    {8, NULL, 0, 0},
    {9, NULL, 0, 0},
    {10, FROM_10, sizeof(FROM_10) / sizeof(*FROM_10), 0},
};

static const char DOING[] = "reading the tables of an earlier version";

static tapml_status run_sql(struct store *store, const char *sql)
{
    const int code = sqlite3_exec(store_connection(store), sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? TAPML_OK : store_fail(store, code, DOING);
}

static tapml_status run_text(struct store *store, struct text *sql)
{
    TAPML_TRY(text_status(sql));
    return run_sql(store, sql->data);
}

// Whether there is a change of this index: a migration's own, then a table that was added later.
static int change_at(const struct migration *migration, size_t index, struct change *out_change)
{
    if (index < migration->change_count) {
        *out_change = migration->changes[index];
        return 1;
    }
    *out_change =
        (struct change){.table = schema_added(migration->version, index - migration->change_count)};
    return out_change->table != NULL;
}

// Makes the temporary table of a change, and fills it.
static tapml_status fill(struct store *store, const struct change *change, struct text *sql)
{
    static const char begin[] = "CREATE TABLE ";
    if (!change->table) {
        return TAPML_OK;
    }
    const struct schema_table *table = schema_find(change->table);
    ASSERT(table);
    text_clear(sql);
    text_format(sql, "CREATE TEMP TABLE %s", table->table + sizeof(begin) - 1);
    TAPML_TRY(run_text(store, sql));
    return change->fill ? run_sql(store, change->fill) : TAPML_OK;
}

// Puts the temporary table of a change in the place of the old one.
static tapml_status keep(struct store *store, const struct change *change, struct text *sql)
{
    text_clear(sql);
    if (change->old) {
        text_format(sql, "DROP TABLE main.%s;", change->old);
    }
    if (change->table) {
        const struct schema_table *table = schema_find(change->table);
        text_format(sql, "%s; INSERT INTO main.%s SELECT * FROM temp.%s; DROP TABLE temp.%s;",
                    table->table, table->name, table->name, table->name);
        text_append(sql, table->indices ? table->indices : "");
    }
    return run_text(store, sql);
}

static tapml_status run_changes(struct store *store, const struct migration *migration, int is_kept)
{
    struct text sql;
    tapml_status status = TAPML_OK;
    text_init(&sql);
    struct change change;
    for (size_t i = 0; status == TAPML_OK && change_at(migration, i, &change); i++) {
        status = fill(store, &change, &sql);
    }
    if (status == TAPML_OK && migration->lacks_keys) {
        status = case_key_write_all(store);
    }
    for (size_t i = 0; is_kept && status == TAPML_OK && change_at(migration, i, &change); i++) {
        status = keep(store, &change, &sql);
    }
    if (is_kept && status == TAPML_OK) {
        text_clear(&sql);
        text_format(&sql, "DROP VIEW IF EXISTS judged; %s; PRAGMA user_version = %d", schema_view(),
                    STORE_VERSION);
        status = run_text(store, &sql);
    }
    text_release(&sql);
    return status;
}

// References that lead nowhere are another's: a host writes none.
static tapml_status check_references(struct store *store)
{
    struct row row;
    int has = 0;
    TAPML_TRY(row_begin(store, "SELECT 1 FROM pragma_foreign_key_check LIMIT 1", DOING, &row));
    TAPML_TRY(row_next(&row, &has));
    if (has) {
        row_end(&row);
        return status_fail(TAPML_INVALID, "store '%s' has rows that refer to nothing",
                           store_path(store));
    }
    return TAPML_OK;
}

static tapml_status check_tables(struct store *store, const struct migration *migration)
{
    int is_same = 0;
    const int code = schema_compare(store_connection(store), migration->version, &is_same);
    if (code != SQLITE_OK) {
        return store_fail(store, code, DOING);
    }
    return is_same ? TAPML_OK
                   : status_fail(TAPML_INVALID,
                                 "store '%s' has other tables, indices, views or triggers than a "
                                 "store of version %lld has",
                                 store_path(store), (long long)migration->version);
}

static tapml_status
migrate_at_once(struct store *store, const struct migration *migration, int is_kept)
{
    TAPML_TRY(check_tables(store, migration));
    TAPML_TRY(run_changes(store, migration, is_kept));
    if (is_kept) {
        TAPML_TRY(check_references(store));
    }
    return store_commit(store);
}

tapml_status migrate_run(struct store *store, int64_t version, int is_kept)
{
    const struct migration *migration = NULL;
    for (size_t i = 0; i < sizeof(MIGRATIONS) / sizeof(*MIGRATIONS); i++) {
        migration = MIGRATIONS[i].version == version ? &MIGRATIONS[i] : migration;
    }
    ASSERT(migration);
    // References are checked at the end: a table that is replaced is missing for a while.
    TAPML_TRY(run_sql(store, "PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;"));
    TAPML_TRY(is_kept ? store_begin(store) : store_begin_to_read(store));
    const tapml_status status = migrate_at_once(store, migration, is_kept);
    if (status != TAPML_OK) {
        store_rollback(store);
        return status_explain(status, "while bringing it from version %lld to %d",
                              (long long)version, STORE_VERSION);
    }
    return is_kept ? run_sql(store, "PRAGMA foreign_keys = ON;") : TAPML_OK;
}
