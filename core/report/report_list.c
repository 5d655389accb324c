// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_list.h"

#include "base/assert.h"
#include "base/terminal.h"
#include "report/report_markup.h"

#include <stdio.h>
#include <string.h>

// -- The document ------------------------------------------------------------------------------

static void
put_member(struct report_maker *part, const struct report_member *member, const void *item)
{
    const char *value = (const char *)item + member->offset;
    const char *text = NULL;
    uint64_t count = 0;
    double margin = 0;

    switch (member->kind) {
    case REPORT_TEXT:
        memcpy(&text, value, sizeof(text));
        report_maker_text(part, member->key, text);
        break;
    case REPORT_COUNT:
        memcpy(&count, value, sizeof(count));
        report_maker_count(part, member->key, count);
        break;
    case REPORT_MARGIN:
        memcpy(&margin, value, sizeof(margin));
        report_maker_put(part, member->key, report_maker_margin(margin));
        break;
    case REPORT_MADE:
        report_maker_put(part, member->key, member->make(item));
        break;
    }
}

struct report_maker report_list_make(const struct report_list *list, const void *item)
{
    struct report_maker part = report_maker_begin();

    for (size_t i = 0; i < list->member_count; i++) {
        const struct report_member *member = &list->members[i];

        if (member->is_there == NULL || member->is_there(item)) {
            put_member(&part, member, item);
        }
    }
    return part;
}

// -- The page ----------------------------------------------------------------------------------

void report_list_print_headings(const struct report_list *list,
                                const char *target,
                                struct text *out)
{
    for (size_t i = 0; i < list->cell_count; i++) {
        text_append(out, list->cells[i].is_number ? "<th scope=\"col\" class=\"num\">"
                                                  : "<th scope=\"col\">");
        REPORT_MARKUP(out, list->cells[i].heading, target);
        text_append(out, "</th>");
    }
}

void report_list_print_cells(const struct report_list *list, const json_t *item, struct text *out)
{
    for (size_t i = 0; i < list->cell_count; i++) {
        list->cells[i].print(item, list->cells[i].key, out);
    }
}

void report_list_print_table(const struct report_list *list,
                             const struct report_list_table *table,
                             const json_t *items,
                             struct text *out)
{
    REPORT_MARKUP(out,
                  "<div class=\"scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">"
                  "<table class=\"list sortable {}\"><thead><tr>",
                  table->is_tall ? " tall" : "", table->label, table->classes);
    report_list_print_headings(list, "", out);
    text_append(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);

        if (table->is_shown == NULL || table->is_shown(item)) {
            text_append(out, "<tr>");
            report_list_print_cells(list, item, out);
            text_append(out, "</tr>\n");
        }
    }
    text_append(out, "</tbody></table></div>\n");
}

void report_list_print_phrase(const struct report_list *list, const json_t *item, struct text *out)
{
    for (size_t i = 0; i < list->cell_count; i++) {
        text_append(out, i > 0 ? ", " : "");
        list->cells[i].print(item, list->cells[i].key, out);
    }
}

// -- The text ----------------------------------------------------------------------------------

// A line of the table: the headings where there is no item.
static void
print_line(const struct report_list *list, const json_t *item, const int *widths, int is_coloured)
{
    const int is_red =
        is_coloured && item != NULL && list->is_wrong != NULL && list->is_wrong(item);

    (void)printf("%s", is_red ? "\033[31m" : "");
    for (size_t i = 0; i < list->word_count; i++) {
        const struct report_word *word = &list->words[i];
        char made[REPORT_MARKUP_SHORT];

        (void)printf("%s%*s", i > 0 ? " " : "", widths[i],
                     item != NULL ? word->print(item, word->key, made) : word->heading);
    }
    (void)printf("%s\n", is_red ? "\033[0m" : "");
}

// A column is as wide as its longest word; one whose words begin it has a width below 0.
static int find_width(const struct report_word *word, const json_t *items)
{
    const int is_left = word->width < 0;
    int width = is_left ? -word->width : word->width;
    char made[REPORT_MARKUP_SHORT];

    for (size_t i = 0; i < json_array_size(items); i++) {
        width = terminal_widen(width, word->print(json_array_get(items, i), word->key, made));
    }
    return is_left ? -width : width;
}

void report_list_print_lines(const struct report_list *list, const json_t *items, int is_coloured)
{
    int widths[REPORT_WORDS_MAX];

    ASSERT(list->word_count <= REPORT_WORDS_MAX);
    for (size_t i = 0; i < list->word_count; i++) {
        widths[i] = find_width(&list->words[i], items);
    }
    print_line(list, NULL, widths, 0);
    for (size_t i = 0; i < json_array_size(items); i++) {
        print_line(list, json_array_get(items, i), widths, is_coloured);
    }
}
