// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "store/declaration.h"

#include "base/text.h"
#include "store/metadata.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

// "declaration.TARGET.OP/VERSION" is "COST FORM".
static tapml_status name_of(const struct declaration *item, struct text *out_name)
{
    text_format(out_name, "declaration.%s.%s/%" PRIu32, item->target, item->op, item->version);
    return text_status(out_name);
}

static int parse(const char *value, struct declaration *io_item)
{
    const char *blank = strchr(value, ' ');
    double cost = 0;
    if (!blank || blank[1] == '\0' ||
        text_parse_f64_part(value, (size_t)(blank - value), &cost) != TAPML_OK || isnan(cost)) {
        return 0;
    }
    io_item->cost = cost;
    io_item->form = blank + 1;
    return 1;
}

int declaration_find(struct store *store, struct declaration *io_item)
{
    struct text name;
    text_init(&name);
    const tapml_status status = name_of(io_item, &name);
    const char *value = status == TAPML_OK ? metadata_get(store, name.data) : NULL;
    text_release(&name);
    return value && parse(value, io_item);
}

static tapml_status write(struct store *store, const struct declaration *item)
{
    struct text name, value;
    text_init(&name);
    text_init(&value);
    tapml_status status = name_of(item, &name);
    text_format(&value, "%.17g %s", item->cost, item->form);
    status = status == TAPML_OK ? text_status(&value) : status;
    if (status == TAPML_OK) {
        status = metadata_set(store, name.data, value.data);
    }
    text_release(&name);
    text_release(&value);
    return status;
}

tapml_status declaration_note(struct store *store, const struct declaration *item)
{
    struct declaration known = *item;
    const int has = declaration_find(store, &known);
    return has && strcmp(known.form, item->form) == 0 && known.cost >= item->cost
               ? TAPML_OK
               : write(store, item);
}
