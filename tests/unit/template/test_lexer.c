// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "../../harness/workspace.h"
#include "template/lexer.h"

// The tokens as a text: data in <>, tags as they are, names and so on behind blanks.
static void reads(const char *source, const char *expected)
{
    static const char *const marks[] = {"", "", "{%", "%}", "{{", "}}", "", "", "", "", ""};
    struct workspace workspace;
    struct tokens tokens;
    struct text text;
    text_init(&text);
    workspace_open(&workspace);
    cr_assert_eq(lexer_read(&workspace.budget, "t", source, strlen(source), &tokens), TAPML_OK,
                 "%s", status_message());
    for (size_t i = 0; i + 1 < tokens.count; ++i) {
        const struct token *token = &tokens.items[i];
        if (token->kind == TOKEN_DATA) {
            text_format(&text, "<%s>", token->bytes);
        } else if (token->kind == TOKEN_INTEGER) {
            text_format(&text, " %lld", (long long)token->integer);
        } else if (token->kind == TOKEN_REAL) {
            text_format(&text, " %g", token->real);
        } else {
            text_format(&text, "%s%s", token->bytes ? " " : marks[token->kind],
                        token->bytes ? token->bytes : "");
        }
    }
    cr_assert_eq(tokens.items[tokens.count - 1].kind, TOKEN_END);
    cr_assert_str_eq(text.data, expected);
    text_release(&text);
    workspace_close(&workspace);
}

static void refuses(const char *source, const char *part)
{
    struct workspace workspace;
    struct tokens tokens;
    workspace_open(&workspace);
    workspace_refused(lexer_read(&workspace.budget, "t", source, strlen(source), &tokens), part);
    workspace_close(&workspace);
}

Test(lexer, refuses_a_name_without_end)
{
    char source[320];
    memset(source, 'a', sizeof(source) - 1);
    memcpy(source, "{{", 2);
    source[sizeof(source) - 1] = '\0';
    refuses(source, "at most 256 letters");
}

Test(lexer, takes_white_space_around_tags)
{
    reads("a\n  {% x %}\n  b\n", "<a\n>{% x%}<  b>");
    reads("a {%- x -%} \n b", "<a>{% x%}<b>");
    reads("  {%+ x +%}\nb", "<  >{% x%}<\nb>");
    reads("  {{ x }}\n", "<  >{{ x}}");
    reads("a {{- x -}} b", "<a>{{ x}}<b>");
    reads("a\n {# c #}\nb\r\nc", "<a\n><b\nc>");
}

Test(lexer, reads_what_tags_contain)
{
    reads("{{ a.b[1:2] // 3.5e1 }}", "{{ a . b [ 1 : 2 ] // 35}}");
    reads("{{ {'a': {}} }}", "{{ { a : { } }}}");
    reads("{{ 'a\\n\\x41\\u00e9\\'\\q' }}", "{{ a\nA\xc3\xa9'\\q}}");
}

Test(lexer, refuses_with_the_line)
{
    refuses("a\nb{{ 'x", "t:2: a text does not end");
    refuses("\n\n{% x", "t:3: '{%' does not end");
    refuses("{{ x", "'{{' does not end");
    refuses("{# x", "a comment does not end");
    refuses("{{ (] }}", "a bracket closes that was not opened");
    refuses("{{ ? }}", "a character that means nothing");
    refuses("{{ 0x10 }}", "decimal");
    refuses("{{ 99999999999999999999 }}", "64 bits");
    refuses("{{ '\\ud800' }}", "no character");
    refuses("{{ '\\101' }}", "octal");
    refuses("\xff", "UTF-8");
}
