// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Where programs keep what is the user's (XDG Base Directory Specification 0.8): in the folder that
// a variable names, XDG_CACHE_HOME or XDG_CONFIG_HOME, else in .cache or .config of HOME. A
// variable that is no absolute path counts as absent, as does each one in a process that has more
// rights than its user.
#pragma once

#include "base/status.h"

enum user_folder_kind { USER_FOLDER_CACHE, USER_FOLDER_CONFIG };

// The path of `below` in that folder, which need not be there; "" for the folder itself. The caller
// frees it by alloc_free. TAPML_UNAVAILABLE names the variables where none is set; TAPML_NO_MEMORY.
tapml_status
user_folder_find(enum user_folder_kind kind, const char *below, char **out_path) STATUS_USED;
