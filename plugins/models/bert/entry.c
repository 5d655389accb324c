// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

#include "bert.h"
#include "note.h"

#include <tapml/model/entry.h>

MODEL_COMPONENT(bert,
                "BERT: an encoder, its pooler and its normalised embeddings",
                model_root_create,
                &bert_architecture)
MODEL_PLUGIN("bert", &bert)
