// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// LLaVA (arXiv 2304.08485, 2310.03744), a wrapper: its text part is a Llama, or a Mistral (Pixtral,
// arXiv 2410.07073) or Qwen2 (LLaVA-NeXT-Interleave, arXiv 2407.07895). Published configs say
// little of it, and the sizes are the class's where they are silent. In those of LLaVA's own code
// the keys of a Llama stand outside, beside what begins with "mm_".
//
// In the embedding the features of images stand in the place of their tokens.
#include "llava.h"

#include <tapml/model/decoder.h>
#include <tapml/model/names.h>
#include <tapml/model/wrapper.h>

extern const struct model_decoder describe_mistral, describe_qwen2;

static const struct model_decoder text = {
    .model_type = "llama",
    .class_name = "LlamaForCausalLM",
    .keys = {MODEL_KEYS_LLAMA},
    .defaults =
        {
            MODEL_DEFAULTS_LLAMA,
            .sizes = {.hidden = LLAVA_TEXT_WIDTH,
                      .layers = 32,
                      .heads = 32,
                      .mlp_width = 11008,
                      .vocabulary = 32000},
        },
    .tensors = {MODEL_TENSORS_LLAMA},
    .expected = {{"/rope_interleaved", "false"}},
};

// A "vocab_size" outside of the section is the section's again, which decides.
static const struct model_wrapper wrapper = {
    .section = LLAVA_TEXT,
    .may_lack_section = 1,
    .texts = {{.model_type = "llama",
               .description = &text,
               .build = model_decoder_build,
               .fill = model_decoder_fill},
              {.model_type = "mistral",
               .description = &describe_mistral,
               .build = model_decoder_build,
               .fill = model_decoder_fill},
              {.model_type = "qwen2",
               .description = &describe_qwen2,
               .build = model_decoder_build,
               .fill = model_decoder_fill}},
    .part = {.component = LLAVA_VISION,
             .output = LLAVA_FEATURES,
             .token = LLAVA_IMAGE_TOKENS,
             .usual_token = 32000},
    .shared = {"/tie_word_embeddings"},
    .ignored = {"/vision_config", "/vision_feature_layer", "/vision_feature_select_strategy",
                "/image_seq_length", "/projector_hidden_act", "/multimodal_projector_bias",
                "/ignore_index", "/vocab_size",
                // Of its own code.
                "/mm_vision_tower", "/mm_vision_select_layer", "/mm_vision_select_feature",
                "/mm_hidden_size", "/mm_image_tower", "/mm_video_tower", "/mm_projector_type",
                "/mm_resampler_type", "/mm_patch_merge_type", "/mm_projector_lr",
                "/mm_use_im_patch_token", "/mm_use_im_start_end", "/use_mm_proj",
                "/image_aspect_ratio", "/tune_mm_mlp_adapter", "/freeze_mm_mlp_adapter",
                "/unfreeze_mm_vision_tower", "/tokenizer_model_max_length",
                "/tokenizer_padding_side"},
};

const struct model_architecture describe_llava = {
    .model_type = "llava",
    .class_name = "LlavaForConditionalGeneration",
    .description = &wrapper,
    .build = model_wrapper_build,
    .fill = model_wrapper_fill,
};
