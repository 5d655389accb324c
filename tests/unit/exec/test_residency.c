// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "exec/residency.h"
#include "harness/late.h"
#include "harness/plain.h"
#include "harness/scratch.h"
#include "link/loopback.h"
#include "model/safetensors.h"
#include "tensor/encoding.h"
#include "tensor/tiles.h"

#include <criterion/criterion.h>
#include <string.h>

static struct residency *make_set(struct backend *backend)
{
    struct residency *set = NULL;
    cr_assert_eq(residency_create(backend, &set), TAPML_OK);
    return set;
}

static tapml_tensor form_of(uint32_t dtype, const int64_t *shape, uint32_t rank)
{
    return (tapml_tensor){
        .hdr = TAPML_HDR(tapml_tensor), .dtype = dtype, .rank = rank, .shape = shape};
}

// Named after its memory.
static tapml_status get_as(struct residency *set,
                           const void *data,
                           const tapml_tensor *form,
                           uint32_t dtype,
                           const tapml_tensor **out_tensor)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "%p", data);
    const struct residency_key key = {name, dtype, form->encoding, NULL};
    return residency_get(set, &key, data, form, out_tensor);
}

static tapml_status try_get(struct residency *set,
                            const void *data,
                            uint32_t dtype,
                            const int64_t *shape,
                            uint32_t rank,
                            const tapml_tensor **out_tensor)
{
    const tapml_tensor form = form_of(dtype, shape, rank);
    return get_as(set, data, &form, dtype, out_tensor);
}

static const tapml_tensor *
get(struct residency *set, const void *data, uint32_t dtype, const int64_t *shape, uint32_t rank)
{
    const tapml_tensor *tensor = NULL;
    cr_assert_eq(try_get(set, data, dtype, shape, rank, &tensor), TAPML_OK, "%s", status_message());
    return tensor;
}

static uint64_t
count_panels(const struct residency *set, uint32_t dtype, const int64_t *shape, uint32_t rank)
{
    const tapml_tensor form = form_of(dtype, shape, rank);
    return residency_panels(set, &form);
}

// A checkpoint's weights on `device` behind the link; `check` is asked about each.
static void load_over_link(struct backend *device, void (*check)(struct backend *, tapml_object *))
{
    enum { READ_BYTES_MAX = 1 << 16 };
    static unsigned char found[READ_BYTES_MAX];
    char folder[1024];
    struct checkpoint *checkpoint = NULL;
    struct catalogue *catalogue = NULL;
    struct arena *arena = arena_create();
    struct backend *backend = NULL;
    (void)snprintf(folder, sizeof(folder), "%s/models/llama_bf16", getenv("TAPML_TEST_DATA"));
    cr_assert_eq(safetensors_open(folder, &checkpoint), TAPML_OK, "%s", status_message());
    cr_assert_eq(catalogue_create(&catalogue), TAPML_OK);
    cr_assert_eq(loopback_create(device, catalogue, arena, &backend), TAPML_OK);
    struct residency *set = make_set(backend);
    cr_assert_eq(residency_share(set, checkpoint), TAPML_OK, "%s", status_message());
    cr_assert_eq(residency_share(set, checkpoint), TAPML_OK, "once more is nothing");
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const struct checkpoint_tensor *weight = checkpoint_at(checkpoint, i);
        const tapml_tensor *form = &weight->tensor;
        const tapml_tensor *tensor = get(set, weight->data, form->dtype, form->shape, form->rank);
        const uint64_t bytes = weight->bytes / 4 * 4;
        cr_assert_leq(bytes, READ_BYTES_MAX);
        cr_assert_eq(backend_read(backend, tensor->buffer, 0, found, bytes), TAPML_OK);
        cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
        cr_assert_arr_eq(found, weight->data, bytes, "%s", weight->name);
        check(backend, tensor->buffer);
    }
    residency_destroy(set);
    cr_assert_eq(backend_wait(backend), TAPML_OK, "%s", status_message());
    backend_release(backend);
    backend_release(device);
    checkpoint_close(checkpoint);
    catalogue_destroy(catalogue);
    arena_destroy(arena);
}

static void is_only_read(struct backend *backend, tapml_object *buffer)
{
    cr_assert_eq(backend_fill(backend, buffer, 0, 4, 0), TAPML_INVALID);
}

static void is_the_devices_own(struct backend *backend, tapml_object *buffer)
{
    cr_assert_eq(backend_fill(backend, buffer, 0, 4, 0), TAPML_OK);
}

Test(residency, is_used_in_place_by_a_host_memory_backend_behind_a_link)
{
    load_over_link(plain_create(), is_only_read);
}

Test(residency, is_uploaded_to_a_device_behind_a_link)
{
    load_over_link(late_create(&(struct late_options){0}), is_the_devices_own);
}

// Ordinary memory as a device that has its own, and may import pages of others.
struct importing {
    struct backend_wrapper wrapper;
    struct backend_vt vt;
    struct backend_info info;
    tapml_status refusal; // Of each import; or TAPML_OK.
    uint64_t imports, bytes;
};

static const struct backend_info *importing_info(const struct backend *backend)
{
    return &((const struct importing *)backend)->info;
}

static tapml_status importing_wrap(struct backend *backend,
                                   void *memory,
                                   uint64_t size,
                                   uint32_t access,
                                   tapml_object **out_buffer)
{
    struct importing *importing = (struct importing *)backend;
    importing->imports++;
    importing->bytes = size;
    cr_expect_eq(access, TAPML_ACCESS_READ);
    cr_expect_eq((uintptr_t)memory % 4096, 0);
    return importing->refusal != TAPML_OK
               ? status_fail(importing->refusal, "not this memory")
               : backend_buffer_wrap(importing->wrapper.inner, memory, size, access, out_buffer);
}

static void importing_init(struct importing *importing)
{
    struct backend *inner = plain_create();
    *importing = (struct importing){.vt = backend_forward_vt, .info = *backend_info(inner)};
    importing->info.is_host_memory = 0;
    importing->info.borrowing = BACKEND_BORROWS_WHOLE;
    importing->vt.info = importing_info;
    importing->vt.buffer_wrap = importing_wrap;
    importing->wrapper.backend.vt = &importing->vt;
    importing->wrapper.inner = inner;
}

// Loads all weights of a fixture. Returns how many of them are used where they lie.
static size_t load_importing(struct importing *importing)
{
    struct checkpoint *checkpoint = NULL;
    struct backend *backend = &importing->wrapper.backend;
    char folder[1024];
    size_t in_place = 0;
    uint64_t copied = 0;
    (void)snprintf(folder, sizeof(folder), "%s/models/llama_bf16", getenv("TAPML_TEST_DATA"));
    cr_assert_eq(safetensors_open(folder, &checkpoint), TAPML_OK, "%s", status_message());
    struct residency *set = make_set(backend);
    cr_assert_eq(residency_share(set, checkpoint), TAPML_OK, "%s", status_message());
    cr_assert_eq(residency_share(set, checkpoint), TAPML_OK, "once more is nothing");
    for (size_t i = 0; i < checkpoint_count(checkpoint); i++) {
        const struct checkpoint_tensor *weight = checkpoint_at(checkpoint, i);
        const tapml_tensor *form = &weight->tensor;
        const tapml_tensor *tensor = get(set, weight->data, form->dtype, form->shape, form->rank);
        const unsigned char *bytes = (const unsigned char *)plain_bytes(tensor->buffer);
        cr_expect_eq(memcmp(bytes + tensor->offset, weight->data, weight->bytes), 0);
        const int is_in_place = bytes + tensor->offset == (const unsigned char *)weight->data;
        in_place += is_in_place;
        copied += is_in_place ? 0 : (weight->bytes + 15) / 16 * 16;
    }
    cr_expect_eq(residency_copied_bytes(set), copied);
    residency_destroy(set);
    backend_release(importing->wrapper.inner);
    checkpoint_close(checkpoint);
    return in_place;
}

Test(residency, is_used_where_it_lies_by_a_device_that_imports_memory)
{
    struct importing importing;
    importing_init(&importing);
    cr_expect_gt(load_importing(&importing), 0);
    cr_expect_eq(importing.imports, 1, "a file is imported once");
    cr_expect_eq(importing.bytes % 4096, 0);
}

Test(residency, is_copied_where_the_import_is_refused)
{
    struct importing importing;
    importing_init(&importing);
    importing.refusal = TAPML_UNIMPLEMENTED;
    cr_expect_eq(load_importing(&importing), 0);
    cr_expect_eq(importing.imports, 1);
    importing_init(&importing);
    importing.info.buffer_bytes_max = 1 << 16;
    cr_expect_eq(load_importing(&importing), 0);
    cr_expect_eq(importing.imports, 0, "a file that is larger than a buffer");
}

Test(residency, is_the_memory_itself_on_a_host_memory_backend)
{
    struct backend *backend = plain_create();
    struct residency *set = make_set(backend);
    const float data[6] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {2, 3};
    const tapml_tensor *tensor = get(set, data, TAPML_F32, shape, 2);
    cr_expect_eq(plain_bytes(tensor->buffer), (const void *)data);
    cr_expect_eq(tensor->offset, 0);
    cr_expect_eq(tensor->dtype, TAPML_F32);
    cr_expect_eq(tensor->rank, 2);
    cr_expect_arr_eq(tensor->shape, shape, sizeof(shape));
    cr_expect_null(tensor->stride);
    cr_expect_null(tensor->next);
    cr_expect_eq(count_panels(set, TAPML_F32, shape, 2), 1);
    residency_destroy(set);
    backend_release(backend);
    residency_destroy(NULL);
}

// A matrix of 2 rows and 40 columns in tiles of 32 values, whose spans lie apart.
struct tiled {
    unsigned char quants[80], scales[4];
    struct tiles_spans spans;
    int64_t shape[2];
    tapml_tensor form;
};

static void tiled_init(struct tiled *tiled)
{
    *tiled = (struct tiled){.scales = {127, 128, 126, 127}, .shape = {2, 40}};
    for (unsigned i = 0; i < sizeof(tiled->quants); i++) {
        tiled->quants[i] = (unsigned char)(0x30 + i % 16);
    }
    tiled->spans = (struct tiles_spans){{tiled->quants, tiled->scales}};
    tiled->form = form_of(TAPML_U8, tiled->shape, 2);
    tiled->form.encoding = encoding_find("tiles.e4m3.e8m0.1x32/1");
}

static const tapml_tensor *get_tiled(struct residency *set, const struct tiled *tiled)
{
    const tapml_tensor *tensor = NULL;
    const struct residency_key key = {"t", TAPML_U8, tiled->form.encoding, &tiled->spans};
    cr_assert_eq(residency_get(set, &key, tiled->quants, &tiled->form, &tensor), TAPML_OK, "%s",
                 status_message());
    return tensor;
}

Test(residency, has_each_span_where_it_lies)
{
    struct backend *backend = plain_create();
    struct residency *set = make_set(backend);
    struct tiled tiled;
    tiled_init(&tiled);
    const tapml_tensor *tensor = get_tiled(set, &tiled);
    cr_expect_eq(tensor->encoding, tiled.form.encoding);
    cr_expect_null(tensor->buffer);
    cr_expect_eq(plain_bytes(tensor->spans[0]->buffer), (const void *)tiled.quants);
    cr_expect_eq(plain_bytes(tensor->spans[1]->buffer), (const void *)tiled.scales);
    cr_expect_eq(tensor->spans[0]->shape[0], 80);
    cr_expect_eq(tensor->spans[1]->shape[0], 4);
    cr_expect_eq(residency_copied_bytes(set), 0);
    cr_expect_eq(residency_spread_bytes(set), 0);
    residency_destroy(set);
    backend_release(backend);
}

Test(residency, is_widened_where_tiles_are_not_taken)
{
    struct backend *backend = late_create(&(struct late_options){0});
    struct residency *set = make_set(backend);
    struct tiled tiled;
    uint16_t expected[80];
    tiled_init(&tiled);
    tiles_widen(tiled.form.encoding, &tiled.spans, tiled.shape, 2, TAPML_BF16, expected);
    const tapml_tensor *tensor = get_tiled(set, &tiled);
    cr_expect_null(tensor->encoding);
    cr_expect_eq(tensor->dtype, TAPML_BF16);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_expect_arr_eq(late_bytes(tensor->buffer), expected, sizeof(expected));
    cr_expect_eq(residency_spread_bytes(set), sizeof(expected));
    residency_destroy(set);
    cr_expect_eq(late_counts(backend).buffers_alive, 0);
    backend_release(backend);
}

Test(residency, is_uploaded_once_with_its_tail)
{
    struct backend *backend = late_create(&(struct late_options){0});
    struct residency *set = make_set(backend);
    unsigned char data[22];
    const unsigned char zeros[10] = {0};
    const int64_t shape[] = {11};
    memset(data, 7, sizeof(data));
    const tapml_tensor *tensor = get(set, data, TAPML_BF16, shape, 1);
    cr_expect_eq(get(set, data, TAPML_BF16, shape, 1), tensor);
    cr_expect_eq(late_counts(backend).buffers_alive, 1);
    cr_expect_eq(late_counts(backend).written_bytes, 32);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    cr_expect_eq(memcmp(late_bytes(tensor->buffer), data, sizeof(data)), 0);
    cr_expect_eq(memcmp((const char *)late_bytes(tensor->buffer) + 22, zeros, 10), 0);

    const int64_t other[] = {1, 11};
    cr_expect_neq(get(set, data, TAPML_BF16, other, 2), tensor, "another shape is another tensor");
    residency_destroy(set);
    cr_expect_eq(late_counts(backend).buffers_alive, 0);
    backend_release(backend);
}

Test(residency, is_rounded_where_it_stands_for_an_activation)
{
    static const float values[] = {2049, -0.5f, 1e6f};
    static const uint16_t halves[] = {0x6800, 0xb800, 0x7c00};
    struct backend *const backends[] = {plain_create(), late_create(&(struct late_options){0})};
    const int64_t shape[] = {3};
    for (int i = 0; i < 2; i++) {
        struct residency *set = make_set(backends[i]);
        const tapml_tensor form = form_of(TAPML_F32, shape, 1);
        const tapml_tensor *reduced = NULL, *again = NULL;
        const tapml_tensor *plain = get(set, values, TAPML_F32, shape, 1);
        cr_assert_eq(get_as(set, values, &form, TAPML_F16, &reduced), TAPML_OK);
        cr_assert_eq(get_as(set, values, &form, TAPML_F16, &again), TAPML_OK);
        cr_assert_eq(backend_wait(backends[i]), TAPML_OK);
        cr_expect_eq(reduced, again);
        cr_expect_neq(reduced, plain);
        cr_expect_eq(reduced->dtype, TAPML_F16);
        cr_expect_eq(plain->dtype, TAPML_F32);
        const void *found = i == 0 ? plain_bytes(reduced->buffer) : late_bytes(reduced->buffer);
        cr_expect_arr_eq(found, halves, sizeof(halves));
        residency_destroy(set);
        backend_release(backends[i]);
    }
}

Test(residency, comes_in_panels_where_it_is_larger_than_a_buffer)
{
    struct backend *backend = late_create(&(struct late_options){.buffer_bytes_max = 70});
    struct residency *set = make_set(backend);
    uint16_t data[7 * 9]; // Rows of 18 bytes: three in 64.
    const int64_t shape[] = {7, 9};
    for (uint16_t i = 0; i < 63; i++) {
        data[i] = i;
    }
    cr_expect_eq(count_panels(set, TAPML_F16, shape, 2), 3);
    const tapml_tensor *panel = get(set, data, TAPML_F16, shape, 2);
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    static const int64_t rows[] = {3, 3, 1};
    const uint16_t *expected = data;
    for (size_t i = 0; i < 3; i++) {
        cr_assert_not_null(panel);
        cr_expect_eq(panel->shape[0], rows[i]);
        cr_expect_eq(panel->shape[1], 9);
        cr_expect_eq(memcmp(late_bytes(panel->buffer), expected, (size_t)rows[i] * 18), 0);
        expected += rows[i] * 9;
        panel = panel->next;
    }
    cr_expect_null(panel);
    residency_destroy(set);
    cr_expect_eq(late_counts(backend).buffers_alive, 0);
    backend_release(backend);
}

Test(residency, has_spans_of_its_own_in_each_panel_where_it_is_encoded)
{
    struct backend *backend = late_create(&(struct late_options){.buffer_bytes_max = 111});
    struct residency *set = make_set(backend);
    const tapml_encoding *q4 = encoding_find(TAPML_ENCODING_Q4);
    const int64_t shape[] = {5, 32}; // A row has 16 bytes, and twice 2 on a grain of 16.
    struct encoding_loss loss = {0};
    float values[5 * 32];
    unsigned char data[160];
    for (size_t i = 0; i < 160; i++) {
        values[i] = (float)i;
    }
    cr_assert_eq(encoding_encode(q4, TAPML_F32, values, 5, data, &loss), TAPML_OK);
    tapml_tensor form = form_of(TAPML_U8, shape, 2);
    form.encoding = q4;
    cr_expect_eq(residency_panels(set, &form), 3);
    const tapml_tensor *panel = NULL;
    cr_assert_eq(get_as(set, data, &form, TAPML_U8, &panel), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    for (uint64_t row = 0; panel; panel = panel->next) {
        cr_expect_eq(panel->encoding, q4);
        for (uint64_t i = 0; i < (uint64_t)panel->shape[0]; i++, row++) {
            float whole[ENCODING_BLOCK_MAX] = {0}, part[ENCODING_BLOCK_MAX] = {0};
            encoding_decode(q4, data, 5, row, whole);
            encoding_decode(q4, late_bytes(panel->buffer), (uint64_t)panel->shape[0], i, part);
            cr_expect_arr_eq(whole, part, sizeof(whole));
        }
    }
    residency_destroy(set);
    backend_release(backend);
}

// Zero points are in words with those of 8 rows, which take 176 bytes. The last panel has what is
// left.
Test(residency, is_cut_between_tiles)
{
    enum { ROWS = 21, COLUMNS = 32, BYTES_MAX = 360 };
    struct backend *backend = late_create(
        &(struct late_options){.buffer_bytes_max = BYTES_MAX, .takes = ENCODING_TAKES_TILES});
    struct residency *set = make_set(backend);
    const tapml_encoding *encoding = encoding_find("tiles.u4.f32.1x32.zeros/1");
    static const int64_t shape[] = {ROWS, COLUMNS}, rows[] = {16, 5};
    static unsigned char data[ROWS * COLUMNS];
    float values[ROWS * COLUMNS], whole[ROWS * COLUMNS], part[ROWS * COLUMNS];
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        values[i] = (float)(i % 45) - (float)(i / COLUMNS);
    }
    cr_assert_eq(tiles_encode(encoding, values, shape, 2, data), TAPML_OK);
    const struct tiles_spans spans = tiles_spans_of(encoding, data, shape, 2);
    tiles_widen(encoding, &spans, shape, 2, TAPML_F32, whole);
    tapml_tensor form = form_of(TAPML_U8, shape, 2);
    form.encoding = encoding;
    cr_assert_eq(residency_panels(set, &form), 2);
    const struct residency_key key = {"t", TAPML_U8, encoding, &spans};
    const tapml_tensor *panel = NULL;
    cr_assert_eq(residency_get(set, &key, data, &form, &panel), TAPML_OK, "%s", status_message());
    cr_assert_eq(backend_wait(backend), TAPML_OK);
    for (size_t i = 0, row = 0; i < 2; i++, panel = panel->next) {
        cr_assert_eq(panel->shape[0], rows[i]);
        cr_expect_eq(panel->encoding, encoding);
        const struct tiles_spans own =
            tiles_spans_of(encoding, late_bytes(panel->buffer), panel->shape, 2);
        tiles_widen(encoding, &own, panel->shape, 2, TAPML_F32, part);
        cr_expect_arr_eq(part, whole + row * COLUMNS, (size_t)rows[i] * COLUMNS * sizeof(*part));
        row += (size_t)rows[i];
    }
    cr_expect_eq(residency_spread_bytes(set), 0);
    residency_destroy(set);
    backend_release(backend);
}

Test(residency, is_refused_where_one_row_is_too_large)
{
    struct backend *backend = late_create(&(struct late_options){.buffer_bytes_max = 64});
    struct residency *set = make_set(backend);
    static const float data[40] = {0};
    const tapml_tensor *tensor = NULL;
    const int64_t wide[] = {2, 20}, line[] = {40}, fits[] = {16};
    cr_expect_eq(try_get(set, data, TAPML_F32, wide, 2, &tensor), TAPML_UNIMPLEMENTED);
    cr_expect(strstr(status_message(), "80 bytes"), "%s", status_message());
    cr_expect_eq(try_get(set, data, TAPML_F32, line, 1, &tensor), TAPML_UNIMPLEMENTED);
    cr_expect_null(tensor);
    cr_expect_eq(count_panels(set, TAPML_F32, wide, 2), 0);
    cr_expect_eq(count_panels(set, TAPML_F32, line, 1), 0);
    cr_expect_eq(count_panels(set, TAPML_F32, fits, 1), 1);
    residency_destroy(set);
    backend_release(backend);
}

Test(residency, is_refused_where_it_is_empty_or_too_large_to_count)
{
    struct backend *backend = plain_create();
    struct residency *set = make_set(backend);
    const float data = 0;
    const tapml_tensor *tensor = NULL;
    const int64_t empty[] = {0, 4}, negative[] = {-1}, huge[] = {INT64_MAX, 3};
    cr_expect_eq(try_get(set, &data, TAPML_F32, empty, 2, &tensor), TAPML_INVALID);
    cr_expect_eq(try_get(set, &data, TAPML_F32, negative, 1, &tensor), TAPML_INVALID);
    cr_expect_eq(try_get(set, &data, TAPML_F32, huge, 2, &tensor), TAPML_INVALID);
    cr_expect_eq(try_get(set, &data, TAPML_F32, huge, 1, &tensor), TAPML_INVALID);
    cr_expect_null(tensor);
    cr_expect_eq(get(set, &data, TAPML_F32, NULL, 0)->rank, 0);
    residency_destroy(set);
    backend_release(backend);
}

Test(residency, takes_a_weight_away_and_brings_it_again)
{
    struct backend *backend = late_create(&(struct late_options){0});
    struct residency *set = make_set(backend);
    static const float data[4] = {1, 2, 3, 4};
    const int64_t shape[] = {4};
    const tapml_tensor form = form_of(TAPML_F32, shape, 1);
    const struct residency_key key = {"w", TAPML_F32, NULL, NULL};
    struct resident *resident = NULL, *again = NULL;
    cr_assert_eq(residency_find(set, &key, data, &form, &resident), TAPML_OK);
    cr_assert_eq(residency_find(set, &key, data, &form, &again), TAPML_OK);
    cr_expect_eq(resident, again);
    cr_expect_null(resident->tensor, "it is asked for, not loaded");
    cr_expect_eq(late_counts(backend).buffers_alive, 0);
    const tapml_tensor *first = NULL;
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(residency_load(set, resident), TAPML_OK, "%s", status_message());
        cr_assert_eq(residency_load(set, resident), TAPML_OK);
        cr_expect_eq(late_counts(backend).buffers_alive, 1);
        cr_expect_eq(late_counts(backend).writes, (uint64_t)i + 1);
        first = i == 0 ? resident->tensor : first;
        cr_expect_eq(resident->tensor, first, "it is the same each time");
        cr_expect_eq(residency_copied_bytes(set), sizeof(data));
        cr_assert_eq(residency_release(set, resident), TAPML_OK);
        cr_assert_eq(residency_release(set, resident), TAPML_OK);
        cr_expect_null(resident->tensor);
        cr_expect_eq(residency_copied_bytes(set), 0);
        cr_expect_eq(late_counts(backend).buffers_alive, 0);
    }
    residency_destroy(set);
    backend_release(backend);
}

Test(residency, tells_weights_of_one_name_by_where_they_lie)
{
    struct backend *backend = plain_create();
    struct residency *set = make_set(backend);
    static const float data[2][4] = {{0}};
    const int64_t shape[] = {4};
    const tapml_tensor form = form_of(TAPML_F32, shape, 1);
    const struct residency_key key = {"w", TAPML_F32, NULL, NULL};
    struct resident *base = NULL, *again = NULL, *fine = NULL;
    cr_assert_eq(residency_find(set, &key, data[0], &form, &base), TAPML_OK);
    cr_assert_eq(residency_find(set, &key, data[1], &form, &fine), TAPML_OK);
    cr_assert_eq(residency_find(set, &key, data[0], &form, &again), TAPML_OK);
    cr_expect_eq(base, again);
    cr_expect_neq(base, fine);
    residency_destroy(set);
    backend_release(backend);
}

static tapml_status make_and_get(struct backend *backend)
{
    static const float data[8] = {0};
    static const int64_t shape[] = {2, 4};
    const tapml_tensor *tensor = NULL;
    struct residency *set = NULL;
    TAPML_TRY(residency_create(backend, &set));
    const tapml_status status = try_get(set, data, TAPML_F32, shape, 2, &tensor);
    residency_destroy(set);
    return status;
}

Test(residency, survives_a_lack_of_memory)
{
    struct backend *backend = plain_create();
    cr_assert_eq(make_and_get(backend),
                 TAPML_OK); // What the façade knows of buffers outlives them.
    SCRATCH_SWEEP(make_and_get(backend));
    backend_release(backend);
}

// What was queued behind a failure is loaded again, and what was there before stays.
Test(residency, loads_again_what_is_in_doubt)
{
    static const float values[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
    static const int64_t shape[] = {4};
    const tapml_tensor form = {
        .hdr = TAPML_HDR(tapml_tensor), .dtype = TAPML_F32, .rank = 1, .shape = shape};
    struct backend *late = late_create(&(struct late_options){0});
    struct residency *set = NULL;
    const tapml_tensor *tensors[2];
    cr_assert_eq(residency_create(late, &set), TAPML_OK);
    for (int i = 0; i < 2; i++) {
        const struct residency_key key = {.tensor = i == 0 ? "a" : "b", .dtype = TAPML_F32};
        cr_assert_eq(residency_get(set, &key, values[i], &form, &tensors[i]), TAPML_OK);
        if (i == 0) {
            cr_assert_eq(backend_wait(late), TAPML_OK);
            residency_settle(set);
        }
    }
    cr_expect_eq(late_counts(late).writes, 2);
    residency_distrust(set);
    cr_assert_eq(residency_refresh(set), TAPML_OK);
    cr_expect_eq(late_counts(late).writes, 3);
    cr_assert_eq(residency_refresh(set), TAPML_OK);
    cr_expect_eq(late_counts(late).writes, 3);
    cr_assert_eq(backend_wait(late), TAPML_OK);
    residency_settle(set);
    residency_distrust(set);
    cr_assert_eq(residency_refresh(set), TAPML_OK);
    cr_expect_eq(late_counts(late).writes, 3);
    residency_destroy(set);
    backend_release(late);
}
