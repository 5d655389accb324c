// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the two parts of LLaVA know of each other.
#pragma once

// The architecture of the image part, and its output [rows, width of the text part].
#define LLAVA_VISION   "llava_vision"
#define LLAVA_FEATURES "image_features"

// Where the text part's config is, and the id of the tokens that an image's features stand for.
#define LLAVA_TEXT            "/text_config"
#define LLAVA_IMAGE_TOKEN     "/image_token_index"
#define LLAVA_IMAGE_TOKEN_NEW "/image_token_id"
#define LLAVA_IMAGE_TOKENS    LLAVA_IMAGE_TOKEN "|" LLAVA_IMAGE_TOKEN_NEW

enum { LLAVA_TEXT_WIDTH = 4096 }; // Of its class, where the config has none.
