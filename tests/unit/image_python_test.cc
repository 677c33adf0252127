// Which folders of packages an interpreter sees.
#include <gmock/gmock.h>

#include "golden_messages.h"
#include "image/contents/python_packages.h"
#include "subject_tree.h"

namespace cudnn_ci {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PythonPackagesTest : public SubjectTree {
 protected:
  PythonPackages Find(const std::string& interpreter, const Variables& environment = {}) {
    FolderReader reader;
    return FindPythonPackages(At(interpreter), environment, &reader);
  }
  std::vector<std::string> Folders(const std::string& interpreter, const Variables& environment = {}) {
    const PythonPackages python = Find(interpreter, environment);
    EXPECT_EQ(python.problem, "");
    return Inside(python.folders);
  }
};

TEST_F(PythonPackagesTest, InterpreterSeesThePackagesOfItsPrefixAndVersion) {
  Python("usr/local");
  Folder("usr/local/lib/python3.10/site-packages");
  Folder("usr/local/lib/python3.11/dist-packages");  // of Debian's interpreter, which is another one
  EXPECT_THAT(Folders("usr/local/bin/python3"), ElementsAre("usr/local/lib/python3.11/site-packages"));
  const PythonPackages python = Find("usr/local/bin/python3");
  EXPECT_EQ(python.prefix, At("usr/local"));
  EXPECT_EQ(python.executable, At("usr/local/bin/python3.11"));
}

TEST_F(PythonPackagesTest, LinkFromElsewhereLeadsToThePrefixOfTheInterpreter) {
  Python("opt/python");
  Link(At("opt/python/bin/python3"), "usr/bin/python3");
  EXPECT_THAT(Folders("usr/bin/python3"), ElementsAre(Site("opt/python")));
}

TEST_F(PythonPackagesTest, DebiansInterpreterHasDistPackagesInItsOwnOrder) {
  File("usr/bin/python3.11");
  Link("python3.11", "usr/bin/python3");
  Folder("usr/lib/python3/dist-packages");
  Folder("usr/local/lib/python3.11/dist-packages");
  Folder("usr/local/lib/python3.12/dist-packages");
  EXPECT_THAT(Folders("usr/bin/python3"),
              ElementsAre("usr/local/lib/python3.11/dist-packages", "usr/lib/python3/dist-packages"));
}

TEST_F(PythonPackagesTest, VirtualEnvironmentIsAloneUnlessItsFileSaysOtherwise) {
  Python("usr/local");
  Venv("opt/alone", "usr/local");
  Venv("opt/more", "usr/local", true);
  EXPECT_THAT(Folders("opt/alone/bin/python"), ElementsAre(Site("opt/alone")));
  EXPECT_EQ(Find("opt/alone/bin/python").prefix, At("opt/alone"));
  EXPECT_THAT(Folders("opt/more/bin/python"), ElementsAre(Site("opt/more"), Site("usr/local")));
}

TEST_F(PythonPackagesTest, VersionOfACopiedInterpreterComesFromItsFile) {
  Python("usr/local");
  for (const char* key : {"version", "version_info"}) {
    const std::string prefix = std::string("opt/") + key;
    File(prefix + "/bin/python");
    File(prefix + "/pyvenv.cfg", "Home = " + At("usr/local/bin") + "\r\n" + key +
                                     " = 3.11.2.final.0\nInclude-System-Site-Packages = False");
    Folder(Site(prefix));
    Folder(prefix + "/lib/python3.9/site-packages");
    EXPECT_THAT(Folders(prefix + "/bin/python"), ElementsAre(Site(prefix)));
  }
}

TEST_F(PythonPackagesTest, UnknownVersionMeansAllThatAreThere) {
  File("opt/odd/bin/python");
  Folder("opt/odd/lib/python3.9/site-packages");
  Folder("opt/odd/lib64/python3.12/site-packages");
  Folder("opt/odd/lib/python2.7/site-packages");
  EXPECT_THAT(Folders("opt/odd/bin/python"),
              ElementsAre("opt/odd/lib/python3.9/site-packages", "opt/odd/lib64/python3.12/site-packages"));
}

TEST_F(PythonPackagesTest, OneFolderByTwoWaysIsOne) {
  Python("opt/py");
  Link("lib", "opt/py/lib64");
  EXPECT_THAT(Folders("opt/py/bin/python3"), ElementsAre(Site("opt/py")));
}

TEST_F(PythonPackagesTest, PlainLinesOfPthFilesAreFolders) {
  Python("opt/py");
  Folder("srv/wheels");
  Folder(Site("opt/py") + "/beside");
  File(Site("opt/py") + "/b.pth",
       "# " + At("usr") + "\n\nimport os; os.system('true')\n" + At("srv/wheels") + "\r\n");
  File(Site("opt/py") + "/a.pth", "beside\n/nowhere\n");
  File(Site("opt/py") + "/c.txt", At("srv"));
  EXPECT_THAT(Folders("opt/py/bin/python3"),
              ElementsAre(Site("opt/py"), Site("opt/py") + "/beside", "srv/wheels"));
}

// As `uv run --with` writes it.
TEST_F(PythonPackagesTest, AFolderThatCodeOfAPthFileAddsIsOne) {
  Python("opt/py");
  Folder("srv/more");
  File("srv/more/x.pth", At("srv/wheels") + "\n");
  Folder("srv/wheels");
  File(Site("opt/py") + "/a.pth", "import site; site.addsitedir(\"" + At("srv/more") + "\")\n");
  File(Site("opt/py") + "/b.pth", "import site; site.addsitedir(\nimport site; site.addsitedir(name)\n");
  EXPECT_THAT(Folders("opt/py/bin/python3"), ElementsAre(Site("opt/py"), "srv/more", "srv/wheels"));
}

TEST_F(PythonPackagesTest, VariablesOfTheInterpreterCount) {
  Python("opt/py");
  Venv("opt/venv", "opt/py");
  Folder("srv/a");
  Folder(Site("home/.local"));
  const Variables both = {{"PYTHONPATH", At("srv/a") + "::relative"}, {"HOME", At("home")}};
  EXPECT_THAT(Folders("opt/py/bin/python3", both), ElementsAre("srv/a", Site("home/.local"), Site("opt/py")));
  EXPECT_THAT(Folders("opt/venv/bin/python", both), ElementsAre("srv/a", Site("opt/venv")))
      << "an environment sees no user's own packages";
  const Variables none = {{"PYTHONNOUSERSITE", "1"}, {"HOME", At("home")}};
  EXPECT_THAT(Folders("opt/py/bin/python3", none), ElementsAre(Site("opt/py")));
  const Variables base = {{"PYTHONUSERBASE", At("home/.local")}, {"HOME", "/nowhere"}};
  EXPECT_THAT(Folders("opt/py/bin/python3", base), ElementsAre(Site("home/.local"), Site("opt/py")));
}

TEST_F(PythonPackagesTest, MissingInterpreterIsNamedAndItsPackagesAreFoundAllTheSame) {
  Python("opt/py");
  Venv("opt/venv", "opt/py");
  std::filesystem::remove(At("opt/py/bin/python3.11"));
  const PythonPackages python = Find("opt/venv/bin/python");
  EXPECT_EQ(python.problem, At("opt/venv/bin/python") + " is a link to " + At("opt/py/bin/python3") +
                                ", which does not exist");
  EXPECT_THAT(Inside(python.folders), ElementsAre(Site("opt/venv")));
  EXPECT_EQ(python.executable, "");
  EXPECT_EQ(Find("opt/none/bin/python").problem, At("opt/none/bin/python") + ": no such file");
  GoldenMessages golden("image_files.txt", {{At(""), "FOLDER/"}});
  EXPECT_THAT(golden.Row("a folder", Find("opt/venv").problem), ::testing::StartsWith(At("opt/venv") + " "));
}

TEST_F(PythonPackagesTest, ScriptThatStartsAnInterpreterIsNone) {
  File("opt/shims/python", "#!/bin/sh\nexec pyenv exec python\n");
  const PythonPackages python = Find("opt/shims/python");
  GoldenMessages golden("image_files.txt", {{At(""), "FOLDER/"}});
  EXPECT_THAT(golden.Row("a script", python.problem), ::testing::StartsWith(At("opt/shims/python") + ": "));
  EXPECT_THAT(python.folders, IsEmpty());
}

}  // namespace
}  // namespace cudnn_ci
