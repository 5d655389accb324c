// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/expression_set.h"

#include "tokenizer/expression_class.h"

#include <ctype.h>
#include <string.h>

enum { DEPTH_MAX = 16, CODE_DIGITS = 4 };

// One side of "&&": a union of members and of sets.
struct union_of {
    struct text members; // Of a set of PCRE2.
    struct text sets;    // Expressions of one character each, with "|" before each.
    int after_class;     // The last member is a class: a hyphen behind it is a member.
};

struct set {
    const char *whole;
    const char *at;
    struct union_of side;
    struct text sides; // Those before: what has to match too.
    int is_negated;
};

static tapml_status read_set(struct set *set, size_t depth);

static tapml_status unsupported(const struct set *set, const char *what)
{
    return status_fail(TAPML_INVALID, "the expression '%.200s': %s is unsupported at %zu",
                       set->whole, what, (size_t)(set->at - set->whole));
}

static void set_init(struct set *set, const char *whole, const char *at)
{
    *set = (struct set){.whole = whole, .at = at};
    text_init(&set->side.members);
    text_init(&set->side.sets);
    text_init(&set->sides);
}

static void set_release(struct set *set)
{
    text_release(&set->side.members);
    text_release(&set->side.sets);
    text_release(&set->sides);
}

// -- Writing -----------------------------------------------------------------------------------

// Whether PCRE2 has such a set.
static int is_plain(const struct set *set)
{
    return set->sides.length == 0 && set->side.sets.length == 0;
}

static void write_side(const struct union_of *side, struct text *out)
{
    const int has_members = side->members.length > 0;
    const int is_group = side->sets.length > 0;
    text_append(out, is_group ? "(?:" : "");
    if (has_members) {
        text_append(out, "[");
        text_append_bytes(out, side->members.data, side->members.length);
        text_append(out, "]");
    }
    if (is_group) {
        const size_t skip = has_members ? 0 : 1; // The first bar.
        text_append_bytes(out, side->sets.data + skip, side->sets.length - skip);
        text_append(out, ")");
    }
}

static void write_set(const struct set *set, struct text *out)
{
    if (is_plain(set)) {
        text_append(out, set->is_negated ? "[^" : "[");
        text_append_bytes(out, set->side.members.data, set->side.members.length);
        text_append(out, "]");
        return;
    }
    if (set->sides.length == 0 && !set->is_negated) {
        write_side(&set->side, out);
        return;
    }
    text_append(out, set->is_negated ? "(?:(?!" : "(?:");
    text_append_bytes(out, set->sides.data, set->sides.length);
    write_side(&set->side, out);
    text_append(out, set->is_negated ? ")(?s:.))" : ")");
}

// -- Reading -----------------------------------------------------------------------------------

static void add_class(struct set *set, const struct text *members, int is_negated)
{
    struct text *out = is_negated ? &set->side.sets : &set->side.members;
    text_append(out, is_negated ? "|[^" : "");
    text_append_bytes(out, members->data, members->length);
    text_append(out, is_negated ? "]" : "");
    out->failed |= members->failed;
    set->side.after_class = 1;
}

// \uHHHH
static tapml_status read_code(struct set *set)
{
    const char *digits = set->at + 2;
    for (size_t i = 0; i < CODE_DIGITS; ++i) {
        if (!isxdigit((unsigned char)digits[i])) {
            return unsupported(set, "'\\u' without four digits");
        }
    }
    text_format(&set->side.members, "\\x{%.4s}", digits);
    set->at = digits + CODE_DIGITS;
    return TAPML_OK;
}

// \p{...} and \P{...}; \pL is one letter.
static tapml_status read_property(struct set *set, struct text *members, int *out_is_negated)
{
    const char *name = set->at[2] == '{' ? set->at + 3 : set->at + 2;
    const char *end = set->at[2] == '{' ? strchr(name, '}') : *name ? name + 1 : NULL;
    if (!end) {
        return unsupported(set, "a property without a name");
    }
    expression_class_name(name, (size_t)(end - name), 0, members, out_is_negated);
    *out_is_negated ^= set->at[1] == 'P';
    set->at = *end == '}' ? end + 1 : end;
    return TAPML_OK;
}

static tapml_status read_class(struct set *set, int *out_is)
{
    struct text members;
    int is_negated = 0;
    tapml_status status = TAPML_OK;
    text_init(&members);
    *out_is = 1;
    if (set->at[1] == 'p' || set->at[1] == 'P') {
        status = read_property(set, &members, &is_negated);
    } else if (expression_class_letter(set->at[1], &members, &is_negated)) {
        set->at += 2;
    } else {
        *out_is = 0;
    }
    if (status == TAPML_OK && *out_is) {
        add_class(set, &members, is_negated);
    }
    text_release(&members);
    return status;
}

static tapml_status read_escape(struct set *set)
{
    const char letter = set->at[1];
    int is_class = 0;
    if (letter == '\0') {
        return unsupported(set, "a backslash at the end");
    }
    TAPML_TRY(read_class(set, &is_class));
    if (is_class) {
        return TAPML_OK;
    }
    set->side.after_class = 0;
    if (letter == 'u') {
        return read_code(set);
    }
    if (isalpha((unsigned char)letter) && !strchr("rntfaebvx", letter)) {
        return unsupported(set, "this escape");
    }
    if (letter == 'v') {
        text_append(&set->side.members, "\\x{b}");
    } else {
        text_append_bytes(&set->side.members, set->at, 2);
    }
    set->at += 2;
    return TAPML_OK;
}

// [:NAME:]. Returns 0 if there is none.
static int read_named_class(struct set *set)
{
    const char *end = set->at[1] == ':' ? strstr(set->at, ":]") : NULL;
    struct text members;
    int is_negated = 0;
    if (!end) {
        return 0;
    }
    text_init(&members);
    expression_class_name(set->at + 2, (size_t)(end - set->at - 2), 1, &members, &is_negated);
    add_class(set, &members, is_negated);
    text_release(&members);
    set->at = end + 2;
    return 1;
}

// A set within the set; one that is plain and not negated adds its members.
static tapml_status read_nested(struct set *set, size_t depth)
{
    struct set nested;
    if (depth == DEPTH_MAX) {
        return unsupported(set, "a set nested so deeply");
    }
    set_init(&nested, set->whole, set->at);
    const tapml_status status = read_set(&nested, depth + 1);
    if (status == TAPML_OK && is_plain(&nested) && !nested.is_negated) {
        add_class(set, &nested.side.members, 0);
    } else if (status == TAPML_OK) {
        text_append(&set->side.sets, "|");
        write_set(&nested, &set->side.sets);
        set->side.after_class = 1;
    }
    set->at = nested.at;
    set_release(&nested);
    return status;
}

static tapml_status end_side(struct set *set)
{
    if (set->side.members.length + set->side.sets.length == 0) {
        return unsupported(set, "a set without a member");
    }
    TAPML_TRY(text_status(&set->side.members));
    return text_status(&set->side.sets);
}

// "&&": what stands before has to match too.
static tapml_status begin_side(struct set *set)
{
    TAPML_TRY(end_side(set));
    text_append(&set->sides, "(?=");
    write_side(&set->side, &set->sides);
    text_append(&set->sides, ")");
    text_clear(&set->side.members);
    text_clear(&set->side.sets);
    set->side.after_class = 0;
    set->at += 2;
    return text_status(&set->sides);
}

static tapml_status read_member(struct set *set, size_t depth)
{
    const char *at = set->at;
    struct text *members = &set->side.members;
    if (*at == '\0') {
        return unsupported(set, "a set without an end");
    }
    if (*at == '\\') {
        return read_escape(set);
    }
    if (at[0] == '&' && at[1] == '&') {
        return begin_side(set);
    }
    if (*at == '[') {
        return read_named_class(set) ? TAPML_OK : read_nested(set, depth);
    }
    // No range begins at a class, at the beginning or at the end, and no other one is denied.
    const int is_member = *at == '-' && (set->side.after_class || members->length == 0 ||
                                         at[1] == ']' || (at[1] == '&' && at[2] == '&'));
    text_append(members, is_member || *at == '^' ? "\\" : "");
    text_append_bytes(members, at, 1);
    set->side.after_class = 0;
    ++set->at;
    return TAPML_OK;
}

// From "[" to "]". Recursion is bounded by DEPTH_MAX.
static tapml_status read_set(struct set *set, size_t depth)
{
    set->is_negated = set->at[1] == '^';
    set->at += set->is_negated ? 2 : 1;
    if (*set->at == ']') { // The first one is a member.
        text_append(&set->side.members, "\\]");
        ++set->at;
    }
    while (*set->at != ']') {
        TAPML_TRY(read_member(set, depth));
    }
    TAPML_TRY(end_side(set));
    ++set->at;
    return TAPML_OK;
}

tapml_status expression_set_translate(const char *whole, const char **at, struct text *out)
{
    struct set set;
    set_init(&set, whole, *at);
    const tapml_status status = read_set(&set, 0);
    if (status == TAPML_OK) {
        write_set(&set, out);
        *at = set.at;
    }
    set_release(&set);
    return status;
}
