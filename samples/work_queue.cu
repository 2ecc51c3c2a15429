// SPDX-License-Identifier: MIT
// State of the device in static variables that only kernels access: counters, a volatile field, fields nobody reads.

struct QueueState {
    unsigned next;             // number of claimed items, a counter
    unsigned blocks_done;      // counter of blocks
    volatile unsigned closed;  // a flag that other kernels set
    unsigned launches;         // one kernel counts, another one reads
    unsigned long long bytes;  // sum of the sizes, a 64-bit counter
    int largest;
    // Nothing reads these.
    unsigned version;
    unsigned long long owner;
    float4 last_point;
    char label[8];
};

struct Tuning { int shift, bias; unsigned char enabled; int history[8]; };

static __device__ QueueState queue_state;
static __device__ Tuning queue_tuning = { 1, 100, 1, { 0 } };
static __device__ int queue_unused_slots[64];
static __device__ unsigned queue_sizes[32];

// Sets the state; one thread.
extern "C" __global__ void queue_open(unsigned version, int shift)
{
    queue_state.next = 0;
    queue_state.blocks_done = 0;
    queue_state.bytes = 0;
    queue_state.largest = -1;
    queue_state.closed = 0;
    queue_state.launches += 1;
    queue_state.version = version;
    queue_state.owner = 0x1122334455667788ull * version;
    queue_state.last_point = make_float4(0.0f, 1.0f, 2.0f, (float)version);
    queue_state.label[0] = 'q';
    queue_state.label[1] = (char)version;
    queue_tuning.shift = shift;
    queue_tuning.history[0] = shift;
    queue_tuning.enabled = shift >= 0;
}

// Adds the sizes to the state. The results of atomic operations are not used, so their order does not matter.
extern "C" __global__ void queue_add(const unsigned *sizes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !queue_state.closed) {
        unsigned size = (sizes[i] & 0xffffu) + queue_tuning.bias;
        if (queue_tuning.enabled)
            size <<= queue_tuning.shift;
        atomicAdd(&queue_state.next, 1u);
        atomicAdd(&queue_state.bytes, (unsigned long long)size);
        atomicMax(&queue_state.largest, (int)size);
        atomicAdd(&queue_sizes[size % 32], 1u);
        if (i == n - 1)
            queue_unused_slots[size % 64] = i;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        atomicInc(&queue_state.blocks_done, 0xffffffffu);
}

// Closes the queue, and copies what it holds; one warp.
extern "C" __global__ void queue_close(unsigned long long *out, unsigned *sizes)
{
    unsigned t = threadIdx.x;
    if (t == 0) {
        queue_state.closed = 1;
        out[0] = queue_state.next;
        out[1] = queue_state.blocks_done;
        out[2] = queue_state.bytes;
        out[3] = (unsigned long long)(long long)queue_state.largest;
        out[4] = queue_state.launches;
        out[5] = queue_state.closed;
        queue_tuning.history[1] = (int)t;
    }
    sizes[t] = queue_sizes[t & 31];
    queue_sizes[t & 31] = 0;
}
