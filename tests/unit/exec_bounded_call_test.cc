// Calls that may be given up.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <limits>
#include <stdexcept>

#include "base/fd.h"
#include "base/packed.h"
#include "exec/system/process_posix.h"
#include "exec/workers/bounded_call.h"

namespace cudnn_ci {
namespace {

class BoundedCallTest : public testing::Test {
 protected:
  BoundedCallTest() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &before_);
    signals_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  ~BoundedCallTest() override { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  BoundedCall Call(double limit_s, const std::function<std::string(const LookingAt&)>& call) {
    return CallWithin(limit_s, call, &control_, signals_.get(), &interrupted_);
  }
  int interrupted_ = 0;

 private:
  sigset_t before_{};
  Fd signals_;
  PosixProcessControl control_;
};

TEST_F(BoundedCallTest, GivesWhatTheCallReturned) {
  const std::string large(1 << 20, 'x');  // more than a pipe holds
  for (const double limit : {30.0, std::numeric_limits<double>::infinity()}) {
    const BoundedCall call = Call(limit, [&](const LookingAt&) { return std::string(large); });
    EXPECT_EQ(call.end, BoundedCall::End::kReturned);
    EXPECT_EQ(call.value, large);
  }
}

TEST_F(BoundedCallTest, IsGivenUpWhenItsTimeIsUp) {
  const BoundedCall call = Call(0.1, [](const LookingAt& looking_at) {
    looking_at("the first");
    looking_at("it");
    raise(SIGSTOP);
    return std::string("never");
  });
  EXPECT_EQ(call.end, BoundedCall::End::kNoAnswer);
  EXPECT_EQ(call.looking_at, "it");
}

TEST_F(BoundedCallTest, ASignalEndsIt) {
  const pid_t self = getpid();
  const BoundedCall call = Call(30, [self](const LookingAt&) {
    kill(self, SIGTERM);
    raise(SIGSTOP);
    return std::string();
  });
  EXPECT_EQ(call.end, BoundedCall::End::kInterrupted);
  EXPECT_EQ(interrupted_, SIGTERM);
}

TEST_F(BoundedCallTest, AnEndWithoutAValueIsNone) {
  EXPECT_EQ(Call(30, [](const LookingAt&) -> std::string { throw std::runtime_error("no"); }).end,
            BoundedCall::End::kFailed);
  EXPECT_EQ(Call(30, [](const LookingAt&) -> std::string { _exit(0); }).value, "");
  EXPECT_EQ(Call(30,
                 [](const LookingAt&) -> std::string {
                   raise(SIGKILL);
                   return "";
                 })
                .end,
            BoundedCall::End::kFailed);
}

struct Inner {
  std::string text;
  std::vector<std::string> list;
};
struct Outer {
  int number = 0;
  bool flag = false;
  std::vector<Inner> inner;
};
template <class Io, class T>
requires std::is_same_v<std::remove_const_t<T>, Inner>
void Fields(Io& io, T& v) { io("text", v.text), io("list", v.list, Mark::kOptional); }
template <class Io, class T>
requires std::is_same_v<std::remove_const_t<T>, Outer>
void Fields(Io& io, T& v) { io("number", v.number), io("flag", v.flag), io("inner", v.inner); }

TEST(PackedTest, ComesBackTheSameOrNotAtAll) {
  const Outer value{-7, true, {{std::string("a\0b", 3), {"x", ""}}, {"", {}}}};
  const std::string bytes = Pack(value);
  Outer back;
  ASSERT_TRUE(Unpack(bytes, &back));
  EXPECT_EQ(Pack(back), bytes);
  EXPECT_EQ(back.inner[0].text, value.inner[0].text);
  for (size_t size = 0; size < bytes.size(); ++size) {
    Outer part;
    EXPECT_FALSE(Unpack(bytes.substr(0, size), &part)) << size;
  }
  Outer more;
  EXPECT_FALSE(Unpack(bytes + "x", &more));
}

}  // namespace
}  // namespace cudnn_ci
