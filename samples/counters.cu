// SPDX-License-Identifier: MIT
// Counters of a block in a shared structure: atomic operations on fields, vectors, statistics that no code reads.

struct Counters {
    int even, odd;
    unsigned long long sum;
    int4 last;
    unsigned mask;
    int low, high;
    int visits[32];  // nothing reads these
};

extern "C" __global__ void count_block(const int *in, int *out, int n)
{
    __shared__ Counters c;
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (t == 0) {
        c.even = c.odd = 0;
        c.sum = 0;
        c.mask = 0;
        c.low = 0x7fffffff;
        c.high = -0x7fffffff - 1;
        c.last = make_int4(0, 0, 0, 0);
    }
    if (t < 32)
        c.visits[t] = 0;
    __syncthreads();
    if (i < n) {
        int x = in[i];
        atomicAdd(x & 1 ? &c.odd : &c.even, 1);
        atomicAdd(&c.sum, (unsigned long long)(unsigned)x);
        atomicOr(&c.mask, 1u << (x & 31));
        atomicMin(&c.low, x);
        atomicMax(&c.high, x);
        atomicAdd(&c.visits[x & 31], 1);
        if (i == n - 1 || t == blockDim.x - 1)
            c.last = make_int4(x, i, t, (int)blockIdx.x);
    }
    __syncthreads();
    if (t == 0) {
        int *to = out + 12 * blockIdx.x;
        to[0] = c.even;
        to[1] = c.odd;
        to[2] = (int)(unsigned)c.sum;
        to[3] = (int)(c.sum >> 32);
        to[4] = (int)c.mask;
        to[5] = c.low;
        to[6] = c.high;
        int4 last = c.last;
        to[7] = last.x;
        to[8] = last.y;
        to[9] = last.z;
        to[10] = last.w;
    }
}

// Rounds of an election: fields of the winner are written by one thread and read by all.
extern "C" __global__ void elect(const int *votes, int *out, int rounds)
{
    __shared__ struct {
        int winner, score;
        int history[4];  // nothing reads these
    } s;
    int t = threadIdx.x, mine = votes[blockIdx.x * blockDim.x + t], wins = 0;
    for (int r = 0; r < rounds; r++) {
        if (t == 0) {
            s.score = -1;
            s.winner = -1;
        }
        __syncthreads();
        atomicMax(&s.score, mine * 64 + t);
        __syncthreads();
        if (s.score == mine * 64 + t) {
            s.winner = t;
            s.history[r & 3] = mine;
        }
        __syncthreads();
        if (s.winner == t) {
            wins++;
            mine /= 2;
        }
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + t] = wins * 1000 + mine;
}
