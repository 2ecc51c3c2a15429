# SPDX-License-Identifier: MIT
#
# ori_man.awk: prints ori.h(3), the man page of the library, from its header.
#
#   awk -v version=0.1.0 -f tools/lib/ori_man.awk tools/lib/ori.h
#
# The comment that begins with the name of the header is the description. `/* -- Title -- */` begins a section. Any other
# comment at the start of a line describes the declarations below it, up to the next comment or empty line. In comments, a
# line that is indented further is an example, and `words` are literal. Declarations without a comment are printed alone.

# Escapes characters that troff would interpret.
function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/'/, "\\(aq", text)
    gsub(/\^/, "\\(ha", text)
    gsub(/~/, "\\(ti", text)
    return text
}

# Prints a line of literal text, in bold type.
function print_code(line) { print (line == "" ? "" : "\\fB" escape(line) "\\fR") }

# Prints a prototype, broken between parameters where a line would get longer than 72 characters.
function print_prototype(text,    line, n, parts, k) {
    n = split(text, parts, ", ")
    line = parts[1]
    for (k = 2; k <= n; k++) {
        if (length(line) + 2 + length(parts[k]) > 72) {
            print_code(line ",")
            line = "        " parts[k]
        } else {
            line = line ", " parts[k]
        }
    }
    print_code(line)
}

# Prints running text, a sentence on a line, with `words` in bold type.
function print_text(text,    n, sentences, k) {
    gsub(/\. +/, ".\n", text)
    n = split(text, sentences, "\n")
    for (k = 1; k <= n; k++)
        print_sentence(sentences[k])
}

function print_sentence(text,    line, n, words, k, bold) {
    text = escape(text)
    while (sub(/`/, bold ? "\\fR" : "\\fB", text))
        bold = !bold
    n = split(text, words, " ")
    for (k = 1; k <= n; k++) {
        if (line != "" && length(line) + 1 + length(words[k]) > 76) {
            print_line(line)
            line = ""
        }
        line = line (line == "" ? "" : " ") words[k]
    }
    print_line(line)
}

# Prints a line of running text, in which a dot at the start is no request.
function print_line(line) { print ((line ~ /^\./) ? "\\&" : "") line }

# Prints the collected declarations and their description.
function end_item(    k, n, paragraphs) {
    if (ncode) {
        paragraph_break()
        print ".nf"
        for (k = 1; k <= ncode; k++)
            if (code[k] ~ /^[^ ].*\(.*\);$/ && code[k] !~ /^(typedef enum|#)/)
                print_prototype(code[k])
            else
                print_code(code[k])
        print ".fi"
        if (described != "") {
            print ".RS 4"
            n = split(described, paragraphs, "\n\n")
            for (k = 1; k <= n; k++) {
                if (k > 1)
                    print ".PP"
                print_text(paragraphs[k])
            }
            print ".RE"
        }
    }
    ncode = 0
    described = ""
}

# Begins a paragraph, unless a section has just begun.
function paragraph_break() {
    if (!fresh)
        print ".PP"
    fresh = 0
}

function section(title) {
    end_item()
    print ".SH \"" toupper(title) "\""
    fresh = 1
}

function begin_page(    k) {
    print ".\\\" tools/lib/ori_man.awk makes this from ori.h."
    print ".TH ORI.H 3 \"\" \"ori " version "\" \"ori\""
    print ".SH \"NAME\"\nori.h \\- " escape(purpose)
    print ".SH \"SYNOPSIS\"\n.nf\n\\fB#include <ori.h>\\fR\n"
    print "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs ori)"
    print "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs \\-\\-static ori) \\-static"
    print ".fi"
    section("description")
    for (k = 1; k <= nabout; k++)
        print_about(about[k])
    end_about()
    section("version and status")
}

# Prints a line of the description: an example, a line of a paragraph, or the empty line after it.
function print_about(line) {
    if (line ~ /^    /) {
        if (!example) {
            paragraph_break()
            print ".nf"
        }
        example = 1
        print_code(line)
    } else if (line == "") {
        end_about()
    } else {
        paragraph = paragraph (paragraph == "" ? "" : " ") line
    }
}

function end_about() {
    if (example)
        print ".fi"
    if (paragraph != "") {
        paragraph_break()
        print_text(paragraph)
    }
    example = 0
    paragraph = ""
}

# -- The description --

/SPDX-License-Identifier/ { next }
/^\/\* ori\.h: / {
    purpose = substr($0, 11)
    heading = 1
    next
}
heading && /^ \*\/$/ {
    heading = 0
    begin_page()
    next
}
heading {
    sub(/^ \*( |$)/, "")
    about[++nabout] = $0
    next
}

# -- Lines that are not part of the page --

/^#(ifndef|ifdef|else|endif|include|define ORI_(H|API))/ || /^extern "C"/ { next }
/^}$/ { next }

# -- Sections, comments and declarations --

/^\/\* -- .* --* \*\/$/ {
    title = $0
    sub(/^\/\* -- /, "", title)
    sub(/ -+ \*\/$/, "", title)
    section(title)
    next
}
/^\/\* / {
    end_item()
    sub(/^\/\* /, "")
    comment = 1
}
comment {
    if (sub(/ *\*\/$/, ""))
        comment = 0
    sub(/^ \* ?/, "")
    # An empty line separates paragraphs.
    if ($0 == "" && comment)
        described = described "\n\n"
    else if ($0 != "")
        described = described (described ~ /(^|\n)$/ ? "" : " ") $0
    next
}
/^$/ {
    end_item()
    next
}
{
    sub(/^ORI_API /, "")
    code[++ncode] = $0
}

END {
    end_item()
    print ".SH \"SEE ALSO\"\n\\fBoriopt\\fR(1),\n\\fBorirun\\fR(1)"
}
