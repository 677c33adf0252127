// nccl.nodes: collectives of all GPUs of all tasks that a launcher has started on several nodes.
#include <cudnn_ci/check.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.h"
#include "common/loader_path.h"
#include "common/visible_gpus.h"
#include "nccl/findings.h"
#include "nccl/link_causes.h"
#include "nccl/nodes_together.h"
#include "nccl/ranks_case.h"

namespace cudnn_ci {
namespace {

std::string Variable(const std::string& name) { return Environment(name.c_str()); }

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return SingleLine(name, 100);
}

const std::vector<Way>& Ways() {
  static const std::vector<Way> kWays = {{"default", {}},
                                         {"sockets", {{"NCCL_NET", "Socket"}, {"NCCL_IB_DISABLE", "1"}}}};
  return kWays;
}

std::string TextOf(const RanksVerdict& verdict) {
  std::vector<std::string> fields = {std::to_string(static_cast<int>(verdict.kind)),
                                     std::to_string(verdict.judged), verdict.finding, verdict.seen,
                                     verdict.text};
  for (const auto& [name, value] : verdict.figures) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.17g", value);
    fields.insert(fields.end(), {name, digits});
  }
  return Fields(fields);
}

RanksVerdict VerdictFrom(const std::string& line) {
  const std::vector<std::string> fields = FieldsOf(line);
  const bool is_digit =
      !fields.empty() && fields[0].size() == 1 && fields[0][0] >= '0' && fields[0][0] <= '9';
  const int kind = is_digit ? fields[0][0] - '0' : -1;
  if (fields.size() < 5 || kind < 0 || kind > static_cast<int>(RanksVerdict::Kind::kSkippedMemory))
    return {RanksVerdict::Kind::kFinding, kRanksDied, "task 0 is gone", "", 0, {}};
  RanksVerdict verdict = {static_cast<RanksVerdict::Kind>(kind), fields[2], fields[4], fields[3],
                          std::atoi(fields[1].c_str()),          {}};
  for (std::size_t i = 5; i + 1 < fields.size(); i += 2)
    verdict.figures[fields[i]] = std::atof(fields[i + 1].c_str());
  return verdict;
}

RanksVerdict VerdictOf(const Meeting& meeting) {
  const char* const finding = meeting.end == Meeting::End::kMissing    ? kNodesMissing
                              : meeting.end == Meeting::End::kMismatch ? kNodesMismatch
                                                                       : kNodesPortTaken;
  return {RanksVerdict::Kind::kFinding, finding, meeting.text, "", 0, {}};
}

// One verdict of all tasks, by task 0; all the others say it too.
class NodesCase {
 public:
  NodesCase(Context& ctx, const RanksParams& p) : ctx_(ctx), p_(p), place_(PlaceOf(Variable)) {}

  void Run() {
    if (!place_.lacks.empty()) ctx_.Skip(CCI_SKIP_ABSENT, place_.lacks, "others");
    own_ = {place_.task, place_.tasks, VisibleGpus(), HostName(), Environment("CUDA_VISIBLE_DEVICES"),
            About()};
    Report(ctx_, place_.task == 0 ? Lead() : Follow());
  }

 private:
  std::string About() const {
    return "extent=" + p_.extent + " algo=" + p_.algo + " proto=" + p_.proto + " transport=" + p_.transport +
           " bandwidth_mib=" + std::to_string(p_.bandwidth_mib) + " limit_s=" + std::to_string(p_.limit_s) +
           " of " + ctx_.SubjectSpec();
  }

  RanksVerdict Lead() {
    NodesLeader leader(place_, own_);
    ctx_.Step("meeting");
    const Meeting meeting = leader.Meet(static_cast<double>(p_.join_s));
    RanksVerdict verdict = meeting.end == Meeting::End::kAllThere ? Judge(&leader) : VerdictOf(meeting);
    leader.Dismiss(TextOf(verdict));
    return verdict;
  }

  // The way is a name of Ways(): what a stranger could say of it sets nothing else.
  RankJob JobBy(int ranks, const std::string& name) const {
    RankJob job = JobOf(p_, ranks);
    for (const Way& way : Ways())
      if (name == way.name) job.environment.insert(way.environment.begin(), way.environment.end());
    return job;
  }

  RanksVerdict Judge(NodesLeader* leader) {
    const JobOfRanks job_of = [this](int ranks, const std::string& way) { return JobBy(ranks, way); };
    const int ranks = leader->ranks();
    const WaysTried tried = TryWays(ctx_, Ways(), p_.transport,
                                    [&](const Way& way) { return leader->RunTogether(job_of, way.name); });
    const RanksOutcome& first = tried.first;
    const RanksFindings by_link = {kNodesLinkWrong, kNodesLinkHung, kNodesLinkHung, kRanksDied};
    if (!tried.right_by.empty() || !MayBeTheWays(first.end))
      return cudnn_ci::VerdictOf(ctx_, first, by_link, ranks, tried.right_by);
    ctx_.Step("each task alone");
    const TasksAlone alone = leader->RunAlone(job_of, Ways().front().name);
    if (MayBeTheWays(alone.worst.end))
      return cudnn_ci::VerdictOf(ctx_, alone.worst, {kRanksWrong, kRanksHung, kRanksFailed, kRanksDied},
                                 ranks, "; all together: " + first.text + tried.wrong_by);
    const std::string of_each = alone.unheard.empty() ? "; each task alone is right"
                                                      : "; alone, no answer came from " + alone.unheard;
    return cudnn_ci::VerdictOf(ctx_, first, {kNodesWrong, kNodesHung, kNodesHung, kRanksDied}, ranks,
                               tried.wrong_by + of_each + LinkCausesSeen());
  }

  RanksVerdict Follow() {
    NodesFollower follower(place_, own_);
    ctx_.Step("meeting");
    const auto join_s = static_cast<double>(p_.join_s);
    const Meeting meeting = follower.Meet(join_s);
    if (meeting.end != Meeting::End::kAllThere) return VerdictOf(meeting);
    ctx_.Step("following task 0");
    constexpr double kMore = 30;  // for what task 0 does between its words
    return VerdictFrom(
        follower.Follow([this](int ranks, const std::string& way) { return JobBy(ranks, way); },
                        std::max(join_s, 3.0 * static_cast<double>(p_.limit_s)) + kMore));
  }

  Context& ctx_;
  const RanksParams& p_;
  const NodePlace place_;
  NodeHello own_;
};

struct Nodes {
  using Params = RanksParams;

  static void Describe(Schema<Params>& s) {
    DescribeRanks(s);
    s.Summary("collectives of all GPUs of all nodes are right").Devices(CCI_DEVICES_ALL).TimeoutSeconds(600);
    s.Param("transport", &Params::transport)
        .OneOf({"default", "sockets"})
        .Default("default")
        .Summary("fastest transport between nodes that NCCL may use");
    s.Param("join_s", &Params::join_s)
        .Range(1, 3600)
        .Default(120)
        .Summary("time limit in seconds for all tasks to join");
    DescribeBandwidth(s);
  }

  static void Run(Context& ctx, const Params& p) {
    RequireOwnProcess(ctx);
    NodesCase(ctx, p).Run();
  }
};

CCI_REGISTER(Nodes, "nodes")

}  // namespace
}  // namespace cudnn_ci
