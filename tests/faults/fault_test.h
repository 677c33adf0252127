// A table of environments, each a machine of fake or real libraries with one thing wrong or with nothing
// wrong, and what the gate must say of it: the first finding, whose fault it is, and the exit code. The rows
// are those of knowledge/findings.
#ifndef CUDNN_CI_TESTS_FAULTS_FAULT_TEST_H_
#define CUDNN_CI_TESTS_FAULTS_FAULT_TEST_H_

#include <functional>
#include <string>
#include <vector>

#include "shipped_test.h"

namespace cudnn_ci {

// The machine that a row makes: healthy, and ShippedTest's, until the row says otherwise.
class FaultTest : public ShippedTest {
 public:
  FaultTest();
  using ShippedTest::Extend;
  using ShippedTest::FakeFile;
  using ShippedTest::FakeFolder;
  using ShippedTest::gate;
  using ShippedTest::libraries;
  using ShippedTest::Promise;
  using ShippedTest::Set;
  using ShippedTest::Take;
  using ShippedTest::TakeCudnn;
  using ShippedTest::UseFakes;
  using ShippedTest::UseShapes;
  using ShippedTest::UseSubjects;
  using ShippedTest::WriteLibrary;

  // All files of a fake's folder, by their sonames, to this folder of the test.
  void TakeAll(const std::string& fake, const std::string& folder) const;
  // Hard links of the machine's own cuDNN, and of the cuBLASLt that it needs; false where it has none or its
  // file system is another.
  bool LinkRealCudnn() const;
  void Remove(const std::string& name) const;
  // Leaves the first half. Never of the file that a hard link shares with the machine's own install.
  void Halve(const std::string& name) const;
  // Changes the byte at this offset of a file of libraries(): 4 is the word size of an ELF file, 18 its
  // machine.
  void Patch(const std::string& name, long offset, char byte) const;
  // In place of a file of libraries() a copy of another one of them.
  void TakeAs(const std::string& other, const std::string& name) const;
  // In place of a file of libraries(): a link to nothing.
  void Dangle(const std::string& name) const;
  // The loader's cache of this machine is not seen: what it holds cannot complete a fake install. Further
  // mounts, in a shell's words and without a single quote, come behind that. False: this user cannot have
  // them.
  bool HideLoaderCache(const std::string& mounts = "");
  // Keeps what needs no GPU and no driver.
  void StaticOnly() { arguments_ = {"--stage", "static"}; }
  void UseAllDevices() { arguments_ = {"--device", "all"}; }
  // Takes adapters of packages of this folder too.
  void UseAdapters(const std::string& folder) { arguments_ = {"--knowledge", folder, "--allow-adapters"}; }
  // One more entry of the matrix, behind the environment's checks.
  void Also(const std::string& entry) { further_ += ", " + entry; }

  // Runs all checks of the environment, and the further ones.
  GateResult Diagnose();

 private:
  std::vector<std::string> arguments_;
  std::string further_;
};

struct Fault {
  std::string name;
  // Makes the environment; false: this machine cannot have it, and the row is skipped.
  std::function<bool(FaultTest&)> make;
  std::string slug;  // of the first finding; empty: none, the environment is healthy or the matrix refused
  std::string blame;
  int exit_code = 0;
  std::vector<std::string>
      named;              // arguments of the finding's detail, or of the message about a refused matrix
  std::string note = {};  // of a healthy environment: the finding that is said all the same
  std::string mode = {};  // by its name in knowledge/findings
  // The line of the Dockerfile that fixes it, in which "~" is the test's folder; empty: none is asked for.
  std::string line = {};
};

// The row, of which this line is said.
Fault FixedBy(Fault row, const std::string& line);

// Rows that show one failure mode, or one kind of sound environment.
std::vector<Fault> Showing(const std::string& mode, std::vector<Fault> rows);
std::vector<Fault> Joined(const std::vector<std::vector<Fault>>& groups);

// A row whose fault is the image's, or the runner's.
Fault Image(const std::string& name, std::function<bool(FaultTest&)> make, const std::string& slug,
            std::vector<std::string> named);
Fault Runner(const std::string& name, std::function<bool(FaultTest&)> make, const std::string& slug,
             std::vector<std::string> named);
// A row with nothing wrong.
Fault Sound(const std::string& name, std::function<bool(FaultTest&)> make, const std::string& note = "");

// "MODE: image.cudnn-missing": what --gtest_list_tests shows of a row, and modes_test.py reads.
void PrintTo(const Fault& fault, std::ostream* os);

// For INSTANTIATE_TEST_SUITE_P.
std::string NameOfFault(const ::testing::TestParamInfo<Fault>& info);

// Runs one row against a fresh machine, and records what came of it for the table: "mode", and "sound" or
// "detected" and "named".
class FaultTableTest : public FaultTest, public ::testing::WithParamInterface<Fault> {
 protected:
  void ExpectNamed(const Fault& fault);

 private:
  void ExpectGreen(const Fault& fault, const GateResult& r);
  void ExpectRefused(const Fault& fault, const GateResult& r);
  // `finding` has the row's line.
  void ExpectLine(const Fault& fault, const json& finding);
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_FAULTS_FAULT_TEST_H_
