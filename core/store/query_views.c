// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/query_views.h"

#include "base/text.h"

#define COUNT(columns_) (sizeof(columns_) / sizeof(*(columns_)))
#define RUN                                                                                        \
    {                                                                                              \
        "run", "?1", "the folder of the run, as it was given"                                      \
    }
#define METADATA(name_) "(SELECT value FROM metadata WHERE name = '" name_ "')"
#define CALLS_OF_OP                                                                                \
    " FROM call WHERE instance IN (SELECT instance FROM \"case\" WHERE \"case\".op = o.op))"

static const struct query_column CASES[] = {
    RUN,
    {"case_id", "c.id", "the number of the case in its store"},
    {"key", "lower(hex(c.key))", "the content key: cases with one key are the same test"},
    {"instance", "c.instance", "where in the graph"},
    {"op", "c.op", "the operator"},
    {"version", "c.version", "of the operator"},
    {"phase", "c.phase", "prefill or decode"},
    {"shape_class", "c.shape_class", "the shapes of the inputs"},
    {"prompt", "(SELECT position FROM prompt WHERE hash = c.prompt)",
     "its place in the prompts file, from 0"},
    {"step", "c.step", "0 is the prefill"},
    {"part", "c.part", "the n-th call of the instance in the step"},
    {"tokens", "c.tokens", "of the step"},
    {"source_ns",
     "(SELECT time_ns FROM call WHERE (call.instance, call.prompt, call.step, call.part)"
     " = (c.instance, c.prompt, c.step, c.part))",
     "the time of the call on the source"},
};

static const struct query_column OPS[] = {
    RUN,
    {"op", "o.op", "the operator"},
    {"class", "(SELECT class FROM instance WHERE instance.op = o.op LIMIT 1)",
     "what its limit measures: exact, elementwise, reduction"},
    {"instances", "(SELECT count(*) FROM instance WHERE instance.op = o.op)",
     "how often it is in the model's graph"},
    {"cases", "(SELECT count(*) FROM \"case\" WHERE \"case\".op = o.op)", "kept cases"},
    {"calls", "(SELECT count(*)" CALLS_OF_OP, "that were recorded on the source"},
    {"calls_ns", "(SELECT sum(time_ns)" CALLS_OF_OP, "the time of all these calls"},
};

static const struct query_column TARGETS[] = {
    RUN,
    {"target", "t.name", "its name in the run"},
    {"backend", "t.backend", "as the INI file names it"},
    {"activations", "t.activations", "f32 or f16"},
    {"faults", "t.faults", "what is injected, or empty"},
    {"component", "t.component", "what it was at its last start"},
    {"device", "t.device", "likewise"},
    {"device_name", "t.device_name", "likewise"},
    {"driver", "t.driver", "likewise"},
    {"plugin", "t.plugin", "likewise"},
    {"plugin_version", "t.plugin_version", "likewise"},
    {"build", "t.build", "likewise"},
    {"given_up", "t.given_up", "why the last start could not finish it, or empty"},
    {"finished_s", "iif(f.finished_s > 0, f.finished_s, NULL)",
     "when its offload ended, in seconds since 1970; NULL before"},
    {"agrees", "iif(f.finished_s > 0, f.agrees, NULL)",
     "1 if the model under the final plan agrees with the source; NULL before"},
    {"model_margin", "iif(f.finished_s > 0, f.margin, NULL)", "of that, observed / limit"},
    {"blamed", "(SELECT count(*) FROM blame WHERE blame.target = t.name AND kind <> 'unsupported')",
     "instances that are blamed; of a wrong driver 1"},
    {"unsupported",
     "(SELECT count(*) FROM blame WHERE blame.target = t.name AND kind = 'unsupported')",
     "instances that the target lacks"},
};

static const struct query_column RUNS[] = {
    RUN,
    {"name", METADATA("run.name"), "of its folder, when it was made"},
    {"model", METADATA("model.path"), "the path of the model"},
    {"model_hash", METADATA("model.hash"), "of its weights and config.json"},
    {"architecture", METADATA("model.architecture"), "of the model"},
    {"source", METADATA("source"), "the backend that the cases were carved on"},
    {"source_device", METADATA("source.device_name"), "its device"},
    {"source_driver", METADATA("source.driver"), "its driver"},
    {"host", METADATA("host.version"), "version of the host"},
    {"machine", "(SELECT machine FROM run WHERE begun_s > 0 ORDER BY begun_s LIMIT 1)",
     "of the first start"},
    {"begun_s", "(SELECT min(begun_s) FROM run WHERE begun_s > 0)",
     "when the first start wrote, in seconds since 1970"},
    {"starts", "(SELECT count(*) FROM run)", "of the host that wrote"},
    {"prompts", "(SELECT count(*) FROM prompt WHERE position IS NOT NULL)",
     "that were carved to their end"},
    {"calls", "(SELECT count(*) FROM call)", "that were recorded"},
    {"cases", "(SELECT count(*) FROM \"case\")", "that are kept"},
};

static const struct query_column DERIVED[] = {
    RUN,
    {"target", "d.target", "its name in the run"},
    {"case_id", "d.case_id", "the kept case that it is derived from"},
    {"instance", "c.instance", "of that case"},
    {"op", "c.op", "of that case"},
    {"source", "d.source", "uniform, boundary or shape"},
    {"label", "d.label", "what is special about it"},
    {"verdict", "d.verdict", "pass, fail, error, unsupported or skipped"},
    {"margin", "d.margin", "observed / limit; NULL if nothing was compared"},
    {"output", "d.output", "the worst output"},
    {"reason", "d.reason", "a sentence for all but a pass"},
};

static const struct query_column INVARIANCE[] = {
    RUN,
    {"target", "v.target", "its name in the run"},
    {"op", "v.op", "the operator; 'model' of the whole model"},
    {"version", "v.version", "of the operator; 0 of the model"},
    {"axis", "v.axis", "run, rows, chunk, verify, order, parts or stress"},
    {"verdict", "v.verdict", "equal bits, within limits, wrong or not tried"},
    {"size", "iif(v.size > 0, v.size, NULL)",
     "the smallest at which the verdict shows; NULL if nothing changes"},
    {"tried", "v.tried", "comparisons"},
    {"instance", "v.instance", "where it shows first, or empty"},
    {"shape", "v.shape", "of the first case that shows it, or empty"},
    {"margin", "v.margin", "observed / limit, the worst; NULL if nothing was judged"},
    {"reason", "v.reason", "why it is wrong, or was not tried, or empty"},
};

#define MONEY "u.rate * u.held_ns / 3600e9"

static const struct query_column USAGE[] = {
    RUN,
    {"start", "u.run", "which start of the host it was"},
    {"place", "u.place", "source, or the name of a target"},
    {"device", "u.device", "component and device, cpu:0"},
    {"driver", "u.driver", "name of the device and its driver"},
    {"began_s", "u.began_s", "when its opening began, in seconds since 1970"},
    {"start_ns", "u.start_ns",
     "opening it, and what comes before its first case; NULL if it had none"},
    {"held_ns", "u.held_ns", "from there until its jobs were done"},
    {"busy_ns", "u.busy_ns", "in which it had work"},
    {"bytes", "u.bytes", "to the place and back; NULL if that is not known"},
    {"cases", "u.cases", "kept cases that were replayed"},
    {"cases_ns", "u.cases_ns", "which that took"},
    {"firsts", "u.firsts", "of these, those that were the first of their operator"},
    {"firsts_ns", "u.firsts_ns", "which these took"},
    {"rate", "u.rate", "for each hour; NULL if the run's file has none"},
    {"currency", "u.currency", "of the rate, or empty"},
    {"money", MONEY, "the rate for the time that it was held; NULL without a rate"},
};

static const struct query_column MEASURES[] = {
    RUN,
    {"target", "m.target", "its name in the run"},
    {"case_id", "m.case_id", "the kept case"},
    {"instance", "c.instance", "of that case"},
    {"op", "c.op", "of that case"},
    {"comparer", "m.comparer", "plugin, component and version that measured"},
    {"unit", "m.unit", "what the value is"},
    {"output", "m.param", "which output of the case"},
    {"value", "m.value", "larger is worse; NULL if the comparer cannot tell"},
    {"allowed", "iif(m.allowed > 0, m.allowed, NULL)", "by the comparer; NULL if it says nothing"},
    {"beyond", "coalesce(m.allowed > 0 AND m.value > m.allowed, 0)",
     "1 if the value is larger than that, else 0"},
};

static const struct query_view VIEWS[] = {
    {"cases", "\"case\" AS c", "the kept cases: recorded calls of an operator", CASES,
     COUNT(CASES)},
    {"ops", "(SELECT op FROM \"case\" UNION SELECT op FROM instance) AS o",
     "the operators of the model", OPS, COUNT(OPS)},
    {"targets",
     "target AS t LEFT JOIN offload AS f ON f.target = t.name WHERE t.position IS NOT NULL",
     "the targets of the run", TARGETS, COUNT(TARGETS)},
    {"runs", "(SELECT 1)", "the runs: one row for each store", RUNS, COUNT(RUNS)},
    {"derived", "derived AS d JOIN \"case\" AS c ON c.id = d.case_id",
     "derived cases: neighbours of kept ones, made up", DERIVED, COUNT(DERIVED)},
    {"invariance", "invariance AS v", "what must not count: operators by axes, as [check] asks",
     INVARIANCE, COUNT(INVARIANCE)},
    {"usage", "usage AS u", "what each start of the host has held of a place, and for what price",
     USAGE, COUNT(USAGE)},
    {"measures", "measure AS m JOIN \"case\" AS c ON c.id = m.case_id",
     "what comparers of plugins found of outputs; no verdict depends on it", MEASURES,
     COUNT(MEASURES)},
};

const struct query_view *query_views_at(size_t index)
{
    return index < COUNT(VIEWS) ? &VIEWS[index] : NULL;
}

void query_views_choose(const char *condition, struct text *out_sql)
{
    text_format(out_sql,
                "SELECT DISTINCT case_id FROM cases LEFT JOIN verdicts USING"
                " (run, case_id, instance, op, version, phase, shape_class)\nWHERE (\n%s\n)",
                condition);
}
