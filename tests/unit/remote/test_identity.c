// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/alloc.h"
#include "harness/scratch.h"
#include "remote/identity.h"

#include <openssl/pem.h>
#include <sys/wait.h>

static struct scratch scratch;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(identity, .init = setup, .fini = teardown);

#define MUST(call_) cr_assert_eq((call_), TAPML_OK, "%s", status_message())

static struct identity *open_one(const char *name)
{
    struct identity *identity = NULL;

    MUST(identity_open(scratch_path(&scratch, name), &identity));
    return identity;
}

static void expect_refusal(const char *folder, tapml_status status, const char *piece)
{
    struct identity *identity = NULL;

    cr_assert_eq(identity_open(scratch_path(&scratch, folder), &identity), status);
    cr_assert_not_null(strstr(status_message(), piece), "%s", status_message());
    cr_assert_null(identity);
}

Test(identity, makes_a_key_once)
{
    struct identity *first = open_one("deep/folder");
    struct identity *again = open_one("deep/folder");
    struct identity *other = open_one("other");
    struct identity_hash of_certificate;
    struct stat about;

    cr_assert(identity_equal(identity_hash(first), identity_hash(again)));
    cr_assert_not(identity_equal(identity_hash(first), identity_hash(other)));
    MUST(identity_hash_of(identity_certificate(again), &of_certificate));
    cr_assert(identity_equal(&of_certificate, identity_hash(first)));
    cr_assert_eq(X509_check_private_key(identity_certificate(first), identity_key(again)), 1);
    cr_assert_eq(EVP_PKEY_get_id(identity_key(first)), EVP_PKEY_ED25519);
    cr_assert_eq(stat(scratch_path(&scratch, "deep/folder/key.pem"), &about), 0);
    cr_assert_eq(about.st_mode & 0777, 0600);
    identity_release(first);
    identity_release(again);
    identity_release(other);
    identity_release(NULL);
}

// Processes that begin at the same time.
Test(identity, is_the_same_for_all_that_make_it_at_once)
{
    enum { COUNT = 6 };
    struct identity_hash hashes[COUNT];
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    (void)scratch_path(&scratch, "shared");
    for (int i = 0; i < COUNT; i++) {
        const pid_t process = fork();

        if (process == 0) {
            struct identity *identity = NULL;
            const int is_open = identity_open(scratch.path, &identity) == TAPML_OK &&
                                write(ends[1], identity_hash(identity), sizeof(*hashes)) ==
                                    (ssize_t)sizeof(*hashes);
            _exit(!is_open);
        }
        cr_assert_gt(process, 0);
    }
    for (int i = 0; i < COUNT; i++) {
        int status = 0;

        cr_assert_gt(wait(&status), 0);
        cr_assert_eq(status, 0);
        cr_assert_eq(read(ends[0], &hashes[i], sizeof(hashes[i])), (ssize_t)sizeof(hashes[i]));
        cr_assert(identity_equal(&hashes[0], &hashes[i]));
    }
    close(ends[0]);
    close(ends[1]);
}

Test(identity, refuses_a_key_that_others_can_read)
{
    identity_release(open_one("a"));
    cr_assert_eq(chmod(scratch_path(&scratch, "a/key.pem"), 0640), 0);
    expect_refusal("a", TAPML_INVALID, "a/key.pem: a key is a file of its user that nobody else");
    cr_assert_eq(chmod(scratch_path(&scratch, "a/key.pem"), 0604), 0);
    expect_refusal("a", TAPML_INVALID, "chmod 600");
    cr_assert_eq(chmod(scratch_path(&scratch, "a/key.pem"), 0600), 0);
    identity_release(open_one("a"));
}

Test(identity, refuses_what_is_no_file_of_its_own)
{
    char target[2 * SCRATCH_PATH];

    identity_release(open_one("a"));
    (void)snprintf(target, sizeof(target), "%s", scratch_path(&scratch, "a/key.pem"));
    cr_assert_eq(mkdir(scratch_path(&scratch, "b"), 0700), 0);
    cr_assert_eq(symlink(target, scratch_path(&scratch, "b/key.pem")), 0);
    expect_refusal("b", TAPML_UNAVAILABLE, "b/key.pem: ");
    cr_assert_eq(mkdir(scratch_path(&scratch, "c"), 0700), 0);
    cr_assert_eq(mkdir(scratch_path(&scratch, "c/key.pem"), 0700), 0);
    expect_refusal("c", TAPML_INVALID, "c/key.pem: a key is a file");
    (void)scratch_text(&scratch, "file", "");
    cr_assert_neq(identity_open(scratch_path(&scratch, "file"), &(struct identity *){NULL}),
                  TAPML_OK);
}

static void write_pem(const char *name, EVP_PKEY *key, X509 *certificate)
{
    FILE *file = fopen(scratch_path(&scratch, name), "w");

    cr_assert_not_null(file);
    cr_assert_eq(fchmod(fileno(file), 0600), 0);
    cr_assert_eq(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    cr_assert(certificate == NULL || PEM_write_X509(file, certificate) == 1);
    cr_assert_eq(fclose(file), 0);
}

Test(identity, refuses_what_is_no_key)
{
    struct identity *first = open_one("a"), *other = open_one("b");

    write_pem("a/key.pem", identity_key(first), identity_certificate(other));
    expect_refusal("a", TAPML_INVALID, "expected a private key and its certificate");
    write_pem("a/key.pem", identity_key(first), NULL);
    expect_refusal("a", TAPML_INVALID, "expected a private key and its certificate");
    cr_assert_eq(truncate(scratch_path(&scratch, "a/key.pem"), 0), 0);
    expect_refusal("a", TAPML_INVALID, "expected a private key and its certificate");
    write_pem("a/key.pem", identity_key(first), identity_certificate(first));
    struct identity *again = open_one("a");

    cr_assert(identity_equal(identity_hash(first), identity_hash(again)));
    identity_release(first);
    identity_release(other);
    identity_release(again);
}

Test(identity, writes_and_reads_hashes_as_digits)
{
    struct identity_hash hash, found = {{0}};
    char digits[IDENTITY_HEX_TEXT];

    for (size_t i = 0; i < sizeof(hash.bytes); i++) {
        hash.bytes[i] = (unsigned char)(i * 9 + 3);
    }
    identity_hex(&hash, digits);
    cr_assert_eq(strncmp(digits, "030c151e", 8), 0);
    cr_assert(identity_parse(digits, &found));
    cr_assert(identity_equal(&hash, &found));
    digits[0] = 'A';
    cr_assert_not(identity_parse(digits, &found));
    digits[0] = 'g';
    cr_assert_not(identity_parse(digits, &found));
    digits[0] = '0';
    digits[63] = '\0';
    cr_assert_not(identity_parse(digits, &found));
    cr_assert_not(identity_parse("", &found));
    cr_assert(identity_equal(&hash, &found), "what is refused is not written");
}

// SHA-256 of "tapml pairing 1", a zero byte, both hashes and the binding, its first 75 bits in
// Crockford's base 32: computed apart from this project.
Test(identity, has_the_same_code_whichever_key_is_first)
{
    struct identity_hash a, b, binding;
    char one[IDENTITY_CODE_TEXT], other[IDENTITY_CODE_TEXT];

    memset(&a, 0x11, sizeof(a));
    memset(&b, 0xee, sizeof(b));
    memset(&binding, 0x77, sizeof(binding));
    identity_code(&a, &b, &binding, one);
    identity_code(&b, &a, &binding, other);
    cr_assert_str_eq(one, other);
    cr_assert_str_eq(one, "fd7en-cg6q0-wdhq3");
    b.bytes[31] ^= 1;
    identity_code(&a, &b, &binding, other);
    cr_assert_str_neq(one, other);
    a.bytes[0] ^= 1;
    identity_code(&a, &b, &binding, one);
    cr_assert_str_neq(one, other);
    binding.bytes[7] ^= 1;
    identity_code(&a, &b, &binding, other);
    cr_assert_str_neq(one, other, "another connection of the same two");
    cr_assert_eq(strlen(one), IDENTITY_CODE_TEXT - 1);
    cr_assert_eq(strspn(one, "0123456789abcdefghjkmnpqrstvwxyz-"), IDENTITY_CODE_TEXT - 1);
}

static void expect_folder(const char *caches, const char *home, const char *expected)
{
    char *folder = NULL;

    cr_assert_eq(
        caches != NULL ? setenv("XDG_CONFIG_HOME", caches, 1) : unsetenv("XDG_CONFIG_HOME"), 0);
    cr_assert_eq(home != NULL ? setenv("HOME", home, 1) : unsetenv("HOME"), 0);
    cr_assert_eq(identity_folder(&folder), expected != NULL ? TAPML_OK : TAPML_UNAVAILABLE);
    if (expected != NULL) {
        cr_assert_str_eq(folder, expected);
    } else {
        cr_assert_not_null(strstr(status_message(), "neither XDG_CONFIG_HOME nor HOME is set"));
    }
    alloc_free(folder);
}

Test(identity, lies_in_the_folder_of_the_user)
{
    expect_folder("/x", "/home/y", "/x/tapml");
    expect_folder("here", "/home/y", "/home/y/.config/tapml");
    expect_folder(NULL, "/home/y", "/home/y/.config/tapml");
    expect_folder("", "y", NULL);
    expect_folder(NULL, NULL, NULL);
}

Test(identity, survives_a_lack_of_memory)
{
    struct identity *identity = NULL;
    char folder[2 * SCRATCH_PATH];

    identity_release(open_one("a"));
    (void)snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "a"));
    SCRATCH_SWEEP(identity_open(folder, &identity));
    identity_release(identity);
}
