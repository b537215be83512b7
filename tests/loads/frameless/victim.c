/* The victims of bench/victim.sh without frame pointers: their stacks can be found only by tables. */
#include "../bench-victim.c"
