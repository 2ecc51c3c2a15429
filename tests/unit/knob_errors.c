// SPDX-License-Identifier: MIT
// Tests errors of knob settings: every message with its position, and malformed texts.
#include <stdlib.h>

#include "tests/unit/knobs_test.h"

typedef struct ErrorRow {
    const char *text, *expected;
} ErrorRow;

static void check_errors(KnobSource from, const char *name, const ErrorRow *rows, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        KnobTest t;
        unit_context("%s", rows[k].text);
        knobs_open(&t);
        CHECK(!knobs_read(&t, from, name, rows[k].text));
        CHECK_TEXT(t.sink.text, t.sink.n, rows[k].expected);
        knobs_close(&t);
    }
}

static const ErrorRow value_errors[] = {
    {"Num=", "--knob:1:5: error: Num has no value; expected a number such as 12, 0x1f, 017 or -3\n"
             "Num=\n"
             "    ^\n"},
    {"Num", "--knob:1:1: error: Num has no value; expected a number such as 12, 0x1f, 017 or -3\n"
            "Num\n"
            "^\n"},
    {"Num = ; why", "--knob:1:6: error: Num has no value; expected a number such as 12, 0x1f, 017 or -3\n"
                    "Num = ; why\n"
                    "     ^\n"},
    {"Text=", "--knob:1:6: error: Text has no value; expected a text (\"\" for an empty one)\n"
              "Text=\n"
              "     ^\n"},
    {"Num=12x", "--knob:1:7: error: Num: bad number '12x'; expected a number such as 12, 0x1f, 017 or -3\n"
                "Num=12x\n"
                "      ^\n"},
    {"Num=1.5", "--knob:1:5: error: Num: bad number '1.5'; expected a number such as 12, 0x1f, 017 or -3\n"
                "Num=1.5\n"
                "    ^\n"},
    {"Num=1 2", "--knob:1:7: error: Num: bad number '1 2'; expected a number such as 12, 0x1f, 017 or -3\n"
                "Num=1 2\n"
                "      ^\n"},
    {"Num=089", "--knob:1:5: error: Num: bad number '089'; expected a number such as 12, 0x1f, 017 or -3\n"
                "Num=089\n"
                "    ^\n"},
    {"Num=0x", "--knob:1:6: error: Num: bad number '0x'; expected a number such as 12, 0x1f, 017 or -3\n"
               "Num=0x\n"
               "     ^\n"},
    {"Num=--1", "--knob:1:5: error: Num: bad number '--1'; expected a number such as 12, 0x1f, 017 or -3\n"
                "Num=--1\n"
                "    ^\n"},
    {"Num=- 1", "--knob:1:5: error: Num: bad number '- 1'; expected a number such as 12, 0x1f, 017 or -3\n"
                "Num=- 1\n"
                "    ^\n"},
    {"Num=\"3\"", "--knob:1:5: error: Num: bad number '\"3\"'; expected a number such as 12, 0x1f, 017 or -3\n"
                  "Num=\"3\"\n"
                  "    ^\n"},
    {"Num=1,2", "--knob:1:6: error: Num: bad number '1,2'; expected a number such as 12, 0x1f, 017 or -3\n"
                "Num=1,2\n"
                "     ^\n"},
    {"Num=9223372036854775808", "--knob:1:5: error: Num: 9223372036854775808 does not fit 64 bits\n"
                                "Num=9223372036854775808\n"
                                "    ^\n"},
    {"Num=-9223372036854775809", "--knob:1:5: error: Num: -9223372036854775809 does not fit 64 bits\n"
                                 "Num=-9223372036854775809\n"
                                 "    ^\n"},
    {"Num=0x8000000000000000", "--knob:1:5: error: Num: 0x8000000000000000 does not fit 64 bits\n"
                               "Num=0x8000000000000000\n"
                               "    ^\n"},
    {"Num=99999999999999999999999", "--knob:1:5: error: Num: 99999999999999999999999 does not fit 64 bits\n"
                                    "Num=99999999999999999999999\n"
                                    "    ^\n"},
    {"Small=7", "--knob:1:7: error: Small: 7 is out of range -2..6\n"
                "Small=7\n"
                "      ^\n"},
    {"Small=-3", "--knob:1:7: error: Small: -3 is out of range -2..6\n"
                 "Small=-3\n"
                 "      ^\n"},
    {"Few=10", "--knob:1:5: error: Few: 10 is out of range 0..9\n"
               "Few=10\n"
               "    ^\n"},
    {"Budget=-1", "--knob:1:8: error: Budget: -1 is out of range 0..\n"
                  "Budget=-1\n"
                  "       ^\n"},
    {"Few=-1", "--knob:1:5: error: Few: -1 is out of range 0..9\n"
               "Few=-1\n"
               "    ^\n"},
    {"Budget=x", "--knob:1:8: error: Budget: bad number 'x'; expected a count such as 12 or 0x1f\n"
                 "Budget=x\n"
                 "       ^\n"},
    {"Switch=2", "--knob:1:8: error: Switch: '2' is not a value for a switch; expected no value, or 0 or 1\n"
                 "Switch=2\n"
                 "       ^\n"},
    {"Switch=on", "--knob:1:8: error: Switch: 'on' is not a value for a switch; expected no value, or 0 or 1\n"
                  "Switch=on\n"
                  "       ^\n"},
    {"Switch=00", "--knob:1:8: error: Switch: '00' is not a value for a switch; expected no value, or 0 or 1\n"
                  "Switch=00\n"
                  "       ^\n"},
    {"Switch=", "--knob:1:8: error: Switch: '' is not a value for a switch; expected no value, or 0 or 1\n"
                "Switch=\n"
                "       ^\n"},
    {"Switch=\"1\"", "--knob:1:8: error: Switch: '\"1\"' is not a value for a switch; expected no value, or 0 or 1\n"
                     "Switch=\"1\"\n"
                     "       ^\n"},
    {"Span=8..1", "--knob:1:6: error: Span: the range 8..1 is reversed: the lower end comes first\n"
                  "Span=8..1\n"
                  "     ^\n"},
    {"Span=..", "--knob:1:8: error: Span: bad range '..'; expected a range such as 1..8, 1.., ..8, or a number\n"
                "Span=..\n"
                "       ^\n"},
    {"Span=1..2..3",
     "--knob:1:10: error: Span: bad range '1..2..3'; expected a range such as 1..8, 1.., ..8, or a number\n"
     "Span=1..2..3\n"
     "         ^\n"},
    {"Span=a..b", "--knob:1:6: error: Span: bad range 'a..b'; expected a range such as 1..8, 1.., ..8, or a number\n"
                  "Span=a..b\n"
                  "     ^\n"},
    {"Span=1...", "--knob:1:9: error: Span: bad range '1...'; expected a range such as 1..8, 1.., ..8, or a number\n"
                  "Span=1...\n"
                  "        ^\n"},
    {"Span=1.5..2",
     "--knob:1:6: error: Span: bad range '1.5..2'; expected a range such as 1..8, 1.., ..8, or a number\n"
     "Span=1.5..2\n"
     "     ^\n"},
    {"Span=99999999999999999999..", "--knob:1:6: error: Span: 99999999999999999999 does not fit 64 bits\n"
                                    "Span=99999999999999999999..\n"
                                    "     ^\n"},
    {"Zone=50..101", "--knob:1:10: error: Zone: 101 is out of range 0..100\n"
                     "Zone=50..101\n"
                     "         ^\n"},
    {"Zone=-1..", "--knob:1:6: error: Zone: -1 is out of range 0..100\n"
                  "Zone=-1..\n"
                  "     ^\n"},
    {"Span=", "--knob:1:6: error: Span has no value; expected a range such as 1..8, 1.., ..8, or a number\n"
              "Span=\n"
              "     ^\n"},
    {"List=", "--knob:1:6: error: List: the list is empty; expected numbers such as 1,2,-3\n"
              "List=\n"
              "     ^\n"},
    {"List=,", "--knob:1:6: error: List: bad list ','; expected numbers such as 1,2,-3\n"
               "List=,\n"
               "     ^\n"},
    {"List=1,", "--knob:1:8: error: List: bad list '1,'; expected numbers such as 1,2,-3\n"
                "List=1,\n"
                "       ^\n"},
    {"List=1,,2", "--knob:1:8: error: List: bad list '1,,2'; expected numbers such as 1,2,-3\n"
                  "List=1,,2\n"
                  "       ^\n"},
    {"List=1 2", "--knob:1:8: error: List: bad list '1 2'; expected numbers such as 1,2,-3\n"
                 "List=1 2\n"
                 "       ^\n"},
    {"List=1;2", "--knob:1:7: error: ';' separates settings only after WHEN; elsewhere use a newline or '~'\n"
                 "List=1;2\n"
                 "      ^\n"},
    {"List=1.5", "--knob:1:6: error: List: bad list '1.5'; expected numbers such as 1,2,-3\n"
                 "List=1.5\n"
                 "     ^\n"},
    {"List=1,99999999999999999999", "--knob:1:8: error: List: 99999999999999999999 does not fit 64 bits\n"
                                    "List=1,99999999999999999999\n"
                                    "       ^\n"},
    {"Bits=1,32", "--knob:1:8: error: Bits: 32 is out of range 0..31\n"
                  "Bits=1,32\n"
                  "       ^\n"},
    {"Double=x", "--knob:1:8: error: Double: bad number 'x'; expected a decimal number such as 0.25 or -1e3\n"
                 "Double=x\n"
                 "       ^\n"},
    {"Double=1.", "--knob:1:9: error: Double: bad number '1.'; expected a decimal number such as 0.25 or -1e3\n"
                  "Double=1.\n"
                  "        ^\n"},
    {"Double=.", "--knob:1:8: error: Double: bad number '.'; expected a decimal number such as 0.25 or -1e3\n"
                 "Double=.\n"
                 "       ^\n"},
    {"Double=1e", "--knob:1:9: error: Double: bad number '1e'; expected a decimal number such as 0.25 or -1e3\n"
                  "Double=1e\n"
                  "        ^\n"},
    {"Double=0x10", "--knob:1:8: error: Double: bad number '0x10'; expected a decimal number such as 0.25 or -1e3\n"
                    "Double=0x10\n"
                    "       ^\n"},
    {"Double=nan", "--knob:1:8: error: Double: bad number 'nan'; expected a decimal number such as 0.25 or -1e3\n"
                   "Double=nan\n"
                   "       ^\n"},
    {"Double=inf", "--knob:1:8: error: Double: bad number 'inf'; expected a decimal number such as 0.25 or -1e3\n"
                   "Double=inf\n"
                   "       ^\n"},
    {"Double=-Infinity",
     "--knob:1:8: error: Double: bad number '-Infinity'; expected a decimal number such as 0.25 or -1e3\n"
     "Double=-Infinity\n"
     "       ^\n"},
    {"Double=1,5", "--knob:1:9: error: Double: bad number '1,5'; expected a decimal number such as 0.25 or -1e3\n"
                   "Double=1,5\n"
                   "        ^\n"},
    {"Double=1e400", "--knob:1:8: error: Double: 1e400 does not fit a double\n"
                     "Double=1e400\n"
                     "       ^\n"},
    {"Double=1e5 1", "--knob:1:12: error: Double: bad number '1e5 1'; expected a decimal number such as 0.25 or -1e3\n"
                     "Double=1e5 1\n"
                     "           ^\n"},
    {"Float=1e39", "--knob:1:7: error: Float: 1e39 does not fit a float\n"
                   "Float=1e39\n"
                   "      ^\n"},
    {"Ratio=1.0000001", "--knob:1:7: error: Ratio: 1.0000001 is out of range 0..1\n"
                        "Ratio=1.0000001\n"
                        "      ^\n"},
    {"Ratio=-0.1", "--knob:1:7: error: Ratio: -0.1 is out of range 0..1\n"
                   "Ratio=-0.1\n"
                   "      ^\n"},
    {"Weights=",
     "--knob:1:9: error: Weights: the list is empty; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=\n"
     "        ^\n"},
    {"Weights=FADD",
     "--knob:1:9: error: Weights: 'FADD' has no number; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=FADD\n"
     "        ^\n"},
    {"Weights=FADD,3,FMUL",
     "--knob:1:16: error: Weights: 'FMUL' has no number; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=FADD,3,FMUL\n"
     "               ^\n"},
    {"Weights=FADD,3,FMUL,",
     "--knob:1:16: error: Weights: 'FMUL' has no number; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=FADD,3,FMUL,\n"
     "               ^\n"},
    {"Weights=FADD 3,2",
     "--knob:1:14: error: Weights: bad list 'FADD 3,2'; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=FADD 3,2\n"
     "             ^\n"},
    {"Weights=3,FADD",
     "--knob:1:9: error: Weights: bad list '3,FADD'; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=3,FADD\n"
     "        ^\n"},
    {"Weights=FADD,3,",
     "--knob:1:16: error: Weights: bad list 'FADD,3,'; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=FADD,3,\n"
     "               ^\n"},
    {"Weights=FADD 3",
     "--knob:1:14: error: Weights: bad list 'FADD 3'; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=FADD 3\n"
     "             ^\n"},
    {"Weights=FADD,x",
     "--knob:1:14: error: Weights: bad list 'FADD,x'; expected pairs of a name and a number such as FADD,3,FMUL,2\n"
     "Weights=FADD,x\n"
     "             ^\n"},
    {"Weights=FADD,51", "--knob:1:14: error: Weights: 51 is out of range 0..50\n"
                        "Weights=FADD,51\n"
                        "             ^\n"},
    {"Weights=FADD,3 FMUL,2", "--knob:1:16: error: Weights: bad list 'FADD,3 FMUL,2'; expected pairs of a name and a "
                              "number such as FADD,3,FMUL,2\n"
                              "Weights=FADD,3 FMUL,2\n"
                              "               ^\n"},
    {"Text=\"a", "--knob:1:6: error: this quote is not closed\n"
                 "Text=\"a\n"
                 "     ^\n"},
    {"Text=\"a\\\"", "--knob:1:6: error: this quote is not closed\n"
                     "Text=\"a\\\"\n"
                     "     ^\n"},
    {"Text=\"a\\", "--knob:1:6: error: this quote is not closed\n"
                   "Text=\"a\\\n"
                   "     ^\n"},
    {"Text=\"a\" b", "--knob:1:10: error: unexpected text after the closing quote\n"
                     "Text=\"a\" b\n"
                     "         ^\n"},
    {"Text=\"a\"\"b\"", "--knob:1:9: error: unexpected text after the closing quote\n"
                        "Text=\"a\"\"b\"\n"
                        "        ^\n"},
    {"Text=\"a\";Num=1", "--knob:1:9: error: ';' separates settings only after WHEN; elsewhere use a newline or '~'\n"
                         "Text=\"a\";Num=1\n"
                         "        ^\n"},
};

static const ErrorRow record_errors[] = {
    {"Numb=1", "--knob:1:1: error: unknown knob 'Numb'; did you mean Num, Few or Span?\n"
               "Numb=1\n"
               "^\n"},
    {"xyz", "--knob:1:1: error: unknown knob 'xyz'; did you mean Num, Few or Span?\n"
            "xyz\n"
            "^\n"},
    {"  Num=1 ~ Smal=2", "--knob:1:11: error: unknown knob 'Smal'; did you mean Small, Span or Num?\n"
                         "  Num=1 ~ Smal=2\n"
                         "          ^\n"},
    {"Numb", "--knob:1:1: error: unknown knob 'Numb'; did you mean Num, Few or Span?\n"
             "Numb\n"
             "^\n"},
    {"=1", "--knob:1:1: error: expected the name of a knob\n"
           "=1\n"
           "^\n"},
    {"9999=1", "--knob:1:1: error: there is no knob with the number 9999; --list-knobs shows them\n"
               "9999=1\n"
               "^\n"},
    {"-1=1", "--knob:1:1: error: expected the name of a knob\n"
             "-1=1\n"
             "^\n"},
    {"[knobs]", "--knob:1:1: error: expected the name of a knob\n"
                "[knobs]\n"
                "^\n"},
    {"\"Num\"=1", "--knob:1:1: error: expected the name of a knob\n"
                  "\"Num\"=1\n"
                  "^\n"},
    {"Num=1~[x]", "--knob:1:7: error: expected the name of a knob\n"
                  "Num=1~[x]\n"
                  "      ^\n"},
    {"Num 1", "--knob:1:5: error: expected '=' or the end of the setting after Num\n"
              "Num 1\n"
              "    ^\n"},
    {"Switch x", "--knob:1:8: error: expected '=' or the end of the setting after Switch\n"
                 "Switch x\n"
                 "       ^\n"},
    {"Switch;Num=1", "--knob:1:7: error: ';' separates settings only after WHEN; elsewhere use a newline or '~'\n"
                     "Switch;Num=1\n"
                     "      ^\n"},
    {"Num=1;Small=1", "--knob:1:6: error: ';' separates settings only after WHEN; elsewhere use a newline or '~'\n"
                      "Num=1;Small=1\n"
                      "     ^\n"},
    {"\303\203\302\251=1", "--knob:1:1: error: expected the name of a knob\n"
                           "?\?\?\?=1\n"
                           "^\n"},
    {"Num\001=1", "--knob:1:4: error: control character 0x01\n"
                  "Num?=1\n"
                  "   ^\n"},
    {"\177Num=1", "--knob:1:1: error: control character 0x7f\n"
                  "?Num=1\n"
                  "^\n"},
    {"Num=\001", "--knob:1:5: error: control character 0x01\n"
                 "Num=?\n"
                 "    ^\n"},
    {"Num=1\002", "--knob:1:6: error: control character 0x02\n"
                  "Num=1?\n"
                  "     ^\n"},
    {"Text=a\033b", "--knob:1:7: error: control character 0x1b\n"
                    "Text=a?b\n"
                    "      ^\n"},
    {"Text=\"a\002\"", "--knob:1:8: error: control character 0x02\n"
                       "Text=\"a?\"\n"
                       "       ^\n"},
    {"Switch\003", "--knob:1:7: error: control character 0x03\n"
                   "Switch?\n"
                   "      ^\n"},
    {"; c\001", "--knob:1:4: error: control character 0x01\n"
                "; c?\n"
                "   ^\n"},
    {"Num=1\r", "--knob:1:6: error: control character 0x0d\n"
                "Num=1?\n"
                "     ^\n"},
    {"Text=\"a\" \001", "--knob:1:10: error: control character 0x01\n"
                        "Text=\"a\" ?\n"
                        "         ^\n"},
    {"WHEN=\001", "--knob:1:6: error: control character 0x01\n"
                  "WHEN=?\n"
                  "     ^\n"},
    {"WHEN=FN=\001;Num=1", "--knob:1:9: error: control character 0x01\n"
                           "WHEN=FN=?;Num=1\n"
                           "        ^\n"},
    {"WHEN", "--knob:1:1: error: WHEN has no condition; expected FN=glob, FH=hash or PH=phase\n"
             "WHEN\n"
             "^\n"},
    {"WHEN=", "--knob:1:6: error: WHEN has no condition; expected FN=glob, FH=hash or PH=phase\n"
              "WHEN=\n"
              "     ^\n"},
    {"WHEN;Num=1", "--knob:1:1: error: WHEN has no condition; expected FN=glob, FH=hash or PH=phase\n"
                   "WHEN;Num=1\n"
                   "^\n"},
    {"WHEN=FN", "--knob:1:8: error: expected '=' after FN\n"
                "WHEN=FN\n"
                "       ^\n"},
    {"WHEN=FN;Num=1", "--knob:1:8: error: expected '=' after FN\n"
                      "WHEN=FN;Num=1\n"
                      "       ^\n"},
    {"WHEN==a", "--knob:1:6: error: WHEN has no condition; expected FN=glob, FH=hash or PH=phase\n"
                "WHEN==a\n"
                "     ^\n"},
    {"WHEN=XX=1;Num=1", "--knob:1:6: error: unknown condition 'XX'; did you mean FN, FH or PH?\n"
                        "WHEN=XX=1;Num=1\n"
                        "     ^\n"},
    {"WHEN=F=1;Num=1", "--knob:1:6: error: unknown condition 'F'; did you mean FN, FH or PH?\n"
                       "WHEN=F=1;Num=1\n"
                       "     ^\n"},
    {"WHEN=function=1;Num=1", "--knob:1:6: error: unknown condition 'function'; did you mean FN, FH or PH?\n"
                              "WHEN=function=1;Num=1\n"
                              "     ^\n"},
    {"WHEN=\"FN=a\";Num=1", "--knob:1:6: error: WHEN has no condition; expected FN=glob, FH=hash or PH=phase\n"
                            "WHEN=\"FN=a\";Num=1\n"
                            "     ^\n"},
    {"WHEN=FN=;Num=1", "--knob:1:9: error: FN has an empty pattern; * is every function\n"
                       "WHEN=FN=;Num=1\n"
                       "        ^\n"},
    {"WHEN=FN=\"\";Num=1", "--knob:1:9: error: FN has an empty pattern; * is every function\n"
                           "WHEN=FN=\"\";Num=1\n"
                           "        ^\n"},
    {"WHEN=FN=\"a;Num=1", "--knob:1:9: error: this quote is not closed\n"
                          "WHEN=FN=\"a;Num=1\n"
                          "        ^\n"},
    {"WHEN=FN=\"a\"b;Num=1", "--knob:1:12: error: unexpected text after the closing quote\n"
                             "WHEN=FN=\"a\"b;Num=1\n"
                             "           ^\n"},
    {"WHEN=FH=;Num=1", "--knob:1:9: error: bad hash ''; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
                       "WHEN=FH=;Num=1\n"
                       "        ^\n"},
    {"WHEN=FH=xyz;Num=1",
     "--knob:1:9: error: bad hash 'xyz'; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
     "WHEN=FH=xyz;Num=1\n"
     "        ^\n"},
    {"WHEN=FH=-1;Num=1",
     "--knob:1:9: error: bad hash '-1'; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
     "WHEN=FH=-1;Num=1\n"
     "        ^\n"},
    {"WHEN=FH=..-5;Num=1",
     "--knob:1:9: error: bad hash '..-5'; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
     "WHEN=FH=..-5;Num=1\n"
     "        ^\n"},
    {"WHEN=FH=-1..5;Num=1",
     "--knob:1:9: error: bad hash '-1..5'; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
     "WHEN=FH=-1..5;Num=1\n"
     "        ^\n"},
    {"WHEN=FH=1..0x10000000000000000;Num=1", "--knob:1:9: error: bad hash '1..0x10000000000000000'; expected a number "
                                             "such as 0x1f, or a range such as 0x10..0x20\n"
                                             "WHEN=FH=1..0x10000000000000000;Num=1\n"
                                             "        ^\n"},
    {"WHEN=FH=0x10000000000000000..;Num=1", "--knob:1:9: error: bad hash '0x10000000000000000..'; expected a number "
                                            "such as 0x1f, or a range such as 0x10..0x20\n"
                                            "WHEN=FH=0x10000000000000000..;Num=1\n"
                                            "        ^\n"},
    {"WHEN=FH=5..2;Num=1",
     "--knob:1:9: error: bad hash '5..2'; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
     "WHEN=FH=5..2;Num=1\n"
     "        ^\n"},
    {"WHEN=FH=..;Num=1",
     "--knob:1:9: error: bad hash '..'; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
     "WHEN=FH=..;Num=1\n"
     "        ^\n"},
    {"WHEN=FH=0x10000000000000000;Num=1", "--knob:1:9: error: bad hash '0x10000000000000000'; expected a number such "
                                          "as 0x1f, or a range such as 0x10..0x20\n"
                                          "WHEN=FH=0x10000000000000000;Num=1\n"
                                          "        ^\n"},
    {"WHEN=FH=1,2;Num=1",
     "--knob:1:9: error: bad hash '1,2'; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
     "WHEN=FH=1,2;Num=1\n"
     "        ^\n"},
    {"WHEN=FH=\"1\";Num=1",
     "--knob:1:9: error: bad hash '\"1\"'; expected a number such as 0x1f, or a range such as 0x10..0x20\n"
     "WHEN=FH=\"1\";Num=1\n"
     "        ^\n"},
    {"WHEN=PH=;Num=1", "--knob:1:9: error: bad phase ''; expected a phase, or a range such as 13..29\n"
                       "WHEN=PH=;Num=1\n"
                       "        ^\n"},
    {"WHEN=PH=Foo;Num=1", "--knob:1:9: error: unknown phase 'Foo'; did you mean P1, P2 or P3?\n"
                          "WHEN=PH=Foo;Num=1\n"
                          "        ^\n"},
    {"WHEN=PH=1..Foo;Num=1", "--knob:1:12: error: unknown phase 'Foo'; did you mean P1, P2 or P3?\n"
                             "WHEN=PH=1..Foo;Num=1\n"
                             "           ^\n"},
    {"WHEN=PH=Foo..3;Num=1", "--knob:1:9: error: unknown phase 'Foo'; did you mean P1, P2 or P3?\n"
                             "WHEN=PH=Foo..3;Num=1\n"
                             "        ^\n"},
    {"WHEN=PH=\"1..Foo\";Num=1", "--knob:1:9: error: unknown phase 'Foo'; did you mean P1, P2 or P3?\n"
                                 "WHEN=PH=\"1..Foo\";Num=1\n"
                                 "        ^\n"},
    {"WHEN=PH=..3;Num=1", "--knob:1:9: error: bad phase '..3'; expected a phase, or a range such as 13..29\n"
                          "WHEN=PH=..3;Num=1\n"
                          "        ^\n"},
    {"WHEN=PH=3..;Num=1", "--knob:1:9: error: bad phase '3..'; expected a phase, or a range such as 13..29\n"
                          "WHEN=PH=3..;Num=1\n"
                          "        ^\n"},
    {"WHEN=PH=5..P4;Num=1", "--knob:1:9: error: the range 5..P4 is reversed: the lower phase comes first\n"
                            "WHEN=PH=5..P4;Num=1\n"
                            "        ^\n"},
    {"WHEN=FN=a", "--knob:1:1: error: WHEN without settings: write them after a ';' with no blank before it\n"
                  "WHEN=FN=a\n"
                  "^\n"},
    {"WHEN=FN=a;", "--knob:1:1: error: WHEN without settings: write them after a ';' with no blank before it\n"
                   "WHEN=FN=a;\n"
                   "^\n"},
    {"WHEN=FN=a;WHEN=PH=3", "--knob:1:1: error: WHEN without settings: write them after a ';' with no blank before it\n"
                            "WHEN=FN=a;WHEN=PH=3\n"
                            "^\n"},
    {"WHEN=FN=a ;Num=1", "--knob:1:1: error: WHEN without settings: write them after a ';' with no blank before it\n"
                         "WHEN=FN=a ;Num=1\n"
                         "^\n"},
    {"WHEN=FN=a~Num=1", "--knob:1:1: error: WHEN without settings: write them after a ';' with no blank before it\n"
                        "WHEN=FN=a~Num=1\n"
                        "^\n"},
    {"WHEN=FN=a;Num=1;WHEN=PH=3;Small=1",
     "--knob:1:17: error: WHEN follows a setting; conditions must come first in a record\n"
     "WHEN=FN=a;Num=1;WHEN=PH=3;Small=1\n"
     "                ^\n"},
    {"WHEN=FN=a;Num=x;Small=9",
     "--knob:1:15: error: Num: bad number 'x'; expected a number such as 12, 0x1f, 017 or -3\n"
     "WHEN=FN=a;Num=x;Small=9\n"
     "              ^\n"},
    {"WHEN=FN=a;Nim=1", "--knob:1:11: error: unknown knob 'Nim'; did you mean Num, Few or List?\n"
                        "WHEN=FN=a;Nim=1\n"
                        "          ^\n"},
    {"WHEN=FN=a;Num 1", "--knob:1:15: error: expected '=' or the end of the setting after Num\n"
                        "WHEN=FN=a;Num 1\n"
                        "              ^\n"},
    {"WHEN=FN=a;=1", "--knob:1:11: error: expected the name of a knob\n"
                     "WHEN=FN=a;=1\n"
                     "          ^\n"},
    {"Num=x~Small=9\nSwitch=5 ; a~b\nText=\"a~b\nBad=\"~x\"~Num=1;2\nWHEN=FN=;Num=x~ Bits=32",
     "--knob:1:5: error: Num: bad number 'x'; expected a number such as 12, 0x1f, 017 or -3\n"
     "Num=x~Small=9\n"
     "    ^\n"
     "--knob:1:13: error: Small: 9 is out of range -2..6\n"
     "Num=x~Small=9\n"
     "            ^\n"
     "--knob:2:8: error: Switch: '5' is not a value for a switch; expected no value, or 0 or 1\n"
     "Switch=5 ; a~b\n"
     "       ^\n"
     "--knob:3:6: error: this quote is not closed\n"
     "Text=\"a~b\n"
     "     ^\n"
     "--knob:4:1: error: unknown knob 'Bad'; did you mean Num, Few or Span?\n"
     "Bad=\"~x\"~Num=1;2\n"
     "^\n"
     "--knob:4:15: error: ';' separates settings only after WHEN; elsewhere use a newline or '~'\n"
     "Bad=\"~x\"~Num=1;2\n"
     "              ^\n"
     "--knob:5:9: error: FN has an empty pattern; * is every function\n"
     "WHEN=FN=;Num=x~ Bits=32\n"
     "        ^\n"
     "--knob:5:22: error: Bits: 32 is out of range 0..31\n"
     "WHEN=FN=;Num=x~ Bits=32\n"
     "                     ^\n"},
    {"\tNum=\tx", "--knob:1:7: error: Num: bad number 'x'; expected a number such as 12, 0x1f, 017 or -3\n"
                  "\tNum=\tx\n"
                  "\t    \t^\n"},
};

static const ErrorRow file_errors[] = {
    {"Num=1", "f.knobs:1:1: error: there is no line '[knobs]'; only lines after it are read\n"
              "Num=1\n"
              "^\n"},
    {"", "f.knobs:1:1: error: there is no line '[knobs]'; only lines after it are read\n"
         "\n"
         "^\n"},
    {"; [knobs]\n", "f.knobs:1:1: error: there is no line '[knobs]'; only lines after it are read\n"
                    "; [knobs]\n"
                    "^\n"},
    {"[knob]\nNum=1", "f.knobs:1:1: error: there is no line '[knobs]'; only lines after it are read\n"
                      "[knob]\n"
                      "^\n"},
    {"x [knobs]\n", "f.knobs:1:1: error: there is no line '[knobs]'; only lines after it are read\n"
                    "x [knobs]\n"
                    "^\n"},
    {"[knobs", "f.knobs:1:1: error: there is no line '[knobs]'; only lines after it are read\n"
               "[knobs\n"
               "^\n"},
    {"[knobs] x\nNum=x", "f.knobs:1:9: error: unexpected text after the section's name\n"
                         "[knobs] x\n"
                         "        ^\n"
                         "f.knobs:2:5: error: Num: bad number 'x'; expected a number such as 12, 0x1f, 017 or -3\n"
                         "Num=x\n"
                         "    ^\n"},
    {"[knobs]=1~2\n[knobs]\n", "f.knobs:1:8: error: unexpected text after the section's name\n"
                               "[knobs]=1~2\n"
                               "       ^\n"},
    {"[knobs]\nNum=1~[other]\n", "f.knobs:2:7: error: expected the name of a knob\n"
                                 "Num=1~[other]\n"
                                 "      ^\n"},
    {"[knobs]\n[x\n", "f.knobs:2:1: error: expected the name of a knob\n"
                      "[x\n"
                      "^\n"},
    {"Num=7\n[other]\n\n[knobs]\r\nNum=x\r\n[a]\nNum=y\n[knobs]\nNum=z",
     "f.knobs:5:5: error: Num: bad number 'x'; expected a number such as 12, 0x1f, 017 or -3\n"
     "Num=x\n"
     "    ^\n"
     "f.knobs:9:5: error: Num: bad number 'z'; expected a number such as 12, 0x1f, 017 or -3\n"
     "Num=z\n"
     "    ^\n"},
    {"[knobs]\nWHEN=FN=a;[b]\n", "f.knobs:2:11: error: expected the name of a knob\n"
                                 "WHEN=FN=a;[b]\n"
                                 "          ^\n"},
};

TEST(knob_value_errors) { check_errors(KS_COMMAND_LINE, "--knob", value_errors, ARRAY_LEN(value_errors)); }

TEST(knob_record_errors) { check_errors(KS_COMMAND_LINE, "--knob", record_errors, ARRAY_LEN(record_errors)); }

TEST(knob_file_errors) { check_errors(KS_FILE, "f.knobs", file_errors, ARRAY_LEN(file_errors)); }

// Reads bytes that may contain NULs.
static bool read_bytes(KnobTest *t, KnobSource from, const char *text, size_t len)
{
    t->sink.n = 0;
    t->source = (Source){.name = "bytes", .text = text, .len = len};
    t->diag = (Diag){.source = &t->source, .write = sink_append, .user = &t->sink};
    bool ok = knob_read(t->store, from, &t->diag);
    CHECK_EQ(ok, t->diag.errors == 0);
    return ok;
}

TEST(knob_nul_bytes)
{
    static const struct {
        const char *text;
        size_t len;
        const char *expected;
    } rows[] = {{"\0Num=1", 6, "bytes:1:1: error: a NUL byte\n?Num=1\n^\n"},
                {"Num=1\0", 6, "bytes:1:6: error: a NUL byte\nNum=1?\n     ^\n"},
                {"Text=\"a\0\"~Num=x", 15,
                 "bytes:1:8: error: a NUL byte\nText=\"a?\"~Num=x\n       ^\n"
                 "bytes:1:15: error: Num: bad number 'x'; expected a number such as 12, 0x1f, 017 or -3\n"
                 "Text=\"a?\"~Num=x\n              ^\n"},
                {"a\0~Num=x", 8,
                 "bytes:1:1: error: unknown knob 'a'; did you mean Num, Few or Span?\na?~Num=x\n^\n"
                 "bytes:1:8: error: Num: bad number 'x'; expected a number such as 12, 0x1f, 017 or -3\n"
                 "a?~Num=x\n       ^\n"},
                {"; c\0", 4, "bytes:1:4: error: a NUL byte\n; c?\n   ^\n"}};
    for (size_t n = 0; n < ARRAY_LEN(rows); n++) {
        KnobTest t;
        unit_context("row %zu", n);
        knobs_open(&t);
        CHECK(!read_bytes(&t, KS_COMMAND_LINE, rows[n].text, rows[n].len));
        CHECK_TEXT(t.sink.text, t.sink.n, rows[n].expected);
        knobs_close(&t);
    }
}

// A record with an error is dropped completely; the others apply.
TEST(knob_errors_drop_their_record)
{
    KnobTest t;
    knobs_open(&t);
    CHECK(!knobs_read(&t, KS_COMMAND_LINE, "--knob",
                      "Num=1~Num=x\nSmall=4~WHEN=FN=*;Switch;Few=x;Num=8\nWHEN=FN=*;Few=1\nSpan=2"));
    CHECK_EQ(t.diag.errors, 2);
    knobs_view(&t);
    knobs_enter(&t, "f", NULL);
    CHECK_EQ(knob_int(&t.view, T_NUM), 1);
    CHECK_EQ(knob_int(&t.view, T_SMALL), 4);
    CHECK_EQ(knob_left(&t.view, T_FEW), 1);
    CHECK(knob_is_set(&t.view, T_SPAN) && !knob_is_set(&t.view, T_SWITCH));
    knobs_close(&t);
}

TEST(knob_errors_end_at_their_limit)
{
    static const char text[] = "A~B~C~D~E";
    KnobTest t;
    knobs_open(&t);
    t.source = (Source){.name = "--knob", .text = text, .len = sizeof text - 1};
    t.diag = (Diag){.source = &t.source, .write = sink_append, .user = &t.sink, .max_errors = 3};
    CHECK(!knob_read(t.store, KS_COMMAND_LINE, &t.diag));
    CHECK_EQ(t.diag.errors, 3);
    knobs_close(&t);
}

// Without a callback for phases there are none.
TEST(knob_errors_without_phases)
{
    KnobTest t;
    knobs_open(&t);
    t.store = knob_store_new(&t.arena, &test_table, NULL);
    CHECK(!knobs_read(&t, KS_COMMAND_LINE, "--knob", "WHEN=PH=3;Num=1"));
    CHECK_TEXT(t.sink.text, t.sink.n, "--knob:1:9: error: there are no phases\nWHEN=PH=3;Num=1\n        ^\n");
    knobs_close(&t);
}

/* -- Malformed texts ------------------------------------------------------------------------------------ */

static const char long_text[] =
    "junk\n[other]\n; c\n[knobs] ; ours\r\nSwitch~Num=-0x10 ; why\nText=\"a \\\"b\\\\ ;~c\"\nList=1, 2 ,-3\n"
    "Weights=FADD,3,FMUL,2~Double=.5e-1~Float=1.5\nSpan=..8\nWHEN=FN=a*;WHEN=FH=0x10..0x20;WHEN=PH=P3 .. 7;Budget=3;"
    "Text=b ; c\nWHEN=FN=\"x;y\";Ratio=1\r\nSmall=+5\n[end]\nNum=x\n[knobs]\nZone=1..2~Bits=0x1f\n";

// Reads a text; if that succeeds, prints it and reads it again.
static void torture(const char *text, size_t len, KnobSource from)
{
    KnobTest t;
    knobs_open(&t);
    bool ok = read_bytes(&t, from, text, len);
    CHECK(ok || t.sink.n > 0);
    knobs_view(&t);
    knobs_enter(&t, "a", NULL);
    knobs_enter_phase(&t.view, 5);
    TextBuffer printed = {.arena = &t.arena};
    Out out;
    out_init(&out, &t.arena, out_to_text, &printed);
    knob_print(&t.view, &out, true);
    out_flush(&out);
    CHECK(read_bytes(&t, KS_FILE, printed.at, printed.n));
    CHECK_SILENT(&t);
    knobs_close(&t);
}

// Reads a copy of the text at the end of an allocation, so that a sanitizer reports reads beyond it.
static void torture_copy(const char *text, size_t len, KnobSource from)
{
    char *copy = malloc(len + 1);
    if (!CHECK(copy != NULL))
        return;
    memcpy(copy, text, len);
    copy[len] = 0;
    torture(copy, len, from);
    free(copy);
}

TEST(knob_prefixes)
{
    size_t len = sizeof long_text - 1;
    for (size_t n = 0; n <= len; n++) {
        unit_context("prefix of %zu bytes", n);
        torture_copy(long_text, n, KS_FILE);
        torture_copy(long_text + len - n, n, n % 2 ? KS_COMMAND_LINE : KS_FILE);
    }
}

TEST(knob_long_text_is_in_order)
{
    KnobTest t;
    knobs_open(&t);
    CHECK(knobs_read(&t, KS_FILE, "f.knobs", long_text));
    CHECK_SILENT(&t);
    knobs_close(&t);
}

TEST(knob_random_bytes)
{
    static const char pieces[][12] = {"Num",  "=",  "1",     ";",      "~",         "\n",    "\r\n", " ",
                                      "\"",   "\\", "WHEN=", "FN=",    "FH=",       "PH=",   "..",   ",",
                                      "-",    "0x", "9",     "Switch", "[knobs]\n", "Text=", "*",    "List",
                                      "\x01", "\t", "[",     "]",      "Weights=a", "1e",    ".",    "Budget"};
    uint64_t seed = 11;
    for (int round = 0; round < 6000; round++) {
        char text[200];
        size_t len = 0, parts = unit_random(&seed, 24);
        bool raw = unit_random(&seed, 4) == 0;
        for (size_t n = 0; n < parts && len < sizeof text - 16; n++) {
            const char *piece = pieces[unit_random(&seed, ARRAY_LEN(pieces))];
            if (raw) {
                text[len++] = (char)unit_random(&seed, 256);
                continue;
            }
            memcpy(text + len, piece, strlen(piece));
            len += strlen(piece);
        }
        unit_context("round %d", round);
        torture_copy(text, len, round % 3 ? KS_COMMAND_LINE : KS_FILE);
    }
}

// Changes bytes of a valid text.
TEST(knob_changed_bytes)
{
    char text[sizeof long_text];
    uint64_t seed = 5;
    for (int round = 0; round < 4000; round++) {
        memcpy(text, long_text, sizeof text);
        for (uint32_t n = unit_random(&seed, 3) + 1; n--;)
            text[unit_random(&seed, sizeof text - 1)] = (char)unit_random(&seed, round % 2 ? 128 : 256);
        unit_context("round %d", round);
        torture_copy(text, sizeof text - 1, KS_FILE);
    }
}

void test_knob_errors(void)
{
    RUN(knob_value_errors);
    RUN(knob_record_errors);
    RUN(knob_file_errors);
    RUN(knob_nul_bytes);
    RUN(knob_errors_drop_their_record);
    RUN(knob_errors_end_at_their_limit);
    RUN(knob_errors_without_phases);
    RUN(knob_long_text_is_in_order);
    RUN(knob_prefixes);
    RUN(knob_random_bytes);
    RUN(knob_changed_bytes);
}
