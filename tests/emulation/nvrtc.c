// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for NVRTC: compiles a kernel's text for the CPU. Its "machine code" is a shared object
// behind a head (cuda.h), which the stand-in of the driver loads.
#include "compile.h"
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6 };

struct nvrtc_program {
    char *text;
    char log[EMULATION_LOG_SIZE];
    int is_ptx;
    unsigned char *code;
    size_t size;
};

static const int archs[] = {75, 80, 86, 89, 90, 100, 120};

enum { ARCH_COUNT = sizeof(archs) / sizeof(*archs) };

const char *nvrtcGetErrorString(nvrtcResult code)
{
    return code == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "an error of NVRTC";
}

nvrtcResult nvrtcVersion(int *out_major, int *out_minor)
{
    *out_major = 13;
    *out_minor = (int)(emulation_version("cuda_kernel.h") % 10000); // What is cached gets old.
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *out_count)
{
    *out_count = ARCH_COUNT;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *list)
{
    memcpy(list, archs, sizeof(archs));
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *out_program,
                               const char *text,
                               const char *name,
                               int header_count,
                               const char *const *headers,
                               const char *const *header_names)
{
    nvrtcProgram program = calloc(1, sizeof(*program));

    if (program != NULL && header_count == 0) {
        program->text = strdup(text);
    }
    if (program == NULL || program->text == NULL) {
        free(program);
        return INVALID_INPUT;
    }
    *out_program = program;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    free((*program)->text);
    free((*program)->code);
    free(*program);
    *program = NULL;
    return NVRTC_SUCCESS;
}

// -- Compiling ---------------------------------------------------------------------------------

// Takes one option; 0 where a real compiler would refuse it.
static int take_option(nvrtcProgram program, const char *option)
{
    char kind[8] = "";
    int arch = 0;

    if (sscanf(option, "--gpu-architecture=%7[a-z]_%d", kind, &arch) == 2) {
        for (int i = 0; i < ARCH_COUNT; i++) {
            if (archs[i] == arch) {
                program->is_ptx = strcmp(kind, "compute") == 0;
                return program->is_ptx || strcmp(kind, "sm") == 0;
            }
        }
        return 0;
    }
    return strcmp(option, "--fmad=false") == 0;
}

// The name of the kernel: what follows the parentheses of its launch bounds.
static int find_name(const char *text, char name[64])
{
    const char *at = strstr(text, "extern \"C\" __global__");
    int depth = 0;

    at = at != NULL ? strstr(at, "__launch_bounds__") : NULL;
    for (at = at != NULL ? strchr(at, '(') : NULL; at != NULL && *at != '\0'; at++) {
        depth += (*at == '(') - (*at == ')');
        if (depth == 0) {
            return sscanf(at + 1, " %63[A-Za-z0-9_]", name) == 1;
        }
    }
    return 0;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char *const *options)
{
    char name[64];
    struct emulation_code code = {NULL, 0};

    for (int i = 0; i < count; i++) {
        if (!take_option(program, options[i])) {
            (void)snprintf(program->log, sizeof(program->log), "unknown option %s", options[i]);
            return INVALID_OPTION;
        }
    }
    if (!find_name(program->text, name)) {
        (void)snprintf(program->log, sizeof(program->log), "no kernel");
        return COMPILATION;
    }
    const size_t room = strlen(program->text) + 128;
    char *text = malloc(room);

    if (text == NULL) {
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    (void)snprintf(text, room, "%s\nEMULATE(%s)\n", program->text, name);
    const int is_good = emulation_compile("cuda_kernel.h", text, &code, program->log);

    free(text);
    if (is_good) {
        const struct cuda_image head = {.magic = CUDA_IMAGE_MAGIC, .size = code.size};

        program->code = malloc(sizeof(head) + code.size);
        if (program->code != NULL) {
            memcpy(program->code, &head, sizeof(head));
            memcpy(program->code + sizeof(head), code.bytes, code.size);
            program->size = sizeof(head) + code.size;
        }
    }
    free(code.bytes);
    return program->code != NULL ? NVRTC_SUCCESS : COMPILATION;
}

// -- Results -----------------------------------------------------------------------------------

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *out_size)
{
    *out_size = strlen(program->log) + 1;
    return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    memcpy(log, program->log, strlen(program->log) + 1);
    return NVRTC_SUCCESS;
}

static nvrtcResult get_size(nvrtcProgram program, int is_there, size_t *out_size)
{
    *out_size = is_there ? program->size : 0;
    return program->code != NULL ? NVRTC_SUCCESS : INVALID_PROGRAM;
}

static nvrtcResult get_code(nvrtcProgram program, int is_there, char *data)
{
    if (program->code == NULL || !is_there) {
        return INVALID_PROGRAM;
    }
    memcpy(data, program->code, program->size);
    return NVRTC_SUCCESS;
}

// There is machine code where the architecture is a real one.
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *out_size)
{
    return get_size(program, !program->is_ptx, out_size);
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *data)
{
    return get_code(program, !program->is_ptx, data);
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *out_size)
{
    return get_size(program, 1, out_size);
}

nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *data)
{
    return get_code(program, 1, data);
}
