// Which packages an automatic run names because it does not ask their kernels.
#include "model/inventory/kernel_packages.h"

#include <gmock/gmock.h>

#include "model/record/notice_list.h"

namespace cudnn_ci {
namespace {

using Texts = std::vector<std::string>;

const std::vector<AdaptedPackage> kAdapted = {{"torch", "PyTorch", "torch", ">=2.5 <3"},
                                              {"jax", "JAX", "jax-cuda13-plugin", ">=0.4.36 <1"},
                                              {"jax", "JAX", "jax-cuda12-plugin", ">=0.4.36 <1"},
                                              {"fa", "FlashAttention 4", "flash-attn-4", ">=4 <5"}};

Candidate Environment(const std::string& name, const std::vector<PythonPackage>& adapted) {
  Candidate candidate = {name, "python:/" + name + "/bin/python", "/" + name, "", "13"};
  candidate.adapted = adapted;
  return candidate;
}

// The code, and what each argument holds.
void ExpectNotice(const std::vector<Candidate>& candidates, NoticeCode code, const Texts& packages,
                  const Texts& others) {
  const std::optional<Notice> notice = KernelsNotTested(candidates, kAdapted);
  ASSERT_TRUE(notice.has_value());
  EXPECT_STREQ(Name(notice->code), "kernels-not-tested");
  Params args;
  if (!packages.empty()) args["packages"] = packages;
  if (!others.empty()) args["others"] = others;
  EXPECT_EQ(*notice, (Notice{code, args})) << SentenceOf(*notice);
}

TEST(KernelPackages, AreNamedWithTheirReleases) {
  ExpectNotice(
      {Environment("a", {{"PyTorch", "torch", "2.11.0+cu130"}, {"JAX", "jax-cuda13-plugin", "0.11.2"}})},
      NoticeCode::kKernelsNotTested, {"torch 2.11.0+cu130", "jax-cuda13-plugin 0.11.2"}, {});
  ExpectNotice({Environment("a", {{"FlashAttention 4", "flash-attn-4", "4.0.0b36"}})},
               NoticeCode::kKernelsNotTested, {"flash-attn-4 4.0.0b36"}, {});
}

TEST(KernelPackages, OfOtherReleasesAreNamedAsNotCovered) {
  ExpectNotice({Environment("a", {{"PyTorch", "torch", "2.4.1"}, {"JAX", "jax-cuda13-plugin", "0.11.2"}})},
               NoticeCode::kKernelsNotTested, {"jax-cuda13-plugin 0.11.2"},
               {"torch 2.4.1 (only for >=2.5 <3)"});
  ExpectNotice({Environment("a", {{"PyTorch", "torch", "2.4.1"}})}, NoticeCode::kKernelsNotCovered, {},
               {"torch 2.4.1 (only for >=2.5 <3)"});
  // One whose version is no version is not covered either.
  ExpectNotice({Environment("a", {{"PyTorch", "torch", "main"}})}, NoticeCode::kKernelsNotCovered, {},
               {"torch main (only for >=2.5 <3)"});
}

// As kernels.package takes it: of an adapter's packages the first that is installed.
TEST(KernelPackages, OfOneAdapterAreTheOneThatItTakes) {
  ExpectNotice(
      {Environment("a", {{"JAX", "jax-cuda12-plugin", "0.4.30"}, {"JAX", "jax-cuda13-plugin", "0.11.2"}})},
      NoticeCode::kKernelsNotTested, {"jax-cuda13-plugin 0.11.2"}, {});
}

TEST(KernelPackages, OfSeveralEnvironmentsAreOneNotice) {
  const std::vector<PythonPackage> torch = {{"PyTorch", "torch", "2.11.0"}};
  ExpectNotice({Environment("a", torch), Environment("b", torch), Environment("c", {}),
                Environment("d", {{"PyTorch", "torch", "2.9.1"}})},
               NoticeCode::kKernelsNotTested, {"torch 2.11.0", "torch 2.9.1"}, {});
  std::vector<Candidate> many;
  for (int i = 0; i < 15; ++i)
    many.push_back(Environment("a", {{"PyTorch", "torch", "2.5." + std::to_string(i)}}));
  const std::optional<Notice> notice = KernelsNotTested(many, kAdapted);
  ASSERT_TRUE(notice.has_value());
  const auto& named = std::get<Texts>(notice->args.at("packages"));
  EXPECT_EQ(named.size(), 13u);
  EXPECT_EQ(named.back(), "3 more");
}

// Which adapters an environment is asked by, whatever the release.
TEST(KernelPackages, HaveTheirAdapters) {
  EXPECT_THAT(
      AdaptersFor(Environment("a", {{"PyTorch", "torch", "2.4.1"}, {"JAX", "jax-cuda12-plugin", "0.11.2"}}),
                  kAdapted),
      testing::ElementsAre("jax", "torch"));
  EXPECT_THAT(AdaptersFor(Environment("a", {{"Other", "other", "1.0"}}), kAdapted), testing::IsEmpty());
}

TEST(KernelPackages, ThatNobodyAsksAreNoNotice) {
  EXPECT_EQ(KernelsNotTested({}, kAdapted), std::nullopt);
  EXPECT_EQ(KernelsNotTested({Environment("a", {})}, kAdapted), std::nullopt);
  EXPECT_EQ(KernelsNotTested({Environment("a", {{"Other", "other", "1.0"}})}, kAdapted), std::nullopt);
}

}  // namespace
}  // namespace cudnn_ci
