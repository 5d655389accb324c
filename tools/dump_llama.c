// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Writes what llama.cpp computes with a GGUF file, for `tapml-host eval --expected`.
//
//     cc -O1 -o dump_llama dump_llama.c -lllama -lggml -lggml-base -lm
//     dump_llama MODEL.gguf OUT.safetensors [--encoder] ID ID ID ...
//
// After the prompt come four greedy steps. Keys and values are kept in f32 and attention is the
// plain one, so that a file of f32 weights is computed in f32 throughout. The file has the tensors
// that tools/dump_expected.py writes; hidden states are those that llama.cpp calls l_out-N and
// result_norm. With --encoder it has the rows of the last hidden state. docs/judge.md.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_include) && __has_include(<ggml-backend.h>)

#include <ggml-backend.h>
#include <llama.h>

enum { STEPS = 4, TENSORS_MAX = 512, NAME_BYTES = 32, HEADER_BYTES = TENSORS_MAX * 160 };

struct array {
    char name[NAME_BYTES];
    const char *type;
    int64_t rows, columns; // One axis alone if `columns` is 0.
    void *data;
    size_t bytes;
};

struct dump {
    struct array arrays[TENSORS_MAX];
    size_t count;
    int64_t tokens; // Of the prompt; 0 behind it, when nothing more is watched.
    int32_t layers;
};

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "dump_llama: %s: %s\n", name, what);
    exit(1);
}

// Adds an array, or finds the one of this name, and returns its values.
static void *
add(struct dump *dump, const char *name, const char *type, int64_t rows, int64_t columns)
{
    const size_t size = strcmp(type, "F32") == 0 ? sizeof(float) : sizeof(int64_t);
    const size_t bytes = size * (size_t)rows * (size_t)(columns ? columns : 1);
    for (size_t i = 0; i < dump->count; ++i) {
        if (strcmp(dump->arrays[i].name, name) == 0 && dump->arrays[i].bytes == bytes) {
            return dump->arrays[i].data;
        }
    }
    if (dump->count == TENSORS_MAX) {
        fail("too many tensors", name);
    }
    struct array *array = &dump->arrays[dump->count++];
    *array = (struct array){.type = type, .rows = rows, .columns = columns, .bytes = bytes};
    (void)snprintf(array->name, sizeof(array->name), "%s", name);
    array->data = calloc(1, bytes);
    if (!array->data) {
        fail("out of memory", name);
    }
    return array->data;
}

// The number of the hidden state that a tensor of the graph is, or -1.
static int hidden_index(const struct dump *dump, const char *name)
{
    int layer = 0;
    char rest = 0;
    if (strcmp(name, "result_norm") == 0) {
        return dump->layers;
    }
    const int is_layer = sscanf(name, "l_out-%d%c", &layer, &rest) == 1 && layer + 1 < dump->layers;
    return is_layer ? layer + 1 : -1;
}

static bool watch(struct ggml_tensor *tensor, bool is_question, void *user)
{
    struct dump *dump = user;
    char name[NAME_BYTES];
    const int index = hidden_index(dump, tensor->name);
    const int is_wanted = index >= 0 && tensor->type == GGML_TYPE_F32 && dump->tokens > 0 &&
                          tensor->ne[1] == dump->tokens && ggml_is_contiguous(tensor);
    if (is_question || !is_wanted) {
        return is_wanted;
    }
    (void)snprintf(name, sizeof(name), "hidden.%d", index);
    float *data = add(dump, name, "F32", tensor->ne[1], tensor->ne[0]);
    ggml_backend_tensor_get(tensor, data, 0, ggml_nbytes(tensor));
    return true;
}

static void write_out(const struct dump *dump, const char *path)
{
    static char header[HEADER_BYTES];
    size_t length = 0;
    size_t offset = 0;
    for (size_t i = 0; i < dump->count; ++i) {
        const struct array *array = &dump->arrays[i];
        char columns[NAME_BYTES] = "";
        if (array->columns) {
            (void)snprintf(columns, sizeof(columns), ",%" PRId64, array->columns);
        }
        length += (size_t)snprintf(header + length, sizeof(header) - length,
                                   "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%" PRId64
                                   "%s],\"data_offsets\":[%zu,%zu]}",
                                   i ? "," : "{", array->name, array->type, array->rows, columns,
                                   offset, offset + array->bytes);
        offset += array->bytes;
    }
    header[length++] = '}';
    while (length % sizeof(int64_t)) {
        header[length++] = ' ';
    }
    const uint64_t size = length;
    FILE *file = fopen(path, "wb");
    int is_written =
        file && fwrite(&size, sizeof(size), 1, file) == 1 && fwrite(header, length, 1, file) == 1;
    for (size_t i = 0; i < dump->count && is_written; ++i) {
        is_written = fwrite(dump->arrays[i].data, dump->arrays[i].bytes, 1, file) == 1;
    }
    if (!is_written || fclose(file) != 0) {
        fail("cannot be written", path);
    }
}

static int64_t best(const float *logits, int32_t count)
{
    int64_t index = 0;
    for (int32_t i = 1; i < count; ++i) {
        index = logits[i] > logits[index] ? i : index;
    }
    return index;
}

static void decode(struct llama_context *context, const int64_t *ids, int64_t count, int64_t first)
{
    struct llama_batch batch = llama_batch_init((int32_t)count, 0, 1);
    batch.n_tokens = (int32_t)count;
    for (int64_t i = 0; i < count; ++i) {
        batch.token[i] = (llama_token)ids[i];
        batch.pos[i] = (llama_pos)(first + i);
        batch.n_seq_id[i] = 1;
        batch.seq_id[i][0] = 0;
        batch.logits[i] = 1;
    }
    if (llama_decode(context, batch) != 0) {
        fail("llama_decode failed", "the model");
    }
    llama_batch_free(batch);
}

static void dump_encoder(struct dump *dump,
                         struct llama_context *context,
                         const int64_t *ids,
                         int64_t count,
                         int32_t width)
{
    decode(context, ids, count, 0);
    float *rows = add(dump, "last_hidden_state", "F32", count, width);
    for (int32_t i = 0; i < count; ++i) {
        memcpy(rows + (size_t)i * (size_t)width, llama_get_embeddings_ith(context, i),
               (size_t)width * sizeof(*rows));
    }
}

static void dump_decoder(struct dump *dump,
                         struct llama_context *context,
                         const int64_t *ids,
                         int64_t count,
                         int32_t width)
{
    const size_t row_bytes = (size_t)width * sizeof(float);
    decode(context, ids, count, 0);
    float *prefill = add(dump, "prefill_logits", "F32", count, width);
    for (int32_t i = 0; i < count; ++i) {
        memcpy(prefill + (size_t)i * (size_t)width, llama_get_logits_ith(context, i), row_bytes);
    }
    dump->tokens = 0;
    int64_t *greedy = add(dump, "greedy_ids", "I64", STEPS + 1, 0);
    float *steps = add(dump, "decode_logits", "F32", STEPS, width);
    greedy[0] = best(prefill + (size_t)(count - 1) * (size_t)width, width);
    for (int32_t i = 0; i < STEPS; ++i) {
        float *row = steps + (size_t)i * (size_t)width;
        decode(context, &greedy[i], 1, count + i);
        memcpy(row, llama_get_logits_ith(context, 0), row_bytes);
        greedy[i + 1] = best(row, width);
    }
}

static void be_quiet(enum ggml_log_level level, const char *text, void *user)
{
    (void)user;
    if (level >= GGML_LOG_LEVEL_ERROR && level != GGML_LOG_LEVEL_CONT) {
        fputs(text, stderr);
    }
}

int main(int argc, char **argv)
{
    static struct dump dump;
    const int is_encoder = argc > 3 && strcmp(argv[3], "--encoder") == 0;
    const int first = is_encoder ? 4 : 3;
    if (argc <= first) {
        fail("MODEL.gguf OUT.safetensors [--encoder] ID ID ID ...", "expected");
    }
    llama_log_set(be_quiet, NULL);
    ggml_backend_load_all();
    struct llama_model_params model_params = llama_model_default_params();
    model_params.n_gpu_layers = 0;
    struct llama_model *model = llama_model_load_from_file(argv[1], model_params);
    if (!model) {
        fail("cannot be loaded", argv[1]);
    }
    struct llama_context_params params = llama_context_default_params();
    dump.tokens = argc - first;
    dump.layers = llama_model_n_layer(model);
    params.n_ctx = (uint32_t)dump.tokens + STEPS + 1;
    params.n_batch = params.n_ctx;
    params.n_ubatch = params.n_ctx;
    params.n_threads = 1;
    params.n_threads_batch = 1;
    params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
    params.type_k = GGML_TYPE_F32;
    params.type_v = GGML_TYPE_F32;
    params.embeddings = is_encoder;
    params.pooling_type = LLAMA_POOLING_TYPE_NONE;
    params.cb_eval = watch;
    params.cb_eval_user_data = &dump;
    struct llama_context *context = llama_init_from_model(model, params);
    if (!context) {
        fail("no context can be made", argv[1]);
    }
    const int64_t count = dump.tokens;
    int64_t *ids = add(&dump, "input_ids", "I64", count, 0);
    for (int i = first; i < argc; ++i) {
        ids[i - first] = strtoll(argv[i], NULL, 10);
    }
    if (is_encoder) {
        dump_encoder(&dump, context, ids, count, llama_model_n_embd(model));
    } else {
        dump_decoder(&dump, context, ids, count,
                     llama_vocab_n_tokens(llama_model_get_vocab(model)));
    }
    write_out(&dump, argv[2]);
    return 0;
}

#else // Linters without llama.cpp's headers come here.

int main(void)
{
    fputs("dump_llama: compiled without llama.h\n", stderr);
    return 1;
}

#endif
