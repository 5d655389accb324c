// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts: routes, products with chosen weights, weighted sums.

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

#define SUITE experts
#define CHECK(op_fixture_, rows_, count_, expected_)                                               \
    device_check(device, op_fixture_, count_, expected_, 4e-6, "mixture")
#include "harness/mixtures.h"

TestSuite(experts, .init = open_device, .fini = close_device, .timeout = 300);
