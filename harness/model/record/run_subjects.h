// What a process is told of the subjects of its run.
#ifndef CUDNN_CI_MODEL_RECORD_RUN_SUBJECTS_H_
#define CUDNN_CI_MODEL_RECORD_RUN_SUBJECTS_H_

#include <vector>

#include "image/contents/subject.h"
#include "model/record/facts.h"

namespace cudnn_ci {

// The facts with CCI_FACT_RUN_SUBJECTS, instead of what plugins may have reported under that key.
FactMap WithRunSubjects(FactMap facts, const std::vector<SubjectInfo>& subjects);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_MODEL_RECORD_RUN_SUBJECTS_H_
