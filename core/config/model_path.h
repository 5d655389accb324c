// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// From what a user writes for a model to its folder.
//
// A path that exists is the folder. Else a word without '/' is the name of a published model
// (config/model_list.h), and ORGANISATION/NAME a folder of the hub. Both are looked for in the
// hub's local cache, in each of
//
//   $HF_HUB_CACHE   $HF_HOME/hub   $XDG_CACHE_HOME/huggingface/hub   ~/.cache/huggingface/hub
//
// in this order. A variable that is not an absolute path is passed over, and all of them under
// AT_SECURE. Nothing is downloaded.
//
// One thread, because the environment is read.
#pragma once

#include "base/status.h"

// Finds the folder of `word`. What cannot be a name is given back as it is: opening it says more.
// TAPML_NOT_FOUND says which folders were looked in, and what downloads the model; TAPML_INVALID
// if a cache or the list cannot be read. `program` is the running executable. The caller frees
// `out_folder` by alloc_free.
tapml_status model_path_find(const char *program, const char *word, char **out_folder) STATUS_USED;
