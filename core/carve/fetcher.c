// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "carve/fetcher.h"

#include "base/alloc.h"
#include "store/case.h"
#include "tensor/convert.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"
#include "tensor/tiles.h"

#include <string.h>

// A read that is under way: a view of a buffer, which becomes dense when it has come.
struct fetch {
    struct blob *raw;
    size_t skip; // From the start of `raw` to the first element.
    struct case_argument view;
    void *dense;
};

// Bytes of a buffer that a case has.
struct fetch_note {
    const tapml_object *buffer;
    const char *name;
    uint64_t offset_bytes;
    struct blob *blob;
};

void fetcher_init(struct fetcher *fetcher, struct backend *backend)
{
    *fetcher = (struct fetcher){.backend = backend};
    blob_keeper_init(&fetcher->blobs);
}

void fetcher_release(struct fetcher *fetcher)
{
    fetcher_forget(fetcher, NULL);
    blob_keeper_release(&fetcher->blobs);
    alloc_free(fetcher->fetches);
    alloc_free(fetcher->notes);
}

static tapml_object *buffer_of(const struct fetch_from *from)
{
    const tapml_tensor *tensor = from->value->u.p;
    return tensor->buffer;
}

// -- What cases have
// -------------------------------------------------------------------------------

static int is_dense(const struct case_argument *view)
{
    return shape_is_dense(view->shape, view->stride, view->rank);
}

// The note of the contents of `from`. The name distinguishes values of one buffer that the host
// wrote there unseen.
static struct blob *find_note(const struct fetcher *fetcher,
                              const struct fetch_from *from,
                              const struct case_argument *view)
{
    for (size_t i = 0; i < fetcher->note_count && from->name && is_dense(view); i++) {
        const struct fetch_note *note = &fetcher->notes[i];
        if (note->buffer == buffer_of(from) && note->offset_bytes == view->offset_bytes &&
            note->blob->bytes == from->argument->content_bytes &&
            strcmp(note->name, from->name) == 0) {
            return note->blob;
        }
    }
    return NULL;
}

tapml_status fetcher_note(struct fetcher *fetcher, const struct fetch_from *from, struct blob *blob)
{
    const struct case_argument view = case_content_view(from->argument);
    if (!from->name || blob->bytes == 0 || !is_dense(&view)) {
        return TAPML_OK;
    }
    if (!alloc_grow((void **)&fetcher->notes, &fetcher->note_capacity, fetcher->note_count,
                    sizeof(*fetcher->notes))) {
        return status_no_memory();
    }
    fetcher->notes[fetcher->note_count++] =
        (struct fetch_note){buffer_of(from), from->name, view.offset_bytes, blob_ref(blob)};
    return TAPML_OK;
}

void fetcher_forget(struct fetcher *fetcher, const tapml_object *buffer)
{
    size_t kept = 0;
    for (size_t i = 0; i < fetcher->note_count; i++) {
        if (buffer && fetcher->notes[i].buffer != buffer) {
            fetcher->notes[kept++] = fetcher->notes[i];
        } else {
            blob_unref(fetcher->notes[i].blob);
        }
    }
    fetcher->note_count = kept;
}

// -- Reading
// ---------------------------------------------------------------------------------------

// From the first element of a view to behind the last one.
static tapml_status span_of(const struct case_argument *view, uint64_t *out_bytes)
{
    int64_t span = 0;
    TAPML_TRY(shape_span(view->shape, view->stride, view->rank, &span));
    *out_bytes = (uint64_t)span * dtype_bytes(view->dtype);
    return TAPML_OK;
}

// Shows a span of memory of the host, whose work is done then; NULL: it is none.
static tapml_status map_view(struct fetcher *fetcher,
                             const struct case_argument *view,
                             tapml_object *buffer,
                             uint64_t bytes,
                             const void **out_memory)
{
    *out_memory = NULL;
    if (!backend_info(fetcher->backend)->is_host_memory) {
        return TAPML_OK;
    }
    TAPML_TRY(backend_wait(fetcher->backend));
    return backend_map(fetcher->backend, buffer, view->offset_bytes, bytes, out_memory);
}

static void gather(const void *source, const struct case_argument *view, void *dense)
{
    convert_gather(source, view->shape, view->stride, view->rank, dtype_bytes(view->dtype), dense);
}

// Begins to read `bytes` of a buffer, in whole grains.
static tapml_status read_view(struct fetcher *fetcher,
                              const struct case_argument *view,
                              tapml_object *buffer,
                              uint64_t bytes,
                              void *dense)
{
    const uint64_t grain = TAPML_TRANSFER_GRAIN;
    const uint64_t begin = view->offset_bytes / grain * grain;
    const uint64_t end = view->offset_bytes + bytes;
    const uint64_t size = (end - begin + grain - 1) / grain * grain;
    if (!alloc_grow((void **)&fetcher->fetches, &fetcher->fetch_capacity, fetcher->fetch_count,
                    sizeof(*fetcher->fetches))) {
        return status_no_memory();
    }
    struct blob *raw = blob_create(&fetcher->blobs, size);
    if (!raw) {
        return status_no_memory();
    }
    fetcher->fetches[fetcher->fetch_count++] = (struct fetch){
        .raw = raw, .skip = view->offset_bytes - begin, .view = *view, .dense = dense};
    return backend_read(fetcher->backend, buffer, begin, raw->data, size);
}

static tapml_status fetch_view(struct fetcher *fetcher,
                               const struct case_argument *view,
                               tapml_object *buffer,
                               void *dense)
{
    uint64_t bytes = 0;
    const void *memory = NULL;
    TAPML_TRY(span_of(view, &bytes));
    if (bytes == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(map_view(fetcher, view, buffer, bytes, &memory));
    if (!memory) {
        return read_view(fetcher, view, buffer, bytes, dense);
    }
    gather(memory, view, dense);
    backend_unmap(fetcher->backend, buffer);
    return TAPML_OK;
}

struct case_argument fetcher_view(const tapml_tensor *tensor, uint64_t bytes)
{
    struct case_argument view = {
        .dtype = tensor->dtype, .rank = tensor->rank, .offset_bytes = tensor->offset};
    if (tensor->encoding) { // Its bytes, as one axis.
        view.rank = 1;
        view.shape[0] = (int64_t)bytes;
        view.stride[0] = 1;
        return view;
    }
    for (uint32_t i = 0; i < tensor->rank; i++) {
        view.shape[i] = tensor->shape[i];
    }
    if (tensor->stride) {
        memcpy(view.stride, tensor->stride, tensor->rank * sizeof(*view.stride));
    } else {
        shape_dense_strides(view.shape, view.rank, view.stride);
    }
    return view;
}

// The spans of a tensor in tiles, one after another; what lies between them is zero.
static tapml_status fetch_spans(struct fetcher *fetcher,
                                const tapml_tensor *tensor,
                                uint64_t bytes,
                                unsigned char *dense)
{
    memset(dense, 0, bytes);
    for (uint32_t i = 0; i < tensor->encoding->n_spans; i++) {
        const struct case_argument view = fetcher_view(tensor->spans[i], 0);
        const uint64_t begin = tiles_span_begin(tensor->encoding, tensor->shape, tensor->rank, i);
        TAPML_TRY(fetch_view(fetcher, &view, tensor->spans[i]->buffer, dense + begin));
    }
    return TAPML_OK;
}

tapml_status
fetcher_tensor(struct fetcher *fetcher, const tapml_tensor *tensor, uint64_t bytes, void *dense)
{
    if (tensor->spans) {
        return fetch_spans(fetcher, tensor, bytes, dense);
    }
    const struct case_argument view = fetcher_view(tensor, bytes);
    return fetch_view(fetcher, &view, tensor->buffer, dense);
}

// The tensors of a list, one behind the other.
static tapml_status
fetch_list(struct fetcher *fetcher, const struct fetch_from *from, unsigned char *dense)
{
    const tapml_tensor *const *list = from->value->u.p;
    const uint64_t each = from->argument->content_bytes / from->value->count;
    for (uint32_t i = 0; i < from->value->count; i++) {
        TAPML_TRY(fetcher_tensor(fetcher, list[i], each, dense + i * each));
    }
    return TAPML_OK;
}

tapml_status
fetcher_begin(struct fetcher *fetcher, const struct fetch_from *from, struct blob **out_blob)
{
    const struct case_argument *argument = from->argument;
    const int is_list = argument->kind == TAPML_P_TENSORS_IN;
    const struct case_argument view = case_content_view(argument);
    struct blob *noted = is_list ? NULL : find_note(fetcher, from, &view);
    if (noted) {
        *out_blob = blob_ref(noted);
        return TAPML_OK;
    }
    struct blob *blob = blob_create(&fetcher->blobs, argument->content_bytes);
    if (!blob) {
        return status_no_memory();
    }
    *out_blob = blob; // Also where reading fails: what is under way writes to it.
    return is_list ? fetch_list(fetcher, from, blob->data)
                   : fetch_view(fetcher, &view, buffer_of(from), blob->data);
}

tapml_status fetcher_end(struct fetcher *fetcher, tapml_status status)
{
    if (fetcher->fetch_count > 0) {
        const tapml_status waited = backend_wait(fetcher->backend);
        status = status == TAPML_OK ? waited : status;
    }
    for (size_t i = 0; i < fetcher->fetch_count; i++) {
        const struct fetch *fetch = &fetcher->fetches[i];
        if (status == TAPML_OK) {
            gather(fetch->raw->data + fetch->skip, &fetch->view, fetch->dense);
        }
        blob_unref(fetch->raw);
    }
    fetcher->fetch_count = 0;
    return status;
}

tapml_status
fetcher_map(struct fetcher *fetcher, const struct fetch_from *from, const void **out_data)
{
    const struct case_argument view = case_content_view(from->argument);
    *out_data = NULL;
    return is_dense(&view) && from->argument->content_bytes > 0
               ? map_view(fetcher, &view, buffer_of(from), from->argument->content_bytes, out_data)
               : TAPML_OK;
}

void fetcher_unmap(struct fetcher *fetcher, const struct fetch_from *from)
{
    backend_unmap(fetcher->backend, buffer_of(from));
}
