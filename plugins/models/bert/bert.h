// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// BERT (arXiv 1810.04805): a post-norm encoder.
#pragma once

#include <tapml/model/context.h>

// The root object of the component, for its `create`.
tapml_status bert_create(const tapml_host *host, tapml_call *call, tapml_object **out_root);
