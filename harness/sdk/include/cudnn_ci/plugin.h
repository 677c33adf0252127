/* The contract between cudnn-ci and a check plugin. C99, no dependencies.
 *
 * A plugin is a shared library named STEM.cci.so that exports one symbol,
 *
 *     const cci_plugin* cudnn_ci_plugin_v1(void);
 *
 * which returns static tables describing its checks. Plugin authors who write C++ include
 * <cudnn_ci/check.hpp> instead, which builds these tables.
 *
 * Conventions
 *   (1) Every struct begins with its size. Structs grow only at the end, by whole fields, and only
 *       with a new CCI_ABI_MINOR; this is ABI 1.8, and what came after 1.0 says so. A reader uses a
 *       field only if struct_size covers it, and takes one that is not covered for zero (NULL, no
 *       flag): so a plugin built against any 1.x runs in a host of any 1.y. A struct that ends before its
 * last field of 1.0 is refused, with the one exception of cci_check's `validate`. A bit or enumerator that
 * the reader does not know is refused where it stands for a choice and ignored where it is a flag. Another
 *       CCI_ABI_MAJOR is refused.
 *   (2) Tables are NULL-terminated arrays of pointers and live as long as the library is loaded.
 *   (3) Strings are UTF-8 and NUL-terminated. What the host returns is valid until `run` returns;
 *       what the plugin passes is copied before the call returns.
 *   (4) Nothing is allocated on one side and freed on the other. No C++ type, no exception and no
 *       JSON crosses the boundary, in either direction: host functions never throw, and an exception
 *       that leaves a plugin's function is caught by the host and is the plugin's fault.
 *   (5) A plugin describes itself on a machine with no GPU: cudnn_ci_plugin_v1 loads no library and
 *       touches no device.
 *   (6) Host functions may be called from any thread from the start of `run` (or `facts`, or
 *       `validate`) until it returns, and from none afterwards. What was reported is kept even if the
 *       process then dies.
 *   (7) The verdict of a case: failed if an expectation did not hold or a finding of severity error
 *       was reported; else skipped if `skip` was called; else passed if at least one expectation was
 *       evaluated; else failed ("checked nothing").
 */
#ifndef CUDNN_CI_PLUGIN_H_
#define CUDNN_CI_PLUGIN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Versions and names of this interface. */
#define CCI_ABI_MAJOR 1u
#define CCI_ABI_MINOR 8u
#define CCI_PLUGIN_SYMBOL "cudnn_ci_plugin_v1"
#define CCI_PLUGIN_SUFFIX ".cci.so"

/* Whether a struct reaches to the end of a field: CCI_HAS(cci_host, host, invalid). See (1). */
#define CCI_HAS(type, table, field) ((table)->struct_size >= offsetof(type, field) + sizeof((table)->field))

/* One case being run. Owned by the host. */
typedef struct cci_case cci_case;

/* Parameter types. A list accepts a single value as a list of one. A SHAPE parameter names an entry
 * of the matrix's "shapes" table; its fields are read as "PARAM.FIELD" ("shape.x"). */
enum cci_type {
  CCI_TYPE_BOOL = 0,
  CCI_TYPE_I64 = 1,
  CCI_TYPE_F64 = 2,
  CCI_TYPE_STRING = 3,
  CCI_TYPE_I64_LIST = 4,
  CCI_TYPE_STRING_LIST = 5,
  CCI_TYPE_SHAPE = 6
};

typedef struct cci_param {
  uint32_t struct_size;
  uint32_t type;       /* enum cci_type */
  const char* name;    /* [a-z][a-z0-9_]* */
  const char* summary; /* one line, may be NULL */
  /* The default as JSON text (`1`, `"nchw"`, `[1,1]`), or NULL: the matrix must give a value. */
  const char* default_json;
  const char* const* allowed;            /* NULL-terminated values of a string or string list; NULL: any */
  int64_t min_i64, max_i64;              /* bounds of integers and integer list elements, both inclusive */
  const struct cci_param* const* fields; /* SHAPE only: its fields, never SHAPE themselves */
} cci_param;

/* Which part of the stack a check tests. The first red layer names the root cause. */
enum cci_layer {
  CCI_LAYER_DRIVER = 0,
  CCI_LAYER_TOOLKIT = 1,
  CCI_LAYER_CUDNN = 2,
  CCI_LAYER_INIT = 3,
  CCI_LAYER_CONVOLUTION = 4,
  CCI_LAYER_FRAMEWORK = 5,
  CCI_LAYER_OTHER = 6
};

/* What a case sees of the GPUs. */
enum cci_devices {
  CCI_DEVICES_NONE = 0,       /* uses no device; runs on machines without one */
  CCI_DEVICES_ONE = 1,        /* exactly one device is visible, as device 0 */
  CCI_DEVICES_ALL = 2,        /* every device of the run is visible */
  CCI_DEVICES_ENVIRONMENT = 3 /* the user's environment, untouched: for checks about visibility */
};

enum cci_check_flags {
  /* Many cases may share one process: no state stays. In the framework layer only children use the device. */
  CCI_CHECK_SHAREABLE = 1u << 0,
  /* Looks at libraries: runs once per subject of the matrix. */
  CCI_CHECK_PER_SUBJECT = 1u << 1,
  /* Disturbs others on the device (fills its memory, ...): runs only with --disturb. */
  CCI_CHECK_DISTURBS = 1u << 2,
  /* On every device but the run's first, it may share one process with checks of other plugins: what it
   * says of the image's libraries it has said alone, on the first. A context costs up to 400 ms, and the
   * driver creates them one after the other. */
  CCI_CHECK_POOLED = 1u << 3,
  /* Since 1.2. It uses one device and tests what that one computes: a failure may be the device's. The
   * harness repeats it on another GPU of the same model, where the machine has one. What passes there is the
   * runner's fault (gpu-computes-wrong), what fails there too is not the GPU's. */
  CCI_CHECK_SECOND_OPINION = 1u << 4,
  /* Since 1.3. Of a shareable check that uses one device: where there is room, several shared processes run
   * its cases on that device at the same time. No case may depend on being the only one there. It keeps to
   * CCI_FACT_SHARE_DEVICE_MEMORY and skips (CCI_SKIP_MEMORY) what needs more, which is then run with no one
   * beside it. What it measures is of a device that others use as well.
   * Since 1.7 also of a check that is not shareable: where there is room, its cases, each in a process of its
   * own, use that device at the same time. A failure of such a process is run again with no one beside it,
   * unless each error that it reported is CCI_FINDING_OF_RESULT. */
  CCI_CHECK_CONCURRENT = 1u << 5,
  /* Since 1.6. Of a concurrent check: its cases usually take a tenth of a second or more, so that a further
   * process, whose context costs up to 400 ms, pays from a few of them on. A hint: it changes no outcome. */
  CCI_CHECK_SLOW_CASES = 1u << 6
};

struct cci_host;

typedef struct cci_check {
  uint32_t struct_size;
  uint32_t layer;                   /* enum cci_layer */
  uint32_t devices;                 /* enum cci_devices */
  uint32_t flags;                   /* enum cci_check_flags */
  double timeout_s;                 /* 0: the matrix's default */
  const char* name;                 /* [a-z][a-z0-9_]*; the full name is PLUGIN.NAME */
  const char* summary;              /* one line */
  const cci_param* const* params;   /* may be NULL */
  const char* const* prerequisites; /* full names of checks that must pass first; may be NULL */
  void (*run)(const struct cci_host* host, cci_case* c);
  /* Validates the parameters of one case while the plan is made, with host->invalid: what no machine could
   * run stops the plan (exit 2), with the matrix's line and column, and reaches no device. May be NULL:
   * then type, bounds and allowed values are all that is asked of them. Called after these were found
   * right, in a process of the plugin's own that sees no device, many cases one after the other. Only
   * get_*, satisfies, invalid, log and uncaught may be called in it; reporting anything else, an exception
   * or a crash is a failure of the hook. It must depend on nothing but the parameters. */
  void (*validate)(const struct cci_host* host, cci_case* c);
  /* Since 1.1. The promises of the contract that this check tests: it is red, or says why it could not
   * look, when one is not kept. Keys as of host->contract ("image.cudnn"), NULL-terminated; may be NULL. A
   * matrix that makes a promise that none of its required checks tests is refused (exit 2). */
  const char* const* judges;
  /* Since 1.8. Of a check that is shareable, concurrent and has slow cases (see the flags): makes ready and
   * keeps in this process what `run` of the same case needs of its libraries, a plan that they compile say.
   * May be called once, in a process that has run no case, while the checks that this one requires still
   * run. `run` may never follow. It does again what it does not find. Only get_*, contract, fact, satisfies,
   * subject_*, device_uuid, scratch_dir, seed, compatibility, log and uncaught may be called in it, and what
   * they report is dropped. If it ends the process or leaves an error in the context, the case runs alone
   * and is red if it passes there. May be NULL. */
  void (*prepare)(const struct cci_host* host, cci_case* c);
} cci_check;

enum cci_severity { CCI_SEVERITY_ERROR = 0, CCI_SEVERITY_WARNING = 1, CCI_SEVERITY_NOTE = 2 };

/* Whose fault it is. Where that depends on the matrix's contract, declare two findings. */
enum cci_blame {
  CCI_BLAME_IMAGE = 0,
  CCI_BLAME_RUNNER = 1,
  CCI_BLAME_HARNESS = 2,
  CCI_BLAME_MATRIX = 3,
  CCI_BLAME_UNDETERMINED = 4
};

/* Where a finding's command is typed. */
enum cci_where {
  CCI_WHERE_IMAGE = 0, /* a line of the image's Dockerfile: "ENV A=b", "RUN ..." */
  CCI_WHERE_HOST = 1,  /* a shell of the runner */
  CCI_WHERE_MATRIX = 2 /* a member of the matrix */
};

enum cci_finding_flags {
  /* Since 1.7. It judges a result that was computed to its end. The time and memory that other processes
   * take cannot cause it: it counts although others used the device. */
  CCI_FINDING_OF_RESULT = 1u << 0
};

typedef struct cci_finding {
  uint32_t struct_size;
  uint32_t severity;   /* enum cci_severity */
  uint32_t blame;      /* enum cci_blame */
  const char* slug;    /* [a-z0-9-]+, unique over all plugins */
  const char* summary; /* what is wrong, one line */
  const char* remedy;  /* what to do about it */
  const char* link;    /* https URL, or NULL */
  /* Since ABI 1.3: one line that fixes it, or shows more of it, and fits wherever it is reported; else NULL.
   */
  const char* command;
  uint32_t where; /* enum cci_where; of no meaning without a command */
  uint32_t flags; /* since ABI 1.7: enum cci_finding_flags */
} cci_finding;

enum cci_plugin_flags {
  /* `facts` looks at libraries: call it once per subject. */
  CCI_PLUGIN_FACTS_PER_SUBJECT = 1u << 0
};

typedef struct cci_plugin {
  uint32_t struct_size;
  uint32_t abi_major;                 /* CCI_ABI_MAJOR */
  uint32_t abi_minor;                 /* CCI_ABI_MINOR the plugin was built with */
  uint32_t flags;                     /* enum cci_plugin_flags */
  const char* name;                   /* equals the file's stem */
  const char* version;                /* the plugin's own, MAJOR.MINOR.PATCH */
  const char* summary;                /* one line */
  const cci_check* const* checks;     /* at least one */
  const cci_finding* const* findings; /* may be NULL */
  /* Reports what host and image are, with host->fact_report; tests nothing. May be NULL. Must
   * create no CUDA context. */
  void (*facts)(const struct cci_host* host, cci_case* c);
} cci_plugin;

enum cci_skip_kind {
  CCI_SKIP_UNSUPPORTED = 0, /* the library or GPU does not offer it */
  CCI_SKIP_ABSENT = 1,      /* an optional part is not there */
  CCI_SKIP_MEMORY = 2,      /* not enough memory on host or device: skip_memory says which */
  CCI_SKIP_VERSION = 3      /* needs another version */
};

/* Whose memory a skip lacked. */
enum cci_memory { CCI_MEMORY_DEVICE = 0, CCI_MEMORY_HOST = 1 };

enum cci_goal { CCI_GOAL_NONE = 0, CCI_GOAL_LOWER = 1, CCI_GOAL_HIGHER = 2 };
enum cci_log_level { CCI_LOG_INFO = 0, CCI_LOG_WARNING = 1, CCI_LOG_ERROR = 2 };

/* Results of host functions that can fail. */
enum cci_result {
  CCI_OK = 0,
  CCI_E_UNKNOWN = 1,  /* no such parameter */
  CCI_E_TYPE = 2,     /* the parameter is of another type */
  CCI_E_ARGUMENT = 3, /* an argument is NULL or malformed */
  CCI_E_SYSTEM = 4    /* a system call failed; errno says why */
};

/* A child process, started and watched on the check's behalf: it dies with the worker. */
typedef struct cci_child {
  uint32_t struct_size;
  const char* const* argv; /* NULL-terminated; argv[0] is a path or is looked up in PATH */
  const char* const* env;  /* NULL-terminated NAME=VALUE, laid over the environment; may be NULL */
  double timeout_s;        /* then SIGKILL for it and its group; 0: the case's own deadline */
} cci_child;

typedef struct cci_child_result {
  uint32_t struct_size;
  int32_t exit_status; /* exit code, or -1 when a signal ended it */
  int32_t signal;      /* that signal, or 0 */
  int32_t timed_out;   /* 1: killed at the timeout */
  const char* output;  /* stdout and stderr, at most 256 KiB (head and tail), NUL-terminated */
  size_t output_size;
} cci_child_result;

/* What the worker offers to a running check. Never NULL, nor is any function of 1.0 in it. */
typedef struct cci_host {
  uint32_t struct_size;
  uint32_t abi_minor; /* the host's */

  /* Typed parameters; validated before any worker starts. Return enum cci_result. */
  int (*get_bool)(cci_case*, const char* name, int* out);
  int (*get_i64)(cci_case*, const char* name, int64_t* out);
  int (*get_f64)(cci_case*, const char* name, double* out);
  int (*get_string)(cci_case*, const char* name, const char** out);
  int (*get_i64_list)(cci_case*, const char* name, const int64_t** out, size_t* count);
  int (*get_string_list)(cci_case*, const char* name, const char* const** out, size_t* count);

  /* The matrix's contract, "runner.driver" -> ">=525.60.13", or NULL when it promises nothing, or when facts
   * are collected before a matrix is known. */
  const char* (*contract)(cci_case*, const char* key);
  /* What the facts step found, "driver.version" -> "580.65.06", or NULL. */
  const char* (*fact)(cci_case*, const char* key);
  /* 1 if a dotted version lies in a range (">=12.0 <13"; "12" is the series >=12 <13, "=12.0" exactly that
   * version), 0 if not, -1 if either is malformed. */
  int (*satisfies)(cci_case*, const char* version, const char* range);
  /* As the matrix has it: "loader", "path:/opt/cudnn", "python:/opt/venv/bin/python", "program:/opt/app/run"
   */
  const char* (*subject_spec)(cci_case*);
  const char* (*device_uuid)(cci_case*); /* of the one visible device; "" when there is none */
  const char* (*scratch_dir)(cci_case*); /* a private directory, removed after the run */
  uint64_t (*seed)(cci_case*);           /* for random data; the same when a case is run again */

  /* Where the check is ("algo=1"): names the place of a crash or a hang. */
  void (*step)(cci_case*, const char* name);
  /* 1 if this step killed an earlier attempt and is to be left out in this one. */
  int (*should_skip_step)(cci_case*, const char* name);

  void (*expect)(cci_case*, int held, const char* file, int line, const char* what);
  void (*finding)(cci_case*, const char* slug, const char* detail);
  void (*skip)(cci_case*, uint32_t kind, const char* need, const char* seen);
  void (*measure)(cci_case*, const char* name, double value, const char* unit, uint32_t goal);
  void (*attach)(cci_case*, const char* name, const char* mime, const void* data, size_t size);
  void (*log)(cci_case*, uint32_t level, const char* text);
  /* Run nothing more in this process. */
  void (*poison)(cci_case*, const char* reason);
  /* An exception that escaped the check, as text: failed "uncaught exception: ...". */
  void (*uncaught)(cci_case*, const char* what);
  /* In `facts` only. */
  void (*fact_report)(cci_case*, const char* key, const char* value);
  /* Runs a child to its end. The result is valid until the next call or until `run` returns. CCI_E_SYSTEM
   * with errno ECHILD: another thread of the check has waited for it. */
  int (*run_child)(cci_case*, const cci_child* child, cci_child_result* result);
  /* In `validate` only: a parameter ("groups", "shape.x"; NULL or "": several together) has a value no
   * machine could run, and why, for the author of the matrix: "7 does not divide the 16 channels". */
  void (*invalid)(cci_case*, const char* parameter, const char* why);
  /* Since 1.2. An entry of the table of version facts, "driver_floor.12" -> "525.60.13"; the keys are in
   * <cudnn_ci/facts.h>. NULL when the table does not know. In `run` only. */
  const char* (*compatibility)(cci_case*, const char* key);
  /* Since 1.2. The folders of the subject's own libraries, absolute, links not followed, in the order in
   * which the loader comes upon them; all are in the LD_LIBRARY_PATH of this process. None for "loader". */
  int (*subject_folders)(cci_case*, const char* const** out, size_t* count);
  /* Since 1.4. As `finding`, with the one line that fixes what was found here, which replaces
   * the declaration's command. It is dropped, and the finding is not, where it is not one line of printable
   * text of at most 1000 bytes, or `where` is unknown. NULL or "": as `finding`. */
  void (*finding_with_command)(cci_case*, const char* slug, const char* detail,
                               uint32_t where /* cci_where */, const char* command);
  /* Since 1.5. As `skip` of kind CCI_SKIP_MEMORY, with whose memory was short. `skip` alone tells it by its
   * words: the host's where they say "host memory" and nowhere "device memory", else a device's. */
  void (*skip_memory)(cci_case*, uint32_t memory /* cci_memory */, const char* need, const char* seen);
} cci_host;

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_CI_PLUGIN_H_ */
