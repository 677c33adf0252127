// The lines that put a package right, and when there is none.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "common/install_line.h"
#include "common/library_path_line.h"
#include "image/loader/loader_config.h"
#include "scratch.h"

namespace cudnn_ci {
namespace {

namespace fs = std::filesystem;

const InstalledPackage kWheel = {Manager::kPip, "nvidia-cudnn-cu13", "9.19.0.56", "/opt/venv/bin/python"};
const InstalledPackage kDeb = {Manager::kApt, "libcudnn9-cuda-13", "9.19.0.56-1", ""};

TEST(InstallLine, PutsTheSameVersionBack) {
  EXPECT_EQ(ReinstallLine(kWheel),
            "RUN /opt/venv/bin/python -m pip install --force-reinstall --no-deps "
            "nvidia-cudnn-cu13==9.19.0.56");
  EXPECT_EQ(ReinstallLine(kDeb),
            "RUN apt-get update && apt-get install -y --reinstall libcudnn9-cuda-13=9.19.0.56-1");
  EXPECT_EQ(ReinstallLine({Manager::kApt, "libcudnn8", "8.9.7.29-1+cuda12.2", ""}),
            "RUN apt-get update && apt-get install -y --reinstall libcudnn8=8.9.7.29-1+cuda12.2");
}

TEST(InstallLine, TakesAReleaseThatIsNewHere) {
  EXPECT_EQ(FreshLine(kWheel, "8.*"), "RUN /opt/venv/bin/python -m pip install 'nvidia-cudnn-cu13==8.*'");
  EXPECT_EQ(FreshLine(kWheel, "8.9.2.26"),
            "RUN /opt/venv/bin/python -m pip install nvidia-cudnn-cu13==8.9.2.26");
  for (const char* none : {"", "*", "8;x", ".*"}) EXPECT_EQ(FreshLine(kWheel, none), "") << none;
  EXPECT_EQ(FreshLine(kDeb, "9.*"), "");
}

TEST(InstallLine, LinksAndShowsFoldersBehindIt) {
  EXPECT_EQ(LineWithLinks("RUN a", {"libx.so.1 /y/libx.so"}, {"/y", "/z_1"}),
            "RUN a && ln -s libx.so.1 /y/libx.so && printf '%s\\n' /y /z_1 >> "
            "/etc/ld.so.conf.d/cuda-python.conf && ldconfig");
  EXPECT_EQ(LineWithLinks("", {"libx.so.1 /y/libx.so"}, {}), "RUN ln -s libx.so.1 /y/libx.so");
  EXPECT_EQ(LineWithLinks("RUN a", {}, {}), "RUN a");
  EXPECT_EQ(LineWithLinks("RUN a", {"libx.so /y;/libx.so.1"}, {}), "") << "would have to be quoted";
  EXPECT_EQ(LineWithLinks("RUN a", {}, {"/y z"}), "") << "would have to be quoted";
}

TEST(InstallLine, TakesAnotherRelease) {
  EXPECT_EQ(ReleaseLine(kWheel, "9.20.0"),
            "RUN /opt/venv/bin/python -m pip install --no-deps 'nvidia-cudnn-cu13==9.20.0.*'");
  EXPECT_EQ(ReleaseLine(kDeb, "9.20.0"),
            "RUN apt-get update && apt-get install -y --allow-downgrades --allow-change-held-packages "
            "'libcudnn9-cuda-13=9.20.0.*'");
  EXPECT_EQ(ReleaseLine(kWheel, ""), "");
  EXPECT_EQ(ReleaseLine(kWheel, "10.1.0"), "") << "another major";
  EXPECT_EQ(ReleaseLine(kDeb, "10.1.0"), "") << "which another package has";
  const InstalledPackage eight = {Manager::kApt, "libcudnn8", "8.9.5.29-1", ""};
  EXPECT_NE(ReleaseLine(eight, "8.9.7"), "");
  EXPECT_EQ(ReleaseLine({Manager::kApt, "libcudnn8", "8.9.6.50-1+cuda11.8", ""}, "8.9.7"), "")
      << "the highest of it may be for CUDA 12";
  InstalledPackage pinned = kDeb;
  pinned.pinned = true;
  EXPECT_EQ(ReleaseLine(pinned, "9.20.0"), "");
  EXPECT_EQ(ReinstallLine(pinned), ReinstallLine(kDeb));
}

TEST(InstallLine, TakesWhatARangeWants) {
  EXPECT_EQ(RangeLine(kWheel, ">=9.20 <10"),
            "RUN /opt/venv/bin/python -m pip install --no-deps 'nvidia-cudnn-cu13>=9.20,<10'");
  EXPECT_EQ(RangeLine(kDeb, ">=9.20 <10"), ReleaseLine(kDeb, "9.20"));
  EXPECT_EQ(RangeLine(kDeb, ">=8.9 <9"), "") << "another package has that major";
  EXPECT_EQ(RangeLine(kDeb, "<9.10"), "");
  EXPECT_EQ(RangeLine(kDeb, ">=9"), "");
  EXPECT_EQ(RangeLine({Manager::kApt, "libcudnn8", "8.9.6.50-1+cuda11.8", ""}, ">=8.9.7 <9"), "");
  for (const char* range : {"", "=9.20", "<=9.20", ">9.20", "9.20", ">=", ">=9.x", ">=9.20 $(reboot)"})
    EXPECT_EQ(RangeLine(kWheel, range), "") << range;
  EXPECT_EQ(RangeLine(kWheel, ">9.12 <10"), "") << "9.12.0.1 is a part of it there";
  for (const char* range :
       {">=8.9 <9", ">=8.9 <10", ">=9.20", ">=9.20 <11", ">=10.0 <11", "<9", "<9.0", "<10.1"})
    EXPECT_EQ(RangeLine(kWheel, range), "") << range << ": another major";
  EXPECT_NE(RangeLine(kWheel, "<9.10"), "");
  EXPECT_NE(RangeLine(kWheel, ">=9 <9.10"), "");
}

TEST(InstallLine, TakesOutWhatWroteIntoTheSameFolder) {
  EXPECT_EQ(ReplaceLine(kWheel, {"nvidia-cudnn-cu12"}),
            "RUN /opt/venv/bin/python -m pip uninstall -y nvidia-cudnn-cu13 nvidia-cudnn-cu12 && "
            "/opt/venv/bin/python -m pip install --no-deps nvidia-cudnn-cu13==9.19.0.56");
  EXPECT_EQ(ReplaceLine(kWheel, {}),
            "RUN /opt/venv/bin/python -m pip install --no-deps nvidia-cudnn-cu13==9.19.0.56");
  EXPECT_EQ(ReplaceLine(kWheel, {"a b"}), "");
  EXPECT_EQ(ReplaceLine(kDeb, {}), "");
}

// A name that would have to be quoted comes from somebody who is not to be trusted.
TEST(InstallLine, IsNoneForWhatIsNotKnownOrWouldHaveToBeQuoted) {
  EXPECT_EQ(ReinstallLine({}), "");
  InstalledPackage package = kWheel;
  for (const char* python :
       {"", "python", "/opt/my venv/bin/python", "/opt/$(reboot)/python", "/opt/'/python"}) {
    package.python = python;
    EXPECT_EQ(ReinstallLine(package), "") << python;
  }
  for (const char* name : {"", "-r", "a;b", "a b", "a\nb", "a'b", "a$b"}) {
    EXPECT_EQ(ReinstallLine({Manager::kApt, name, "1.0", ""}), "") << name;
  }
  for (const char* version : {"", "x", "1 2", "1;2", "1'", "1`", "1!2"})
    EXPECT_EQ(ReinstallLine({Manager::kApt, "a", version, ""}), "") << version;
  EXPECT_EQ(EnvironmentLine("A", "/a:/b"), "ENV A=/a:/b");
  EXPECT_EQ(EnvironmentLine("A", ""), "ENV A=");
  for (const char* value : {"/a b", "/$A", "/'", "/\"", "/a\\b", "/a\nb"})
    EXPECT_EQ(EnvironmentLine("A", value), "") << value;
}

class PythonOfTest : public ::testing::Test {
 protected:
  void Put(const std::string& path) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << "x";
  }
  std::string Of(const std::string& site) const { return PythonOf(site, root_); }
  const Scratch scratch_;
  const std::string root_ = scratch_.path();
};

TEST_F(PythonOfTest, AVirtualEnvironmentHasOne) {
  const std::string site = "/opt/venv/lib/python3.11/site-packages";
  Put("/opt/venv/pyvenv.cfg");
  Put("/opt/venv/bin/python");
  Put(site + "/numpy/__init__.py");
  EXPECT_EQ(Of(site), "") << "without pip, as uv makes them";
  Put(site + "/pip/__init__.py");
  EXPECT_EQ(Of(site), "/opt/venv/bin/python");
  EXPECT_EQ(Of("/opt/venv/lib/python3.11/elsewhere"), "");
  EXPECT_EQ(Of("/opt/venv/site-packages"), "");
  EXPECT_EQ(Of(""), "");
}

TEST_F(PythonOfTest, ElsewhereItIsTheOneOfTheRelease) {
  const std::string site = "/usr/local/lib/python3.11/site-packages";
  Put(site + "/pip/__init__.py");
  Put("/usr/local/bin/python");
  EXPECT_EQ(Of(site), "") << "which may be another";
  Put("/usr/local/bin/python3.11");
  EXPECT_EQ(Of(site), "/usr/local/bin/python3.11");
  Put("/usr/local/lib/python3.11/EXTERNALLY-MANAGED");
  EXPECT_EQ(Of(site), "");
}

TEST_F(PythonOfTest, DebiansHasItsOwnFolder) {
  const std::string site = "/usr/local/lib/python3.10/dist-packages";
  Put("/usr/bin/python3.10");
  EXPECT_EQ(Of(site), "");
  Put("/usr/lib/python3/dist-packages/pip/__init__.py");
  EXPECT_EQ(Of(site), "/usr/bin/python3.10");
  EXPECT_EQ(Of("/usr/lib/python3/dist-packages"), "") << "what apt has installed is apt's";
  Put("/usr/lib/python3.10/EXTERNALLY-MANAGED");
  EXPECT_EQ(Of(site), "");
}

class LdconfigLineTest : public PythonOfTest {};

TEST_F(LdconfigLineTest, IsSaidWhereTheConfigurationNamesTheFolder) {
  const std::vector<std::string> names = {"libother.so.1", "libmade.so.9"};
  Put("/sbin/ldconfig");
  fs::create_directories(root_ + "/etc/ld.so.conf.d");
  fs::create_directories(root_ + "/opt/made");
  std::ofstream(root_ + "/etc/ld.so.conf") << "include /etc/ld.so.conf.d/*.conf\n";
  std::ofstream(root_ + "/etc/ld.so.conf.d/made.conf") << "# made\n/nowhere\n/opt/made # here\n";
  EXPECT_EQ(LdconfigLine(names, root_), "");
  std::ofstream(root_ + "/opt/made/libmade.so.9") << "no library";
  EXPECT_EQ(LdconfigLine(names, root_), "") << "which would not be found all the same";
  fs::copy_file(CUDNN_CI_RUNPATH_FILE, root_ + "/opt/made/libmade.so.9",
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(LdconfigLine(names, root_), "RUN ldconfig");
  EXPECT_EQ(LdconfigLine({"libother.so.1"}, root_), "");
  std::ofstream(root_ + "/etc/ld.so.conf") << "/opt/other\n";
  EXPECT_EQ(LdconfigLine(names, root_), "") << "nobody reads it";
}

class LibraryPathLineTest : public ::testing::Test {
 protected:
  ~LibraryPathLineTest() override { unsetenv("LD_LIBRARY_PATH"); }
  std::string Folder(const std::string& name, const std::vector<std::string>& files) const {
    std::string folder = root_ + "/" + name;
    fs::create_directories(folder);
    for (const std::string& file : files) std::ofstream(folder + "/" + file) << "x";
    return folder;
  }
  static std::string Line(const std::string& path, const std::string& own,
                          const std::vector<std::string>& folders = {}) {
    setenv("LD_LIBRARY_PATH", path.c_str(), 1);
    return LibraryPathLine({"libcudnn.so.9", "libcudnn_ops.so.9"}, own, folders);
  }
  const Scratch scratch_;
  const std::string root_ = fs::canonical(scratch_.path()).string();
};

TEST_F(LibraryPathLineTest, LeavesTheEntriesThatHaveNoneOfTheFiles) {
  const std::string own = Folder("own", {"libcudnn.so.9"}), other = Folder("other", {"libcudnn_ops.so.9"}),
                    more = Folder("more", {"libmore.so"});
  EXPECT_EQ(Line(other + ":" + more + ":" + own, own), "ENV LD_LIBRARY_PATH=" + more + ":" + own);
  EXPECT_EQ(Line(other, own), "ENV LD_LIBRARY_PATH=");
  EXPECT_EQ(Line(more + ":" + own, own), "") << "nothing is to go";
  EXPECT_EQ(Line("", own), "");
  EXPECT_EQ(Line(own + ":" + other + ":" + more, own, {own}), "ENV LD_LIBRARY_PATH=" + more)
      << "the subject's own folders are not the user's";
}

TEST_F(LibraryPathLineTest, TakesNothingAwayThatMayBeNeeded) {
  const std::string other = Folder("other", {"libcudnn.so.9", "libcublas.so.13"});
  EXPECT_EQ(Line(other, "/nowhere"), "");
  const std::string cudnn = Folder("cudnn", {"libcudnn.so.9"});
  EXPECT_EQ(Line(cudnn + ":" + other, "/nowhere"), "");
  EXPECT_EQ(Line(cudnn + ":/a b", "/nowhere"), "") << "which would have to be quoted";
}

}  // namespace
}  // namespace cudnn_ci
