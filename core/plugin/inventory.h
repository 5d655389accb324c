// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The plugins and components that a search found: read from their manifests and checked as far as
// possible without opening a library. The registry owns an inventory and creates its components.
//
// One thread.
#pragma once

#include "plugin/component.h"
#include "plugin/search.h"

struct ini_entry;

struct inventory {
    struct arena *arena;   // Of plugins, components and their texts.
    const struct ini *ini; // Of the search. Borrowed.
    struct pool *pool;     // For the components' services. Borrowed.
    int is_secure;         // The process has another user's rights.
    struct plugin **plugins;
    size_t plugin_count;
    size_t plugin_capacity;
    struct component **components; // In the order of the tiers.
    size_t component_count;
    size_t component_capacity;
};

// Searches for plugins and reads their manifests. Unusable ones are listed too, with state and
// sentence. `pool` may be NULL. Fails only if memory runs out or the search itself fails; the
// caller releases the inventory in either case.
tapml_status inventory_read(const struct search_options *where,
                            struct pool *pool,
                            struct inventory *out_inventory) STATUS_USED;

// Releases memory. Components must be closed before. Accepts an inventory of zeros.
void inventory_release(struct inventory *inventory);

// Whether an entry of [component.ID] is an option that its component declares. TAPML_INVALID names
// file, line, key and the options that are known, or the component that is nearest to ID. An option
// of a component that no plugin has is accepted, unless its ID is close to an existing one.
tapml_status inventory_check_option(const struct inventory *inventory,
                                    const struct ini_entry *entry) STATUS_USED;

// The same for all entries of the INI file.
tapml_status inventory_check_options(const struct inventory *inventory) STATUS_USED;
