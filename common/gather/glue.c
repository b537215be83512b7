#include "common/gather/glue.h"

/*
 * Names; a "*" stands for any bytes. They are those of CPython 3.7 to 3.15, CRuby 2.7 to 4.0, PHP 7.4 to 8.6
 * and Perl 5.32 to 5.44.
 */
static const char *const python[] = {
	/* the loop */
	"_PyEval_EvalFrame*", "PyEval_EvalFrame*", "_TAIL_CALL_*", "_PyEval_Vector",
	"_PyEval_EvalCode*", "PyEval_EvalCode*", "function_code_fastcall", "py_trampoline_evaluator",
	/* calls */
	"_PyFunction_Vectorcall*", "_PyFunction_FastCall*", "call_function", "do_call_core",
	"PyObject_Vectorcall*", "_PyObject_Vectorcall*", "_PyObject_FastCall*", "PyObject_Call*",
	"_PyObject_Call*", "_PyObject_MakeTpCall*", "PyVectorcall_*", "_PyVectorcall_*",
	"_PyStack_*", "object_vacall", "vectorcall_*", "call_unbound*", "call_method", "call_maybe",
	"cfunction_call*", "cfunction_vectorcall_*", "PyCFunction_Call*", "_PyCFunction_FastCall*",
	"_PyMethodDef_RawFastCall*", "_PyMethodDescr_FastCall*", "_PyMethodDescr_Vectorcall",
	"method_call", "method_vectorcall*", "methoddescr_call", "classmethoddescr_call",
	"wrapper_call", "wrapperdescr_call", "wrapperdescr_raw_call", "slot_tp_*", "slot_nb_*",
	"slot_sq_*", "slot_mp_*", "slot_am_*", "type_call", "PyEval_Call*",
	/* generators and coroutines */
	"gen_send*", "gen_iternext", "_PyGen_Send*", "PyGen_am_send", "PyIter_Send*",
	"coro_wrapper_send", "async_gen_asend_send", "async_gen_asend_iternext",
	"async_gen_athrow_send",
	/* import */
	"import_name", "import_find_and_load", "PyImport_ImportModuleLevelObject",
	/* beginnings of programs and threads */
	"run_eval_code_obj", "run_mod", "pyrun_file", "pyrun_simple_file", "_PyRun_*", "PyRun_*",
	"Py_RunMain", "Py_Main", "Py_BytesMain", "pymain_run_*", "pymain_main", "pymain_start_*",
	"thread_run", "t_bootstrap", "pythread_wrapper",
	NULL
};

static const char *const ruby[] = {
	/* the loop */
	"rb_vm_exec", "vm_exec", "vm_exec_core", "vm_exec_loop", "jit_exec*", "mjit_exec",
	/* calls */
	"vm_call*", "vm_sendish", "vm_invoke_*", "vm_yield*", "invoke_block*", "invoke_iseq_block*",
	"invoke_bmethod*", "invoke_ifunc_block*", "rb_vm_call*", "rb_vm_invoke_*", "rb_call",
	"rb_call0", "rb_call_super*", "rb_funcall*", "rb_yield*", "rb_block_call*", "rb_iterate*",
	"rb_lambda_call", "iterate_method", "rb_check_funcall*", "rb_method_basic_call*",
	"rb_obj_call_init*", "rb_proc_call*", "call_cfunc_*", "ractor_safe_call_cfunc_*",
	"check_funcall_*", "rb_ensure", "rb_rescue", "rb_rescue2", "rb_vrescue2", "rb_protect",
	"vm_catch_protect", "rb_catch_protect", "eval_string_with_cref", "eval_string_with_scope",
	"eval_under", "yield_under", "vm_exec_handle_*",
	/* beginnings of programs, threads and fibers */
	"rb_ec_exec_node", "ruby_run_node", "ruby_exec_node", "ruby_exec_internal", "rb_iseq_eval*",
	"rb_main", "thread_do_start*", "thread_start_func_*", "rb_fiber_start", "fiber_entry",
	"nt_start", "co_start", "call_thread_start_func_*",
	NULL
};

/* Opcodes are functions, ZEND_ECHO_SPEC_CONST_HANDLER, if the loop was built so. */
static const char *const php[] = {
	"execute_ex", "zend_execute", "zend_execute_scripts", "zend_execute_script",
	"zend_call_function", "zend_call_known_*", "_call_user_function_*", "call_user_function*",
	"zend_call_method*", "zend_fcall_info_call", "zend_generator_resume",
	"zend_generator_ensure_initialized", "php_execute_script*", "php_execute_simple_script",
	"do_cli", "ZEND_*_HANDLER",
	NULL
};

static const char *const perl[] = {
	"Perl_runops_standard", "Perl_runops_debug", "Perl_call_sv", "Perl_call_method",
	"Perl_call_pv", "Perl_call_argv", "Perl_call_list", "Perl_eval_sv", "Perl_pp_entersub",
	"S_call_body", "S_docatch", "S_run_body", "perl_run",
	NULL
};

static const char *const *const lists[LANGUAGES] = {
	[LANGUAGE_PYTHON] = python, [LANGUAGE_RUBY] = ruby, [LANGUAGE_PHP] = php, [LANGUAGE_PERL] = perl,
};

/* A pattern has at most one "*". */
static bool fits(struct slice name, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	size_t before = star ? (size_t)(star - pattern) : 0, after = star ? strlen(star + 1) : 0;

	if (!star)
		return slice_is(name, pattern);
	return name.n >= before + after && memcmp(name.p, pattern, before) == 0 &&
	       memcmp(name.p + name.n - after, star + 1, after) == 0;
}

/* Cuts off the suffixes of compilers and linkers: ".cold", ".isra.0", "@plt". */
static struct slice plain_name(struct slice name)
{
	for (size_t i = 1; i < name.n; i++) {
		if (name.p[i] == '.' || name.p[i] == '@')
			return (struct slice){ name.p, i };
	}
	return name;
}

uint8_t glue_languages(struct slice name)
{
	uint8_t languages = 0;

	name = plain_name(name);
	for (unsigned int l = 0; l < LANGUAGES && name.n; l++) {
		for (const char *const *at = lists[l]; at && *at; at++) {
			if (fits(name, *at)) {
				languages |= glue_bit(l);
				break;
			}
		}
	}
	return languages;
}
