// SPDX-License-Identifier: MIT
// Declares the functions of the CUDA driver (libcuda) that gpurun uses, from their documentation, so that the build
// needs no toolkit. One row per function: the member that holds it, its name in the library, its parameters.
#ifndef ORI_GPU_DRIVER_H
#define ORI_GPU_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CuResult;
typedef int CuDevice;
typedef uint64_t CuAddress;
typedef struct CuContext CuContext;
typedef struct CuModule CuModule;
typedef struct CuFunction CuFunction;
typedef struct CuStream CuStream;

enum {
    CU_SUCCESS = 0,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NO_DEVICE = 100,
    CU_INVALID_PTX = 218,
    CU_UNSUPPORTED_PTX_VERSION = 222,
    CU_NOT_FOUND = 500,
    CU_LAUNCH_FAILED = 719,
};
enum { CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_BYTES = 6, CU_JIT_LEVEL = 7 };
enum { CU_DEVICE_MAJOR = 75, CU_DEVICE_MINOR = 76 };
enum { CU_FUNCTION_MAX_DYNAMIC_SHARED = 8 };
enum { CU_LIMIT_STACK = 0 };
#define CU_PARAMS_END ((void *)0)
#define CU_PARAMS_BYTES ((void *)1)
#define CU_PARAMS_SIZE ((void *)2)

#define DRIVER_FUNCTIONS(F)                                                                                          \
    F(init, cuInit, (unsigned flags))                                                                                \
    F(error_name, cuGetErrorName, (CuResult error, const char **text))                                               \
    F(error_string, cuGetErrorString, (CuResult error, const char **text))                                           \
    F(device_count, cuDeviceGetCount, (int *n))                                                                      \
    F(device_get, cuDeviceGet, (CuDevice * device, int k))                                                           \
    F(device_name, cuDeviceGetName, (char *name, int bytes, CuDevice device))                                        \
    F(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, CuDevice device))                          \
    F(context_create, cuCtxCreate_v2, (CuContext * *context, unsigned flags, CuDevice device))                       \
    F(context_destroy, cuCtxDestroy_v2, (CuContext * context))                                                       \
    F(context_limit, cuCtxSetLimit, (int limit, size_t value))                                                       \
    F(synchronize, cuCtxSynchronize, (void))                                                                         \
    F(module_load, cuModuleLoadDataEx,                                                                               \
      (CuModule * *module, const void *image, unsigned n, int *options, void **values))                              \
    F(module_unload, cuModuleUnload, (CuModule * module))                                                            \
    F(module_function, cuModuleGetFunction, (CuFunction * *function, CuModule * module, const char *name))           \
    F(module_global, cuModuleGetGlobal_v2, (CuAddress * at, size_t * bytes, CuModule * module, const char *))        \
    F(function_set, cuFuncSetAttribute, (CuFunction * function, int attribute, int value))                           \
    F(alloc, cuMemAlloc_v2, (CuAddress * at, size_t bytes))                                                          \
    F(free, cuMemFree_v2, (CuAddress at))                                                                            \
    F(upload, cuMemcpyHtoD_v2, (CuAddress to, const void *from, size_t bytes))                                       \
    F(download, cuMemcpyDtoH_v2, (void *to, CuAddress from, size_t bytes))                                           \
    F(launch, cuLaunchKernel,                                                                                        \
      (CuFunction * function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
       unsigned block_z, unsigned shared, CuStream *stream, void **params, void **extra))

#endif
