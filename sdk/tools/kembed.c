// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// kembed - the build tool behind the kernels of sdk/gpu: reads what their META expansion says
// (k_meta.h) and writes C. `usage` says what it takes.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the dialect promises is 9, 128 bytes and 8; the rest is room.
enum { TUNE_MAX = 9, FIELD_MAX = 32, BINDING_MAX = 8, NAME_MAX_BYTES = 64, ROW_BYTES = 64 };

typedef char name_text[NAME_MAX_BYTES];

struct tune {
    name_text name;
    unsigned long id, value;
};

struct field {
    name_text type, name;
};

struct binding {
    name_text access, type, name;
    unsigned long index;
};

struct meta {
    name_text kernel;
    struct tune tune[TUNE_MAX];
    struct field field[FIELD_MAX];
    struct binding binding[BINDING_MAX];
    size_t tune_count, field_count, binding_count;
};

static void die(const char *what, const char *which)
{
    fprintf(stderr, "kembed: %s: %s\n", which, what);
    exit(1);
}

// The bytes of a file, with a zero behind them.
static char *read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rbe");
    char *data = NULL;
    size_t size = 0, room = 0;

    if (file == NULL) {
        die("cannot be opened", path);
    }
    do {
        room += 65536;
        data = realloc(data, room + 1);
        if (data == NULL) {
            die("out of memory", path);
        }
        size += fread(data + size, 1, room - size, file);
    } while (size == room);
    if (ferror(file) != 0) {
        die("cannot be read", path);
    }
    (void)fclose(file); // Only read from.
    data[size] = '\0';
    *out_size = size;
    return data;
}

// The next word of a text, which is cut up; NULL at its end.
static char *next_word(char **text)
{
    char *word = *text;

    while (isspace((unsigned char)*word)) {
        word++;
    }
    if (*word == '\0') {
        return NULL;
    }
    char *end = word;

    while (*end != '\0' && !isspace((unsigned char)*end)) {
        end++;
    }
    *text = *end != '\0' ? end + 1 : end;
    *end = '\0';
    return word;
}

static void take_name(name_text out_name, char **text, const char *path)
{
    const char *word = next_word(text);

    if (word == NULL || strlen(word) >= NAME_MAX_BYTES) {
        die("a name is missing or too long", path);
    }
    snprintf(out_name, NAME_MAX_BYTES, "%s", word);
}

static unsigned long take_number(char **text, const char *path)
{
    name_text word;
    char *end = NULL;

    take_name(word, text, path);
    const unsigned long value = strtoul(word, &end, 0);

    if (*end != '\0' && *end != 'u') {
        die("a number is not one", path);
    }
    return value;
}

static size_t take_place(size_t *count, size_t most, const char *path)
{
    if (*count == most) {
        die("more constants, parameters or buffers than the dialect has", path);
    }
    return (*count)++;
}

static void take_tune(struct meta *meta, char **text, const char *path)
{
    struct tune *tune = &meta->tune[take_place(&meta->tune_count, TUNE_MAX, path)];

    take_name(tune->name, text, path);
    tune->id = take_number(text, path);
    tune->value = take_number(text, path);
}

static void take_field(struct meta *meta, char **text, const char *path)
{
    struct field *field = &meta->field[take_place(&meta->field_count, FIELD_MAX, path)];

    take_name(field->type, text, path);
    take_name(field->name, text, path);
}

static void take_binding(struct meta *meta, const char *access, char **text, const char *path)
{
    struct binding *binding = &meta->binding[take_place(&meta->binding_count, BINDING_MAX, path)];

    snprintf(binding->access, NAME_MAX_BYTES, "%s", access);
    binding->index = take_number(text, path);
    take_name(binding->type, text, path);
    take_name(binding->name, text, path);
    if (binding->index + 1 != meta->binding_count) {
        die("buffers are numbered 0, 1, 2 in their order", path);
    }
}

static void read_meta(struct meta *out_meta, const char *path)
{
    struct meta meta = {.tune_count = 0};
    size_t size = 0;
    char *data = read_file(path, &size), *text = data;

    for (char *word = next_word(&text); word != NULL; word = next_word(&text)) {
        if (strcmp(word, "@body") == 0) {
            break; // What follows is the kernel's own.
        }
        if (strcmp(word, "@kernel") == 0) {
            take_name(meta.kernel, &text, path);
        } else if (strcmp(word, "@tune") == 0) {
            take_tune(&meta, &text, path);
        } else if (strcmp(word, "@field") == 0) {
            take_field(&meta, &text, path);
        } else if (strcmp(word, "@in") == 0 || strcmp(word, "@out") == 0 ||
                   strcmp(word, "@inout") == 0) {
            take_binding(&meta, word + 1, &text, path);
        }
    }
    free(data);
    if (meta.kernel[0] == '\0') {
        die("no KERNEL", path);
    }
    if (meta.tune_count < 3 || strcmp(meta.tune[0].name, "WG_X") != 0) {
        die("WORKGROUP does not stand before TUNE", path);
    }
    *out_meta = meta;
}

static const char *c_type(const char *type, const char *kernel)
{
    if (strcmp(type, "u32") == 0) {
        return "uint32_t";
    }
    if (strcmp(type, "i32") == 0) {
        return "int32_t";
    }
    if (strcmp(type, "f32") != 0) {
        die("a parameter is neither u32 nor i32 nor f32", kernel);
    }
    return "float";
}

// As constants are spelt.
static void write_upper(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        const int is_small = *text >= 'a' && *text <= 'z';

        fputc(is_small ? *text - 'a' + 'A' : *text, out);
    }
}

static void write_constant(FILE *out, const char *kernel, const char *middle, const char *name)
{
    fprintf(out, "    K_");
    write_upper(out, kernel);
    fprintf(out, "_%s", middle);
    write_upper(out, name);
    fprintf(out, ",\n");
}

static void write_params(FILE *out, const struct meta *meta)
{
    fprintf(out, "\nstruct k_%s_params {\n", meta->kernel);
    for (size_t i = 0; i < meta->field_count; i++) {
        fprintf(out, "    %s %s;\n", c_type(meta->field[i].type, meta->kernel),
                meta->field[i].name);
    }
    fprintf(out, "};\n_Static_assert(sizeof(struct k_%s_params) <= 128, \"parameters of %s\");\n",
            meta->kernel, meta->kernel);
    fprintf(out, "enum k_%s_tune {\n", meta->kernel);
    for (size_t i = 0; i < meta->tune_count; i++) {
        write_constant(out, meta->kernel, "TUNE_", meta->tune[i].name);
    }
    fprintf(out, "};\nenum k_%s_binding {\n", meta->kernel);
    for (size_t i = 0; i < meta->binding_count; i++) {
        write_constant(out, meta->kernel, "", meta->binding[i].name);
    }
    fprintf(out, "};\n");
}

// What begins a file of literals; ISO C promises 4095 bytes of each, and compilers take any number.
static void write_head(FILE *out, const char *include)
{
    fprintf(out,
            "// Generated by kembed. Do not edit.\n#include %s\n\n"
            "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n",
            include);
}

static void make_params(FILE *out, int count, char **paths)
{
    fprintf(out, "// Generated by kembed. Do not edit.\n#pragma once\n\n#include <stdint.h>\n");
    for (int i = 0; i < count; i++) {
        struct meta meta;

        read_meta(&meta, paths[i]);
        write_params(out, &meta);
    }
}

// A byte of a literal in front of `next`, whose digits would else belong to a short escape.
static void write_byte(FILE *out, unsigned char byte, unsigned char next)
{
    if (byte == '"' || byte == '\\' || byte == '?') {
        fprintf(out, "\\%c", byte);
    } else if (byte >= ' ' && byte <= '~') {
        fputc(byte, out);
    } else {
        fprintf(out, "\\%0*o", next >= '0' && next <= '7' ? 3 : 1, byte);
    }
}

// The bytes and a zero, behind the begin of a declaration. As a literal: a compiler takes six times
// as long to read a list of numbers, and there are megabytes.
static void write_bytes(FILE *out, const char *bytes, size_t size)
{
    fprintf(out, "[%zu] =", size + 1);
    for (size_t i = 0; i < size || i == 0; i++) {
        fputs(i % ROW_BYTES == 0 ? "\n\"" : "", out);
        if (i < size) {
            write_byte(out, (unsigned char)bytes[i], (unsigned char)bytes[i + 1]);
        }
        fputs(i + 1 >= size || i % ROW_BYTES == ROW_BYTES - 1 ? "\"" : "", out);
    }
    fprintf(out, ";\n");
}

static void write_code(FILE *out, int number, const char *path)
{
    size_t size = 0;
    char *code = read_file(path, &size);

    fprintf(out, "static const _Alignas(8) unsigned char code%d", number);
    write_bytes(out, code, size);
    free(code);
}

static void write_lists(FILE *out, int number, const struct meta *meta)
{
    fprintf(out, "static const struct k_tune tune%d[] = {", number);
    for (size_t i = 0; i < meta->tune_count; i++) {
        fprintf(out, "{\"%s\", %lu, %lu},", meta->tune[i].name, meta->tune[i].id,
                meta->tune[i].value);
    }
    fprintf(out, "};\nstatic const struct k_binding bind%d[] = {", number);
    for (size_t i = 0; i < meta->binding_count; i++) {
        const struct binding *binding = &meta->binding[i];

        fprintf(out, "{\"%s\", \"%s\", %lu, K_ACCESS_", binding->name, binding->type,
                binding->index);
        write_upper(out, binding->access);
        fprintf(out, "},");
    }
    fprintf(out, "};\n");
}

static void make_table(FILE *out, const char *name, int count, char *(*triples)[3])
{
    struct meta meta;

    write_head(out, "<tapml/gpu/kernel.h>");
    for (int i = 0; i < count; i++) {
        read_meta(&meta, triples[i][0]);
        write_lists(out, i, &meta);
        write_code(out, i, triples[i][2]);
    }
    fprintf(out, "extern const struct k_kernel %s[];\nconst struct k_kernel %s[] = {\n", name,
            name);
    for (int i = 0; i < count; i++) {
        read_meta(&meta, triples[i][0]);
        fprintf(
            out,
            "    {\"%s\", %su, %zu, tune%d, %zu, bind%d, %zu, code%d, sizeof(code%d) - 1, NULL},\n",
            meta.kernel, triples[i][1], meta.tune_count, i, meta.binding_count, i,
            4 * meta.field_count, i, i);
    }
    fprintf(out, "    {.name = NULL},\n};\n");
}

static void make_bytes(FILE *out, const char *name, const char *path)
{
    size_t size = 0;
    char *bytes = read_file(path, &size);

    write_head(out, "<stddef.h>");
    fprintf(out, "extern const unsigned char %s[];\nextern const size_t %s_size;\n", name, name);
    fprintf(out, "const size_t %s_size = %zu;\nconst unsigned char %s", name, size, name);
    write_bytes(out, bytes, size);
    free(bytes);
}

static const char usage[] = "usage: kembed params OUT.h KERNEL.meta...\n"
                            "       kembed table OUT.c NAME {KERNEL.meta VARIANT CODE}...\n"
                            "       kembed bytes OUT.c NAME FILE\n"
                            "\n"
                            "Writes C for the kernels of sdk/gpu.\n"
                            "\n"
                            "  params      one struct of parameters per kernel, with enums of its "
                            "constants and its bindings\n"
                            "  table       a table of kernels with their code inside\n"
                            "  bytes       a file as NAME and NAME_size, a zero behind it\n"
                            "  -h, --help  prints this\n";

int main(int argc, char **argv)
{
    const int is_help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    const int is_bytes = argc == 5 && strcmp(argv[1], "bytes") == 0;
    const int is_params = argc > 3 && strcmp(argv[1], "params") == 0;
    const int is_table = argc > 4 && strcmp(argv[1], "table") == 0 && (argc - 4) % 3 == 0;

    if (!is_params && !is_table && !is_bytes) {
        fputs(usage, is_help ? stdout : stderr);
        return is_help ? 0 : 2;
    }
    FILE *out = fopen(argv[2], "wbe");

    if (out == NULL) {
        die("cannot be written", argv[2]);
    }
    if (is_params) {
        make_params(out, argc - 3, argv + 3);
    } else if (is_bytes) {
        make_bytes(out, argv[3], argv[4]);
    } else {
        make_table(out, argv[3], (argc - 4) / 3, (char *(*)[3])(argv + 4));
    }
    const int is_bad = ferror(out);

    if (fclose(out) != 0 || is_bad != 0) {
        die("cannot be written", argv[2]);
    }
    return 0;
}
