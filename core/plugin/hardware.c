// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/hardware.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_DIGITS = 4, WORD_BYTES = 64, ID_FILE_BYTES = 16, LINES_MAX = 4096 };

const struct hardware_paths hardware_of_machine = {"/sys", "/proc/cpuinfo"};

// The buses of which devices can be asked for: where the kernel lists them, and the files that a
// device has there.
static const struct bus {
    const char *name, *folder, *vendor, *device;
} buses[] = {
    {"pci", "bus/pci/devices", "vendor", "device"},
    {"usb", "bus/usb/devices", "idVendor", "idProduct"},
};

// "pci:10de:*": an id is "" for any.
struct hardware_pattern {
    const struct bus *bus;
    char vendor[ID_DIGITS + 1], device[ID_DIGITS + 1];
};

// -- Words -------------------------------------------------------------------------------------

// The next word of a list, or 0. One that is too long is cut, and is then no pattern or feature.
static int take_word(const char **io_list, char *out_word)
{
    const char *begin = *io_list + strspn(*io_list, " \t");
    const size_t length = strcspn(begin, " \t");

    (void)snprintf(out_word, WORD_BYTES, "%.*s", length < WORD_BYTES ? (int)length : WORD_BYTES,
                   begin);
    *io_list = begin + length;
    return length > 0;
}

static int is_id(const char *word)
{
    return strcmp(word, "*") == 0 ||
           (strlen(word) == ID_DIGITS && strspn(word, "0123456789abcdef") == ID_DIGITS);
}

static tapml_status parse(const char *word, struct hardware_pattern *out_pattern)
{
    char bus[8] = "", vendor[ID_DIGITS + 2] = "", device[ID_DIGITS + 2] = "", end = '\0';
    const int count = sscanf(word, "%7[a-z]:%5[0-9a-f*]:%5[0-9a-f*]%c", bus, vendor, device, &end);

    for (size_t i = 0; i < sizeof(buses) / sizeof(*buses); i++) {
        if (count == 3 && strcmp(bus, buses[i].name) == 0 && is_id(vendor) && is_id(device)) {
            *out_pattern = (struct hardware_pattern){.bus = &buses[i]};
            (void)snprintf(out_pattern->vendor, sizeof(out_pattern->vendor), "%.4s",
                           *vendor != '*' ? vendor : "");
            (void)snprintf(out_pattern->device, sizeof(out_pattern->device), "%.4s",
                           *device != '*' ? device : "");
            return TAPML_OK;
        }
    }
    return status_fail(TAPML_INVALID,
                       "'%s' is no device, expected 'pci:VENDOR:DEVICE' or 'usb:VENDOR:DEVICE', "
                       "each of four hexadecimal digits or '*'",
                       word);
}

// -- Devices -----------------------------------------------------------------------------------

// Whether the file of a device has this id, with or without "0x".
static int has_id(const char *folder, const char *device, const char *file, const char *id)
{
    char path[512], text[ID_FILE_BYTES] = "";
    const int length = snprintf(path, sizeof(path), "%s/%s/%s", folder, device, file);
    FILE *stream = length > 0 && (size_t)length < sizeof(path) ? fopen(path, "re") : NULL;

    if (stream == NULL) {
        return 0;
    }
    const int is_read = fgets(text, sizeof(text), stream) != NULL;
    const char *digits = strncmp(text, "0x", 2) == 0 ? text + 2 : text;

    (void)fclose(stream);
    return is_read && (*id == '\0' || (strncmp(digits, id, ID_DIGITS) == 0 &&
                                       strcspn(digits, " \n") == ID_DIGITS));
}

enum hardware_finding { ABSENT, PRESENT, UNKNOWN };

static enum hardware_finding find(const char *sys, const struct hardware_pattern *pattern)
{
    const struct bus *bus = pattern->bus;
    char folder[256];
    const int length = snprintf(folder, sizeof(folder), "%s/%s", sys, bus->folder);
    DIR *list = length > 0 && (size_t)length < sizeof(folder) ? opendir(folder) : NULL;
    enum hardware_finding found = list != NULL ? ABSENT : UNKNOWN;
    const struct dirent *entry = list != NULL ? readdir(list) : NULL;

    for (; entry != NULL && found != PRESENT; entry = readdir(list)) {
        if (entry->d_name[0] != '.' &&
            has_id(folder, entry->d_name, bus->vendor, pattern->vendor) &&
            has_id(folder, entry->d_name, bus->device, pattern->device)) {
            found = PRESENT;
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    return found;
}

static tapml_status check_devices(const char *sys, const char *devices)
{
    enum hardware_finding found = ABSENT;
    char word[WORD_BYTES];
    const char *at = devices;
    int is_list = 0;

    while (take_word(&at, word)) {
        struct hardware_pattern pattern;

        TAPML_TRY(parse(word, &pattern));
        const enum hardware_finding here = find(sys, &pattern);

        found = found == ABSENT ? here : found;
        is_list = is_list || at[strspn(at, " \t")] != '\0';
    }
    return found != ABSENT
               ? TAPML_OK
               : status_fail(TAPML_UNAVAILABLE, "it needs a device %s%s, and this machine has none",
                             is_list ? "of " : "", devices);
}

// -- The processor -----------------------------------------------------------------------------

// The features of the first processor, a line that begins with "flags" or "Features", in
// `*io_line`, memory of getline; NULL: the kernel does not say.
static const char *find_features(FILE *stream, char **io_line)
{
    size_t room = 0;

    for (int i = 0; i < LINES_MAX && getline(io_line, &room, stream) > 0; i++) {
        char *colon = strchr(*io_line, ':');

        if (colon != NULL &&
            (strncmp(*io_line, "flags", 5) == 0 || strncmp(*io_line, "Features", 8) == 0)) {
            colon[1 + strcspn(colon + 1, "\n")] = '\0';
            return colon + 1;
        }
    }
    return NULL;
}

static int has_word(const char *list, const char *wanted)
{
    char word[WORD_BYTES];

    while (take_word(&list, word)) {
        if (strcmp(word, wanted) == 0) {
            return 1;
        }
    }
    return 0;
}

static tapml_status check_features(const char *path, const char *features)
{
    FILE *stream = fopen(path, "re");
    char *line = NULL, word[WORD_BYTES];
    const char *there = stream != NULL ? find_features(stream, &line) : NULL;
    tapml_status status = TAPML_OK;

    while (status == TAPML_OK && there != NULL && take_word(&features, word)) {
        if (!has_word(there, word)) {
            status = status_fail(TAPML_UNAVAILABLE,
                                 "it needs a processor with '%s', and that of this machine is "
                                 "without",
                                 word);
        }
    }
    free(line);
    if (stream != NULL) {
        (void)fclose(stream);
    }
    return status;
}

tapml_status
hardware_check(const struct hardware_paths *paths, const char *devices, const char *features)
{
    if (devices != NULL) {
        TAPML_TRY(check_devices(paths->sys, devices));
    }
    return features != NULL ? check_features(paths->processor, features) : TAPML_OK;
}
