// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A function that `tapml-host judge` calls, and that asks another process to compute: a socket's
// other end, which is named by TAPML_CALLABLE. So any callable of a program can be judged, in
// whatever language. bindings/python/tapml/judgement.py is the other end for Python.
//
// One connection a process: the other end begins anew with each. A request is the op's name, what
// the arguments are (struct entry), then the bytes of all tensors, those of outputs too; the answer
// is a status, then the bytes of all tensors as they are after the call. All in the machine's
// order.
#include <tapml/memory/object.h>
#include <tapml/op.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ENTRIES_MAX = 4096, AXES = 6 };

// A number, an absent argument or a tensor. Those of a list follow each other.
struct entry {
    char name[32];  // Of the op's parameter.
    uint32_t kind;  // TAPML_P_*, or TAPML_V_NONE.
    uint32_t dtype; // TAPML_F32 ...; 0: no tensor.
    uint32_t rank;
    uint32_t reserved;
    uint64_t number; // The bits of an I64 or F64.
    int64_t shape[AXES], stride[AXES];
    uint64_t bytes;   // From the first element to the last.
    uint64_t address; // Of the first element, in this process.
};

struct head {
    char op[64];
    uint32_t entry_count;
    uint32_t reserved;
};

// A call on its way.
struct request {
    struct head head;
    struct entry *entries;
    void *data[ENTRIES_MAX]; // Of tensors; else NULL.
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int connection = -1;

static int fail(const char *what)
{
    (void)fprintf(stderr, "callable: %s: %s\n", what, strerror(errno));
    return 2;
}

// Connects once a process.
static int connect_once(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = getenv("TAPML_CALLABLE");

    if (connection >= 0) {
        return 0;
    }
    if (path == NULL || strlen(path) >= sizeof(address.sun_path)) {
        errno = EINVAL;
        return fail("TAPML_CALLABLE names no socket");
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (made < 0 || connect(made, (struct sockaddr *)&address, sizeof(address)) != 0) {
        const int result = fail("cannot connect");

        if (made >= 0) {
            (void)close(made);
        }
        return result;
    }
    connection = made;
    return 0;
}

static int send_all(const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        const ssize_t sent = send(connection, at, size, MSG_NOSIGNAL);

        if (sent < 0 && errno != EINTR) {
            return fail("cannot send");
        }
        at += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return 0;
}

static int receive_all(void *data, size_t size)
{
    char *at = data;

    while (size > 0) {
        const ssize_t got = recv(connection, at, size, 0);

        if (got == 0 || (got < 0 && errno != EINTR)) {
            return fail("the other end is gone");
        }
        at += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return 0;
}

// -- What is sent ------------------------------------------------------------------------------

static void describe_layout(const tapml_tensor *tensor, struct entry *entry)
{
    int64_t dense = 1, last = 0;
    int is_empty = 0;

    for (uint32_t i = tensor->rank; i-- > 0;) {
        entry->shape[i] = tensor->shape[i];
        entry->stride[i] = tensor->stride != NULL ? tensor->stride[i] : dense;
        dense *= tensor->shape[i];
        last += (tensor->shape[i] - 1) * entry->stride[i];
        is_empty |= tensor->shape[i] == 0;
    }
    entry->bytes = is_empty ? 0 : (uint64_t)(last + 1) * TAPML_DT_BYTES(tensor->dtype);
}

static int
add_tensor(struct request *request, const char *name, uint32_t kind, const tapml_tensor *tensor)
{
    struct entry *entry = &request->entries[request->head.entry_count];

    if (request->head.entry_count == ENTRIES_MAX || tensor->rank > AXES ||
        tensor->encoding != NULL || tensor->next != NULL) {
        errno = ENOTSUP;
        return fail("an argument is encoded, in panels, or one of too many");
    }
    *entry = (struct entry){.kind = kind, .dtype = tensor->dtype, .rank = tensor->rank};
    (void)snprintf(entry->name, sizeof(entry->name), "%s", name);
    describe_layout(tensor, entry);
    request->data[request->head.entry_count++] = memory_at(tensor);
    entry->address = (uint64_t)(uintptr_t)memory_at(tensor);
    return 0;
}

static int add_list(struct request *request, const char *name, const tapml_value *value)
{
    const tapml_tensor *const *list = value->u.p;
    int result = 0;

    for (uint32_t i = 0; result == 0 && i < value->count; i++) {
        result = add_tensor(request, name, value->kind, list[i]);
    }
    return result;
}

static int add_value(struct request *request, const char *name, const tapml_value *value)
{
    if (value->kind == TAPML_P_TENSORS_IN) {
        return add_list(request, name, value);
    }
    if (value->kind != TAPML_V_NONE && value->kind != TAPML_P_I64 && value->kind != TAPML_P_F64) {
        return add_tensor(request, name, value->kind, value->u.p);
    }
    struct entry *entry = &request->entries[request->head.entry_count];

    if (request->head.entry_count == ENTRIES_MAX) {
        errno = ENOTSUP;
        return fail("too many arguments");
    }
    *entry = (struct entry){.kind = value->kind};
    (void)snprintf(entry->name, sizeof(entry->name), "%s", name);
    memcpy(&entry->number, &value->u, sizeof(entry->number));
    request->data[request->head.entry_count++] = NULL;
    return 0;
}

// -- The call ----------------------------------------------------------------------------------

static int exchange(const struct request *request)
{
    uint32_t status = 0;
    int result = send_all(&request->head, sizeof(request->head));

    if (result == 0) {
        result = send_all(request->entries, request->head.entry_count * sizeof(*request->entries));
    }
    for (uint32_t i = 0; result == 0 && i < request->head.entry_count; i++) {
        result = send_all(request->data[i], (size_t)request->entries[i].bytes);
    }
    if (result == 0) {
        result = receive_all(&status, sizeof(status));
    }
    if (result != 0 || status != 0) {
        return result != 0 ? result : (int)status;
    }
    for (uint32_t i = 0; result == 0 && i < request->head.entry_count; i++) {
        result = receive_all(request->data[i], (size_t)request->entries[i].bytes);
    }
    return result;
}

// The function: `--entry tapml_callable --arguments "*op *" --returns int`. 0, or what failed: 1
// the callable, 2 the way to it.
__attribute__((visibility("default"))) int tapml_callable(const tapml_op *op,
                                                          const tapml_value *args);

int tapml_callable(const tapml_op *op, const tapml_value *args)
{
    static struct entry entries[ENTRIES_MAX];
    static struct request request; // Guarded by `lock`, like `entries`.

    (void)pthread_mutex_lock(&lock);
    memset(&request.head, 0, sizeof(request.head));
    (void)snprintf(request.head.op, sizeof(request.head.op), "%s", op->name);
    request.entries = entries;
    int result = connect_once();

    for (uint32_t i = 0; result == 0 && i < op->n_params; i++) {
        result = add_value(&request, op->params[i]->name, &args[i]);
    }
    if (result == 0) {
        result = exchange(&request);
    }
    (void)pthread_mutex_unlock(&lock);
    return result;
}
