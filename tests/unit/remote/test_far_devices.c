// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "harness/far_machine.h"
#include "remote/far_devices.h"

static const uint64_t second_ns = 1000000000;
static struct far_machine machine;
static struct text lines;

static void setup(void)
{
    far_machine_open(&machine);
    machine.lists = 1;
    text_init(&lines);
}

static void teardown(void)
{
    text_release(&lines);
    far_machine_close(&machine);
}

TestSuite(far_devices, .init = setup, .fini = teardown, .timeout = 60);

static tapml_status ask(void)
{
    text_clear(&lines);
    return far_devices_ask(
        &(struct reach_options){.url = machine.dials ? NULL : machine.url,
                                .listen = machine.dials ? machine.listen : NULL,
                                .folder = machine.paired.sides[PAIRED_HOST].scratch.folder,
                                .patience_ns = 20 * second_ns},
        &lines);
}

static void expect_lines(void)
{
    PAIRED_MUST(ask());
    cr_assert_str_eq(lines.data, "first:0  one ?[31mdevice\n", "%s", lines.data);
}

static void expect_failure(const char *words)
{
    cr_assert_eq(ask(), TAPML_UNAVAILABLE);
    cr_assert_not_null(strstr(status_message(), words), "%s", status_message());
}

// As the machine says it, but for what would control a terminal.
Test(far_devices, has_what_a_machine_says)
{
    far_machine_start(&machine);
    expect_lines();
    expect_lines();
}

Test(far_devices, has_what_a_machine_says_that_dials)
{
    far_machine_turn(&machine);
    far_machine_start(&machine);
    expect_lines();
}

Test(far_devices, says_why_there_is_none)
{
    machine.lists = 0;
    far_machine_start(&machine);
    expect_failure(" lists no devices: there is no worker program");
    PAIRED_MUST(peers_remove(machine.paired.sides[PAIRED_HOST].scratch.folder, "worker"));
    expect_failure("shows a key that is not paired: 'tapml-host pair tapml://127.0.0.1:");
}

Test(far_devices, loses_patience_as_a_run_does)
{
    (void)snprintf(machine.url, sizeof(machine.url), "tapml://127.0.0.1:1");
    expect_failure("tapml://127.0.0.1:1 was out of reach for ");
    expect_failure("Connection refused");
    cr_assert_eq(lines.length, 0u);
}

Test(far_devices, needs_an_address)
{
    (void)snprintf(machine.url, sizeof(machine.url), "box");
    cr_assert_eq(ask(), TAPML_INVALID);
}
