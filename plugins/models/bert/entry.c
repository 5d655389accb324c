// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "bert.h"
#include "note.h"

#include <tapml/model/entry.h>

MODEL_COMPONENT(bert,
                "BERT: an encoder, its pooler and its normalised embeddings",
                model_root_create,
                &bert_architecture)
TAPML_PLUGIN("org.tapml.bert", "0.1.0", "TapML", "Apache-2.0", &bert)
