// "subjects": "auto": which environments of an image count, and what they are called.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "image/contents/environments.h"
#include "image/contents/unreadable_folders.h"
#include "shipped_knowledge.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class EnvironmentsTest : public SubjectTree {
 protected:
  // "NAME INTERPRETER" of each; the root's own path is part of every name, and cut off here.
  std::vector<std::string> Found(const Variables& environment = {}) {
    const FoundEnvironments found = FindEnvironments(environment, PackageNamesOf(ShippedKnowledge()), root_);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.count, found.subjects.size());
    std::vector<std::string> lines;
    const std::string prefix = NameOfPrefix(root_) + "_", python = "python:" + root_ + "/";
    for (const SubjectInfo& s : found.subjects) {
      EXPECT_EQ(s.name.compare(0, prefix.size(), prefix), 0) << s.name;
      EXPECT_EQ(s.spec.compare(0, python.size(), python), 0) << s.spec;
      lines.push_back(s.name.substr(prefix.size()) + " " + s.spec.substr(python.size()));
    }
    return lines;
  }
};

TEST_F(EnvironmentsTest, FindsThemWhereImagesHaveThem) {
  Python("usr");
  Wheel(Site("usr"));
  for (const char* prefix : {"venv", "opt/train", "app/.venv", "home/me/venv", "opt/team/venv", "srv/api"}) {
    Venv(prefix, "usr");
    Wheel(Site(prefix));
  }
  EXPECT_THAT(Found(),
              ElementsAre("app_venv app/.venv/bin/python", "home_me_venv home/me/venv/bin/python",
                          "opt_team_venv opt/team/venv/bin/python", "opt_train opt/train/bin/python",
                          "srv_api srv/api/bin/python", "usr usr/bin/python3", "venv venv/bin/python"));
}

TEST_F(EnvironmentsTest, EnvironmentsOfCondaAreFoundBelowIt) {
  for (const char* prefix : {"opt/conda", "opt/conda/envs/train", "opt/conda/envs/plain"}) {
    Python(prefix);
    File(std::string(prefix) + "/conda-meta/history");
  }
  File("opt/conda/envs/train/lib/libcudnn.so.9");
  EXPECT_THAT(Found(), ElementsAre("opt_conda_envs_train opt/conda/envs/train/bin/python3"));
}

TEST_F(EnvironmentsTest, OneWithoutACudnnDoesNotCount) {
  Python("usr");
  Venv("opt/plain", "usr");
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(EnvironmentsTest, OneWithAnotherLibraryOfCudaOrDeviceCodeCounts) {
  Python("usr");
  Venv("opt/numba", "usr");
  File(Site("opt/numba") + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  Venv("opt/xgboost", "usr");
  Copy(CUDNN_CI_DEVICE_CODE, Site("opt/xgboost") + "/xgboost/lib/libxgboost.so");
  Python("opt/conda");
  File("opt/conda/conda-meta/history");
  File("opt/conda/lib/libcublas.so.12");
  Venv("opt/plain", "usr");
  File(Site("opt/plain") + "/numpy.libs/libopenblas.so");
  EXPECT_THAT(Found(), ElementsAre("opt_conda opt/conda/bin/python3", "opt_numba opt/numba/bin/python",
                                   "opt_xgboost opt/xgboost/bin/python"));
}

TEST_F(EnvironmentsTest, OneThatBorrowsACudnnAndBringsDeviceCodeCounts) {
  Python("usr/local");
  Wheel(Site("usr/local"));
  Venv("opt/brings", "usr/local", true);
  Copy(CUDNN_CI_DEVICE_CODE, Site("opt/brings") + "/a.so");
  EXPECT_THAT(Found(), ElementsAre("opt_brings opt/brings/bin/python", "usr_local usr/local/bin/python3"));
}

TEST_F(EnvironmentsTest, OneThatOnlyBorrowsAnothersIsNotJudgedTwice) {
  Python("usr/local");
  Wheel(Site("usr/local"));
  Venv("opt/borrows", "usr/local", true);
  Venv("opt/brings", "usr/local", true);
  Wheel(Site("opt/brings"));
  EXPECT_THAT(Found(), ElementsAre("opt_brings opt/brings/bin/python", "usr_local usr/local/bin/python3"));
}

TEST_F(EnvironmentsTest, VariablesLeadToOthers) {
  Python("usr");
  for (const char* prefix : {"data/a", "data/b", "data/c"}) {
    Venv(prefix, "usr");
    Wheel(Site(prefix));
  }
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_THAT(
      Found(
          {{"VIRTUAL_ENV", At("data/a")}, {"CONDA_PREFIX", At("data/b")}, {"PATH", "x:" + At("data/c/bin")}}),
      ElementsAre("data_a data/a/bin/python", "data_b data/b/bin/python", "data_c data/c/bin/python"));
}

TEST_F(EnvironmentsTest, NamesComeFromThePathAlone) {
  EXPECT_EQ(NameOfPrefix("/opt/venv"), "opt_venv");
  EXPECT_EQ(NameOfPrefix("/opt/My-Env.3"), "opt_my_env_3");
  EXPECT_EQ(NameOfPrefix("/"), "python");
  EXPECT_EQ(NameOfPrefix("/3.11"), "python_3_11");
  EXPECT_THAT(NameOfPrefix("/system"), ::testing::MatchesRegex("system_[0-9a-f]{8}"));
  EXPECT_LE(NameOfPrefix("/" + std::string(3000, 'x')).size(), 200u);
  EXPECT_NE(NameOfPrefix("/a/" + std::string(3000, 'x')), NameOfPrefix("/b/" + std::string(3000, 'x')));
}

TEST_F(EnvironmentsTest, TwoOfOneNameAreToldApartByTheirPaths) {
  Python("usr");
  for (const char* prefix : {"opt/a-b", "opt/a.b", "opt/c"}) {
    Venv(prefix, "usr");
    Wheel(Site(prefix));
  }
  std::vector<std::string> found = Found();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_THAT(found[0], ::testing::MatchesRegex("opt_a_b_[0-9a-f]{8} .*"));
  EXPECT_THAT(found[1], ::testing::MatchesRegex("opt_a_b_[0-9a-f]{8} .*"));
  EXPECT_EQ(found[2], "opt_c opt/c/bin/python");
  EXPECT_NE(found[0].substr(0, found[0].find(' ')), found[1].substr(0, found[1].find(' ')));
}

TEST_F(EnvironmentsTest, MoreThanAMatrixMayNameAreCutOffAndSaid) {
  Python("usr");
  for (int i = 0; i < 33; ++i) {
    Venv("opt/v" + std::to_string(i), "usr");
    Wheel(Site("opt/v" + std::to_string(i)));
  }
  const FoundEnvironments found = FindEnvironments({}, PackageNamesOf(ShippedKnowledge()), root_);
  EXPECT_EQ(found.subjects.size(), 31u);
  EXPECT_EQ(found.count, 33u);
}

// Looks as a user who is not root, in a process of its own, and compares what it finds, joined by commas.
void ExpectUnreadable(const std::string& root, const Variables& environment, bool usual_places,
                      const std::string& wanted) {
  const auto look = [&] {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) _exit(2);
    std::vector<std::string> below;
    for (const std::string& folder : UnreadableFolders(environment, usual_places, root))
      if (folder.starts_with(root + "/")) below.push_back(folder.substr(root.size() + 1));
    fprintf(stderr, "found: %s.", Join(below, ",").c_str());
    _exit(0);
  };
  EXPECT_EXIT(look(), testing::ExitedWithCode(0), "found: " + wanted + "\\.");
}

TEST_F(EnvironmentsTest, FoldersThatTheUserMayNotReadAreFound) {
  chmod(root_.c_str(), 0755);
  for (const char* folder : {"opt/venv/bin", "root/.venv/bin", "app/list", "app/enter", "deep/in/it"})
    Folder(folder);
  File("opt/key");
  for (const char* closed : {"opt/venv", "root", "opt/key", "deep/in"}) chmod(At(closed).c_str(), 0000);
  chmod(At("app/list").c_str(), 0444);
  chmod(At("app/enter").c_str(), 0111);
  ExpectUnreadable(root_, {}, true, "app/enter,app/list,opt/venv,root");
  ExpectUnreadable(root_, {}, false, "");
  const std::string path =
      At("root/.venv/bin") + ":" + At("app") + ":" + At("opt/key") + ":" + At("none") + ":relative";
  ExpectUnreadable(root_, {{"PATH", path}}, false, "root");
  ExpectUnreadable(root_, {{"LD_LIBRARY_PATH", At("deep/in/it")}}, false, "deep/in");
  ExpectUnreadable(root_, {{"VIRTUAL_ENV", At("opt/venv")}}, false, "opt/venv");
  for (const char* closed : {"opt/venv", "root", "app/list", "app/enter", "deep/in"})
    chmod(At(closed).c_str(), 0755);
}

}  // namespace
}  // namespace cudnn_ci
