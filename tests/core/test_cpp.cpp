// SPDX-License-Identifier: MIT
//
// The public interface from C++: it compiles, links with C's names, and convolves.
#include <flynn/bench.h>
#include <flynn/flynn.h>
#include <flynn/plugin.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

namespace
{

template <auto release>
struct Release {
    template <class T>
    void operator()(T *thing) const
    {
        release(thing);
    }
};
using Device = std::unique_ptr<fl_device, Release<fl_device_close>>;
using Array = std::unique_ptr<fl_array, Release<fl_array_free>>;
using Stream = std::unique_ptr<fl_stream, Release<fl_stream_free>>;

int failures = 0;

void expect(bool ok, const char *what)
{
    if (!ok) {
        std::fprintf(stderr, "failed: %s (last error: %s)\n", what, fl_last_error());
        failures++;
    }
}

Array array_of(fl_device *device, std::vector<std::int64_t> shape, const std::vector<float> &values)
{
    fl_array *array = nullptr;
    expect(fl_array_from_host(device, FL_F32, static_cast<int>(shape.size()), shape.data(), values.data(), &array) ==
               FL_OK,
           "fl_array_from_host");
    return Array(array);
}

void convolve_on(const char *resource)
{
    fl_device *opened = nullptr;
    expect(fl_device_open(resource, &opened) == FL_OK, resource);
    Device device(opened);
    if (!device)
        return;
    Array image = array_of(device.get(), {2, 3}, {1, 2, 3, 4, 5, 6});
    Array kernel = array_of(device.get(), {1, 2}, {1, -1});
    Array out = array_of(device.get(), {2, 4}, std::vector<float>(8));
    fl_stream *created = nullptr;
    expect(fl_stream_create(device.get(), &created) == FL_OK, "fl_stream_create");
    Stream stream(created);
    fl_timing timing{};
    fl_run run{};
    run.stream = stream.get();
    run.timing = &timing;
    expect(fl_convolve(device.get(), image.get(), kernel.get(), FL_FULL, out.get(), &run) == FL_OK, "fl_convolve");
    std::vector<float> got(8);
    expect(fl_array_to_host(out.get(), got.data()) == FL_OK, "fl_array_to_host");
    expect(got == std::vector<float>{1, 1, 1, -3, 4, 1, 1, -6}, "the differences along the rows");
    expect(timing.variant != nullptr && timing.kernel_s >= 0, "fl_timing");
}

/* Times a function without a device. */
void bench_counts_calls()
{
    int calls = 0;
    fl_bench *bench = nullptr;
    fl_bench_plan plan{};
    fl_bench_case work{};
    fl_bench_result result{};
    plan.repeat = 3;
    work.name = "count";
    work.launches = 1;
    work.user = &calls;
    work.call = [](void *user, const fl_run *) {
        ++*static_cast<int *>(user);
        return FL_OK;
    };
    expect(fl_bench_create(&plan, &bench) == FL_OK && fl_bench_add(bench, &work) == FL_OK, "fl_bench_add");
    expect(fl_bench_run(bench) == FL_OK && fl_bench_result_get(bench, 0, &result) == FL_OK, "fl_bench_run");
    expect(result.passes == 3 && calls > 3 && result.kernel_s <= result.total_s, "three passes");
    fl_bench_free(bench);
}

} // namespace

int main()
{
    bench_counts_calls();
    static_assert(sizeof(fl_plugin) > 0 && FL_PLUGIN_ABI >= 1, "plugin.h is for C++ as well");
    std::size_t usable = 0;
    for (std::size_t i = 0; i < fl_backend_count(); i++)
        if (fl_backend_get(i)->usable) {
            convolve_on(fl_backend_get(i)->name);
            usable++;
        }
    expect(usable > 0, "no backend can run");
    expect(fl_device_open("serail", nullptr) == FL_E_ARGUMENT, "a NULL is refused");
    return failures != 0;
}
