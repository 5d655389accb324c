// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A draft (docs/plugin-abi.md): handles of memory that the kernel shares between devices. Nothing
// has run with it on hardware yet, so its rules may still change, with another number.
#ifndef TAPML_DRAFT_DMA_BUF_H
#define TAPML_DRAFT_DMA_BUF_H

#include <tapml/backend.h>

#ifdef __cplusplus
extern "C" {
#endif

// A kind of tapml.memory_handles/1: `descriptor` is a DMA-BUF of the kernel, whole or from `offset`
// on. Owner and life of descriptors are as of TAPML_HANDLE_FILE. The CPU gets at the memory by mmap
// alone, between DMA_BUF_IOCTL_SYNC of begin and end. Fences that are attached to it are waited for
// by the device that imports it, and work of the device that exports it attaches its own.
#define TAPML_HANDLE_DMA_BUF "tapml.handle.dma_buf/1-draft1"

#ifdef __cplusplus
}
#endif

#endif
