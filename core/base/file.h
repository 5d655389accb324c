// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// Files and folders: mapping, whole reads, safe writes.
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// A file in memory, read-only. Pages come from the disk as they are touched.
struct file_map {
    const unsigned char *data; // NULL where the file is empty.
    size_t size;
    int descriptor; // Open for reading as long as it is mapped; -1 where the file is empty.
};

// Maps a file. It is watched until it is unmapped: where it becomes shorter, what is missing reads
// as zeros and `mapping_check` of base/mapping.h fails. Errors name the path and what the system
// said.
tapml_status file_map(const char *path, struct file_map *out_map) STATUS_USED;
void file_unmap(struct file_map *map);

// How a map will be read: on from a touched page, as at first, or in samples that lie far apart.
enum file_reading { FILE_READ_ON, FILE_READ_SAMPLES };

// A hint: contents do not depend on it.
void file_map_expect(const struct file_map *map, enum file_reading reading);

// A hint: `size` bytes at `data`, if they are of the map, will not be read again soon. Whole pages
// leave the memory of this process; reading them brings them back.
void file_map_leave(const struct file_map *map, const void *data, size_t size);

// The whole of a file of at most `size_max` bytes, with a zero byte behind it. Freed by alloc_free.
tapml_status
file_read(const char *path, size_t size_max, char **out_data, size_t *out_size) STATUS_USED;

// Writes a file whole or not at all: under another name first, then renamed. What is neither a file
// nor a folder, and the standard output under another name, stay and take the bytes as they come.
// Where there is no room it is TAPML_UNAVAILABLE.
tapml_status file_write(const char *path, const void *data, size_t size) STATUS_USED;

// Whether `file_write` would do, as far as that shows before: for what is written at the end of a
// long piece of work. Failures are those of `file_write`. Nothing is left behind.
tapml_status file_try_writing(const char *path) STATUS_USED;

// Gives a file another name, in place of what has it, and sees to it that neither its bytes nor its
// name are lost with the power.
tapml_status file_move(const char *from, const char *to) STATUS_USED;

// Removes the files of a folder whose names match `glob`. What cannot be removed stays.
void file_remove_all(const char *folder, const char *glob);

enum { FILE_WHY_TEXT = 128 };

// Whether `error`, an errno of a write to `path`, says that there is no room, and which: the disk
// is full, a quota is used up, or a limit on the size of files is reached.
int file_is_full(int error, const char *path, char out_why[FILE_WHY_TEXT]);

// Whether there is anything of that name, be it a link to nowhere: opening it then says more.
int file_exists(const char *path);
int file_is_folder(const char *path);

// Whether the name itself is a symbolic link, wherever it leads.
int file_is_link(const char *path);

// TAPML_INVALID where something is there that is no regular file: what opens it by its name alone
// could wait for ever, as on a pipe.
tapml_status file_expect(const char *path) STATUS_USED;

// Makes a folder and those above it; fine where it exists.
tapml_status file_make_folder(const char *path) STATUS_USED;

// The file of the program that runs, whatever it was called by: a name that was found by PATH has
// no folder, and one of that name in the current folder is another file. NULL where the system does
// not say it in `size` bytes.
const char *file_of_program(char *out_path, size_t size);

// `folder`/`name`, or `name` alone where it is absolute or `folder` is "". Freed by alloc_free;
// NULL where there is no memory.
char *file_join(const char *folder, const char *name);

// The folder of `path`: "a/b" for "a/b/c", "." for "c". Freed by alloc_free; NULL: no memory.
char *file_folder(const char *path);
