// SPDX-License-Identifier: MIT
// Virtual calls: objects built by placement new, by new/delete on the device heap, and multiple inheritance.
#include <new>

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual int grow(int by) { return by + area(); }
    __device__ virtual ~Shape() {}
};
struct Named {
    int tag;
    __device__ virtual int name() const { return tag * 100; }
};
struct Rect : Shape {
    int w, h;
    __device__ Rect(int w_, int h_) : w(w_), h(h_) {}
    __device__ int area() const override { return w * h; }
};
struct Square : Rect, Named {
    __device__ Square(int s) : Rect(s, s) { tag = s; }
    __device__ int grow(int by) override { return (w + by) * (h + by); }
    __device__ int name() const override { return tag * 1000 + w; }
};

__device__ __noinline__ int measure(Shape *s, Named *n)
{
    return s->area() + s->grow(2) + (n != nullptr ? n->name() : 0);
}

extern "C" __global__ void shapes_local(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __align__(16) unsigned char room[sizeof(Square)];
    Shape *s;
    Named *n = nullptr;
    if (in[i] & 1) {
        Square *q = new (room) Square(in[i]);
        s = q;
        n = q;
    } else {
        s = new (room) Rect(in[i], i);
    }
    out[i] = measure(s, n);
}

extern "C" __global__ void shapes_heap(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Shape *s = in[i] & 1 ? (Shape *)new Square(in[i]) : new Rect(in[i], 3);
    out[i] = s != nullptr ? measure(s, nullptr) : -1;
    delete s;
}
