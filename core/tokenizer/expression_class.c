// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/expression_class.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64 };

struct named_class {
    const char *name; // In small letters, without blanks, hyphens and underscores.
    const char *members;
};

// What [:NAME:] means, and \p{NAME} of the same name but for "punct", "digit" and the like, which
// are the same there.
static const struct named_class posix_classes[] = {
    {"alnum", "\\p{Alphabetic}\\p{Nd}"},
    {"alpha", "\\p{Alphabetic}"},
    {"ascii", "\\x{0}-\\x{7f}"},
    {"blank", "\\x{9}\\p{Zs}"},
    {"cntrl", "\\p{Cc}"},
    {"digit", "\\p{Nd}"},
    {"lower", "\\p{Lowercase}"},
    {"punct", "\\p{P}\\p{S}"},
    {"space", EXPRESSION_SPACE},
    {"upper", "\\p{Uppercase}"},
    {"word", EXPRESSION_NAMED_WORD},
    {"xdigit", "0-9a-fA-F"},
};

static const struct named_class categories[] = {
    {"letter", "\\p{L}"},
    {"casedletter", "\\p{L&}"},
    {"uppercaseletter", "\\p{Lu}"},
    {"lowercaseletter", "\\p{Ll}"},
    {"titlecaseletter", "\\p{Lt}"},
    {"modifierletter", "\\p{Lm}"},
    {"otherletter", "\\p{Lo}"},
    {"mark", "\\p{M}"},
    {"nonspacingmark", "\\p{Mn}"},
    {"spacingmark", "\\p{Mc}"},
    {"enclosingmark", "\\p{Me}"},
    {"number", "\\p{N}"},
    {"decimalnumber", "\\p{Nd}"},
    {"letternumber", "\\p{Nl}"},
    {"othernumber", "\\p{No}"},
    {"punctuation", "\\p{P}"},
    {"connectorpunctuation", "\\p{Pc}"},
    {"dashpunctuation", "\\p{Pd}"},
    {"openpunctuation", "\\p{Ps}"},
    {"closepunctuation", "\\p{Pe}"},
    {"initialpunctuation", "\\p{Pi}"},
    {"finalpunctuation", "\\p{Pf}"},
    {"otherpunctuation", "\\p{Po}"},
    {"symbol", "\\p{S}"},
    {"mathsymbol", "\\p{Sm}"},
    {"currencysymbol", "\\p{Sc}"},
    {"modifiersymbol", "\\p{Sk}"},
    {"othersymbol", "\\p{So}"},
    {"separator", "\\p{Z}"},
    {"spaceseparator", "\\p{Zs}"},
    {"lineseparator", "\\p{Zl}"},
    {"paragraphseparator", "\\p{Zp}"},
    {"other", "\\p{C}"},
    {"control", "\\p{Cc}"},
    {"format", "\\p{Cf}"},
    {"privateuse", "\\p{Co}"},
    {"unassigned", "\\p{Cn}"},
    {"lc", "\\p{L&}"},
    {"any", "\\x{0}-\\x{10ffff}"},
};

int expression_class_letter(char letter, struct text *out_members, int *out_is_negated)
{
    static const struct {
        char letter;
        const char *members;
    } classes[] = {
        {'s', EXPRESSION_SPACE}, {'w', EXPRESSION_WORD}, {'d', "\\p{Nd}"}, {'h', "0-9a-fA-F"}};
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); ++i) {
        if (tolower((unsigned char)letter) == classes[i].letter) {
            text_append(out_members, classes[i].members);
            *out_is_negated = letter != classes[i].letter;
            return 1;
        }
    }
    return 0;
}

static const char *find(const struct named_class *classes, size_t count, const char *name)
{
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(name, classes[i].name) == 0) {
            return classes[i].members;
        }
    }
    return NULL;
}

// Whether PCRE2 knows a script of this name.
static int is_script(const char *name)
{
    char expression[NAME_MAX_BYTES + 16];
    int error = 0;
    PCRE2_SIZE offset = 0;
    (void)snprintf(expression, sizeof(expression), "\\p{sc:%s}", name);
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, PCRE2_UTF,
                                     &error, &offset, NULL);
    pcre2_code_free(code);
    return code != NULL;
}

// The name as Oniguruma compares it. Returns 0 if it is too long to be one.
static int fold(const char *name, size_t length, char out_name[NAME_MAX_BYTES])
{
    size_t count = 0;
    for (size_t i = 0; i < length; ++i) {
        const char c = name[i];
        if (c != ' ' && c != '-' && c != '_') {
            if (count + 1 == NAME_MAX_BYTES) {
                return 0;
            }
            out_name[count++] = (char)tolower((unsigned char)c);
        }
    }
    out_name[count] = '\0';
    return 1;
}

void expression_class_name(
    const char *name, size_t length, int is_posix, struct text *out_members, int *out_is_negated)
{
    char folded[NAME_MAX_BYTES] = "";
    const int is_negated = length > 0 && *name == '^';
    const char *begin = name + is_negated;
    const size_t count = length - (size_t)is_negated;
    const char *members = NULL;
    const int is_short = fold(begin, count, folded);
    *out_is_negated = is_negated;
    if (is_short) {
        members = find(posix_classes, sizeof(posix_classes) / sizeof(*posix_classes), folded);
    }
    if (is_short && !members && !is_posix) {
        members = find(categories, sizeof(categories) / sizeof(*categories), folded);
    }
    if (members) {
        text_append(out_members, members);
    } else if (is_posix) {
        text_format(out_members, "[:%.*s:]", (int)count, begin); // PCRE2 names what it lacks.
    } else {
        // Categories of one or two letters are no scripts.
        text_append(out_members, is_short && is_script(folded) ? "\\p{sc:" : "\\p{");
        text_append_bytes(out_members, begin, count);
        text_append(out_members, "}");
    }
}
