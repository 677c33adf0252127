// Reads what must be known of a shared library or a program before the loader maps it: mapping a file
// whose end is missing kills the process with SIGBUS, which no error handling catches. Reads with
// pread, never maps. Knows nothing about CUDA. 64-bit ELF of the host's byte order only. For harness and
// plugins alike.
#ifndef CUDNN_CI_IMAGE_ELF_ELF_FILE_H_
#define CUDNN_CI_IMAGE_ELF_ELF_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_ci {

// The headers of one shared library. A value: holds no descriptor. What it needs is read when it is first
// asked for, once for all copies. Any thread.
class ElfFile {
 public:
  enum class Kind {
    kUnreadable,  // cannot be opened or read: error()
    kNotElf,      // opened, but no ELF header: empty, text, a git-lfs pointer
    kForeign,     // ELF of another word size, byte order or machine: the loader passes over it
    kNative       // what this process could load
  };

  explicit ElfFile(const std::string& path);

  Kind kind() const { return kind_; }
  const std::string& path() const { return path_; }
  // Why the file cannot be used, with path and sizes; empty for a native file that is complete.
  const std::string& error() const { return error_; }
  // Bytes the file has, and bytes its program and section headers say it needs. Format:
  // https://refspecs.linuxfoundation.org/elf/gabi4+/contents.html
  uint64_t file_size() const { return file_size_; }
  uint64_t required_size() const { return required_size_; }
  bool truncated() const { return kind_ == Kind::kNative && file_size_ < required_size_; }
  bool loadable() const { return kind_ == Kind::kNative && !truncated(); }

  // "aarch64" of a 64-bit file for another processor; empty of every other file.
  const std::string& OtherMachine() const { return other_machine_; }

  // DT_NEEDED, in the file's order; empty if the file cannot be loaded as it is.
  std::vector<std::string> Needed() const;
  // DT_SONAME; empty if the file has none or cannot be loaded as it is.
  std::string Soname() const;
  // DT_RPATH or DT_RUNPATH (which hides the former), split, $ORIGIN replaced by the file's directory.
  std::vector<std::string> RunPath() const;
  // True if RunPath is the file's DT_RPATH, which the loader searches before LD_LIBRARY_PATH, and for what
  // the file's own libraries need too; DT_RUNPATH comes behind and is for the file alone (ld.so(8)).
  bool RunPathIsFirst() const;
  // The value of a defined 4-byte object in .dynsym, such as cuDNN's "cudnn_graph_version". Empty if
  // there is none or the file is truncated.
  std::optional<uint32_t> ReadObject(const std::string& symbol) const;

 private:
  // What the dynamic section says by strings, within elf_bounds.h.
  struct Dynamic;
  struct LazyDynamic;
  void ReadHeaders();
  Dynamic ReadDynamic() const;
  const Dynamic& dynamic() const;
  void Require(uint64_t offset, uint64_t size);
  std::string path_, error_, other_machine_;
  Kind kind_ = Kind::kUnreadable;
  uint64_t file_size_ = 0, required_size_ = 0;
  std::shared_ptr<LazyDynamic> dynamic_;
};

// "x86-64": the processor that this program is built for.
std::string ThisMachine();

}  // namespace cudnn_ci

#endif  // CUDNN_CI_IMAGE_ELF_ELF_FILE_H_
