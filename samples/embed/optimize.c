// SPDX-License-Identifier: MIT
// Example of the library in another program.
//
//     optimize [-O LEVEL] [-k 'KNOB=VALUE'] [-p PHASES] FILE.ptx > OUT.ptx
//
// Reads a module, runs the default phases (or those of -p), reports its functions, and prints the result. Errors are
// reported as messages and as a status; nothing in the library prints or exits.
//
//     cc optimize.c $(pkg-config --cflags --libs ori) -o optimize
#include <ori.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the contents of a file; NULL if it cannot be read.
static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    size_t room = 1 << 16;
    char *text = malloc(room);
    *size = 0;
    for (size_t got; text && (got = fread(text + *size, 1, room - *size, file)) > 0;) {
        *size += got;
        if (*size == room)
            text = realloc(text, room *= 2);
    }
    fclose(file);
    return text;
}

static void print_message(void *user, const OriMessage *message)
{
    (void)user;
    fputs(message->rendered, stderr);
}

static int write_out(void *file, const char *text, size_t size) { return fwrite(text, 1, size, file) == size; }

// Reads, optimizes and prints one module.
static OriStatus optimize(OriContext *ori, const char *path, const char *phases)
{
    size_t size;
    char *text = read_file(path, &size);
    if (!text) {
        fprintf(stderr, "optimize: cannot read '%s'\n", path);
        return ORI_IO;
    }
    OriModule *module = ori_parse(ori, path, text, size, ORI_ANY);
    free(text);
    if (!module)
        return ori_parse_status(ori);
    OriStatus status = phases ? ori_run_phases(ori, module, phases) : ori_optimize(ori, module);
    for (size_t k = 0; status == ORI_OK && k < ori_function_count(module); k++)
        fprintf(stderr, "optimize: %s\n", ori_function_name(module, k));
    if (status == ORI_OK)
        status = ori_print(ori, module, ORI_ANY, write_out, stdout);
    if (status == ORI_OK && fflush(stdout) != 0)
        status = ORI_IO;
    ori_free(ori, module);
    return status;
}

int main(int argc, char **argv)
{
    OriContext *ori = ori_open(NULL);
    OriStatus status = ori ? ORI_OK : ORI_LIMIT;
    const char *phases = NULL, *path = NULL;
    if (ori)
        ori_on_message(ori, print_message, NULL);
    for (int k = 1; k < argc && status == ORI_OK; k++) {
        int last = k + 1 == argc;
        if (strcmp(argv[k], "-O") == 0 && !last)
            status = ori_set_level(ori, atoi(argv[++k]));
        else if (strcmp(argv[k], "-k") == 0 && !last)
            status = ori_set_knobs(ori, argv[++k]);
        else if (strcmp(argv[k], "-p") == 0 && !last)
            phases = argv[++k];
        else
            path = argv[k];
    }
    if (status == ORI_OK && path)
        status = optimize(ori, path, phases);
    else if (status == ORI_OK)
        status = ORI_USAGE;
    if (status != ORI_OK)
        fprintf(stderr, "optimize: %s\n", ori_status_text(status));
    ori_close(ori);
    return (int)status;
}
