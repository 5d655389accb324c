// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "delta_models.h"
#include "model/delta.h"
#include "model/delta_make.h"
#include "model/safetensors_writer.h"

#include <criterion/criterion.h>
#include <stdio.h>

struct made {
    struct scratch scratch;
    struct delta_models models;
    char path[1024];
};

static void make(struct made *made)
{
    struct delta_make_counts counts;
    scratch_make(&made->scratch);
    delta_models_make(&made->models);
    snprintf(made->path, sizeof(made->path), "%s", scratch_path(&made->scratch, "d"));
    const struct delta_make_options options = {.base = made->models.base,
                                               .fine = made->models.fine};
    cr_assert_eq(delta_make(&options, made->path, &counts), TAPML_OK, "%s", status_message());
}

static void release(struct made *made)
{
    delta_models_release(&made->models);
    scratch_remove(&made->scratch);
}

Test(delta, a_base_becomes_the_fine_tune)
{
    struct made made;
    make(&made);
    struct checkpoint *base = made.models.base;
    const void *same = checkpoint_find(base, "same")->data;
    const struct hash before = checkpoint_hash(base);
    cr_assert_eq(delta_join(made.path, base), TAPML_OK, "%s", status_message());
    cr_assert_eq(memcmp(checkpoint_find(base, "matrix")->data, made.models.fine_values[0],
                        sizeof(made.models.fine_values[0])),
                 0);
    cr_assert_eq(memcmp(checkpoint_find(base, "row")->data, made.models.fine_values[1],
                        sizeof(made.models.fine_values[1])),
                 0);
    cr_assert_eq(checkpoint_find(base, "same")->data, same, "what stays is not copied");
    cr_assert_not(hash_equal(before, checkpoint_hash(base)));
    release(&made);
}

Test(delta, another_base_is_refused_by_its_tensor)
{
    struct made made;
    make(&made);
    cr_assert_eq(delta_join(made.path, made.models.fine), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "tensor 'matrix': expected 64 values of f32 with "
                                                "the hash of the base, found 64 of f32 with "
                                                "another"),
                       "%s", status_message());
    release(&made);
}

// A file with one tensor of two bytes and a text.
static tapml_status open_text(const char *text, const char *name)
{
    struct scratch scratch;
    struct safetensors_writer *writer = NULL;
    struct delta *delta = NULL;
    uint64_t bytes = 0;
    const int64_t shape[] = {2}, length[] = {(int64_t)strlen(text)};
    scratch_make(&scratch);
    const char *path = scratch_path(&scratch, "d");
    cr_assert_eq(safetensors_writer_open(path, 1000, &writer), TAPML_OK);
    cr_assert_eq(safetensors_writer_add(
                     writer, &(struct safetensors_writer_tensor){name, "U8", shape, 1, "ab", 2}),
                 TAPML_OK);
    cr_assert_eq(safetensors_writer_add(
                     writer, &(struct safetensors_writer_tensor){DELTA_TENSOR, "U8", length, 1,
                                                                 text, strlen(text)}),
                 TAPML_OK);
    cr_assert_eq(safetensors_writer_end(writer, &bytes), TAPML_OK);
    const tapml_status status = delta_open(path, &delta);
    delta_close(delta);
    scratch_remove(&scratch);
    return status;
}

#define HASH        "00000000000000000000000000000001"
#define TEXT(of_)   "{\"format\": \"tapml.delta/1\", \"tensors\": [" of_ "]}"
#define NUMBERS     "\"count\": 1, \"kept\": 0, "
#define HASHES      "\"base\": \"" HASH "\", \"fine\": \"" HASH "\""
#define ITEM(more_) TEXT("{\"name\": \"m\", " more_ "}")

Test(delta, texts_are_not_trusted)
{
    static const struct {
        const char *text, *piece;
    } cases[] = {
        {"{", "tapml.delta"},
        {"[]", "expected an object with format"},
        {"{\"format\": \"tapml.delta/2\", \"tensors\": []}", "found format 'tapml.delta/2'"},
        {TEXT(""), "expected 0 tensors beside 'tapml.delta', found 1"},
        {ITEM("\"kind\": \"xor\", \"dtype\": \"f32\", " NUMBERS "\"base\": \"" HASH "\""),
         "tensor 'm': expected name, kind"},
        {ITEM("\"kind\": \"zip\", \"dtype\": \"f32\", " NUMBERS HASHES), "(xor sparse 24q2 24q4)"},
        {ITEM("\"kind\": \"xor\", \"dtype\": \"f31\", " NUMBERS HASHES), "dtype"},
        {ITEM("\"kind\": \"sparse\", \"dtype\": \"i32\", " NUMBERS HASHES), "tensor 'm'"},
        {ITEM("\"kind\": \"sparse\", \"dtype\": \"f32\", \"count\": 1, \"kept\": 2, " HASHES),
         "tensor 'm'"},
        {ITEM("\"kind\": \"xor\", \"dtype\": \"f32\", \"count\": -1, \"kept\": 0, " HASHES),
         "tensor 'm'"},
        {ITEM("\"kind\": \"xor\", \"dtype\": \"f32\", \"count\": 9223372036854775807, "
              "\"kept\": 0, " HASHES),
         "tensor 'm'"},
        {TEXT("{\"name\": \"n\", \"kind\": \"xor\", \"dtype\": \"f32\", " NUMBERS HASHES "}"),
         "tensor 'n': expected U8 of that name, found none"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        cr_assert_eq(open_text(cases[i].text, "m"), TAPML_INVALID, "%zu", i);
        cr_assert_not_null(strstr(status_message(), cases[i].piece), "%zu: %s", i,
                           status_message());
    }
    cr_assert_eq(open_text(ITEM("\"kind\": \"xor\", \"dtype\": \"f32\", " NUMBERS HASHES), "m"),
                 TAPML_OK, "%s", status_message());
}

Test(delta, memory_may_end_anywhere)
{
    struct made made;
    struct delta *delta = NULL;
    make(&made);
    SCRATCH_SWEEP(delta_open(made.path, &delta));
    delta_close(delta);
    release(&made);
}
