// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/transfer.h"

#include "base/assert.h"

// `size` in whole grains.
static uint64_t padded(uint64_t size)
{
    ASSERT(size <= UINT64_MAX - TAPML_TRANSFER_GRAIN);
    return (size + TAPML_TRANSFER_GRAIN - 1) / TAPML_TRANSFER_GRAIN * TAPML_TRANSFER_GRAIN;
}

tapml_status transfer_to(struct backend *backend,
                         tapml_object *buffer,
                         uint64_t offset,
                         const void *source,
                         uint64_t size)
{
    return size > 0 ? backend_write(backend, buffer, offset, source, padded(size)) : TAPML_OK;
}

tapml_status transfer_from(
    struct backend *backend, tapml_object *buffer, uint64_t offset, void *target, uint64_t size)
{
    return size > 0 ? backend_read(backend, buffer, offset, target, padded(size)) : TAPML_OK;
}
