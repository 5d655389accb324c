// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Rotary position embedding: from the config to tables of cosines and sines.
//
// Both dialects of config.json are read: "rope_parameters", and "rope_scaling" beside "rope_theta";
// "rope_type" and the older "type". Kinds: default, linear, dynamic, llama3, yarn, longrope (also
// under its old name su). An unknown kind is a failure that names it.
#ifndef TAPML_MODEL_ROPE_H
#define TAPML_MODEL_ROPE_H

#include <tapml/model/context.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MODEL_ROPE_PAIRS_MAX = 512 }; // Heads of at most 1024 values.

enum model_rope_kind {
    MODEL_ROPE_DEFAULT,
    MODEL_ROPE_LINEAR,
    MODEL_ROPE_DYNAMIC,
    MODEL_ROPE_DOUBLING,
    MODEL_ROPE_LLAMA3,
    MODEL_ROPE_YARN,
    MODEL_ROPE_LONGROPE
};

// What the config says. Members that a kind has no use for are 0.
struct model_rope {
    enum model_rope_kind kind;
    int64_t pairs;           // Half of the values of a head that are turned.
    double theta;            // The base of the frequencies.
    double positions;        // max_position_embeddings.
    double original;         // original_max_position_embeddings.
    double factor;           // By how much positions are stretched.
    double attenuation;      // Factor on cosines and sines: yarn, longrope; else 1.
    double long_attenuation; // longrope: that of long texts.
    double score_factor; // On scores, where attention is latent: yarn with mscale_all_dim; else 1.
    double low,
        high; // llama3: low and high frequency factors. yarn: first and last pair of the ramp.
    double extension[2][MODEL_ROPE_PAIRS_MAX]; // longrope: divisors for short and long texts.
};

enum { MODEL_ROPE_NUMBERS_MAX = 8 };

// Where a rope's keys stand, several with "|" between them, and what they mean where a config lacks
// them: as the architecture's class has it. NULL and 0 stand for what most have.
struct model_rope_defaults {
    double theta;
    int64_t positions;
    int64_t original;   // original_max_position_embeddings; 0: as many as positions.
    double share;       // Of a head's values, from the first on, that are turned. 0: all of them,
                        // and a config that wants another share is refused.
    const char *width;  // The key that says how wide heads are, for messages; "head_dim".
    const char *turned; // The key of how many values are turned, in place of a share; NULL: none.
    int64_t turned_fallback; // Where that is absent.
    const char *newer;       // The section of the newer dialect; "/rope_parameters".
    const char *older;       // That of the older dialect; "/rope_scaling".
    const char *base;        // The base beside that one; "/rope_theta".
    const char *ratio;       // The key of a factor on the base; NULL: none.
    const char *shares;      // And the share; "/partial_rotary_factor".
    const char *doubles; // Key: the base grows by powers of two beyond the length at the next key.
    const char *length;
    int takes_alpha;  // Of kind dynamic: the base is multiplied by a power of "alpha".
    const char *kind; // Where the config has no section, or null; "default".
    struct {
        const char *key;
        double number;
    } numbers[MODEL_ROPE_NUMBERS_MAX]; // The keys of that kind.
    int is_ramp_exact; // Of that kind, if it is yarn: the ends of its ramp are not rounded.
    double factor;     // Of kind dynamic, where the key is absent. 0: it must be there.
};

// The number at a key of the section that is read: `fallback` where that has none, and neither has
// the class in place of the section.
double model_rope_number(struct model_context *context,
                         const struct model_rope_defaults *defaults,
                         const char *key,
                         double fallback);

// Reads the keys that a rope over heads of `width` values has.
void model_rope_read(struct model_context *context,
                     const struct model_rope_defaults *defaults,
                     int64_t width,
                     struct model_rope *out_rope);

// Inverse frequencies of the pairs, for a text of `length` tokens.
void model_rope_frequencies(const struct model_rope *rope, int64_t length, float *out_inverse);

// The rows of a table [count, pairs] of f32 that are asked for: angles are rounded to f32 as
// Hugging Face does, cosine or sine is taken in double, then rounded.
void model_rope_fill(struct model_context *context,
                     const struct model_rope *rope,
                     int is_sine,
                     const struct model_fill *fill);

#ifdef __cplusplus
}
#endif

#endif
