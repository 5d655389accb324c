// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "report/report_html_cell.h"

#include "report/report_markup.h"

#include <math.h>
#include <string.h>

static const char *class_of_margin(double margin)
{
    return isnan(margin)   ? "u"
           : margin <= 0.1 ? "a"
           : margin <= 0.3 ? "b"
           : margin <= 0.6 ? "c"
           : margin <= 1   ? "d"
                           : "x";
}

// What a cell shows, and its class.
static const char *print_sign(const char *state, double margin, struct text *out)
{
    struct report_markup_shorts s;

    report_markup_margin(margin, s.a);
    if (strcmp(state, "wrong") == 0 || strcmp(state, "together") == 0) {
        text_append(out, state[0] == 'w' ? "\xe2\x9c\x95" : "\xe2\x97\x86");
        text_append(out, "&nbsp;");
        text_append(out, s.a);
        return "x";
    }
    if (strcmp(state, "unsupported") == 0) {
        text_append(out, "R");
        return "u";
    }
    if (strcmp(state, "uncompared") == 0 || strcmp(state, "not judged") == 0) {
        text_append(out, "?");
        return "u";
    }
    if (strcmp(state, "source") == 0) {
        text_append(out, "S");
        return "s";
    }
    text_append(out, s.a);
    return class_of_margin(margin);
}

void report_html_cell_print_link(const char *state,
                                 double margin,
                                 const char *link,
                                 struct text *out)
{
    struct text sign;

    if (state == NULL) {
        text_append(out, "<td class=\"n\"></td>");
        return;
    }
    text_init(&sign);
    const char *class_ = print_sign(state, margin, &sign);

    out->failed |= sign.failed;
    REPORT_MARKUP(out, "<td class=\"{}\">", class_);
    if (link != NULL) {
        REPORT_MARKUP(out, "<a href=\"{}\">", link);
    }
    text_append(out, sign.data);
    text_append(out, link != NULL ? "</a></td>" : "</td>");
    text_release(&sign);
}

void report_html_cell_print(const char *state, double margin, struct text *out)
{
    report_html_cell_print_link(state, margin, NULL, out);
}

static const char grid_key[] =
    "<ul class=\"key\"><li><i class=\"a\">=</i>equal in every bit, or up to 0.1 of the limit</li>"
    "<li><i class=\"b\">.2</i>up to 0.3</li><li><i class=\"c\">.5</i>up to 0.6</li>"
    "<li><i class=\"d\">.9</i>up to 1: still right</li>"
    "<li><i class=\"x\">\xe2\x9c\x95</i>wrong alone, stays on the source</li>"
    "<li><i class=\"x\">\xe2\x97\x86</i>wrong only together with others, stays there too</li>"
    "<li><i class=\"u\">R</i>unsupported by the target</li><li><i class=\"u\">?</i>not "
    "compared</li>"
    "<li><i class=\"s\">S</i>left on the source by the run's own plan</li></ul>\n";

void report_html_cell_print_key(struct text *out)
{
    text_append(out, grid_key);
}
