// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/note.h"

#include "base/alloc.h"

#include <tapml/plugin.h>

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PROGRAM_HEADERS_MAX = 256,
    NOTE_BYTES_MAX = 1 << 20, // Of one segment of notes.
    DYNAMIC_ENTRIES_MAX = 4096,
    STRINGS_BYTES_MAX = 64 << 20,
    SEARCH_PATH_BYTES_MAX = 4096,
    BUILD_ID_BYTES_MAX = (NOTE_BUILD_ID_TEXT - 1) / 2,
};

#if defined(__x86_64__)
enum { HOST_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { HOST_MACHINE = EM_AARCH64 };
#elif defined(__riscv)
enum { HOST_MACHINE = EM_RISCV };
#elif defined(__i386__)
enum { HOST_MACHINE = EM_386 };
#elif defined(__arm__)
enum { HOST_MACHINE = EM_ARM };
#elif defined(__s390x__)
enum { HOST_MACHINE = EM_S390 };
#elif defined(__powerpc64__)
enum { HOST_MACHINE = EM_PPC64 };
#else
#error "name this machine's EM_* number here and its word in machine_names"
#endif

enum {
    HOST_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32,
    HOST_DATA = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB,
};

// The words are those of sdk/tools/manifest.
static const struct {
    unsigned machine;
    const char *name;
} machine_names[] = {
    {EM_X86_64, "x86_64-linux-gnu"},     {EM_AARCH64, "aarch64-linux-gnu"},
    {EM_RISCV, "riscv64-linux-gnu"},     {EM_386, "i386-linux-gnu"},
    {EM_ARM, "arm-linux-gnu"},           {EM_S390, "s390x-linux-gnu"},
    {EM_PPC64, "powerpc64le-linux-gnu"},
};

struct note_file {
    int descriptor;
    uint64_t size;
    const char *path;
    ElfW(Phdr) headers[PROGRAM_HEADERS_MAX];
    unsigned header_count;
};

static const char *machine_name(unsigned machine)
{
    for (size_t i = 0; i < sizeof(machine_names) / sizeof(machine_names[0]); ++i) {
        if (machine_names[i].machine == machine) {
            return machine_names[i].name;
        }
    }
    return NULL;
}

static tapml_status damaged(const struct note_file *file, const char *what)
{
    return status_fail(TAPML_INVALID, "%s: damaged library: %s", file->path, what);
}

// Whether the file has these bytes; asked before memory is taken, so that a lie costs nothing.
static tapml_status
check_range(const struct note_file *file, uint64_t offset, size_t size, const char *what)
{
    if (offset <= file->size && size <= file->size - offset) {
        return TAPML_OK;
    }
    return status_fail(
        TAPML_INVALID, "%s: damaged library: %s at %llu ends behind the file's %llu bytes",
        file->path, what, (unsigned long long)offset, (unsigned long long)file->size);
}

static tapml_status
read_at(const struct note_file *file, uint64_t offset, void *target, size_t size, const char *what)
{
    TAPML_TRY(check_range(file, offset, size, what));
    for (size_t done = 0; done < size;) {
        const ssize_t count =
            pread(file->descriptor, (char *)target + done, size - done, (off_t)(offset + done));
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return status_fail(TAPML_INVALID, "%s: cannot read: %s", file->path,
                               count == 0 ? "it became shorter" : strerror(errno));
        }
        done += count > 0 ? (size_t)count : 0;
    }
    return TAPML_OK;
}

// A block of `size` bytes of the file with a zero byte behind it.
static tapml_status read_block(
    const struct note_file *file, uint64_t offset, size_t size, const char *what, char **out_block)
{
    TAPML_TRY(check_range(file, offset, size, what));
    char *block = alloc_new(size + 1);
    if (!block) {
        return status_no_memory();
    }
    const tapml_status status = read_at(file, offset, block, size, what);
    if (status != TAPML_OK) {
        alloc_free(block);
        return status;
    }
    *out_block = block;
    return TAPML_OK;
}

// -- The notes ---------------------------------------------------------------------------------

static tapml_status
take_text(const struct note_file *file, const char *body, size_t size, struct note *note)
{
    if (note->text) {
        return damaged(file, "two notes of owner 'tapml'");
    }
    if (size == 0 || body[size - 1] != '\0' || strlen(body) != size - 1) {
        return damaged(file,
                       "the text of the note of owner 'tapml' does not end with its zero byte");
    }
    note->text = alloc_text(body);
    return note->text ? TAPML_OK : status_no_memory();
}

static tapml_status
take_build_id(const struct note_file *file, const char *body, size_t size, struct note *note)
{
    if (size == 0 || size > BUILD_ID_BYTES_MAX) {
        return damaged(file, "a build-id of no byte or too many");
    }
    for (size_t i = 0; i < size; ++i) {
        snprintf(note->build_id + 2 * i, 3, "%02x", (unsigned)(unsigned char)body[i]);
    }
    return TAPML_OK;
}

static int is_note(const ElfW(Nhdr) * header, const char *owner, const char *name, unsigned type)
{
    const size_t size = strlen(name) + 1;
    return header->n_type == type && header->n_namesz == size && memcmp(owner, name, size) == 0;
}

static size_t round_up(size_t value, size_t align)
{
    return (value + align - 1) / align * align;
}

static tapml_status walk_notes(
    const struct note_file *file, const char *block, size_t size, size_t align, struct note *note)
{
    for (size_t at = 0; size - at >= sizeof(ElfW(Nhdr));) {
        ElfW(Nhdr) header;
        memcpy(&header, block + at, sizeof(header));
        const size_t owner = at + sizeof(header);
        if (header.n_namesz > size - owner || round_up(header.n_namesz, align) > size - owner) {
            return damaged(file, "a note's owner ends behind its segment");
        }
        const size_t body = owner + round_up(header.n_namesz, align);
        if (header.n_descsz > size - body) {
            return damaged(file, "a note's text ends behind its segment");
        }
        if (is_note(&header, block + owner, TAPML_NOTE_OWNER, TAPML_NOTE_TYPE)) {
            TAPML_TRY(take_text(file, block + body, header.n_descsz, note));
        } else if (is_note(&header, block + owner, "GNU", NT_GNU_BUILD_ID)) {
            TAPML_TRY(take_build_id(file, block + body, header.n_descsz, note));
        }
        const size_t next = round_up(header.n_descsz, align);
        at = next > size - body ? size : body + next;
    }
    return TAPML_OK;
}

static tapml_status read_notes(const struct note_file *file, struct note *note)
{
    for (unsigned i = 0; i < file->header_count; ++i) {
        const ElfW(Phdr) *header = &file->headers[i];
        if (header->p_type != PT_NOTE) {
            continue;
        }
        if (header->p_filesz > NOTE_BYTES_MAX) {
            return damaged(file, "a segment of notes larger than 1 MiB");
        }
        char *block = NULL;
        const size_t size = (size_t)header->p_filesz;
        TAPML_TRY(read_block(file, header->p_offset, size, "a segment of notes", &block));
        const tapml_status status =
            walk_notes(file, block, size, header->p_align == 8 ? 8 : 4, note);
        alloc_free(block);
        TAPML_TRY(status);
    }
    return TAPML_OK;
}

// -- The dynamic section -----------------------------------------------------------------------

struct dynamic {
    uint64_t strings; // Address, then size, of the table of strings.
    uint64_t strings_bytes;
    uint64_t paths[4]; // Offsets into it: each DT_RPATH and DT_RUNPATH.
    unsigned path_count;
};

// Where the byte that is loaded to `address` lies in the file.
static int offset_of(const struct note_file *file, uint64_t address, uint64_t *out_offset)
{
    for (unsigned i = 0; i < file->header_count; ++i) {
        const ElfW(Phdr) *header = &file->headers[i];
        if (header->p_type == PT_LOAD && address >= header->p_vaddr &&
            address - header->p_vaddr < header->p_filesz) {
            *out_offset = header->p_offset + (address - header->p_vaddr);
            return *out_offset >= header->p_offset;
        }
    }
    return 0;
}

static tapml_status
read_dynamic(const struct note_file *file, const ElfW(Phdr) * header, struct dynamic *dynamic)
{
    const uint64_t count = header->p_filesz / sizeof(ElfW(Dyn));
    if (count > DYNAMIC_ENTRIES_MAX) {
        return damaged(file, "too many dynamic entries");
    }
    for (uint64_t i = 0; i < count; ++i) {
        ElfW(Dyn) entry;
        TAPML_TRY(read_at(file, header->p_offset + i * sizeof(entry), &entry, sizeof(entry),
                          "a dynamic entry"));
        if (entry.d_tag == DT_NULL) {
            break;
        }
        if (entry.d_tag == DT_STRTAB) {
            dynamic->strings = entry.d_un.d_ptr;
        } else if (entry.d_tag == DT_STRSZ) {
            dynamic->strings_bytes = entry.d_un.d_val;
        } else if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
            if (dynamic->path_count == sizeof(dynamic->paths) / sizeof(dynamic->paths[0])) {
                return damaged(file, "too many search paths");
            }
            dynamic->paths[dynamic->path_count++] = entry.d_un.d_val;
        }
    }
    return TAPML_OK;
}

// Which sanitizer's start-up function the file wants or brings; sdk/tools/manifest asks the same.
static const char *find_sanitizer(const char *strings, size_t size)
{
    static const struct {
        const char *symbol;
        const char *name;
    } known[] = {{"__asan_init", "address"}, {"__msan_init", "memory"}, {"__tsan_init", "thread"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); ++i) {
        if (memmem(strings, size, known[i].symbol, strlen(known[i].symbol) + 1)) {
            return known[i].name;
        }
    }
    return "";
}

static tapml_status take_strings(const struct note_file *file,
                                 const struct dynamic *dynamic,
                                 const char *strings,
                                 struct note *note)
{
    note->sanitizer = find_sanitizer(strings, (size_t)dynamic->strings_bytes);
    if (dynamic->path_count == 0) {
        return TAPML_OK;
    }
    note->search_path = alloc_new(SEARCH_PATH_BYTES_MAX);
    if (!note->search_path) {
        return status_no_memory();
    }
    size_t length = 0;
    for (unsigned i = 0; i < dynamic->path_count; ++i) {
        if (dynamic->paths[i] >= dynamic->strings_bytes) {
            return damaged(file, "a search path outside of the table of strings");
        }
        const char *path = strings + dynamic->paths[i];
        const size_t more = strlen(path); // The block ends with a zero byte.
        if (more + 2 > SEARCH_PATH_BYTES_MAX - length) {
            return damaged(file, "a search path of more than 4096 bytes");
        }
        if (i > 0) {
            note->search_path[length++] = ':';
        }
        memcpy(note->search_path + length, path, more + 1);
        length += more;
    }
    return TAPML_OK;
}

static tapml_status read_strings(const struct note_file *file, struct note *note)
{
    struct dynamic dynamic = {0};
    uint64_t offset = 0;
    for (unsigned i = 0; i < file->header_count; ++i) {
        if (file->headers[i].p_type == PT_DYNAMIC) {
            TAPML_TRY(read_dynamic(file, &file->headers[i], &dynamic));
            break;
        }
    }
    if (dynamic.strings_bytes == 0) {
        return dynamic.path_count == 0 ? TAPML_OK : damaged(file, "a search path without strings");
    }
    if (dynamic.strings_bytes > STRINGS_BYTES_MAX || !offset_of(file, dynamic.strings, &offset)) {
        return damaged(file, "a table of strings that no segment holds");
    }
    char *strings = NULL;
    TAPML_TRY(
        read_block(file, offset, (size_t)dynamic.strings_bytes, "the table of strings", &strings));
    const tapml_status status = take_strings(file, &dynamic, strings, note);
    alloc_free(strings);
    return status;
}

// -- The file ----------------------------------------------------------------------------------

static tapml_status read_headers(struct note_file *file)
{
    ElfW(Ehdr) header;
    TAPML_TRY(read_at(file, 0, &header, sizeof(header), "the header"));
    if (header.e_type != ET_DYN) {
        return status_fail(TAPML_INVALID, "%s: not a shared library", file->path);
    }
    if (header.e_phnum > PROGRAM_HEADERS_MAX || header.e_phentsize != sizeof(file->headers[0])) {
        return damaged(file, "program headers of another size, or too many");
    }
    file->header_count = header.e_phnum;
    return read_at(file, header.e_phoff, file->headers, header.e_phnum * sizeof(file->headers[0]),
                   "the program headers");
}

static tapml_status read_identity(const struct note_file *file, struct note *note)
{
    enum { MACHINE_AT = 18, IDENTITY_BYTES = 20 };
    unsigned char identity[IDENTITY_BYTES];
    TAPML_TRY(read_at(file, 0, identity, sizeof(identity), "the header"));
    if (memcmp(identity, ELFMAG, SELFMAG) != 0) {
        return status_fail(TAPML_INVALID, "%s: not an ELF file", file->path);
    }
    const int is_little = identity[EI_DATA] == ELFDATA2LSB;
    const unsigned machine = (unsigned)identity[MACHINE_AT + !is_little] |
                             (unsigned)identity[MACHINE_AT + is_little] << 8;
    const char *name = machine_name(machine);
    if (name) {
        snprintf(note->arch, sizeof(note->arch), "%s", name);
    } else {
        snprintf(note->arch, sizeof(note->arch), "machine %u", machine);
    }
    note->is_native = identity[EI_CLASS] == HOST_CLASS && identity[EI_DATA] == HOST_DATA &&
                      machine == HOST_MACHINE;
    return TAPML_OK;
}

static tapml_status read_file(struct note_file *file, struct note *note)
{
    struct stat about;
    if (fstat(file->descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
        return status_fail(TAPML_INVALID, "%s: not a file", file->path);
    }
    file->size = (uint64_t)about.st_size;
    TAPML_TRY(read_identity(file, note));
    if (!note->is_native) {
        return TAPML_OK;
    }
    TAPML_TRY(read_headers(file));
    TAPML_TRY(read_notes(file, note));
    return read_strings(file, note);
}

tapml_status note_read(int descriptor, const char *path, struct note *out_note)
{
    struct note_file file = {.descriptor = descriptor, .path = path};
    struct note note = {.sanitizer = ""};
    const tapml_status status = read_file(&file, &note);
    if (status != TAPML_OK) {
        note_release(&note);
        return status;
    }
    *out_note = note;
    return TAPML_OK;
}

void note_release(struct note *note)
{
    alloc_free(note->text);
    alloc_free(note->search_path);
    note->text = NULL;
    note->search_path = NULL;
}

const char *note_host_arch(void)
{
    return machine_name(HOST_MACHINE);
}

const char *note_sanitizer_name(uint32_t number)
{
    static const char *const names[] = {"", "address", "memory", "thread"};
    return number < sizeof(names) / sizeof(names[0]) ? names[number] : "unknown";
}
