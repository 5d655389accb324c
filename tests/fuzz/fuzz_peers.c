// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// remote/peers and remote/address: any bytes as a list of peers, and its begin as an address.
#include "fuzz.h"

#include "remote/address.h"
#include "remote/peers.h"

#include <string.h>

static void feed_address(const uint8_t *data, size_t size)
{
    struct address address;
    char text[400] = "tapml://";
    const size_t used = strlen(text);
    const size_t room = sizeof(text) - 1 - used;
    memcpy(text + used, data, size < room ? size : room);
    for (int i = 0; i < 2; i++) {
        if (!fuzz_refused(i == 0 ? address_parse(text + used, &address)
                                 : address_parse_url(text, &address))) {
            FUZZ_CHECK(strnlen(address.host, sizeof(address.host)) < sizeof(address.host));
            FUZZ_CHECK(strspn(address.port, "0123456789") == strlen(address.port));
            FUZZ_CHECK(strlen(address.port) > 0 && strlen(address.port) < ADDRESS_PORT_BYTES);
        }
    }
}

static void check_peer(const struct peers *peers, const struct peer *peer)
{
    struct identity_hash again;
    char digits[IDENTITY_HEX_TEXT];
    identity_hex(&peer->key, digits);
    FUZZ_CHECK(identity_parse(digits, &again) && identity_equal(&again, &peer->key));
    FUZZ_CHECK(peers_find_name(peers, peer->name) && peers_find_key(peers, &peer->key));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct peers peers = {.arena = NULL};
    struct identity_hash key = {{1}};
    fuzz_begin();
    feed_address(data, size);
    fuzz_write("peers.ini", data, size);
    if (!fuzz_refused(peers_load(fuzz_folder(), &peers))) {
        for (size_t i = 0; i < peers.count; i++) {
            check_peer(&peers, &peers.items[i]);
        }
        peers_release(&peers);
        // What can be read can be changed.
        if (!fuzz_refused(peers_add(fuzz_folder(), "me", &key))) {
            FUZZ_CHECK(peers_load(fuzz_folder(), &peers) == TAPML_OK);
            FUZZ_CHECK(peers_find_name(&peers, "me") == peers_find_key(&peers, &key));
            peers_release(&peers);
        }
    }
    fuzz_end();
    return 0;
}
