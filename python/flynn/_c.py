# SPDX-License-Identifier: MIT
"""The C interface of Flynn. Made by python/generate.py from flynn.h and bench.h: change those instead."""
from __future__ import annotations

from ctypes import *  # noqa: F403
from typing import Any

from ._library import BENCH, LIBRARY


def _function(library: Any, name: str, result: Any, *arguments: Any) -> Any:
    function = library[name]
    function.restype, function.argtypes = result, arguments
    return function


FL_VERSION_MAJOR = 0
FL_VERSION_MINOR = 2
FL_VERSION_PATCH = 0

# fl_status
FL_OK = 0
FL_E_ARGUMENT = 1
FL_E_UNKNOWN = 2
FL_E_WRONG_DEVICE = 3
FL_E_UNSUPPORTED = 4
FL_E_UNAVAILABLE = 5
FL_E_LIMIT = 6
FL_E_MEMORY = 7
FL_E_DEVICE = 8
FL_E_SOURCE = 9

# fl_dtype
FL_U8 = 0
FL_I32 = 1
FL_I64 = 2
FL_F32 = 3
FL_F64 = 4
FL_DTYPE_COUNT = 5
FL_MAX_PROBED_DEVICES = 16
FL_MAX_PROBED_ISAS = 4


class fl_probe_isa(Structure):
    _fields_ = [
        ("name", c_char * 8),
        ("why_not", c_char * 96),
    ]


class fl_probe(Structure):
    _fields_ = [
        ("device_count", c_int),
        ("device", c_char * 128 * FL_MAX_PROBED_DEVICES),
        ("max_threads", c_int),
        ("isa_count", c_int),
        ("isa", fl_probe_isa * FL_MAX_PROBED_ISAS),
        ("cause", c_char * 256),
        ("cure", c_char * 256),
        ("lacks", c_char * 512),
    ]


class fl_backend_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("path", c_char_p),
        ("usable", c_bool),
        ("family", c_char_p),
        ("flynn_class", c_char_p),
        ("emulation", c_bool),
        ("built_with", c_char_p),
        ("score", c_int),
        ("remark", c_char_p),
        ("probe", fl_probe),
    ]


class fl_device_info(Structure):
    _fields_ = [
        ("resource", c_char * 48),
        ("backend", c_char_p),
        ("family", c_char_p),
        ("flynn_class", c_char_p),
        ("emulation", c_bool),
        ("host_memory", c_bool),
        ("name", c_char * 128),
        ("runtime", c_char * 96),
        ("driver", c_char * 96),
        ("isa", c_char * 32),
        ("threads", c_int),
        ("vector_bits", c_int),
        ("multiprocessors", c_int),
        ("warp_size", c_int),
        ("memory_bytes", c_int64),
        ("max_threads_per_block", c_int),
        ("max_block", c_int * 3),
        ("max_grid", c_int64 * 3),
        ("max_shared_bytes", c_int64),
        ("open_s", c_double),
        ("dlpack_type", c_int),
        ("dlpack_pinned_type", c_int),
        ("dlpack_id", c_int),
        ("remark", c_char_p),
        ("max_grid_threads", c_int64 * 3),
        ("bus_id", c_char * 16),
    ]


class fl_variant_info(Structure):
    _fields_ = [
        ("operation", c_char_p),
        ("variant", c_char_p),
        ("dtypes", c_uint32),
        ("summary", c_char_p),
        ("restricted", c_bool),
    ]


FL_MAX_DIMS = 4


class fl_span(Structure):
    _fields_ = [
        ("process", c_char_p),
        ("lane", c_char_p),
        ("name", c_char_p),
        ("start_s", c_double),
        ("seconds", c_double),
        ("bytes", c_double),
    ]


class fl_trace_mark(Structure):
    _fields_ = [
        ("index", c_int64),
    ]


class fl_timing(Structure):
    _fields_ = [
        ("kernel_s", c_double),
        ("variant", c_char_p),
        ("block", c_int * 3),
        ("grid", c_int64 * 3),
        ("shared_bytes", c_int64),
        ("bytes", c_double),
        ("bytes_requested", c_double),
        ("flops", c_double),
        ("registers", c_int),
        ("local_bytes", c_int64),
        ("occupancy", c_double),
        ("bound", c_double),
        ("reserved", c_double * 7),
    ]


class fl_run(Structure):
    _fields_ = [
        ("variant", c_char_p),
        ("block", c_int * 3),
        ("stream", c_void_p),
        ("timing", POINTER(fl_timing)),
        ("tolerance", c_double),
        ("count", c_void_p),
        ("reserved", c_void_p * 4),
    ]


# fl_mode
FL_FULL = 0
FL_SAME = 1
FL_VALID = 2
FL_PRIMES_MOST = (1 << 40)
FL_PRIMES_MOST_TRIAL = (1 << 31)

# fl_reduction
FL_SUM = 0
FL_MINIMUM = 1
FL_MAXIMUM = 2
FL_ARGMIN = 3
FL_ARGMAX = 4
FL_ALL_AXES = (-1)
FL_MAX_INPUTS = 8
FL_MAX_EXPRESSION_INPUTS = 4


class fl_function_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("count", c_int),
        ("inputs", c_int * FL_MAX_INPUTS),
        ("result", c_int),
        ("loops", c_bool),
    ]


FL_MAX_PARAMETERS = 16


class fl_parameter(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("dtype", c_int),
        ("is_array", c_bool),
        ("is_constant", c_bool),
    ]


class fl_kernel_info(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("count", c_int),
        ("parameters", fl_parameter * FL_MAX_PARAMETERS),
        ("left_out", c_char_p),
        ("kernels", c_char_p),
        ("unfilled", c_char_p),
        ("written", c_uint32),
        ("prints", c_bool),
        ("compiled", c_char_p),
        ("bytes", c_int32 * FL_MAX_PARAMETERS),
        ("number_count", c_int32 * FL_MAX_PARAMETERS),
        ("numbers", POINTER(fl_parameter) * FL_MAX_PARAMETERS),
    ]


class fl_argument_union(Union):
    _fields_ = [
        ("integer", c_int64),
        ("numbers", c_void_p),
    ]


class fl_argument(Structure):
    _anonymous_ = ("one_of",)
    _fields_ = [
        ("array", c_void_p),
        ("one_of", fl_argument_union),
        ("real", c_double),
    ]


# fl_finding_kind
FL_FOUND_RACE = 0
FL_FOUND_BEYOND = 1
FL_FOUND_BARRIER = 2
FL_FOUND_UNWRITTEN = 3
FL_FOUND_MISALIGNED = 4
FL_FOUND_REMARK = 5
FL_FOUND_LEFT = 6


class fl_finding(Structure):
    _fields_ = [
        ("kind", c_int),
        ("line", c_int),
        ("parameter", c_int),
        ("text", c_char * 248),
    ]


FL_MAX_FINDINGS = 8


class fl_findings(Structure):
    _fields_ = [
        ("count", c_int),
        ("list", fl_finding * FL_MAX_FINDINGS),
    ]


class fl_closeness(Structure):
    _fields_ = [
        ("close", c_bool),
        ("differing", c_int64),
        ("worst_index", c_int64),
        ("worst_excess", c_double),
        ("reserved", c_double * 4),
    ]


# fl_bench_phase
FL_BENCH_FIRST = 0
FL_BENCH_WARM_UP = 1
FL_BENCH_TIMED = 2


class fl_bench_step(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("resource", c_char_p),
        ("phase", c_int),
        ("pass", c_int),
        ("passes", c_int),
        ("unused", c_int),
        ("done", c_double),
    ]


class fl_bench_team(Structure):
    _fields_ = [
        ("wait", CFUNCTYPE(c_int, c_void_p)),
        ("most", CFUNCTYPE(c_int, c_void_p, POINTER(c_double))),
        ("decides", CFUNCTYPE(c_int, c_void_p, POINTER(c_bool))),
        ("user", c_void_p),
    ]


class fl_bench_plan(Structure):
    _fields_ = [
        ("repeat", c_int),
        ("fewest", c_int),
        ("warmup", c_int),
        ("rounds", c_int),
        ("min_time_s", c_double),
        ("max_time_s", c_double),
        ("precision", c_double),
        ("batch_s", c_double),
        ("time_call", c_bool),
        ("flush", c_bool),
        ("step", CFUNCTYPE(c_bool, c_void_p, POINTER(fl_bench_step))),
        ("user", c_void_p),
    ]


# fl_bench_clock
FL_BENCH_BOTH = 0
FL_BENCH_EVENTS = 1
FL_BENCH_HOST = 2


class fl_bench_case(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("device", c_void_p),
        ("variant", c_char_p),
        ("block", c_int * 3),
        ("by", c_int),
        ("call", CFUNCTYPE(c_int, c_void_p, POINTER(fl_run))),
        ("copy_in", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("copy_out", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("between", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("finish", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("prepare", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("begin", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("after_first", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("restore", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("after_pass", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("end", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("took", CFUNCTYPE(c_int, c_void_p, c_double, c_int)),
        ("check", CFUNCTYPE(c_int, c_void_p, POINTER(c_bool))),
        ("user", c_void_p),
        ("bytes", c_double),
        ("flops", c_double),
        ("launches", c_int),
        ("alone", c_bool),
        ("optional", c_bool),
        ("unused", c_bool * 2),
    ]


class fl_bench_array(Structure):
    _fields_ = [
        ("dtype", c_int),
        ("ndim", c_int),
        ("shape", c_int64 * FL_MAX_DIMS),
        ("from", c_void_p),
        ("to", c_void_p),
    ]


class fl_bench_call(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("device", c_void_p),
        ("variant", c_char_p),
        ("block", c_int * 3),
        ("count", c_int),
        ("call", CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), POINTER(fl_run))),
        ("user", c_void_p),
        ("arrays", POINTER(fl_bench_array)),
        ("check", CFUNCTYPE(c_int, c_void_p, POINTER(c_bool))),
        ("bytes", c_double),
        ("flops", c_double),
        ("pageable", c_bool),
        ("optional", c_bool),
        ("unused", c_bool * 6),
    ]


# fl_bench_quantity
FL_BENCH_COPY_IN = 0
FL_BENCH_KERNEL = 1
FL_BENCH_COPY_OUT = 2
FL_BENCH_TOTAL = 3
FL_BENCH_FINISH = 4
FL_BENCH_CALL = 5
FL_BENCH_BETWEEN = 6


class fl_bench_statistics(Structure):
    _fields_ = [
        ("count", c_int),
        ("median", c_double),
        ("minimum", c_double),
        ("maximum", c_double),
        ("first_quartile", c_double),
        ("third_quartile", c_double),
        ("low", c_double),
        ("high", c_double),
    ]


class fl_bench_result(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("resource", c_char_p),
        ("message", c_char_p),
        ("disturbed", c_char_p),
        ("first", POINTER(fl_timing)),
        ("status", c_int),
        ("passes", c_int),
        ("launches", c_int),
        ("first_counts", c_bool),
        ("checked", c_bool),
        ("right", c_bool),
        ("unused", c_bool),
        ("first_s", c_double),
        ("copy_in_s", c_double),
        ("kernel_s", c_double),
        ("copy_out_s", c_double),
        ("total_s", c_double),
        ("switches_per_s", c_double),
        ("stolen", c_double),
        ("load", c_double),
        ("throttled", c_double),
        ("clock_low", c_double),
        ("clock_high", c_double),
        ("temperature", c_double),
        ("other_processes", c_double),
    ]


class fl_bench_gpu(Structure):
    _fields_ = [
        ("clock", c_double),
        ("temperature", c_double),
        ("throttled", c_double),
        ("other_processes", c_double),
    ]


fl_status_name = _function(LIBRARY, "fl_status_name", c_char_p, c_int)
fl_last_error = _function(LIBRARY, "fl_last_error", c_char_p)
fl_set_error = _function(LIBRARY, "fl_set_error", c_int, c_int, c_char_p)
fl_version = _function(LIBRARY, "fl_version", c_char_p)
fl_nearest_name = _function(LIBRARY, "fl_nearest_name", c_char_p, c_char_p, POINTER(c_char_p), c_size_t)
fl_dtype_size = _function(LIBRARY, "fl_dtype_size", c_size_t, c_int)
fl_dtype_name = _function(LIBRARY, "fl_dtype_name", c_char_p, c_int)
fl_dtype_parse = _function(LIBRARY, "fl_dtype_parse", c_int, c_char_p, POINTER(c_int))
fl_dtype_is_float = _function(LIBRARY, "fl_dtype_is_float", c_bool, c_int)
fl_dtype_float_result = _function(LIBRARY, "fl_dtype_float_result", c_int, POINTER(c_int), c_int)
fl_dtype_result = _function(LIBRARY, "fl_dtype_result", c_int, POINTER(c_int), c_int)
fl_backend_count = _function(LIBRARY, "fl_backend_count", c_size_t)
fl_backend_get = _function(LIBRARY, "fl_backend_get", POINTER(fl_backend_info), c_size_t)
fl_backend_find = _function(LIBRARY, "fl_backend_find", c_int, c_char_p, POINTER(POINTER(fl_backend_info)))
fl_cache_folder = _function(LIBRARY, "fl_cache_folder", c_int, c_bool, c_char_p, c_size_t)
fl_cache_describe = _function(LIBRARY, "fl_cache_describe", c_int, c_char_p, c_size_t, POINTER(c_int64), POINTER(c_int64))
fl_device_open = _function(LIBRARY, "fl_device_open", c_int, c_char_p, POINTER(c_void_p))
fl_device_close = _function(LIBRARY, "fl_device_close", None, c_void_p)
fl_device_describe = _function(LIBRARY, "fl_device_describe", POINTER(fl_device_info), c_void_p)
fl_device_choice = _function(LIBRARY, "fl_device_choice", c_char_p, c_void_p)
fl_device_wait = _function(LIBRARY, "fl_device_wait", c_int, c_void_p)
fl_variant_count = _function(LIBRARY, "fl_variant_count", c_size_t, c_void_p)
fl_variant_get_sized = _function(LIBRARY, "fl_variant_get_sized", c_int, c_void_p, c_size_t, POINTER(fl_variant_info), c_size_t)
fl_variant_ready = _function(LIBRARY, "fl_variant_ready", c_int, c_void_p, c_size_t)
fl_stream_create = _function(LIBRARY, "fl_stream_create", c_int, c_void_p, POINTER(c_void_p))
fl_stream_create_urgent = _function(LIBRARY, "fl_stream_create_urgent", c_int, c_void_p, POINTER(c_void_p))
fl_stream_free = _function(LIBRARY, "fl_stream_free", None, c_void_p)
fl_stream_wait = _function(LIBRARY, "fl_stream_wait", c_int, c_void_p)
fl_stream_wait_event = _function(LIBRARY, "fl_stream_wait_event", c_int, c_void_p, c_void_p)
fl_event_create = _function(LIBRARY, "fl_event_create", c_int, c_void_p, POINTER(c_void_p))
fl_event_free = _function(LIBRARY, "fl_event_free", None, c_void_p)
fl_event_record = _function(LIBRARY, "fl_event_record", c_int, c_void_p, c_void_p)
fl_event_wait = _function(LIBRARY, "fl_event_wait", c_int, c_void_p)
fl_event_elapsed = _function(LIBRARY, "fl_event_elapsed", c_int, c_void_p, c_void_p, POINTER(c_double))
fl_array_create = _function(LIBRARY, "fl_array_create", c_int, c_void_p, c_int, c_int, POINTER(c_int64), POINTER(c_void_p))
fl_array_from_host = _function(LIBRARY, "fl_array_from_host", c_int, c_void_p, c_int, c_int, POINTER(c_int64), c_void_p, POINTER(c_void_p))
fl_array_view = _function(LIBRARY, "fl_array_view", c_int, c_void_p, POINTER(c_int64), POINTER(c_int64), POINTER(c_void_p))
fl_array_free = _function(LIBRARY, "fl_array_free", None, c_void_p)
fl_array_to_host = _function(LIBRARY, "fl_array_to_host", c_int, c_void_p, c_void_p)
fl_array_write = _function(LIBRARY, "fl_array_write", c_int, c_void_p, c_void_p, c_void_p)
fl_array_read = _function(LIBRARY, "fl_array_read", c_int, c_void_p, c_void_p, c_void_p)
fl_array_to_device = _function(LIBRARY, "fl_array_to_device", c_int, c_void_p, c_void_p, POINTER(c_void_p))
fl_array_device = _function(LIBRARY, "fl_array_device", c_void_p, c_void_p)
fl_array_dtype = _function(LIBRARY, "fl_array_dtype", c_int, c_void_p)
fl_array_ndim = _function(LIBRARY, "fl_array_ndim", c_int, c_void_p)
fl_array_shape = _function(LIBRARY, "fl_array_shape", c_int64, c_void_p, c_int)
fl_array_size = _function(LIBRARY, "fl_array_size", c_int64, c_void_p)
fl_array_data = _function(LIBRARY, "fl_array_data", c_void_p, c_void_p)
fl_array_from_dlpack = _function(LIBRARY, "fl_array_from_dlpack", c_int, c_void_p, c_void_p, POINTER(c_void_p))
fl_array_to_dlpack = _function(LIBRARY, "fl_array_to_dlpack", c_int, c_void_p, POINTER(c_void_p))
fl_host_alloc = _function(LIBRARY, "fl_host_alloc", c_int, c_void_p, c_size_t, POINTER(c_void_p))
fl_host_free = _function(LIBRARY, "fl_host_free", None, c_void_p, c_void_p)
fl_graph_begin = _function(LIBRARY, "fl_graph_begin", c_int, c_void_p)
fl_graph_end = _function(LIBRARY, "fl_graph_end", c_int, c_void_p, POINTER(c_void_p))
fl_graph_run = _function(LIBRARY, "fl_graph_run", c_int, c_void_p)
fl_graph_launches = _function(LIBRARY, "fl_graph_launches", c_int64, c_void_p)
fl_graph_free = _function(LIBRARY, "fl_graph_free", None, c_void_p)
fl_trace_start = _function(LIBRARY, "fl_trace_start", c_int)
fl_trace_stop = _function(LIBRARY, "fl_trace_stop", c_int, CFUNCTYPE(None, POINTER(fl_span), c_void_p), c_void_p, POINTER(c_int64))
fl_trace_begin = _function(LIBRARY, "fl_trace_begin", c_int, c_char_p, POINTER(fl_trace_mark))
fl_trace_end = _function(LIBRARY, "fl_trace_end", None, fl_trace_mark)
fl_convolve_shape = _function(LIBRARY, "fl_convolve_shape", c_int, POINTER(c_int64), POINTER(c_int64), c_int, POINTER(c_int64))
fl_convolve = _function(LIBRARY, "fl_convolve", c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p, POINTER(fl_run))
fl_convolve_window = _function(LIBRARY, "fl_convolve_window", c_int, c_void_p, c_void_p, c_void_p, POINTER(c_int64), c_void_p, POINTER(fl_run))
fl_convolve1d_shape = _function(LIBRARY, "fl_convolve1d_shape", c_int, c_int64, c_int64, c_int, POINTER(c_int64))
fl_convolve1d = _function(LIBRARY, "fl_convolve1d", c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p, POINTER(fl_run))
fl_convolve1d_window = _function(LIBRARY, "fl_convolve1d_window", c_int, c_void_p, c_void_p, c_void_p, c_int64, c_void_p, POINTER(fl_run))
fl_sort = _function(LIBRARY, "fl_sort", c_int, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_merge = _function(LIBRARY, "fl_merge", c_int, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_search_sorted = _function(LIBRARY, "fl_search_sorted", c_int, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_select = _function(LIBRARY, "fl_select", c_int, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_primes_bound = _function(LIBRARY, "fl_primes_bound", c_int64, c_int64)
fl_primes = _function(LIBRARY, "fl_primes", c_int, c_void_p, c_int64, c_void_p, c_void_p, POINTER(fl_run))
fl_primes_between = _function(LIBRARY, "fl_primes_between", c_int, c_void_p, c_int64, c_int64, c_void_p, c_void_p, POINTER(fl_run))
fl_primes_count = _function(LIBRARY, "fl_primes_count", c_int, c_void_p, c_int64, c_int64, c_void_p, POINTER(fl_run))
fl_primes_between_bound = _function(LIBRARY, "fl_primes_between_bound", c_int64, c_int64, c_int64)
fl_reduce = _function(LIBRARY, "fl_reduce", c_int, c_void_p, c_void_p, c_int, c_int, c_void_p, POINTER(fl_run))
fl_reduce_dtype = _function(LIBRARY, "fl_reduce_dtype", c_int, c_int, c_int)
fl_dot = _function(LIBRARY, "fl_dot", c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p, POINTER(fl_run))
fl_scan = _function(LIBRARY, "fl_scan", c_int, c_void_p, c_void_p, c_int, c_bool, c_void_p, POINTER(fl_run))
fl_histogram = _function(LIBRARY, "fl_histogram", c_int, c_void_p, c_void_p, c_double, c_double, c_bool, c_void_p, POINTER(fl_run))
fl_transpose = _function(LIBRARY, "fl_transpose", c_int, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_matmul = _function(LIBRARY, "fl_matmul", c_int, c_void_p, c_void_p, c_bool, c_void_p, c_bool, c_void_p, POINTER(fl_run))
fl_increment = _function(LIBRARY, "fl_increment", c_int, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_sqrt = _function(LIBRARY, "fl_sqrt", c_int, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_maximum = _function(LIBRARY, "fl_maximum", c_int, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_log_of_sum = _function(LIBRARY, "fl_log_of_sum", c_int, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_function_create = _function(LIBRARY, "fl_function_create", c_int, c_void_p, c_char_p, c_char_p, POINTER(c_int), c_int, c_char_p, c_size_t, POINTER(c_void_p))
fl_function_read_sized = _function(LIBRARY, "fl_function_read_sized", c_int, c_char_p, c_char_p, POINTER(c_int), c_int, c_char_p, c_size_t, POINTER(fl_function_info), c_size_t)
fl_function_lanes = _function(LIBRARY, "fl_function_lanes", c_int, c_char_p, c_char_p, c_char_p, c_size_t)
fl_function_describe = _function(LIBRARY, "fl_function_describe", POINTER(fl_function_info), c_void_p)
fl_function_free = _function(LIBRARY, "fl_function_free", None, c_void_p)
fl_map = _function(LIBRARY, "fl_map", c_int, c_void_p, c_void_p, POINTER(c_void_p), c_int, c_void_p, POINTER(fl_run))
fl_kernel_create = _function(LIBRARY, "fl_kernel_create", c_int, c_void_p, c_char_p, c_char_p, c_char_p, POINTER(c_char_p), c_char_p, c_size_t, POINTER(c_void_p))
fl_kernel_read_sized = _function(LIBRARY, "fl_kernel_read_sized", c_int, c_char_p, c_char_p, c_char_p, c_char_p, c_size_t, POINTER(fl_kernel_info), c_size_t)
fl_kernel_describe = _function(LIBRARY, "fl_kernel_describe", POINTER(fl_kernel_info), c_void_p)
fl_kernel_free = _function(LIBRARY, "fl_kernel_free", None, c_void_p)
fl_kernel_constant = _function(LIBRARY, "fl_kernel_constant", c_int, c_void_p, c_char_p, c_void_p)
fl_kernel_launch = _function(LIBRARY, "fl_kernel_launch", c_int, c_void_p, POINTER(c_int64), c_int64, POINTER(fl_argument), c_int, POINTER(fl_run))
fl_kernel_watch = _function(LIBRARY, "fl_kernel_watch", c_int, c_void_p, c_bool)
fl_kernel_found = _function(LIBRARY, "fl_kernel_found", POINTER(fl_findings), c_void_p)
fl_allclose = _function(LIBRARY, "fl_allclose", c_int, c_void_p, c_void_p, c_void_p, c_double, c_double, c_bool, POINTER(fl_closeness), POINTER(fl_run))
fl_reconstruct = _function(LIBRARY, "fl_reconstruct", c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_int64, c_void_p, POINTER(fl_run))
fl_qr = _function(LIBRARY, "fl_qr", c_int, c_void_p, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_svd = _function(LIBRARY, "fl_svd", c_int, c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_convert = _function(LIBRARY, "fl_convert", c_int, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_copy_array = _function(LIBRARY, "fl_copy_array", c_int, c_void_p, c_void_p, c_void_p, POINTER(fl_run))
fl_multiply_add = _function(LIBRARY, "fl_multiply_add", c_int, c_void_p, c_void_p, c_double, c_double, c_int64, c_void_p, POINTER(fl_run))
fl_bench_create_sized = _function(BENCH, "fl_bench_create_sized", c_int, POINTER(fl_bench_plan), c_size_t, POINTER(c_void_p))
fl_bench_join_sized = _function(BENCH, "fl_bench_join_sized", c_int, c_void_p, POINTER(fl_bench_team), c_size_t)
fl_bench_add_sized = _function(BENCH, "fl_bench_add_sized", c_int, c_void_p, POINTER(fl_bench_case), c_size_t)
fl_bench_add_call_sized = _function(BENCH, "fl_bench_add_call_sized", c_int, c_void_p, POINTER(fl_bench_call), c_size_t, c_size_t)
fl_bench_run = _function(BENCH, "fl_bench_run", c_int, c_void_p)
fl_bench_free = _function(BENCH, "fl_bench_free", None, c_void_p)
fl_bench_statistics_sized = _function(BENCH, "fl_bench_statistics_sized", c_int, POINTER(c_double), c_int, POINTER(fl_bench_statistics), c_size_t)
fl_bench_gpu_sized = _function(BENCH, "fl_bench_gpu_sized", c_int, c_void_p, POINTER(fl_bench_gpu), c_size_t)
fl_bench_count = _function(BENCH, "fl_bench_count", c_size_t, c_void_p)
fl_bench_result_sized = _function(BENCH, "fl_bench_result_sized", c_int, c_void_p, c_size_t, POINTER(fl_bench_result), c_size_t)
fl_bench_samples = _function(BENCH, "fl_bench_samples", c_int, c_void_p, c_size_t, c_int, POINTER(POINTER(c_double)), POINTER(c_int))
fl_bench_table = _function(BENCH, "fl_bench_table", c_size_t, c_void_p, c_char_p, c_size_t)
fl_bench_json = _function(BENCH, "fl_bench_json", c_size_t, c_void_p, c_size_t, c_char_p, c_size_t)
