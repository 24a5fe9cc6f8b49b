# SPDX-License-Identifier: MIT
"""What the tests of Python share: the devices that can run here, and arrays of each kind."""
import os
import random

import numpy as np
import pytest

import flynn

NAMES = ("serial", "simd", "omp", "hip-cpu")
DTYPES = ("uint8", "int32", "int64", "float32", "float64")


def pytest_collection_modifyitems(config, items):
    """A quick test (FLYNN_TEST_QUICK) takes a third of the cases of each function by chance, at least one."""
    if "FLYNN_TEST_QUICK" not in os.environ:
        return
    cases = {}
    for item in items:
        cases.setdefault((item.fspath, item.originalname), []).append(item)
    taken = set()
    for (_, name), of_one in cases.items():
        chance = random.Random(f"{os.environ['FLYNN_TEST_QUICK']} {name}")
        taken.update(chance.sample(of_one, (len(of_one) + 2) // 3))
    config.hook.pytest_deselected(items=[item for item in items if item not in taken])
    items[:] = [item for item in items if item in taken]


@pytest.fixture(params=NAMES)
def device(request):
    """Each device that every machine has; a plugin that was not built is skipped."""
    try:
        return flynn.device(request.param)
    except flynn.UnavailableError as error:
        pytest.skip(str(error))
    except flynn.UnknownError as error:
        pytest.skip(str(error))


@pytest.fixture
def emulation():
    try:
        return flynn.device("hip-cpu")
    except (flynn.UnavailableError, flynn.UnknownError) as error:
        pytest.skip(str(error))


def values(dtype, shape, seed=0, special=True):
    """Numbers that an operation may meet; floats with infinities, NaN and -0 where there is room."""
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        found = (random.standard_normal(shape) * 100).astype(dtype)
        if special and found.size >= 9:
            found.flat[:5] = [np.nan, np.inf, -np.inf, -0.0, 0.0]
        return found
    limits = np.iinfo(dtype)
    found = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    if found.size >= 9:
        found.flat[:3] = [limits.min, limits.max, 0]
    return found


def equal(found, expected, bits=True):
    """The same shape, dtype and values; NaN is NaN."""
    found = found.numpy() if isinstance(found, flynn.Array) else found
    assert found.dtype == expected.dtype and found.shape == expected.shape, (found.dtype, expected.dtype, found.shape, expected.shape)
    if bits:
        np.testing.assert_array_equal(found, expected)
    else:
        epsilon = np.finfo(expected.dtype).eps
        np.testing.assert_allclose(found, expected, rtol=64 * epsilon, atol=64 * epsilon)
