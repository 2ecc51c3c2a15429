// SPDX-License-Identifier: MIT
// A substitute for libcuda that runs launches in the interpreter, for tests of gpurun without a GPU. It is loaded
// instead of the driver, has a copy of the library, and has at most one module, which owns all buffers.
//
// FAKE_CUDA selects a failure: `none` no device, `old` the driver supports no GPU of the machine, `ptx` no module
// compiles, `flip` flips a bit of the first byte of every download, `fault` every kernel fails. FAKE_CUDA_SM is the
// architecture (90).
#include <stdio.h>
#include <stdlib.h>

#include "ir/machine/machine.h"
#include "tests/gpu/driver.h"
#include "tools/lib/lang.h"

#define PROTOTYPE(member, symbol, params) CuResult symbol params;
DRIVER_FUNCTIONS(PROTOTYPE)
#undef PROTOTYPE

enum { MAX_STEPS = 1 << 26 };

// The state is global, as that of a real driver.
static struct {
    Ctx ctx;
    Source source;
    Module *module;
    Machine *machine;
    bool failed;  // a kernel failed; all later calls fail
} fake;

static bool asked_for(const char *trouble)
{
    const char *is = getenv("FAKE_CUDA");
    return is && strcmp(is, trouble) == 0;
}

static void to_stderr(void *user, const char *text, size_t n)
{
    (void)user;
    fwrite(text, 1, n, stderr);
}

/* -- Device and context --------------------------------------------------------------------------------- */

CuResult cuInit(unsigned flags) { return flags ? CU_INVALID_VALUE : asked_for("none") ? CU_NO_DEVICE : CU_SUCCESS; }

CuResult cuGetErrorName(CuResult error, const char **text)
{
    *text = error == CU_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_OF_THE_STAND_IN";
    return CU_SUCCESS;
}

CuResult cuGetErrorString(CuResult error, const char **text)
{
    *text = error == CU_SUCCESS ? "no error" : error == CU_NO_DEVICE ? "no device" : "the stand-in refuses";
    return CU_SUCCESS;
}

CuResult cuDeviceGetCount(int *n)
{
    *n = !asked_for("old");
    return CU_SUCCESS;
}

CuResult cuDeviceGet(CuDevice *device, int k)
{
    *device = k;
    return k ? CU_INVALID_VALUE : CU_SUCCESS;
}

CuResult cuDeviceGetName(char *name, int bytes, CuDevice device)
{
    (void)device;
    snprintf(name, (size_t)bytes, "stand-in");
    return CU_SUCCESS;
}

CuResult cuDeviceGetAttribute(int *value, int attribute, CuDevice device)
{
    const char *text = getenv("FAKE_CUDA_SM");
    int sm = text ? atoi(text) : 90;
    (void)device;
    *value = attribute == CU_DEVICE_MAJOR ? sm / 10 : sm % 10;
    return CU_SUCCESS;
}

CuResult cuCtxCreate_v2(CuContext **context, unsigned flags, CuDevice device)
{
    *context = (CuContext *)&fake;
    return flags || device ? CU_INVALID_VALUE : CU_SUCCESS;
}

CuResult cuCtxDestroy_v2(CuContext *context)
{
    fake.failed = false;
    return context == (CuContext *)&fake ? cuModuleUnload((CuModule *)&fake) : CU_INVALID_VALUE;
}

CuResult cuCtxSetLimit(int limit, size_t value)
{
    (void)value;
    return limit == CU_LIMIT_STACK ? CU_SUCCESS : CU_INVALID_VALUE;
}

CuResult cuCtxSynchronize(void) { return fake.failed ? CU_LAUNCH_FAILED : CU_SUCCESS; }

/* -- Modules -------------------------------------------------------------------------------------------- */

static bool read_module(const char *text)
{
    Arena *arena = &fake.ctx.arena;
    size_t n = strlen(text);
    char *copy = arena_zalloc(arena, n + SOURCE_SLACK);
    fake.source = (Source){.name = "module.ptx", .text = memcpy(copy, text, n), .len = n};
    fake.module = lang_read(&fake.ctx, &fake.source, (LangOptions){.lang = LANG_PTX});
    if (!fake.module)
        return false;
    module_freeze(fake.module);
    fake.machine = machine_new(&fake.ctx.heap, fake.module, (MachineOptions){.max_steps = MAX_STEPS});
    machine_alloc(fake.machine, 123456, "nobody's");  // so that addresses differ from those of another machine
    return true;
}

CuResult cuModuleLoadDataEx(CuModule **module, const void *image, unsigned n, int *options, void **values)
{
    jmp_buf unwind;
    if (fake.module)
        return CU_INVALID_VALUE;
    for (unsigned k = 0; k < n && asked_for("ptx"); k++)
        if (options[k] == CU_JIT_ERROR_LOG)
            strcpy(values[k], "log of the stand-in");
    if (asked_for("ptx"))
        return CU_INVALID_PTX;
    if (setjmp(unwind)) {
        fake.ctx.heap.unwind = NULL;
        heap_release(&fake.ctx.heap);
        fake.module = NULL;
        return CU_OUT_OF_MEMORY;
    }
    memset(&fake.ctx, 0, sizeof fake.ctx);
    fake.ctx.heap.unwind = &unwind;
    fake.ctx.diag = (Diag){.write = to_stderr, .max_errors = 20};
    fake.ctx.options.positions = true;
    arena_init(&fake.ctx.arena, &fake.ctx.heap);
    *module = (CuModule *)&fake;
    bool ok = read_module(image);
    fake.ctx.heap.unwind = NULL;
    return ok ? CU_SUCCESS : CU_INVALID_PTX;
}

CuResult cuModuleUnload(CuModule *module)
{
    if (fake.machine)
        machine_free(fake.machine);
    if (fake.module)
        heap_release(&fake.ctx.heap);
    fake.machine = NULL;
    fake.module = NULL;
    return module == (CuModule *)&fake ? CU_SUCCESS : CU_INVALID_VALUE;
}

static SymId find(SymKind kind, const char *name)
{
    char buf[4096];
    for (SymId s = 1; fake.module && s < fake.module->syms.n; s++) {
        const Sym *sym = &fake.module->syms.at[s];
        if (sym->kind == kind && strcmp(name, name_text(&fake.module->tables, sym->name, buf, sizeof buf)) == 0)
            return s;
    }
    return 0;
}

CuResult cuModuleGetFunction(CuFunction **function, CuModule *module, const char *name)
{
    SymId s = find(SYM_FUNC, name);
    *function = (CuFunction *)(uintptr_t)s;
    return s && module == (CuModule *)&fake ? CU_SUCCESS : CU_NOT_FOUND;
}

CuResult cuModuleGetGlobal_v2(CuAddress *at, size_t *bytes, CuModule *module, const char *name)
{
    SymId s = find(SYM_VAR, name);
    if (!s || module != (CuModule *)&fake)
        return CU_NOT_FOUND;
    *at = machine_symbol(fake.machine, s);
    *bytes = fake.module->syms.at[s].size;
    return CU_SUCCESS;
}

CuResult cuFuncSetAttribute(CuFunction *function, int attribute, int value)
{
    return function && attribute == CU_FUNCTION_MAX_DYNAMIC_SHARED && value >= 0 ? CU_SUCCESS : CU_INVALID_VALUE;
}

/* -- Memory --------------------------------------------------------------------------------------------- */

CuResult cuMemAlloc_v2(CuAddress *at, size_t bytes)
{
    jmp_buf unwind;
    if (!fake.machine || !bytes)
        return CU_INVALID_VALUE;
    if (setjmp(unwind)) {
        fake.ctx.heap.unwind = NULL;
        return CU_OUT_OF_MEMORY;
    }
    fake.ctx.heap.unwind = &unwind;
    *at = machine_alloc(fake.machine, bytes, "a buffer");
    fake.ctx.heap.unwind = NULL;
    return CU_SUCCESS;
}

// Buffers are freed with the module.
CuResult cuMemFree_v2(CuAddress at) { return at ? CU_SUCCESS : CU_INVALID_VALUE; }

// Returns the memory at an address; NULL if it has fewer bytes.
static uint8_t *bytes_at(CuAddress at, size_t bytes)
{
    uint64_t have;
    uint8_t *found = fake.machine && !fake.failed ? machine_bytes(fake.machine, at, &have) : NULL;
    return found && have >= bytes ? found : NULL;
}

CuResult cuMemcpyHtoD_v2(CuAddress to, const void *from, size_t bytes)
{
    uint8_t *at = bytes_at(to, bytes);
    if (!at)
        return CU_INVALID_VALUE;
    memcpy(at, from, bytes);
    return CU_SUCCESS;
}

CuResult cuMemcpyDtoH_v2(void *to, CuAddress from, size_t bytes)
{
    const uint8_t *at = bytes_at(from, bytes);
    if (!at || !bytes)
        return CU_INVALID_VALUE;
    memcpy(to, at, bytes);
    *(uint8_t *)to ^= asked_for("flip") ? 4 : 0;
    return CU_SUCCESS;
}

/* -- Launches ------------------------------------------------------------------------------------------- */

CuResult cuLaunchKernel(CuFunction *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CuStream *stream, void **params,
                        void **extra)
{
    jmp_buf unwind;
    if (!function || stream || params || extra[0] != CU_PARAMS_BYTES || extra[2] != CU_PARAMS_SIZE ||
        extra[4] != CU_PARAMS_END)
        return CU_INVALID_VALUE;
    Launch launch = {
        .entry = (SymId)(uintptr_t)function,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .shared = shared,
        .params = extra[1],
        .nparams = (uint32_t) * (size_t *)extra[3],
    };
    if (setjmp(unwind)) {
        fake.ctx.heap.unwind = NULL;
        fake.failed = true;
        return CU_SUCCESS;  // errors of a kernel are reported by cuCtxSynchronize
    }
    fake.ctx.heap.unwind = &unwind;
    if (!machine_run(fake.machine, &launch)) {
        fprintf(stderr, "stand-in: %s\n", machine_error(fake.machine)->text);
        fake.failed = true;
    }
    fake.failed |= asked_for("fault");
    fake.ctx.heap.unwind = NULL;
    return CU_SUCCESS;
}
