/* SPDX-License-Identifier: MIT
 *
 * hipfft.c - a stand-in for hipFFT (stand_in.h), which computes by FFTW: plans have the same parameters there. Declared
 * from rocm.docs.amd.com/projects/hipFFT.
 */
#include "stand_in.h"

#include <fftw3.h>
#include <stdlib.h>

/* hipfftResult, hipfftType */
enum { SUCCESS = 0, INVALID_PLAN = 1, INTERNAL_ERROR = 5, INVALID_SIZE = 8 };
enum { R2C = 0x2a, C2R = 0x2c, D2Z = 0x6a, Z2D = 0x6c };

typedef struct plan {
    struct stand_in_owner owner;
    int type, rank, n[2], batch, in[2], out[2], in_step, out_step, in_stride, out_stride;
    bool made;
} plan;

STAND_IN int hipfftCreate(plan **created)
{
    const plan fresh = {0};
    int status = stand_in_call("hipfftCreate", "%s", "");

    if (status != SUCCESS)
        return status;
    *created = stand_in_copy(&fresh, sizeof fresh);
    stand_in_alive(1);
    return SUCCESS;
}

STAND_IN int hipfftMakePlanMany(plan *p, int rank, int *n, int *in_embed, int in_stride, int in_step, int *out_embed,
                                int out_stride, int out_step, int type, int batch, size_t *work)
{
    const int last = rank - 1; /* in memory only the last dimension is longer than its numbers */
    int status = stand_in_call(
        "hipfftMakePlanMany", "rank=%d n=%d,%d in=%d,%d,%d out=%d,%d,%d type=%#x batch=%d work=%d", rank, n[0], n[last],
        in_embed[last], in_stride, in_step, out_embed[last], out_stride, out_step, (unsigned)type, batch, work != NULL);

    if (!p || p->made)
        return INVALID_PLAN;
    if (rank < 1 || rank > 2 || n[0] < 1 || n[last] < 1 || batch < 1)
        return INVALID_SIZE;
    if (status != SUCCESS)
        return status;
    p->type = type;
    p->rank = rank;
    for (int d = 0; d < rank; d++) {
        p->n[d] = n[d];
        p->in[d] = in_embed[d];
        p->out[d] = out_embed[d];
    }
    p->batch = batch;
    p->in_stride = in_stride;
    p->out_stride = out_stride;
    p->in_step = in_step;
    p->out_step = out_step;
    p->made = true;
    *work = 0;
    return SUCCESS;
}

STAND_IN int hipfftSetStream(plan *p, hipStream_t stream)
{
    int status = stand_in_call("hipfftSetStream", "%s", stream ? "stream" : "null");

    if (!p)
        return INVALID_PLAN;
    if (status == SUCCESS)
        p->owner.stream = stream;
    return status;
}

/* Frees the plan and what it works in: nothing that is queued may need it. */
STAND_IN int hipfftDestroy(plan *p)
{
    int status = stand_in_call("hipfftDestroy", "%s", "");

    if (!p)
        return INVALID_PLAN;
    if (p->owner.ran != p->owner.queued)
        stand_in_mistake("a plan is destroyed before its transforms have run");
    stand_in_alive(-1);
    free(p);
    return status;
}

struct transform {
    const plan *p;
    void *in, *out;
};

static void transform(void *data)
{
    struct transform *t = data;
    const plan *p = t->p;
    fftw_plan wide = NULL;
    fftwf_plan single = NULL;

    if (p->type == R2C)
        single = fftwf_plan_many_dft_r2c(p->rank, p->n, p->batch, t->in, p->in, p->in_stride, p->in_step, t->out,
                                         p->out, p->out_stride, p->out_step, FFTW_ESTIMATE);
    else if (p->type == C2R)
        single = fftwf_plan_many_dft_c2r(p->rank, p->n, p->batch, t->in, p->in, p->in_stride, p->in_step, t->out,
                                         p->out, p->out_stride, p->out_step, FFTW_ESTIMATE);
    else if (p->type == D2Z)
        wide = fftw_plan_many_dft_r2c(p->rank, p->n, p->batch, t->in, p->in, p->in_stride, p->in_step, t->out, p->out,
                                      p->out_stride, p->out_step, FFTW_ESTIMATE);
    else
        wide = fftw_plan_many_dft_c2r(p->rank, p->n, p->batch, t->in, p->in, p->in_stride, p->in_step, t->out, p->out,
                                      p->out_stride, p->out_step, FFTW_ESTIMATE);
    if (single)
        fftwf_execute(single);
    else if (wide)
        fftw_execute(wide);
    else
        stand_in_mistake("FFTW makes no plan of these parameters");
    fftwf_destroy_plan(single);
    fftw_destroy_plan(wide);
    free(t);
}

static int execute(const char *function, plan *p, int type, void *in, void *out)
{
    const struct transform t = {p, in, out};
    const size_t real = type == R2C || type == C2R ? sizeof(float) : sizeof(double);
    const bool forward = type == R2C || type == D2Z;
    int status = stand_in_call(function, "%s", in == out ? "in place" : "out of place");

    if (!p || !p->made || p->type != type)
        return INVALID_PLAN;
    if (status != SUCCESS)
        return status;
    stand_in_on_device("in", in, (size_t)p->batch * (size_t)p->in_step * (forward ? real : 2 * real));
    stand_in_on_device("out", out, (size_t)p->batch * (size_t)p->out_step * (forward ? 2 * real : real));
    return stand_in_queue(&p->owner, transform, stand_in_copy(&t, sizeof t)) ? SUCCESS : INTERNAL_ERROR;
}

STAND_IN int hipfftExecR2C(plan *p, void *in, void *out)
{
    return execute("hipfftExecR2C", p, R2C, in, out);
}

STAND_IN int hipfftExecC2R(plan *p, void *in, void *out)
{
    return execute("hipfftExecC2R", p, C2R, in, out);
}

STAND_IN int hipfftExecD2Z(plan *p, void *in, void *out)
{
    return execute("hipfftExecD2Z", p, D2Z, in, out);
}

STAND_IN int hipfftExecZ2D(plan *p, void *in, void *out)
{
    return execute("hipfftExecZ2D", p, Z2D, in, out);
}
