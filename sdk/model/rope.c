// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include <tapml/model/rope.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

enum { POSITIONS_MAX = 1 << 24 }; // Of a text, at most.

// So that f32 has the angle at each position.
static const double frequency_max = (double)FLT_MAX / POSITIONS_MAX;

// Of what heads are multiplied by, queries and keys: a score has its square.
static const double scale_max = 1e15;

// A key of the section that holds the rope's: "/rope_scaling/factor".
struct section {
    struct model_context *context;
    struct model_name pointer;
    const struct model_rope_defaults *defaults;
    int is_absent; // What the class has stands for it.
};

static struct model_name key_of(const struct section *section, const char *key)
{
    struct model_name name;

    snprintf(name.text, sizeof(name.text), "%.200s/%s", section->pointer.text, key);
    return name;
}

static int has(const struct section *section, const char *key)
{
    const struct model_context *context = section->context;

    return context->config_table->has(context->config, key_of(section, key).text);
}

// What the class has for a key, or 0.
static double class_number(const struct section *section, const char *key)
{
    const struct model_rope_defaults *defaults = section->defaults;

    for (size_t i = 0; section->is_absent && i < MODEL_ROPE_NUMBERS_MAX; i++) {
        if (defaults->numbers[i].key != NULL && strcmp(defaults->numbers[i].key, key) == 0) {
            return defaults->numbers[i].number;
        }
    }
    return 0;
}

static double number(const struct section *section, const char *key)
{
    const double fallback = class_number(section, key);

    return fallback > 0 && !has(section, key)
               ? fallback
               : model_config_number(section->context, key_of(section, key).text, 0);
}

// Where a key is absent, null or 0, which Hugging Face takes for the same.
static double number_or(const struct section *section, const char *key, double fallback)
{
    const struct model_context *context = section->context;
    const double found = context->config_table->f64(context->config, key_of(section, key).text, 0);

    if (found != 0) {
        if (!(fabs(found) >= FLT_MIN && fabs(found) <= FLT_MAX)) {
            model_fail(section->context, TAPML_INVALID, "'%s' is %g, expected a number of f32",
                       key_of(section, key).text + 1, found);
        }
        return found;
    }
    return class_number(section, key) > 0 ? class_number(section, key) : fallback;
}

static int says_anything(const struct section *section)
{
    static const char *const keys[] = {"rope_theta", "rope_type", "type", "factor"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        if (has(section, keys[i])) {
            return 1;
        }
    }
    return 0;
}

// The newer dialect's section where it says anything, else the older one's. Only keys inside are
// asked for: a section that is no object, or has other keys, stays unread and is refused by the
// host.
static struct section find_section(struct model_context *context,
                                   const struct model_rope_defaults *defaults)
{
    const char *newer = defaults->newer != NULL ? defaults->newer : "/rope_parameters";
    struct section section = {context, {""}, defaults, 0};

    while (newer != NULL) {
        const char *end = strchr(newer, '|');

        snprintf(section.pointer.text, sizeof(section.pointer.text), "%.*s",
                 (int)(end != NULL ? end - newer : 200), newer);
        if (says_anything(&section)) {
            return section;
        }
        newer = end != NULL ? end + 1 : NULL;
    }
    snprintf(section.pointer.text, sizeof(section.pointer.text), "%s",
             defaults->older != NULL ? defaults->older : "/rope_scaling");
    section.is_absent = defaults->kind != NULL && !says_anything(&section);
    return section;
}

static enum model_rope_kind read_kind(const struct section *section)
{
    static const char *const names[] = {"default", "linear",   "dynamic", "llama3",
                                        "yarn",    "longrope", "su",      NULL};
    static const enum model_rope_kind kinds[] = {
        MODEL_ROPE_DEFAULT, MODEL_ROPE_LINEAR,   MODEL_ROPE_DYNAMIC, MODEL_ROPE_LLAMA3,
        MODEL_ROPE_YARN,    MODEL_ROPE_LONGROPE, MODEL_ROPE_LONGROPE};
    const struct model_context *context = section->context;
    const struct model_name newer = key_of(section, "rope_type"), older = key_of(section, "type");
    const char *fallback = section->is_absent ? section->defaults->kind : "default";
    const char *old_name = context->config_table->string(context->config, older.text, fallback);
    const char *name = context->config_table->string(context->config, newer.text, old_name);

    // InternLM calls the plain kind its own. The first phi-3 called its own kind yarn.
    if (strcmp(name, "origin") == 0) {
        return MODEL_ROPE_DEFAULT;
    }
    if (strcmp(name, "yarn") == 0 && has(section, "short_factor")) {
        return MODEL_ROPE_LONGROPE;
    }
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], name) == 0) {
            return kinds[i];
        }
    }
    model_fail_choice(section->context, has(section, "rope_type") ? newer.text : older.text, name,
                      names);
    return MODEL_ROPE_DEFAULT;
}

static const char original_key[] = "original_max_position_embeddings";

// It stands at the top of a config, or in the section, or is that of the class.
static double read_original(const struct section *section, double fallback)
{
    const char *key = original_key;
    const struct section top = {section->context, {""}, section->defaults, 0};
    const double inside = number_or(section, key, fallback);
    const double original = number_or(&top, key, inside);

    if (!(original > 0)) {
        model_fail(section->context, TAPML_INVALID, "'%s' is %g, expected a number above 0", key,
                   original);
    }
    return original;
}

static void read_llama3(const struct section *section, struct model_rope *rope)
{
    rope->factor = number(section, "factor");
    rope->low = number(section, "low_freq_factor");
    rope->high = number(section, "high_freq_factor");
    rope->original = read_original(section, rope->original);
    if (rope->high < rope->low) {
        model_fail(section->context, TAPML_INVALID,
                   "'%s/high_freq_factor' is %g, expected no less than the low one, %g",
                   section->pointer.text + 1, rope->high, rope->low);
    }
}

// The pair of which `turns` full turns fit into the original length (arXiv 2309.00071,
// section 3.2).
static double yarn_pair(const struct model_rope *rope, double turns)
{
    const double values = 2 * (double)rope->pairs;

    return values * log(rope->original / (turns * 2 * pi)) / (2 * log(rope->theta));
}

static double yarn_scale(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

static double yarn_attenuation(const struct section *section, double factor)
{
    const double mscale = number_or(section, "mscale", 0);
    const double mscale_all = number_or(section, "mscale_all_dim", 0);

    if (has(section, "attention_factor")) {
        return number(section, "attention_factor");
    }
    return mscale != 0 && mscale_all != 0
               ? yarn_scale(factor, mscale) / yarn_scale(factor, mscale_all)
               : yarn_scale(factor, 1);
}

// Published sections have them; the classes of Hugging Face compute without.
static void ignore_unread(const struct section *section)
{
    const struct model_context *context = section->context;

    context->config_table->ignore(context->config, key_of(section, "attn_factor").text);
    context->config_table->ignore(context->config, key_of(section, "finetuned").text);
}

static void read_yarn(const struct section *section, struct model_rope *rope)
{
    const struct model_context *context = section->context;
    const double values = 2 * (double)rope->pairs;
    const double fast = number_or(section, "beta_fast", 32);
    const double slow = number_or(section, "beta_slow", 1);
    const int truncates =
        context->config_table->boolean(context->config, key_of(section, "truncate").text,
                                       !(section->is_absent && section->defaults->is_ramp_exact));

    rope->original = read_original(section, rope->original);
    rope->factor = has(section, "factor")
                       ? number(section, "factor")
                       : number_or(section, "factor", rope->positions / rope->original);
    rope->attenuation = yarn_attenuation(section, rope->factor);
    rope->score_factor = pow(yarn_scale(rope->factor, number_or(section, "mscale_all_dim", 0)), 2);
    if (rope->theta <= 1 || fast <= 0 || slow <= 0) {
        model_fail(section->context, TAPML_INVALID,
                   "yarn needs 'rope_theta' above 1, 'beta_fast' and 'beta_slow' above 0, found "
                   "%g, %g and %g",
                   rope->theta, fast, slow);
        return;
    }
    ignore_unread(section);
    rope->low = yarn_pair(rope, fast);
    rope->high = yarn_pair(rope, slow);
    if (truncates) {
        rope->low = floor(rope->low);
        rope->high = ceil(rope->high);
    }
    rope->low = fmax(rope->low, 0);
    rope->high = fmin(rope->high, values - 1);
    if (rope->low == rope->high) {
        rope->high += 0.001;
    }
}

static void
read_extension(const struct section *section, const char *key, int64_t pairs, double *out)
{
    const struct model_context *context = section->context;
    const struct model_name pointer = key_of(section, key);
    const int64_t length = context->config_table->length(context->config, pointer.text);

    if (length != pairs) {
        model_fail(section->context, TAPML_INVALID, "'%s' has %lld numbers, expected %lld",
                   pointer.text + 1, (long long)length, (long long)pairs);
        return;
    }
    for (int64_t i = 0; i < pairs; i++) {
        struct model_name item;

        snprintf(item.text, sizeof(item.text), "%.200s/%lld", pointer.text, (long long)i);
        out[i] = model_config_number(section->context, item.text, 0);
    }
}

static void read_longrope(const struct section *section, struct model_rope *rope)
{
    rope->original = read_original(section, rope->original);
    rope->factor = number_or(section, "factor", rope->positions / rope->original);
    read_extension(section, "short_factor", rope->pairs, rope->extension[0]);
    read_extension(section, "long_factor", rope->pairs, rope->extension[1]);
    if (has(section, "attention_factor")) {
        rope->attenuation = number(section, "attention_factor");
    } else if (rope->factor > 1) {
        rope->attenuation = sqrt(1 + log(rope->factor) / log(rope->original));
    }
    rope->long_attenuation = rope->attenuation;
    // Phi-3.5-MoE has its own.
    if (has(section, "short_mscale") || has(section, "long_mscale")) {
        rope->attenuation = number(section, "short_mscale");
        rope->long_attenuation = number(section, "long_mscale");
    }
}

// The base does not depend on the text's length where there is an alpha.
static void read_alpha(const struct section *section, struct model_rope *rope)
{
    static const char *const unused[] = {"beta_fast", "beta_slow", "mscale", "mscale_all_dim",
                                         "factor"};
    const struct model_context *context = section->context;
    const double values = 2 * (double)rope->pairs;

    rope->theta *= pow(number(section, "alpha"), values / (values - 2));
    rope->kind = MODEL_ROPE_DEFAULT;
    for (size_t i = 0; i < sizeof(unused) / sizeof(*unused); i++) {
        context->config_table->ignore(context->config, key_of(section, unused[i]).text);
    }
}

static void read_dynamic(const struct section *section, struct model_rope *rope)
{
    if (rope->pairs < 2) {
        model_fail(section->context, TAPML_INVALID,
                   "rope type 'dynamic' needs heads of 4 values or more");
    } else if (section->defaults->takes_alpha && has(section, "alpha")) {
        read_alpha(section, rope);
    } else if (rope->kind == MODEL_ROPE_DYNAMIC) {
        rope->factor = has(section, "factor") || section->defaults->factor <= 0
                           ? number(section, "factor")
                           : section->defaults->factor;
    }
}

// A kind that stands at the top of a config, not in a section.
static void read_doubling(struct model_context *context,
                          const struct model_rope_defaults *defaults,
                          struct model_rope *rope)
{
    if (defaults->doubles == NULL) {
        return;
    }

    const int64_t length =
        model_config_count(context, defaults->length, defaults->positions, 1 << 30);

    if (context->config_table->boolean(context->config, defaults->doubles, 0)) {
        rope->kind = MODEL_ROPE_DOUBLING;
        rope->positions = (double)length;
    }
}

static void read_scaling(const struct section *section, struct model_rope *rope)
{
    switch (rope->kind) {
    case MODEL_ROPE_DEFAULT:
        break;
    case MODEL_ROPE_DYNAMIC:
    case MODEL_ROPE_DOUBLING:
        read_dynamic(section, rope);
        break;
    case MODEL_ROPE_LINEAR:
        rope->factor = number(section, "factor");
        break;
    case MODEL_ROPE_LLAMA3:
        read_llama3(section, rope);
        break;
    case MODEL_ROPE_YARN:
        read_yarn(section, rope);
        break;
    case MODEL_ROPE_LONGROPE:
        read_longrope(section, rope);
        break;
    }
}

// The values of a head that are turned: the first `share` of them.
static int64_t
read_share(const struct section *section, const struct model_rope_defaults *defaults, int64_t width)
{
    static const char key[] = "partial_rotary_factor";
    struct model_context *context = section->context;
    const struct model_name beside = model_config_key(
        context, defaults->shares != NULL ? defaults->shares : "/partial_rotary_factor");
    const double fallback = context->config_table->f64(context->config, beside.text, 1);
    double share = 1;

    if (defaults->share > 0) {
        share = context->config_table->f64(
            context->config, key_of(section, key).text,
            context->config_table->has(context->config, beside.text) ? fallback : defaults->share);
    } else {
        context->config_table->expect(context->config, beside.text, "1.0");
        context->config_table->expect(context->config, key_of(section, key).text, "1.0");
    }
    if (!(share > 0 && share <= 1)) {
        const char *found = has(section, key) ? key : beside.text + 1; // Without its slash.

        model_fail(context, TAPML_INVALID, "'%s' is %g, expected a number above 0 and at most 1",
                   found, share);
        return width;
    }
    return (int64_t)((double)width * share);
}

static int64_t read_turned(const struct section *section,
                           const struct model_rope_defaults *defaults,
                           int64_t width)
{
    struct model_context *context = section->context;

    return defaults->turned != NULL
               ? model_config_count(
                     context, defaults->turned,
                     defaults->turned_fallback < width ? defaults->turned_fallback : width, width)
               : read_share(section, defaults, width);
}

// The section's own base goes before the one beside it, which is read in any case.
static double read_theta(const struct section *section, const struct model_rope_defaults *defaults)
{
    struct model_context *context = section->context;
    const struct model_name beside =
        model_config_key(context, defaults->base != NULL ? defaults->base : "/rope_theta");
    const struct model_name inside = key_of(section, "rope_theta");
    const double found = context->config_table->f64(context->config, beside.text, defaults->theta);
    double theta = context->config_table->f64(context->config, inside.text, found);
    const char *key = has(section, "rope_theta") ? inside.text : beside.text;

    if (defaults->ratio != NULL && context->config_table->has(context->config, defaults->ratio)) {
        theta *= model_config_number(context, defaults->ratio, 0);
        key = defaults->ratio;
    }
    // A frequency is a power of the base between -1 and 0.
    if (!(theta >= 1 / frequency_max && theta <= FLT_MAX)) {
        model_fail(context, TAPML_INVALID,
                   "'%s' makes the base of the rotation %g, expected a number from %g to %g",
                   key + 1, theta, 1 / frequency_max, (double)FLT_MAX);
    }
    return theta;
}

// The rotation is computed where it is read, for the shortest and the longest text: what f32 does
// not hold is refused here, and not found as NaN in an op.
static void check_rope(const struct section *section, const struct model_rope *rope)
{
    static const int64_t lengths[] = {1, POSITIONS_MAX};
    const double scales[] = {rope->attenuation,
                             rope->kind == MODEL_ROPE_LONGROPE ? rope->long_attenuation : 1,
                             rope->score_factor};
    const struct model_name factor = key_of(section, "factor");
    const char *key = has(section, "factor") ? factor.text : section->pointer.text;
    float inverse[MODEL_ROPE_PAIRS_MAX];

    for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
        if (!(scales[i] >= FLT_MIN && scales[i] <= scale_max)) {
            model_fail(section->context, TAPML_INVALID,
                       "the numbers in '%s' make a factor of heads %g, expected %g to %g",
                       section->pointer.text + 1, scales[i], (double)FLT_MIN, scale_max);
        }
    }
    for (size_t n = 0; n < 2 && section->context->status == TAPML_OK; n++) {
        model_rope_frequencies(rope, lengths[n], inverse);
        for (int64_t i = 0; i < rope->pairs; i++) {
            if (!(inverse[i] >= 0 && (double)inverse[i] <= frequency_max)) {
                model_fail(section->context, TAPML_INVALID,
                           "'%s' makes frequency %lld of the rotation %g, expected at most %g",
                           key + 1, (long long)i, (double)inverse[i], frequency_max);
            }
        }
    }
}

double model_rope_number(struct model_context *context,
                         const struct model_rope_defaults *defaults,
                         const char *key,
                         double fallback)
{
    const struct section section = find_section(context, defaults);

    return number_or(&section, key, fallback);
}

void model_rope_read(struct model_context *context,
                     const struct model_rope_defaults *defaults,
                     int64_t width,
                     struct model_rope *out_rope)
{
    const struct section section = find_section(context, defaults);
    const struct section top = {context, {""}, defaults, 0};
    const int64_t turned = read_turned(&section, defaults, width);
    struct model_rope *rope = out_rope;

    *rope = (struct model_rope){.pairs = turned / 2, .attenuation = 1, .score_factor = 1};
    if (turned < 2 || turned % 2 != 0 || rope->pairs > MODEL_ROPE_PAIRS_MAX) {
        model_fail(context, TAPML_INVALID,
                   "'%s': heads of %lld values, expected an even number up to %d",
                   defaults->width != NULL ? defaults->width : "head_dim", (long long)turned,
                   2 * MODEL_ROPE_PAIRS_MAX);
        rope->pairs = 0;
    }
    rope->kind = read_kind(&section);
    rope->positions = (double)model_config_count(context, "/max_position_embeddings",
                                                 defaults->positions, 1 << 30);
    rope->original = defaults->original > 0 ? (double)defaults->original : rope->positions;
    rope->theta = read_theta(&section, defaults);
    read_doubling(context, defaults, rope);
    context->config_table->ignore(context->config, key_of(&top, original_key).text);
    context->config_table->ignore(context->config, key_of(&section, original_key).text);
    read_scaling(&section, rope);
    check_rope(&section, rope);
}

// NTK by parts, as Llama 3.1 does it: long waves are stretched, short ones kept, those between
// mixed.
static double llama3_frequency(const struct model_rope *rope, double inverse)
{
    const double wave = 2 * pi / inverse;

    if (wave > rope->original / rope->low) {
        return inverse / rope->factor;
    }
    if (wave < rope->original / rope->high) {
        return inverse;
    }

    if (rope->high <= rope->low) {
        return inverse; // Nothing lies between.
    }

    const double kept = (rope->original / wave - rope->low) / (rope->high - rope->low);

    return (1 - kept) * inverse / rope->factor + kept * inverse;
}

static double yarn_frequency(const struct model_rope *rope, double inverse, int64_t pair)
{
    const double ramp = fmin(fmax(((double)pair - rope->low) / (rope->high - rope->low), 0), 1);

    return inverse * (1 - ramp) + inverse / rope->factor * ramp;
}

// Dynamic NTK: the base grows with the text, once that is longer than what the model was trained
// on.
static double base_at(const struct model_rope *rope, int64_t length)
{
    const double values = 2 * (double)rope->pairs;
    const double reached = fmax((double)length, rope->positions);

    if (rope->kind == MODEL_ROPE_DOUBLING) { // 1, 3, 7, ... to a power, times the base.
        const double alpha = exp2(ceil(log2(reached / rope->positions) + 1)) - 1;

        return rope->theta * pow(alpha, values / (values - 2));
    }
    if (rope->kind != MODEL_ROPE_DYNAMIC) {
        return rope->theta;
    }
    return rope->theta * pow(rope->factor * reached / rope->positions - (rope->factor - 1),
                             values / (values - 2));
}

void model_rope_frequencies(const struct model_rope *rope, int64_t length, float *out_inverse)
{
    const double values = 2 * (double)rope->pairs;
    const double base = base_at(rope, length);
    const double *extension = rope->extension[(double)length > rope->original];

    for (int64_t i = 0; i < rope->pairs; i++) {
        double inverse = 1 / pow(base, 2 * (double)i / values);

        switch (rope->kind) {
        case MODEL_ROPE_DEFAULT:
        case MODEL_ROPE_DYNAMIC:
        case MODEL_ROPE_DOUBLING:
            break;
        case MODEL_ROPE_LINEAR:
            inverse /= rope->factor;
            break;
        case MODEL_ROPE_LLAMA3:
            inverse = llama3_frequency(rope, inverse);
            break;
        case MODEL_ROPE_YARN:
            inverse = yarn_frequency(rope, inverse, i);
            break;
        case MODEL_ROPE_LONGROPE:
            inverse /= extension[i];
            break;
        }
        out_inverse[i] = (float)inverse;
    }
}

void model_rope_fill(struct model_context *context,
                     const struct model_rope *rope,
                     int is_sine,
                     const struct model_fill *fill)
{
    float inverse[MODEL_ROPE_PAIRS_MAX], *table = fill->target;
    const int is_long = rope->kind == MODEL_ROPE_LONGROPE && (double)fill->length > rope->original;
    const float attenuation = (float)(is_long ? rope->long_attenuation : rope->attenuation);

    if (fill->count < 0 ||
        fill->target_bytes / sizeof(*table) != (uint64_t)fill->count * (uint64_t)rope->pairs) {
        model_fail(context, TAPML_INVALID, "'%s' of %lld tokens has not %llu bytes", fill->name,
                   (long long)fill->count, (unsigned long long)fill->target_bytes);
        return;
    }
    model_rope_frequencies(rope, fill->length, inverse);
    for (int64_t t = 0; t < fill->count; t++) {
        for (int64_t i = 0; i < rope->pairs; i++) {
            const float angle = (float)(fill->first + t) * inverse[i];
            const double value = is_sine ? sin((double)angle) : cos((double)angle);

            table[t * rope->pairs + i] = (float)value * attenuation;
        }
    }
}
