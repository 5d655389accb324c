// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// The key by which this user's hosts and workers are known to other machines.
//
// A key is a private key of Ed25519 and a certificate that it has signed itself, in one file that
// only its user can read. Nobody vouches for it: two machines are paired by people, who compare a
// code that both sides compute of both keys (remote/peers).
//
// An identity may be used by several threads at once.
#pragma once

#include "base/status.h"

#include <openssl/types.h>

enum {
    IDENTITY_HASH_BYTES = 32, // SHA-256 of a public key as DER.
    IDENTITY_HEX_TEXT = 65,   // A hash in hexadecimal digits, and a zero byte.
    IDENTITY_CODE_TEXT = 18   // "k3m9x-7qwre-t2ypz", and a zero byte.
};

struct identity_hash {
    unsigned char bytes[IDENTITY_HASH_BYTES];
};

struct identity;

// Reads `folder`/key.pem, and makes both if they are not there. The caller releases the identity.
// TAPML_INVALID if the file is somebody else's, can be read by others, or is no key.
tapml_status identity_open(const char *folder, struct identity **out_identity) STATUS_USED;
void identity_release(struct identity *identity);

// The public key, hashed.
const struct identity_hash *identity_hash(const struct identity *identity);

// Both live as long as the identity.
EVP_PKEY *identity_key(const struct identity *identity);
X509 *identity_certificate(const struct identity *identity);

// The hash of a certificate's key. TAPML_INVALID if it has none.
tapml_status identity_hash_of(X509 *certificate, struct identity_hash *out_hash) STATUS_USED;
int identity_equal(const struct identity_hash *a, const struct identity_hash *b);
void identity_hex(const struct identity_hash *hash, char out_text[IDENTITY_HEX_TEXT]);

// Reads 64 hexadecimal digits. Returns 0 if `text` is anything else.
int identity_parse(const char *text, struct identity_hash *out_hash);

// What people compare: 75 bits of a hash of both keys, the same whichever is first, and of what
// only the two ends of one connection know (`tls_binding` of remote/tls.h). Without that, somebody
// in between could look beforehand for two keys that give both sides one code.
void identity_code(const struct identity_hash *a,
                   const struct identity_hash *b,
                   const struct identity_hash *binding,
                   char out_text[IDENTITY_CODE_TEXT]);

// The folder of keys and peers: `tapml` in $XDG_CONFIG_HOME or in ~/.config. Freed by alloc_free.
// TAPML_UNAVAILABLE if the user has no such folder.
tapml_status identity_folder(char **out_folder) STATUS_USED;
