// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "verify/conduct_stand.h"

#include "base/arena.h"

void conduct_stand_init(struct conduct_stand *stand, const struct conduct_options *options)
{
    *stand = (struct conduct_stand){.options = options, .verdicts = options->verdicts};
}

// The examiners go before their backend does.
static void close_all(struct conduct_stand *stand)
{
    for (size_t i = 0; i < CONDUCT_STAND_HELD; i++) {
        examiner_destroy(stand->held[i]);
        stand->held[i] = NULL;
    }
    examiner_destroy(stand->examiner);
    conduct_probe_destroy(stand->probe);
    stand->examiner = NULL;
    stand->probe = NULL;
    stand->backend = NULL;
}

void conduct_stand_release(struct conduct_stand *stand)
{
    close_all(stand);
    arena_destroy(stand->texts);
    *stand = (struct conduct_stand){0};
}

tapml_status conduct_stand_renew(struct conduct_stand *stand)
{
    struct backend *backend = NULL;
    close_all(stand);
    TAPML_TRY(stand->options->open(stand->options->user, &backend));
    TAPML_TRY(conduct_probe_create(backend, &stand->probe));
    stand->verdicts.backend = stand->backend = conduct_probe_backend(stand->probe);
    return examiner_create(&stand->verdicts, &stand->examiner);
}

tapml_status conduct_stand_move(struct conduct_stand *stand)
{
    struct examiner *examiner = NULL;
    TAPML_TRY(examiner_create(&stand->verdicts, &examiner));
    struct examiner **place = &stand->held[stand->next++ % CONDUCT_STAND_HELD];
    examiner_destroy(*place);
    *place = stand->examiner;
    stand->examiner = examiner;
    return TAPML_OK;
}

tapml_status
conduct_stand_try(struct conduct_stand *stand, const struct conduct_trial *trial, int *out_is_right)
{
    arena_destroy(stand->texts);
    stand->texts = arena_create();
    if (!stand->texts) {
        return status_no_memory();
    }
    stand->calls++;
    TAPML_TRY(
        conduct_trial_run(stand->examiner, trial, stand->texts, &stand->verdict, &stand->result));
    *out_is_right = verdict_count_failed(&stand->verdict, 1) == 0;
    return TAPML_OK;
}
