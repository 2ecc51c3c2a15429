// SPDX-License-Identifier: MIT
// flags: -jtd 50
// A number parser as a state machine, a stack machine with a dense switch, and a sparse switch.

enum State { START, SIGN, DIGITS, POINT, FRACTION, BAD };
struct Parse { State state; bool negative; int scale; long long value; };

__device__ __noinline__ Parse step(Parse p, char c)
{
    bool digit = c >= '0' && c <= '9';
    switch (p.state) {
    case START:
        if (c == '-' || c == '+') { p.negative = c == '-'; p.state = SIGN; break; }
        // fall through
    case SIGN:
    case DIGITS:
        if (digit) { p.value = p.value * 10 + (c - '0'); p.state = DIGITS; }
        else p.state = c == '.' && p.state == DIGITS ? POINT : BAD;
        break;
    case POINT:
    case FRACTION:
        if (digit) { p.value = p.value * 10 + (c - '0'); p.scale++; p.state = FRACTION; }
        else p.state = BAD;
        break;
    default:
        break;
    }
    return p;
}

// value[i] is the number with its point removed, scale[i] its number of decimals or -1 for an error.
extern "C" __global__ void parse_numbers(const char *text, const int *offset, long long *value, int *scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Parse p = { START, false, 0, 0 };
    for (int k = offset[i]; k < offset[i + 1]; k++)
        p = step(p, text[k]);
    bool ok = p.state == DIGITS || p.state == FRACTION;
    value[i] = p.negative ? -p.value : p.value;
    scale[i] = ok ? p.scale : -1;
}

// Opcodes 0..11; arguments follow in the code; the top of the stack at the end is the answer.
extern "C" __global__ void stack_machine(const int *code, const int *input, int *answer)
{
    int stack[16], sp = 0, pc = 0, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int fuel = 1000; fuel > 0; fuel--) {
        int top = sp > 0 ? stack[sp - 1 & 15] : 0, below = sp > 1 ? stack[sp - 2 & 15] : 0;
        switch (code[pc++]) {
        case 0: answer[i] = top; return;
        case 1: stack[sp++ & 15] = code[pc++]; break;
        case 2: stack[sp++ & 15] = input[i]; break;
        case 3: stack[--sp - 1 & 15] = below + top; break;
        case 4: stack[--sp - 1 & 15] = below - top; break;
        case 5: stack[--sp - 1 & 15] = below * top; break;
        case 6: stack[--sp - 1 & 15] = top != 0 ? below / top : 0; break;
        case 7: stack[sp++ & 15] = top; break;
        case 8: sp--; break;
        case 9: stack[sp - 1 & 15] = below; stack[sp - 2 & 15] = top; break;
        case 10: sp--; pc = top != 0 ? code[pc] : pc + 1; break;
        case 11: stack[sp - 1 & 15] = ~top; break;
        default: answer[i] = -1; return;
        }
    }
    answer[i] = -2;
}

extern "C" __global__ void sparse_switch(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, r;
    switch (in[i]) {
    case -100000: r = 1; break;
    case 0: r = 2; break;
    case 7: r = in[i + 1]; break;
    case 1000: r = 4; break;
    case 65536: r = i * 3; break;
    case 2147483647: r = 6; break;
    default: r = -in[i]; break;
    }
    out[i] = r;
}
