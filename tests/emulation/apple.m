// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for Foundation and Metal on GNU's runtime of Objective-C: one device, which is this CPU.
// It is an emulation for tests, not Apple's code: it shows that the plugin makes the calls that it
// must, in an order that is allowed, and that the kernels compute what they should.
//
// A command buffer runs when somebody waits for it, or a command of it with each question.
// EMULATED_METAL_FAULT=launch fails the third launch.
#import <Metal/Metal.h>

#include "compile.h"
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_MAX = 8, PARAMS_INDEX = 30, PARAMS_MAX = 128, ITEMS_MAX = 1024, FAULTY_LAUNCH = 3 };

extern id class_createInstance(Class kind, size_t extra_bytes);
extern id object_dispose(id object);

static void fail(const char *what)
{
    fprintf(stderr, "emulated Metal: %s\n", what);
    abort();
}

// -- Foundation --------------------------------------------------------------------------------

@interface NSAutoreleasePool (Objects)
- (void)add:(id)object;
@end

static NSAutoreleasePool *pool;

@implementation NSObject
+ (id)alloc
{
    return class_createInstance(self, 0);
}
+ (id)new
{
    return [[self alloc] init];
}
- (id)init
{
    uses = 1;
    return self;
}
- (id)retain
{
    uses++;
    return self;
}
- (void)release
{
    if (--uses == 0) {
        [self dealloc];
    }
}
- (id)autorelease
{
    if (pool == nil) {
        fail("an object is left to a pool that is not there");
    }
    [pool add:self];
    return self;
}
- (void)dealloc
{
    object_dispose(self);
}
@end

@implementation NSAutoreleasePool
- (id)init
{
    self = [super init];
    outer = pool;
    pool = self;
    return self;
}
- (void)add:(id)object
{
    objects = realloc(objects, (count + 1) * sizeof(id));
    objects[count++] = object;
}
- (void)drain
{
    for (NSUInteger i = 0; i < count; i++) {
        [objects[i] release];
    }
    free(objects);
    pool = outer;
    [self release];
}
@end

@implementation NSString
+ (NSString *)stringWithUTF8String:(const char *)bytes
{
    NSString *string = [[self new] autorelease];

    string->text = strdup(bytes);
    return string;
}
- (const char *)UTF8String
{
    return text;
}
- (void)dealloc
{
    free(text);
    [super dealloc];
}
@end

@implementation NSError
+ (NSError *)errorWithText:(const char *)text code:(NSInteger)code
{
    NSError *error = [[self new] autorelease];

    error->description = [[NSString stringWithUTF8String:text] retain];
    error->number = code;
    return error;
}
- (NSInteger)code
{
    return number;
}
- (NSString *)localizedDescription
{
    return description;
}
- (void)dealloc
{
    [description release];
    [super dealloc];
}
@end

@implementation NSArray
- (id)initWithObject:(id)only
{
    self = [super init];
    object = only;
    return self;
}
- (NSUInteger)count
{
    return 1;
}
- (id)objectAtIndex:(NSUInteger)index
{
    return object;
}
- (void)dealloc
{
    [object release];
    [super dealloc];
}
@end

@implementation NSProcessInfo
+ (NSProcessInfo *)processInfo
{
    return [[self new] autorelease];
}
- (NSString *)operatingSystemVersionString
{
    return [NSString stringWithUTF8String:"emulated"];
}
@end

// -- Buffers and kernels -----------------------------------------------------------------------

@implementation MTLCompileOptions
- (void)setFastMathEnabled:(BOOL)value
{
}
- (void)setLanguageVersion:(MTLLanguageVersion)version
{
}
@end

@interface Buffer : NSObject <MTLBuffer> {
  @public
    struct emulation_memory memory;
}
@end

@implementation Buffer
- (void *)contents
{
    return memory.begin;
}
- (NSUInteger)length
{
    return memory.size;
}
- (void)dealloc
{
    emulation_memory_free(&memory);
    [super dealloc];
}
@end

@interface Library : NSObject <MTLLibrary> {
  @public
    struct emulation_object object;
}
@end

@interface Function : NSObject <MTLFunction, MTLComputePipelineState> {
  @public
    Library *library;
    void (*run)(void **arguments, const unsigned *grid, unsigned items);
    unsigned params_size, argument_count;
}
@end

@implementation Function
- (NSUInteger)maxTotalThreadsPerThreadgroup
{
    return ITEMS_MAX;
}
- (void)dealloc
{
    [library release];
    [super dealloc];
}
@end

@implementation Library
- (id<MTLFunction>)newFunctionWithName:(NSString *)name
{
    Function *function = [Function new];
    unsigned (*params)(void) = NULL, (*count)(void) = NULL;
    const char *text = [name UTF8String];

    function->library = [self retain];
    if (!emulation_find(&object, "run", text, &function->run) ||
        !emulation_find(&object, "params", text, &params) ||
        !emulation_find(&object, "count", text, &count)) {
        [function release];
        return nil;
    }
    function->params_size = params();
    function->argument_count = count();
    return function;
}
- (void)dealloc
{
    emulation_unload(&object);
    [super dealloc];
}
@end

// -- Commands ----------------------------------------------------------------------------------

struct command {
    struct command *next;
    Buffer *source, *target; // Of a copy,
    NSUInteger source_at, target_at, size;
    Function *function; // or of a launch.
    unsigned grid[3], items;
    unsigned char params[PARAMS_MAX];
    Buffer *buffers[BUFFER_MAX];
};

@class Commands;

@interface Encoder : NSObject <MTLComputeCommandEncoder, MTLBlitCommandEncoder> {
  @public
    Commands *commands;
    BOOL is_ended;
    struct command launch; // Being put together.
}
@end

@interface Queue : NSObject <MTLCommandQueue> {
  @public
    Commands *first; // Of those that are committed and not yet run.
}
- (void)runOne;
@end

@interface Commands : NSObject <MTLCommandBuffer> {
  @public
    Queue *queue;
    Encoder *open;
    Commands *next;
    struct command *list, **last;
    NSError *failure;
    MTLCommandBufferStatus state;
}
- (void)append:(const struct command *)command;
@end

static int launches;

static BOOL run_launch(const struct command *command)
{
    const char *fault = getenv("EMULATED_METAL_FAULT");
    void *arguments[BUFFER_MAX + 1], *addresses[BUFFER_MAX];

    if (++launches == FAULTY_LAUNCH && fault != NULL && strcmp(fault, "launch") == 0) {
        return NO;
    }
    arguments[0] = (void *)command->params;
    for (unsigned i = 0; i + 1 < command->function->argument_count; i++) {
        addresses[i] = [command->buffers[i] contents];
        arguments[i + 1] = &addresses[i];
    }
    command->function->run(arguments, command->grid, command->items);
    return YES;
}

static BOOL run_command(const struct command *command)
{
    if (command->function != nil) {
        return run_launch(command);
    }
    memcpy((char *)[command->target contents] + command->target_at,
           (char *)[command->source contents] + command->source_at, command->size);
    return YES;
}

static void free_command(struct command *command)
{
    [command->source release];
    [command->target release];
    [command->function release];
    for (int i = 0; i < BUFFER_MAX; i++) {
        [command->buffers[i] release];
    }
    free(command);
}

@implementation Commands
- (id<MTLComputeCommandEncoder>)encoder
{
    if (open != nil || state >= MTLCommandBufferStatusCommitted) {
        fail("an encoder, where another is open or all is committed");
    }
    open = [[Encoder new] autorelease];
    open->commands = self;
    return open;
}
- (id<MTLComputeCommandEncoder>)computeCommandEncoder
{
    return [self encoder];
}
- (id<MTLBlitCommandEncoder>)blitCommandEncoder
{
    return (Encoder *)[self encoder];
}
- (void)append:(const struct command *)command
{
    struct command *copy = malloc(sizeof(*copy));

    *copy = *command;
    [copy->source retain];
    [copy->target retain];
    [copy->function retain];
    for (int i = 0; i < BUFFER_MAX; i++) {
        [copy->buffers[i] retain];
    }
    copy->next = NULL;
    *last = copy;
    last = &copy->next;
}
- (void)commit
{
    Commands **at = &queue->first;

    if (open != nil || state >= MTLCommandBufferStatusCommitted) {
        fail("a commit, where an encoder is open or all is committed");
    }
    while (*at != nil) {
        at = &(*at)->next;
    }
    *at = [self retain];
    state = MTLCommandBufferStatusCommitted;
}
- (void)waitUntilCompleted
{
    if (state < MTLCommandBufferStatusCommitted) {
        fail("a wait for what is not committed");
    }
    while (state == MTLCommandBufferStatusCommitted) {
        [queue runOne];
    }
}
- (MTLCommandBufferStatus)status
{
    const MTLCommandBufferStatus before = state;

    if (state == MTLCommandBufferStatusCommitted) {
        [queue runOne];
    }
    return before;
}
- (NSError *)error
{
    return failure;
}
- (void)dealloc
{
    while (list != NULL) {
        struct command *command = list;

        list = command->next;
        free_command(command);
    }
    [failure release];
    [queue release];
    [super dealloc];
}
@end

@implementation Queue
- (id<MTLCommandBuffer>)commandBuffer
{
    Commands *commands = [[Commands new] autorelease];

    commands->queue = [self retain];
    commands->last = &commands->list;
    return commands;
}
- (void)finish:(Commands *)commands as:(MTLCommandBufferStatus)state
{
    first = commands->next;
    commands->state = state;
    [commands release];
}
// The oldest command; a command buffer is done when it has none left.
- (void)runOne
{
    Commands *commands = first;
    struct command *command = commands->list;

    if (command == NULL) {
        [self finish:commands as:MTLCommandBufferStatusCompleted];
        return;
    }
    commands->list = command->next;
    if (!run_command(command)) {
        @autoreleasepool {
            commands->failure = [[NSError errorWithText:"a launch has faulted" code:3] retain];
        }
        [self finish:commands as:MTLCommandBufferStatusError];
    }
    free_command(command);
}
@end

@implementation Encoder
- (void)check:(BOOL)is_right
{
    if (is_ended || !is_right) {
        fail("a command that Metal would refuse");
    }
}
- (void)setComputePipelineState:(id<MTLComputePipelineState>)pipeline
{
    launch.function = (Function *)pipeline;
}
- (void)setBytes:(const void *)bytes length:(NSUInteger)length atIndex:(NSUInteger)index
{
    [self check:index == PARAMS_INDEX && length <= PARAMS_MAX];
    memcpy(launch.params, bytes, length);
}
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index
{
    [self check:index < BUFFER_MAX && offset == 0];
    launch.buffers[index] = (Buffer *)buffer;
}
- (void)dispatchThreadgroups:(MTLSize)groups threadsPerThreadgroup:(MTLSize)threads
{
    [self check:launch.function != nil && groups.width * groups.height * groups.depth > 0];
    [self check:threads.width <= ITEMS_MAX && threads.height == 1 && threads.depth == 1];
    for (unsigned i = 0; i + 1 < launch.function->argument_count; i++) {
        [self check:launch.buffers[i] != nil];
    }
    launch.grid[0] = (unsigned)groups.width;
    launch.grid[1] = (unsigned)groups.height;
    launch.grid[2] = (unsigned)groups.depth;
    launch.items = (unsigned)threads.width;
    [commands append:&launch];
}
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)target
     destinationOffset:(NSUInteger)targetOffset
                  size:(NSUInteger)size
{
    [self check:sourceOffset % 4 == 0 && targetOffset % 4 == 0 && size % 4 == 0];
    [self check:sourceOffset + size <= [source length] && targetOffset + size <= [target length]];
    [commands append:&(struct command){.source = (Buffer *)source,
                                       .target = (Buffer *)target,
                                       .source_at = sourceOffset,
                                       .target_at = targetOffset,
                                       .size = size}];
}
- (void)endEncoding
{
    [self check:YES];
    is_ended = YES;
    commands->open = nil;
}
@end

// -- The device --------------------------------------------------------------------------------

@interface Device : NSObject <MTLDevice>
@end

@implementation Device
- (NSString *)name
{
    return [NSString stringWithUTF8String:"Metal emulated on the CPU"];
}
- (uint64_t)recommendedMaxWorkingSetSize
{
    return (uint64_t)2 << 30;
}
- (NSUInteger)maxBufferLength
{
    return (NSUInteger)2 << 30;
}
- (NSUInteger)maxThreadgroupMemoryLength
{
    return 32 << 10;
}
- (MTLSize)maxThreadsPerThreadgroup
{
    return MTLSizeMake(ITEMS_MAX, ITEMS_MAX, ITEMS_MAX);
}
- (BOOL)supportsFamily:(MTLGPUFamily)family
{
    return family == MTLGPUFamilyApple7;
}
- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options
{
    Buffer *buffer = [Buffer new];

    if (!emulation_memory_new(length, &buffer->memory)) {
        fail("out of memory");
    }
    return buffer;
}
- (id<MTLBuffer>)newBufferWithBytes:(const void *)bytes
                             length:(NSUInteger)length
                            options:(MTLResourceOptions)options
{
    id<MTLBuffer> buffer = [self newBufferWithLength:length options:options];

    memcpy([buffer contents], bytes, length);
    return buffer;
}
- (id<MTLCommandQueue>)newCommandQueue
{
    return [Queue new];
}
- (id<MTLLibrary>)newLibraryWithSource:(NSString *)source
                               options:(MTLCompileOptions *)options
                                 error:(NSError **)error
{
    const char *text = [source UTF8String], *at = strstr(text, "kernel void ");
    const size_t room = strlen(text) + 128;
    struct emulation_code code = {NULL, 0};
    char name[64] = "", log[EMULATION_LOG_SIZE] = "";
    char *whole = malloc(room);
    Library *library = [Library new];

    if (at != NULL) {
        (void)sscanf(at, "kernel void %63[A-Za-z0-9_]", name);
    }
    (void)snprintf(whole, room, "%s\nEMULATE(%s)\n", text, name);
    const BOOL is_good = emulation_compile("metal_stdlib", whole, &code, log) &&
                         emulation_load(code.bytes, code.size, &library->object);

    free(whole);
    free(code.bytes);
    if (!is_good) {
        *error = [NSError errorWithText:log code:3];
        object_dispose(library);
        return nil;
    }
    return library;
}
- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)function
                                                             error:(NSError **)error
{
    return [(Function *)function retain];
}
@end

NSArray<id<MTLDevice>> *MTLCopyAllDevices(void)
{
    return [(id)[NSArray alloc] initWithObject:[Device new]];
}
