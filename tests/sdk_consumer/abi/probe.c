/* A plugin over one version of plugin.h that uses every table of it: a parameter of each kind, a finding,
 * facts and both functions of a check. Compiled against ABI 1.0 as it was frozen, against 1.3, and against a
 * header with a field more in every struct. PROBE_STEM: its name; PROBE_CUT: a table whose size is said to
 * end before a field. */
#include <cudnn_ci/plugin.h>

#define CUT_NONE 0
#define CUT_VALIDATE 1
#define CUT_RUN 2
#define CUT_FIELDS 3
#define CUT_LINK 4
#define CUT_FACTS 5

#define ENDS_BEFORE(cut, type, field) (PROBE_CUT == (cut) ? offsetof(type, field) : sizeof(type))

static void RunProbe(const struct cci_host* host, cci_case* c) {
  int64_t n = 0;
  const int64_t* extent = NULL;
  size_t count = 0;
  cci_child child = {0};
  cci_child_result result = {0};
  const char* const argv[] = {"true", NULL};
  host->expect(c, host->get_i64(c, "n", &n) == CCI_OK && n == 5, __FILE__, __LINE__, "n is 5");
  host->expect(c, host->get_i64_list(c, "shape.x", &extent, &count) == CCI_OK && count == 2, __FILE__,
               __LINE__, "the shape has two extents");
  host->expect(c, CCI_HAS(cci_host, host, invalid), __FILE__, __LINE__, "the host is of 1.0 at the least");
  child.struct_size = sizeof child;
  child.argv = argv;
  result.struct_size = sizeof result;
  host->expect(c, host->run_child(c, &child, &result) == CCI_OK && result.exit_status == 0, __FILE__,
               __LINE__, "a child runs");
  result.struct_size = offsetof(cci_child_result, output);
  host->expect(c, host->run_child(c, &child, &result) == CCI_E_ARGUMENT, __FILE__, __LINE__,
               "a result that is too small is refused");
#if CCI_ABI_MINOR >= 2
  {
    const char* const* folders = NULL;
    size_t folder_count = 99;
    host->expect(c, CCI_HAS(cci_host, host, subject_folders), __FILE__, __LINE__, "the host is of 1.2");
    host->expect(c,
                 host->subject_folders(c, &folders, &folder_count) == CCI_OK && folder_count == 0 &&
                     folders[0] == NULL,
                 __FILE__, __LINE__, "what the loader finds has no folders of its own");
    host->expect(c,
                 host->subject_folders(c, NULL, &folder_count) == CCI_E_ARGUMENT &&
                     host->subject_folders(c, &folders, NULL) == CCI_E_ARGUMENT,
                 __FILE__, __LINE__, "nowhere to put them is refused");
  }
#endif
#if CCI_ABI_MINOR >= 4
  if (CCI_HAS(cci_host, host, finding_with_command)) {
    host->finding_with_command(c, "probe-note", "said by the probe", CCI_WHERE_HOST, "fix --it");
    return;
  }
#endif
  host->finding(c, "probe-note", "said by the probe");
}

/* Skips for memory, which "host" says in its words; with ABI 1.5 it is the host's whatever they say. */
static void RunLacks(const struct cci_host* host, cci_case* c) {
  const char* words = "";
  const char* seen = "less";
  if (host->get_string(c, "words", &words) == CCI_OK && words[0] == 'h') seen = "little host memory";
#if CCI_ABI_MINOR >= 5
  if (CCI_HAS(cci_host, host, skip_memory)) {
    host->skip_memory(c, words[0] == 'w' ? 2 : CCI_MEMORY_HOST, "more", seen);
    return;
  }
#endif
  host->skip(c, CCI_SKIP_MEMORY, "more", seen);
}

static void ValidateProbe(const struct cci_host* host, cci_case* c) {
  int64_t n = 0;
  if (host->get_i64(c, "n", &n) == CCI_OK && n != 5) host->invalid(c, "n", "only 5 will do");
}

/* Lies behind the end of a table that is cut there. */
static void NeverCalled(const struct cci_host* host, cci_case* c) {
  host->invalid(c, "n", "what lies behind the table was called");
}

static void ReportFacts(const struct cci_host* host, cci_case* c) {
  host->fact_report(c, "probe.fact", "reported");
}

static const cci_param kX = {
    .struct_size = sizeof(cci_param),
    .type = CCI_TYPE_I64_LIST,
    .name = "x",
    .min_i64 = 1,
    .max_i64 = 9,
};
static const cci_param* const kFields[] = {&kX, NULL};
static const cci_param kN = {
    .struct_size = ENDS_BEFORE(CUT_FIELDS, cci_param, fields),
    .type = CCI_TYPE_I64,
    .name = "n",
    .summary = "a number",
    .default_json = "5",
    .min_i64 = 0,
    .max_i64 = 10,
};
static const cci_param kShape = {
    .struct_size = sizeof(cci_param), .type = CCI_TYPE_SHAPE, .name = "shape", .fields = kFields};
static const cci_param* const kParams[] = {&kN, &kShape, NULL};

static const cci_check kProbe = {
    .struct_size = PROBE_CUT == CUT_RUN ? ENDS_BEFORE(CUT_RUN, cci_check, run)
                                        : ENDS_BEFORE(CUT_VALIDATE, cci_check, validate),
    .layer = CCI_LAYER_OTHER,
    .devices = CCI_DEVICES_NONE,
    .name = "probe",
    .summary = "uses every table",
    .params = kParams,
    .run = RunProbe,
    .validate = PROBE_CUT == CUT_VALIDATE ? NeverCalled : ValidateProbe,
};
static const cci_param kWords = {
    .struct_size = sizeof(cci_param), .type = CCI_TYPE_STRING, .name = "words", .default_json = "\"none\""};
static const cci_param* const kLackParams[] = {&kWords, NULL};
static const cci_check kLacks = {
    .struct_size = sizeof(cci_check),
    .layer = CCI_LAYER_OTHER,
    .devices = CCI_DEVICES_NONE,
    .name = "lacks",
    .summary = "lacks memory",
    .params = kLackParams,
    .run = RunLacks,
};
static const cci_check* const kChecks[] = {&kProbe, &kLacks, NULL};

static const cci_finding kNote = {
    .struct_size = ENDS_BEFORE(CUT_LINK, cci_finding, link),
    .severity = CCI_SEVERITY_NOTE,
    .blame = CCI_BLAME_IMAGE,
    .slug = "probe-note",
    .summary = "worth knowing",
    .remedy = "Nobody: it is fine.",
};
static const cci_finding* const kFindings[] = {&kNote, NULL};

static const cci_plugin kPlugin = {
    .struct_size = ENDS_BEFORE(CUT_FACTS, cci_plugin, facts),
    .abi_major = CCI_ABI_MAJOR,
    .abi_minor = CCI_ABI_MINOR,
    .name = PROBE_STEM,
    .version = "1.0.0",
    .summary = "a probe",
    .checks = kChecks,
    .findings = kFindings,
    .facts = ReportFacts,
};

const cci_plugin* cudnn_ci_plugin_v1(void);
const cci_plugin* cudnn_ci_plugin_v1(void) { return &kPlugin; }
