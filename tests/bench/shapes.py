#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints PTX shapes that are hard for compilers, for make bench. Each shape has one size parameter.

    shapes.py SHAPE N

bench.sh has the sizes that give about one megabyte.
"""
import sys

kind = sys.argv[1]
n = int(sys.argv[2])
H=".version 8.0\n.target sm_80\n.address_size 64\n"
o=[H]
def p(s): o.append(s)
def kernel(body,regs=".reg .b32 %r<64>;\n\t.reg .b64 %rd<64>;\n\t.reg .pred %p<64>;", params=".param .u64 out, .param .u32 n", name="k"):
    p(".visible .entry %s(%s)\n{\n\t%s\n\tld.param.u64 %%rd1, [out];\n\tld.param.u32 %%r1, [n];\n%s\tret;\n}\n"%(name,params,regs,body))
if kind=="irr_regs":   # n blocks, 300 regs
    R=300
    b="".join("\tmov.u32 %%v%d, %d;\n"%(i,i) for i in range(R))
    b+="\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra B1;\n"
    for i in range(n):
        b+="B%d:\n\tadd.u32 %%v%d, %%v%d, %%r1;\n\tsetp.lt.u32 %%p2, %%v%d, %d;\n\t@%%p2 bra B%d;\n"%(i,i%R,(i*7+1)%R,i%R,i,(i*7919+13)%n)
    b+="".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*i,i) for i in range(R))
    kernel(b,".reg .b32 %r<64>;\n\t.reg .b32 %v<300>;\n\t.reg .b64 %rd<64>;\n\t.reg .pred %p<64>;")
elif kind=="irr_local":
    S=8192
    b="\t.local .align 8 .b8 a[%d];\n\tmov.u64 %%rd2, a;\n\tsetp.eq.u32 %%p1, %%r1, 0;\n\t@%%p1 bra B1;\n"%S
    for i in range(n):
        j=(i*8)%S
        b+="B%d:\n\tld.local.u32 %%r2, [a+%d];\n\tadd.u32 %%r2, %%r2, %%r1;\n\tst.local.u32 [a+%d], %%r2;\n\tsetp.lt.u32 %%p2, %%r2, %d;\n\t@%%p2 bra B%d;\n"%(i,j,(j+8)%S,i,(i*7919+13)%n)
    kernel(b)
elif kind=="nest":   # nested loops depth n
    b="".join("\tmov.u32 %%c%d, 0;\nL%d:\n"%(i,i) for i in range(n))
    b+="\tadd.u32 %r2, %r2, 1;\n"
    b+="".join("\tadd.u32 %%c%d, %%c%d, 1;\n\tsetp.lt.u32 %%p1, %%c%d, %%r1;\n\t@%%p1 bra L%d;\n"%(i,i,i,i) for i in reversed(range(n)))
    b+="\tst.global.u32 [%rd1], %r2;\n"
    kernel(b,".reg .b32 %%r<64>;\n\t.reg .b32 %%c<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%n)
elif kind=="switch":
    b="\tbrx.idx %r1, T;\n"
    b="T: .branchtargets "+", ".join("S%d"%i for i in range(n))+";\n"+b
    for i in range(n): b+="S%d:\n\tadd.u32 %%r2, %%r1, %d;\n\tst.global.u32 [%%rd1], %%r2;\n\tbra E;\n"%(i,i)
    b+="E:\n"
    kernel("\tmov.u32 %r2, 0;\n"+b+"\tst.global.u32 [%rd1+4], %r2;\n")
elif kind=="switchloop":  # dispatch in loop with many state registers
    R=30
    b="".join("\tmov.u32 %%v%d, %d;\n"%(i,i) for i in range(R))
    b+="T: .branchtargets "+", ".join("S%d"%i for i in range(n))+";\nD:\n\trem.u32 %%r3, %%v1, %d;\n\tsetp.eq.u32 %%p1, %%v2, 77;\n\t@%%p1 bra X;\n\tbrx.idx %%r3, T;\n"%n
    for i in range(n): b+="S%d:\n\tadd.u32 %%v%d, %%v%d, %d;\n\txor.b32 %%v%d, %%v%d, %%v%d;\n\tbra D;\n"%(i,i%R,(i+3)%R,i,(i*3)%R,(i*5)%R,(i+1)%R)
    b+="X:\n"+"".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*i,i) for i in range(R))
    kernel(b,".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%R)
elif kind=="block":  # one huge block, all live
    b="".join("\tmad.lo.s32 %%v%d, %%v%d, %%v%d, %d;\n"%(i+1,i,i*7919%(i+1),i) for i in range(n))
    kernel("\tmov.u32 %v0, %r1;\n"+b+"\tst.global.u32 [%%rd1], %%v%d;\n"%n,".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(n+1))
elif kind=="blockmem": # one block with loads and stores of global memory
    b="".join("\tld.global.u32 %%r2, [%%rd1+%d];\n\tadd.u32 %%r2, %%r2, %%r1;\n\tst.global.u32 [%%rd1+%d], %%r2;\n"%(i*4,(i*7919%n)*4) for i in range(n))
    kernel(b)
elif kind=="blockshared":
    b="\t.shared .b32 s[%d];\n"%n+"".join("\tld.shared.u32 %%r2, [s+%d];\n\tst.global.u32 [%%rd1+%d], %%r2;\n\tst.shared.u32 [s+%d], %%r1;\n"%(i*4,i*4,(i*7919%n)*4) for i in range(n))
    kernel(b)
elif kind=="local":
    b="\t.local .b32 s[%d];\n"%n+"".join("\tst.local.u32 [s+%d], %%r1;\n\tld.local.u32 %%r2, [s+%d];\n\tst.global.u32 [%%rd1+%d], %%r2;\n"%(i*4,(i*7919%n)*4,i*4) for i in range(n))
    kernel(b)
elif kind=="locals": # many local variables
    b="".join("\t.local .b32 s%d;\n"%i for i in range(n))+"".join("\tst.local.u32 [s%d], %%r1;\n\tld.local.u32 %%r2, [s%d];\n\tst.global.u32 [%%rd1], %%r2;\n"%(i,i*7919%n) for i in range(n))
    kernel(b)
elif kind=="labels":
    b="".join("L%d:\n\tadd.u32 %%r2, %%r2, 1;\n\tsetp.eq.u32 %%p1, %%r2, %d;\n\t@%%p1 bra L%d;\n"%(i,i,(i+1)) for i in range(n))+"L%d:\n\tst.global.u32 [%%rd1], %%r2;\n"%n
    kernel("\tmov.u32 %r2, 0;\n"+b)
elif kind=="emptylabels":
    kernel("\tmov.u32 %r2, 0;\n\tsetp.eq.u32 %p1, %r1, 1;\n"+"".join("L%d:\n\t@%%p1 bra L%d;\n"%(i,(i*7919)%n) for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="scopes":
    kernel("\tmov.u32 %r2, 0;\n"+"{\n"*n+"\tadd.u32 %r2, %r2, 1;\n"+"}\n"*n+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="scopelabel":
    kernel("\tmov.u32 %r2, 0;\n\tsetp.eq.u32 %p1, %r1, 1;\n"+"{\n\t@%p1 bra OUT;\n"*n+"\tadd.u32 %r2, %r2, 1;\n"+"}\n"*n+"OUT:\n\tst.global.u32 [%rd1], %r2;\n")
elif kind=="scopelabels": # each scope its own label, all outward
    kernel("\tmov.u32 %r2, 0;\n\tsetp.eq.u32 %p1, %r1, 1;\n"+"".join("{\n\t@%%p1 bra O%d;\n"%i for i in range(n))+"\tadd.u32 %r2, %r2, 1;\n"+"}\n"*n+"".join("O%d:\n"%i for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="scopelabelhalf":
    # n/2 labels used at depth n/2
    h=n//2
    kernel("\tmov.u32 %r2, 0;\n\tsetp.eq.u32 %p1, %r1, 1;\n"+"{\n"*h+"".join("\t@%%p1 bra O%d;\n"%i for i in range(h))+"}\n"*h+"".join("O%d:\n"%i for i in range(h))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="calls":
    p(".func (.param .b32 r) f(.param .b32 x)\n{\n\t.reg .b32 %r<3>;\n\tld.param.b32 %r1, [x];\n\tst.param.b32 [r], %r1;\n\tret;\n}\n")
    kernel("\tmov.u32 %r2, %r1;\n"+"\t{\n\t.param .b32 a;\n\t.param .b32 b;\n\tst.param.b32 [a], %r2;\n\tcall (b), f, (a);\n\tld.param.b32 %r2, [b];\n\t}\n"*n+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="phis": # one join with many phis
    R=n
    kernel("\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra A;\n"+"".join("\tadd.u32 %%v%d, %%r1, %d;\n"%(i,i) for i in range(R))+"\tbra B;\nA:\n"+"".join("\tmul.lo.u32 %%v%d, %%r1, %d;\n"%(i,i) for i in range(R))+"B:\n"+"".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*i,i) for i in range(R)),".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%R)
elif kind=="philoop": # loop with n carried rotating values
    R=n
    kernel("".join("\tadd.u32 %%v%d, %%r1, %d;\n"%(i,i) for i in range(R))+"L:\n\tmov.u32 %r9, %v0;\n"+"".join("\tmov.u32 %%v%d, %%v%d;\n"%(i,i+1) for i in range(R-1))+"\tmov.u32 %%v%d, %%r9;\n\tadd.u32 %%r1, %%r1, 1;\n\tsetp.lt.u32 %%p1, %%r1, 100;\n\t@%%p1 bra L;\n"%(R-1)+"".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*i,i) for i in range(R)),".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%R)
elif kind=="params":
    ps=", ".join(".param .u32 q%d"%i for i in range(n))
    kernel("".join("\tld.param.u32 %%r2, [q%d];\n\tst.global.u32 [%%rd1+%d], %%r2;\n"%(i,4*i) for i in range(n)),params=".param .u64 out, .param .u32 n, "+ps)
elif kind=="funcs":
    for i in range(n): p(".func f%d(.param .b32 x)\n{\n\t.reg .b32 %%r<3>;\n\tld.param.b32 %%r1, [x];\n\tret;\n}\n"%i)
elif kind=="syms":
    for i in range(n): p(".global .align 4 .b32 g%d = %d;\n"%(i,i))
    kernel("".join("\tld.global.u32 %%r2, [g%d];\n\tst.global.u32 [%%rd1], %%r2;\n"%i for i in range(0,n,4)))
elif kind=="init":
    p(".global .align 4 .b32 g[%d] = {"%n+", ".join(str(i) for i in range(n))+"};\n"); kernel("")
elif kind=="initsym":
    p(".global .align 8 .b64 h;\n.global .align 8 .u64 g[%d] = {"%n+", ".join("h" for i in range(n))+"};\n"); kernel("")
elif kind=="redef":
    kernel("\tmov.u32 %r2, 0;\n"+"".join("\tadd.u32 %%r2, %%r2, %d;\n\tst.global.u32 [%%rd1+%d], %%r2;\n"%(i,i*4) for i in range(n)))
elif kind=="redefbr": # one register with definitions in many blocks
    kernel("\tmov.u32 %r2, 0;\n"+"".join("\tsetp.eq.u32 %%p1, %%r1, %d;\n\t@%%p1 bra L%d;\n\tadd.u32 %%r2, %%r2, %d;\nL%d:\n"%(i,i,i,i) for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="guards":
    kernel("\tmov.u32 %r2, 0;\n\tsetp.eq.u32 %p1, %r1, 3;\n"+"".join("\t@%%p1 add.u32 %%r2, %%r2, %d;\n"%i for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="guards2":
    kernel("\tmov.u32 %r2, 0;\n"+"".join("\tsetp.eq.u32 %%p%d, %%r1, %d;\n\t@%%p%d mov.u32 %%r2, %d;\n"%(i%60,i,i%60,i) for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="chain": # def-use chain simple adds
    kernel("\tmov.u32 %v0, %r1;\n"+"".join("\tadd.u32 %%v%d, %%v%d, %d;\n"%(i+1,i,i%100) for i in range(n))+"\tst.global.u32 [%%rd1], %%v%d;\n"%n,".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(n+1))
elif kind=="logic":
    ops=["and","or","xor"]
    kernel("\tmov.u32 %v0, %r1;\n\tmov.u32 %r2, %tid.x;\n\tmov.u32 %r3, %ntid.x;\n"+"".join("\t%s.b32 %%v%d, %%v%d, %%r%d;\n"%(ops[i%3],i+1,i,1+i%3) for i in range(n))+"\tst.global.u32 [%%rd1], %%v%d;\n"%n,".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(n+1))
elif kind=="movchain":
    kernel("\tmov.u32 %v0, %r1;\n"+"".join("\tmov.u32 %%v%d, %%v%d;\n"%(i+1,i) for i in range(n))+"\tst.global.u32 [%%rd1], %%v%d;\n"%n,".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(n+1))
elif kind=="cvtchain":
    kernel("\tmov.u32 %v0, %r1;\n"+"".join("\tcvt.u32.u16 %%v%d, %%h;\n\tcvt.u16.u32 %%h, %%v%d;\n"%(i+1,i+1) for i in range(n))+"\tst.global.u32 [%%rd1], %%v%d;\n"%n,".reg .b32 %%r<64>;\n\t.reg .b16 %%h;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(n+1))
elif kind=="addrchain":
    kernel("\tmov.u64 %w0, %rd1;\n"+"".join("\tadd.u64 %%w%d, %%w%d, 4;\n\tst.global.u32 [%%w%d], %%r1;\n"%(i+1,i,i+1) for i in range(n)),".reg .b32 %%r<64>;\n\t.reg .b64 %%w<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(n+1))
elif kind=="ladder": # diamonds in sequence, several regs
    kernel("\tmov.u32 %r2, 0;\n\tmov.u32 %r3, 0;\n"+"".join("\tsetp.eq.u32 %%p1, %%r2, %d;\n\t@%%p1 bra A%d;\n\tadd.u32 %%r2, %%r2, %d;\n\tbra B%d;\nA%d:\n\tadd.u32 %%r3, %%r2, 1;\nB%d:\n"%(i,i,i,i,i,i) for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n\tst.global.u32 [%rd1+4], %r3;\n")
elif kind=="loops": # sequence of loops sharing 20 regs
    b="".join("\tmov.u32 %%v%d, %d;\n"%(i,i) for i in range(20))
    for i in range(n): b+="L%d:\n\tadd.u32 %%v%d, %%v%d, 1;\n\tsetp.lt.u32 %%p1, %%v%d, %d;\n\t@%%p1 bra L%d;\n"%(i,i%20,(i+7)%20,i%20,i,i)
    b+="".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*i,i) for i in range(20))
    kernel(b,".reg .b32 %r<64>;\n\t.reg .b32 %v<20>;\n\t.reg .b64 %rd<64>;\n\t.reg .pred %p<64>;")
elif kind=="inverse": # loop whose exits all go to one block
    b="L:\n"+"".join("\tadd.u32 %%r%d, %%r%d, 1;\n\tsetp.eq.u32 %%p1, %%r%d, %d;\n\t@%%p1 bra X;\n"%(2+i%20,2+(i+3)%20,2+i%20,i) for i in range(n))+"\tbra L;\nX:\n"+"".join("\tst.global.u32 [%%rd1+%d], %%r%d;\n"%(4*i,2+i) for i in range(20))
    kernel("".join("\tmov.u32 %%r%d, 0;\n"%(2+i) for i in range(20))+b)
elif kind=="vecs":
    kernel("".join("\tld.global.v4.u32 {%%r2,%%r3,%%r4,%%r5}, [%%rd1+%d];\n\tst.global.v4.u32 [%%rd1+%d], {%%r5,%%r4,%%r3,%%r2};\n"%(16*i,16*(i*7919%n)) for i in range(n)))
elif kind=="preds":
    kernel("\tsetp.eq.u32 %q0, %r1, 0;\n"+"".join("\tsetp.lt.and.u32 %%q%d, %%r1, %d, %%q%d;\n"%(i+1,i,i) for i in range(n))+"\tselp.u32 %%r2, 1, 0, %%q%d;\n\tst.global.u32 [%%rd1], %%r2;\n"%n,".reg .b32 %%r<64>;\n\t.reg .pred %%q<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(n+1))
elif kind=="ptrphi": # pointers through phis & generic addr
    b="\t.local .b32 a;\n\t.local .b32 c;\n\tmov.u64 %rd2, a;\n\tmov.u64 %rd3, c;\n\tcvta.local.u64 %rd2, %rd2;\n\tcvta.local.u64 %rd3, %rd3;\n"
    for i in range(n): b+="\tsetp.eq.u32 %%p1, %%r1, %d;\n\t@%%p1 bra Q%d;\n\tmov.u64 %%rd4, %%rd2;\n\tmov.u64 %%rd2, %%rd3;\n\tmov.u64 %%rd3, %%rd4;\nQ%d:\n\tst.u32 [%%rd2], %%r1;\n\tld.u32 %%r2, [%%rd3];\n\tst.global.u32 [%%rd1], %%r2;\n"%(i,i,i)
    kernel(b)
elif kind=="calldevs": # chain of functions calling each other
    p(".func f0()\n{\n\tret;\n}\n")
    for i in range(1,n): p(".func f%d()\n{\n\tcall f%d, ();\n\tret;\n}\n"%(i,i-1))
elif kind=="bar":
    kernel("".join("\tbar.sync 0;\n\tst.shared.u32 [%%r1+%d], %%r1;\n"%(i*4) for i in range(n)))
elif kind=="selp":
    kernel("\tmov.u32 %r2, 0;\n"+"".join("\tsetp.gt.s32 %%p1, %%r1, %d;\n\tselp.b32 %%r2, %%r2, %d, %%p1;\n"%(i,i) for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="loopnest": # nested loops, tested at the end, a counter each
    b="".join("\tmov.u32 %%c%d, 0;\nL%d:\n"%(i,i) for i in range(n))+"\tadd.u32 %r2, %r2, 1;\n"
    b+="".join("\tadd.u32 %%c%d, %%c%d, 1;\n\tsetp.lt.u32 %%p1, %%c%d, %%r1;\n\t@%%p1 bra L%d;\n"%(i,i,i,i) for i in reversed(range(n)))
    kernel("\tmov.u32 %r2, 0;\n"+b+"\tst.global.u32 [%rd1], %r2;\n",".reg .b32 %%r<64>;\n\t.reg .b32 %%c<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%n)
elif kind=="whilenest": # nested loops, tested at the start
    b="".join("\tmov.u32 %%c%d, 0;\nL%d:\n\tsetp.ge.u32 %%p1, %%c%d, %%r1;\n\t@%%p1 bra X%d;\n"%(i,i,i,i) for i in range(n))+"\tadd.u32 %r2, %r2, 1;\n"
    b+="".join("\tadd.u32 %%c%d, %%c%d, 1;\n\tbra L%d;\nX%d:\n"%(i,i,i,i) for i in reversed(range(n)))
    kernel("\tmov.u32 %r2, 0;\n"+b+"\tst.global.u32 [%rd1], %r2;\n",".reg .b32 %%r<64>;\n\t.reg .b32 %%c<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%n)
elif kind=="breaknest": # nested loops, each with a break out of all of them
    b="".join("\tmov.u32 %%c%d, 0;\nL%d:\n\tsetp.ge.u32 %%p1, %%c%d, %%r1;\n\t@%%p1 bra X%d;\n\tsetp.eq.u32 %%p2, %%r1, %d;\n\t@%%p2 bra OUT;\n"%(i,i,i,i,i) for i in range(n))
    b+="\tadd.u32 %r2, %r2, 1;\n"+"".join("\tadd.u32 %%c%d, %%c%d, 1;\n\tbra L%d;\nX%d:\n"%(i,i,i,i) for i in reversed(range(n)))
    kernel("\tmov.u32 %r2, 0;\n"+b+"OUT:\n\tst.global.u32 [%rd1], %r2;\n",".reg .b32 %%r<64>;\n\t.reg .b32 %%c<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%n)
elif kind in ("switchvars","exitvars","exitloopvars"): # n variables, each changed in one case, or before one early exit
    b="".join("\tadd.u32 %%v%d, %%r1, %d;\n"%(i,i) for i in range(n))
    if kind=="switchvars":
        b+="T: .branchtargets "+", ".join("S%d"%i for i in range(n))+";\nD:\n\tld.global.u32 %r3, [%rd1];\n\tsetp.eq.u32 %p1, %r3, 77;\n\t@%p1 bra X;\n\tbrx.idx %r3, T;\n"
        b+="".join("S%d:\n\tadd.u32 %%v%d, %%v%d, %%v%d;\n\tbra D;\n"%(i,i,i,(i+1)%n) for i in range(n))
    else:
        b+="L:\n"*(kind=="exitloopvars")
        b+="".join("\tadd.u32 %%v%d, %%v%d, 1;\n\tsetp.eq.u32 %%p1, %%v%d, %d;\n\t@%%p1 bra X;\n"%(i,(i+1)%n,i,i) for i in range(n))
        b+="\tbra L;\n"*(kind=="exitloopvars")
    b+="X:\n"+"".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*i,i) for i in range(n))
    kernel(b,".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%n)
elif kind=="ifs": # ifs that assign one variable constants
    kernel("\tmov.u32 %r2, 0;\n"+"".join("\tsetp.eq.u32 %%p1, %%r1, %d;\n\t@%%p1 bra L%d;\n\tmov.u32 %%r2, %d;\nL%d:\n"%(i,i,i,i) for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind=="ifadds": # ifs that change one variable
    kernel("\tmov.u32 %r2, 0;\n"+"".join("\tld.global.u32 %%r3, [%%rd1+%d];\n\tsetp.eq.u32 %%p1, %%r3, 5;\n\t@%%p1 bra L%d;\n\tadd.u32 %%r2, %%r2, %%r3;\nL%d:\n"%(4*i,i,i) for i in range(n))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind in ("movifs","movloops","movblock"): # moves among 8 variables: in ifs, as swaps in loops, in one block
    b=["\tadd.u32 %%v%d, %%r1, %d;\n"%(i,i) for i in range(8)]
    for i in range(n):
        if kind=="movifs": b.append("\tsetp.eq.u32 %%p1, %%r1, %d;\n\t@%%p1 bra L%d;\n\tmov.u32 %%v%d, %%v%d;\n\tmov.u32 %%v%d, %%v%d;\nL%d:\n"%(i,i,i%8,(i*3+1)%8,(i*5+2)%8,(i*7+3)%8,i))
        elif kind=="movloops": b.append("L%d:\n\tmov.u32 %%r9, %%v%d;\n\tmov.u32 %%v%d, %%v%d;\n\tmov.u32 %%v%d, %%r9;\n\tld.global.u32 %%r3, [%%rd1];\n\tsetp.lt.u32 %%p1, %%r3, %d;\n\t@%%p1 bra L%d;\n"%(i,i%8,i%8,(i+1)%8,(i+1)%8,i,i))
        else: b.append("\tmov.u32 %%v%d, %%v%d;\n\tmov.u32 %%v%d, %%v%d;\n\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(i%8,(i+1)%8,(i+1)%8,i%8,4*i,i%8))
    kernel("".join(b)+"".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*i,i) for i in range(8)),".reg .b32 %r<64>;\n\t.reg .b32 %v<8>;\n\t.reg .b64 %rd<64>;\n\t.reg .pred %p<64>;")
elif kind=="movjoins": # a move of the last value in each arm
    b="".join("\tsetp.eq.u32 %%p1, %%r1, %d;\n\t@%%p1 bra L%d;\n\tmov.u32 %%v%d, %%v%d;\n\tbra M%d;\nL%d:\n\tmov.u32 %%v%d, %%v%d;\nM%d:\n"%(i,i,i+1,i,i,i,i+1,i,i) for i in range(n))
    kernel("\tmov.u32 %v0, %r1;\n"+b+"\tst.global.u32 [%%rd1], %%v%d;\n"%n,".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(n+1))
elif kind=="switchjoin": # a switch with many cases at three places
    b="T: .branchtargets "+", ".join("S%d"%(i%3) for i in range(n))+";\n\tbrx.idx %r1, T;\n"+"".join("S%d:\n\tadd.u32 %%r2, %%r1, %d;\n\tbra E;\n"%(i,i) for i in range(3))
    kernel("\tmov.u32 %r2, 0;\n"+b+"E:\n\tst.global.u32 [%rd1+4], %r2;\n"+"".join("\tst.global.u32 [%%rd1+%d], %%r1;\n"%(4*i) for i in range(n)))
elif kind=="testjoin": # n tests lead to one that repeats the first
    b="\tld.global.u32 %r2, [%rd1];\n\tsetp.lt.u32 %p1, %r1, %r2;\n\t@%p1 bra X;\n"
    b+="".join("\tst.global.u32 [%%rd1+%d], %%r2;\n\tsetp.eq.u32 %%p2, %%r2, %d;\n\t@%%p2 bra J;\n"%(4*i,i) for i in range(n))
    kernel(b+"\tbra E;\nJ:\n\t@%p1 bra X;\n\tbra E;\nX:\n\tst.global.u32 [%rd1+4], %r1;\nE:\n\tst.global.u32 [%rd1+8], %r1;\n")
elif kind=="livecalls": # n values live over n calls
    p(".extern .func f();\n")
    kernel("".join("\tadd.u32 %%v%d, %%r1, %d;\n"%(i,i) for i in range(n))+"\tcall f, ();\n"*n+"".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*i,i) for i in range(n)),".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%n)
elif kind=="irrnest": # nested irreducible loops
    b="".join("\tsetp.eq.u32 %%p1, %%r2, %d;\n\t@%%p1 bra B%d;\nA%d:\n\tadd.u32 %%r2, %%r2, 1;\n"%(i,i,i) for i in range(n))
    b+="".join("B%d:\n\tadd.u32 %%r2, %%r2, 3;\n\tsetp.lt.u32 %%p1, %%r2, %d;\n\t@%%p1 bra A%d;\n"%(i,i,i) for i in reversed(range(n)))
    kernel("\tmov.u32 %r2, 0;\n"+b+"\tst.global.u32 [%rd1], %r2;\n")
elif kind in ("domchain","domstores"): # a deep dominator tree with equal expressions and loads, without and with stores
    b="".join("\tmul.lo.u32 %%r4, %%r1, %%r3;\n\tld.global.u32 %%r5, [%%rd1+%d];\n\tmad.lo.u32 %%r2, %%r2, %%r4, %%r5;\n%s\tsetp.eq.u32 %%p1, %%r2, %d;\n\t@%%p1 bra E;\n"%(i%16*4,"\tst.global.u32 [%%rd1+%d], %%r2;\n"%(i*7%16*4) if kind=="domstores" else "",i) for i in range(n))
    kernel("\tmov.u32 %r2, 0;\n\tmov.u32 %r3, %tid.x;\n"+b+"E:\n\tst.global.u32 [%rd1+64], %r2;\n")
elif kind=="domnest": # nested ifs with equal expressions and loads at their joins
    b="".join("\tmul.lo.u32 %%r4, %%r1, %%r3;\n\tadd.u32 %%r2, %%r2, %%r4;\n\tsetp.eq.u32 %%p1, %%r2, %d;\n\t@%%p1 bra J%d;\n"%(i,i) for i in range(n))
    b+="".join("J%d:\n\tld.global.u32 %%r5, [%%rd1+%d];\n\tmul.lo.u32 %%r4, %%r1, %%r3;\n\tmad.lo.u32 %%r2, %%r2, %%r4, %%r5;\n"%(i,i%16*4) for i in reversed(range(n)))
    kernel("\tmov.u32 %r2, 0;\n\tmov.u32 %r3, %tid.x;\n"+b+"\tst.global.u32 [%rd1+64], %r2;\n")
elif kind=="switchvalues": # a switch whose cases and join have equal expressions and loads
    b="T: .branchtargets "+", ".join("S%d"%i for i in range(n))+";\n\tbrx.idx %r1, T;\n"
    b+="".join("S%d:\n\tmul.lo.u32 %%r4, %%r1, %%r3;\n\tld.global.u32 %%r5, [%%rd1+4];\n\tld.shared.u32 %%r6, [s%d];\n\tst.shared.u32 [s%d], %%r5;\n\tmad.lo.u32 %%r2, %%r4, %%r5, %%r6;\n\tbra E;\n"%(i,i%8,(i+1)%8) for i in range(n))
    kernel("".join("\t.shared .b32 s%d;\n"%i for i in range(8))+"\tmov.u32 %r3, %tid.x;\n"+b+"E:\n\tld.global.u32 %r7, [%rd1+4];\n\tmul.lo.u32 %r4, %r1, %r3;\n\tmad.lo.u32 %r2, %r4, %r7, %r2;\n\tst.global.u32 [%rd1], %r2;\n")
elif kind=="chaintwice": # a chain of products in two blocks
    def chain(first):
        return "".join("\tmad.lo.u32 %%v%d, %%v%d, %%r1, %d;\n"%(first+i+1,first+i,7*i+1) for i in range(n))+"\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*first,first+n)
    kernel("\tmov.u32 %%v0, %%tid.x;\n\tmov.u32 %%v%d, %%tid.x;\n"%(n+1)+chain(0)+"\tsetp.lt.u32 %p1, %r1, %v1;\n\t@%p1 bra L;\n\tst.global.u32 [%rd1+4], %r1;\nL:\n"+chain(n+1),".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%(2*n+2))
elif kind=="sumtwice": # sums of the same values in two orders
    b="".join("\tld.global.u32 %%v%d, [%%rd1+%d];\n"%(i,4*i) for i in range(n))
    b+="".join("\tadd.u32 %%r2, %%r2, %%v%d;\n"%i for i in range(n))+"".join("\tadd.u32 %%r3, %%r3, %%v%d;\n"%((i*7919+5)%n) for i in range(n))
    kernel("\tmov.u32 %r2, 0;\n\tmov.u32 %r3, 0;\n"+b+"\tst.global.u32 [%rd1], %r2;\n\tst.global.u32 [%rd1+4], %r3;\n",".reg .b32 %%r<64>;\n\t.reg .b32 %%v<%d>;\n\t.reg .b64 %%rd<64>;\n\t.reg .pred %%p<64>;"%n)
elif kind=="memclasses": # many variables, and as many stores through an unknown pointer
    b="".join("\t.shared .b32 s%d;\n"%i for i in range(n))
    b+="".join("\tld.shared.u32 %%r2, [s%d];\n\tst.u32 [%%rd1+%d], %%r2;\n\tsetp.eq.u32 %%p1, %%r2, %d;\n\t@%%p1 bra L%d;\n\tst.shared.u32 [s%d], %%r1;\nL%d:\n"%(i*7919%n,4*i,i,i,i,i) for i in range(n))
    kernel(b+"".join("\tld.shared.u32 %%r2, [s%d];\n\tst.u32 [%%rd1+%d], %%r2;\n"%(i,4*i) for i in range(0,n,5)))
elif kind in ("callchain","callstar","calldag","callcycle","callstatics"): # n functions that call one another
    def call(f,r): return "\t{\n\t.param .b32 a;\n\t.param .b32 q;\n\tst.param.b32 [a], %s;\n\tcall (q), f%d, (a);\n\tld.param.b32 %%r2, [q];\n\t}\n"%(r,f)
    def callees(k): return [(k+1)%n] if kind=="callcycle" else [k-1] if kind=="callchain" and k else [k-1,k//2] if kind=="calldag" and k else []
    for k in range(n if kind=="callcycle" else 0):
        p(".func (.param .b32 r) f%d(.param .b32 a);\n"%k)
    for k in range(n):
        static="\t.shared .b32 s;\n\tst.shared.u32 [s], %r1;\n" if kind=="callstatics" else ""
        p(".func (.param .b32 r) f%d(.param .b32 a)\n{\n\t.reg .b32 %%r<9>;\n\tld.param.b32 %%r1, [a];\n%s\tmov.u32 %%r2, %%r1;\n"%(k,static)
          +"".join(call(c,"%r2") for c in callees(k))+"\txor.b32 %%r2, %%r2, %d;\n\tst.param.b32 [r], %%r2;\n\tret;\n}\n"%(k+1))
    kernel("".join(call(k,"%r1") for k in (range(n) if kind in ("callstar","callstatics") else [n-1]))+"\tst.global.u32 [%rd1], %r2;\n")
elif kind in ("sharedfields","sharedindexed"): # n shared structures, each named by two kernels, a fourth of them never read
    index=kind=="sharedindexed"
    for i in range(n): p(".shared .align 8 .b8 s%d[48];\n"%i)
    for k in range((n+7)//8):
        b="\tand.b32 %r2, %r1, 3;\n\tshl.b32 %r3, %r2, 2;\n"*index
        for i in range(8*k,8*k+16):
            b+="\tst.shared.u32 [s%d+%d], %%r1;\n\tst.shared.u32 [s%d+12], %%r1;\n"%(i%n,i%2*4,i%n)
            if index: b+="\tmov.u32 %%r4, s%d;\n\tadd.u32 %%r4, %%r4, %%r3;\n\tst.shared.u32 [%%r4+16], %%r2;\n\tld.shared.u32 %%r5, [%%r4+16];\n\tst.global.u32 [%%rd1], %%r5;\n"%(i%n)
            if i%4: b+="\tld.shared.u32 %%r6, [s%d+%d];\n\tst.global.u32 [%%rd1+4], %%r6;\n"%(i%n,i//2%2*4)
        kernel(b,name="k%d"%k)
elif kind in ("constants","nocandidates"): # n tables with initial values, each named by two kernels; an eighth is read at an index
    for i in range(n): p(".%s .align 4 .b32 g%d[4] = {%d, 2, 3, 4};\n"%(("global" if i%2 else "const"),i,i))
    for k in range((n+7)//8):
        b="\tand.b32 %r2, %r1, 3;\n\tmul.wide.u32 %rd2, %r2, 4;\n"
        for i in range(8*k,8*k+16):
            space="global" if i%n%2 else "const"
            if i%n%8==7: b+="\tmov.u64 %%rd3, g%d;\n\tadd.s64 %%rd3, %%rd3, %%rd2;\n\tld.%s.u32 %%r3, [%%rd3];\n\tst.global.u32 [%%rd1+4], %%r3;\n"%(i%n,space)
            else: b+="\tld.%s.u32 %%r4, [g%d+%d];\n\tst.global.u32 [%%rd1], %%r4;\n"%(space,i%n,i//2%4*4)
        kernel(b,name="k%d"%k)
elif kind in ("fewshared","sharedstatics"): # n functions: a tenth of them name one of 8 shared structures, or each has its own
    own=kind=="sharedstatics"
    declaration=".shared .align 8 .b8 s%d[32];\n"
    for i in range(0 if own else 8): p(declaration%i)
    for k in range(n):
        v=0 if own else k//10%8
        b="\tst.shared.u32 [s%d+4], %%r1;\n\tst.shared.u32 [s%d+8], %%r1;\n\tbar.sync 0;\n\tld.shared.u32 %%r2, [s%d+4];\n"%(v,v,v)
        p(".visible .func (.param .b32 r) f%d(.param .b32 a)\n{\n\t.reg .b32 %%r<9>;\n%s\tld.param.b32 %%r1, [a];\n\tmov.u32 %%r2, %%r1;\n%s\txor.b32 %%r2, %%r2, %d;\n\tst.param.b32 [r], %%r2;\n\tret;\n}\n"%(k,"\t"+declaration%0 if own else "",b if own or k%10==0 else "",k+1))
elif kind=="memloops": # loops in a row that add to shared words, each to another one than it reads
    b="".join("\t.shared .b32 s%d;\n"%i for i in range(32))
    b+="".join("L%d:\n\tld.shared.u32 %%r2, [s%d];\n\tadd.u32 %%r3, %%r2, %%r1;\n\tst.shared.u32 [s%d], %%r3;\n\tld.global.u32 %%r4, [%%rd1+%d];\n\tsetp.ne.u32 %%p1, %%r4, %%r3;\n\t@%%p1 bra L%d;\n"%(i,i%32,(3*i+1)%32,4*(i%64),i) for i in range(n))
    kernel(b)
elif kind=="localslots": # n local variables, each set before an if and in it, and read at the end
    b="".join("\t.local .b32 s%d;\n"%i for i in range(n))
    b+="".join("\tst.local.u32 [s%d], %%r1;\n\tsetp.lt.u32 %%p1, %%r1, %d;\n\t@%%p1 bra J%d;\n\tadd.u32 %%r2, %%r1, %d;\n\tst.local.u32 [s%d], %%r2;\nJ%d:\n"%(i,i,i,i,(i*7919+1)%n,i) for i in range(n))
    kernel(b+"".join("\tld.local.u32 %%r3, [s%d];\n\tst.global.u32 [%%rd1+%d], %%r3;\n"%(i,4*i) for i in range(n)))
elif kind=="largelocal": # n loads at unknown indices of one local variable of 512 KB
    b="\t.local .align 8 .b8 a[524288];\n\tmov.u64 %rd2, a;\n"
    b+="".join("\tld.global.u32 %%r2, [%%rd1+%d];\n\tmul.wide.u32 %%rd3, %%r2, 8;\n\tadd.u64 %%rd4, %%rd2, %%rd3;\n\tld.local.u32 %%r3, [%%rd4];\n\tst.global.u32 [%%rd1+%d], %%r3;\n"%(4*i,4*i) for i in range(n))
    kernel(b)
elif kind=="mergedvars": # 16 variables, of which half change in each arm of n ifs
    arm=lambda i,first,op: "".join("\t%s %%v%d, %%v%d, %d;\n"%(op,j,(j+1+2*first)%16,7*i+j) for j in range(first,16,2))
    b="".join("\tmad.lo.u32 %%v%d, %%r1, %d, %d;\n"%(j,j+3,j) for j in range(16))
    for i in range((n+3)//4): b+="\tsetp.eq.u32 %%p1, %%v%d, %d;\n\t@%%p1 bra T%d;\n%s\tbra J%d;\nT%d:\n%sJ%d:\n"%(i%16,i,i,arm(i,0,"add.u32"),i,i,arm(i,1,"xor.b32"),i)
    kernel(b+"".join("\tst.global.u32 [%%rd1+%d], %%v%d;\n"%(4*j,j) for j in range(16)),".reg .b32 %r<64>;\n\t.reg .b32 %v<16>;\n\t.reg .b64 %rd<64>;\n\t.reg .pred %p<64>;")
else: raise SystemExit("kind? "+kind)
sys.stdout.write("".join(o))
