// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The local cache of Hugging Face's hub, as its library lays it out:
//
//   CACHE/models--ORGANISATION--NAME/refs/main            the commit, as text
//   CACHE/models--ORGANISATION--NAME/snapshots/COMMIT/    the folder of the model
//   CACHE/models--ORGANISATION--NAME/blobs/               what the links in it lead to
//
// It is only read, and nothing is downloaded. [any]
#pragma once

#include "base/status.h"

// Whether `id` has the form ORGANISATION/NAME: letters, digits, '.', '_', '-', without ".." and
// "--", each part at most 96 bytes. Such an id names no other folder of the cache.
int hub_is_id(const char *id);

// The folder of the model `id` in `cache`, at the commit that `main` names. Links in it are
// followed as in every folder of a model. TAPML_NOT_FOUND if the cache has no such model;
// TAPML_INVALID if `refs/main` is no commit, or there is no folder of that commit. The caller frees
// `out_folder` by alloc_free.
tapml_status hub_find(const char *cache, const char *id, char **out_folder) STATUS_USED;
