#include <cmartlet_test_vfs.h>
