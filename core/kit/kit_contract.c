// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "kit/kit_contract.h"

#include "base/clock.h"
#include "base/ini.h"
#include "base/text.h"
#include "kit/kit_device.h"
#include "kit/kit_subject.h"
#include "kit/process_usage.h"
#include "plugin/device_table.h"
#include "plugin/handshake.h"
#include "plugin/registry.h"
#include "schema/plain_form.h"

#include <inttypes.h>
#include <string.h>

enum {
    LIMIT_S = 60,
    ROUNDS_MAX = 1000,       // Of creations, as many as go into
    ROUNDS_NS = 5,           // seconds,
    ROUNDS_LEAST = 12,       // and at least these,
    ROUNDS_WARM = 4,         // behind those after which nothing may grow any more.
    GROWTH_BYTES = 64 * 1024 // Of a creation.
};

// -- The states --------------------------------------------------------------------------------

static int probe_again(struct kit_device *device, struct kit_result *io_result)
{
    return kit_device_expect(device, io_result, "a second probe", stand_in_probe(device->host));
}

// Every legal walk is made of these: probe twice, two roots at once, shutdown twice, and all again.
static void states_can_be_walked(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;
    tapml_object *second = NULL;

    if (!kit_device_open_root(subject, io_result, &device) || !probe_again(&device, io_result)) {
        kit_device_close(&device);
        return;
    }
    if (kit_device_expect(&device, io_result, "a second create",
                          stand_in_open(device.host, &second)) &&
        second == device.root) {
        kit_result_fail(io_result, "the second create gives the first one's object");
        second = NULL;
    }
    kit_device_drop(second);
    kit_device_release(&device);
    stand_in_shut(device.host);
    stand_in_shut(device.host);
    if (kit_result_is_good(io_result) && probe_again(&device, io_result) &&
        kit_device_expect(&device, io_result, "create after shutdown",
                          stand_in_open(device.host, &device.root))) {
        kit_device_release(&device);
    }
    kit_device_close(&device);
}

// -- Two hosts ---------------------------------------------------------------------------------

// What a root keeps of its host's memory once it is released, where there is no other host. C-03
// says so.
static uint64_t count_kept_alone(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;
    uint64_t kept = 0;

    if (kit_device_open_root(subject, io_result, &device)) {
        kit_device_release(&device);
        kept = stand_in_memory(device.host).live;
    }
    kit_device_close(&device);
    return kept;
}

// What one host gave comes back to it, whatever the other one does.
static void hosts_are_kept_apart(const struct kit_subject *subject, struct kit_result *io_result)
{
    const uint64_t kept = count_kept_alone(subject, io_result);
    struct kit_device a, b = {.host = NULL};

    if (kit_device_open_root(subject, io_result, &a) &&
        kit_device_open_root(subject, io_result, &b)) {
        kit_device_release(&a);
        if (stand_in_memory(a.host).live > kept) {
            kit_result_fail(io_result,
                            "%" PRIu64 " allocations of one host are still there after "
                            "its root was released, while another host has a root",
                            stand_in_memory(a.host).live - kept);
        }
        if (stand_in_memory(a.host).count > 0 && stand_in_memory(b.host).count == 0) {
            kit_result_fail(io_result, "a second host is asked for no memory: what belongs to it "
                                       "was taken from the first one");
        }
    }
    kit_device_close(&b);
    kit_device_close(&a);
}

// -- What creations leave behind ---------------------------------------------------------------

static void report_memory(const struct stand_in *host, struct kit_result *io_result)
{
    const struct stand_in_memory memory = stand_in_memory(host);

    if (memory.live > 0) {
        kit_result_fail(io_result,
                        "it keeps %" PRIu64 " allocations, %" PRIu64
                        " bytes, after all was released",
                        memory.live, memory.live_bytes);
    }
    if (memory.mistaken > 0) {
        kit_result_fail(io_result,
                        "it gives %" PRIu64
                        " allocations back with another size or alignment than it asked "
                        "for",
                        memory.mistaken);
    }
    if (memory.overrun > 0) {
        kit_result_fail(io_result, "it has written behind the end of %" PRIu64 " allocations",
                        memory.overrun);
    }
}

// A device of a backend too, if its table is whole.
static int create_once(const struct kit_subject *subject,
                       struct kit_result *io_result,
                       void (*look)(const struct stand_in *host, struct kit_result *io_result))
{
    struct kit_device device;
    int is_open = kit_device_open_root(subject, io_result, &device);

    if (is_open && strcmp(subject->descriptor->kind, TAPML_KIND_BACKEND) == 0 &&
        device_table_check(device.table) == TAPML_OK) {
        is_open = kit_device_open_device(subject, io_result, &device);
    }
    kit_device_release(&device);
    if (device.host != NULL) {
        stand_in_shut(device.host);
        if (look != NULL) {
            look(device.host, io_result);
        }
    }
    kit_device_close(&device);
    return is_open && kit_result_is_good(io_result);
}

static void creations_leave_nothing(const struct kit_subject *subject, struct kit_result *io_result)
{
    const uint64_t end = clock_now_ns() + (uint64_t)ROUNDS_NS * UINT64_C(1000000000);
    struct process_usage before = {0};
    int rounds = 0;

    while (rounds < ROUNDS_MAX && (rounds < ROUNDS_LEAST || clock_now_ns() < end)) {
        if (!create_once(subject, io_result, report_memory)) {
            return;
        }
        if (++rounds == ROUNDS_WARM && process_usage_read(&before) != TAPML_OK) {
            kit_result_skip(io_result, "%s", status_message());
            return;
        }
    }
    const uint64_t counted = (uint64_t)(rounds - ROUNDS_WARM);

    kit_device_expect_no_growth(&before, counted, counted * GROWTH_BYTES, io_result);
}

// -- Hosts of other minors ---------------------------------------------------------------------

static void works_with_older_hosts(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_subject older = *subject;

    for (uint32_t minor = subject->plugin->abi_needed; minor < TAPML_ABI_MINOR; minor++) {
        struct kit_result found = {.outcome = KIT_PASSED};

        older.minor = minor;
        if (!create_once(&older, &found, NULL) && found.outcome == KIT_FAILED) {
            kit_result_fail(io_result, "with a host of minor %u, which it says is enough: %s",
                            minor, found.reason);
            return;
        }
        if (found.outcome == KIT_SKIPPED) {
            *io_result = found;
            return;
        }
    }
}

// -- Devices and ops ---------------------------------------------------------------------------

static void table_is_whole(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;

    if (kit_device_open_root(subject, io_result, &device)) {
        if (device_table_check(device.table) != TAPML_OK) {
            kit_result_fail(io_result, "%s", status_message());
        }
        if ((device.table->buffer_map == NULL) != (device.table->buffer_unmap == NULL)) {
            kit_result_fail(io_result, "of buffer_map and buffer_unmap it has one alone");
        }
    }
    kit_device_close(&device);
}

static int list_devices(struct kit_device *device,
                        struct kit_result *io_result,
                        const tapml_device_info *const **out_list,
                        uint32_t *out_count)
{
    return kit_device_expect(
        device, io_result, "devices",
        device->table->devices(device->root, stand_in_call(device->host), out_list, out_count));
}

static void see_memory(const tapml_device_info *info, struct kit_result *io_result)
{
    for (uint32_t i = 0; i < info->n_memory_types; i++) {
        const tapml_memory_type *type = info->memory_types[i];

        if (!TAPML_HAS(tapml_memory_type, type, max_bytes)) {
            kit_result_fail(io_result, "device '%s' describes memory %u by too short a struct",
                            info->id, i);
            return;
        }
        if (type->align == 0 || (type->align & (type->align - 1)) != 0) {
            kit_result_fail(io_result,
                            "buffers of device '%s' begin at multiples of %" PRIu64
                            ", expected a power of two",
                            info->id, type->align);
        }
    }
}

static void
see_ids(const tapml_device_info *const *list, uint32_t count, struct kit_result *io_result)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i]->id[0] == '\0') {
            kit_result_fail(io_result, "the id of device %u is empty", i);
        }
        for (uint32_t k = 0; k < i; k++) {
            if (strcmp(list[i]->id, list[k]->id) == 0) {
                kit_result_fail(io_result, "two devices have the id '%s'", list[i]->id);
            }
        }
        see_memory(list[i], io_result);
    }
}

// The ids of a list, one a line: the list lives until it is asked for again.
static int print_ids(struct kit_device *device, struct kit_result *io_result, struct text *out_ids)
{
    const tapml_device_info *const *list = NULL;
    uint32_t count = 0;

    if (!list_devices(device, io_result, &list, &count)) {
        return 0;
    }
    if (device_table_check_list(list, count) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
        return 0;
    }
    see_ids(list, count, io_result);
    for (uint32_t i = 0; i < count; i++) {
        text_format(out_ids, "'%s' ", list[i]->id);
    }
    return text_status(out_ids) == TAPML_OK;
}

// Two lists of two roots: an id is to find its device in the next run.
static void devices_are_described(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device a, b = {.host = NULL};
    struct text first, second;

    text_init(&first);
    text_init(&second);
    if (kit_device_open_root(subject, io_result, &a) &&
        kit_device_open_root(subject, io_result, &b) && print_ids(&a, io_result, &first) &&
        print_ids(&b, io_result, &second) && strcmp(first.data, second.data) != 0) {
        kit_result_fail(io_result, "its devices are %.150s, and %.150swhen they are listed again",
                        first.data, second.data);
    }
    text_release(&first);
    text_release(&second);
    kit_device_close(&b);
    kit_device_close(&a);
}

// An id that no device has.
static const char NOBODY[] = "nobody has this id";

static void unknown_devices_are_refused(const struct kit_subject *subject,
                                        struct kit_result *io_result)
{
    struct kit_device device;
    tapml_object *opened = NULL;

    if (kit_device_open_root(subject, io_result, &device) &&
        device_table_check(device.table) == TAPML_OK) {
        const tapml_status status =
            device.table->open(device.root, stand_in_call(device.host), NOBODY, &opened);

        if (status == TAPML_OK) {
            kit_result_fail(io_result, "it opens a device '%s', which it does not list", NOBODY);
        } else if (status != TAPML_NOT_FOUND && status != TAPML_UNAVAILABLE) {
            kit_result_fail(io_result, "it refuses an unknown device with '%s', expected '%s'",
                            status_name(status), status_name(TAPML_NOT_FOUND));
        }
    }
    kit_device_drop(opened);
    kit_device_close(&device);
}

// A failure without a sentence leaves a user with a number.
static void failures_have_sentences(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;
    tapml_object *opened = NULL;

    if (kit_device_open_root(subject, io_result, &device) &&
        device_table_check(device.table) == TAPML_OK &&
        device.table->open(device.root, stand_in_call(device.host), NOBODY, &opened) != TAPML_OK &&
        stand_in_message(device.host)[0] == '\0') {
        kit_result_fail(io_result, "it refuses an unknown device and does not say why");
    }
    kit_device_drop(opened);
    kit_device_close(&device);
}

static void see_op(const tapml_op_impl *impl, uint32_t index, struct kit_result *io_result)
{
    if (!TAPML_HAS(tapml_op_impl, impl, convention) || !TAPML_HAS(tapml_op, impl->op, expands)) {
        kit_result_fail(io_result, "op %u is described by too short a struct", index);
        return;
    }
    if (impl->fn == NULL || impl->convention != 1 || handshake_has_unknown_demands(&impl->hdr)) {
        kit_result_fail(io_result, "op '%s' has %s", impl->op->name,
                        impl->fn == NULL        ? "no function"
                        : impl->convention != 1 ? "a convention that is not 1"
                                                : "flags that no host knows");
    }
    if (strchr(impl->op->name, '.') == NULL) {
        kit_result_fail(io_result, "op '%s' has no name of whose it is, as 'org.example.scale' has",
                        impl->op->name);
    }
}

// The ops of a host, and of the plugins beside this one, which may stand in its plain forms.
static int open_catalogue(const struct kit_subject *subject,
                          struct kit_result *io_result,
                          struct ini *ini,
                          struct registry **out_registry)
{
    static const char alone[] = "[plugins]\ntiers = 1\n";
    tapml_status status = ini_parse("the kit", alone, sizeof(alone) - 1, ini);

    if (status == TAPML_OK) {
        status = registry_create(
            &(struct registry_options){.files = subject->others, .ini = ini, .takes_all = 1},
            out_registry);
    }
    if (status == TAPML_OK) {
        status = registry_learn(*out_registry);
    }
    if (status != TAPML_OK) {
        kit_result_skip(io_result, "%s", status_message());
    }
    return status == TAPML_OK;
}

// What a host makes of the description: types, shapes, domains.
static void see_schema(const struct kit_subject *subject,
                       const tapml_op *op,
                       struct registry *registry,
                       struct kit_result *io_result)
{
    if (catalogue_add(registry_catalogue(registry), op, subject->component, NULL) != TAPML_OK) {
        kit_result_fail(io_result, "%s", status_message());
    }
}

static void see_form(const tapml_op *op, struct registry *registry, struct kit_result *io_result)
{
    const struct catalogue *catalogue = registry_catalogue(registry);
    const struct compiled_op *schema = catalogue_find(catalogue, op->name, op->version);
    const struct plain_form *form = NULL;

    if (schema == NULL || op->expands == NULL || op->expands[0] == '\0') {
        return;
    }
    const tapml_status status =
        plain_form_create(schema, catalogue, registry_arena(registry), &form);

    if (status != TAPML_OK) {
        kit_result_fail(io_result, "%s%s", status_message(),
                        status == TAPML_NOT_FOUND ? "; --with FILE names a plugin that has it"
                                                  : "");
    }
}

// All of them first: one may stand in the plain form of another.
static void see_schemas(const struct kit_subject *subject,
                        const tapml_op_impl *const *list,
                        uint32_t count,
                        struct kit_result *io_result)
{
    struct registry *registry = NULL;
    struct ini ini = {0};

    if (open_catalogue(subject, io_result, &ini, &registry)) {
        for (uint32_t i = 0; kit_result_is_good(io_result) && i < count; i++) {
            see_schema(subject, list[i]->op, registry, io_result);
        }
        for (uint32_t i = 0; kit_result_is_good(io_result) && i < count; i++) {
            see_form(list[i]->op, registry, io_result);
        }
    }
    registry_destroy(registry);
    ini_release(&ini);
}

static void ops_are_described(const struct kit_subject *subject, struct kit_result *io_result)
{
    struct kit_device device;
    const tapml_op_impl *const *list = NULL;
    uint32_t count = 0;

    if (kit_device_open(subject, io_result, &device) &&
        kit_device_expect(
            &device, io_result, "ops",
            device.table->ops(device.device, stand_in_call(device.host), &list, &count))) {
        for (uint32_t i = 0; kit_result_is_good(io_result) && i < count; i++) {
            see_op(list[i], i, io_result);
            for (uint32_t k = 0; kit_result_is_good(io_result) && k < i; k++) {
                if (strcmp(list[i]->op->name, list[k]->op->name) == 0 &&
                    list[i]->op->version == list[k]->op->version) {
                    kit_result_fail(io_result, "op '%s' is listed twice", list[i]->op->name);
                }
            }
        }
        if (kit_result_is_good(io_result)) {
            see_schemas(subject, list, count, io_result);
        }
    }
    kit_device_close(&device);
}

static const struct kit_check CHECKS[] = {
    {.id = "C-01",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_COMPONENT,
     .about = "its states can be walked in every legal order",
     .limit_s = LIMIT_S,
     .run = states_can_be_walked,
     .ground = KIT_GROUND},
    {.id = "C-02",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_COMPONENT,
     .about = "two hosts in one process are kept apart",
     .limit_s = LIMIT_S,
     .run = hosts_are_kept_apart,
     .ground = KIT_GROUND},
    {.id = "C-03",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_COMPONENT,
     .about = "creations leave no memory, thread or descriptor",
     .limit_s = LIMIT_S,
     .run = creations_leave_nothing},
    {.id = "C-04",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_COMPONENT,
     .about = "it works with older hosts, from the minor it needs",
     .limit_s = LIMIT_S,
     .run = works_with_older_hosts},
    {.id = "D-01",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "its table of functions is whole",
     .limit_s = LIMIT_S,
     .run = table_is_whole,
     .ground = KIT_GROUND},
    {.id = "D-02",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "devices have ids that stay, and memory",
     .limit_s = LIMIT_S,
     .run = devices_are_described},
    {.id = "D-03",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "a device that is not there is refused",
     .limit_s = LIMIT_S,
     .run = unknown_devices_are_refused},
    {.id = "D-04",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "its failures have a sentence",
     .limit_s = LIMIT_S,
     .run = failures_have_sentences},
    {.id = "D-05",
     .level = KIT_CONTRACT,
     .scope = KIT_OF_BACKEND,
     .about = "ops are described as a host takes them, each once",
     .limit_s = LIMIT_S,
     .run = ops_are_described,
     .ground = KIT_GROUND},
    {.id = NULL},
};

const struct kit_check *kit_contract_checks(void)
{
    return CHECKS;
}
