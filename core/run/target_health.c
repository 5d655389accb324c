// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/target_health.h"

#include "base/alloc.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "exec/place.h"
#include "plugin/registry.h"
#include "run/forgetting.h"
#include "store/derived.h"
#include "store/invariant.h"
#include "store/metadata.h"
#include "store/result.h"
#include "store/store.h"
#include "verify/canary.h"
#include "verify/driver_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 128, VALUE_BYTES = 2 * HASH_TEXT + 8 };
static const uint64_t SECOND_NS = UINT64_C(1000000000);
static const char well[] = "well";

struct target_health {
    struct store *store;
    const char *name; // Of the target.
    struct backend *backend;
    struct canary *canary; // NULL: a target of this machine.
    int is_checked;        // Once, in this process.
    int is_recalled;       // Its canary is compared with that of an earlier start.
    int is_sick, is_slow;
    char sentence[CANARY_SENTENCE]; // Why it is sick.
    uint64_t checked_ns, kills;
    size_t cases;        // Since then.
    struct arena *arena; // Has:
    int64_t *known;      // the cases that had results then, in order,
    size_t known_count;
    int forgets_steps; // At the end,
    size_t forgotten;  // and results that were.
};

tapml_status target_health_create(struct store *store,
                                  struct registry *registry,
                                  const struct place *place,
                                  struct target_health **out_health)
{
    struct target_health *health = alloc_new(sizeof(*health));
    tapml_status status = health != NULL ? TAPML_OK : status_no_memory();

    if (status == TAPML_OK) {
        health->store = store;
        health->name = place->settings.name;
        health->backend = driver_check_backend(place);
        status = place_isolation_is_far(&place->settings.isolation)
                     ? canary_create(health->backend, registry_catalogue(registry), &health->canary)
                     : TAPML_OK;
    }
    if (status != TAPML_OK) {
        target_health_destroy(health);
        return status;
    }
    *out_health = health;
    return TAPML_OK;
}

void target_health_destroy(struct target_health *health)
{
    if (health != NULL) {
        canary_destroy(health->canary);
        arena_destroy(health->arena);
        alloc_free(health);
    }
}

// -- Rows --------------------------------------------------------------------------------------

static const char *name_row(const char *kind, const char *target, char out_name[NAME_BYTES])
{
    (void)snprintf(out_name, NAME_BYTES, "%s.%.100s", kind, target);
    return out_name;
}

const char *target_health_read(struct store *store, const char *target)
{
    char name[NAME_BYTES];

    return metadata_get(store, name_row("health", target, name));
}

// Another device, driver or build has another canary.
static struct hash hash_device(const struct backend *backend)
{
    const struct backend_info *info = backend_info(backend);
    struct text text;

    text_init(&text);
    text_format(&text, "%s\n%s\n%s\n%s\n%s", info->component, info->build_id, info->device,
                info->device_name, info->driver);
    const struct hash hash = hash_bytes(text.data, text.length);

    text_release(&text);
    return hash;
}

static void print_row(const struct target_health *health, struct hash bits, char *out_value)
{
    char device[HASH_TEXT], canary[HASH_TEXT];

    hash_text(hash_device(health->backend), device);
    hash_text(bits, canary);
    (void)snprintf(out_value, VALUE_BYTES, "%s %s", device, canary);
}

// What an earlier start has noted of this very device.
static void recall(struct target_health *health)
{
    char name[NAME_BYTES], device[HASH_TEXT];
    const char *value = metadata_get(health->store, name_row("canary", health->name, name));
    struct hash bits;

    hash_text(hash_device(health->backend), device);
    if (value != NULL && strncmp(value, device, HASH_TEXT - 1) == 0 &&
        value[HASH_TEXT - 1] == ' ' && hash_parse(value + HASH_TEXT, &bits)) {
        canary_expect(health->canary, bits);
        health->is_recalled = 1;
    }
}

static int is_noted(const struct target_health *health, const char *name, const char *value)
{
    const char *known = metadata_get(health->store, name);

    return known != NULL && strcmp(known, value) == 0;
}

// A transaction may be open: then these rows are part of it.
static tapml_status note(struct target_health *health, const char *how)
{
    char names[2][NAME_BYTES], value[VALUE_BYTES];

    print_row(health, canary_bits(health->canary), value);
    (void)name_row("canary", health->name, names[0]);
    (void)name_row("health", health->name, names[1]);
    if (is_noted(health, names[0], value) && is_noted(health, names[1], how)) {
        return TAPML_OK;
    }
    TAPML_TRY(metadata_set(health->store, names[0], value));
    return metadata_set(health->store, names[1], how);
}

static tapml_status remember_results(struct target_health *health)
{
    arena_destroy(health->arena);
    health->arena = arena_create();
    return health->arena != NULL ? result_list_cases(health->store, health->name, health->arena,
                                                     &health->known, &health->known_count)
                                 : status_no_memory();
}

// -- Checks ------------------------------------------------------------------------------------

// `how` is "well", or that it is slow, which is told once.
static tapml_status pass(struct target_health *health, const char *how)
{
    const uint64_t kills = backend_kills(health->backend);

    if (kills > health->kills) {
        log_line(LOG_WARNING,
                 "the device of '%s' was started anew, or its worker was killed, %" PRIu64
                 " times since it was last checked; its canary is as before",
                 health->name, kills - health->kills);
    }
    health->kills = kills;
    health->cases = 0;
    health->checked_ns = clock_now_ns();
    health->is_checked = 1;
    TAPML_TRY(remember_results(health));
    return note(health, how);
}

static tapml_status pass_slowly(struct target_health *health, const char *sentence)
{
    char how[TARGET_HEALTH_SENTENCE];

    (void)snprintf(how, sizeof(how), "slow: %s", sentence);
    if (!health->is_slow) {
        log_line(LOG_WARNING, "the device of '%s' is slow: %s", health->name, sentence);
        health->is_slow = 1;
    }
    return pass(health, how);
}

// Does something with the store, all of it or nothing.
static tapml_status change_at_once(struct target_health *health,
                                   tapml_status (*change)(struct target_health *health))
{
    TAPML_TRY(store_begin(health->store));
    tapml_status status = change(health);

    status = status == TAPML_OK ? store_commit(health->store) : status;
    if (status != TAPML_OK) {
        store_rollback(health->store);
    }
    return status;
}

// Whether the device is well, and was sick when an earlier start has noted its canary.
static int was_sick(const struct target_health *health, enum canary_state state)
{
    return state == CANARY_SICK && health->is_recalled && !health->is_checked &&
           canary_is_right(health->canary);
}

static tapml_status forget_all(struct target_health *health)
{
    TAPML_TRY(forgetting_results(health->store, health->name));
    return forgetting_steps(health->store, health->name);
}

// Whoever waits until the device is well can go on then, and what was found before holds no more.
static tapml_status
begin_anew(struct target_health *health, enum canary_state *out_state, char *out_sentence)
{
    TAPML_TRY(change_at_once(health, forget_all));
    log_line(LOG_WARNING,
             "the canary of '%s' is right, and gave other bits at an earlier start: the device was "
             "sick then, and all that was found is forgotten",
             health->name);
    TAPML_TRY(remember_results(health));
    canary_accept(health->canary);
    health->is_recalled = 0;
    return canary_check(health->canary, out_state, out_sentence);
}

tapml_status target_health_check(struct target_health *health)
{
    char sentence[CANARY_SENTENCE];
    enum canary_state state = CANARY_WELL;

    if (health->canary == NULL) {
        return TAPML_OK;
    }
    if (!health->is_checked) {
        recall(health);
        health->kills = backend_kills(health->backend);
        TAPML_TRY(remember_results(health));
    }
    TAPML_TRY(canary_check(health->canary, &state, sentence));
    if (was_sick(health, state)) {
        TAPML_TRY(begin_anew(health, &state, sentence));
    }
    if (!canary_is_there(health->canary)) {
        return TAPML_OK;
    }
    if (state != CANARY_SICK) {
        return state == CANARY_SLOW ? pass_slowly(health, sentence) : pass(health, well);
    }
    health->is_sick = 1;
    memcpy(health->sentence, sentence, sizeof(sentence));
    return status_fail(TAPML_DEVICE_LOST, "the device is sick: %s", sentence);
}

tapml_status target_health_look(struct target_health *health)
{
    health->cases++;
    return health->canary != NULL && health->is_checked &&
                   (health->cases >= TARGET_HEALTH_CASES ||
                    backend_kills(health->backend) != health->kills ||
                    clock_now_ns() - health->checked_ns >= TARGET_HEALTH_S * SECOND_NS)
               ? target_health_check(health)
               : TAPML_OK;
}

// -- The end -----------------------------------------------------------------------------------

// Since the last check that it has passed.
static tapml_status forget_since(struct target_health *health)
{
    char how[TARGET_HEALTH_SENTENCE];

    TAPML_TRY(result_forget_others(health->store, health->name, health->known, health->known_count,
                                   &health->forgotten));
    // These are few, and soon made again.
    TAPML_TRY(derived_forget(health->store, health->name));
    TAPML_TRY(invariant_forget(health->store, health->name));
    TAPML_TRY(health->forgets_steps ? forgetting_steps(health->store, health->name) : TAPML_OK);
    (void)snprintf(how, sizeof(how), "sick: %s", health->sentence);
    return note(health, how);
}

tapml_status
target_health_settle(struct target_health *health, int forgets_steps, tapml_status status)
{
    if (!health->is_sick) {
        return status;
    }
    health->forgets_steps = forgets_steps;
    TAPML_TRY(change_at_once(health, forget_since));
    return status_fail(TAPML_DEVICE_LOST,
                       "the device is sick: %s; %zu cases go back, and nothing is blamed on "
                       "operators: start the run again when it is well",
                       health->sentence, health->forgotten);
}

// -- Asking ------------------------------------------------------------------------------------

static tapml_status ask(struct target_health *health, int *out_is_sick, char *out_how)
{
    char sentence[CANARY_SENTENCE];
    enum canary_state state = CANARY_WELL;

    if (health->canary == NULL) {
        (void)snprintf(out_how, TARGET_HEALTH_SENTENCE, "of this machine");
        return TAPML_OK;
    }
    if (health->store != NULL) {
        recall(health);
    }
    TAPML_TRY(canary_check(health->canary, &state, sentence));
    if (was_sick(health, state)) {
        (void)snprintf(out_how, TARGET_HEALTH_SENTENCE,
                       "well: its canary is right, and gave other bits in its run, whose next "
                       "start begins anew");
        return TAPML_OK;
    }
    *out_is_sick = state == CANARY_SICK;
    (void)snprintf(out_how, TARGET_HEALTH_SENTENCE, "%s%s",
                   !canary_is_there(health->canary) ? "without a canary"
                   : state == CANARY_SICK           ? "sick: "
                   : state == CANARY_SLOW           ? "slow: "
                                                    : well,
                   sentence);
    return TAPML_OK;
}

tapml_status target_health_ask(struct store *store,
                               struct registry *registry,
                               const struct place *place,
                               int *out_is_sick,
                               char out_how[TARGET_HEALTH_SENTENCE])
{
    struct target_health *health = NULL;

    *out_is_sick = 0;
    TAPML_TRY(target_health_create(store, registry, place, &health));
    const tapml_status status = ask(health, out_is_sick, out_how);

    target_health_destroy(health);
    return status;
}
