// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/scratch.h"
#include "remote/peers.h"

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(peers, .init = setup, .fini = teardown);

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())
#define DIGITS      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct identity_hash key_of(int seed)
{
    struct identity_hash key;

    memset(&key, seed, sizeof(key));
    return key;
}

static void add(const char *name, int seed)
{
    const struct identity_hash key = key_of(seed);

    MUST(peers_add(scratch.folder, name, &key));
}

// The file has `count` peers, and the key of `name` has this seed; 0: there is no such name.
static void expect(size_t count, const char *name, int seed)
{
    const struct identity_hash key = key_of(seed);
    struct peers peers = {.count = 0};

    MUST(peers_load(scratch.folder, &peers));
    cr_assert_eq(peers.count, count);
    const struct peer *found = peers_find_name(&peers, name);

    if (seed == 0) {
        cr_assert_null(found);
    } else {
        cr_assert_not_null(found);
        cr_assert(identity_equal(&found->key, &key));
        cr_assert_eq(peers_find_key(&peers, &key), found);
    }
    const struct identity_hash nobody = key_of(99);

    cr_assert_null(peers_find_key(&peers, &nobody));
    peers_release(&peers);
}

Test(peers, are_none_without_a_file)
{
    expect(0, "a", 0);
}

// As the file is at the moment; one that cannot be read has none.
Test(peers, are_known_as_the_file_says)
{
    const struct identity_hash key = key_of(1), other = key_of(2);
    char name[PEERS_NAME_BYTES] = "nobody";

    cr_assert_not(peers_know(scratch.folder, &key, name));
    add("box", 1);
    cr_assert(peers_know(scratch.folder, &key, NULL));
    cr_assert(peers_know(scratch.folder, &key, name));
    cr_assert_str_eq(name, "box");
    cr_assert_not(peers_know(scratch.folder, &other, name));
    (void)scratch_text(&scratch, "peers.ini", "[peer\n");
    cr_assert_not(peers_know(scratch.folder, &key, name));
}

Test(peers, are_added_replaced_and_removed)
{
    add("a", 1);
    add("b.c_d-E9", 2);
    expect(2, "a", 1);
    expect(2, "b.c_d-E9", 2);
    add("a", 3);
    expect(2, "a", 3);
    add("c", 3); // The same key by another name.
    expect(2, "a", 0);
    expect(2, "c", 3);
    MUST(peers_remove(scratch.folder, "c"));
    expect(1, "c", 0);
    expect(1, "b.c_d-E9", 2);
    cr_assert_eq(peers_remove(scratch.folder, "c"), TAPML_NOT_FOUND);
    cr_assert_not_null(strstr(status_message(), "there is no peer 'c'"), "%s", status_message());
    MUST(peers_remove(scratch.folder, "b.c_d-E9"));
    expect(0, "b.c_d-E9", 0);
}

Test(peers, have_names_that_fit_a_line)
{
    const struct identity_hash key = key_of(1);
    char name[42];

    memset(name, 'n', sizeof(name));
    name[41] = '\0';
    const char *const wrong[] = {"", "a b", "a]", "a\nb", "\xc3\xa4", "a/b", name};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cr_assert_eq(peers_add(scratch.folder, wrong[i], &key), TAPML_INVALID, "'%s'", wrong[i]);
        cr_assert_not_null(strstr(status_message(), "is no name of a peer"));
    }
    expect(0, "a", 0);
    name[40] = '\0';
    MUST(peers_add(scratch.folder, name, &key));
    expect(1, name, 1);
}

static void refuse(const char *text, const char *piece)
{
    const struct identity_hash key = key_of(1);
    struct peers peers = {.count = 0};

    (void)scratch_text(&scratch, "peers.ini", text);
    cr_assert_eq(peers_load(scratch.folder, &peers), TAPML_INVALID, "%s", text);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
    cr_assert_null(peers.arena);
    // A file that cannot be read is not written over.
    cr_assert_eq(peers_add(scratch.folder, "b", &key), TAPML_INVALID);
    cr_assert_eq(peers_remove(scratch.folder, "a"), TAPML_INVALID);
    struct stat about;

    cr_assert_eq(stat(scratch_path(&scratch, "peers.ini"), &about), 0);
    cr_assert_eq((size_t)about.st_size, strlen(text));
}

Test(peers, are_refused_with_file_and_line)
{
    refuse("[peer.a]\nkey = 12\n", "peers.ini:2: the key of 'a' is not 64 hexadecimal digits");
    refuse("[peer.a]\nkey = " DIGITS "0\n", "peers.ini:2: the key of 'a'");
    refuse("# x\n[peer.a]\nname = " DIGITS "\n", "peers.ini:3: expected 'key' in a section [peer.");
    refuse("[friend.a]\nkey = " DIGITS "\n", "peers.ini:2: expected 'key'");
    refuse("key = " DIGITS "\n", "peers.ini:1: expected 'key'");
    refuse("[peer.a\n", "peers.ini:1: ");
}

Test(peers, are_written_by_hand_too)
{
    struct peers peers = {.count = 0};

    (void)scratch_text(&scratch, "peers.ini", "; mine\n\n[peer.x]\nkey=" DIGITS "\n[peer.empty]\n");
    MUST(peers_load(scratch.folder, &peers));
    cr_assert_eq(peers.count, 1);
    cr_assert_not_null(peers_find_name(&peers, "x"));
    cr_assert_eq(peers.items[0].key.bytes[1], 0x23);
    peers_release(&peers);
    peers_release(&peers);
}

Test(peers, survive_a_lack_of_memory)
{
    struct peers peers = {.count = 0};

    add("a", 1);
    add("b", 2);
    SCRATCH_SWEEP(peers_load(scratch.folder, &peers));
    cr_assert_eq(peers.count, 2);
    peers_release(&peers);
    const struct identity_hash key = key_of(3);

    SCRATCH_SWEEP(peers_add(scratch.folder, "c", &key));
    expect(3, "c", 3);
}
