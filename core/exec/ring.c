// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "exec/ring.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/clock.h"
#include "base/text.h"
#include "exec/prefetch.h"
#include "exec/residency_slots.h"

// Sections in the order of their turns, over all calls, have numbers from 0; number n is in slot
// n % slots.
struct ring_slot {
    tapml_object *buffer;       // NULL: of a place on host memory.
    struct backend_point freed; // Behind the last reader of what it had, if `has_freed`.
    struct backend_point filled;
    int has_freed;
};

// The pages of a section.
struct section_pages {
    struct prefetch_span *spans;
    struct residency_source *sources;
    uint32_t count;
    uint64_t asked; // The number of the piece of work that reads them; 0: none.
};

struct ring {
    struct backend *backend;
    struct residency *weights;
    struct ring_settings settings;
    struct prefetch *prefetch;
    struct ring_experts *experts;
    int is_host, is_aside;
    const struct ring_program *program; // That is running, or ran last; or NULL.
    uint64_t generation;                // Of the backend, as slots were filled.
    struct ring_slot slots[RING_SLOTS_MAX];
    uint32_t slot_count;
    uint64_t slot_bytes;
    struct section_pages *pages; // Of each section.
    uint32_t pages_count;
    uint64_t next;    // The number that comes in the next turn.
    uint64_t filled;  // Numbers below this one are in slots, or were,
    uint64_t asked;   // and below this one their pages are being read.
    uint32_t current; // The section that is entered; UINT32_MAX: none.
    int is_in_doubt;  // What slots have: the last call did not end.
    struct ring_figures figures;
};

void ring_program_destroy(struct ring_program *program)
{
    if (program) {
        ring_plan_release(&program->plan);
        ring_experts_plan_release(&program->experts);
        alloc_free(program->weights);
        alloc_free(program);
    }
}

tapml_status ring_create(struct backend *backend,
                         struct residency *weights,
                         const struct ring_settings *settings,
                         struct ring **out_ring)
{
    struct backend_aside ask = {.kind = BACKEND_ASIDE_SIGNAL};
    struct ring *ring = alloc_new(sizeof(*ring));
    if (!ring) {
        return status_no_memory();
    }
    ring->backend = backend;
    ring->weights = weights;
    ring->settings = *settings;
    ring->is_host = backend_info(backend)->is_host_memory;
    ring->current = UINT32_MAX;
    ASSERT(ring->is_host || residency_slots_are_used(weights));
    tapml_status status = ring->is_host ? TAPML_UNIMPLEMENTED : backend_aside(backend, &ask);
    ring->is_aside = status == TAPML_OK;
    status = status == TAPML_UNIMPLEMENTED ? TAPML_OK : status;
    status = status == TAPML_OK ? prefetch_create(settings->bytes_per_s, &ring->prefetch) : status;
    status = status == TAPML_OK ? ring_experts_create(backend, weights, &ring->experts) : status;
    if (status != TAPML_OK) {
        ring_destroy(ring);
        return status;
    }
    *out_ring = ring;
    return TAPML_OK;
}

static void free_pages(struct ring *ring)
{
    for (uint32_t i = 0; i < ring->pages_count; i++) {
        alloc_free(ring->pages[i].spans);
        alloc_free(ring->pages[i].sources);
    }
    alloc_free(ring->pages);
    ring->pages = NULL;
    ring->pages_count = 0;
}

static void free_slots(struct ring *ring)
{
    for (uint32_t i = 0; i < ring->slot_count; i++) {
        residency_slots_free(ring->weights, ring->slots[i].buffer, ring->slot_bytes);
        ring->slots[i] = (struct ring_slot){0};
    }
    ring->slot_count = 0;
}

// -- Sections ----------------------------------------------------------------------------------

static const struct ring_plan *plan_of(const struct ring *ring)
{
    return &ring->program->plan;
}

static const struct ring_section *section_of(const struct ring *ring, uint64_t number)
{
    const struct ring_plan *plan = plan_of(ring);
    return &plan->sections[number % plan->section_count];
}

static struct section_pages *pages_of(const struct ring *ring, uint64_t number)
{
    return &ring->pages[number % plan_of(ring)->section_count];
}

static struct resident *resident_of(const struct ring *ring, const struct ring_item *item)
{
    return ring->program->weights[item->weight];
}

static void leave(struct ring *ring)
{
    if (ring->current == UINT32_MAX || ring->is_host) {
        ring->current = UINT32_MAX;
        return;
    }
    const struct ring_section *section = &plan_of(ring)->sections[ring->current];
    for (uint32_t i = 0; i < section->item_count; i++) {
        const struct ring_item *item = &plan_of(ring)->items[section->first_item + i];
        residency_slots_leave(resident_of(ring, item));
    }
    ring->current = UINT32_MAX;
}

static void enter(struct ring *ring, uint32_t index, const struct ring_slot *slot)
{
    const struct ring_section *section = &plan_of(ring)->sections[index];
    for (uint32_t i = 0; !ring->is_host && i < section->item_count; i++) {
        const struct ring_item *item = &plan_of(ring)->items[section->first_item + i];
        residency_slots_enter(resident_of(ring, item), slot->buffer, item->offset);
    }
    ring->current = index;
}

// -- Pages -------------------------------------------------------------------------------------

static uint32_t count_sources(const struct ring *ring, const struct ring_section *section)
{
    struct residency_source source;
    uint32_t count = 0;
    for (uint32_t i = 0; i < section->item_count; i++) {
        const struct ring_item *item = &plan_of(ring)->items[section->first_item + i];
        uint64_t at = 0;
        while (residency_slots_source(ring->weights, resident_of(ring, item), at, &source)) {
            at++;
            count++;
        }
    }
    return count;
}

static tapml_status find_pages(const struct ring *ring,
                               const struct ring_section *section,
                               struct section_pages *out_pages)
{
    const uint32_t count = count_sources(ring, section);
    out_pages->spans = alloc_array((size_t)count + 1, sizeof(*out_pages->spans));
    out_pages->sources = alloc_array((size_t)count + 1, sizeof(*out_pages->sources));
    if (!out_pages->spans || !out_pages->sources) {
        return status_no_memory();
    }
    for (uint32_t i = 0; i < section->item_count; i++) {
        const struct ring_item *item = &plan_of(ring)->items[section->first_item + i];
        struct residency_source *source = &out_pages->sources[out_pages->count];
        for (uint64_t at = 0;
             residency_slots_source(ring->weights, resident_of(ring, item), at, source); at++) {
            out_pages->spans[out_pages->count++] =
                (struct prefetch_span){source->data, source->bytes};
            source = &out_pages->sources[out_pages->count];
        }
    }
    return TAPML_OK;
}

static tapml_status find_all_pages(struct ring *ring)
{
    const uint32_t count = plan_of(ring)->section_count;
    ring->pages = alloc_array((size_t)count + 1, sizeof(*ring->pages));
    if (!ring->pages) {
        return status_no_memory();
    }
    ring->pages_count = count;
    for (uint32_t i = 0; i < count; i++) {
        TAPML_TRY(find_pages(ring, &plan_of(ring)->sections[i], &ring->pages[i]));
    }
    return TAPML_OK;
}

// Asks for the pages of the sections that come: as many as there are slots, and of a device as many
// again, since what is in its slots was copied.
static tapml_status ask_ahead(struct ring *ring)
{
    const struct ring_plan *plan = plan_of(ring);
    const uint64_t begin = ring->is_host ? ring->next : ring->filled;
    uint64_t end = begin + plan->slots;
    if (end > begin + plan->section_count) {
        end = begin + plan->section_count;
    }
    if (ring->asked < begin) {
        ring->asked = begin;
    }
    for (; ring->asked < end; ring->asked++) {
        struct section_pages *pages = pages_of(ring, ring->asked);
        if (pages->count > 0) {
            TAPML_TRY(prefetch_ask(ring->prefetch, pages->spans, pages->count, &pages->asked));
        }
    }
    return TAPML_OK;
}

static int are_read(const struct ring *ring, uint64_t number)
{
    const struct section_pages *pages = pages_of(ring, number);
    return pages->asked == 0 || prefetch_is_done(ring->prefetch, pages->asked);
}

static void wait_for_pages(struct ring *ring, uint64_t number)
{
    const struct section_pages *pages = pages_of(ring, number);
    if (!are_read(ring, number)) {
        const uint64_t begin_ns = clock_now_ns();
        prefetch_wait(ring->prefetch, pages->asked);
        ring->figures.waited_ns += clock_now_ns() - begin_ns;
    }
}

static void leave_pages(struct ring *ring, uint64_t number)
{
    struct section_pages *pages = pages_of(ring, number);
    for (uint32_t i = 0; i < pages->count; i++) {
        const struct residency_source *source = &pages->sources[i];
        file_map_leave(source->map, source->data, source->bytes);
    }
    pages->asked = 0;
}

// -- Slots -------------------------------------------------------------------------------------

static struct ring_slot *slot_of(struct ring *ring, uint64_t number)
{
    return &ring->slots[number % plan_of(ring)->slots];
}

static tapml_status
aside(struct ring *ring, enum backend_aside_kind kind, struct backend_point *point)
{
    struct backend_aside request = {.kind = kind, .point = *point};
    TAPML_TRY(backend_aside(ring->backend, &request));
    *point = request.point;
    return TAPML_OK;
}

// Queues the copies of a section into its slot.
static tapml_status fill(struct ring *ring, uint64_t number)
{
    const struct ring_section *section = section_of(ring, number);
    struct ring_slot *slot = slot_of(ring, number);
    wait_for_pages(ring, number);
    if (ring->is_aside && slot->has_freed) {
        TAPML_TRY(aside(ring, BACKEND_ASIDE_FOLLOW, &slot->freed));
    }
    for (uint32_t i = 0; i < section->item_count; i++) {
        const struct ring_item *item = &plan_of(ring)->items[section->first_item + i];
        TAPML_TRY(residency_slots_fill(ring->weights, resident_of(ring, item), slot->buffer,
                                       item->offset, ring->is_aside));
    }
    return ring->is_aside ? aside(ring, BACKEND_ASIDE_SIGNAL, &slot->filled) : TAPML_OK;
}

// Fills slots that nothing queued later reads: up to `end`, of which `must` come whatever they wait
// for, and others if their pages are there.
static tapml_status fill_ahead(struct ring *ring, uint64_t must, uint64_t end)
{
    TAPML_TRY(ask_ahead(ring));
    while (ring->filled < end && (ring->filled < must || are_read(ring, ring->filled))) {
        TAPML_TRY(fill(ring, ring->filled));
        ring->filled++;
        TAPML_TRY(ask_ahead(ring));
    }
    return TAPML_OK;
}

// The section that was entered is read no more by what is queued from now on.
static tapml_status free_current(struct ring *ring)
{
    const uint64_t number = ring->next - 1;
    if (ring->current == UINT32_MAX) {
        return TAPML_OK;
    }
    if (!ring->is_host) {
        struct ring_slot *slot = slot_of(ring, number);
        if (ring->is_aside) {
            TAPML_TRY(backend_signal(ring->backend, &slot->freed));
            slot->has_freed = 1;
        }
    }
    leave(ring);
    leave_pages(ring, number);
    return TAPML_OK;
}

// -- Programs ----------------------------------------------------------------------------------

// Nothing is in slots any more. The backend has no work.
static void empty(struct ring *ring, uint32_t section)
{
    const uint32_t count = ring->program ? plan_of(ring)->section_count : 0;
    prefetch_drop(ring->prefetch);
    ring_experts_empty(ring->experts);
    for (uint32_t i = 0; i < ring->pages_count; i++) {
        ring->pages[i].asked = 0;
    }
    for (uint32_t i = 0; i < ring->slot_count; i++) {
        ring->slots[i].has_freed = 0;
    }
    ring->next = ring->filled = ring->asked = count > 0 ? section : 0;
    ring->generation = backend_generation(ring->backend);
}

static tapml_status restart(struct ring *ring, uint32_t section)
{
    leave(ring);
    ring_experts_leave(ring->experts);
    TAPML_TRY(backend_wait(ring->backend));
    empty(ring, section);
    return TAPML_OK;
}

static tapml_status make_slots(struct ring *ring)
{
    const struct ring_plan *plan = plan_of(ring);
    if (plan->section_count == 0 || ring->is_host ||
        (ring->slot_count == plan->slots && ring->slot_bytes == plan->slot_bytes)) {
        return TAPML_OK;
    }
    free_slots(ring);
    ring->slot_bytes = plan->slot_bytes;
    for (; ring->slot_count < plan->slots; ring->slot_count++) {
        TAPML_TRY(residency_slots_new(ring->weights, plan->slot_bytes,
                                      &ring->slots[ring->slot_count].buffer));
    }
    return TAPML_OK;
}

// Weights that stay under one program may go under another.
static tapml_status release_all(struct ring *ring)
{
    struct resident *resident = NULL;
    for (size_t i = 0; (resident = residency_at(ring->weights, i)) != NULL; i++) {
        TAPML_TRY(residency_release(ring->weights, resident));
        residency_slots_keep(resident, 0);
    }
    return TAPML_OK;
}

// Of a device: what does not stay lies in slots. Another program that was compiled since may have
// said otherwise.
static void keep_in_slots(const struct ring *ring)
{
    const struct ring_experts_plan *experts = &ring->program->experts;
    for (uint32_t i = 0; !ring->is_host && i < ring->program->weight_count; i++) {
        if (!ring->program->weights[i]->tensor) {
            residency_slots_keep(ring->program->weights[i], !plan_of(ring)->stays[i]);
        }
    }
    for (uint32_t i = 0; !ring->is_host && i < experts->resident_count; i++) {
        if (!experts->residents[i]->tensor) {
            residency_slots_keep(experts->residents[i], 1);
        }
    }
}

static tapml_status change_program(struct ring *ring, const struct ring_program *program)
{
    leave(ring);
    TAPML_TRY(backend_wait(ring->backend));
    TAPML_TRY(ring_experts_begin(ring->experts, NULL));
    if (!ring->is_host) {
        TAPML_TRY(release_all(ring));
    }
    ring->program = NULL;
    empty(ring, 0);
    free_pages(ring);
    ring->program = program;
    tapml_status status = make_slots(ring);
    status = status == TAPML_OK ? ring_experts_begin(ring->experts, &program->experts) : status;
    if (status != TAPML_OK) {
        free_slots(ring);
        ring->program = NULL;
        return status;
    }
    return find_all_pages(ring);
}

tapml_status ring_begin(struct ring *ring, const struct ring_program *program)
{
    if (ring->program != program) {
        TAPML_TRY(change_program(ring, program));
    } else if (ring->is_in_doubt || ring->generation != backend_generation(ring->backend)) {
        TAPML_TRY(restart(ring, 0));
    }
    keep_in_slots(ring);
    ring->is_in_doubt = 1;
    return TAPML_OK;
}

void ring_distrust(struct ring *ring)
{
    ring->is_in_doubt = 1;
}

// How fast sections are loaded, by the first one, which is waited for.
static tapml_status measure(struct ring *ring)
{
    const uint64_t bytes = section_of(ring, ring->next)->bytes;
    TAPML_TRY(backend_wait(ring->backend));
    uint64_t begin_ns = clock_now_ns(), taken_ns = 0;
    TAPML_TRY(ask_ahead(ring));
    wait_for_pages(ring, ring->next);
    taken_ns = clock_now_ns() - begin_ns;
    if (!ring->is_host) {
        // Twice, since memory that is new is slower. Pages are read while others are copied.
        TAPML_TRY(fill_ahead(ring, ring->next + 1, ring->next + 1));
        TAPML_TRY(backend_wait(ring->backend));
        begin_ns = clock_now_ns();
        TAPML_TRY(fill(ring, ring->next));
        TAPML_TRY(backend_wait(ring->backend));
        const uint64_t copied_ns = clock_now_ns() - begin_ns;
        taken_ns = copied_ns > taken_ns ? copied_ns : taken_ns;
    }
    ring->figures.bytes_per_s = (uint64_t)((double)bytes * 1e9 / (double)(taken_ns + 1)) + 1;
    return TAPML_OK;
}

static tapml_status turn_pages(struct ring *ring)
{
    TAPML_TRY(ask_ahead(ring));
    wait_for_pages(ring, ring->next);
    return TAPML_OK;
}

static tapml_status turn_slots(struct ring *ring)
{
    const struct ring_slot *slot = slot_of(ring, ring->next);
    struct backend_point filled;
    TAPML_TRY(fill_ahead(ring, ring->next + 1, ring->next + 1));
    if (!ring->is_aside) {
        return TAPML_OK;
    }
    filled = slot->filled; // Before the slots of what comes are filled behind it.
    TAPML_TRY(aside(ring, BACKEND_ASIDE_JOIN, &filled));
    return fill_ahead(ring, ring->next + 1, ring->next + plan_of(ring)->slots);
}

tapml_status ring_turn(struct ring *ring, uint32_t section)
{
    const struct ring_plan *plan = plan_of(ring);
    ASSERT(section < plan->section_count);
    TAPML_TRY(free_current(ring));
    if (ring->next % plan->section_count != section ||
        ring->generation != backend_generation(ring->backend)) {
        TAPML_TRY(restart(ring, section));
    }
    if (ring->figures.bytes_per_s == 0) {
        TAPML_TRY(measure(ring));
    }
    TAPML_TRY(ring->is_host ? turn_pages(ring) : turn_slots(ring));
    enter(ring, section, slot_of(ring, ring->next));
    ring->next++;
    return TAPML_OK;
}

tapml_status ring_route(struct ring *ring, uint32_t index, const int32_t *indices, uint64_t count)
{
    return ring_experts_route(ring->experts, index, indices, count);
}

tapml_status ring_end(struct ring *ring)
{
    ring->figures.calls++;
    ring->is_in_doubt = 0;
    ring_experts_leave(ring->experts);
    if (plan_of(ring)->section_count == 0) {
        return TAPML_OK;
    }
    TAPML_TRY(free_current(ring));
    if (ring->is_host || !ring->is_aside) {
        return ask_ahead(ring);
    }
    return fill_ahead(ring, ring->next, ring->next + plan_of(ring)->slots);
}

void ring_forget(struct ring *ring)
{
    if (!ring->program) {
        return;
    }
    leave(ring);
    ring_experts_forget(ring->experts);
    prefetch_drop(ring->prefetch);
    free_pages(ring);
    ring->program = NULL;
}

void ring_destroy(struct ring *ring)
{
    if (ring) {
        ring_forget(ring);
        ring_experts_destroy(ring->experts);
        free_slots(ring);
        prefetch_destroy(ring->prefetch);
        free_pages(ring);
        alloc_free(ring);
    }
}

const struct ring_settings *ring_settings_of(const struct ring *ring)
{
    return &ring->settings;
}

struct ring_figures ring_figures(const struct ring *ring)
{
    struct ring_figures figures = ring->figures;
    figures.is_aside = ring->is_aside;
    figures.is_host = ring->is_host;
    figures.experts = ring_experts_figures(ring->experts);
    if (ring->program) {
        const struct ring_plan *plan = plan_of(ring);
        figures.sections = plan->section_count;
        figures.slots = plan->slots;
        figures.slot_bytes = plan->slot_bytes;
        figures.staying_bytes = plan->staying_bytes;
        figures.weights_bytes = plan->weights_bytes;
        figures.call_bytes = plan->loaded_bytes;
        figures.expert_slots = ring->program->experts.slots;
        figures.expert_bytes = ring->program->experts.unit_bytes;
        figures.experts_bytes = ring->program->experts.weights_bytes;
    }
    return figures;
}

static double megabytes(uint64_t bytes)
{
    return (double)bytes / 1e6;
}

// Of experts that go through slots of their own.
static void describe_experts(const struct ring_figures *figures, struct text *out_text)
{
    const struct ring_experts_figures *experts = &figures->experts;
    if (figures->expert_slots == 0) {
        return;
    }
    text_format(out_text, "; experts of %.1f MB go through %u slots of %.1f MB as they are chosen",
                megabytes(figures->experts_bytes), figures->expert_slots,
                megabytes(figures->expert_bytes));
    if (experts->chosen > 0 && figures->calls > 0) {
        text_format(out_text,
                    ": %.1f MB a call of %.1f MB of all, %.1f%% of the choices were there",
                    megabytes(experts->loaded_bytes) / (double)figures->calls,
                    megabytes(experts->all_bytes) / (double)figures->calls,
                    100.0 * (double)experts->hits / (double)experts->chosen);
    }
}

void ring_describe(const struct ring_figures *figures, const char *place, struct text *out_text)
{
    if (figures->sections == 0) {
        text_format(out_text, "ring of %s: all %.1f MB of weights stay", place,
                    megabytes(figures->weights_bytes));
        describe_experts(figures, out_text);
        return;
    }
    text_format(out_text,
                "ring of %s: %.1f MB of weights in %.1f MB; %.1f MB stay, and %u sections go "
                "through %u slots of %.1f MB, %s; each call loads %.1f MB",
                place, megabytes(figures->weights_bytes),
                megabytes(figures->staying_bytes + figures->slots * figures->slot_bytes),
                megabytes(figures->staying_bytes), figures->sections, figures->slots,
                megabytes(figures->slot_bytes),
                figures->is_host    ? "as pages of files that are read ahead"
                : figures->is_aside ? "which are filled while the device computes"
                                    : "which are filled in the order of the device's queue",
                megabytes(figures->call_bytes));
    describe_experts(figures, out_text);
    if (figures->bytes_per_s > 0) {
        const double load_ms = (double)figures->call_bytes / (double)figures->bytes_per_s * 1e3;
        text_format(out_text,
                    "; at %.2f GB/s, as measured, a call takes %.1f ms for that, beside which it "
                    "computes: one that computes for longer is as fast as without a ring",
                    (double)figures->bytes_per_s / 1e9, load_ms);
    }
}
