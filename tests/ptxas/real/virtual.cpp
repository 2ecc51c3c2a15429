// SPDX-License-Identifier: MIT
// C++ for clang: virtual tables (initializers with addresses of functions), templates, member pointers, references.

struct Node {
    Node *next;
    virtual int eval(int x) const = 0;
    virtual long weight() const { return 1; }
};

struct Constant : Node {
    int value;
    int eval(int) const override { return value; }
};

struct Scale : Node {
    int by;
    int eval(int x) const override { return next ? by * next->eval(x) : by * x; }
    long weight() const override { return 3 + (next ? next->weight() : 0); }
};

template <class T, int N> struct Stack {
    T data[N];
    int top = 0;
    bool push(const T &x) { return top < N ? (data[top++] = x, true) : false; }
    T pop() { return top ? data[--top] : T(); }
};

template <class T> static T power(T base, unsigned e)
{
    T r = 1;
    for (; e; e >>= 1, base *= base)
        if (e & 1)
            r *= base;
    return r;
}

int evaluate(const Node &n, int x) { return n.eval(x) + (int)n.weight(); }

void *make_tables(Constant *c, Scale *s)
{
    static const Constant prototype{};
    static const Scale scale{};
    *c = prototype;
    *s = scale;
    return c;
}

int calculator(const char *text, int n)
{
    Stack<int, 16> stack;
    for (int i = 0; i < n; i++) {
        char ch = text[i];
        if (ch >= '0' && ch <= '9')
            stack.push(ch - '0');
        else {
            int b = stack.pop(), a = stack.pop();
            switch (ch) {
            case '+': stack.push(a + b); break;
            case '-': stack.push(a - b); break;
            case '*': stack.push(a * b); break;
            case '/': stack.push(b ? a / b : 0); break;
            case '^': stack.push(power(a, (unsigned)b)); break;
            case '%': stack.push(b ? a % b : 0); break;
            case '&': stack.push(a & b); break;
            default: return -1;
            }
        }
    }
    return stack.pop();
}

double powers(double x, float y, long long z) { return power(x, 13) + power(y, 5) + (double)power(z, 3); }

struct Grid {
    int w, h;
    float cells[64];
    float get(int x, int y) const { return cells[y * w + x]; }
    float twice(int x, int y) const { return 2 * get(x, y); }
};

float through(const Grid &g, float (Grid::*how)(int, int) const, int n)
{
    float s = 0;
    for (int i = 0; i < n; i++)
        s += (g.*how)(i % g.w, i / g.w);
    return s;
}

float both(const Grid &g, int n) { return through(g, n & 1 ? &Grid::get : &Grid::twice, n); }
