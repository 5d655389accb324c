// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// BERT (arXiv 1810.04805): a post-norm encoder.
#pragma once

#include <tapml/model/root.h>

extern const struct model_architecture bert_architecture;
