// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "base/text.h"
#include "contenders.h"
#include "model/checkpoint.h"
#include "model/delta_make.h"
#include "run/fine_tunes.h"

static struct setup setup;
static struct options given;
static struct scratch scratch;
static struct model_options model;
static struct fine_tunes fine_tunes;

static void begin(void)
{
    CONTENDER_OPTIONS(NULL);
    scratch_make(&scratch);
    model = (struct model_options){.folder = contender_model};
    MUST(setup_open(contender_program, &contender_given, NULL, &setup));
    MUST(setup_model(&setup, &model));
    MUST(setup_place(&setup, "source", "reference"));
}

static void end(void)
{
    fine_tunes_close(&setup, &fine_tunes);
    setup_close(&setup);
    scratch_remove(&scratch);
}

TestSuite(fine_tunes, .init = begin, .fini = end, .timeout = 60);

// A delta of the model on itself, in which one tensor is another.
static const char *make_delta(const char *name, enum delta_kind kind)
{
    const struct checkpoint *base = model_checkpoint(setup.model);
    struct checkpoint *fine = NULL;
    struct delta_make_counts counts;
    const char *path = scratch_path(&scratch, "d");

    MUST(checkpoint_branch(base, &fine));
    const struct checkpoint_tensor *tensor = checkpoint_find(fine, name);

    cr_assert_not_null(tensor);
    unsigned char *data = checkpoint_copy(fine, tensor->bytes, 8);

    cr_assert_not_null(data);
    memcpy(data, tensor->data, (size_t)tensor->bytes);
    data[0] ^= 1;
    checkpoint_set_data(fine, name, data);
    MUST(delta_make(&(struct delta_make_options){.base = base, .fine = fine, .kind = kind}, path,
                    &counts));
    checkpoint_close(fine);
    return path;
}

// As the command line has it, with these behind the model's.
static void parse(char **words, int count)
{
    static const struct options_spec specs[] = {FINE_TUNES_OPTIONS, {NULL, NULL, NULL}};

    MUST(options_parse(specs, count, words, &given));
}

Test(fine_tunes, weights_that_stay_are_those_of_the_base)
{
    const char *name = "model.norm.weight";
    const char *path = make_delta(name, DELTA_XOR);
    struct text text;

    parse(
        (char *[]){"--fine-tune", (char *)(uintptr_t)path, "--fine-tune", (char *)(uintptr_t)path},
        4);
    MUST(fine_tunes_open(&setup, &given, &model, &fine_tunes));
    cr_assert_eq(fine_tunes.count, 2);
    const struct checkpoint *base = model_checkpoint(setup.model);
    const struct checkpoint *own = model_checkpoint(fine_tunes.items[1].model);

    for (size_t i = 0; i < checkpoint_count(base); i++) {
        const struct checkpoint_tensor *tensor = checkpoint_at(base, i);

        cr_expect_eq(checkpoint_find(own, tensor->name)->data == tensor->data,
                     strcmp(tensor->name, name) != 0, "%s", tensor->name);
    }
    cr_expect_eq(fine_tunes.items[0].own_bytes, checkpoint_find(base, name)->bytes);
    cr_expect_gt(fine_tunes.base_bytes, fine_tunes.items[0].own_bytes);
    text_init(&text);
    fine_tunes_print(&fine_tunes, &text);
    cr_expect_not_null(strstr(text.data, path), "%s", text.data);
    text_release(&text);
}

Test(fine_tunes, what_is_none_is_refused)
{
    parse((char *[]){"--beside"}, 1);
    cr_expect_eq(fine_tunes_open(&setup, &given, &model, &fine_tunes), TAPML_INVALID);
    parse((char *[]){"--fine-tune", "/dev/null/none"}, 2);
    cr_expect_neq(fine_tunes_open(&setup, &given, &model, &fine_tunes), TAPML_OK);
    cr_expect_not_null(strstr(status_message(), "delta '/dev/null/none'"), "%s", status_message());
    cr_expect_eq(fine_tunes.count, 0);
}
