/* The plugin `shm`, in C: is there enough shared memory? Engines give a container 64 MB of it unless they are
 * told otherwise; NCCL and the data loaders of frameworks end there with a bus error. */
#include <cudnn_ci/plugin.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

static const cci_finding kTooSmall = {
    .struct_size = sizeof(cci_finding),
    .severity = CCI_SEVERITY_ERROR,
    .blame = CCI_BLAME_RUNNER,
    .slug = "shm-too-small",
    .summary = "/dev/shm is missing or too small",
    .remedy =
        "Start the container with --shm-size=1g (docker, podman), or mount an emptyDir of "
        "medium Memory there (Kubernetes).",
    .link = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
};
static const cci_finding* const kFindings[] = {&kTooSmall, NULL};

static void RunSize(const struct cci_host* host, cci_case* c) {
  struct statvfs shm;
  int64_t min_mib = 0, mib;
  char detail[128];
  if (host->get_i64(c, "min_mib", &min_mib) != CCI_OK) return; /* nothing was checked, so the case is red */
  if (statvfs("/dev/shm", &shm) != 0) {
    snprintf(detail, sizeof detail, "/dev/shm: %s", strerror(errno));
    host->finding(c, kTooSmall.slug, detail);
    return;
  }
  mib = (int64_t)(((uint64_t)shm.f_blocks * shm.f_frsize) >> 20);
  host->measure(c, "size", (double)mib, "MiB", CCI_GOAL_HIGHER);
  snprintf(detail, sizeof detail, "/dev/shm has %lld MiB, %lld are needed", (long long)mib,
           (long long)min_mib);
  if (mib < min_mib) host->finding(c, kTooSmall.slug, detail);
  host->expect(c, mib >= min_mib, __FILE__, __LINE__, "/dev/shm has min_mib MiB or more");
}

static const cci_param kMinMib = {
    .struct_size = sizeof(cci_param),
    .type = CCI_TYPE_I64,
    .name = "min_mib",
    .summary = "MiB that are needed",
    .default_json = "1024",
    .min_i64 = 1,
    .max_i64 = 1 << 30,
};
static const cci_param* const kParams[] = {&kMinMib, NULL};

static const cci_check kSize = {
    .struct_size = sizeof(cci_check),
    .layer = CCI_LAYER_OTHER,
    .devices = CCI_DEVICES_NONE,
    .name = "size",
    .summary = "/dev/shm is large enough",
    .params = kParams,
    .run = RunSize,
};
static const cci_check* const kChecks[] = {&kSize, NULL};

static const cci_plugin kPlugin = {
    .struct_size = sizeof(cci_plugin),
    .abi_major = CCI_ABI_MAJOR,
    .abi_minor = CCI_ABI_MINOR,
    .name = "shm",
    .version = "1.0.0",
    .summary = "shared memory",
    .checks = kChecks,
    .findings = kFindings,
};

const cci_plugin* cudnn_ci_plugin_v1(void);
const cci_plugin* cudnn_ci_plugin_v1(void) { return &kPlugin; }
