#include "optim/schedule.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const names[] = {"constant", "step", "cosine", "polynomial"};
enum { KINDS = sizeof names / sizeof *names };

static cairn_status check_number(const char *field, float value, bool allowed, const char *rule)
{
    if (allowed && isfinite(value)) return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE, "schedule: %s is %g; it must be %s", field, (double)value, rule);
}

static cairn_status check_count(const char *field, int64_t value, int64_t least)
{
    if (value >= least) return CAIRN_OK;
    return cairn_fail(CAIRN_USAGE, "schedule: %s is %lld; it must be at least %lld", field, (long long)value,
                      (long long)least);
}

cairn_status cairn_schedule_check(const cairn_schedule *s)
{
    if ((unsigned)s->kind >= KINDS)
        return cairn_fail(CAIRN_USAGE, "schedule: kind is %d; there are 0 to %d", (int)s->kind, KINDS - 1);
    CAIRN_TRY(check_number("base", s->base, s->base > 0, "above 0"));
    CAIRN_TRY(
        check_number("floor", s->floor, s->floor >= 0 && s->floor <= s->base, "at least 0, and no more than base"));
    CAIRN_TRY(check_count("warmup", s->warmup, 0));
    if (s->kind == CAIRN_SCHEDULE_STEP) {
        CAIRN_TRY(check_count("step_size", s->step_size, 1));
        return check_number("gamma", s->gamma, s->gamma > 0 && s->gamma <= 1, "above 0 and at most 1");
    }
    if (s->kind == CAIRN_SCHEDULE_CONSTANT) return CAIRN_OK;
    CAIRN_TRY(check_count("updates", s->updates, 1));
    if (s->warmup >= s->updates)
        return cairn_fail(CAIRN_USAGE, "schedule: warmup is %lld; it must be below the %lld updates of the run",
                          (long long)s->warmup, (long long)s->updates);
    if (s->kind == CAIRN_SCHEDULE_POLYNOMIAL) return check_number("power", s->power, s->power > 0, "above 0");
    return CAIRN_OK;
}

/* Share of the updates after warm-up that are done, in [0, 1]. */
static double progress(const cairn_schedule *s, int64_t update)
{
    double done = (double)(update - s->warmup) / (double)(s->updates - s->warmup);
    return done > 1 ? 1 : done;
}

/* From 1 at the end of warm-up towards 0, or the factor of a step. */
static double decay(const cairn_schedule *s, int64_t update)
{
    static const double pi = 3.14159265358979323846;
    int64_t drops = s->kind == CAIRN_SCHEDULE_STEP ? update / s->step_size : 0;
    switch (s->kind) {
    case CAIRN_SCHEDULE_STEP:
        return pow((double)s->gamma, (double)drops);
    case CAIRN_SCHEDULE_COSINE:
        return 0.5 * (1 + cos(pi * progress(s, update)));
    case CAIRN_SCHEDULE_POLYNOMIAL:
        return pow(1 - progress(s, update), (double)s->power);
    case CAIRN_SCHEDULE_CONSTANT:
        break;
    }
    return 1;
}

float cairn_schedule_at(const cairn_schedule *s, int64_t update)
{
    double base = (double)s->base, floor = (double)s->floor, rate;
    if (update < s->warmup)
        rate = base * (double)(update + 1) / (double)s->warmup;
    else if (s->kind == CAIRN_SCHEDULE_STEP)
        rate = base * decay(s, update);
    else
        rate = floor + (base - floor) * decay(s, update);
    return (float)(rate > floor ? rate : floor);
}

const char *cairn_schedule_name(cairn_schedule_kind kind)
{
    return (unsigned)kind < KINDS ? names[kind] : "unknown";
}

cairn_status cairn_schedule_parse(const char *text, cairn_schedule_kind *out)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (cairn_schedule_kind)i;
            return CAIRN_OK;
        }
    return cairn_fail(CAIRN_USAGE, "no schedule \"%s\"; there are: constant, step, cosine, polynomial", text);
}
