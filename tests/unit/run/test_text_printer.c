// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "harness/scratch.h"
#include "run/text_printer.h"

// A tokenizer of three bytes, which together are U+20AC, and of a letter.
static struct tokenizer *open_euro(struct scratch *scratch)
{
    struct tokenizer *tokenizer = NULL;

    scratch_make(scratch);
    scratch_text(scratch, "tokenizer.json",
                 "{\"model\": {\"type\": \"BPE\", \"vocab\": {\"\xc3\xa2\": 0, \"\xc4\xa4\": 1, "
                 "\"\xc2\xac\": 2, \"a\": 3, \"</s>\": 4}, \"merges\": []}, \"decoder\": "
                 "{\"type\": \"ByteLevel\"}, \"added_tokens\": "
                 "[{\"id\": 4, \"content\": \"</s>\", \"special\": true}]}");
    cr_assert_eq(tokenizer_open(scratch->folder, &tokenizer), TAPML_OK, "%s", status_message());
    return tokenizer;
}

static void adds(struct text_printer *printer, int32_t id, const char *printed, const char *all)
{
    cr_assert_eq(text_printer_add(printer, &id, 1), TAPML_OK, "%s", status_message());
    cr_assert_str_eq(printed, all);
}

Test(text_printer, a_character_is_printed_when_it_is_complete)
{
    struct scratch scratch;
    struct tokenizer *tokenizer = open_euro(&scratch);
    struct text_printer *printer = NULL;
    char printed[64] = "";
    FILE *file = fmemopen(printed, sizeof(printed), "w");

    cr_assert_eq(text_printer_create(tokenizer, file, &printer), TAPML_OK);
    adds(printer, 3, printed, "a");
    adds(printer, 0, printed, "a");
    adds(printer, 1, printed, "a");
    adds(printer, 2, printed, "a\xe2\x82\xac");
    adds(printer, 4, printed, "a\xe2\x82\xac");
    adds(printer, 0, printed, "a\xe2\x82\xac");
    cr_assert_eq(text_printer_end(printer), TAPML_OK);
    cr_assert_str_eq(printed, "a\xe2\x82\xac\xef\xbf\xbd\n");
    cr_assert_eq(text_printer_add(printer, &(int32_t){-1}, 1), TAPML_INVALID);
    text_printer_destroy(printer);
    text_printer_destroy(NULL);
    (void)fclose(file);
    tokenizer_close(tokenizer);
    scratch_remove(&scratch);
}

Test(text_printer, ids_are_printed_without_a_tokenizer)
{
    const int32_t ids[] = {5, 17};
    struct text_printer *printer = NULL;
    char printed[64] = "";
    FILE *file = fmemopen(printed, sizeof(printed), "w");

    cr_assert_eq(text_printer_create(NULL, file, &printer), TAPML_OK);
    cr_assert_eq(text_printer_end(printer), TAPML_OK);
    cr_assert_str_eq(printed, "");
    cr_assert_eq(text_printer_add(printer, ids, 2), TAPML_OK);
    adds(printer, 3, printed, "5 17 3");
    cr_assert_eq(text_printer_end(printer), TAPML_OK);
    cr_assert_str_eq(printed, "5 17 3\n");
    text_printer_destroy(printer);
    (void)fclose(file);
}

Test(text_printer, a_full_disk_is_reported)
{
    struct text_printer *printer = NULL;
    FILE *file = fopen("/dev/full", "w");

    cr_assert_not_null(file);
    cr_assert_eq(text_printer_create(NULL, file, &printer), TAPML_OK);
    cr_assert_eq(text_printer_add(printer, &(int32_t){1}, 1), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), "cannot print"));
    text_printer_destroy(printer);
    (void)fclose(file);
}
