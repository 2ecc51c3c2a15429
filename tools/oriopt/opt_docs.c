// SPDX-License-Identifier: MIT
// What oriopt says about itself.
#include "tools/oriopt/oriopt.h"

static const DocRow statuses[] = {
    {"0", "done"},           {"1", "bad input"},           {"2", "usage"},
    {"3", "internal error"}, {"4", "a limit was reached"}, {"5", "I/O"},
};

static const DocRow environment[] = {
    {"ORI_KNOBS",
     "settings of knobs, with a newline or `~` between them. Files (`--knobs-file`), `--knob` and pragmas win "
     "over it, in this order; settings under `WHEN` win over all others. --run-reproducer does not look at it."},
};

static const DocRow files[] = {
    {"FILE.knobs", "settings for --knobs-file, a line each below `[knobs]`; --print-knobs writes such a file."},
    {"oriopt-crash-HASH.ori, oriopt-crash-HASH.ptx",
     "what repeats an internal error, with the command line in its comments; written into the current folder unless "
     "--reproducer names another file. --run-reproducer takes it."},
    {"DIR/FUNCTION/INDEX-PHASE.after.ori", "what --ir-dump-dir=DIR writes, with DIR/index.json about all of them"},
};

static const DocRow examples[] = {
    {"oriopt k.ptx -o out.ptx", "the default pipeline"},
    {"oriopt --print-pipeline -O2", "what would run, in a form that --named-phases takes"},
    {"oriopt --named-phases OriRemoveNopCode k.ptx", "one phase alone"},
    {"oriopt --remarks=k.opt.yaml k.ptx -o out.ptx", "what phases did and did not do, and why, for opt-viewer"},
    {"oriopt --print-changed=diff k.ptx -o /dev/null", "what each phase changed, and nothing else"},
    {"oriopt --emit=ori --stop-after 12 k.ptx -o k.ori", "the module as the first phases leave it, as Ori text"},
    {"oriopt --start-before 13 --emit=ptx k.ori", "the rest of it"},
    {"oriopt --knob 'WHEN=FN=gemm*;DisablePhases=OriBranchOpt' k.ptx -o out.ptx", "without a phase in some functions"},
    {"oriopt --check-each=k.run k.ptx -o /dev/null", "run the kernels behind each phase"},
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
    .about = "Reads PTX or Ori text, runs phases over it, writes what computes the same. FILE may be `-`.\n\n"
             "A phase is a name (case-insensitive), Name@index, an index or a range A..B; lists take `,` or `+`.",
    .options = opt_options,
    .noptions = OPT_COUNT,
    .statuses = statuses,
    .nstatuses = ARRAY_LEN(statuses),
    .last = last,
    .nlast = ARRAY_LEN(last),
};
