#include "cmartlet_test_vfs.h"

#include <unistd.h>

int cmartlet_fork(void) { return (int)fork(); }
