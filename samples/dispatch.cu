// SPDX-License-Identifier: MIT
// Interpreters of a stack machine: by a table of functions, by a switch, and by a function that is chosen once.

struct Code {
    unsigned char operation;
    signed char operand;
};

struct Stack {
    int at[8];
    unsigned char n;
    short faults;

    __device__ int pop()
    {
        if (n == 0) {
            faults++;
            return 0;
        }
        return at[--n];
    }
    __device__ void push(int v)
    {
        if (n == 8)
            faults++;
        else
            at[n++] = v;
    }
};

/* -- By a table ---------------------------------------------------------------------------------------------- */

typedef void (*Operation)(Stack &, signed char);

static __device__ void constant(Stack &s, signed char operand) { s.push(operand); }
static __device__ void add(Stack &s, signed char)
{
    int b = s.pop();
    s.push(s.pop() + b);
}
static __device__ void multiply(Stack &s, signed char)
{
    int b = s.pop();
    s.push(s.pop() * b);
}
static __device__ void shift(Stack &s, signed char operand)
{
    int v = s.pop();
    s.push(operand < 0 ? v >> (-operand & 31) : v << (operand & 31));
}
static __device__ void duplicate(Stack &s, signed char operand)
{
    int k = s.n - 1 - operand;
    s.push(k >= 0 && k < s.n ? s.at[k] : 0);
}
static __device__ void drop(Stack &s, signed char) { s.pop(); }

static __device__ const Operation operations[] = {constant, add, multiply, shift, duplicate, drop};

extern "C" __global__ void by_table(const Code *code, int n, const int *in, int *out, short *faults)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Stack s;
    s.n = 0;
    s.faults = 0;
    s.push(in[t]);
    for (int k = 0; k < n; k++)
        operations[code[k].operation](s, code[k].operand);
    out[t] = s.pop();
    faults[t] = s.faults;
}

/* -- By a switch --------------------------------------------------------------------------------------------- */

static __device__ __noinline__ void step(Stack &s, unsigned char operation, signed char operand)
{
    switch (operation) {
    case 0: constant(s, operand); break;
    case 1: add(s, operand); break;
    case 2: multiply(s, operand); break;
    case 3: shift(s, operand); break;
    case 4: duplicate(s, operand); break;
    case 5: drop(s, operand); break;
    default: s.faults += 100; break;
    }
}

extern "C" __global__ void by_switch(const Code *code, int n, const int *in, int *out, short *faults)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Stack s;
    s.n = 0;
    s.faults = 0;
    s.push(in[t]);
    for (int k = 0; k < n; k++)
        step(s, code[k].operation, code[k].operand);
    out[t] = s.pop();
    faults[t] = s.faults;
}

/* -- Chosen once --------------------------------------------------------------------------------------------- */

typedef short (*Mix)(short, signed char, unsigned char);

static __device__ short wrap(short a, signed char b, unsigned char weight) { return (short)(a + b * weight); }
static __device__ short saturate(short a, signed char b, unsigned char weight)
{
    return (short)min(max(a + b * weight, -32768), 32767);
}
static __device__ short average(short a, signed char b, unsigned char weight)
{
    return (short)((a * (256 - weight) + b * 256 * weight) >> 8);
}

extern "C" __global__ void mix(const signed char *in, int n, unsigned char weight, unsigned char mode, short *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Mix f = mode == 0 ? wrap : mode == 1 ? saturate : t & 1 ? average : wrap;
    short v = 0;
    for (int k = 0; k < n; k++)
        v = f(v, in[t * n + k], weight);
    out[t] = v;
}
