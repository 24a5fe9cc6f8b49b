/* SPDX-License-Identifier: MIT
 * interop [DEVICE]: an array for another library and one from it, without a copy (DLPack). */
#include <flynn/flynn.h>

#include <stdio.h>
#include <stdlib.h>

/* What <dlpack/dlpack.h> declares; a program that has it includes that instead. */
typedef struct DLManagedTensor {
    struct {
        void *data;
        struct {
            int32_t device_type, device_id;
        } device;
        int32_t ndim;
        struct {
            uint8_t code, bits;
            uint16_t lanes;
        } dtype;
        int64_t *shape, *strides;
        uint64_t byte_offset;
    } dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *);
} DLManagedTensor;

static void must(fl_status status)
{
    if (status == FL_OK)
        return;
    fprintf(stderr, "interop: %s\n", fl_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    const float numbers[4] = {1, 2, 3, 4};
    float more[4];
    fl_device *device;
    fl_array *ours, *theirs;
    DLManagedTensor *tensor;

    must(fl_device_open(argc > 1 ? argv[1] : "auto", &device));
    must(fl_array_from_host(device, FL_F32, 2, (int64_t[]){2, 2}, numbers, &ours));
    must(fl_array_to_dlpack(ours, &tensor)); /* what torch.from_dlpack, cupy.from_dlpack and np.from_dlpack take */
    void *pointer = fl_array_data(ours);
    fl_array_free(ours);                                 /* the tensor keeps the memory */
    must(fl_array_from_dlpack(device, tensor, &theirs)); /* how theirs come in; the array owns the tensor from now on */
    printf("%s: DLPack device %d:%d, %s pointer\n", fl_device_describe(device)->resource,
           (int)tensor->dl_tensor.device.device_type, (int)tensor->dl_tensor.device.device_id,
           fl_array_data(theirs) == pointer ? "the same" : "another");
    int same = fl_array_data(theirs) == pointer;
    must(fl_increment(device, theirs, theirs, NULL));
    must(fl_array_to_host(theirs, more));
    fl_array_free(theirs); /* the last use: the tensor's deleter is called */
    fl_device_close(device);
    return same && more[3] == 5 ? 0 : 1;
}
