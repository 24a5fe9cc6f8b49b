/* SPDX-License-Identifier: MIT
 *
 * test_laws_show.c - what is said of made points: which ones a law does not describe, and who is suspected.
 */
#include "laws/batch.h"
#include "laws/show.h"
#include "view/row.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { POINTS = 5 };

static const double threads[POINTS] = {1, 2, 4, 8, 16};

static void fill(law_points *points, const double *speed_ups, int processors, double percent_of_ceiling)
{
    points->count = POINTS;
    for (int i = 0; i < POINTS; i++) {
        law_point *p = &points->list[i];
        p->n = (int64_t)threads[i];
        p->work = points->law == GUSTAFSON ? threads[i] : 1;
        const double kernel_s = p->work / speed_ups[i];
        p->kernel = (fl_bench_statistics){
            .count = 9, .median = kernel_s, .first_quartile = 0.995 * kernel_s, .third_quartile = 1.005 * kernel_s};
        p->bytes_per_s = 1e9 * p->work / kernel_s;
        p->percent_of_ceiling = percent_of_ceiling;
        p->oversubscribed = p->n > processors;
    }
}

/* Strong and weak points of the same speed-ups, 1 % spread each; the kernel of one thread takes a second and moves a
 * gigabyte. */
static laws_found *make(const double *speed_ups, int processors, double percent_of_ceiling)
{
    static laws_found found = {.exercise = "made",
                               .backend = "omp",
                               .unit = "threads",
                               .kinds = 2,
                               .points = {{.kind = "strong", .law = AMDAHL}, {.kind = "weak", .law = GUSTAFSON}}};

    found.processors = processors;
    fill(&found.points[0], speed_ups, processors, percent_of_ceiling);
    fill(&found.points[1], speed_ups, processors, percent_of_ceiling);
    laws_fit_all(&found);
    return &found;
}

/* The remark about the strong points; "" where there is none. */
static const char *strong_remark(const laws_found *found)
{
    static char text[1024];
    json_t *laws = laws_json(found), *remark;
    size_t i;

    text[0] = '\0';
    json_array_foreach(json_object_get(laws, "remarks"), i, remark)
    {
        if (strncmp(json_string_value(remark), "strong", 6) == 0)
            strncpy(text, json_string_value(remark), sizeof text - 1);
    }
    json_decref(laws);
    return text;
}

static void says(const laws_found *found, const char *words)
{
    cr_expect(strstr(strong_remark(found), words) != NULL, "expected '%s' in: %s", words, strong_remark(found));
}

static void says_not(const laws_found *found, const char *words)
{
    cr_expect(strstr(strong_remark(found), words) == NULL, "did not expect '%s' in: %s", words, strong_remark(found));
}

Test(laws_report, speed_ups_and_their_spreads)
{
    const laws_found *found = make((double[]){1, 1.9, 3.6, 7, 13}, 16, (double)NAN);

    for (int k = 0; k < 2; k++) {
        const law_point *p = &found->points[k].list[2];
        cr_expect(fabs(p->p.speed_up - 3.6) < 1e-12 && fabs(p->p.spread - 3.6 * 0.01 * sqrt(2)) < 1e-12);
        cr_expect(found->points[k].list[0].p.speed_up == 1 && found->points[k].list[0].p.spread == 0);
    }
}

Test(laws_report, says_nothing_where_the_law_holds)
{
    double speed_ups[POINTS];

    for (int i = 0; i < POINTS; i++)
        speed_ups[i] = scaling_value(AMDAHL, 0.05, threads[i]);
    cr_expect_str_eq(strong_remark(make(speed_ups, 16, (double)NAN)), "");
}

Test(laws_report, memory_bandwidth)
{
    const double plateau[] = {1, 2, 4, 4, 4};

    says(make(plateau, 16, (double)NAN), "From 8 threads on GB/s hardly grow (4.00 GB/s): memory bandwidth");
    says(make(plateau, 16, (double)NAN), "flynn ceiling");
    says(make(plateau, 16, 93), "93 % of the ceiling");
    says_not(make(plateau, 16, 20), "bandwidth");
    says(make(plateau, 16, 20), "No likely cause shows");
}

Test(laws_report, more_threads_than_processors)
{
    const double plateau[] = {1, 2, 4, 4, 4};

    says(make(plateau, 4, (double)NAN), "More threads than the 4 processors");
    says_not(make(plateau, 4, (double)NAN), "bandwidth");
}

Test(laws_report, superlinear)
{
    const laws_found *found = make((double[]){1, 2.5, 6, 12, 20}, 16, (double)NAN);

    says(found, "f = 0 is used");
    says(found, "More than n times as fast");
    says_not(found, "bandwidth");
}

Test(laws_report, slower)
{
    const laws_found *found = make((double[]){1, 0.9, 0.7, 0.5, 0.3}, 16, (double)NAN);

    says(found, "limited to 1");
    says(found, "Slower than n = 1");
    says_not(found, "bandwidth");
}

Test(laws_report, unsteady)
{
    laws_found *found = make((double[]){1, 2, 4, 4, 8}, 16, (double)NAN);

    says_not(found, "something else ran");
    fl_bench_statistics *const kernel = &found->points[0].list[3].kernel;
    kernel->third_quartile = kernel->first_quartile + 0.3 * kernel->median;
    laws_fit_all(found);
    says(found, "8 (");
    says(found, "other programs ran meanwhile");
}

Test(laws_report, names_the_points)
{
    const laws_found *found = make((double[]){1, 2, 4, 4, 4}, 16, (double)NAN);

    says(found, "Amdahl's law does not describe n = 2 (");
    cr_expect(found->fits[AMDAHL].not_described >= 2);
}

/* numpy.percentile of 1, 3 and 9: (6 - 2) / 3 = 133 %; of 1, 1.2 and 1.5: 21 %. */
Test(laws_show, rounds_of_a_batch_that_vary_are_noisy)
{
    const laws_batch what = {.processors = 4};
    const double quiet[] = {1, 1.2, 1.5}, varying[] = {1, 9, 3};
    laws_found found = {.exercise = "batch", .backend = "omp", .unit = "workers", .kinds = 1};

    found.points[0] = (law_points){.kind = "strong", .law = AMDAHL, .count = 3};
    found.points[0].list[0] = laws_batch_point(&what, 1, 6, 1, quiet, 3);
    found.points[0].list[1] = laws_batch_point(&what, 2, 6, 1, varying, 3);
    found.points[0].list[2] = laws_batch_point(&what, 3, 6, 1, varying, 2);
    laws_fit_all(&found);
    json_t *laws = laws_json(&found), *points = json_object_get(laws, "strong");
    cr_expect(!row_is_noisy(json_array_get(points, 0)) && !row_is_noisy(json_array_get(points, 2)));
    cr_expect(strcmp(row_text(json_array_get(points, 1), "disturbed"), "its times vary by 133 %") == 0, "'%s'",
              row_text(json_array_get(points, 1), "disturbed"));
    cr_expect(row_is_marked(json_array_get(points, 1), "speed_up_disturbed") &&
              !row_is_marked(json_array_get(points, 2), "speed_up_disturbed"));
    json_decref(laws);
}
