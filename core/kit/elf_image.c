// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/elf_image.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

enum { VERSION_GLOBAL = 1, VERSION_MASK = 0x7fff };

struct elf_reader {
    const char *path;
    Elf *elf;
    struct elf_image *image;
};

static tapml_status damaged(const struct elf_reader *reader, const char *what)
{
    const char *reason = elf_errmsg(-1);

    return status_fail(TAPML_INVALID, "%s: %s%s%s", reader->path, what, reason != NULL ? ": " : "",
                       reason != NULL ? reason : "");
}

static tapml_status keep(const struct elf_reader *reader, const char *text, const char **out_text)
{
    if (text == NULL) {
        return damaged(reader, "a name of its dynamic section lies outside the file");
    }
    *out_text = arena_format(reader->image->arena, "%s", text);
    return *out_text != NULL ? TAPML_OK : status_no_memory();
}

// -- Segments ----------------------------------------------------------------------------------

static tapml_status read_segments(struct elf_reader *reader)
{
    size_t count = 0;
    int says_stack = 0;

    if (elf_getphdrnum(reader->elf, &count) != 0) {
        return damaged(reader, "it has no program headers");
    }
    for (size_t i = 0; i < count && i < INT16_MAX; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(reader->elf, (int)i, &header) == NULL) {
            return damaged(reader, "a program header cannot be read");
        }
        if (header.p_type == PT_GNU_STACK) {
            says_stack = 1;
            reader->image->has_executable_stack = (header.p_flags & PF_X) != 0;
        }
        reader->image->has_relro |= header.p_type == PT_GNU_RELRO;
    }
    if (!says_stack) {
        reader->image->has_executable_stack = 1;
    }
    return TAPML_OK;
}

// -- The dynamic section -----------------------------------------------------------------------

// The first section of a type, or NULL.
static Elf_Scn *find_section(const struct elf_reader *reader, GElf_Word type, GElf_Shdr *out_header)
{
    Elf_Scn *section = NULL;

    while ((section = elf_nextscn(reader->elf, section)) != NULL) {
        if (gelf_getshdr(section, out_header) != NULL && out_header->sh_type == type) {
            return section;
        }
    }
    return NULL;
}

static size_t entries_of(const GElf_Shdr *header, const Elf_Data *data)
{
    return header->sh_entsize > 0 ? data->d_size / header->sh_entsize : 0;
}

static tapml_status
take_entry(struct elf_reader *reader, const GElf_Shdr *header, const GElf_Dyn *entry)
{
    struct elf_image *image = reader->image;

    if (entry->d_tag == DT_NEEDED) {
        return keep(reader, elf_strptr(reader->elf, header->sh_link, entry->d_un.d_val),
                    &image->needed[image->needed_count++]);
    }
    if (entry->d_tag == DT_TEXTREL) {
        image->has_text_relocations = 1;
    } else if (entry->d_tag == DT_BIND_NOW) {
        image->is_bound_now = 1;
    } else if (entry->d_tag == DT_FLAGS) {
        image->has_text_relocations |= (entry->d_un.d_val & DF_TEXTREL) != 0;
        image->has_static_tls |= (entry->d_un.d_val & DF_STATIC_TLS) != 0;
        image->is_bound_now |= (entry->d_un.d_val & DF_BIND_NOW) != 0;
    } else if (entry->d_tag == DT_FLAGS_1) {
        image->is_bound_now |= (entry->d_un.d_val & DF_1_NOW) != 0;
    }
    return TAPML_OK;
}

static tapml_status read_dynamic(struct elf_reader *reader)
{
    GElf_Shdr header;
    Elf_Scn *section = find_section(reader, SHT_DYNAMIC, &header);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;

    if (data == NULL) {
        return status_fail(TAPML_INVALID, "%s: it has no dynamic section: no shared library",
                           reader->path);
    }
    const size_t count = entries_of(&header, data);

    reader->image->needed = arena_array(reader->image->arena, count + 1, sizeof(char *));
    if (reader->image->needed == NULL) {
        return status_no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        GElf_Dyn entry;

        if (gelf_getdyn(data, (int)i, &entry) == NULL || entry.d_tag == DT_NULL) {
            break;
        }
        TAPML_TRY(take_entry(reader, &header, &entry));
    }
    return TAPML_OK;
}

// -- Symbols -----------------------------------------------------------------------------------

static int has_version(Elf_Data *versions, size_t index)
{
    GElf_Versym version;

    return versions != NULL && gelf_getversym(versions, (int)index, &version) != NULL &&
           (version & VERSION_MASK) > VERSION_GLOBAL;
}

static tapml_status take_symbol(struct elf_reader *reader,
                                const GElf_Shdr *header,
                                const GElf_Sym *symbol,
                                struct elf_symbol *out_symbol)
{
    const unsigned binding = GELF_ST_BIND(symbol->st_info);
    const unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);

    *out_symbol = (struct elf_symbol){
        .is_defined = symbol->st_shndx != SHN_UNDEF,
        .is_weak = binding == STB_WEAK,
        .is_unique = binding == STB_GNU_UNIQUE,
        .is_local = binding == STB_LOCAL || visibility == STV_HIDDEN || visibility == STV_INTERNAL};
    return keep(reader, elf_strptr(reader->elf, header->sh_link, symbol->st_name),
                &out_symbol->name);
}

static tapml_status read_symbols(struct elf_reader *reader)
{
    struct elf_image *image = reader->image;
    GElf_Shdr header, of_versions;
    Elf_Scn *section = find_section(reader, SHT_DYNSYM, &header);
    Elf_Data *data = section != NULL ? elf_getdata(section, NULL) : NULL;
    Elf_Scn *versym = find_section(reader, SHT_GNU_versym, &of_versions);
    Elf_Data *versions = versym != NULL ? elf_getdata(versym, NULL) : NULL;

    if (data == NULL) {
        return status_fail(TAPML_INVALID, "%s: it has no table of dynamic symbols", reader->path);
    }
    const size_t count = entries_of(&header, data);

    image->has_versions = versions != NULL;
    image->symbols = arena_array(image->arena, count + 1, sizeof(*image->symbols));
    if (image->symbols == NULL) {
        return status_no_memory();
    }
    for (size_t i = 1; i < count; i++) { // The first is none.
        struct elf_symbol *kept = &image->symbols[image->symbol_count];
        GElf_Sym symbol;

        if (gelf_getsym(data, (int)i, &symbol) == NULL) {
            return damaged(reader, "a dynamic symbol cannot be read");
        }
        TAPML_TRY(take_symbol(reader, &header, &symbol, kept));
        kept->is_version = has_version(versions, i);
        image->symbol_count++;
    }
    return TAPML_OK;
}

// -- The file ----------------------------------------------------------------------------------

static tapml_status read_all(struct elf_reader *reader)
{
    if (elf_kind(reader->elf) != ELF_K_ELF) {
        return status_fail(TAPML_INVALID, "%s: no ELF file", reader->path);
    }
    TAPML_TRY(read_segments(reader));
    TAPML_TRY(read_dynamic(reader));
    return read_symbols(reader);
}

tapml_status elf_image_read(const char *path, struct elf_image *out_image)
{
    struct elf_image image = {.has_executable_stack = 0};
    struct elf_reader reader = {.path = path, .image = &image};
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (descriptor < 0) {
        return status_fail(TAPML_NOT_FOUND, "%s: %s", path, strerror(errno));
    }
    (void)elf_version(EV_CURRENT);
    reader.elf = elf_begin(descriptor, ELF_C_READ, NULL);
    image.arena = arena_create();

    tapml_status status = image.arena == NULL  ? status_no_memory()
                          : reader.elf == NULL ? damaged(&reader, "it cannot be read")
                                               : read_all(&reader);

    (void)elf_end(reader.elf);
    (void)close(descriptor);
    if (status != TAPML_OK) {
        elf_image_release(&image);
        return status;
    }
    *out_image = image;
    return TAPML_OK;
}

void elf_image_release(struct elf_image *image)
{
    arena_destroy(image->arena);
    image->arena = NULL;
}
