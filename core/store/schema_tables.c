// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "store/schema_tables.h"

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
    {"invariance",
     "CREATE TABLE invariance ("
     "  target TEXT NOT NULL, op TEXT NOT NULL, version INTEGER NOT NULL, axis TEXT NOT NULL,"
     "  verdict TEXT NOT NULL, size INTEGER NOT NULL, tried INTEGER NOT NULL,"
     "  instance TEXT NOT NULL, shape TEXT NOT NULL, margin REAL, reason TEXT NOT NULL,"
     "  basis TEXT NOT NULL,"
     "  PRIMARY KEY (target, op, version, axis)) WITHOUT ROWID",
     NULL},
    {"usage",
     "CREATE TABLE usage ("
     "  run TEXT NOT NULL REFERENCES run (id),"
     "  place TEXT NOT NULL, device TEXT NOT NULL, driver TEXT NOT NULL,"
     "  rate REAL, currency TEXT NOT NULL,"
     "  began_s INTEGER NOT NULL, start_ns INTEGER,"
     "  held_ns INTEGER NOT NULL, busy_ns INTEGER NOT NULL, bytes INTEGER,"
     "  cases INTEGER NOT NULL, limits INTEGER NOT NULL,"
     "  cases_ns INTEGER NOT NULL, cases_busy_ns INTEGER NOT NULL,"
     "  calls_ns INTEGER NOT NULL, cases_bytes INTEGER NOT NULL,"
     "  firsts INTEGER NOT NULL, firsts_ns INTEGER NOT NULL,"
     "  PRIMARY KEY (run, place)) WITHOUT ROWID",
     NULL},
    {"stage",
     "CREATE TABLE stage ("
     "  target TEXT NOT NULL, position INTEGER NOT NULL, phase TEXT NOT NULL,"
     "  stage TEXT NOT NULL, visits INTEGER NOT NULL, bytes INTEGER NOT NULL,"
     "  wall_ns INTEGER NOT NULL, waiting_ns INTEGER NOT NULL,"
     "  PRIMARY KEY (target, position)) WITHOUT ROWID",
     NULL},
};

const struct schema_table *schema_tables_at(size_t index)
{
    return index < sizeof(TABLES) / sizeof(*TABLES) ? &TABLES[index] : NULL;
}
