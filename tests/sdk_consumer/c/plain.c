/* A whole plugin over plugin.h alone: one check with one parameter. */
#include <cudnn_ci/plugin.h>

static void RunEven(const struct cci_host* host, cci_case* c) {
  int64_t n = 0;
  host->expect(c, host->get_i64(c, "n", &n) == CCI_OK, __FILE__, __LINE__, "n is a parameter");
  host->expect(c, n % 2 == 0, __FILE__, __LINE__, "n is even");
}

static const cci_param kN = {
    .struct_size = sizeof(cci_param),
    .type = CCI_TYPE_I64,
    .name = "n",
    .summary = "a number",
    .default_json = "42",
    .min_i64 = 0,
    .max_i64 = 1000,
};
static const cci_param* const kParams[] = {&kN, NULL};

static const cci_check kEven = {
    .struct_size = sizeof(cci_check),
    .layer = CCI_LAYER_OTHER,
    .devices = CCI_DEVICES_NONE,
    .name = "even",
    .summary = "a number is even",
    .params = kParams,
    .run = RunEven,
};
static const cci_check* const kChecks[] = {&kEven, NULL};

static const cci_plugin kPlugin = {
    .struct_size = sizeof(cci_plugin),
    .abi_major = CCI_ABI_MAJOR,
    .abi_minor = CCI_ABI_MINOR,
    .name = "plain",
    .version = "1.0.0",
    .summary = "a plugin in C",
    .checks = kChecks,
};

const cci_plugin* cudnn_ci_plugin_v1(void);
const cci_plugin* cudnn_ci_plugin_v1(void) { return &kPlugin; }
