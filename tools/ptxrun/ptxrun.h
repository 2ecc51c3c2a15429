/* SPDX-License-Identifier: MIT */
/* ptxrun.h: runs PTX kernels on the CPU, for programs that need a stand-in for a GPU
 *
 *     float x[256], y[256];
 *     void *args[] = {x, y, (void *)256};
 *     ptx_run(text, 3, args, 256, 1, 1, 1, 1, 1, 0);
 *     if (ptx_run_error())
 *         fail(ptx_run_error());
 *
 * The function has the interface that gpuocelot gave to programs: link or load libori-ptxrun.so where they expect
 * libgpuocelot.so. The interpreter is that of ori.h and orirun(1).
 *
 * SECURITY: a kernel reaches all memory of the process at its own address, as the program itself does. So run no PTX of
 * others with this library: use ori_run() of ori.h, where kernels reach only memory that the program registers.
 *
 * An access to memory that is not mapped, or a write to memory that is mapped read-only, is a fault and not a crash.
 * The library reads the mappings in /proc/self/maps, once in a launch and again for an address that is missing there.
 * It cannot detect two things: memory that another thread unmaps during the launch, and mappings of files that were cut
 * off. Where there is no /proc, only null pointers and addresses out of range are faults. Kernels cannot reach mappings
 * from 1 << 40 to 5 << 40, which are shared, local and other memory of kernels.
 *
 * Any thread may call the functions; launches run one after the other. The library keeps the modules of the 64 texts
 * that ran last. Text that kernels print goes to standard output.
 */
#ifndef PTXRUN_H
#define PTXRUN_H

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __GNUC__
#define PTXRUN_API __attribute__((visibility("default")))
#else
#define PTXRUN_API
#endif

/* Runs the first kernel of a PTX text, which ends in a NUL, and returns when all its threads have ended. args[k] is the
 * value of parameter k itself: an address, or an integer or the bits of a floating-point number in the low bytes; the
 * kernel tells how many bytes it takes. `n_args` is the number of its parameters. A parameter has at most 8 bytes.
 * `block_x` to `block_z` count the threads of a block, `grid_x` to `grid_z` the blocks, `shared_bytes` is the dynamic
 * shared memory of a block. Variables of the module begin each launch with their initial values.
 *
 * After an error, the message with the line of the text is on standard error and in ptx_run_error(). Memory that the
 * kernel wrote before a fault stays written. */
PTXRUN_API void ptx_run(const char *ptx, int n_args, void **args, int block_x, int block_y, int block_z, int grid_x,
                        int grid_y, int grid_z, int shared_bytes);

/* Returns the first message of the last ptx_run() of this thread, such as "ptx:12:2: error: launch 1, k, block 0,0,0,
 * thread 3,0,0: read of 4 bytes at address 0x10, a null pointer"; NULL if there was no error. The text is valid until
 * the thread calls ptx_run() again. */
PTXRUN_API const char *ptx_run_error(void);

#ifdef __cplusplus
}
#endif

#endif
