// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include "store/old_tables.h"

#include <string.h>

// `prompt` has a line from the first step on, which is completed at the last one.
static const struct schema_table TABLES[] = {
    {"metadata",
     "CREATE TABLE metadata ("
     "  name TEXT PRIMARY KEY,"
     "  value TEXT NOT NULL"
     ") WITHOUT ROWID",
     NULL},
    {"run",
     "CREATE TABLE run ("
     "  id TEXT PRIMARY KEY,"
     "  host TEXT NOT NULL,"
     "  machine TEXT NOT NULL,"
     "  begun_s INTEGER NOT NULL"
     ") WITHOUT ROWID",
     NULL},
    {"prompt",
     "CREATE TABLE prompt ("
     "  hash TEXT PRIMARY KEY,"
     "  position INTEGER,"
     "  text TEXT,"
     "  ids TEXT,"
     "  greedy TEXT,"
     "  run TEXT NOT NULL REFERENCES run (id)"
     ") WITHOUT ROWID",
     NULL},
    {"tensor",
     "CREATE TABLE tensor ("
     "  key BLOB PRIMARY KEY,"
     "  dtype TEXT NOT NULL,"
     "  shape TEXT NOT NULL,"
     "  encoding TEXT NOT NULL CHECK (encoding IN ('raw', 'zstd')),"
     "  bytes BLOB NOT NULL"
     ")",
     NULL},
    {"weight",
     "CREATE TABLE weight ("
     "  name TEXT PRIMARY KEY,"
     "  dtype TEXT NOT NULL,"
     "  byte_count INTEGER NOT NULL,"
     "  key BLOB NOT NULL"
     ") WITHOUT ROWID",
     NULL},
    {"\"case\"",
     "CREATE TABLE \"case\" ("
     "  id INTEGER PRIMARY KEY,"
     "  key BLOB NOT NULL,"
     "  instance TEXT NOT NULL,"
     "  op TEXT NOT NULL,"
     "  version INTEGER NOT NULL,"
     "  phase TEXT NOT NULL,"
     "  shape_class TEXT NOT NULL,"
     "  prompt TEXT NOT NULL REFERENCES prompt (hash),"
     "  step INTEGER NOT NULL,"
     "  part INTEGER NOT NULL,"
     "  tokens INTEGER NOT NULL,"
     "  run TEXT NOT NULL REFERENCES run (id),"
     "  UNIQUE (instance, prompt, step, part)"
     ")",
     "CREATE INDEX case_by_class ON \"case\" (op, version, shape_class);"
     "CREATE INDEX case_by_key ON \"case\" (key)"},
    {"argument",
     "CREATE TABLE argument ("
     "  case_id INTEGER NOT NULL REFERENCES \"case\" (id) ON DELETE CASCADE,"
     "  position INTEGER NOT NULL,"
     "  param TEXT NOT NULL,"
     "  kind TEXT NOT NULL,"
     "  effects TEXT NOT NULL,"
     "  i INTEGER,"
     "  d REAL,"
     "  dtype TEXT,"
     "  shape TEXT,"
     "  stride TEXT,"
     "  offset_bytes INTEGER,"
     "  base_bytes INTEGER,"
     "  origin TEXT,"
     "  region_begin INTEGER,"
     "  region_end INTEGER,"
     "  kept_begin INTEGER,"
     "  kept_end INTEGER,"
     "  before BLOB REFERENCES tensor (key),"
     "  after BLOB REFERENCES tensor (key),"
     "  PRIMARY KEY (case_id, position)"
     ") WITHOUT ROWID",
     NULL},
    {"page",
     "CREATE TABLE page ("
     "  case_id INTEGER NOT NULL,"
     "  position INTEGER NOT NULL,"
     "  moment TEXT NOT NULL CHECK (moment IN ('before', 'after')),"
     "  page INTEGER NOT NULL,"
     "  key BLOB NOT NULL REFERENCES tensor (key),"
     "  PRIMARY KEY (case_id, position, moment, page),"
     "  FOREIGN KEY (case_id, position) REFERENCES argument (case_id, position) ON DELETE CASCADE"
     ") WITHOUT ROWID",
     NULL},
    {"feature",
     "CREATE TABLE feature ("
     "  case_id INTEGER PRIMARY KEY REFERENCES \"case\" (id) ON DELETE CASCADE,"
     "  signature TEXT NOT NULL,"
     "  layer REAL,"
     "  position REAL,"
     "  rows REAL,"
     "  width REAL,"
     "  height REAL,"
     "  weight_elements REAL,"
     "  rows_4 REAL,"
     "  rows_32 REAL,"
     "  width_4 REAL,"
     "  width_32 REAL,"
     "  height_4 REAL,"
     "  height_32 REAL,"
     "  largest REAL,"
     "  rms REAL,"
     "  zeros REAL,"
     "  subnormals REAL,"
     "  kurtosis REAL,"
     "  crest REAL,"
     "  non_finite REAL,"
     "  output_largest REAL,"
     "  output_rms REAL,"
     "  bits REAL,"
     "  weight_bits REAL,"
     "  contiguous REAL,"
     "  misalignment REAL,"
     "  operations REAL,"
     "  bytes REAL"
     ")",
     NULL},
    {"call",
     "CREATE TABLE call ("
     "  id INTEGER PRIMARY KEY,"
     "  instance TEXT NOT NULL,"
     "  prompt TEXT NOT NULL REFERENCES prompt (hash),"
     "  step INTEGER NOT NULL,"
     "  part INTEGER NOT NULL,"
     "  phase TEXT NOT NULL,"
     "  shape_class TEXT NOT NULL,"
     "  time_ns INTEGER NOT NULL,"
     "  kept INTEGER NOT NULL,"
     "  UNIQUE (instance, prompt, step, part)"
     ")",
     NULL},
    {"statistic",
     "CREATE TABLE statistic ("
     "  call_id INTEGER NOT NULL REFERENCES call (id) ON DELETE CASCADE,"
     "  param TEXT NOT NULL,"
     "  least REAL,"
     "  largest REAL,"
     "  mean_square REAL,"
     "  count INTEGER NOT NULL,"
     "  non_finite INTEGER NOT NULL,"
     "  kinds INTEGER NOT NULL,"
     "  PRIMARY KEY (call_id, param)"
     ") WITHOUT ROWID",
     NULL},
    {"result",
     "CREATE TABLE result ("
     "  target TEXT NOT NULL,"
     "  case_id INTEGER NOT NULL REFERENCES \"case\" (id) ON DELETE CASCADE,"
     "  outcome TEXT NOT NULL CHECK (outcome IN ('ran', 'error', 'unsupported', 'skipped')),"
     "  reason TEXT NOT NULL,"
     "  time_ns INTEGER NOT NULL,"
     "  implementation TEXT NOT NULL,"
     "  device TEXT NOT NULL,"
     "  driver TEXT NOT NULL,"
     "  options TEXT NOT NULL,"
     "  oracle TEXT NOT NULL,"
     "  beyond INTEGER,"
     "  elements INTEGER,"
     "  run TEXT NOT NULL REFERENCES run (id),"
     "  PRIMARY KEY (target, case_id)"
     ") WITHOUT ROWID",
     NULL},
    {"output_error",
     "CREATE TABLE output_error ("
     "  target TEXT NOT NULL,"
     "  case_id INTEGER NOT NULL,"
     "  position INTEGER NOT NULL,"
     "  param TEXT NOT NULL,"
     "  class TEXT NOT NULL DEFAULT '',"
     "  is_equal INTEGER NOT NULL DEFAULT 0,"
     "  ulp REAL,"
     "  nmse REAL,"
     "  row_error REAL,"
     "  cosine REAL,"
     "  non_finite INTEGER NOT NULL DEFAULT 0,"
     "  is_outside INTEGER NOT NULL DEFAULT 0,"
     "  place TEXT NOT NULL DEFAULT '',"
     "  expected REAL,"
     "  computed REAL,"
     "  margin REAL,"
     "  PRIMARY KEY (target, case_id, position),"
     "  FOREIGN KEY (target, case_id) REFERENCES result (target, case_id) ON DELETE CASCADE"
     ") WITHOUT ROWID",
     NULL},
    {"measure",
     "CREATE TABLE measure ("
     "  target TEXT NOT NULL,"
     "  case_id INTEGER NOT NULL,"
     "  position INTEGER NOT NULL,"
     "  comparer TEXT NOT NULL,"
     "  build TEXT NOT NULL,"
     "  unit TEXT NOT NULL,"
     "  param TEXT NOT NULL,"
     "  value REAL,"
     "  allowed REAL,"
     "  PRIMARY KEY (target, case_id, position),"
     "  FOREIGN KEY (target, case_id) REFERENCES result (target, case_id) ON DELETE CASCADE"
     ") WITHOUT ROWID",
     NULL},
    {"element",
     "CREATE TABLE element ("
     "  target TEXT NOT NULL,"
     "  case_id INTEGER NOT NULL,"
     "  position INTEGER NOT NULL,"
     "  param TEXT NOT NULL,"
     "  place TEXT NOT NULL,"
     "  expected REAL,"
     "  computed REAL,"
     "  allowed REAL,"
     "  PRIMARY KEY (target, case_id, position),"
     "  FOREIGN KEY (target, case_id) REFERENCES result (target, case_id) ON DELETE CASCADE"
     ") WITHOUT ROWID",
     NULL},
    {"\"limit\"",
     "CREATE TABLE \"limit\" ("
     "  op TEXT NOT NULL,"
     "  version INTEGER NOT NULL,"
     "  shape_class TEXT NOT NULL,"
     "  param TEXT NOT NULL,"
     "  calibration TEXT NOT NULL,"
     "  ulp REAL NOT NULL,"
     "  nmse REAL NOT NULL,"
     "  row_error REAL NOT NULL,"
     "  oracle TEXT NOT NULL,"
     "  PRIMARY KEY (op, version, shape_class, param, calibration)"
     ") WITHOUT ROWID",
     NULL},
    {"target",
     "CREATE TABLE target ("
     "  name TEXT PRIMARY KEY,"
     "  position INTEGER,"
     "  backend TEXT NOT NULL,"
     "  activations TEXT NOT NULL CHECK (activations IN ('f32', 'f16')),"
     "  faults TEXT NOT NULL,"
     "  goal TEXT NOT NULL,"
     "  needs_all INTEGER NOT NULL,"
     "  component TEXT NOT NULL DEFAULT '',"
     "  device TEXT NOT NULL DEFAULT '',"
     "  device_name TEXT NOT NULL DEFAULT '',"
     "  driver TEXT NOT NULL DEFAULT '',"
     "  plugin TEXT NOT NULL DEFAULT '',"
     "  plugin_version TEXT NOT NULL DEFAULT '',"
     "  build TEXT NOT NULL DEFAULT '',"
     "  identity TEXT NOT NULL DEFAULT '',"
     "  implementations TEXT NOT NULL DEFAULT '',"
     "  given_up TEXT NOT NULL DEFAULT ''"
     ") WITHOUT ROWID",
     NULL},
    {"instance",
     "CREATE TABLE instance ("
     "  position INTEGER PRIMARY KEY,"
     "  instance TEXT NOT NULL UNIQUE,"
     "  op TEXT NOT NULL,"
     "  class TEXT NOT NULL"
     ")",
     NULL},
    {"loss",
     "CREATE TABLE loss ("
     "  position INTEGER PRIMARY KEY,"
     "  weight TEXT NOT NULL,"
     "  relative REAL,"
     "  largest REAL"
     ")",
     NULL},
    {"derived",
     "CREATE TABLE derived ("
     "  target TEXT NOT NULL,"
     "  position INTEGER NOT NULL,"
     "  case_id INTEGER NOT NULL REFERENCES \"case\" (id) ON DELETE CASCADE,"
     "  source TEXT NOT NULL,"
     "  label TEXT NOT NULL,"
     "  verdict TEXT NOT NULL,"
     "  margin REAL,"
     "  output TEXT NOT NULL,"
     "  reason TEXT NOT NULL,"
     "  beyond INTEGER NOT NULL,"
     "  elements INTEGER NOT NULL,"
     "  basis TEXT NOT NULL,"
     "  PRIMARY KEY (target, position)"
     ") WITHOUT ROWID",
     NULL},
    {"derived_element",
     "CREATE TABLE derived_element ("
     "  target TEXT NOT NULL,"
     "  position INTEGER NOT NULL,"
     "  number INTEGER NOT NULL,"
     "  param TEXT NOT NULL,"
     "  place TEXT NOT NULL,"
     "  expected REAL,"
     "  computed REAL,"
     "  allowed REAL,"
     "  PRIMARY KEY (target, position, number),"
     "  FOREIGN KEY (target, position) REFERENCES derived (target, position) ON DELETE CASCADE"
     ") WITHOUT ROWID",
     NULL},
    {"step",
     "CREATE TABLE step ("
     "  id INTEGER PRIMARY KEY,"
     "  target TEXT NOT NULL,"
     "  step TEXT NOT NULL,"
     "  verdict TEXT NOT NULL,"
     "  reason TEXT NOT NULL,"
     "  plan TEXT NOT NULL,"
     "  margin REAL,"
     "  time_ns INTEGER NOT NULL,"
     "  written_s INTEGER NOT NULL"
     ")",
     NULL},
    {"offload",
     "CREATE TABLE offload ("
     "  target TEXT PRIMARY KEY,"
     "  finished_s INTEGER NOT NULL,"
     "  agrees INTEGER NOT NULL,"
     "  margin REAL,"
     "  sentence TEXT NOT NULL,"
     "  unexplained TEXT NOT NULL,"
     "  plan TEXT NOT NULL,"
     "  checks INTEGER NOT NULL,"
     "  proof_runs INTEGER NOT NULL,"
     "  proof_miss REAL,"
     "  carving INTEGER NOT NULL,"
     "  moves INTEGER NOT NULL,"
     "  replays INTEGER NOT NULL,"
     "  looks INTEGER NOT NULL,"
     "  search INTEGER NOT NULL,"
     "  repeats INTEGER NOT NULL,"
     "  proof INTEGER NOT NULL,"
     "  watched INTEGER NOT NULL,"
     "  calibrating INTEGER NOT NULL"
     ") WITHOUT ROWID",
     NULL},
    {"blame",
     "CREATE TABLE blame ("
     "  target TEXT NOT NULL,"
     "  instance TEXT NOT NULL,"
     "  kind TEXT NOT NULL CHECK (kind IN ('alone', 'together', 'unsupported')),"
     "  margin REAL,"
     "  reason TEXT NOT NULL,"
     "  evidence TEXT NOT NULL CHECK (evidence IN ('case', 'derived', 'call', 'model', '')),"
     "  case_id INTEGER,"
     "  source TEXT NOT NULL,"
     "  label TEXT NOT NULL,"
     "  tried INTEGER NOT NULL,"
     "  failed INTEGER NOT NULL,"
     "  PRIMARY KEY (target, instance)"
     ") WITHOUT ROWID",
     NULL},
    {"bundle",
     "CREATE TABLE bundle ("
     "  target TEXT NOT NULL,"
     "  instance TEXT NOT NULL,"
     "  file TEXT NOT NULL,"
     "  shape_class TEXT NOT NULL,"
     "  command TEXT NOT NULL,"
     "  PRIMARY KEY (target, instance)"
     ") WITHOUT ROWID",
     NULL},
    {"timing",
     "CREATE TABLE timing ("
     "  target TEXT NOT NULL,"
     "  op TEXT NOT NULL,"
     "  calls INTEGER NOT NULL,"
     "  launches INTEGER NOT NULL,"
     "  time_ns INTEGER NOT NULL,"
     "  PRIMARY KEY (target, op)"
     ") WITHOUT ROWID",
     NULL},
    {"maker",
     "CREATE TABLE maker ("
     "  target TEXT NOT NULL,"
     "  op TEXT NOT NULL,"
     "  version INTEGER NOT NULL,"
     "  implementation TEXT NOT NULL,"
     "  device TEXT NOT NULL,"
     "  driver TEXT NOT NULL,"
     "  options TEXT NOT NULL,"
     "  oracle TEXT NOT NULL,"
     "  PRIMARY KEY (target, op, version)"
     ") WITHOUT ROWID",
     NULL},
    {"forecast",
     "CREATE TABLE forecast ("
     "  name TEXT PRIMARY KEY,"
     "  position INTEGER NOT NULL,"
     "  activations TEXT NOT NULL CHECK (activations IN ('f32', 'f16')),"
     "  figures TEXT NOT NULL,"
     "  tokens INTEGER NOT NULL,"
     "  weights_bytes INTEGER NOT NULL,"
     "  states_bytes INTEGER NOT NULL,"
     "  activations_bytes INTEGER NOT NULL"
     ") WITHOUT ROWID",
     NULL},
    {"forecast_range",
     "CREATE TABLE forecast_range ("
     "  name TEXT NOT NULL REFERENCES forecast (name) ON DELETE CASCADE,"
     "  position INTEGER NOT NULL,"
     "  type TEXT NOT NULL CHECK (type IN ('f16', 'bf16')),"
     "  instance TEXT NOT NULL,"
     "  op TEXT NOT NULL,"
     "  elements INTEGER NOT NULL,"
     "  largest REAL,"
     "  beyond INTEGER NOT NULL,"
     "  below INTEGER NOT NULL,"
     "  zeroed INTEGER NOT NULL,"
     "  relative REAL,"
     "  worst REAL,"
     "  PRIMARY KEY (name, position)"
     ") WITHOUT ROWID",
     NULL},
    {"forecast_limit",
     "CREATE TABLE forecast_limit ("
     "  name TEXT NOT NULL REFERENCES forecast (name) ON DELETE CASCADE,"
     "  position INTEGER NOT NULL,"
     "  kind TEXT NOT NULL,"
     "  instance TEXT NOT NULL,"
     "  op TEXT NOT NULL,"
     "  needed INTEGER NOT NULL,"
     "  allowed INTEGER NOT NULL,"
     "  sentence TEXT NOT NULL,"
     "  PRIMARY KEY (name, position)"
     ") WITHOUT ROWID",
     NULL},
    {"forecast_time",
     "CREATE TABLE forecast_time ("
     "  name TEXT NOT NULL REFERENCES forecast (name) ON DELETE CASCADE,"
     "  position INTEGER NOT NULL,"
     "  phase TEXT NOT NULL,"
     "  tokens INTEGER NOT NULL,"
     "  first_token INTEGER NOT NULL,"
     "  launches INTEGER NOT NULL,"
     "  bytes REAL NOT NULL,"
     "  operations REAL NOT NULL,"
     "  seconds REAL,"
     "  has_bandwidth INTEGER NOT NULL,"
     "  has_rate INTEGER NOT NULL,"
     "  has_launch INTEGER NOT NULL,"
     "  PRIMARY KEY (name, position)"
     ") WITHOUT ROWID",
     NULL},
    {"forecast_kind",
     "CREATE TABLE forecast_kind ("
     "  name TEXT NOT NULL REFERENCES forecast (name) ON DELETE CASCADE,"
     "  position INTEGER NOT NULL,"
     "  phase TEXT NOT NULL,"
     "  op TEXT NOT NULL,"
     "  calls INTEGER NOT NULL,"
     "  bytes REAL NOT NULL,"
     "  operations REAL NOT NULL,"
     "  seconds REAL,"
     "  PRIMARY KEY (name, position)"
     ") WITHOUT ROWID",
     NULL},
    {"look",
     "CREATE TABLE look ("
     "  id INTEGER PRIMARY KEY,"
     "  began_s INTEGER NOT NULL, ended_s INTEGER NOT NULL,"
     "  cause TEXT NOT NULL, fired TEXT NOT NULL,"
     "  everything INTEGER NOT NULL, stale INTEGER NOT NULL, replayed INTEGER NOT NULL,"
     "  sampled INTEGER NOT NULL, remaining INTEGER NOT NULL,"
     "  worse INTEGER NOT NULL, better INTEGER NOT NULL,"
     "  tries INTEGER NOT NULL, told INTEGER NOT NULL"
     ")",
     NULL},
    {"watched",
     "CREATE TABLE watched ("
     "  target TEXT NOT NULL, key TEXT NOT NULL, op TEXT NOT NULL,"
     "  verdict TEXT NOT NULL, margin REAL, time_ns INTEGER NOT NULL,"
     "  judged INTEGER NOT NULL, turns INTEGER NOT NULL, stale_s INTEGER NOT NULL,"
     "  PRIMARY KEY (target, key)"
     ") WITHOUT ROWID",
     NULL},
    {"turned",
     "CREATE TABLE turned ("
     "  id INTEGER PRIMARY KEY,"
     "  look INTEGER NOT NULL REFERENCES look (id) ON DELETE CASCADE,"
     "  target TEXT NOT NULL, key TEXT NOT NULL, op TEXT NOT NULL,"
     "  instance TEXT NOT NULL, phase TEXT NOT NULL,"
     "  before TEXT NOT NULL, after TEXT NOT NULL, is_worse INTEGER NOT NULL,"
     "  margin_before REAL, margin REAL,"
     "  param TEXT NOT NULL, place TEXT NOT NULL, expected REAL, computed REAL,"
     "  reason TEXT NOT NULL"
     ")",
     NULL},
    {"looked",
     "CREATE TABLE looked ("
     "  look INTEGER NOT NULL REFERENCES look (id) ON DELETE CASCADE,"
     "  target TEXT NOT NULL, key TEXT NOT NULL, op TEXT NOT NULL,"
     "  cause TEXT NOT NULL, stale_s INTEGER NOT NULL, before TEXT NOT NULL,"
     "  after TEXT NOT NULL, time_ns INTEGER NOT NULL, drift REAL, time_ratio REAL,"
     "  PRIMARY KEY (look, target, key)) WITHOUT ROWID",
     NULL},
    {"trial",
     "CREATE TABLE trial ("
     "  key TEXT PRIMARY KEY,"
     "  name TEXT NOT NULL, measure TEXT NOT NULL,"
     "  value REAL NOT NULL, beside REAL, time_ns INTEGER NOT NULL,"
     "  run TEXT NOT NULL REFERENCES run (id)"
     ") WITHOUT ROWID",
     NULL},
};

// Tables that stores behind OLD_TABLES_LAST did not all have, each with the first version that has
// it. They begin empty.
static const struct {
    const char *table;
    int64_t version;
} ADDED[] = {{"forecast", 5},      {"forecast_range", 5}, {"forecast_limit", 5},
             {"forecast_time", 5}, {"forecast_kind", 5},  {"measure", 7},
             {"feature", 8},       {"look", 9},           {"watched", 9},
             {"turned", 9},        {"looked", 9},         {"trial", 9}};

// Tables that had fewer columns before a version; otherwise they stand as above.
static const struct {
    struct schema_table before;
    int64_t version;
} CHANGED[] = {
    {{"output_error",
      "CREATE TABLE output_error ("
      "  target TEXT NOT NULL,"
      "  case_id INTEGER NOT NULL,"
      "  position INTEGER NOT NULL,"
      "  param TEXT NOT NULL,"
      "  class TEXT NOT NULL DEFAULT '',"
      "  is_equal INTEGER NOT NULL DEFAULT 0,"
      "  ulp REAL,"
      "  nmse REAL,"
      "  row_error REAL,"
      "  non_finite INTEGER NOT NULL DEFAULT 0,"
      "  is_outside INTEGER NOT NULL DEFAULT 0,"
      "  place TEXT NOT NULL DEFAULT '',"
      "  expected REAL,"
      "  computed REAL,"
      "  margin REAL,"
      "  PRIMARY KEY (target, case_id, position),"
      "  FOREIGN KEY (target, case_id) REFERENCES result (target, case_id) ON DELETE CASCADE"
      ") WITHOUT ROWID",
      NULL},
     6},
};

const char *schema_added(int64_t version, size_t index)
{
    for (size_t i = 0; i < sizeof(ADDED) / sizeof(*ADDED); i++) {
        if (ADDED[i].version > version && index-- == 0) {
            return ADDED[i].table;
        }
    }
    return NULL;
}

static int has_table(int64_t version, const char *table)
{
    const char *added = NULL;
    for (size_t i = 0; (added = schema_added(version, i)) != NULL; i++) {
        if (strcmp(added, table) == 0) {
            return 0;
        }
    }
    return 1;
}

// For a person at a shell: what `judgement_make` (verify/judgement.h) makes of errors and limits.
// The host computes it itself.
static const char VIEW[] =
    "CREATE VIEW judged AS"
    " SELECT result.*, CASE WHEN outcome <> 'ran' THEN outcome WHEN margin IS NULL THEN 'skipped'"
    "   WHEN margin <= 1 THEN 'pass' ELSE 'fail' END AS verdict, margin, output"
    " FROM result LEFT JOIN ("
    "  SELECT target, case_id, max(margin) AS margin, param AS output FROM ("
    "   SELECT e.target, e.case_id, e.param, CASE WHEN is_outside OR non_finite > 0 THEN 9e999"
    "    WHEN class = 'exact' THEN iif(is_equal, 0.0, 9e999)"
    "    WHEN class = 'elementwise' THEN e.ulp / l.ulp"
    "    WHEN class = 'reduction' THEN max(e.nmse / l.nmse, e.row_error / l.row_error)"
    "    ELSE e.margin END AS margin"
    "   FROM output_error AS e JOIN result AS r USING (target, case_id)"
    "    JOIN \"case\" AS c ON c.id = e.case_id"
    "    LEFT JOIN \"limit\" AS l ON l.op = c.op AND l.version = c.version"
    "     AND l.shape_class = c.shape_class AND l.param = e.param AND l.oracle = r.oracle"
    "   WHERE r.outcome = 'ran')"
    "  GROUP BY target, case_id) USING (target, case_id)";

const char *schema_view(void)
{
    return VIEW;
}

enum { TABLE_COUNT = (int)(sizeof(TABLES) / sizeof(*TABLES)) };

const struct schema_table *schema_find(const char *name)
{
    for (int i = 0; i < TABLE_COUNT; i++) {
        if (strcmp(TABLES[i].name, name) == 0) {
            return &TABLES[i];
        }
    }
    return NULL;
}

// A table as it was in a version behind OLD_TABLES_LAST.
static const struct schema_table *table_of(int64_t version, const struct schema_table *table)
{
    for (size_t i = 0; i < sizeof(CHANGED) / sizeof(*CHANGED); i++) {
        if (version < CHANGED[i].version && strcmp(CHANGED[i].before.name, table->name) == 0) {
            return &CHANGED[i].before;
        }
    }
    return table;
}

int schema_make(sqlite3 *connection, int64_t version)
{
    int code = SQLITE_OK;
    for (int i = 0; i < TABLE_COUNT && code == SQLITE_OK; i++) {
        const struct schema_table *table = table_of(version, &TABLES[i]);
        if (!has_table(version, table->name)) {
            continue;
        }
        code = sqlite3_exec(connection, table->table, NULL, NULL, NULL);
        if (code == SQLITE_OK && table->indices) {
            code = sqlite3_exec(connection, table->indices, NULL, NULL, NULL);
        }
    }
    return code == SQLITE_OK ? sqlite3_exec(connection, VIEW, NULL, NULL, NULL) : code;
}

// Each object with the statement that made it. SQLite makes an index without a statement for each
// key, and tables of statistics where somebody asked it to analyse.
static const char OBJECTS[] =
    "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM main.sqlite_schema"
    " WHERE NOT (type = 'index' AND sql IS NULL)"
    " AND NOT (type = 'table' AND name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4'))"
    " ORDER BY type, name";

static int compare_rows(sqlite3_stmt *ours, sqlite3_stmt *theirs, int *out_is_same)
{
    for (;;) {
        const int our_code = sqlite3_step(ours);
        const int code = sqlite3_step(theirs);
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            return code;
        }
        *out_is_same = code == our_code;
        if (!*out_is_same || code == SQLITE_DONE) {
            return SQLITE_OK;
        }
        const unsigned char *our_text = sqlite3_column_text(ours, 0);
        const unsigned char *text = sqlite3_column_text(theirs, 0);
        if (!our_text || !text) {
            return SQLITE_NOMEM;
        }
        *out_is_same = strcmp((const char *)our_text, (const char *)text) == 0;
        if (!*out_is_same) {
            return SQLITE_OK;
        }
    }
}

static int compare_objects(sqlite3 *model, sqlite3 *connection, int64_t version, int *out_is_same)
{
    sqlite3_stmt *ours = NULL;
    sqlite3_stmt *theirs = NULL;
    const char *text = old_tables_find(version);
    int code = text ? sqlite3_exec(model, text, NULL, NULL, NULL) : schema_make(model, version);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(model, OBJECTS, -1, &ours, NULL);
    }
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(connection, OBJECTS, -1, &theirs, NULL);
    }
    if (code == SQLITE_OK) {
        code = compare_rows(ours, theirs, out_is_same);
    }
    (void)sqlite3_finalize(ours); // Repeat the code of their last step.
    (void)sqlite3_finalize(theirs);
    return code;
}

int schema_compare(sqlite3 *connection, int64_t version, int *out_is_same)
{
    sqlite3 *model = NULL;
    int code = sqlite3_open_v2(":memory:", &model, SQLITE_OPEN_READWRITE, NULL);
    if (code == SQLITE_OK) {
        code = compare_objects(model, connection, version, out_is_same);
    }
    (void)sqlite3_close(model); // Its one statement is finalized.
    return code;
}
