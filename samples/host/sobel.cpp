// SPDX-License-Identifier: MIT
// Computes the results of ../run/sobel.run. The kernels with textures only compile.
#include "cuda_shim.h"
#include "launches.h"

using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
constexpr int cudaBoundaryModeClamp = 1;
template <class T> T tex2D(cudaTextureObject_t, float, float) { return host_fail("texture"), T(); }
template <class T> T tex1Dfetch(cudaTextureObject_t, int) { return host_fail("texture"), T(); }
template <class T> T tex2DLayered(cudaTextureObject_t, float, float, int) { return host_fail("texture"), T(); }
template <class T> void surf2Dwrite(T, cudaSurfaceObject_t, int, int) { host_fail("surface"); }
template <class T> void surf3Dread(T *, cudaSurfaceObject_t, int, int, int, int) { host_fail("surface"); }

#include "sobel.cu"

LAUNCHES("sobel", KERNEL(sobel))
