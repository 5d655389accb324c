// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "harness/scratch.h"
#include "plugin/hardware.h"

static struct scratch scratch;
static char processor[SCRATCH_PATH];
static struct hardware_paths paths;

static void add(const char *device, const char *file, const char *text)
{
    char path[2 * SCRATCH_PATH];

    snprintf(path, sizeof(path), "%s/bus", scratch.folder);
    (void)mkdir(path, 0700);
    for (const char *at = strchr(device, '/'); at != NULL; at = strchr(at + 1, '/')) {
        snprintf(path, sizeof(path), "%s/bus/%.*s", scratch.folder, (int)(at - device), device);
        (void)mkdir(path, 0700);
    }
    snprintf(path, sizeof(path), "%s/bus/%s", scratch.folder, device);
    (void)mkdir(path, 0700);
    snprintf(path, sizeof(path), "bus/%s/%s", device, file);
    scratch_text(&scratch, path, text);
}

// A machine with two devices of PCI and one of USB.
static void setup(void)
{
    scratch_make(&scratch);
    add("pci/devices/0000:00:01.0", "vendor", "0x8086\n");
    add("pci/devices/0000:00:01.0", "device", "0x1237\n");
    add("pci/devices/0000:01:00.0", "vendor", "0x10de\n");
    add("pci/devices/0000:01:00.0", "device", "0x2330\n");
    add("usb/devices/1-1", "idVendor", "1a6e\n");
    add("usb/devices/1-1", "idProduct", "089a\n");
    add("usb/devices/usb1", "speed", "480\n");
    snprintf(processor, sizeof(processor), "%s",
             scratch_text(&scratch, "cpuinfo",
                          "processor\t: 0\nmodel name\t: flags of all kinds\n"
                          "flags\t\t: fpu sse2 avx2 fma\n\nprocessor\t: 1\nflags\t\t: amx_tile\n"));
    paths = (struct hardware_paths){scratch.folder, processor};
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

TestSuite(hardware, .init = setup, .fini = teardown);

static void expect(tapml_status status, const char *devices, const char *features, const char *said)
{
    cr_expect_eq(hardware_check(&paths, devices, features), status, "%s, %s: %s", devices, features,
                 status_message());
    if (said != NULL) {
        cr_expect_not_null(strstr(status_message(), said), "%s", status_message());
    }
}

Test(hardware, one_device_of_the_patterns_is_enough)
{
    expect(TAPML_OK, NULL, NULL, NULL);
    expect(TAPML_OK, "pci:10de:*", NULL, NULL);
    expect(TAPML_OK, "pci:10de:2330", NULL, NULL);
    expect(TAPML_OK, "pci:*:1237", NULL, NULL);
    expect(TAPML_OK, "pci:1002:*  pci:10de:2330", NULL, NULL);
    expect(TAPML_OK, "usb:1a6e:089a", NULL, NULL);
    expect(TAPML_UNAVAILABLE, "pci:1002:73bf", NULL,
           "it needs a device pci:1002:73bf, and this machine has none");
    expect(TAPML_UNAVAILABLE, "pci:10de:1237", NULL, "and this machine has none");
    expect(TAPML_UNAVAILABLE, "usb:10de:*", NULL, "and this machine has none");
    expect(TAPML_UNAVAILABLE, "pci:1002:* usb:0000:*", NULL, "a device of pci:1002:* usb:0000:*,");
}

Test(hardware, all_features_are_needed)
{
    expect(TAPML_OK, NULL, "avx2 fma", NULL);
    expect(TAPML_OK, NULL, " ", NULL);
    expect(TAPML_UNAVAILABLE, NULL, "avx2 avx512f", "a processor with 'avx512f'");
    expect(TAPML_UNAVAILABLE, NULL, "avx", "'avx'");
    expect(TAPML_UNAVAILABLE, NULL, "kinds", "'kinds'");
    expect(TAPML_UNAVAILABLE, NULL, "amx_tile", "'amx_tile'");
    scratch_text(&scratch, "cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n");
    expect(TAPML_OK, NULL, "asimd", NULL);
    expect(TAPML_UNAVAILABLE, "pci:10de:*", "sve", "'sve'");
}

Test(hardware, what_the_kernel_does_not_say_is_left_to_the_probe)
{
    paths.sys = "/nowhere";
    paths.processor = "/nowhere";
    expect(TAPML_OK, "pci:1002:*", "avx512f", NULL);
    paths.processor = scratch_text(&scratch, "cpuinfo", "nothing of it\n");
    expect(TAPML_OK, NULL, "avx512f", NULL);
}

Test(hardware, what_is_no_pattern_is_refused)
{
    static const char *const wrong[] = {
        "pci",          "pci:",           "pci:10de",       "pci:10de:",
        "pci:10DE:*",   "pci:10d:*",      "pci:10dee:*",    "pci:10de:*:*",
        "pci:*x:*",     "scsi:10de:*",    "pci:10de:**",    "../../etc:10de:*",
        "pci:0x10de:*", "pci:10de:2330x", "pci:10de:23 30", "pcipcipcipcipci:10de:*",
    };

    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        expect(TAPML_INVALID, wrong[i], NULL, "is no device, expected 'pci:VENDOR:DEVICE'");
    }
    char large[4096];

    memset(large, 'a', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    expect(TAPML_INVALID, large, NULL, "is no device");
    expect(TAPML_UNAVAILABLE, NULL, large, "a processor with");
}
