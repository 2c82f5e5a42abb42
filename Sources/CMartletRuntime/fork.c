#include "cmartlet_runtime.h"

int cmartlet_forks = 0;

static void count_fork(void) { cmartlet_forks++; }

// A counter is cheaper: a call of getpid costs more than most reads of a row.
__attribute__((constructor)) static void count_forks(void) { pthread_atfork(0, 0, count_fork); }
