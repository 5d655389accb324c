// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Types and helps that several keys of config/keys share.
#pragma once

extern const char key_help_backend_type[];
extern const char key_help_isolation[];
extern const char key_help_deadline[];
extern const char key_help_observers_type[];
extern const char key_help_observers[];
extern const char key_help_memory[];
extern const char key_help_mode[];
extern const char key_help_require[];
extern const char key_help_guard[];
extern const char key_help_tuning[];
extern const char key_help_activations[];
extern const char key_help_files[];
extern const char key_help_processes[];
extern const char key_help_cpu[];
extern const char key_help_rate[];
