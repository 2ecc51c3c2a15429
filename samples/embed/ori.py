# SPDX-License-Identifier: MIT
"""ori.py: the library from Python, by ctypes. Optimizes PTX, and runs kernels on numpy or ctypes arrays.

    ORI_LIBRARY=/usr/lib/libori.so.0 python3 ori.py saxpy.ptx
"""
import ctypes as c, os, sys

lib = c.CDLL(os.environ.get("ORI_LIBRARY", "libori.so.0"))
lib.ori_open.restype = lib.ori_parse.restype = c.c_void_p

class Message(c.Structure):
    _fields_ = [("severity", c.c_int), ("file", c.c_char_p), ("line", c.c_uint), ("column", c.c_uint),
                ("text", c.c_char_p), ("rendered", c.c_char_p)]

class Module:
    def __init__(self, text, name="kernel.ptx"):
        self.ori, self.said = c.c_void_p(lib.ori_open(None)), ""
        self.hear = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(Message))(self.take_message)
        lib.ori_on_message(self.ori, self.hear, None)
        self.module = c.c_void_p(lib.ori_parse(self.ori, name.encode(), text, c.c_size_t(len(text)), 0))
        self.check(lib.ori_parse_status(self.ori))
    def __del__(self): lib.ori_close(self.ori)
    def take_message(self, user, message): self.said += message.contents.rendered.decode()
    def check(self, status):
        said, self.said = self.said, ""
        if status: raise RuntimeError(said)
    def optimize(self, level=3):
        self.check(lib.ori_set_level(self.ori, level))
        self.check(lib.ori_optimize(self.ori, self.module))
        return self
    def text(self):
        parts = []
        take = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p, c.c_size_t)(
            lambda user, at, size: parts.append(c.string_at(at, size)) or 1)
        self.check(lib.ori_print(self.ori, self.module, 0, take, None))
        return b"".join(parts)
    def run(self, kernel, grid, block, *args, shared=0):
        """Runs a kernel. Arguments are numpy arrays, ctypes arrays, or ctypes numbers such as c_float(2)."""
        places = {id(a): (a.ctypes.data, a.nbytes) if hasattr(a, "nbytes") else (c.addressof(a), c.sizeof(a))
                  for a in args if hasattr(a, "__len__")}
        values = [c.c_void_p(places[id(a)][0]) if id(a) in places else a for a in args]
        launch = Launch(c.sizeof(Launch), kernel.encode(), (*grid, 1, 1)[:3], (*block, 1, 1)[:3], (0, 0, 0), shared,
                        (Argument * len(args))(*[(c.addressof(v), c.sizeof(v)) for v in values]), len(args))
        for at, size in places.values(): self.check(lib.ori_map(self.ori, c.c_void_p(at), c.c_size_t(size), 0))
        status = lib.ori_run(self.ori, self.module, c.byref(launch))
        for at, size in places.values(): lib.ori_unmap(self.ori, c.c_void_p(at))
        self.check(status)

class Argument(c.Structure): _fields_ = [("value", c.c_void_p), ("size", c.c_size_t)]
class Launch(c.Structure):
    _fields_ = [("size", c.c_size_t), ("kernel", c.c_char_p), ("grid", c.c_uint * 3), ("block", c.c_uint * 3),
                ("cluster", c.c_uint * 3), ("shared", c.c_uint), ("arguments", c.POINTER(Argument)), ("n", c.c_size_t)]

if __name__ == "__main__":
    module = Module(open(sys.argv[1], "rb").read(), sys.argv[1]).optimize()
    print(module.text().decode(), end="")
    try:
        import numpy
        x, y = numpy.arange(1000, dtype=numpy.float32), numpy.ones(1000, dtype=numpy.float32)
    except ImportError:
        x, y = (c.c_float * 1000)(*range(1000)), (c.c_float * 1000)(*[1] * 1000)
    module.run("saxpy", (8,), (128,), x, y, c.c_float(2), c.c_uint(1000))
    print(f"// y[7] = {y[7]:g}, y[999] = {y[999]:g}")
