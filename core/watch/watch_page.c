// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "watch/watch_page.h"

#include "base/arena.h"
#include "report/report_html.h"
#include "report/report_markup.h"
#include "schema/catalogue.h"
#include "store/look.h"
#include "store/target.h"
#include "store/turned.h"
#include "store/watched.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LOOKS_WITH_ROWS = 20 }; // Of which the turned verdicts are listed.

// Verdicts of a target, as they were seen last.
struct target_counts {
    int64_t all, passed, wrong, stale;
};

struct page {
    const struct watch_page_options *options;
    struct arena *arena;
    struct text *out;
    struct target_row *targets;
    struct target_counts *counts;
    size_t target_count;
    int64_t wrong, all;
};

static const char *print_number(int64_t number, char *room)
{
    return report_markup_thousands(number, room);
}

// -- What the verdicts are ---------------------------------------------------------------------

static void count_row(const struct watched_row *row, struct target_counts *counts)
{
    counts->all++;
    counts->passed += row->stale_s == 0 && strcmp(row->verdict, "pass") == 0;
    counts->wrong += strcmp(row->verdict, "fail") == 0 || strcmp(row->verdict, "error") == 0;
    counts->stale += row->stale_s != 0;
}

static tapml_status count_targets(struct page *page)
{
    struct store *store = page->options->store;

    TAPML_TRY(target_list(store, page->arena, &page->targets, &page->target_count));
    page->counts = arena_array(page->arena, page->target_count + 1, sizeof(*page->counts));
    if (page->counts == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < page->target_count; i++) {
        struct watched_row *rows = NULL;
        size_t count = 0;

        TAPML_TRY(watched_list(store, page->targets[i].name, page->arena, &rows, &count));
        for (size_t k = 0; k < count; k++) {
            count_row(&rows[k], &page->counts[i]);
        }
        page->wrong += page->counts[i].wrong;
        page->all += page->counts[i].all;
    }
    return TAPML_OK;
}

static void print_targets(const struct page *page)
{
    text_append(page->out,
                "<section><h2>Targets</h2>\n<div class=\"scroll\" tabindex=\"0\"><table "
                "class=\"list\"><thead><tr><th>target</th><th>driver</th><th>verdicts</th>"
                "<th>passed</th><th>wrong</th><th>stale</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < page->target_count; i++) {
        const struct target_row *target = &page->targets[i];
        const struct target_counts *counts = &page->counts[i];
        struct report_markup_shorts s;

        REPORT_MARKUP(page->out, "<tr><td>{}</td><td>{} {}</td><td>{}</td><td>{}</td>",
                      target->name, target->device_name, target->driver,
                      print_number(counts->all, s.a), print_number(counts->passed, s.b));
        REPORT_MARKUP(page->out, "<td class=\"{}\">{}</td><td>{}</td></tr>\n",
                      counts->wrong > 0 ? "bad" : "", print_number(counts->wrong, s.a),
                      print_number(counts->stale, s.b));
    }
    text_append(page->out, "</tbody></table></div></section>\n");
}

static tapml_status print_top(const struct page *page)
{
    struct look_sums sums;
    struct report_markup_shorts s;
    char share[REPORT_MARKUP_SHORT] = "";

    TAPML_TRY(look_sum(page->options->store, &sums));
    if (sums.everything > 0) {
        const double percent =
            100.0 * (double)(sums.replayed + sums.sampled) / (double)sums.everything;

        (void)snprintf(share, sizeof(share), " (%.1f %%)", percent);
    }
    REPORT_MARKUP(page->out,
                  "<header><span class=\"brand\">TapML</span><span>watching <code>{}</code></span>"
                  "</header>\n<h1 class=\"verdict {}\">{} of {} verdicts {} wrong.</h1>\n",
                  page->options->dir, page->wrong > 0 ? "bad" : "good",
                  print_number(page->wrong, s.a), print_number(page->all, s.b),
                  page->wrong == 1 ? "is" : "are");
    REPORT_MARKUP(page->out,
                  "<p class=\"lede\">Looked at last on {}. {} looks found something changed; {} "
                  "cases ran again{} of {} that a replay of everything at each of them would have "
                  "run.</p>\n",
                  report_markup_date(page->options->looked_s, s.c), print_number(sums.looks, s.d),
                  print_number(sums.replayed + sums.sampled, s.e), share,
                  print_number(sums.everything, s.f));
    if (page->options->trouble != NULL) {
        REPORT_MARKUP(page->out, "<p class=\"bad\">The last look could not be made: {}</p>\n",
                      page->options->trouble);
    }
    return TAPML_OK;
}

// -- Looks -------------------------------------------------------------------------------------

// "y[3, 17] is 2.5, expected 1.25", where there is such an element.
static const char *
print_difference(const struct turned_row *turned, char *room, size_t size, const char *otherwise)
{
    if (isnan(turned->computed) && isnan(turned->expected)) {
        return otherwise;
    }
    (void)snprintf(room, size, "%.80s[%.80s] is %.9g, expected %.9g", turned->param, turned->place,
                   turned->computed, turned->expected);
    return room;
}

static void print_turned(const struct page *page, const struct turned_row *turned)
{
    enum { DIFFERENCE_TEXT = 256 };
    char difference[DIFFERENCE_TEXT];
    struct report_markup_shorts s;

    REPORT_MARKUP(page->out,
                  "<tr><td>{}</td><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td>"
                  "<td class=\"{}\">{}</td>",
                  turned->target, catalogue_shorten(turned->op), turned->instance, turned->phase,
                  *turned->before != '\0' ? turned->before : "new",
                  turned->is_worse ? "bad" : "good", turned->after);
    REPORT_MARKUP(page->out, "<td>{}</td><td>{}</td><td>{}</td></tr>\n",
                  isnan(turned->margin_before) ? ""
                                               : report_markup_margin(turned->margin_before, s.a),
                  isnan(turned->margin) ? "" : report_markup_margin(turned->margin, s.b),
                  print_difference(turned, difference, sizeof(difference), turned->reason));
}

static tapml_status print_turns(const struct page *page, const struct look_row *look)
{
    struct turned_row *turned = NULL;
    size_t count = 0;
    struct report_markup_shorts s;

    TAPML_TRY(turned_list(page->options->store, look->id, page->arena, &turned, &count));
    text_append(page->out, "<div class=\"scroll tall\" tabindex=\"0\"><table class=\"list\"><thead>"
                           "<tr><th>target</th><th>operator</th><th>where</th><th>phase</th>"
                           "<th>before</th><th>now</th><th>margin before</th><th>margin</th>"
                           "<th>first difference</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < count; i++) {
        print_turned(page, &turned[i]);
    }
    text_append(page->out, "</tbody></table></div>\n");
    if (look->worse + look->better > (int64_t)count) {
        REPORT_MARKUP(page->out, "<p class=\"soft\">{} more are not listed.</p>\n",
                      print_number(look->worse + look->better - (int64_t)count, s.a));
    }
    return TAPML_OK;
}

static tapml_status print_look(const struct page *page, const struct look_row *look, int has_rows)
{
    struct report_markup_shorts s;

    REPORT_MARKUP(page->out, "<h3>{}: {} worse, {} better</h3>\n<p>{}{}{}</p>\n",
                  report_markup_date(look->began_s, s.a), print_number(look->worse, s.b),
                  print_number(look->better, s.c), look->cause,
                  *look->cause != '\0' && *look->fired != '\0' ? ". Fired: " : "", look->fired);
    REPORT_MARKUP(
        page->out,
        "<p class=\"soft\">{} of {} cases had no fresh result; {} ran, and {} as samples; "
        "{} are left; {} s.</p>\n",
        print_number(look->stale, s.a), print_number(look->everything, s.b),
        print_number(look->replayed, s.c), print_number(look->sampled, s.d),
        print_number(look->remaining, s.e), print_number(look->ended_s - look->began_s, s.f));
    return has_rows && look->worse + look->better > 0 ? print_turns(page, look) : TAPML_OK;
}

static tapml_status print_looks(const struct page *page)
{
    struct look_row *looks = NULL;
    size_t count = 0;

    TAPML_TRY(look_list(page->options->store, page->arena, &looks, &count));
    text_append(page->out, "<section><h2>Looks</h2>\n");
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(print_look(page, &looks[i], i < LOOKS_WITH_ROWS));
    }
    text_append(page->out, count == 0 ? "<p>Nothing has changed yet.</p>\n" : "");
    text_append(page->out, "</section>\n");
    return TAPML_OK;
}

static tapml_status print_page(struct page *page)
{
    TAPML_TRY(count_targets(page));
    report_html_begin_reloading("watching a run", page->options->reload_s, page->out);
    TAPML_TRY(print_top(page));
    print_targets(page);
    TAPML_TRY(print_looks(page));
    report_html_end(page->out);
    return text_status(page->out);
}

tapml_status watch_page_print(const struct watch_page_options *options, struct text *out)
{
    struct page page = {.options = options, .arena = arena_create(), .out = out};
    const tapml_status status = page.arena != NULL ? print_page(&page) : status_no_memory();

    arena_destroy(page.arena);
    return status;
}
