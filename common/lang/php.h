/*
 * Offsets in PHP's structures, 7.4 to 8.6: indexes of lang_image.at.
 *
 * All are from sources of PHP, Zend/: zend_globals.h (_zend_executor_globals), zend_compile.h
 * (_zend_execute_data, _zend_op_array, _zend_op), zend_types.h (_zend_string), zend.h (_zend_class_entry),
 * zend_generators.h. The other members that are read have one offset in all these versions.
 */
#ifndef CPROF_LANG_PHP_H
#define CPROF_LANG_PHP_H

enum php_at {
	PHP_CURRENT,    /* in executor_globals: current_execute_data */
	PHP_OPCODES,    /* in the op_array: the first opline; its address is that of the function */
	PHP_LAST,       /* the number of oplines */
	PHP_PATH,       /* filename */
	PHP_FIRST_LINE, /* line_start */
	PHP_HANDLERS,   /* 1: the file has symbols of PHP functions in C (zif_array_map): they get no frame */
	/*
	 * 1: a thread-safe build. lang_image.type is where the key of a thread's globals is, and
	 * lang_image.state where their distance from the key's data is. 0: state is where the globals are.
	 */
	PHP_KEYED,
	PHP_OFFSETS,
};

#endif
