// SPDX-License-Identifier: MIT
// OpenCL C for clang: every variable in memory at -O0, address spaces, vectors, local memory, switches, private arrays.
#define TID __nvvm_read_ptx_sreg_tid_x()
#define GID (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + TID)
#define SYNC __syncthreads()

__kernel void matmul(__global const float *A, __global const float *B, __global float *C, int n)
{
    __local float a[16][16], b[16][17];
    int x = TID & 15, y = TID >> 4, row = __nvvm_read_ptx_sreg_ctaid_y() * 16 + y, col = __nvvm_read_ptx_sreg_ctaid_x() * 16 + x;
    float sum = 0;
    for (int t = 0; t < n; t += 16) {
        a[y][x] = A[row * n + t + x];
        b[y][x] = B[(t + y) * n + col];
        SYNC;
        for (int k = 0; k < 16; k++)
            sum += a[y][k] * b[k][x];
        SYNC;
    }
    C[row * n + col] = sum;
}

__kernel void state_machine(__global const uchar *in, __global int *out, int n)
{
    int state = 0, acc = 0;
    for (int i = 0; i < n; i++) {
        int c = in[GID * n + i];
        switch (state) {
        case 0: state = c > 64 ? 3 : 1; acc += c; break;
        case 1: state = c == 10 ? 4 : 2; acc ^= c << 3; break;
        case 2: acc -= c; state = 5; break;
        case 3: if (c & 1) state = 0; else acc *= 3; break;
        case 4: acc = acc / (c + 1); state = 6; break;
        case 5: acc = acc % 1000; state = c % 7; break;
        case 6: state = 0; continue;
        default: return;
        }
    }
    out[GID] = acc + state;
}

typedef struct { float x, y, z; short tag; char flags[3]; } Particle;

__kernel void particles(__global Particle *p, __global float4 *out, float dt, int n, double scale)
{
    Particle mine = p[GID];
    float4 force = (float4)(0, 0, 0, mine.tag);
    for (int i = 0; i < n; i++) {
        Particle other = p[i];
        float4 d = (float4)(other.x - mine.x, other.y - mine.y, other.z - mine.z, 0);
        float r = d.x * d.x + d.y * d.y + d.z * d.z + 0.01f;
        if (other.flags[i % 3])
            force += d / r;
        else
            force.xy -= d.zx * dt;
    }
    mine.x += force.x * dt;
    mine.flags[1] = (char)(force.w > 2);
    mine.tag = (short)(mine.tag + 1);
    p[GID] = mine;
    out[GID] = force * (float)scale;
}

__kernel void sort_small(__global int *data, __global long *sums)
{
    int a[24];
    long s = 0;
    for (int i = 0; i < 24; i++)
        a[i] = data[GID * 24 + i];
    for (int i = 1; i < 24; i++) {
        int v = a[i], j = i;
        while (j > 0 && a[j - 1] > v) {
            a[j] = a[j - 1];
            j--;
        }
        a[j] = v;
    }
    for (int i = 0; i < 24; i++) {
        s = s * 31 + a[i];
        data[GID * 24 + i] = a[i];
    }
    sums[GID] = s;
}

__constant int weights[9] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

static int clampi(int x, int lo, int hi) { return x < lo ? lo : x > hi ? hi : x; }

__kernel void blur(__global const uchar4 *in, __global uchar4 *out, int w, int h)
{
    int x = GID % w, y = GID / w;
    int4 sum = (int4)(0);
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            uchar4 c = in[clampi(y + dy, 0, h - 1) * w + clampi(x + dx, 0, w - 1)];
            sum += (int4)(c.x, c.y, c.z, c.w) * weights[(dy + 1) * 3 + dx + 1];
        }
    sum /= 16;
    out[GID] = (uchar4)(sum.x, sum.y, sum.z, sum.w);
}

__kernel void hashes(__global uint *u, __global ulong *v, uint seed)
{
    uint a = u[GID], b = seed, c = 0x9e3779b9u;
    for (int i = 0; i < 12; i++) {
        a -= b; a -= c; a ^= c >> 13;
        b -= c; b -= a; b ^= a << 8;
        c -= a; c -= b; c ^= b >> (i & 31);
        if ((a ^ b) & 1) c = c << 7 | c >> 25;
    }
    u[GID] = a ^ b ^ c;
    ulong h = 14695981039346656037ul;
    for (uint i = 0; i < (a & 15); i++)
        h = (h ^ (b >> i & 255)) * 1099511628211ul;
    v[GID] = h / (c | 1) + h % 12345;
}
