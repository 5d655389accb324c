// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/text_printer.h"

#include "base/alloc.h"

#include <errno.h>
#include <string.h>

struct text_printer {
    struct tokenizer_stream *stream; // NULL: ids are printed.
    FILE *file;
    struct text text; // Of one addition.
    int has_begun;
};

tapml_status text_printer_create(const struct tokenizer *tokenizer,
                                 FILE *file,
                                 struct text_printer **out_printer)
{
    struct text_printer *printer = alloc_new(sizeof(*printer));

    if (printer == NULL) {
        return status_no_memory();
    }
    printer->file = file;
    text_init(&printer->text);
    const tapml_status status =
        tokenizer != NULL ? tokenizer_stream_create(tokenizer, 1, &printer->stream) : TAPML_OK;

    if (status != TAPML_OK) {
        text_printer_destroy(printer);
        return status;
    }
    *out_printer = printer;
    return TAPML_OK;
}

void text_printer_destroy(struct text_printer *printer)
{
    if (printer != NULL) {
        tokenizer_stream_destroy(printer->stream);
        text_release(&printer->text);
        alloc_free(printer);
    }
}

// Writes what was appended to the text and makes it empty.
static tapml_status flush(struct text_printer *printer)
{
    struct text *text = &printer->text;

    TAPML_TRY(text_status(text));
    const int is_written = fwrite(text->data, 1, text->length, printer->file) == text->length &&
                           fflush(printer->file) == 0;

    text_clear(text);
    return is_written ? TAPML_OK
                      : status_fail(TAPML_UNAVAILABLE, "cannot print: %s", strerror(errno));
}

static tapml_status append(struct text_printer *printer, int32_t id)
{
    if (printer->stream != NULL) {
        return tokenizer_stream_push(printer->stream, id, &printer->text);
    }
    text_format(&printer->text, "%s%d", printer->has_begun ? " " : "", id);
    return TAPML_OK; // As flush will say.
}

tapml_status text_printer_add(struct text_printer *printer, const int32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(append(printer, ids[i]));
        printer->has_begun = 1;
    }
    return flush(printer);
}

tapml_status text_printer_end(struct text_printer *printer)
{
    if (!printer->has_begun) {
        return TAPML_OK;
    }
    if (printer->stream != NULL) {
        TAPML_TRY(tokenizer_stream_finish(printer->stream, &printer->text));
    }
    text_append(&printer->text, "\n");
    return flush(printer);
}
