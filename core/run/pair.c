// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "run/pair.h"

#include "base/alloc.h"
#include "base/text.h"
#include "remote/pairing.h"
#include "remote/peers.h"

#include <stdio.h>
#include <string.h>

static int agrees(void *user, const char *code)
{
    char answer[16];

    (void)user;
    (void)printf("code: %s\nDoes the other side show the same code? [y/N] ", code);
    (void)fflush(stdout);
    if (fgets(answer, sizeof(answer), stdin) == NULL) {
        return 0;
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    return strcmp(answer, "y") == 0 || strcmp(answer, "yes") == 0;
}

static void tell(void *user, unsigned port)
{
    const char *caller = user;

    (void)printf("waiting on port %u for '%s'\n", port, caller);
    (void)fflush(stdout);
}

static tapml_status pair(tapml_status (*how)(const char *, const struct pairing_options *, char *),
                         const char *where,
                         const char *name,
                         char *caller)
{
    char *folder = NULL;
    char peer[PAIRING_NAME_BYTES];

    TAPML_TRY(identity_folder(&folder));
    const tapml_status status =
        how(where,
            &(struct pairing_options){
                .folder = folder, .name = name, .agrees = agrees, .ready = tell, .user = caller},
            peer);

    if (status == TAPML_OK) {
        (void)printf("paired: %s\n", peer);
    }
    alloc_free(folder);
    return status;
}

tapml_status pair_call(const char *url, const char *name)
{
    return pair(pairing_call, url, name, NULL);
}

tapml_status pair_wait(const char *address, const char *name, const char *caller)
{
    char words[64];

    (void)snprintf(words, sizeof(words), "%s", caller);
    return pair(pairing_wait, address, name, words);
}

tapml_status pair_either(const char *where, const char *name)
{
    return strstr(where, "://") != NULL ? pair_call(where, name)
                                        : pair_wait(where, name, "tapml-host pair");
}

static tapml_status list(const char *folder, struct text *text)
{
    struct identity *identity = NULL;
    struct peers peers = {.arena = NULL};
    char digits[IDENTITY_HEX_TEXT];

    TAPML_TRY(peers_load(folder, &peers));
    const tapml_status status = identity_open(folder, &identity);

    if (status == TAPML_OK) {
        identity_hex(identity_hash(identity), digits);
        text_format(text, "%-20s  %s\n", "(this user)", digits);
        for (size_t i = 0; i < peers.count; i++) {
            identity_hex(&peers.items[i].key, digits);
            text_format(text, "%-20s  %s\n", peers.items[i].name, digits);
        }
    }
    identity_release(identity);
    peers_release(&peers);
    return status;
}

tapml_status pair_list(void)
{
    struct text text;
    char *folder = NULL;

    TAPML_TRY(identity_folder(&folder));
    text_init(&text);
    tapml_status status = list(folder, &text);

    alloc_free(folder);
    if (status != TAPML_OK) {
        text_release(&text);
        return status;
    }
    return text_print(&text);
}

tapml_status pair_remove(const char *name)
{
    char *folder = NULL;

    TAPML_TRY(identity_folder(&folder));
    const tapml_status status = peers_remove(folder, name);

    alloc_free(folder);
    return status;
}
