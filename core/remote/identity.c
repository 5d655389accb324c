// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "remote/identity.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/user_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct identity {
    EVP_PKEY *key;
    X509 *certificate;
    struct identity_hash hash;
};

enum { CODE_GROUPS = 3, CODE_GROUP_LETTERS = 5, LETTER_BITS = 5 };

// -- Hashes ------------------------------------------------------------------------------------

static tapml_status hash_bytes_of(const void *bytes, size_t size, struct identity_hash *out_hash)
{
    unsigned length = 0;

    return EVP_Digest(bytes, size, out_hash->bytes, &length, EVP_sha256(), NULL) == 1 &&
                   length == IDENTITY_HASH_BYTES
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "OpenSSL cannot compute SHA-256");
}

tapml_status identity_hash_of(X509 *certificate, struct identity_hash *out_hash)
{
    unsigned char *der = NULL;
    const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);

    if (size <= 0) {
        return status_fail(TAPML_INVALID, "a certificate has no public key");
    }
    const tapml_status status = hash_bytes_of(der, (size_t)size, out_hash);

    OPENSSL_free(der);
    return status;
}

int identity_equal(const struct identity_hash *a, const struct identity_hash *b)
{
    return memcmp(a->bytes, b->bytes, IDENTITY_HASH_BYTES) == 0;
}

void identity_hex(const struct identity_hash *hash, char out_text[IDENTITY_HEX_TEXT])
{
    for (size_t i = 0; i < IDENTITY_HASH_BYTES; i++) {
        (void)snprintf(out_text + 2 * i, 3, "%02x", hash->bytes[i]);
    }
}

int identity_parse(const char *text, struct identity_hash *out_hash)
{
    struct identity_hash hash;

    if (strlen(text) != IDENTITY_HEX_TEXT - 1 ||
        strspn(text, "0123456789abcdef") != IDENTITY_HEX_TEXT - 1) {
        return 0;
    }
    for (size_t i = 0; i < IDENTITY_HASH_BYTES; i++) {
        const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};

        hash.bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    *out_hash = hash;
    return 1;
}

void identity_code(const struct identity_hash *a,
                   const struct identity_hash *b,
                   const struct identity_hash *binding,
                   char out_text[IDENTITY_CODE_TEXT])
{
    static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford's base 32.
    static const char purpose[] = "tapml pairing 1";
    const int is_a_first = memcmp(a->bytes, b->bytes, IDENTITY_HASH_BYTES) < 0;
    const struct identity_hash *const parts[] = {is_a_first ? a : b, is_a_first ? b : a, binding};
    unsigned char all[sizeof(purpose) + sizeof(parts) / sizeof(*parts) * IDENTITY_HASH_BYTES];
    struct identity_hash mixed = {{0}};
    unsigned bits = 0, held = 0;
    size_t used = 0, next = 0;

    memcpy(all, purpose, sizeof(purpose));
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        memcpy(all + sizeof(purpose) + i * IDENTITY_HASH_BYTES, parts[i]->bytes,
               IDENTITY_HASH_BYTES);
    }
    (void)hash_bytes_of(all, sizeof(all), &mixed);
    for (size_t i = 0; i < CODE_GROUPS * CODE_GROUP_LETTERS; i++) {
        if (held < LETTER_BITS) {
            bits = bits << 8 | mixed.bytes[next++];
            held += 8;
        }
        held -= LETTER_BITS;
        if (i > 0 && i % CODE_GROUP_LETTERS == 0) {
            out_text[used++] = '-';
        }
        out_text[used++] = letters[bits >> held & 31];
        bits &= (1u << held) - 1;
    }
    out_text[used] = '\0';
}

// -- The file ----------------------------------------------------------------------------------

tapml_status identity_folder(char **out_folder)
{
    const tapml_status status = user_folder_find(USER_FOLDER_CONFIG, "tapml", out_folder);

    return status == TAPML_OK ? status : status_explain(status, "there is no folder for keys");
}

static tapml_status read_file(const char *path, FILE *file, struct identity *identity)
{
    struct stat about;

    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != geteuid() ||
        (about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return status_fail(TAPML_INVALID,
                           "%s: a key is a file of its user that nobody else can read (chmod 600)",
                           path);
    }
    identity->key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
    identity->certificate = identity->key != NULL ? PEM_read_X509(file, NULL, NULL, NULL) : NULL;
    if (identity->certificate == NULL ||
        X509_check_private_key(identity->certificate, identity->key) != 1) {
        return status_fail(TAPML_INVALID,
                           "%s: expected a private key and its certificate, both as PEM", path);
    }
    return identity_hash_of(identity->certificate, &identity->hash);
}

static int fill_certificate(X509 *certificate, EVP_PKEY *key)
{
    X509_NAME *name = X509_get_subject_name(certificate);

    // Nobody checks the dates: a key is good for as long as it is among the peers.
    return X509_set_version(certificate, 2) == 1 &&
           ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1 &&
           ASN1_TIME_set_string(X509_getm_notBefore(certificate), "20000101000000Z") == 1 &&
           ASN1_TIME_set_string(X509_getm_notAfter(certificate), "99991231235959Z") == 1 &&
           X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"tapml", -1,
                                      -1, 0) == 1 &&
           X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
           X509_sign(certificate, key, NULL) > 0;
}

static tapml_status make_key(struct identity *identity)
{
    identity->key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    identity->certificate = identity->key != NULL ? X509_new() : NULL;
    if (identity->certificate == NULL || !fill_certificate(identity->certificate, identity->key)) {
        return status_fail(TAPML_UNAVAILABLE, "OpenSSL cannot make a key of Ed25519");
    }
    return identity_hash_of(identity->certificate, &identity->hash);
}

// Written under a name of its own first, so that two processes that begin at the same time keep one
// key: the link fails for the second, which reads the first one's.
static tapml_status write_key(const struct identity *identity, const char *path)
{
    char temporary[4096];

    if (snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid()) >=
        (int)sizeof(temporary)) {
        return status_fail(TAPML_INVALID, "%s: the path is too long", path);
    }
    const int descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;

    if (file == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "%s: a key cannot be written: %s", temporary,
                           strerror(errno));
    }
    const int is_written =
        PEM_write_PrivateKey(file, identity->key, NULL, NULL, 0, NULL, NULL) == 1 &&
        PEM_write_X509(file, identity->certificate) == 1 && fflush(file) == 0;
    const int is_linked = is_written && (link(temporary, path) == 0 || errno == EEXIST);
    const int error = errno;

    (void)fclose(file);
    (void)unlink(temporary);
    return is_linked ? TAPML_OK
                     : status_fail(TAPML_UNAVAILABLE, "%s: a key cannot be written: %s", path,
                                   strerror(error));
}

static tapml_status open_at(const char *path, struct identity *identity)
{
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (descriptor < 0 && errno == ENOENT) {
        struct identity made = {.key = NULL};
        tapml_status status = make_key(&made);

        status = status == TAPML_OK ? write_key(&made, path) : status;
        EVP_PKEY_free(made.key);
        X509_free(made.certificate);
        TAPML_TRY(status);
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    }
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "r") : NULL;

    if (file == NULL) {
        return status_fail(TAPML_UNAVAILABLE, "%s: %s", path, strerror(errno));
    }
    const tapml_status status = read_file(path, file, identity);

    (void)fclose(file);
    return status;
}

tapml_status identity_open(const char *folder, struct identity **out_identity)
{
    struct identity *identity = alloc_new(sizeof(*identity));
    char *path = file_join(folder, "key.pem");
    tapml_status status =
        identity != NULL && path != NULL ? file_make_folder(folder) : status_no_memory();

    if (status == TAPML_OK) {
        status = open_at(path, identity);
    }
    alloc_free(path);
    if (status != TAPML_OK) {
        identity_release(identity);
        return status;
    }
    *out_identity = identity;
    return TAPML_OK;
}

void identity_release(struct identity *identity)
{
    if (identity != NULL) {
        EVP_PKEY_free(identity->key);
        X509_free(identity->certificate);
        alloc_free(identity);
    }
}

const struct identity_hash *identity_hash(const struct identity *identity)
{
    return &identity->hash;
}

EVP_PKEY *identity_key(const struct identity *identity)
{
    return identity->key;
}

X509 *identity_certificate(const struct identity *identity)
{
    return identity->certificate;
}
