// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "carve/recorder.h"
#include "exec/run.h"
#include "harness/late.h"
#include "harness/sanitized.h"
#include "judged_store.h"
#include "plugin/model.h"
#include "store/prompt.h"
#include "store/weight.h"
#include "verify/verdicts.h"

TestSuite(verdicts, .init = judged_store_begin, .fini = judged_store_end, .timeout = 110);

Test(verdicts, right_cases_pass)
{
    add_silu("s", 0, 0);
    add_norm("n", 0, 0);
    add_append("k", 1, 0);
    const struct verdict_options options = options_for(exact);
    struct verdict_list list = judge(&options);
    cr_assert_eq(list.count, 3);
    for (size_t i = 0; i < list.count; i++) {
        cr_assert_eq(list.items[i].kind, VERDICT_PASS, "%s", list.items[i].reason);
        cr_assert_leq(list.items[i].margin, 1);
        cr_assert_str_eq(list.items[i].reason, "");
        cr_assert_gt(list.items[i].time_ns, 0);
    }
    cr_assert_str_eq(list.items[0].instance, "s");
    cr_assert_str_eq(list.items[0].op_name, "tapml.silu");
    cr_assert_str_eq(list.items[0].phase, "prefill");
    cr_assert_str_eq(list.items[2].phase, "decode");
    cr_assert_eq(number_of("SELECT count(*) FROM judged WHERE verdict = 'pass' AND target = 'gpu'"
                           " AND implementation LIKE 'org.tapml.cpu %'"
                           " AND device = 'reference:f64'"),
                 3);
    verdict_list_release(&list);
}

static void expect_failure(const struct verdict *verdict, const char *reason)
{
    cr_expect_eq(verdict->kind, VERDICT_FAIL, "%s", verdict_name(verdict->kind));
    cr_expect_gt(verdict->margin, 10);
    cr_expect_not_null(strstr(verdict->reason, reason), "%s", verdict->reason);
}

Test(verdicts, corrupted_outputs_fail_with_the_first_bad_element)
{
    add_silu("s", 0, 0.5f);
    add_norm("n", 0, 1e-3f);
    add_append("k", 0, 1e-6f);
    const struct verdict_options options = options_for(exact);
    struct verdict_list list = judge(&options);
    expect_failure(&list.items[0], "y[1, 1] is ");
    expect_failure(&list.items[0], "ULP, limit 16");
    expect_failure(&list.items[1], "y[1, 2] is ");
    cr_assert_not_null(strstr(list.items[1].reason, ", limit 1e-"), "%s", list.items[1].reason);
    expect_failure(&list.items[2], "state[16, 1, 1] is ");
    expect_failure(&list.items[2], "bits must be equal");
    cr_assert_str_eq(list.items[2].output, "state");
    cr_assert(isinf(list.items[2].margin));
    cr_assert_eq(number_of("SELECT count(*) FROM judged WHERE verdict = 'fail' AND margin > 10"),
                 3);
    verdict_list_release(&list);
}

struct progress {
    size_t calls, all;
    size_t stop_at; // 0: never.
};

static tapml_status count(void *user, size_t done, size_t all)
{
    struct progress *progress = user;
    progress->calls++;
    progress->all = all;
    cr_expect_eq(done, progress->calls);
    return progress->calls == progress->stop_at ? status_fail(TAPML_CANCELLED, "enough") : TAPML_OK;
}

Test(verdicts, an_interrupted_run_goes_on)
{
    enum { CASES = 50, STOP = 41 };
    for (int i = 0; i < CASES; i++) {
        add_silu("s", i, i == 3 ? 1 : 0);
    }
    struct backend *late = late_create(&(struct late_options){.inner = exact});
    struct progress progress = {.stop_at = STOP};
    struct verdict_options options = options_for(late);
    options.progress = count;
    options.user = &progress;
    struct verdict_list list;
    cr_assert_eq(verdicts_make(&options, &list), TAPML_CANCELLED);
    cr_assert_str_eq(status_message(), "enough");
    cr_assert_eq(number_of("SELECT count(*) FROM result"), STOP, "what is known is kept");
    const uint64_t calls = late_counts(late).calls;
    progress = (struct progress){0};
    list = judge(&options);
    cr_assert_eq(late_counts(late).calls - calls, 2 * (CASES - STOP));
    cr_assert_eq(progress.calls, CASES);
    cr_assert_eq(progress.all, CASES);
    cr_assert_eq(list.count, CASES);
    expect_failure(&list.items[3], "y[1, 1]");
    cr_assert_str_eq(list.items[7].instance, "s");
    cr_assert_str_eq(list.items[7].phase, "decode");
    cr_assert_eq(list.items[7].kind, VERDICT_PASS);
    cr_assert_eq(number_of("SELECT count(*) FROM result"), CASES);
    verdict_list_release(&list);
    options.fresh = 1;
    options.progress = NULL;
    list = judge(&options);
    cr_assert_eq(late_counts(late).calls - calls, 2 * (CASES - STOP) + 2 * CASES);
    verdict_list_release(&list);
    backend_release(late);
}

Test(verdicts, results_of_another_backend_do_not_count)
{
    add_silu("s", 0, 0);
    struct backend *other = plugin_fixture_backend(&plugins, "reference:f32");
    struct backend *late = late_create(&(struct late_options){.inner = other});
    struct verdict_options options = options_for(exact);
    struct verdict_list list = judge(&options);
    verdict_list_release(&list);
    options.backend = other;
    list = judge(&options);
    verdict_list_release(&list);
    cr_assert_eq(number_of("SELECT count(*) FROM result WHERE device = 'reference:f32'"), 1);
    cr_assert_eq(number_of("SELECT count(*) FROM result"), 1);
    backend_release(late);
    backend_release(other);
}

Test(verdicts, some_cases_alone)
{
    add_silu("s", 0, 0);
    add_silu("s", 1, 0);
    add_silu("s", 2, 0);
    const int64_t last = number_of("SELECT max(id) FROM \"case\"");
    const int64_t first = number_of("SELECT min(id) FROM \"case\"");
    const int64_t both[] = {last, first}, unknown = 999;
    struct verdict_options options = options_for(exact);
    options.ids = both;
    options.id_count = 1;
    struct verdict_list list = judge(&options);
    cr_assert_eq(list.count, 1);
    cr_assert_eq(list.items[0].case_id, last);
    verdict_list_release(&list);
    options.id_count = 2;
    list = judge(&options);
    cr_assert_eq(list.count, 2, "in the order of the store");
    cr_assert_eq(list.items[0].case_id, first);
    cr_assert_eq(list.items[1].case_id, last);
    cr_assert_eq(list.not_run, 0);
    verdict_list_release(&list);
    options.ids = &unknown;
    options.id_count = 1;
    cr_assert_eq(verdicts_make(&options, &list), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "999"), "%s", status_message());
}

Test(verdicts, what_does_not_run_says_why)
{
    add_silu("s", 0, 0);
    add_norm("n", 0, 0);
    struct cases_norm norm;
    cases_make_norm(&norm, "m", 0); // By name, and there is no checkpoint.
    MUST(stored_case_add(store, &norm.item));
    struct cases_silu silu;
    cases_make_silu(&silu, "x", 0);
    silu.item.op_name = "org.example.unknown";
    MUST(stored_case_add(store, &silu.item));
    struct backend *late =
        late_create(&(struct late_options){.inner = exact, .lacks = "tapml.silu", .fails = "n"});
    const struct verdict_options options = options_for(late);
    struct verdict_list list = judge(&options);
    cr_assert_eq(list.count, 4);
    cr_assert_eq(list.items[0].kind, VERDICT_UNSUPPORTED);
    cr_assert_str_eq(list.items[0].reason, "has no op 'tapml.silu'");
    cr_assert(isnan(list.items[0].margin));
    cr_assert_eq(list.items[1].kind, VERDICT_ERROR);
    cr_assert_neq(list.items[1].reason[0], 0);
    cr_assert_eq(list.items[2].kind, VERDICT_ERROR);
    cr_assert_not_null(strstr(list.items[2].reason, "norm.weight"), "%s", list.items[2].reason);
    cr_assert_eq(list.items[3].kind, VERDICT_SKIPPED);
    cr_assert_eq(number_of("SELECT count(*) FROM judged WHERE margin IS NULL AND reason <> ''"), 4);
    verdict_list_release(&list);
    backend_release(late);
}

Test(verdicts, a_damaged_case_is_named)
{
    add_silu("s", 0, 0);
    cr_assert_eq(sqlite3_exec(store_connection(store), "UPDATE argument SET base_bytes = 4", NULL,
                              NULL, NULL),
                 SQLITE_OK);
    const struct verdict_options options = options_for(exact);
    struct verdict_list list;
    cr_assert_eq(verdicts_make(&options, &list), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "case 1"), "%s", status_message());
}

// A target that dies at its n-th call.
struct dying {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    int calls_left;
};

static tapml_status dying_call(struct backend *self, const struct backend_call *call)
{
    struct dying *dying = (struct dying *)self;
    if (dying->calls_left-- == 0) {
        return status_fail(TAPML_DEVICE_LOST, "gone");
    }
    return backend_call(dying->wrapper.inner, call);
}

Test(verdicts, a_lost_device_ends_it_and_blames_no_case)
{
    for (int i = 0; i < 4; i++) {
        add_silu("s", i, 0);
    }
    struct dying dying = {.vt = backend_forward_vt, .calls_left = 2};
    dying.vt.call = dying_call;
    dying.wrapper.backend.vt = &dying.vt;
    dying.wrapper.inner = exact;
    const struct verdict_options options = options_for(&dying.wrapper.backend);
    struct verdict_list list;
    cr_assert_eq(verdicts_make(&options, &list), TAPML_DEVICE_LOST);
    cr_assert_str_eq(status_message(), "s: gone");
    cr_assert_eq(number_of("SELECT group_concat(verdict) = 'pass' FROM judged"), 1);
    list = judge(&options); // It is there again, and so is the case that it went away in.
    cr_assert_eq(list.count, 4);
    cr_assert_eq(number_of("SELECT count(*) FROM judged WHERE verdict = 'pass'"), 4);
    verdict_list_release(&list);
}

// Takes the case `id` for one whose output was 1e-5 larger, which is some 100 limits of a sum.
static void corrupt_case(int64_t id)
{
    struct arena *arena = arena_create();
    struct carved_case item;
    cr_assert_not_null(arena);
    MUST(stored_case_load(store, id, arena, &item));
    struct case_argument *y = &item.arguments[item.argument_count - 1];
    const float *values = y->after;
    float *corrupted = arena_new(arena, y->content_bytes);
    for (uint64_t i = 0; i < y->content_bytes / sizeof(float); i++) {
        corrupted[i] = values[i] * 1.00001f;
    }
    y->after = corrupted;
    MUST(stored_case_add(store, &item));
    arena_destroy(arena);
}

// From here on: a model, carved on one backend and replayed on another.
// It has two layers. The embedded model has four, and a run takes longer for every kind of shape.
static const char MODEL[] = "tests/data/models/llama";

enum { PROMPTS = 3, PROMPT_IDS = 7, DECODE = 9, CAPACITY = 64 };

struct carving {
    struct recorder *recorder;
    struct hash prompt;
};

static tapml_status begin_step(void *user, int64_t number, int32_t next_id)
{
    const struct carving *carving = user;
    return recorder_begin_step(carving->recorder, carving->prompt, number,
                               number == 0 ? "prefill" : "decode", number == 0 ? PROMPT_IDS : 1);
}

static struct session *make_session(struct model *model, struct backend *backend)
{
    struct place place = {.settings.name = "source", .backend = backend};
    struct place *places[] = {&place};
    struct plan *plan = NULL;
    struct session *session = NULL;
    MUST(plan_create(&plan));
    const struct session_options options = {.model = model,
                                            .places = places,
                                            .place_count = 1,
                                            .plan = plan,
                                            .capacity = CAPACITY,
                                            .chunk = CAPACITY};
    MUST(session_create(&options, &session));
    plan_destroy(plan);
    return session;
}

static void carve_prompt(struct carving *carving, struct session *session, int32_t number)
{
    int32_t ids[PROMPT_IDS];
    int32_t greedy[DECODE];
    int64_t greedy_count = 0;
    for (int32_t i = 0; i < PROMPT_IDS; i++) {
        ids[i] = 5 + (number * 31 + i * 17) % 90;
    }
    carving->prompt = hash_bytes(ids, sizeof(ids));
    const struct run_options options = {.ids = ids,
                                        .count = PROMPT_IDS,
                                        .decode = DECODE,
                                        .before_step = begin_step,
                                        .user = carving};
    MUST(run_greedy(session, &options, greedy, &greedy_count));
    const struct carved_prompt prompt = {.index = number,
                                         .text = "",
                                         .ids = ids,
                                         .id_count = PROMPT_IDS,
                                         .greedy = greedy,
                                         .greedy_count = greedy_count};
    MUST(recorder_end_prompt(carving->recorder, &prompt));
}

static struct recorder_counts carve(struct model *model, struct backend *source)
{
    struct carving carving = {0};
    const struct recorder_options options = {
        .inner = source, .store_path = path, .checkpoint = model_checkpoint(model)};
    MUST(recorder_create(&options, &carving.recorder));
    struct session *session = make_session(model, recorder_backend(carving.recorder));
    for (int32_t i = 0; i < PROMPTS; i++) {
        carve_prompt(&carving, session, i);
    }
    MUST(recorder_finish(carving.recorder));
    const struct recorder_counts counts = recorder_counts(carving.recorder);
    session_destroy(session);
    recorder_destroy(carving.recorder);
    return counts;
}

// Derived cases that the schema or the reference refuses are not judged; the others pass.
static void expect_none_fails(const struct verdict_list *list)
{
    size_t passed = 0;
    for (size_t i = 0; i < list->derived_count; i++) {
        const struct verdict *verdict = &list->derived[i];
        cr_expect(verdict->kind == VERDICT_PASS || verdict->kind == VERDICT_SKIPPED,
                  "%s %s: %s: %s", verdict->instance, verdict->label, verdict_name(verdict->kind),
                  verdict->reason);
        cr_log_info("derived %s %s %s: margin %g %s\n", verdict->op_name, verdict->phase,
                    verdict->label, verdict->margin, verdict->reason);
        passed += verdict->kind == VERDICT_PASS;
    }
    cr_assert_gt(passed, 49 * list->derived_count / 50, "nearly all shapes are legal");
}

// Whether a derived case of an op passed, whose label begins so: tied extents may follow.
static int has_passed(const struct verdict_list *list, const char *op_name, const char *label)
{
    for (size_t i = 0; i < list->derived_count; i++) {
        const struct verdict *verdict = &list->derived[i];
        if (verdict->kind == VERDICT_PASS && strcmp(verdict->op_name, op_name) == 0 &&
            strncmp(verdict->label, label, strlen(label)) == 0) {
            return 1;
        }
    }
    return 0;
}

static void expect_all_lengths(const struct verdict_list *list)
{
    static const int lengths[] = {1, 31, 33, 63, 65, 255, 257};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        char label[32];
        snprintf(label, sizeof(label), "T=%d", lengths[i]);
        cr_expect(has_passed(list, "tapml.attention", label), "%s", label);
        cr_expect(has_passed(list, "tapml.rope", label), "%s", label);
        snprintf(label, sizeof(label), "position=%d", lengths[i] - 1);
        cr_expect(has_passed(list, "tapml.attention", label), "%s", label);
        snprintf(label, sizeof(label), "hq=%d", lengths[i]);
        cr_expect(has_passed(list, "tapml.attention", label), "%s", label);
        snprintf(label, sizeof(label), "half=%d", lengths[i]);
        cr_expect(has_passed(list, "tapml.rope", label), "%s", label);
    }
}

static void expect_all_pass(struct model *model, struct backend *target, int derived)
{
    struct verdict_options options = options_for(target);
    options.checkpoint = model_checkpoint(model);
    options.fresh = 1;
    options.derived = derived;
    struct verdict_list list = judge(&options);
    cr_assert_eq(list.count, (size_t)number_of("SELECT count(*) FROM \"case\""));
    if (derived) {
        expect_none_fails(&list);
        expect_all_lengths(&list);
    }
    double worst = 0;
    for (size_t i = 0; i < list.count; i++) {
        const struct verdict *verdict = &list.items[i];
        cr_expect_eq(verdict->kind, VERDICT_PASS, "%s %s: %s: %s", verdict->instance,
                     verdict->phase, verdict_name(verdict->kind), verdict->reason);
        worst = fmax(worst, verdict->margin);
    }
    cr_log_info("%s: worst margin %g\n", backend_info(target)->device_name, worst);
    verdict_list_release(&list);
}

Test(verdicts, a_model_from_one_reference_to_the_others)
{
    static const char *const DEVICES[] = {"reference:f64", "reference:f32",
                                          "reference:f32-reversed", "reference:f32-blocked"};
    struct model *model = plugin_fixture_model(&plugins, MODEL);
    struct backend *source = plugin_fixture_backend(&plugins, "reference:f32");
    const struct recorder_counts counts = carve(model, source);
    const uint64_t ops = model_graph(model)->op_count;
    cr_assert_eq(counts.calls, ops * PROMPTS * DECODE, "every op in every step");
    cr_assert_eq((uint64_t)number_of("SELECT count(*) FROM call"), counts.calls);
    cr_assert_geq(counts.kept, 2 * ops, "each instance in prefill and in decode");
    cr_assert_lt(counts.kept, counts.calls / 2);
    cr_assert_eq((uint64_t)number_of("SELECT count(*) FROM \"case\""), counts.kept);
    cr_assert_eq((uint64_t)number_of("SELECT count(DISTINCT instance) FROM \"case\""), ops);
    cr_assert_eq(number_of("SELECT count(*) FROM prompt WHERE greedy IS NOT NULL"), PROMPTS);
    cr_assert_eq(number_of("SELECT count(*) FROM argument WHERE effects LIKE '%weight%'"
                           " AND kind = 'in' AND before IS NOT NULL"),
                 0, "weights are known by name");
    for (size_t i = 0; i < sizeof(DEVICES) / sizeof(*DEVICES); i += SANITIZED_STEP(3)) {
        struct backend *target = plugin_fixture_backend(&plugins, DEVICES[i]);
        expect_all_pass(model, target, 1);
        backend_release(target);
    }
    cr_assert_eq(number_of("SELECT count(*) FROM \"limit\" WHERE nmse > 1e-10"), 0);
    backend_release(source);
    model_close(model);
}

Test(verdicts, a_model_from_the_reference_to_opencl_and_back)
{
    struct backend *device = plugin_fixture_backend_or_skip(&plugins, "opencl");
    struct model *model = plugin_fixture_model(&plugins, MODEL);
    struct backend *source = plugin_fixture_backend(&plugins, "reference:f64");
    (void)carve(model, source);
    expect_all_pass(model, device, 1);
    store_close(store);
    snprintf(path, sizeof(path), "%s", scratch_path(&scratch, "back.tapmlrun"));
    MUST(store_open(path, 1, &store));
    (void)carve(model, device);
    expect_all_pass(model, source, 0);
    backend_release(source);
    model_close(model);
    backend_release(device);
}

Test(verdicts, one_corrupted_case_of_a_model_is_found)
{
    struct model *model = plugin_fixture_model(&plugins, MODEL);
    (void)carve(model, exact);
    corrupt_case(number_of("SELECT min(id) FROM \"case\" WHERE instance = 'layers.1/attn/k_proj'"));
    struct verdict_options options = options_for(exact);
    options.checkpoint = model_checkpoint(model);
    struct verdict_list list = judge(&options);
    size_t failures = 0;
    for (size_t i = 0; i < list.count; i++) {
        failures += list.items[i].kind == VERDICT_FAIL;
        if (list.items[i].kind == VERDICT_FAIL) {
            cr_expect_str_eq(list.items[i].instance, "layers.1/attn/k_proj");
            expect_failure(&list.items[i], "NMSE 1e-10, limit ");
        }
    }
    cr_assert_eq(failures, 1);
    verdict_list_release(&list);
    model_close(model);
}

Test(verdicts, a_bundle_needs_no_checkpoint)
{
    struct model *model = plugin_fixture_model(&plugins, MODEL);
    const struct checkpoint *checkpoint = model_checkpoint(model);
    (void)carve(model, exact);
    struct verdict_options options = options_for(exact);
    const int64_t id = number_of("SELECT min(case_id) FROM argument WHERE effects LIKE 'weight%'"
                                 " AND kind = 'in'");
    options.ids = &id;
    options.id_count = 1;
    struct verdict_list list = judge(&options);
    cr_assert_eq(list.items[0].kind, VERDICT_ERROR, "without weights it does not run");
    verdict_list_release(&list);
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(checkpoint, i);
        const tapml_status status = weight_inline(store, tensor->name, tensor->data, tensor->bytes);
        cr_assert(status == TAPML_OK || status == TAPML_NOT_FOUND, "%s", status_message());
    }
    options.ids = NULL;
    options.fresh = 1;
    list = judge(&options);
    for (size_t i = 0; i < list.count; i++) {
        cr_expect_eq(list.items[i].kind, VERDICT_PASS, "%s", list.items[i].reason);
    }
    verdict_list_release(&list);
    model_close(model);
}
