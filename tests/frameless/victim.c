/* The victims of bench-victim.sh without frame pointers, of which stacks are found by tables alone. */
#include "../bench-victim.c"
