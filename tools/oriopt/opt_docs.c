// SPDX-License-Identifier: MIT
// The texts of oriopt's help and man page.
#include "tools/oriopt/oriopt.h"

static const DocRow statuses[] = {
    {"0", "done"},           {"1", "bad input"},           {"2", "usage"},
    {"3", "internal error"}, {"4", "a limit was reached"}, {"5", "I/O"},
};

static const DocRow environment[] = {
    {"ORI_KNOBS",
     "settings of knobs, separated by newlines or `~`. Files (`--knobs-file`), `--knob` and pragmas override it, in "
     "this order; settings under `WHEN` override all others. --run-reproducer ignores it."},
};

static const DocRow files[] = {
    {"FILE.knobs", "settings for --knobs-file, one on a line, below `[knobs]`; --print-knobs writes such a file."},
    {"oriopt-crash-HASH.ori, oriopt-crash-HASH.ptx",
     "reproducers of internal errors and crashes: the input with the command line in its comments. They go to the "
     "current folder, to the folder of --crash-dir, or to the file of --reproducer; --run-reproducer runs them."},
    {"DIR/FUNCTION/NUMBER.SLOT-PHASE.after.ori",
     "dumps of --ir-dump-dir=DIR, numbered in the order of execution; DIR/index.json lists them. With --dump-cfg, "
     "each has a .dot file with its control flow graph."},
};

static const DocRow examples[] = {
    {"oriopt k.ptx -o out.ptx", "the default pipeline"},
    {"oriopt --ptx-version=7.8 k.ptx -o out.ptx", "for a ptxas or driver that is older than the toolkit of k.ptx"},
    {"oriopt --print-pipeline -O2", "print the phases that would run, in a form that --named-phases takes"},
    {"oriopt --named-phases OriRemoveNopCode k.ptx", "one phase alone"},
    {"oriopt --remarks=k.opt.yaml k.ptx -o out.ptx",
     "write remarks on applied and missed optimizations for opt-viewer"},
    {"oriopt --print-changed=diff k.ptx -o /dev/null", "print the differences that each phase makes"},
    {"oriopt --emit=ori --stop-after 12 k.ptx -o k.ori", "the module after the first phases, as Ori text"},
    {"oriopt --start-before 13 --emit=ptx k.ori", "the remaining phases"},
    {"oriopt --knob 'WHEN=FN=gemm*;DisablePhases=OriBranchOpt' k.ptx -o out.ptx", "without a phase in some functions"},
    {"oriopt --dump-cfg --print-after OriBranchOpt --emit=none k.ptx 2>k.dot", "control flow graphs after a phase"},
    {"oriopt --dump-callgraph k.ptx | dot -Tsvg >k.svg", "a picture of the calls"},
    {"oriopt --check-each=k.run k.ptx -o /dev/null", "run the kernels after each phase"},
    {"oriopt @k.args k.ptx", "options from the file k.args"},
};

static const DocSection last[] = {
    {"environment", DOC_ROWS(environment), .man_only = true},
    {"files", DOC_ROWS(files), .man_only = true},
    {"examples", DOC_ROWS(examples), .man_only = true},
};

const Program opt_program = {
    .name = "oriopt",
    .purpose = "run the phases of a GPU compiler over PTX or Ori text",
    .operands = "FILE",
    .about = "Reads PTX or Ori text, runs phases over it, and writes an equivalent program. FILE may be `-`.\n\n"
             "A phase is a name (case-insensitive), Name@index, an index or a range A..B; lists take `,` or `+`.",
    .options = opt_options,
    .noptions = OPT_COUNT,
    .statuses = statuses,
    .nstatuses = ARRAY_LEN(statuses),
    .last = last,
    .nlast = ARRAY_LEN(last),
};
