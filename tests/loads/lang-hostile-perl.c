/* lang-hostile as an executable of perl. */
#define HOSTILE_PERL
#include "tests/loads/lang-hostile.c"
