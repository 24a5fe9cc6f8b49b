# SPDX-License-Identifier: MIT
"""Arrays between CuPy or PyTorch and Flynn on a GPU without a copy, in both directions.

FLYNN_LIBRARY names libflynn; an argument names the backend (hip). Prints what was run; exits with 1 at the first thing
that is wrong, with 77 where there is no GPU or neither library.
"""
import gc
import sys

from dlpack_python import ARGUMENT, SAME, WRONG_DEVICE, Device, Refused


class CuPy:
    def __init__(self):
        import cupy
        self.module, self.name = cupy, f"CuPy {cupy.__version__}"

    def on_gpu(self, host):
        return self.module.asarray(host)

    def address(self, array):
        return array.data.ptr

    def to_host(self, array):
        return array.get()

    def wait(self):
        self.module.cuda.Device().synchronize()

    def used_bytes(self):
        return self.module.get_default_memory_pool().used_bytes()


class PyTorch:
    def __init__(self):
        import torch
        if not torch.cuda.is_available():
            raise ImportError("this PyTorch has no GPU")
        self.module, self.name = torch, f"PyTorch {torch.__version__}"

    def on_gpu(self, host):
        return self.module.from_numpy(host).cuda()

    def address(self, array):
        return array.data_ptr()

    def to_host(self, array):
        return array.cpu().numpy()

    def wait(self):
        self.module.cuda.synchronize()

    def used_bytes(self):
        return self.module.cuda.memory_allocated()


def true_convolution(image, kernel):
    """The definition, mode same."""
    import numpy as np
    padded = np.pad(image, [(k, k) for k in kernel.shape])
    out = np.zeros_like(image)
    for p, q in np.ndindex(kernel.shape):
        top, left = ((k - 1) // 2 + k - at for k, at in zip(kernel.shape, (p, q)))
        out += kernel[p, q] * padded[top:top + image.shape[0], left:left + image.shape[1]]
    return out


def work_on_theirs(device, library):
    """Flynn computes in the other library's memory; each side sees what the other wrote."""
    import numpy as np
    random = np.random.default_rng(1)
    host_image, host_kernel = random.random((300, 200)), random.random((5, 4))
    image, kernel = library.on_gpu(host_image), library.on_gpu(host_kernel)
    larger = library.on_gpu(np.full((310, 220), -1.0))
    result = larger[4:304, 7:207]
    library.wait()
    arrays = [device.take(a) for a in (image, kernel, result)]
    for here, there in zip(arrays, (image, kernel, result)):
        assert here.data == library.address(there), "a copy was made"
    for _ in range(2):
        device.convolve(arrays[0], arrays[1], SAME, arrays[2])
        device.wait()
        seen = library.to_host(larger)
        assert np.allclose(seen[4:304, 7:207], true_convolution(host_image, host_kernel), rtol=1e-13, atol=0)
        seen[4:304, 7:207] = -1
        assert (seen == -1).all(), "written beside the result"
        image[50, 60] = host_image[50, 60] = 100  # seen by the second pass
        library.wait()
    for array in arrays:
        array.free()


def work_on_ours(device, library):
    """The other library computes in Flynn's memory."""
    import numpy as np
    host_image, host_kernel = np.ones((64, 48), np.float32), np.full((1, 1), 2, np.float32)
    theirs = library.on_gpu(host_kernel)
    library.wait()
    image, out, kernel = device.create("f32", (64, 48)), device.create("f32", (64, 48)), device.take(theirs)
    there = library.module.from_dlpack(image)
    assert library.address(there) == image.data and tuple(there.shape) == (64, 48)
    there[:] = library.on_gpu(host_image)
    there[3, 4] = 21
    library.wait()
    device.convolve(image, kernel, SAME, out)
    result = library.module.from_dlpack(out)  # waits for Flynn's work
    assert library.address(result) == out.data
    part = out.view((3, 4), (2, 3))
    inner = library.module.from_dlpack(part)
    assert library.address(inner) == part.data
    for array in (image, out, kernel, part):
        array.free()
    seen = library.to_host(result)  # the memory is still there: the tensor keeps it
    assert seen[3, 4] == 42 and seen[0, 0] == 2 and library.to_host(inner).tolist() == [[42, 2, 2], [2, 2, 2]]


def keeps_alive(device, library):
    import numpy as np
    library.wait()
    before = library.used_bytes()
    there = library.on_gpu(np.zeros(1 << 20))
    library.wait()
    here = device.take(there)
    view = here.view((10,), (5,))
    del there
    gc.collect()
    assert library.used_bytes() >= before + (8 << 20), "their memory went while Flynn used it"
    here.free()
    assert library.used_bytes() >= before + (8 << 20), "their memory went while a view used it"
    view.free()
    gc.collect()
    assert library.used_bytes() == before, "the deleter was not called"


def refused(device, library):
    import numpy as np
    host = Device("serial")
    there = library.on_gpu(np.zeros((4, 6)))
    library.wait()
    for where, what, status in ((device, np.zeros(3), WRONG_DEVICE), (host, there, WRONG_DEVICE),
                                (device, there[:, ::2], ARGUMENT), (device, library.on_gpu(np.zeros(3, np.int16)), ARGUMENT)):
        try:
            where.take(what)
        except Refused as error:
            assert error.status == status, error
            print(f"  refused: {error}")
        else:
            raise AssertionError("taken")
    host.close()


def main():
    try:
        device = Device(sys.argv[1] if len(sys.argv) > 1 else "hip")
    except Refused as error:
        print(f"skipped: {error}")
        sys.exit(77)
    ran = 0
    for kind in (CuPy, PyTorch):
        try:
            library = kind()
        except ImportError as error:
            print(f"skipped {kind.__name__}: {error}")
            continue
        for part in (work_on_theirs, work_on_ours, keeps_alive, refused):
            part(device, library)
        print(f"{library.name} and Flynn: the same memory, both ways")
        ran += 1
    device.close()
    if ran == 0:
        sys.exit(77)


if __name__ == "__main__":
    main()
