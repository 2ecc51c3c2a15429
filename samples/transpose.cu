// SPDX-License-Identifier: MIT
// Transposes and layout changes: padded tiles, 3D grids, strided copies of every element width.

template <class T>
__global__ void transpose(const T *in, T *out, int w, int h)
{
    __shared__ T tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 4)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    for (int j = 0; j < 16; j += 4)
        if (x < h && y + j < w)
            out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

template __global__ void transpose<unsigned char>(const unsigned char *, unsigned char *, int, int);
template __global__ void transpose<float>(const float *, float *, int, int);
template __global__ void transpose<int4>(const int4 *, int4 *, int, int);

// Permutes the axes of a 3D array: (x, y, z) -> (z, x, y).
extern "C" __global__ void permute3d(const short2 *in, short2 *out, int3 n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x < n.x && y < n.y && z < n.z)
        out[(y * n.x + x) * n.z + z] = in[(z * n.y + y) * n.x + x];
}

// Array of structures to structure of arrays: char4 pixels into four planes.
extern "C" __global__ void planes(const char4 *in, signed char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    char4 p = in[i];
    out[i] = p.x;
    out[n + i] = p.y;
    out[2 * n + i] = p.z;
    out[3 * n + i] = p.w;
}

// Reverses an int2 array of 2n elements in place: thread i swaps elements i and 2n-1-i.
extern "C" __global__ void reverse_pairs(int2 *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int2 a = data[i], b = data[2 * n - 1 - i];
    data[i] = make_int2(b.y, b.x);
    data[2 * n - 1 - i] = make_int2(a.y, a.x);
}
