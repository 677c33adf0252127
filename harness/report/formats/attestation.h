// What is to be signed about an image: an in-toto statement with the verdict, over the image's digest. For
// machines that let only tested images into a registry or a cluster.
// https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
// https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md
#ifndef CUDNN_CI_REPORT_FORMATS_ATTESTATION_H_
#define CUDNN_CI_REPORT_FORMATS_ATTESTATION_H_

#include <string>
#include <string_view>
#include <utility>

#include "model/verdict/verdict.h"
#include "report/record/reporter.h"

namespace cudnn_ci {

// What the predicate says beyond the test-result's own fields stands under this type, as in-toto wants it of
// extensions.
inline constexpr char kGateExtension[] = "urn:cudnn-ci:gate:1";

// The format's name.
inline constexpr char kAttestationFormat[] = "attestation";

// Why nothing can be stated about the image, as the rest of a sentence; empty: a statement is made. A
// statement is made of a whole run over a known digest that passed, or that failed by the image's fault: what
// a broken runner says is nothing about the image.
std::string NoStatementReason(const Summary& summary, const Verdict& verdict);

// The statement, JSON with a line feed at its end, at most some 100 KiB: of the cases that failed or passed
// with a warning the first ones are named. Only where NoStatementReason is empty.
std::string RenderStatement(const Summary& summary, const Verdict& verdict);

class AttestationReporter : public Reporter {
 public:
  explicit AttestationReporter(std::string path) : path_(std::move(path)) {}
  const char* name() const override { return kAttestationFormat; }
  Status OnEvent(const Event&, const Summary&) override { return {}; }
  // Writes the statement by rename, or takes one of ours away where none can be made.
  Status Finish(const Summary& summary) override;
  void Withdraw() override;

 private:
  std::string path_;
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_FORMATS_ATTESTATION_H_
