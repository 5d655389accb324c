// SPDX-FileCopyrightText: 2026 The TapML authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks the memory and the queue of an OpenCL device. It needs nothing but OpenCL 1.2:
//
//     cc FILE.c -lOpenCL -o check && ./check [CHECK [DEVICE]]
//
// CHECK is the name of a check or 'all', DEVICE the name of a device or a part of it; without them
// it is what is defined below. The exit status is 0 if the device is right, 1 if it is wrong, 2 if
// there is no such device or check.

#ifndef FOUND_CHECK
#define FOUND_CHECK  "all"
#define FOUND_DEVICE ""
#define FOUND_SEED   1
#define FOUND_OFFSET 44
#define FOUND_SIZE   4100
#endif

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_COUNT = 3, PLATFORMS_MAX = 16, DEVICES_MAX = 16, NAME_BYTES = 256, ITEMS = 64 };

// A fill is a kernel, too.
static const char source[] =
    "struct fill { uint at; uint count; uint pattern; };\n"
    "kernel void fill(struct fill p, global uint *y)\n"
    "{\n"
    "    uint i = (uint)get_global_id(0);\n"
    "    if (i < p.count) { y[p.at + i] = p.pattern; }\n"
    "}\n"
    "struct scale { uint at; uint count; float factor; };\n"
    "kernel void scale(struct scale p, global const float *x, global float *y)\n"
    "{\n"
    "    uint i = (uint)get_global_id(0);\n"
    "    if (i < p.count) { y[p.at + i] = x[i] * p.factor; }\n"
    "}\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel fill, scale;
static cl_mem buffers[BUFFER_COUNT];

// A function that fails is as wrong as one that does something else.
static void must(cl_int code, const char *what)
{
    if (code != CL_SUCCESS) {
        (void)printf("WRONG: %s gives %d\n", what, (int)code);
        exit(1);
    }
}

// -- Opening -----------------------------------------------------------------------------------

// The first device whose name has `name` in it; NULL if there is none.
static cl_device_id find_device(const char *name)
{
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint platform_count = 0;

    if (clGetPlatformIDs(PLATFORMS_MAX, platforms, &platform_count) != CL_SUCCESS) {
        return NULL;
    }
    for (cl_uint i = 0; i < platform_count && i < PLATFORMS_MAX; i++) {
        cl_device_id devices[DEVICES_MAX];
        cl_uint count = 0;

        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, DEVICES_MAX, devices, &count) !=
            CL_SUCCESS) {
            continue;
        }
        for (cl_uint k = 0; k < count && k < DEVICES_MAX; k++) {
            char found_name[NAME_BYTES] = "";

            (void)clGetDeviceInfo(devices[k], CL_DEVICE_NAME, NAME_BYTES - 1, found_name, NULL);
            if (strstr(found_name, name) != NULL) {
                return devices[k];
            }
        }
    }
    return NULL;
}

static void print_device(cl_device_id device)
{
    char name[NAME_BYTES] = "", version[NAME_BYTES] = "", driver[NAME_BYTES] = "";

    (void)clGetDeviceInfo(device, CL_DEVICE_NAME, NAME_BYTES - 1, name, NULL);
    (void)clGetDeviceInfo(device, CL_DEVICE_VERSION, NAME_BYTES - 1, version, NULL);
    (void)clGetDeviceInfo(device, CL_DRIVER_VERSION, NAME_BYTES - 1, driver, NULL);
    (void)printf("%s, %s, driver %s\n", name, version, driver);
}

static void make_kernels(cl_device_id device)
{
    const char *text = source;
    cl_int code = CL_SUCCESS;

    program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    must(code, "clCreateProgramWithSource");
    must(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    fill = clCreateKernel(program, "fill", &code);
    must(code, "clCreateKernel");
    scale = clCreateKernel(program, "scale", &code);
    must(code, "clCreateKernel");
}

static void device_open(const char *name, const size_t sizes[BUFFER_COUNT])
{
    cl_device_id device = find_device(name);
    cl_int code = CL_SUCCESS;

    if (device == NULL) {
        (void)printf("there is no OpenCL device '%s'\n", name);
        exit(2);
    }
    print_device(device);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    must(code, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &code);
    must(code, "clCreateCommandQueue");
    for (int i = 0; i < BUFFER_COUNT; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, sizes[i], NULL, &code);
        must(code, "clCreateBuffer");
    }
    make_kernels(device);
}

static void device_close(void)
{
    for (int i = 0; i < BUFFER_COUNT; i++) {
        (void)clReleaseMemObject(buffers[i]);
    }
    (void)clReleaseKernel(fill);
    (void)clReleaseKernel(scale);
    (void)clReleaseProgram(program);
    (void)clReleaseCommandQueue(queue);
    (void)clReleaseContext(context);
}

// -- What is queued ----------------------------------------------------------------------------

static void device_write(int buffer, size_t offset, const void *from, size_t size)
{
    must(clEnqueueWriteBuffer(queue, buffers[buffer], CL_FALSE, offset, size, from, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
}

static void device_read(int buffer, size_t offset, void *to, size_t size)
{
    must(clEnqueueReadBuffer(queue, buffers[buffer], CL_FALSE, offset, size, to, 0, NULL, NULL),
         "clEnqueueReadBuffer");
}

static void device_copy(int from, size_t from_offset, int to, size_t to_offset, size_t size)
{
    must(clEnqueueCopyBuffer(queue, buffers[from], buffers[to], from_offset, to_offset, size, 0,
                             NULL, NULL),
         "clEnqueueCopyBuffer");
}

static void launch(cl_kernel kernel, size_t count)
{
    const size_t local = ITEMS, global = (count + ITEMS - 1) / ITEMS * ITEMS;

    must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
         "clEnqueueNDRangeKernel");
}

static void device_fill(int buffer, size_t offset, size_t size, uint32_t pattern)
{
    const struct {
        cl_uint at, count, pattern;
    } params = {(cl_uint)(offset / 4), (cl_uint)(size / 4), pattern};

    must(clSetKernelArg(fill, 0, sizeof(params), &params), "clSetKernelArg");
    must(clSetKernelArg(fill, 1, sizeof(cl_mem), &buffers[buffer]), "clSetKernelArg");
    launch(fill, size / 4);
}

// Writes `count` floats of a buffer, times a factor, to another one.
static void device_scale(int from, int to, size_t to_offset, size_t count, float factor)
{
    const struct {
        cl_uint at, count;
        cl_float factor;
    } params = {(cl_uint)(to_offset / 4), (cl_uint)count, factor};

    must(clSetKernelArg(scale, 0, sizeof(params), &params), "clSetKernelArg");
    must(clSetKernelArg(scale, 1, sizeof(cl_mem), &buffers[from]), "clSetKernelArg");
    must(clSetKernelArg(scale, 2, sizeof(cl_mem), &buffers[to]), "clSetKernelArg");
    launch(scale, count);
}

// Waits for an event behind all that is queued.
static void device_wait(void)
{
    cl_event event = NULL;

    must(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event), "clEnqueueMarkerWithWaitList");
    must(clFlush(queue), "clFlush");
    must(clWaitForEvents(1, &event), "clWaitForEvents");
    must(clReleaseEvent(event), "clReleaseEvent");
}

#include "checks.h"
