// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// dump/dump_open: any bytes as what another program has dumped. The first says as which file: an
// array of NumPy, an archive of them, a tensor of ONNX, the text of a callback, the map of an
// import, or a map of names. Every byte of every tensor can be read, and a dump is like itself.
#include "fuzz.h"

#include "base/arena.h"
#include "dump/divergence.h"
#include "dump/dump.h"
#include "dump/dump_catalogue.h"
#include "dump/dump_open.h"
#include "dump/import_map.h"
#include "dump/name_map.h"
#include "tensor/dtype.h"

#include <string.h>

static const char *const files[] = {"x.npy", "x.npz", "x.pb", "x.txt"};
enum { FILES = sizeof(files) / sizeof(*files) };

static void check_printed(const struct dump_printed *printed, int64_t count)
{
    for (size_t i = 0; i < printed->count; i++) {
        FUZZ_CHECK(printed->indices[i] >= 0 && printed->indices[i] < count);
        FUZZ_CHECK(i == 0 || printed->indices[i] > printed->indices[i - 1]);
    }
}

static void check_tensor(const struct dump_tensor *tensor)
{
    static volatile unsigned char kept; // So that the bytes are read.
    const int64_t count = dump_count(tensor);
    const unsigned char *data = tensor->data;

    FUZZ_CHECK(tensor->name[0] != '\0' && tensor->rank <= TAPML_MAX_RANK && count >= 0);
    FUZZ_CHECK(data != NULL || tensor->printed != NULL);
    if (data == NULL) {
        check_printed(tensor->printed, count);
        return;
    }
    for (size_t i = 0; i < (size_t)count * dtype_bytes(tensor->dtype); i++) {
        kept ^= data[i];
    }
    (void)kept;
}

static void feed_dump(const char *file, const struct catalogue *catalogue)
{
    struct dump *dump = NULL;
    struct divergence divergence;

    if (fuzz_refused(dump_open(fuzz_path(file), &dump))) {
        return;
    }
    for (size_t i = 0; i < dump->count; i++) {
        check_tensor(&dump->tensors[i]);
    }
    const struct divergence_options options = {
        .first = dump, .second = dump, .catalogue = catalogue};

    FUZZ_CHECK(divergence_find(&options, &divergence) == TAPML_OK);
    FUZZ_CHECK(divergence.first == NULL && divergence.only_second_count == 0);
    divergence_release(&divergence);
    dump_destroy(dump);
}

static void feed_map(const char *text, size_t size, const struct catalogue *catalogue)
{
    static const char *const names[] = {"a", "b-1", "b-2"};
    struct import_map map;
    struct dump *dump = NULL;

    if (fuzz_refused(import_map_parse("map", text, size, catalogue, &map))) {
        return;
    }
    FUZZ_CHECK(dump_create("dump", &dump) == TAPML_OK);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        const struct dump_tensor tensor = {.name = names[i], .dtype = TAPML_F32};

        FUZZ_CHECK(dump_add(dump, &tensor) == TAPML_OK);
    }
    FUZZ_CHECK(import_map_annotate(&map, dump) == TAPML_OK);
    dump_destroy(dump);
    import_map_release(&map);
}

static void feed_names(const char *text, size_t size)
{
    struct arena *arena = arena_create();
    struct name_map map;

    FUZZ_CHECK(arena != NULL);
    if (!fuzz_refused(name_map_parse("names", text, size, &map))) {
        FUZZ_CHECK(name_map_find(&map, arena, "b-1") != NULL);
        name_map_release(&map);
    }
    arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct catalogue *catalogue; // For all inputs, as are the links.
    static int has_links;
    const size_t kind = size > 0 ? data[0] % (FILES + 2) : 0;
    const char *rest = (const char *)data + (size > 0);
    const size_t rest_size = size - (size > 0);

    FUZZ_CHECK(catalogue != NULL || dump_catalogue_create(&catalogue) == TAPML_OK);
    fuzz_begin();
    if (kind < FILES) {
        (void)fuzz_file((const uint8_t *)rest, rest_size);
        for (size_t i = 0; !has_links && i < FILES; i++) {
            fuzz_link(files[i]);
        }
        has_links = 1;
        feed_dump(files[kind], catalogue);
    } else if (kind == FILES) {
        feed_map(rest, rest_size, catalogue);
    } else {
        feed_names(rest, rest_size);
    }
    fuzz_end();
    return 0;
}
