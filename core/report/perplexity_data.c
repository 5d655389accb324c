// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/perplexity_data.h"

#include "report/report_maker.h"
#include "report/report_markup.h"

#include <math.h>

// The quantiles of the document, in percent.
static const struct {
    const char *name;
    double part;
} quantiles[] = {{"0.1", 0.001}, {"1", 0.01},  {"5", 0.05},    {"10", 0.1},
                 {"25", 0.25},   {"50", 0.5},  {"75", 0.75},   {"90", 0.9},
                 {"95", 0.95},   {"99", 0.99}, {"99.9", 0.999}};

static void put_value(struct report_maker *maker, const char *key, double value, double error)
{
    struct report_maker part = report_maker_begin();

    report_maker_put(&part, "value", report_maker_number(value));
    report_maker_put(&part, "error", report_maker_number(error));
    report_maker_part(maker, key, &part);
}

static void
put_perplexity(struct report_maker *maker, const char *key, const struct running_mean *surprise)
{
    put_value(maker, key, perplexity_value(surprise), perplexity_error(surprise));
}

// A mean, and how the values lie of which it is.
static void put_mean(struct report_maker *maker,
                     const char *key,
                     const struct running_mean *mean,
                     const double *sorted)
{
    const size_t count = (size_t)mean->count;
    struct report_maker part = report_maker_begin(), parts = report_maker_begin();

    for (size_t i = 0; i < sizeof(quantiles) / sizeof(*quantiles); i++) {
        report_maker_put(
            &parts, quantiles[i].name,
            report_maker_number(kl_divergence_quantile(sorted, count, quantiles[i].part)));
    }
    report_maker_put(&part, "value", report_maker_number(mean->mean));
    report_maker_put(&part, "error", report_maker_number(running_mean_error(mean)));
    report_maker_put(&part, "least", report_maker_number(sorted[0]));
    report_maker_put(&part, "largest", report_maker_number(sorted[count - 1]));
    report_maker_part(&part, "quantiles", &parts);
    report_maker_part(maker, key, &part);
}

// The difference of both perplexities, with what their errors have in common left out.
static void put_difference(struct report_maker *maker, const struct running_pair *pair)
{
    const double base = perplexity_value(&pair->first), computed = perplexity_value(&pair->second);
    const double error_base = perplexity_error(&pair->first);
    const double error_computed = perplexity_error(&pair->second);
    const double square = error_base * error_base + error_computed * error_computed -
                          2 * base * computed * running_mean_covariance(pair);

    put_value(maker, "difference", computed - base, sqrt(fmax(square, 0)));
}

static void put_comparison(struct report_maker *maker, struct kl_divergence *divergence)
{
    const struct running_pair *pair = &divergence->surprise;
    const double logarithm = pair->second.mean - pair->first.mean;
    const double error = running_mean_difference_error(pair);
    struct report_maker part = report_maker_begin();

    kl_divergence_sort(divergence);
    put_perplexity(&part, "base", &pair->first);
    put_value(&part, "ratio", exp(logarithm), exp(logarithm) * error);
    put_value(&part, "log_ratio", logarithm, error);
    put_difference(&part, pair);
    report_maker_put(&part, "correlation", report_maker_number(running_mean_correlation(pair)));
    put_mean(&part, "divergence", &divergence->divergences, divergence->kept_divergences);
    put_mean(&part, "probability_difference", &divergence->differences,
             divergence->kept_differences);
    put_value(&part, "probability_difference_rms", kl_divergence_root(divergence),
              kl_divergence_root_error(divergence));
    put_value(&part, "same_top", kl_divergence_same_top(divergence),
              kl_divergence_same_top_error(divergence));
    report_maker_part(maker, "comparison", &part);
}

static void put_running(struct report_maker *maker, const struct perplexity_data *data)
{
    json_t *list = json_array();

    report_maker_put(maker, "running", list);
    for (int64_t i = 0; i < data->perplexity->chunk; i++) {
        maker->failed |= json_array_append_new(list, report_maker_number(data->running[i]));
    }
}

tapml_status perplexity_data_create(const struct perplexity_data *data, json_t **out_document)
{
    struct perplexity *perplexity = data->perplexity;
    struct report_maker maker = report_maker_begin();

    report_maker_text(&maker, "format", "tapml-perplexity/1");
    report_maker_text(&maker, "model", data->model);
    report_maker_text(&maker, "text", data->text);
    report_maker_text(&maker, "source", data->source);
    report_maker_text(&maker, "plan", data->plan);
    report_maker_text(&maker, "activations", data->activations);
    report_maker_text(&maker, "base", data->base);
    report_maker_count(&maker, "text_tokens", (uint64_t)data->chunks->count);
    report_maker_count(&maker, "context", (uint64_t)data->chunks->context);
    report_maker_count(&maker, "chunks", (uint64_t)perplexity->chunk);
    report_maker_count(&maker, "scored_tokens", perplexity->surprise.count);
    put_perplexity(&maker, "perplexity", &perplexity->surprise);
    put_running(&maker, data);
    if (perplexity->divergence.divergences.count > 0) {
        put_comparison(&maker, &perplexity->divergence);
    } else {
        report_maker_put(&maker, "comparison", json_null());
    }
    const tapml_status status = report_maker_finish(&maker);

    if (status != TAPML_OK) {
        json_decref(maker.object);
        return status;
    }
    *out_document = maker.object;
    return TAPML_OK;
}

// -- Text --------------------------------------------------------------------------------------

// "12.34 +/- 0.56"
static void print_value(const json_t *document, const char *name, int digits, struct text *out)
{
    const json_t *object = json_object_get(document, name);

    text_format(out, "%.*f +/- %.*f", digits, report_markup_number(object, "value"), digits,
                report_markup_number(object, "error"));
}

// The same in percent.
static void print_share(const json_t *document, const char *name, struct text *out)
{
    const json_t *object = json_object_get(document, name);

    text_format(out, "%.4g +/- %.4g %%", 100 * report_markup_number(object, "value"),
                100 * report_markup_number(object, "error"));
}

static void print_divergence(const json_t *object, struct text *out)
{
    const json_t *parts = json_object_get(object, "quantiles");

    text_format(out,
                "KL divergence: mean %.6g +/- %.6g, median %.6g, 90 %% %.6g, 99 %% %.6g, "
                "99.9 %% %.6g, least %.6g, largest %.6g\n",
                report_markup_number(object, "value"), report_markup_number(object, "error"),
                report_markup_number(parts, "50"), report_markup_number(parts, "90"),
                report_markup_number(parts, "99"), report_markup_number(parts, "99.9"),
                report_markup_number(object, "least"), report_markup_number(object, "largest"));
}

static void print_differences(const json_t *comparison, struct text *out)
{
    const json_t *object = json_object_get(comparison, "probability_difference");
    const json_t *parts = json_object_get(object, "quantiles");

    text_append(out, "probability of the next token: mean difference ");
    print_share(comparison, "probability_difference", out);
    text_append(out, ", root mean square ");
    print_share(comparison, "probability_difference_rms", out);
    text_format(out, ", median %.4g, 1 %% %.4g, 99 %% %.4g, least %.4g, largest %.4g %%\n",
                100 * report_markup_number(parts, "50"), 100 * report_markup_number(parts, "1"),
                100 * report_markup_number(parts, "99"),
                100 * report_markup_number(object, "least"),
                100 * report_markup_number(object, "largest"));
}

void perplexity_data_print(const json_t *document, struct text *out)
{
    const json_t *comparison = json_object_get(document, "comparison");

    text_append(out, "perplexity ");
    print_value(document, "perplexity", 5, out);
    text_format(out, " over %lld tokens\n",
                (long long)report_markup_count(document, "scored_tokens"));
    if (!json_is_object(comparison)) {
        return;
    }
    text_append(out, "perplexity of the base ");
    print_value(comparison, "base", 5, out);
    text_append(out, ": ratio ");
    print_value(comparison, "ratio", 6, out);
    text_append(out, ", its logarithm ");
    print_value(comparison, "log_ratio", 6, out);
    text_append(out, ", difference ");
    print_value(comparison, "difference", 6, out);
    text_format(out, ", correlation of the logarithms %.2f %%\n",
                100 * report_markup_number(comparison, "correlation"));
    print_divergence(json_object_get(comparison, "divergence"), out);
    print_differences(comparison, out);
    text_append(out, "same likeliest token: ");
    print_share(comparison, "same_top", out);
    text_append(out, "\n");
}
