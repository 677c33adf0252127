// Why a case runs more than once, and how often. This is the policy; who keeps which part of it stands beside
// each bound.
//
// Every further attempt keeps these rules:
//   1. It runs alone, in a fresh process.
//   2. It never turns red into green. The first bad result that counts stays the case's outcome.
//   3. Its findings stay with the case, whatever comes of it.
//   4. It is bounded twice: for the case, and for all cases of one kind. Cases of a kind fail alike; when
//      enough of them were looked at, the rest is taken to be the same and says so.
//   5. It waits until what it depends on is known: a suspect device has answered with the canary first.
//   6. When the run is cancelled, what waits ends as it stood; a result that was none ends as cancelled.
// They happen in this order, each behind the ones before:
//   confirmation   a shared process said something bad; alone it decides (Cases)
//   alone          a process beside others said what they may have caused: no result, and so no exception to
//                  rule 2; its findings stay as notes (beside_others.cc, Cases)
//   continuation   a step ended the process; the case goes on without that step (Cases)
//   retry          --retries; a pass is then flaky (Cases)
//   cross-device   a failure that may be the GPU's; decides the blame alone (SecondOpinions)
//   repetition     a pass slower than the matrix allows; each has to be slow (Slowness)
// The user's allow_flaky is the one exception to rule 2.
#ifndef CUDNN_CI_EXEC_SCHEDULE_REATTEMPTS_H_
#define CUDNN_CI_EXEC_SCHEDULE_REATTEMPTS_H_

namespace cudnn_ci::reattempts {

// Of one kind (check, outcome, finding id or signal); later results are taken as they are.
inline constexpr int kConfirmations = 3;
// Steps that a case may lose before its last result stands.
inline constexpr int kContinuations = 8;

// Answers of other GPUs of one kind (check, subject, reason, GPU), all alike; the rest is taken to be the
// same.
inline constexpr int kCrossDeviceAnswers = 3;
// Passes on other GPUs before its own one is accused in the image's place: what fails now and then passes
// too.
inline constexpr int kCrossDevicePasses = 3;
// Questions that one GPU leaves open before it is asked no more.
inline constexpr int kCrossDeviceSilences = 3;

// Repetitions of a slow case; each has to be slow.
inline constexpr int kRepetitions = 3;
// Slow cases of one check on one GPU that close the gate; the run is red, and the next ones would say the
// same.
inline constexpr int kSlowConfirmed = 3;
// In a row, the slowest first, that were not slow alone: what the run measured were other processes.
inline constexpr int kSlowUnconfirmed = 32;

}  // namespace cudnn_ci::reattempts

#endif  // CUDNN_CI_EXEC_SCHEDULE_REATTEMPTS_H_
