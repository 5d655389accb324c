// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the rows of layout-MAJOR.MINOR.h assert of the headers in sdk/include, which are included
// before. Those files are generated, one for each minor, and never changed: sdk/abi/README.md.
//
// Numbers are given for three data models: LP64 (pointers of 64 bits); ILP32 where the alignment of
// 64 bits is 8 (arm); and i386, where it is 4.
#pragma once

#include <stddef.h>

#if __SIZEOF_POINTER__ == 8
#define LAYOUT_OF(lp64, ilp32, i386) (lp64)
#elif defined(__i386__)
#define LAYOUT_OF(lp64, ilp32, i386) (i386)
#else
#define LAYOUT_OF(lp64, ilp32, i386) (ilp32)
#endif

// A struct with a size of its own may grow; one without it is frozen.
#define SIZED(type, lp64, ilp32, i386)                                                             \
    _Static_assert(sizeof(struct type) >= LAYOUT_OF(lp64, ilp32, i386), #type " shrank")
#define FROZEN(type, lp64, ilp32, i386)                                                            \
    _Static_assert(sizeof(struct type) == LAYOUT_OF(lp64, ilp32, i386), #type " is frozen")

// A member: offset and size in each data model, in bytes, and its type.
#define MEMBER(type, member, lp64, lp64_size, ilp32, ilp32_size, i386, i386_size, ...)             \
    _Static_assert(offsetof(struct type, member) == LAYOUT_OF(lp64, ilp32, i386),                  \
                   #type "." #member " moved");                                                    \
    _Static_assert(sizeof(((struct type *)0)->member) ==                                           \
                       LAYOUT_OF(lp64_size, ilp32_size, i386_size),                                \
                   #type "." #member " has another size");                                         \
    _Static_assert(                                                                                \
        _Generic(&((struct type *)0)->member, __typeof__(__VA_ARGS__) * : 1, default : 0),         \
        #type "." #member " has another type")

// A type that is no struct, and a function that a plugin exports.
#define TYPE(name, ...)                                                                            \
    _Static_assert(_Generic((__typeof__(name) *)0, __typeof__(__VA_ARGS__) * : 1, default : 0),    \
                   #name " is another type")

// A number and a text that are compiled into plugins.
#define NUMBER(name, value) _Static_assert((long long)(name) == (value), #name " has another value")
#define TEXT(name, value)                                                                          \
    _Static_assert(__builtin_strcmp(name, value) == 0, #name " is another text")
