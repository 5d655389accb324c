// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// What the plugin uses of Foundation, declared after Apple's public documentation, for machines
// that are no Macs. apple.m implements it on GNU's runtime.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef signed char BOOL;
typedef unsigned long NSUInteger;
typedef long NSInteger;
#define YES ((BOOL)1)
#define NO  ((BOOL)0)
#define nil ((id)0)

@protocol NSObject
- (id)retain;
- (void)release;
- (id)autorelease;
@end

__attribute__((objc_root_class))
@interface NSObject<NSObject> {
    Class isa;
    NSUInteger uses;
}
+ (id)alloc;
+ (id)new;
- (id)init;
- (void)dealloc;
@end

@interface NSAutoreleasePool : NSObject {
    NSAutoreleasePool *outer;
    id *objects;
    NSUInteger count;
}
- (void)drain;
@end

@interface NSString : NSObject {
    char *text;
}
+ (NSString *)stringWithUTF8String:(const char *)bytes;
- (const char *)UTF8String;
@end

@interface NSError : NSObject {
    NSInteger number;
    NSString *description;
}
+ (NSError *)errorWithText:(const char *)text code:(NSInteger)code; // Of the stand-in.
- (NSInteger)code;
- (NSString *)localizedDescription;
@end

@interface NSArray<ObjectType> : NSObject {
    id object;
}
- (NSUInteger)count;
- (ObjectType)objectAtIndex:(NSUInteger)index;
@end

@interface NSProcessInfo : NSObject
+ (NSProcessInfo *)processInfo;
- (NSString *)operatingSystemVersionString;
@end
