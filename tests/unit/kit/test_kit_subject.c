// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/kit_fixture.h"
#include "harness/scratch.h"
#include "kit/kit_subject.h"

static const char *find(const char *name)
{
    return scratch_join("TAPML_TEST_BUILD", name);
}

Test(kit_subject, a_library_finds_its_manifest)
{
    struct kit_subject subject;

    cr_assert_eq(kit_subject_read(find("plugins/null/tapml-null.so"), &subject), TAPML_OK);
    cr_expect_not_null(strstr(subject.manifest_path, "/org.tapml.null.tapml"));
    cr_expect_gt(strlen(subject.manifest.build_id), 0u);
    kit_subject_release(&subject);
    cr_assert_eq(kit_subject_read(find("plugins/null/org.tapml.null.tapml"), &subject), TAPML_OK);
    cr_expect_not_null(strstr(subject.library, "/tapml-null.so"));
    subject.component = "null";
    cr_assert_eq(kit_subject_open(&subject), TAPML_OK, "%s", status_message());
    cr_assert_eq(kit_subject_ask(&subject), TAPML_OK, "%s", status_message());
    cr_expect_str_eq(subject.descriptor->id, "null");
    subject.component = "nobody";
    cr_expect_eq(kit_subject_ask(&subject), TAPML_ABI_MISMATCH);
    cr_expect_null(kit_subject_component(&subject));
    kit_subject_release(&subject);
}

Test(kit_subject, what_is_no_plugin_is_refused)
{
    struct kit_subject subject;

    cr_expect_eq(kit_subject_read("/nowhere/x.so", &subject), TAPML_NOT_FOUND);
    cr_expect_eq(kit_subject_read(find("meson-info/intro-tests.json"), &subject), TAPML_INVALID);
    cr_assert_eq(kit_subject_read(find("tests/zoo/no_symbol.so"), &subject), TAPML_OK);
    cr_expect_eq(kit_subject_open(&subject), TAPML_INVALID);
    cr_expect_not_null(strstr(status_message(), "tapml_plugin_query_v1"), "%s", status_message());
    kit_subject_release(&subject);
}
