// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/scratch.h"
#include "base/alloc.h"
#include "tokenizer/added.h"
#include "tokenizer/normalizer.h"

#include <criterion/criterion.h>
#include <string.h>

// Added tokens of "CONTENT FLAGS" lines: n normalized, w single_word, l lstrip, r rstrip, s
// special. Their ids count from 0.
static json_t *tokens_of(const char *const *lines)
{
    json_t *tokens = json_array();
    for (json_int_t id = 0; lines[id]; ++id) {
        const char *flags = strrchr(lines[id], ' ');
        json_t *token = json_pack(
            "{s:I, s:s%, s:b, s:b, s:b, s:b, s:b}", "id", id, "content", lines[id],
            (size_t)(flags - lines[id]), "normalized", strchr(flags, 'n') != NULL, "single_word",
            strchr(flags, 'w') != NULL, "lstrip", strchr(flags, 'l') != NULL, "rstrip",
            strchr(flags, 'r') != NULL, "special", strchr(flags, 's') != NULL);
        json_array_append_new(tokens, token);
    }
    return tokens;
}

static struct added *create(const char *const *lines)
{
    struct added *added = NULL;
    json_t *tokens = tokens_of(lines);
    cr_assert_eq(added_create("t.json", tokens, NULL, &added), TAPML_OK, "%s", status_message());
    json_decref(tokens);
    return added;
}

// Writes the text with every match as [id:what it covers].
static tapml_status cut(const struct added *added, int normalized, const char *text, char *out)
{
    struct added_search search = {
        .added = added, .normalized = normalized, .text = text, .length = strlen(text)};
    size_t done = 0;
    for (;;) {
        struct added_match match;
        TAPML_TRY(added_next(&search, &match));
        if (match.begin > done) {
            strncat(out, text + done, match.begin - done);
        }
        if (match.id < 0) {
            return TAPML_OK;
        }
        snprintf(out + strlen(out), 100, "[%d:%.*s]", match.id, (int)(match.end - match.begin),
                 text + match.begin);
        done = match.end;
    }
}

static void
expect_cut(const char *const *lines, int normalized, const char *text, const char *expected)
{
    struct added *added = create(lines);
    char found[512] = "";
    cr_assert_eq(cut(added, normalized, text, found), TAPML_OK);
    cr_assert_str_eq(found, expected);
    added_destroy(added);
}

Test(added, the_leftmost_and_longest_is_taken)
{
    const char *const lines[] = {"<a> ", "<a>b ", "a>bc ", NULL};
    expect_cut(lines, 0, "x<a>bcd<a>", "x[1:<a>b]cd[0:<a>]");
    expect_cut(lines, 0, "a>bca>b", "[2:a>bc]a>b");
    expect_cut(lines, 0, "", "");
    expect_cut(lines, 0, "none", "none");
    expect_cut(lines, 1, "<a>", "<a>");
}

Test(added, normalized_tokens_have_a_round_of_their_own)
{
    const char *const lines[] = {"<a> n", "<b> ", NULL};
    expect_cut(lines, 0, "<a><b>", "<a>[1:<b>]");
    expect_cut(lines, 1, "<a><b>", "[0:<a>]<b>");
}

Test(added, white_space_is_swallowed)
{
    const char *const lines[] = {"<l> l", "<r> r", "<b> lr", NULL};
    expect_cut(lines, 0, "x \n<l> y", "x[0: \n<l>] y");
    expect_cut(lines, 0, "x <r>\t y", "x [1:<r>\t ]y");
    expect_cut(lines, 0, "x<r>  <l>y", "x[1:<r>  ][0:<l>]y");
    expect_cut(lines, 0, "\xe3\x80\x80<b>\xc2\xa0", "[2:\xe3\x80\x80<b>\xc2\xa0]");
    expect_cut(lines, 0, "\xe1\xa0\x8e<l>", "\xe1\xa0\x8e[0:<l>]"); // U+180E is none.
    expect_cut(lines, 0, "  <b>  <b>  ", "[2:  <b>  ][2:<b>  ]");
}

Test(added, single_words_touch_no_word)
{
    const char *const lines[] = {"ab w", "abc ", "b ", NULL};
    expect_cut(lines, 0, "ab", "[0:ab]");
    expect_cut(lines, 0, "x ab-ab.", "x [0:ab]-[0:ab].");
    expect_cut(lines, 0, "abx", "abx"); // Passed over whole: no 'b' is looked for inside.
    expect_cut(lines, 0,
               "\xc3\xa4"
               "ab b",
               "\xc3\xa4"
               "ab [2:b]");
    expect_cut(lines, 0, "ab_", "ab_");
    expect_cut(lines, 0, "ab\xcc\x81", "ab\xcc\x81"); // A combining accent.
    expect_cut(lines, 0, "abc", "[1:abc]");
}

Test(added, a_token_without_end_is_refused)
{
    char content[5001];
    struct added *added = NULL;
    memset(content, 'a', sizeof(content) - 1);
    content[sizeof(content) - 1] = '\0';
    json_t *tokens = json_pack("[{s:s, s:i}]", "content", content, "id", 0);
    cr_assert_eq(added_create("t.json", tokens, NULL, &added), TAPML_INVALID);
    cr_assert_not_null(strstr(status_message(), "t.json: added token 'aaa"));
    cr_assert_not_null(strstr(status_message(), "at most 4096 bytes"));
    json_decref(tokens);
}

Test(added, tokens_are_found_by_id)
{
    const char *const lines[] = {"<a> s", "<b> ", NULL};
    struct added *added = create(lines);
    int is_special = 0;
    cr_assert_str_eq(added_find(added, 0, &is_special), "<a>");
    cr_assert(is_special);
    cr_assert_str_eq(added_find(added, 1, &is_special), "<b>");
    cr_assert_not(is_special);
    cr_assert_null(added_find(added, 2, &is_special));
    added_destroy(added);
    added_destroy(NULL);
}

// As tokenizers 0.23 decodes them.
Test(added, a_normalized_token_is_found_as_it_is_normalized)
{
    const char *const lines[] = {"<a> n", "<b> ", NULL};
    struct normalizer *normalizer = NULL;
    struct added *added = NULL;
    int is_special = 0;
    json_t *tokens = tokens_of(lines);
    json_t *prepend = json_pack("{s:s, s:s}", "type", "Prepend", "prepend", "_");
    cr_assert_eq(normalizer_create("t.json", prepend, &normalizer), TAPML_OK);
    cr_assert_eq(added_create("t.json", tokens, normalizer, &added), TAPML_OK);
    cr_assert_str_eq(added_find(added, 0, &is_special), "_<a>");
    cr_assert_str_eq(added_find(added, 1, &is_special), "<b>");
    cr_assert_eq(added_id(added, "<a>"), 0);
    added_destroy(added);
    normalizer_destroy(normalizer);
    json_decref(prepend);
    json_decref(tokens);
}

Test(added, none_and_empty_ones_match_nothing)
{
    struct added *added = NULL;
    char found[64] = "";
    cr_assert_eq(added_create("t.json", NULL, NULL, &added), TAPML_OK);
    cr_assert_eq(cut(added, 0, "text", found), TAPML_OK);
    cr_assert_str_eq(found, "text");
    added_destroy(added);
    const char *const lines[] = {" ", NULL};
    expect_cut(lines, 0, "text", "text");
}

Test(added, what_is_wrong_is_refused)
{
    const char *const texts[] = {"{}",
                                 "[1]",
                                 "[{\"id\": 1}]",
                                 "[{\"content\": \"a\"}]",
                                 "[{\"id\": -1, \"content\": \"a\"}]",
                                 "[{\"id\": 2147483648, \"content\": \"a\"}]"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        struct added *added = NULL;
        json_t *tokens = json_loads(texts[i], 0, NULL);
        cr_assert_eq(added_create("t.json", tokens, NULL, &added), TAPML_INVALID, "%s", texts[i]);
        cr_assert_not_null(strstr(status_message(), "t.json"));
        json_decref(tokens);
    }
}

static tapml_status build(const json_t *tokens)
{
    struct added *added = NULL;
    char found[64] = "";
    TAPML_TRY(added_create("t.json", tokens, NULL, &added));
    const tapml_status status = cut(added, 0, "x ab y", found);
    added_destroy(added);
    return status;
}

Test(added, survives_without_memory)
{
    const char *const lines[] = {"ab w", NULL};
    json_t *tokens = tokens_of(lines);
    SCRATCH_SWEEP(build(tokens));
    json_decref(tokens);
}
