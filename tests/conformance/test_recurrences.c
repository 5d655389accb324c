// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: convolutions with a tail, scans over matrices, lengths and sums of rows.

#include "device.h"

static struct plugin *device;

static void open_device(void)
{
    device = device_open();
}

static void close_device(void)
{
    device_close(device);
}

#define SUITE recurrences
#define CHECK(op_fixture_, rows_, count_, expected_)                                               \
    device_check(device, op_fixture_, count_, expected_, 8e-6, "recurrence")
#include "harness/recurrences.h"

TestSuite(recurrences, .init = open_device, .fini = close_device, .timeout = 300);
