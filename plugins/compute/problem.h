// What a compute case has to know of an operation: its operands, how a result is judged, which candidates
// there are, and how to speak of them. An operation implements it once.
#ifndef CUDNN_CI_PLUGINS_COMPUTE_PROBLEM_H_
#define CUDNN_CI_PLUGINS_COMPUTE_PROBLEM_H_

#include <cudnn_ci/check.hpp>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/device_session.h"
#include "compute/candidate.h"
#include "compute/compute_findings.h"
#include "compute/operand.h"
#include "compute/reference_data.h"

namespace cudnn_ci {

// By what the result of a candidate is judged.
struct Expectation {
  // Why no result can be told right from wrong, in words: what it would take, and what there is.
  struct Undecided {
    std::string need, seen;
  };
  std::shared_ptr<const ReferenceSource> data;
  std::vector<double> bounds;  // of each output, as ReferenceData::Judge takes them
  std::optional<Undecided> undecided = {};
};

// What a case asks the library for.
struct CaseRequest {
  std::string choice;        // which candidates, as Open takes it
  std::string alternatives;  // which ones are asked where one of these is wrong
  std::string all;           // which ones are asked why nothing was offered; empty: none
  bool sweep = false;        // each candidate is a step of the case, else the first that will do is the case
  bool search = false;       // Open runs candidates to find the fastest
  std::string text;          // what was asked for, in a skip
  const char* run_step = "run";      // what a run is called as a step
  const char* number = "candidate";  // what Candidate::number is called as a measurement
};

// All functions are called by one thread. Those that take candidates get their own, prepared.
class ComputeProblem {
 public:
  virtual ~ComputeProblem() = default;
  // The same at every call.
  virtual const Operands& operands() const = 0;
  virtual const ComputeFindings& findings() const = 0;
  virtual const CaseRequest& request() const = 0;
  // "x=2x3x8x8 w=4x3x3x3", for messages.
  virtual std::string Text() const = 0;
  // Where an element of an output stands, by its index in the order n, c, sizes: "(n=0,k=1,p=2,q=3)".
  virtual std::string Place(std::size_t output, std::int64_t index) const = 0;
  // Of one run; 0: none that is worth a measurement.
  virtual double Flops() const { return 0; }

  // Makes the session, or finds it, and with it what depends on the library's version. Called before all
  // below. Throws std::runtime_error.
  virtual DeviceSession& OpenSession(Context& ctx) = 0;
  // The candidates of a choice. Throws CudnnFailure.
  virtual Candidates Open(const std::string& choice, const SearchMemory& search_memory) = 0;
  // The data on which a search runs the candidates; asked for where Open asks for memory.
  virtual std::shared_ptr<const ReferenceSource> SearchData() const = 0;
  virtual Expectation ExpectationOf(const Candidate& candidate) const = 0;
  // Whether its kernels show that the candidate was given other data than it should have: its expectation was
  // another before they were known.
  virtual bool KernelsChangeExpectation(const Candidate&) const { return false; }
  // What is wrong with the outputs of a run on random data, in words; empty: nothing is, or nothing is
  // promised. `outputs` are in host memory, until the next call.
  virtual std::string WrongOnRandom(const Candidate&, const std::vector<const unsigned char*>& /*outputs*/) {
    return "";
  }
  // "; known: wrong in ...": known faults of the library with one of these effects ("wrong", "overwrite",
  // "failure", "crash", "refused", "memory") that hit what ran, null: whatever may run.
  virtual std::string Known(std::initializer_list<const char*> /*effects*/, const Candidate* /*ran*/) const {
    return "";
  }
};

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_COMPUTE_PROBLEM_H_
