// The last screen: what a person reads first. A pure function, so that console, JUnit and a rebuilt report
// say the same.
#ifndef CUDNN_CI_REPORT_LAST_SCREEN_H_
#define CUDNN_CI_REPORT_LAST_SCREEN_H_

#include <memory>
#include <string>
#include <vector>

#include "model/verdict.h"
#include "report/run_view.h"

namespace cudnn_ci {

class Page;

struct LastScreenOptions {
  std::vector<std::string> reports;  // where the reports are
  std::string
      attestation;  // which of them is the statement, of which there may be none; empty: none was asked for
  bool color = false;  // SGR sequences around the verdict
  size_t width = 110;  // columns
  // An earlier run, to say what changed since; null: none.
  std::shared_ptr<const RunView> baseline = nullptr;
};

// Many lines, each with a line feed; the very last is VerdictLine.
std::string LastScreen(const Summary& summary, const Verdict& verdict, const LastScreenOptions& options);

// What stands between its first line and its last, on any page.
void PutLastScreen(const Summary& summary, const Verdict& verdict, const LastScreenOptions& options,
                   Page* page);

// "FAILED: the image is at fault"; of a pass what it stands on: "PASSED: every required case passed" only
// when every one did.
std::string Headline(const Summary& summary, const Verdict& verdict);

// "verdict: failed (exit 1)", with ", partial: ..." and ", NOT GATING (...)" where they hold.
std::string VerdictLine(const Summary& summary, const Verdict& verdict);

// "the owner of the image".
const char* WhoActs(Blame blame);

// What the verdict is about, as (label, value): image, subjects, toolkit, gpu, driver, matrix.
std::vector<std::pair<std::string, std::string>> Judged(const Summary& summary);

// The command that runs this one case again, where the run was started; "" before RunStarted.
std::string Reproduction(const Summary& summary, const std::string& case_id);

// The same from outside, in a new container of the image; "" when nobody said which image it is, or when the
// run was started from outside.
std::string ContainerReproduction(const Summary& summary, const std::string& case_id);

// The fact of that key of a subject, or (`subject` empty) of the first that has it, by name. "" when there is
// none.
std::string FindFact(const Summary& summary, const std::string& subject, const std::string& key);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_REPORT_LAST_SCREEN_H_
