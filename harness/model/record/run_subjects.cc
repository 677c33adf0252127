#include "model/record/run_subjects.h"

#include <cudnn_ci/facts.h>

#include <string>

namespace cudnn_ci {

FactMap WithRunSubjects(FactMap facts, const std::vector<SubjectInfo>& subjects) {
  std::string& specs = facts[CCI_FACT_RUN_SUBJECTS];
  specs.clear();
  for (const SubjectInfo& one : subjects) specs += one.spec + "\n";
  return facts;
}

}  // namespace cudnn_ci
