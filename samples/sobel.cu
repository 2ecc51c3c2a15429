// SPDX-License-Identifier: MIT
// Sobel edges three ways: global memory, a texture object, and a surface object as output.

__device__ int clamp255(int v) { return v < 0 ? 0 : v > 255 ? 255 : v; }

extern "C" __global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int p[3][3];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            p[j][i] = in[min(max(y + j - 1, 0), h - 1) * w + min(max(x + i - 1, 0), w - 1)];
    int gx = p[0][2] + 2 * p[1][2] + p[2][2] - p[0][0] - 2 * p[1][0] - p[2][0];
    int gy = p[2][0] + 2 * p[2][1] + p[2][2] - p[0][0] - 2 * p[0][1] - p[0][2];
    out[y * w + x] = clamp255(abs(gx) + abs(gy));
}

extern "C" __global__ void sobel_tex(cudaTextureObject_t in, cudaSurfaceObject_t out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    float gx = 0.0f, gy = 0.0f;
    for (int k = -1; k <= 1; k++) {
        float weight = k == 0 ? 2.0f : 1.0f;
        gx += weight * (tex2D<float>(in, x + 1.5f, y + k + 0.5f) - tex2D<float>(in, x - 0.5f, y + k + 0.5f));
        gy += weight * (tex2D<float>(in, x + k + 0.5f, y + 1.5f) - tex2D<float>(in, x + k + 0.5f, y - 0.5f));
    }
    surf2Dwrite(fabsf(gx) + fabsf(gy), out, x * (int)sizeof(float), y);
}

extern "C" __global__ void lookup(cudaTextureObject_t linear, cudaTextureObject_t layers, cudaSurfaceObject_t volume, int4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 v = tex1Dfetch<int4>(linear, i);
    uchar4 c = tex2DLayered<uchar4>(layers, 0.25f, 0.75f, i & 3);
    short2 s;
    surf3Dread(&s, volume, (i & 7) * (int)sizeof(short2), 1, 2, cudaBoundaryModeClamp);
    out[i] = make_int4(v.x + c.x, v.y + c.y, v.z + s.x, v.w + s.y);
}
