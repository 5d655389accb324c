// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "foreign.h"

#include "ops.h"
#include "plan.h"

#include <tapml/gpu/support.h>
#include <tapml/signature.h>

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3, NAME = 64, LINE = 512, PROBLEM = 256, FILE_BYTES_MAX = 1 << 20, ITEMS_MAX = 1024 };

// Workgroups on one axis.
struct groups {
    struct signature signature; // Of one number.
    uint32_t divisor;
};

// Bytes of a file, and the memory that they are in; no memory: none.
struct file {
    char *data;
    size_t size, bytes;
};

struct gpu_foreign {
    const tapml_op_impl *impl;
    struct signature signature;
    uint32_t items;
    uint32_t group_axes;
    struct groups groups[AXES];
    uint32_t tensor_count;
    uint32_t tensors[K_BINDING_MAX]; // The parameters that are bound, in the order of arguments.
    struct k_tune tune[AXES];
    struct k_binding bindings[K_BINDING_MAX];
    struct k_kernel kernel;
    char entry[NAME];
    uint32_t params_size; // Of the block of numbers, where that is how they are passed.
    struct file text;     // With a final zero.
    struct file code;     // What was compiled of it, where the driver takes that.
};

// -- The file ----------------------------------------------------------------------------------

static tapml_status fail(const struct gpu_device *device, tapml_call *call, const char *format, ...)
    GPU_PRINTF(3, 4);

static tapml_status fail(const struct gpu_device *device, tapml_call *call, const char *format, ...)
{
    char text[PROBLEM + LINE];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments); // May be cut.
    va_end(arguments);
    return gpu_fail(&device->root->host, call, TAPML_INVALID, 0, "%s", text);
}

static tapml_status read_file(const struct gpu_device *device,
                              tapml_call *call,
                              const char *path,
                              struct file *out_file)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL) {
        return fail(device, call, "kernel %s: %s", path, strerror(errno));
    }
    out_file->bytes = FILE_BYTES_MAX;
    out_file->data = gpu_alloc(&device->root->host, out_file->bytes);
    out_file->size =
        out_file->data != NULL ? fread(out_file->data, 1, FILE_BYTES_MAX, file) : FILE_BYTES_MAX;
    (void)fclose(file);
    if (out_file->data == NULL) {
        return gpu_no_memory(&device->root->host, call);
    }
    return out_file->size < FILE_BYTES_MAX
               ? TAPML_OK
               : fail(device, call, "kernel %s: expected at most a megabyte", path);
}

static tapml_status read_text(const struct gpu_device *device,
                              tapml_call *call,
                              const char *path,
                              struct gpu_foreign *foreign)
{
    GPU_TRY(read_file(device, call, path, &foreign->text));
    if (memchr(foreign->text.data, '\0', foreign->text.size) != NULL) {
        return fail(device, call, "kernel %s: expected a text", path);
    }
    foreign->text.data[foreign->text.size] = '\0'; // There is room for it.
    return TAPML_OK;
}

// What a compiler has made of the text, where the driver does not compile texts itself.
static tapml_status read_code(const struct gpu_device *device,
                              tapml_call *call,
                              const char *path,
                              struct gpu_foreign *foreign)
{
    const char *ending = device->root->driver->code_ending;
    char file[LINE];

    if (ending == NULL) {
        return TAPML_OK;
    }
    if (snprintf(file, sizeof(file), "%s%s", path, ending) >= (int)sizeof(file)) {
        return fail(device, call, "kernel %.100s: the path is too long", path);
    }
    return read_file(device, call, file, &foreign->code);
}

// The value of `tapml-KEY:` in a comment of the text; 0 where there is none.
static int find_line(const char *text, const char *key, char out_value[LINE])
{
    char word[NAME];
    size_t length = 0;

    (void)snprintf(word, sizeof(word), "tapml-%s:", key);
    const char *at = strstr(text, word);

    if (at == NULL) {
        return 0;
    }
    at += strlen(word);
    at += strspn(at, " \t");
    length = strcspn(at, "\r\n");
    while (length > 0 && isspace((unsigned char)at[length - 1])) {
        length--;
    }
    if (length >= LINE) {
        return 0;
    }
    memcpy(out_value, at, length);
    out_value[length] = '\0';
    return 1;
}

// -- The lines ---------------------------------------------------------------------------------

static tapml_status
read_items(const struct gpu_device *device, tapml_call *call, struct gpu_foreign *foreign)
{
    const uint32_t most =
        device->limits.group_items < ITEMS_MAX ? device->limits.group_items : ITEMS_MAX;
    char line[LINE];
    char *end = NULL;

    foreign->items = 1;
    if (!find_line(foreign->text.data, "items", line)) {
        return TAPML_OK;
    }
    const unsigned long items = strtoul(line, &end, 10);

    if (end == line || *end != '\0' || items == 0 || items > most) {
        return fail(device, call, "tapml-items is '%.40s', expected 1 .. %u", line, most);
    }
    foreign->items = (uint32_t)items;
    return TAPML_OK;
}

// "y.count/256"
static tapml_status read_axis(const struct gpu_device *device,
                              tapml_call *call,
                              char *word,
                              struct gpu_foreign *foreign)
{
    struct groups *groups = &foreign->groups[foreign->group_axes];
    char *slash = strchr(word, '/'), *end = NULL;
    char problem[PROBLEM];

    groups->divisor = 1;
    if (slash != NULL) {
        *slash = '\0';
        const unsigned long divisor = strtoul(slash + 1, &end, 10);

        if (end == slash + 1 || *end != '\0' || divisor == 0 || divisor > UINT32_MAX) {
            return fail(device, call, "tapml-groups: '%.40s' is no divisor", slash + 1);
        }
        groups->divisor = (uint32_t)divisor;
    }
    if (!signature_parse_number(word, foreign->impl->op, &groups->signature, problem,
                                sizeof(problem))) {
        return fail(device, call, "tapml-groups: %s", problem);
    }
    foreign->group_axes++;
    return TAPML_OK;
}

static tapml_status
read_groups(const struct gpu_device *device, tapml_call *call, struct gpu_foreign *foreign)
{
    char line[LINE];
    tapml_status status = TAPML_OK;

    if (!find_line(foreign->text.data, "groups", line)) {
        return fail(device, call, "a comment 'tapml-groups:' is missing, such as x.rows");
    }
    for (char *word = line; status == TAPML_OK && *word != '\0';) {
        const size_t length = strcspn(word, " \t");
        char *rest = word + length + strspn(word + length, " \t");

        word[length] = '\0';
        status = foreign->group_axes < AXES
                     ? read_axis(device, call, word, foreign)
                     : fail(device, call, "tapml-groups has more than %d axes", AXES);
        word = rest;
    }
    return status;
}

static tapml_status
read_arguments(const struct gpu_device *device, tapml_call *call, struct gpu_foreign *foreign)
{
    char line[LINE], problem[PROBLEM];

    if (!find_line(foreign->text.data, "arguments", line)) {
        return fail(device, call, "a comment 'tapml-arguments:' is missing, such as x y x.count");
    }
    return signature_parse(line, foreign->impl->op, &foreign->signature, problem, sizeof(problem))
               ? TAPML_OK
               : fail(device, call, "tapml-arguments: %s", problem);
}

static uint32_t find_tensor(const struct gpu_foreign *foreign, uint32_t param)
{
    uint32_t at = 0;

    while (at < foreign->tensor_count && foreign->tensors[at] != param) {
        at++;
    }
    return at;
}

static tapml_status
list_tensors(const struct gpu_device *device, tapml_call *call, struct gpu_foreign *foreign)
{
    for (uint32_t i = 0; i < foreign->signature.count; i++) {
        const struct signature_argument *argument = &foreign->signature.arguments[i];

        if (argument->property == SIGNATURE_VALUES || argument->property == SIGNATURE_OP) {
            return fail(device, call, "'*' is for functions, no kernel takes it");
        }
        if (argument->property != SIGNATURE_TENSOR ||
            find_tensor(foreign, argument->param) < foreign->tensor_count) {
            continue;
        }
        if (foreign->tensor_count == K_BINDING_MAX) {
            return fail(device, call, "the kernel takes more than %d tensors", K_BINDING_MAX);
        }
        foreign->tensors[foreign->tensor_count++] = argument->param;
    }
    return TAPML_OK;
}

// Where a number lies in the block: at the next multiple of its size.
static uint32_t place_number(const struct signature_argument *argument, uint32_t *io_at)
{
    const uint32_t bytes = argument->type == TAPML_I64 || argument->type == TAPML_F64 ? 8 : 4;
    const uint32_t at = (*io_at + bytes - 1) / bytes * bytes;

    *io_at = at + bytes;
    return at;
}

// The block of numbers has whole rows of 16 bytes, and one at least.
static tapml_status
measure_params(const struct gpu_device *device, tapml_call *call, struct gpu_foreign *foreign)
{
    enum { ROW = 16 };
    uint32_t at = 0;

    if (device->root->driver->passing != GPU_PASSES_BINDINGS) {
        return TAPML_OK;
    }
    for (uint32_t i = 0; i < foreign->signature.count; i++) {
        if (foreign->signature.arguments[i].property != SIGNATURE_TENSOR) {
            (void)place_number(&foreign->signature.arguments[i], &at);
        }
    }
    foreign->params_size = at > 0 ? (at + ROW - 1) / ROW * ROW : ROW;
    return foreign->params_size <= K_PARAMS_MAX
               ? TAPML_OK
               : fail(device, call, "the numbers take %u bytes, expected at most %d", at,
                      K_PARAMS_MAX);
}

static int is_name(const char *text)
{
    size_t length = 0;

    while (isalnum((unsigned char)text[length]) || text[length] == '_') {
        length++;
    }
    return length > 0 && text[length] == '\0' && length < NAME;
}

static enum k_access access_of(const tapml_param *param)
{
    return param->kind == TAPML_P_TENSOR_OUT     ? K_ACCESS_OUT
           : param->kind == TAPML_P_TENSOR_INOUT ? K_ACCESS_INOUT
                                                 : K_ACCESS_IN;
}

static tapml_status
describe_kernel(const struct gpu_device *device, tapml_call *call, struct gpu_foreign *foreign)
{
    static const char *const names[AXES] = {"WG_X", "WG_Y", "WG_Z"};
    char entry[LINE] = "";

    if (!find_line(foreign->text.data, "entry", entry) || !is_name(entry)) {
        return fail(device, call, "a comment 'tapml-entry:' is missing, the name of the kernel");
    }
    memcpy(foreign->entry, entry, strlen(entry) + 1);
    for (uint32_t i = 0; i < AXES; i++) {
        foreign->tune[i] = (struct k_tune){names[i], i, i == 0 ? foreign->items : 1};
    }
    for (uint32_t i = 0; i < foreign->tensor_count; i++) {
        const tapml_param *param = foreign->impl->op->params[foreign->tensors[i]];

        foreign->bindings[i] = (struct k_binding){param->name, "", i, access_of(param)};
    }
    foreign->kernel = (struct k_kernel){
        .name = foreign->entry,
        .n_tune = AXES,
        .tune = foreign->tune,
        .n_binding = foreign->tensor_count,
        .binding = foreign->bindings,
        .params_size = foreign->params_size,
        .code = (const unsigned char *)(foreign->code.data != NULL ? foreign->code.data
                                                                   : foreign->text.data),
        .size = foreign->code.data != NULL ? foreign->code.size : foreign->text.size + 1,
        .entry = foreign->entry,
    };
    return TAPML_OK;
}

// -- Launches ----------------------------------------------------------------------------------

// A number as the kernel takes it.
static struct gpu_argument pass_number(const struct signature_argument *argument,
                                       const tapml_value *args)
{
    struct gpu_argument passed = {.is_number = 1};

    switch (argument->type) {
    case TAPML_I64:
        passed.number.i64 = signature_whole(argument, args);
        passed.bytes = sizeof(passed.number.i64);
        break;
    case TAPML_F64:
        passed.number.f64 = signature_number(argument, args);
        passed.bytes = sizeof(passed.number.f64);
        break;
    case TAPML_F32:
        passed.number.f32 = (float)signature_number(argument, args);
        passed.bytes = sizeof(passed.number.f32);
        break;
    default:
        passed.number.i32 = (int32_t)signature_whole(argument, args);
        passed.bytes = sizeof(passed.number.i32);
        break;
    }
    return passed;
}

static struct gpu_argument pass(const struct signature_argument *argument, const tapml_value *args)
{
    if (argument->property != SIGNATURE_TENSOR) {
        return pass_number(argument, args);
    }
    const tapml_tensor *tensor = signature_tensor(argument, args);

    return tensor != NULL && tensor->buffer != NULL
               ? (struct gpu_argument){.buffer = ((struct gpu_buffer *)tensor->buffer)->impl,
                                       .offset = tensor->offset}
               : (struct gpu_argument){.buffer = NULL};
}

// The numbers in their block.
static void pack(const struct gpu_foreign *foreign, const tapml_value *args, unsigned char *params)
{
    uint32_t at = 0;

    memset(params, 0, K_PARAMS_MAX);
    for (uint32_t i = 0; i < foreign->signature.count; i++) {
        const struct signature_argument *argument = &foreign->signature.arguments[i];

        if (argument->property != SIGNATURE_TENSOR) {
            const struct gpu_argument passed = pass_number(argument, args);
            const uint32_t place = place_number(argument, &at);

            memcpy(params + place, &passed.number, passed.bytes);
        }
    }
}

// Where tensors begin in their buffers; a device binds at multiples of some bytes.
static tapml_status find_offsets(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const tapml_value *args,
                                 uint64_t out_offsets[K_BINDING_MAX])
{
    enum { ALIGN = 256 }; // The most that WebGPU and Vulkan ask for.
    const struct gpu_foreign *foreign = queue->device->foreign;
    const uint32_t align =
        queue->device->reported.align != 0 ? queue->device->reported.align : ALIGN;

    for (uint32_t i = 0; i < foreign->tensor_count; i++) {
        const tapml_value *value = &args[foreign->tensors[i]];
        const tapml_tensor *tensor = value->kind != TAPML_V_NONE ? value->u.p : NULL;

        out_offsets[i] = tensor != NULL ? tensor->offset : 0;
        if (out_offsets[i] % align != 0) {
            return gpu_plan_refuse(
                queue, call,
                "'%s' begins at byte %llu of its buffer, the device binds at multiples of %u",
                foreign->impl->op->params[foreign->tensors[i]]->name,
                (unsigned long long)out_offsets[i], align);
        }
    }
    return TAPML_OK;
}

static tapml_status count_groups(struct gpu_queue *queue,
                                 tapml_call *call,
                                 const tapml_value *args,
                                 uint32_t out_groups[AXES])
{
    const struct gpu_foreign *foreign = queue->device->foreign;

    for (uint32_t i = 0; i < AXES; i++) {
        const struct groups *groups = &foreign->groups[i];
        const int64_t number =
            i < foreign->group_axes ? signature_whole(&groups->signature.arguments[0], args) : 1;
        const uint64_t divisor = i < foreign->group_axes ? groups->divisor : 1;
        const uint64_t count = number > 0 ? ((uint64_t)number + divisor - 1) / divisor : 0;

        if (count > queue->device->limits.grid) {
            return gpu_plan_refuse(queue, call, "%llu workgroups on an axis, a grid has %u",
                                   (unsigned long long)count, queue->device->limits.grid);
        }
        out_groups[i] = (uint32_t)count;
    }
    return TAPML_OK;
}

// An op call by the kernel: the function of every op.
static tapml_status call_kernel(tapml_object *object, tapml_call *call, const tapml_value *args)
{
    struct gpu_queue *queue = gpu_plan_begin(object);
    const struct gpu_foreign *foreign = queue->device->foreign;
    const int is_bound = queue->device->root->driver->passing == GPU_PASSES_BINDINGS;
    struct gpu_argument arguments[SIGNATURE_ARGUMENTS_MAX];
    unsigned char params[K_PARAMS_MAX];
    uint64_t offsets[K_BINDING_MAX];
    char reason[PROBLEM];
    struct gpu_plan plan = {.kernel = foreign->entry, .params = params};
    struct gpu_plan_foreign launched = {.kernel = &foreign->kernel,
                                        .offsets = is_bound ? offsets : NULL,
                                        .arguments = is_bound ? NULL : arguments,
                                        .argument_count = is_bound ? 0 : foreign->signature.count};

    if (!signature_takes(&foreign->signature, args, reason, sizeof(reason))) {
        return gpu_plan_refuse(queue, call, "%s", reason);
    }
    GPU_TRY(is_bound ? find_offsets(queue, call, args, offsets) : TAPML_OK);
    GPU_TRY(count_groups(queue, call, args, launched.groups));
    pack(foreign, args, params);
    for (uint32_t i = 0; i < foreign->tensor_count; i++) {
        const tapml_value *value = &args[foreign->tensors[i]];

        plan.tensors[i] = value->kind != TAPML_V_NONE ? value->u.p : NULL;
    }
    for (uint32_t i = 0; i < foreign->signature.count; i++) {
        arguments[i] = pass(&foreign->signature.arguments[i], args);
    }
    plan.groups = (uint64_t)launched.groups[0] * launched.groups[1] *
                  launched.groups[2]; // None: nothing is launched.
    return gpu_plan_launch_foreign(queue, call, &plan, &launched);
}

#define DEFINE(name, upper)                                                                        \
    static tapml_status foreign_##name(TAPML_##upper##_PARAMS)                                     \
    {                                                                                              \
        const tapml_value args[] = TAPML_##upper##_VALUES;                                         \
        return call_kernel(queue, call, args);                                                     \
    }                                                                                              \
    static const tapml_op_impl name##_impl = TAPML_IMPL(tapml_##name, foreign_##name);
#define POINT(name, upper) &name##_impl,

TAPML_OPS_EACH(DEFINE)

static const tapml_op_impl *const impls[TAPML_OPS_COUNT] = {TAPML_OPS_EACH(POINT)};

// -- Life --------------------------------------------------------------------------------------

static const tapml_op_impl *find_impl(const char *name)
{
    static const char prefix[] = "tapml.";

    for (uint32_t i = 0; i < TAPML_OPS_COUNT; i++) {
        const char *own = impls[i]->op->name;

        if (strcmp(own, name) == 0 || strcmp(own + sizeof(prefix) - 1, name) == 0) {
            return impls[i];
        }
    }
    return NULL;
}

static tapml_status
read_op(const struct gpu_device *device, tapml_call *call, struct gpu_foreign *foreign)
{
    char line[LINE];

    if (!find_line(foreign->text.data, "op", line)) {
        return fail(device, call, "a comment 'tapml-op:' is missing, the op that it computes");
    }
    foreign->impl = find_impl(line);
    return foreign->impl != NULL
               ? TAPML_OK
               : fail(device, call, "tapml-op: the catalogue has no op '%.80s'", line);
}

static tapml_status read_kernel(const struct gpu_device *device,
                                tapml_call *call,
                                const char *path,
                                struct gpu_foreign *foreign)
{
    GPU_TRY(read_text(device, call, path, foreign));
    GPU_TRY(read_code(device, call, path, foreign));
    GPU_TRY(read_op(device, call, foreign));
    GPU_TRY(read_arguments(device, call, foreign));
    GPU_TRY(read_items(device, call, foreign));
    GPU_TRY(read_groups(device, call, foreign));
    GPU_TRY(list_tensors(device, call, foreign));
    GPU_TRY(measure_params(device, call, foreign));
    return describe_kernel(device, call, foreign);
}

tapml_status
gpu_foreign_open(struct gpu_device *device, tapml_call *call, struct gpu_foreign **out_foreign)
{
    const struct gpu_host *host = &device->root->host;
    const char *path = host->core->option(host->host, "kernel");

    *out_foreign = NULL;
    if (path == NULL) {
        return TAPML_OK;
    }
    if (device->root->driver->passing == GPU_PASSES_NOTHING) {
        return fail(device, call, "option 'kernel': this driver takes no kernels but its own");
    }
    struct gpu_foreign *foreign = gpu_alloc(host, sizeof(*foreign));

    if (foreign == NULL) {
        return gpu_no_memory(host, call);
    }
    tapml_status status = read_kernel(device, call, path, foreign);

    if (status == TAPML_OK) {
        status = gpu_plan_compile_foreign(device, call, &foreign->kernel);
        status = status == TAPML_INTERNAL ? TAPML_INVALID : status; // The text's fault it is.
    }
    if (status != TAPML_OK) {
        gpu_foreign_close(device, foreign);
        return status;
    }
    *out_foreign = foreign;
    return TAPML_OK;
}

void gpu_foreign_close(struct gpu_device *device, struct gpu_foreign *foreign)
{
    const struct gpu_host *host = &device->root->host;

    if (foreign != NULL) {
        gpu_free(host, foreign->text.data, foreign->text.bytes);
        gpu_free(host, foreign->code.data, foreign->code.bytes);
        gpu_free(host, foreign, sizeof(*foreign));
    }
}

const tapml_op_impl *const *gpu_foreign_list(const struct gpu_foreign *foreign, uint32_t *out_count)
{
    *out_count = 1;
    return &foreign->impl;
}

const tapml_op_impl *gpu_foreign_find(const struct gpu_foreign *foreign, const tapml_op *op)
{
    const tapml_op *own = foreign->impl->op;

    return own->version == op->version && strcmp(own->name, op->name) == 0 ? foreign->impl : NULL;
}

const char *gpu_foreign_text(const struct gpu_foreign *foreign)
{
    return foreign->text.data;
}

const unsigned char *gpu_foreign_code(const struct gpu_foreign *foreign, size_t *out_size)
{
    *out_size = foreign->kernel.size;
    return foreign->kernel.code;
}
