// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "tokenizer/piece_encoder.h"

#include "base/alloc.h"

void piece_encoder_work_init(struct piece_work *work)
{
    *work = (struct piece_work){.nodes = NULL};
    merging_init(&work->merging);
}

void piece_encoder_work_release(struct piece_work *work)
{
    merging_release(&work->merging);
    alloc_free(work->nodes);
    piece_encoder_work_init(work);
}

void piece_encoder_release(struct piece_encoder *encoder)
{
    if (encoder->type) {
        encoder->type->destroy(encoder->model);
    }
    *encoder = (struct piece_encoder){.type = NULL};
}
