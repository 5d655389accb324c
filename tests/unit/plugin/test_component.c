// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "plugin/component.h"
#include "plugin/process.h"
#include "zoo_folder.h"

#include <sys/stat.h>

Test(component, a_probe_that_changes_the_process_is_put_right)
{
    const char *const names[] = {"rough_probe", NULL};
    struct ini ini;
    struct backend *backend = NULL;
    struct stat before;
    struct stat after;
    const uint64_t mode = process_float_mode();
    cr_assert_eq(stat(".", &before), 0);
    struct registry *registry = zoo_registry(names, NULL, &ini);
    cr_assert_eq(registry_open(registry, "rough_probe", &backend), TAPML_OK, "%s",
                 status_message());
    cr_assert_eq(process_float_mode(), mode);
    cr_assert_eq(stat(".", &after), 0);
    cr_assert_eq(before.st_ino, after.st_ino);
    cr_assert_str_eq(setlocale(LC_ALL, NULL), "C");
    const char *remark = registry_at(registry, 0)->remark;
    cr_assert_not_null(strstr(remark, "its probe changed floating-point mode, signal mask"), "%s",
                       remark);
    cr_assert_not_null(strstr(remark, "its probe changed handlers of signals: USR2, restored"),
                       "%s", remark);
    backend_release(backend);
    registry_destroy(registry);
    ini_release(&ini);
}

Test(component, is_brought_up_once_and_closed_in_reverse_order)
{
    const char *const names[] = {"architecture", "good", NULL};
    struct ini ini;
    const size_t live = alloc_live();
    struct registry *registry = zoo_registry(names, NULL, &ini);
    struct component *zoo = registry_find(registry, "tapml.model/1", 0);
    struct component *other = registry_find(registry, "tapml.model/1", 1);
    cr_assert_not_null(zoo);
    cr_assert_not_null(other);
    cr_assert_null(registry_find(registry, "tapml.model/1", 2));
    cr_assert_eq(zoo, registry_find(registry, "tapml.model/1", 0));
    cr_assert_eq(zoo->stage, COMPONENT_CREATED);
    cr_assert_not_null(zoo->root);
    cr_assert_eq(other->created_before, zoo);
    cr_assert_null(zoo->created_before);
    cr_assert_not(component_is_backend(zoo));
    component_close(other);
    cr_assert_null(other->root);
    cr_assert_eq(other->stage, COMPONENT_FOUND);
    registry_destroy(registry);
    ini_release(&ini);
    cr_assert_eq(alloc_live(), live);
}
