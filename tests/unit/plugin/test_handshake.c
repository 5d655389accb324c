// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/handshake.h"
#include "zoo_folder.h"

#include <unistd.h>

static struct scratch place;

static struct text remark; // Of all handshakes of a test.

static void setup(void)
{
    text_init(&remark);
    scratch_make(&place);
}

static void teardown(void)
{
    scratch_remove(&place);
}

TestSuite(handshake, .init = setup, .fini = teardown);

// Shakes hands with a copy whose manifest says `to` instead of `from`: the state that results.
static enum candidate_state shake(const char *name, const char *from, const char *to)
{
    char file[SCRATCH_PATH];
    struct manifest manifest;
    struct handshake_file scanned;
    const tapml_plugin *plugin = NULL;
    enum candidate_state state = CANDIDATE_USABLE;
    zoo_copy(&place, name, from, to);
    snprintf(file, sizeof(file), "org.example.%s.tapml", name);
    cr_assert_eq(manifest_load(scratch_path(&place, file), &manifest), TAPML_OK, "%s",
                 status_message());
    snprintf(file, sizeof(file), "%s.so", name);
    cr_assert(handshake_look(scratch_path(&place, file), &scanned));
    tapml_status status = handshake_check_manifest(&manifest, &state);
    if (status == TAPML_OK) {
        status = handshake_open(place.path, &manifest, &scanned, &remark, &plugin, &state);
    }
    cr_assert_eq(status == TAPML_OK, state == CANDIDATE_USABLE);
    cr_assert_eq(plugin != NULL, state == CANDIDATE_USABLE);
    manifest_release(&manifest);
    return state;
}

static void expect(const char *name,
                   const char *from,
                   const char *to,
                   enum candidate_state state,
                   const char *sentence)
{
    const enum candidate_state found = shake(name, from, to);
    cr_assert_eq(found, state, "%s: expected %s, found %s: %s", name, candidate_state_name(state),
                 candidate_state_name(found), status_message());
    cr_assert_not_null(strstr(status_message(), sentence), "%s: %s", name, status_message());
}

Test(handshake, opens_what_agrees)
{
    cr_assert_eq(shake("good", "format", "format"), CANDIDATE_USABLE, "%s", status_message());
}

Test(handshake, a_manifest_that_lies_is_a_mismatch)
{
    expect("good", "id = org.example.good", "id = org.example.better", CANDIDATE_MISMATCH,
           "org.example.better");
    expect("good", "version = 1.0.0", "version = 1.0.1", CANDIDATE_MISMATCH, "version = 1.0.1");
    expect("good", "vendor = example", "vendor = else", CANDIDATE_MISMATCH, "vendor = else");
    expect("good", "options = speed", "options = speed more", CANDIDATE_MISMATCH, "options");
    expect("good", "build-id = ", "build-id = 0", CANDIDATE_MISMATCH, "the library is the build");
}

Test(handshake, what_the_manifest_alone_shows)
{
    expect("good", "arch = ", "arch = not-", CANDIDATE_WRONG_ARCH, "it is built for 'not-");
    expect("good", "abi = 1.0", "abi = 2.0", CANDIDATE_WRONG_ABI, "needs the ABI 2.0");
    expect("good", "abi = 1.0", "abi = 1.99", CANDIDATE_WRONG_ABI, "needs the ABI 1.99");
#if TAPML_SANITIZER == 0
    expect("good", "\nabi", "\nsanitizer = thread\nabi", CANDIDATE_WRONG_ABI, "sanitizer 'thread'");
#endif
}

Test(handshake, what_the_code_says_is_compared_too)
{
    expect("newer_abi", "format", "format", CANDIDATE_WRONG_ABI, "needs the ABI 1.");
    expect("newer_code", "format", "format", CANDIDATE_WRONG_ABI, "its code needs the ABI 1.");
    expect("short_struct", "format", "format", CANDIDATE_WRONG_ABI, "too short");
    expect("lying_note", "format", "format", CANDIDATE_MISMATCH,
           "its code says 'org.example.someone-else'");
    expect("no_symbol", "format", "format", CANDIDATE_MALFORMED, TAPML_PLUGIN_SYMBOL);
    expect("search_path", "format", "format", CANDIDATE_REFUSED, "'/nowhere'");
}

Test(handshake, what_changed_since_the_scan_is_not_opened)
{
    char library[2 * SCRATCH_PATH];
    struct manifest manifest;
    struct handshake_file scanned;
    const tapml_plugin *plugin = NULL;
    enum candidate_state state = CANDIDATE_USABLE;
    zoo_copy(&place, "good", "format", "format");
    cr_assert_eq(manifest_load(scratch_path(&place, "org.example.good.tapml"), &manifest),
                 TAPML_OK);
    snprintf(library, sizeof(library), "%s", scratch_path(&place, "good.so"));
    cr_assert(handshake_look(library, &scanned));
    cr_assert_eq(truncate(library, 0), 0);
    cr_assert_neq(handshake_open(library, &manifest, &scanned, &remark, &plugin, &state), TAPML_OK);
    cr_assert_eq(state, CANDIDATE_REPLACED);

    // And what is damaged or gone.
    cr_assert(handshake_look(library, &scanned));
    cr_assert_neq(handshake_open(library, &manifest, &scanned, &remark, &plugin, &state), TAPML_OK);
    cr_assert_eq(state, CANDIDATE_MALFORMED, "%s", candidate_state_name(state));
    cr_assert_eq(unlink(library), 0);
    cr_assert_neq(handshake_open(library, &manifest, &scanned, &remark, &plugin, &state), TAPML_OK);
    cr_assert_eq(state, CANDIDATE_MISMATCH);
    cr_assert_not(handshake_look(library, &scanned));
    manifest_release(&manifest);
}

Test(handshake, a_library_without_a_note_is_no_plugin)
{
    char *data = NULL;
    size_t size = 0;
    char path[2 * SCRATCH_PATH];
    struct manifest manifest;
    struct handshake_file scanned;
    const tapml_plugin *plugin = NULL;
    enum candidate_state state = CANDIDATE_USABLE;
    zoo_copy(&place, "good", "format", "format");
    cr_assert_eq(manifest_load(scratch_path(&place, "org.example.good.tapml"), &manifest),
                 TAPML_OK);
    cr_assert_eq(file_read(zoo_library("good", path, sizeof(path)), 1 << 28, &data, &size),
                 TAPML_OK);

    // The owner of the note becomes another one's.
    for (size_t i = 12; i + 6 < size; ++i) {
        const uint32_t type = TAPML_NOTE_TYPE;
        if (memcmp(data + i, "tapml\0", 6) == 0 && memcmp(data + i - 4, &type, 4) == 0) {
            data[i] = 'T';
        }
    }
    scratch_write(&place, "good.so", data, size);
    alloc_free(data);
    cr_assert(handshake_look(place.path, &scanned));
    cr_assert_neq(handshake_open(place.path, &manifest, &scanned, &remark, &plugin, &state),
                  TAPML_OK);
    cr_assert_eq(state, CANDIDATE_MISMATCH);
    cr_assert_not_null(strstr(status_message(), "no note"), "%s", status_message());
    manifest_release(&manifest);
}

Test(handshake, unknown_demands_are_seen)
{
    const tapml_hdr hint = {16, 0x00ff};
    const tapml_hdr demand = {16, 0x10000};
    cr_assert_not(handshake_has_unknown_demands(&hint));
    cr_assert(handshake_has_unknown_demands(&demand));
}
