// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "run/case_program.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/text.h"
#include "store/case.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "verify/compare.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ELEMENTS_A_LINE = 8, NAME_BYTES = 128 };

// What an element is in C, and an unsigned type with the same bits.
struct case_program_type {
    uint32_t dtype;
    const char *type, *bits;
};

static const struct case_program_type ELEMENTS[] = {
    {TAPML_F32, "float", "uint32_t"},    {TAPML_F64, "double", "uint64_t"},
    {TAPML_F16, "uint16_t", "uint16_t"}, {TAPML_BF16, "uint16_t", "uint16_t"},
    {TAPML_I32, "int32_t", "uint32_t"},  {TAPML_I64, "int64_t", "uint64_t"},
    {TAPML_U8, "uint8_t", "uint8_t"},
};

static const char HEAD[] = "#include <math.h>\n"
                           "#include <stddef.h>\n"
                           "#include <stdint.h>\n"
                           "#include <stdio.h>\n"
                           "#include <string.h>\n"
                           "\n";

static const char TAIL[] =
    "static inline double at_f32(const void *data, size_t i) { return ((const float *)data)[i]; }\n"
    "static inline double at_f64(const void *data, size_t i) { return ((const double *)data)[i]; "
    "}\n"
    "static inline double at_i32(const void *data, size_t i) { return ((const int32_t *)data)[i]; "
    "}\n"
    "static inline double at_i64(const void *data, size_t i) { return (double)((const int64_t "
    "*)data)[i]; }\n"
    "static inline double at_u8(const void *data, size_t i) { return ((const uint8_t *)data)[i]; "
    "}\n"
    "\n"
    "static inline double at_bf16(const void *data, size_t i)\n"
    "{\n"
    "    const uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;\n"
    "    float value;\n"
    "\n"
    "    memcpy(&value, &bits, sizeof(value));\n"
    "    return value;\n"
    "}\n"
    "\n"
    "static inline double at_f16(const void *data, size_t i)\n"
    "{\n"
    "    const unsigned bits = ((const uint16_t *)data)[i];\n"
    "    const int exponent = (int)(bits >> 10 & 31);\n"
    "    const double fraction = (bits & 1023) / 1024.0;\n"
    "    const double value = exponent == 31 ? (fraction != 0 ? (double)NAN : (double)INFINITY)\n"
    "                         : exponent == 0 ? ldexp(fraction, -14)\n"
    "                                         : ldexp(1 + fraction, exponent - 15);\n"
    "\n"
    "    return bits & 0x8000 ? -value : value;\n"
    "}\n"
    "\n"
    "/* Prints the error of an output over its limit; 1 if it is right. */\n"
    "static int compare(const char *name, double (*at)(const void *, size_t), const void "
    "*computed,\n"
    "                   const void *expected, size_t count, double limit, int is_exact)\n"
    "{\n"
    "    double error = 0, size = 0, worst = -1;\n"
    "    size_t worst_at = 0, different = 0;\n"
    "\n"
    "    for (size_t i = 0; i < count; i++) {\n"
    "        const double right = at(expected, i), found = at(computed, i);\n"
    "        const int is_same = right == found || (isnan(right) && isnan(found));\n"
    "        const double distance = is_same ? 0 : isfinite(right) && isfinite(found) ? fabs(right "
    "- found) : INFINITY;\n"
    "\n"
    "        error += distance * distance;\n"
    "        size += isfinite(right) ? right * right : 0;\n"
    "        different += !is_same;\n"
    "        worst_at = distance > worst ? i : worst_at;\n"
    "        worst = distance > worst ? distance : worst;\n"
    "    }\n"
    "    const double nmse = size > 0 ? error / size : error > 0 ? INFINITY : 0;\n"
    "    const int is_right = is_exact ? different == 0 : nmse <= limit;\n"
    "\n"
    "    printf(\"%s: %s: NMSE %.3g, %s %.3g\", name, is_right ? \"right\" : \"wrong\", nmse,\n"
    "           is_exact ? \"which has to be\" : \"limit\", is_exact ? 0 : limit);\n"
    "    if (different > 0) {\n"
    "        printf(\"; [%zu] is %.9g, expected %.9g\", worst_at, at(computed, worst_at),\n"
    "               at(expected, worst_at));\n"
    "    }\n"
    "    printf(\"\\n\");\n"
    "    return is_right;\n"
    "}\n"
    "\n";

// A program that is being made.
struct case_program {
    const struct case_export *from;
    struct text prototype, data, arguments, checks;
    uint64_t elements;
    uint32_t outputs;
};

// What is in blocks, and a list, are bytes.
static int element_is_bytes(const struct case_argument *argument)
{
    return argument->encoding != NULL || argument->kind == TAPML_P_TENSORS_IN;
}

static uint64_t shape_bytes(const struct case_argument *argument)
{
    int64_t count = 0;

    return shape_count(argument->shape, argument->rank, &count) == TAPML_OK
               ? (uint64_t)count * dtype_bytes(argument->dtype)
               : 0;
}

static const struct case_program_type *element_of(const struct case_argument *argument)
{
    const uint32_t dtype = element_is_bytes(argument) ? TAPML_U8 : argument->dtype;
    size_t i = 0;

    while (ELEMENTS[i].dtype != dtype) {
        i++;
        ASSERT(i <
               sizeof(ELEMENTS) / sizeof(*ELEMENTS)); // A case has no other (case_check_layout).
    }
    return &ELEMENTS[i];
}

// The name of what the file has of a parameter, which is nobody else's; and that of the kernel's
// own parameter, which is the same where the name of the op's is no identifier.
static void name_of(const struct case_argument *argument, char out_name[NAME_BYTES])
{
    (void)snprintf(out_name, NAME_BYTES, "tensor_%.100s", argument->name);
}

static void own_name_of(const struct case_argument *argument, char out_name[NAME_BYTES])
{
    static const char *const words[] = {
        "auto",   "break", "case",   "char",     "const",    "default",  "do",     "double",
        "else",   "enum",  "extern", "float",    "for",      "goto",     "if",     "inline",
        "int",    "long",  "return", "short",    "register", "signed",   "sizeof", "static",
        "struct", "union", "switch", "restrict", "typedef",  "unsigned", "void",   "while"};
    int is_taken = isdigit((unsigned char)argument->name[0]) != 0;

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        is_taken |= strcmp(argument->name, words[i]) == 0;
    }
    if (is_taken) {
        name_of(argument, out_name);
    } else {
        (void)snprintf(out_name, NAME_BYTES, "%.100s", argument->name);
    }
}

// -- Tensors -----------------------------------------------------------------------------------

static uint64_t bits_at(const void *data, size_t index, size_t element_bytes)
{
    uint64_t bits = 0;

    memcpy(&bits, (const char *)data + index * element_bytes, element_bytes); // Little-endian.
    return bits;
}

// A union of bits and values: exact, and what the kernel reads is of its type.
static void print_values(struct text *out,
                         const char *name,
                         const char *suffix,
                         const struct case_program_type *element,
                         const void *data,
                         uint64_t count)
{
    const size_t bytes = dtype_bytes(element->dtype);

    text_format(
        out, "static union {\n    %s bits[%" PRIu64 "];\n    %s values[%" PRIu64 "];\n} %s%s",
        element->bits, count > 0 ? count : 1, element->type, count > 0 ? count : 1, name, suffix);
    text_append(out, data != NULL ? " = {{" : "; /* Filled before the call. */\n\n");
    if (data == NULL) {
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        text_append(out, i % ELEMENTS_A_LINE == 0 ? "\n    " : " ");
        text_format(out, "0x%0*" PRIx64 ",", (int)(2 * bytes), bits_at(data, (size_t)i, bytes));
    }
    text_append(out, count > 0 ? "\n}};\n\n" : "0}};\n\n");
}

// The extents of what the kernel gets. A weight that is all of its base value has its own.
static uint32_t shape_of(const struct case_argument *whole, uint64_t count, int64_t *out_shape)
{
    const int is_bytes = element_is_bytes(whole);
    struct case_argument view = case_content_view(whole);

    if ((whole->effects & TAPML_E_WEIGHT) != 0 && whole->offset_bytes == 0 &&
        shape_is_dense(whole->shape, whole->stride, whole->rank) &&
        shape_bytes(whole) == whole->content_bytes) {
        view = *whole;
    }
    if (is_bytes) {
        view.rank = 1;
        view.shape[0] = (int64_t)count;
    }
    memcpy(out_shape, view.shape, sizeof(view.shape));
    return view.rank;
}

static void print_shape(struct case_program *program,
                        const char *name,
                        const char *own,
                        const int64_t *shape,
                        uint32_t rank)
{
    text_format(&program->data, "static const int64_t %s_shape[%u] = {", name, rank > 0 ? rank : 1);
    for (uint32_t i = 0; i < rank; i++) {
        text_format(&program->data, "%s%" PRId64, i > 0 ? ", " : "", shape[i]);
    }
    text_append(&program->data, rank > 0 ? "};\n" : "0};\n");
    text_format(&program->prototype, ", const int64_t %s_shape[%u]", own, rank > 0 ? rank : 1);
    text_format(&program->arguments, ", %s_shape", name);
}

static void print_check(struct case_program *program,
                        const char *param,
                        const char *name,
                        const struct case_program_type *element,
                        uint64_t count)
{
    const struct compare_limit *limit = &program->from->limits[program->outputs++];

    text_format(&program->checks,
                "    is_right &= compare(\"%s\", at_%s, %s.values, %s_expected.values, %" PRIu64
                ", %.17g, %d);\n",
                param, dtype_name(element->dtype), name, name, count, case_export_limit(limit),
                limit->class_ == COMPARE_EXACT);
}

static tapml_status count_elements(struct case_program *program, uint64_t count)
{
    program->elements += count;
    return program->elements <= CASE_PROGRAM_ELEMENTS_MAX
               ? TAPML_OK
               : status_fail(TAPML_INVALID,
                             "the case has more than %d elements, which no C file should have; "
                             "--as npy writes arrays",
                             CASE_PROGRAM_ELEMENTS_MAX);
}

static tapml_status add_tensor(struct case_program *program, const struct case_argument *argument)
{
    const struct case_program_type *element = element_of(argument);
    const int is_written = argument->after != NULL;
    struct case_argument whole;
    char name[NAME_BYTES], own[NAME_BYTES];
    int64_t shape[TAPML_MAX_RANK];

    TAPML_TRY(case_export_weight(program->from, argument, &whole));
    const uint64_t count = whole.content_bytes / dtype_bytes(element->dtype);

    name_of(argument, name);
    own_name_of(argument, own);
    TAPML_TRY(count_elements(program, count * (is_written ? 2 : 1)));
    text_format(&program->prototype, "%s%s *%s", is_written ? "" : "const ", element->type, own);
    text_format(&program->arguments, "%s.values", name);
    print_shape(program, name, own, shape, shape_of(&whole, count, shape));
    print_values(&program->data, name, "", element, whole.before, count);
    if (is_written) {
        print_values(&program->data, name, "_expected", element, argument->after, count);
        print_check(program, argument->name, name, element, count);
    }
    return TAPML_OK;
}

static void print_real(struct text *out, double value)
{
    if (isfinite(value)) {
        text_format(out, "%.17g", value);
    } else {
        text_append(out, isnan(value) ? "NAN" : value > 0 ? "INFINITY" : "-INFINITY");
    }
}

static void add_number(struct case_program *program, const struct case_argument *argument)
{
    char own[NAME_BYTES];

    own_name_of(argument, own);
    if (argument->kind == TAPML_P_I64) {
        text_format(&program->prototype, "int64_t %s", own);
        text_format(&program->arguments, "INT64_C(%" PRId64 ")", argument->i);
    } else if (argument->kind == TAPML_P_F64) {
        text_format(&program->prototype, "double %s", own);
        print_real(&program->arguments, argument->d);
    } else {
        text_format(&program->prototype, "const void *%s", own);
        text_append(&program->arguments, "NULL");
    }
}

static tapml_status add_argument(struct case_program *program, const struct case_argument *argument)
{
    TAPML_TRY(case_export_check_name(argument->name));
    text_append(&program->prototype, program->prototype.length > 0 ? ",\n            " : "");
    text_append(&program->arguments, program->arguments.length > 0 ? ", " : "");
    if (argument->before != NULL || argument->after != NULL || case_is_reference(argument)) {
        return add_tensor(program, argument);
    }
    add_number(program, argument);
    return TAPML_OK;
}

// -- The file ----------------------------------------------------------------------------------

// A name is a stranger's, and stands in a comment.
static void put_comment(struct text *out, const char *name)
{
    for (; *name != '\0'; name++) {
        const unsigned char byte = (unsigned char)*name;

        text_append_bytes(
            out, byte >= 0x20 && byte != 0x7f && strchr("*\\?", byte) == NULL ? name : ".", 1);
    }
}

static void print_head(const struct carved_case *item, struct text *out)
{
    text_append(out, "/* A case of a real run, as a test of a kernel: ");
    put_comment(out, item->op_name);
    text_append(out, " at ");
    put_comment(out, item->instance);
    text_format(out, ", step %" PRId64 ".\n", item->step);
    text_append(
        out,
        " *\n"
        " * Write the function `kernel` that is declared below in a file of its own, and run\n"
        " *\n"
        " *     cc test_case.c kernel.c -lm && ./a.out\n"
        " *\n"
        " * which ends with 0 for right and 1 for wrong. Tensors are dense, each followed by its\n"
        " * extents; f16 and bf16 are their bits; an absent one is NULL. What is only written has\n"
        " * bytes 0xaa before the call. */\n");
}

static tapml_status print_file(const struct case_program *program, struct text *out)
{
    print_head(program->from->item, out);
    text_append(out, HEAD);
    text_format(out, "void kernel(%s);\n\n", program->prototype.data);
    text_append(out, program->data.data);
    text_append(out, TAIL);
    text_append(out, "int main(void)\n{\n    int is_right = 1;\n\n");
    for (uint32_t i = 0; i < program->from->item->argument_count; i++) {
        const struct case_argument *argument = &program->from->item->arguments[i];
        char name[NAME_BYTES];

        name_of(argument, name);
        if (argument->after != NULL && argument->before == NULL) {
            text_format(out, "    memset(&%s, 0xaa, sizeof(%s));\n", name, name);
        }
    }
    text_format(out, "    kernel(%s);\n%s    return !is_right;\n}\n", program->arguments.data,
                program->checks.data);
    return text_status(out);
}

static tapml_status write_file(const struct case_program *program)
{
    struct text file;
    char *path = file_join(program->from->folder, "test_case.c");

    if (path == NULL) {
        return status_no_memory();
    }
    text_init(&file);
    tapml_status status = print_file(program, &file);

    if (status == TAPML_OK) {
        status = file_write(path, file.data, file.length);
    }
    text_release(&file);
    alloc_free(path);
    return status;
}

static tapml_status make(struct case_program *program)
{
    struct text *const texts[] = {&program->prototype, &program->data, &program->arguments,
                                  &program->checks};

    for (uint32_t i = 0; i < program->from->item->argument_count; i++) {
        TAPML_TRY(add_argument(program, &program->from->item->arguments[i]));
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        TAPML_TRY(text_status(texts[i]));
    }
    TAPML_TRY(file_make_folder(program->from->folder));
    return write_file(program);
}

tapml_status case_program_write(const struct case_export *export_)
{
    struct case_program program = {.from = export_};

    text_init(&program.prototype);
    text_init(&program.data);
    text_init(&program.arguments);
    text_init(&program.checks);
    const tapml_status status = make(&program);

    text_release(&program.prototype);
    text_release(&program.data);
    text_release(&program.arguments);
    text_release(&program.checks);
    return status;
}
