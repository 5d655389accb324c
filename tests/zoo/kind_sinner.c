// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A component of another kind than backend and architecture, which breaks one rule, or none:
// SIN_NAME.
#include <tapml/draft/comparer.h>
#include <tapml/draft/observer.h>
#include <tapml/draft/policy.h>
#include <tapml/host.h>
#include <tapml/plugin.h>

#include <string.h>

#include ZOO_NOTE

#if defined(SIN_FAILING_COMPARER)
#define ZOO_FAILS 1
#else
#define ZOO_FAILS 0
#endif

#if defined(SIN_MOODY_COMPARER)
static int moods;
#define ZOO_MOOD (++moods)
#else
#define ZOO_MOOD 0
#endif

#if defined(SIN_EMPTY_OBSERVER)
static const tapml_observer table = {.hdr = TAPML_HDR(tapml_observer)};

#elif defined(SIN_SECRET_OBSERVER) || defined(SIN_ZEROS_OBSERVER)
// Makes calls of silu, which give zeros; the secret one does not say that it replaces.
static tapml_status before(tapml_object *observer,
                           tapml_call *call,
                           const tapml_observed *observed,
                           int32_t *out_is_made)
{
    static const float zeros[1 << 16];
    uint64_t bytes = 0;

    if (strcmp(observed->op->name, "tapml.silu") != 0 ||
        observed->size(observed, call, 1, 0, &bytes) != TAPML_OK || bytes > sizeof(zeros)) {
        return TAPML_OK;
    }
    *out_is_made = 1;
    return observed->write(observed, call, 1, zeros, bytes);
}
static const tapml_observer table = {.hdr = TAPML_HDR(tapml_observer),
#if defined(SIN_ZEROS_OBSERVER)
                                     .traits = TAPML_OBSERVER_REPLACES,
#endif
                                     .before = before};

#elif defined(SIN_QUIET_OBSERVER)
// Sees calls, and does nothing.
static tapml_status after(tapml_object *observer, tapml_call *call, const tapml_observed *observed)
{
    return TAPML_OK;
}
static const tapml_observer table = {.hdr = TAPML_HDR(tapml_observer), .after = after};
#endif

#if defined(SIN_UNNAMED_COMPARER) || defined(SIN_FIRST_COMPARER) ||                                \
    defined(SIN_FAILING_COMPARER) || defined(SIN_MOODY_COMPARER)
// The difference of the first values; the moody one gives another value each time.
static tapml_status measure(tapml_object *comparer,
                            tapml_call *call,
                            const tapml_compared *compared,
                            tapml_measure *found)
{
    const float *expected = compared->expected, *computed = compared->computed;

    if (ZOO_FAILS || compared->dtype != TAPML_F32 || compared->count == 0) {
        return ZOO_FAILS ? TAPML_UNAVAILABLE : TAPML_OK;
    }
    found->value =
        computed[0] > expected[0] ? computed[0] - expected[0] : expected[0] - computed[0];
    found->value += ZOO_MOOD;
    found->limit = 0.25;
    return TAPML_OK;
}
static const tapml_comparer table = {.hdr = TAPML_HDR(tapml_comparer),
#if !defined(SIN_UNNAMED_COMPARER)
                                     .unit = "of the first",
#endif
                                     .measure = measure};
#endif

#if defined(SIN_DOUBLE_POLICY) || defined(SIN_LAST_POLICY)
// The last kind comes first; the double one has it twice.
static tapml_status order(tapml_object *policy,
                          tapml_call *call,
                          const tapml_policy_kind *const *kinds,
                          uint32_t n_kinds,
                          uint32_t *io_order)
{
    if (n_kinds > 1) {
        const uint32_t first = io_order[0];

        io_order[0] = io_order[n_kinds - 1];
#if defined(SIN_LAST_POLICY)
        io_order[n_kinds - 1] = first;
#else
        (void)first;
#endif
    }
    return TAPML_OK;
}
static const tapml_policy table = {.hdr = TAPML_HDR(tapml_policy), .order = order};
#endif

static void release(tapml_object *object)
{
}

static const void *interface_of(tapml_object *object, const char *id)
{
    return strcmp(id, ZOO_KIND) == 0 ? (const void *)&table : NULL;
}

static const tapml_object_vt root_vt = {TAPML_HDR(tapml_object_vt), release, interface_of};

// No state: two roots may be one struct, as long as they have two addresses.
static tapml_object roots[8];

static tapml_status create(const tapml_component *component,
                           const tapml_host *host,
                           tapml_call *call,
                           tapml_object **out_root)
{
    static unsigned count;

    *out_root = &roots[count++ % 8];
    (*out_root)->vt = &root_vt;
    return TAPML_OK;
}

static const tapml_component sinner = {
    .hdr = TAPML_HDR(tapml_component),
    .kind = ZOO_KIND,
    .id = ZOO_COMPONENT,
    .title = "Breaks one rule of its kind",
    .create = create,
};
TAPML_PLUGIN("org.example." ZOO_NAME, "1.0.0", "example", "Apache-2.0", &sinner)
