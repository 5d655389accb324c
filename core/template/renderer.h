// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What statements write.
#pragma once

#include "base/text.h"
#include "template/evaluator.h"

// Renders the tree of a whole template with the variables of the evaluator's scope, and appends to
// `out_text`. The message of a failure begins with "NAME:LINE: ".
tapml_status renderer_render(struct evaluator *evaluator,
                             const struct syntax *root,
                             struct text *out_text) STATUS_USED;
