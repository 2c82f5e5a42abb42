#include "cmartlet_runtime.h"

int cmartlet_forks = 0;

static void count_fork(void) { cmartlet_forks++; }

// Counts forks so that a forked child is detected without getpid, which costs more than most reads of a row.
__attribute__((constructor)) static void count_forks(void) { pthread_atfork(0, 0, count_fork); }
