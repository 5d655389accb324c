// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/place.h"

#include "base/alloc.h"
#include "base/assert.h"

static int opens_device(enum place_kind kind)
{
    return kind == PLACE_DEVICE || kind == PLACE_WORKER;
}

// From the outside in: a wrapper may use what it is around until it is gone.
static void close_chain(struct place *place)
{
    if (!place->shares_weights) {
        residency_destroy(place->weights);
    }
    place->weights = NULL;
    place->backend = NULL;
    for (int kind = PLACE_KINDS - 1; kind >= 0; kind--) {
        backend_release(place->links[kind]);
        place->links[kind] = NULL;
    }
}

static tapml_status
add_link(struct place *place, struct backend *inner, const struct place_link *link)
{
    struct backend **made = &place->links[link->kind];
    ASSERT(link->kind < PLACE_KINDS && !*made);
    ASSERT(opens_device(link->kind) == !inner);      // Only the innermost is around nothing.
    ASSERT(!inner || link->kind > place->outermost); // The declared order.
    ASSERT(link->kind != PLACE_LOOPBACK || place->outermost == PLACE_EXPANDED);
    TAPML_TRY(link->create(link->user, &place->settings, inner, made));
    ASSERT(*made);
    place->outermost = link->kind;
    place->backend = *made;
    return TAPML_OK;
}

// The one function that makes a chain; on a failure the caller closes what there is of it.
static tapml_status
make_chain(struct place *place, struct backend *inner, const struct place_link *links, size_t count)
{
    place->backend = inner;
    for (size_t i = 0; i < count; i++) {
        TAPML_TRY(add_link(place, place->backend, &links[i]));
    }
    ASSERT(place->backend);
    return place->shares_weights ? TAPML_OK : residency_create(place->backend, &place->weights);
}

tapml_status place_create(const struct place_settings *settings, struct place **out_place)
{
    ASSERT(settings->name);
    struct place *place = alloc_new(sizeof(*place));
    if (!place) {
        return status_no_memory();
    }
    place->settings = *settings;
    *out_place = place;
    return TAPML_OK;
}

tapml_status
place_open(struct place *place, struct backend *inner, const struct place_link *links, size_t count)
{
    ASSERT(!place->backend && !place->lost);
    place->outermost = PLACE_DEVICE;
    const tapml_status status = make_chain(place, inner, links, count);
    if (status != TAPML_OK) {
        close_chain(place);
    }
    return status;
}

static int shares_weights(const struct place_link *links, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (links[i].kind == PLACE_REDUCED || links[i].kind == PLACE_GUARD) {
            return 0;
        }
    }
    return 1;
}

tapml_status place_wrap(const struct place *base,
                        const struct place_settings *settings,
                        const struct place_link *links,
                        size_t count,
                        struct place **out_place)
{
    ASSERT(base->backend && count > 0);
    struct place *place = NULL;
    TAPML_TRY(place_create(settings, &place));
    place->outermost = base->outermost;
    place->shares_weights = shares_weights(links, count);
    place->weights = place->shares_weights ? base->weights : NULL;
    const tapml_status status = make_chain(place, base->backend, links, count);
    if (status != TAPML_OK) {
        place_destroy(place);
        return status;
    }
    *out_place = place;
    return TAPML_OK;
}

tapml_status place_lose(struct place *place, const char *why)
{
    ASSERT(!place->lost);
    place->lost = alloc_text(why);
    return place->lost ? TAPML_OK : status_no_memory();
}

void place_move(struct place *place, const struct place_settings *settings)
{
    ASSERT(!place->shares_weights && settings->name);
    close_chain(place);
    alloc_free(place->lost);
    place->lost = NULL;
    place->settings = *settings;
}

void place_tune(struct place *place, struct tuned_settings settings)
{
    ASSERT(!place->backend);
    place->settings.tuned = settings;
}

void place_destroy(struct place *place)
{
    if (place) {
        close_chain(place);
        alloc_free(place->lost);
        alloc_free(place);
    }
}

static tapml_status open_device(void *user,
                                const struct place_settings *settings,
                                struct backend *inner,
                                struct backend **out_backend)
{
    struct backend *backend = NULL;
    (void)inner;
    TAPML_TRY(registry_open(user, settings->backend, &backend));
    const tapml_status status = tuned_apply(backend, registry_catalogue(user), settings->tuned);
    if (status != TAPML_OK) {
        backend_release(backend);
        return status;
    }
    *out_backend = backend;
    return TAPML_OK;
}

struct place_link place_device_link(struct registry *registry)
{
    return (struct place_link){.kind = PLACE_DEVICE, .create = open_device, .user = registry};
}
