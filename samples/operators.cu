// SPDX-License-Identifier: MIT
// Numbers with operators: class templates and their composition, structures returned by value.

template <unsigned P> struct Residue {
    unsigned v;
    __device__ Residue(unsigned v = 0) : v(v % P) {}
    __device__ Residue operator+(Residue o) const { return v + o.v; }
    __device__ Residue operator-(Residue o) const { return v + P - o.v; }
    __device__ Residue operator*(Residue o) const { return (unsigned)((unsigned long long)v * o.v % P); }
    __device__ bool operator==(Residue o) const { return v == o.v; }
};

template <class T> struct Complex {
    T re, im;
    __device__ Complex(T re = T(0), T im = T(0)) : re(re), im(im) {}
    __device__ Complex operator+(const Complex &o) const { return Complex(re + o.re, im + o.im); }
    __device__ Complex operator-(const Complex &o) const { return Complex(re - o.re, im - o.im); }
    __device__ Complex operator*(const Complex &o) const
    {
        return Complex(re * o.re - im * o.im, re * o.im + im * o.re);
    }
    __device__ Complex &operator+=(const Complex &o) { return *this = *this + o; }
    __device__ Complex operator~() const { return Complex(re, T(0) - im); }
    __device__ T norm() const { return (*this * ~*this).re; }
};

template <class T> struct Matrix {
    T at[2][2];
    __device__ Matrix operator*(const Matrix &o) const
    {
        Matrix m;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                m.at[i][j] = at[i][0] * o.at[0][j] + at[i][1] * o.at[1][j];
        return m;
    }
};

template <class T> __device__ T power(T base, unsigned n, T one)
{
    T p = one;
    for (; n; n >>= 1) {
        if (n & 1)
            p = p * base;
        base = base * base;
    }
    return p;
}

typedef Residue<998244353> Mod;

extern "C" __global__ void fibonacci(const unsigned *n, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Matrix<Mod> step = {{{1, 1}, {1, 0}}}, one = {{{1, 0}, {0, 1}}};
    out[i] = power(step, n[i], one).at[0][1].v;
}

// Powers of Gaussian integers modulo 2^32 and modulo a prime.
extern "C" __global__ void gauss(const uint2 *z, unsigned n, uint2 *out, unsigned *norms)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Complex<unsigned> a(z[i].x, z[i].y), sum;
    for (unsigned k = 0; k < n; k++)
        sum += power(a, k, Complex<unsigned>(1));
    Complex<Mod> b = power(Complex<Mod>(z[i].x, z[i].y), n, Complex<Mod>(1)), product = b * ~b;
    out[i] = make_uint2(sum.re, sum.im);
    norms[i] = product.im == Mod(0) && product.re == b.norm() ? product.re.v : 0;
}

// 20 bits behind the point.
struct Fixed {
    int raw;
    __device__ Fixed(int n = 0) : raw(n << 20) {}
    static __device__ Fixed of(int raw)
    {
        Fixed f;
        f.raw = raw;
        return f;
    }
    __device__ Fixed operator+(Fixed o) const { return of(raw + o.raw); }
    __device__ Fixed operator-(Fixed o) const { return of(raw - o.raw); }
    __device__ Fixed operator*(Fixed o) const { return of((int)((long long)raw * o.raw >> 20)); }
    __device__ bool operator<(Fixed o) const { return raw < o.raw; }
};

extern "C" __global__ void julia(const short2 *start, short2 c, unsigned char *steps, unsigned char most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Complex<Fixed> z(Fixed::of(start[i].x << 8), Fixed::of(start[i].y << 8));
    const Complex<Fixed> add(Fixed::of(c.x << 8), Fixed::of(c.y << 8));
    unsigned char n = 0;
    for (; n < most && z.norm() < Fixed(4); n++)
        z = z * z + add;
    steps[i] = n;
}

struct Vec {
    float x, y, z;
};
__device__ Vec operator+(Vec a, Vec b) { return {__fadd_rn(a.x, b.x), __fadd_rn(a.y, b.y), __fadd_rn(a.z, b.z)}; }
__device__ Vec operator*(Vec a, float k) { return {__fmul_rn(a.x, k), __fmul_rn(a.y, k), __fmul_rn(a.z, k)}; }
__device__ Vec operator-(Vec a) { return a * -1.0f; }
__device__ float operator*(Vec a, Vec b)
{
    return __fmaf_rn(a.z, b.z, __fmaf_rn(a.y, b.y, __fmul_rn(a.x, b.x)));
}
__device__ Vec operator^(Vec a, Vec b)
{
    return {__fmaf_rn(a.y, b.z, -__fmul_rn(a.z, b.y)), __fmaf_rn(a.z, b.x, -__fmul_rn(a.x, b.z)),
            __fmaf_rn(a.x, b.y, -__fmul_rn(a.y, b.x))};
}
__device__ Vec reflect(Vec v, Vec normal) { return v + normal * __fmul_rn(-2.0f, v * normal); }

extern "C" __global__ void bounce(const float *in, int walls, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Vec v = {in[3 * i], in[3 * i + 1], in[3 * i + 2]}, spin = {0, 0, 0};
    for (int k = 0; k < walls; k++) {
        Vec normal = k % 3 == 0 ? Vec{1, 0, 0} : k % 3 == 1 ? Vec{0, 0.6f, 0.8f} : -Vec{0, 0, 1};
        Vec next = v * normal < 0 ? reflect(v, normal) : v;
        spin = spin + (v ^ next) * 0.5f;
        v = next;
    }
    out[4 * i] = v.x;
    out[4 * i + 1] = v.y;
    out[4 * i + 2] = v.z;
    out[4 * i + 3] = spin * spin;
}
