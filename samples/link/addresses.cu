// SPDX-License-Identifier: MIT
// Functions whose address is taken by code, by a table of functions, by a table of virtual functions, and by the
// initializer of a variable. For each of these, a kernel that uses it, k_dead and its own functions.
typedef int (*Op)(int);
__device__ int in_code(int x) { return x * 3 + 1; }
__device__ int in_dead_code(int x) { return x * 5 + 1; }
__device__ int in_variable(int x) { return x * 7 + 1; }
__device__ __noinline__ int of_dead_table(int x) { return x * 11 + 1; }
__device__ int in_dead_table(int x) { return of_dead_table(x) + 1; }
__device__ Op variable = in_variable;
__device__ Op dead_table[2] = {in_dead_table, in_code};
__device__ Op *dead_pointer = dead_table + 1;
__device__ __noinline__ int apply(Op op, int x) { return op(x) + 1; }

struct Shape {
    __device__ virtual int area(int x) { return x + 1; }
    __device__ virtual int edges(int x) { return x + 2; }
};
struct Square : Shape {
    __device__ int area(int x) override { return x * x; }
};
struct DeadCircle : Shape {
    __device__ int area(int x) override { return x * x * 3; }
};

__global__ void k_code(int *p) { p[0] = apply(p[1] ? in_code : (Op)0, p[2]); }
__global__ void k_variable(int *p) { p[0] = variable(p[1]); }
__global__ void k_vtable(int *p)
{
    Shape *s = new Square;
    p[0] = p[1] ? s->area(p[2]) : s->edges(p[2]);
    p[1] = (int)(size_t)s;
}
__global__ void k_dead(int *p)
{
    Shape *s = new DeadCircle;
    p[0] = apply(p[1] ? in_dead_code : in_code, s->area(p[2]));
    p[1] = (int)(size_t)s + (*dead_pointer)(p[3]) + dead_table[p[4] & 1](p[5]);
}
