// SPDX-License-Identifier: MIT
// run.c: a kernel on arrays of the program, before and after the optimizer.
//
//     run saxpy.ptx
//
// Reads the module, runs its kernel `saxpy` in the interpreter, optimizes the module, and runs the kernel again. The
// kernel reaches the two arrays and no other memory of the program.
//
//     cc run.c $(pkg-config --cflags --libs ori) -o run
#include <ori.h>
#include <stdio.h>

enum { N = 1000 };

static void print_message(void *user, const OriMessage *message)
{
    (void)user;
    fputs(message->rendered, stderr);
}

// Computes y[k] += a * x[k] for the first `n` elements.
static OriStatus saxpy(OriContext *ori, OriModule *module, const float *x, float *y, float a, unsigned n)
{
    // The value of a pointer parameter is the address.
    const OriArgument arguments[] = {{&x, sizeof x}, {&y, sizeof y}, {&a, sizeof a}, {&n, sizeof n}};
    const OriLaunch launch = {.size = sizeof launch,
                              .kernel = "saxpy",
                              .grid = {(n + 127) / 128, 1, 1},
                              .block = {128, 1, 1},
                              .arguments = arguments,
                              .argument_count = 4};
    return ori_run(ori, module, &launch);
}

static OriStatus run(OriContext *ori, OriModule *module)
{
    static float x[N], y[N];
    for (int k = 0; k < N; k++)
        x[k] = (float)k;
    OriStatus status = ori_map(ori, x, sizeof x, ORI_MAP_READ_ONLY);
    if (status == ORI_OK)
        status = ori_map(ori, y, sizeof y, 0);
    if (status == ORI_OK)
        status = saxpy(ori, module, x, y, 2, N);
    if (status == ORI_OK)
        status = ori_optimize(ori, module);
    if (status == ORI_OK)
        status = saxpy(ori, module, x, y, 0.5, N);
    printf("y[7] = %g, y[%d] = %g\n", y[7], N - 1, y[N - 1]);
    // One element too many is a fault, with its place.
    if (status == ORI_OK && saxpy(ori, module, x, y, 1, N + 1) == ORI_BAD_INPUT)
        printf("block %u, thread %u: %s\n", ori_fault(ori)->block.x, ori_fault(ori)->thread.x, ori_fault(ori)->reason);
    return status;
}

int main(int argc, char **argv)
{
    static char text[1 << 16];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    OriContext *ori = ori_open(NULL);
    if (!file || !ori)
        return ORI_USAGE;
    fclose(file);
    ori_on_message(ori, print_message, NULL);
    OriModule *module = ori_parse(ori, argv[1], text, size, ORI_PTX);
    OriStatus status = module ? run(ori, module) : ori_parse_status(ori);
    ori_close(ori);
    return (int)status;
}
