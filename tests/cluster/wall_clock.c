/* Moves the wall clock of a process by the seconds that a file holds, and no other clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift(void)
{
    long seconds = 0;
    const char *path = getenv("WALL_CLOCK_SHIFT");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (file) {
        if (fscanf(file, "%ld", &seconds) != 1)
            seconds = 0;
        fclose(file);
    }
    return seconds;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*original)(clockid_t, struct timespec *);
    if (!original)
        original = dlsym(RTLD_NEXT, "clock_gettime");
    int status = original(clock, now);
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
        now->tv_sec += shift();
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    now->tv_sec = exact.tv_sec;
    now->tv_usec = exact.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *into)
{
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (into)
        *into = exact.tv_sec;
    return exact.tv_sec;
}
