/*
 * The option -o: a kind of output, or a file, whose suffix is the kind. The file takes the place of standard
 * output, so that the rest of a command need not know of it.
 *
 *	case 'o':
 *		s->svg = strcmp(result_kind(optarg), "svg") == 0;	// "svg", "x.svg"
 *	...
 *	result_open(argv + optind);	// after the last option
 */
#ifndef CPROF_CMD_RESULT_FILE_H
#define CPROF_CMD_RESULT_FILE_H

/*
 * Returns the kind: the text itself if it is one of the values in the option's row, otherwise the suffix of the
 * file name, which must be such a value, or "txt" for text as without the option. Any other text is a usage
 * error. Notes the file for result_open.
 */
const char *result_kind(const char *text);
/* Notes the file, of any name. */
void result_note(const char *path);
/*
 * Creates the noted file, if any, and makes it standard output. Exits if the file cannot be written, or if
 * the operands, a list that ends with NULL, have it: as one of them, as a capture of a directory, or as
 * standard input if there are none.
 */
void result_open(char *const *operands);

#endif
