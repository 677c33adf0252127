// Runs the shipped plugins through the real harness and worker on a machine made of fake libraries
// (tests/fakes): a driver, NVML, a toolkit and a cuDNN, each scripted by variables.
#ifndef CUDNN_CI_TESTS_INTEGRATION_SHIPPED_TEST_H_
#define CUDNN_CI_TESTS_INTEGRATION_SHIPPED_TEST_H_

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "gate_run.h"
#include "mentions.h"

namespace cudnn_ci {

// What a run says of one check: the first case of it.
struct CheckOutcome {
  GateResult gate;
  json record;  // the case in report.json; null: there is none

  std::string Outcome() const { return record.is_null() ? "" : record["outcome"].get<std::string>(); }
  // Of the findings of severity error, in the order in which they were reported.
  std::vector<std::string> Slugs() const;
  // Of all findings.
  std::vector<std::string> AllSlugs() const;
  // Of the first finding.
  std::string Blame() const { return Finding("blame"); }
  std::string Detail() const { return Finding("detail"); }
  // "kind", "need" or "seen" of a skip.
  std::string Skip(const std::string& key) const;
  // NaN: it was not measured.
  double Measured(const std::string& name) const;
  // Of the subject "system"; "(none)" if it was not reported.
  std::string Fact(const std::string& key) const;

 private:
  std::string Finding(const std::string& key) const;
};

void PrintTo(const CheckOutcome& outcome, std::ostream* os);

// A folder, and a healthy machine of one GPU until a test says otherwise.
class ShippedTest : public ::testing::Test {
 protected:
  ShippedTest();

  GateRun& gate() { return gate_; }
  // The folder that is put before the fakes when it is not empty.
  const std::string& libraries() const { return libraries_; }
  // FAKE_NVML_DRIVER is the version of the whole driver: the files of libcuda and NVML have it in their names
  // too. An NVML that lies is made by gate().Set.
  void Set(const std::string& name, const std::string& value);
  // What the matrix promises: ("image.cudnn", ">=9.0 <10").
  void Promise(const std::string& key, const std::string& range) { contract_[key] = range; }
  // The fakes of the machine: "libcuda", "nvml", "cudart13", "cudart12", "nvrtc", "cudnn", "nccl".
  void UseFakes(std::vector<std::string> names) { fakes_ = std::move(names); }
  // Subjects of the matrix, as JSON: R"({"mine": "path:/x"})".
  void UseSubjects(const std::string& text) { subjects_ = text; }
  // The matrix extends this file.
  void Extend(const std::string& path) { parent_ = path; }
  // Shapes of the matrix, as JSON.
  void UseShapes(const std::string& text) { shapes_ = text; }

  // Copies a file of a fake's folder to libraries().
  void Take(const std::string& fake, const std::string& file);
  // All files of the fake cuDNN, by their sonames.
  void TakeCudnn();
  void WriteLibrary(const std::string& name, const std::string& bytes);
  // Leaves the first half of a file of libraries().
  void Halve(const std::string& name);
  static std::string FakeFolder(const std::string& fake);
  // One file of a fake, links followed.
  static std::string FakeFile(const std::string& fake, const std::string& file);

  // Runs a matrix with this check alone, and what it requires. `rest` is more of its entry.
  CheckOutcome Check(const std::string& check, const std::string& rest = "",
                     const std::vector<std::string>& arguments = {});
  // Runs a matrix with these entries.
  GateResult Run(const std::string& entries, const std::vector<std::string>& arguments = {});
  // Sets LD_LIBRARY_PATH so that the runs to come see the machine; Check and Run do it themselves.
  void Compose();

 private:
  GateRun gate_;
  std::string libraries_;
  std::map<std::string, std::string> contract_;
  std::vector<std::string> fakes_ = {"libcuda", "nvml", "cudart13", "nvrtc", "cudnn", "nccl"};
  std::string subjects_, shapes_, parent_;
  std::string driver_;  // folders of a libcuda and an NVML of this version; empty: the fakes' own
};

// Words to put before a run (GateRun::Before) so that it sees other system files, in a mount namespace of its
// own; empty where this user cannot have one.
std::vector<std::string> InMountNamespace(const std::string& mounts);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_INTEGRATION_SHIPPED_TEST_H_
