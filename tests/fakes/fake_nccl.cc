// An NCCL that computes real collectives in memory that is the host's, as the fake driver's is, or errs in
// them. Ranks of several processes meet in a folder: each writes what it sends, and reads what the others
// sent. All calls are done when they return, those of a rank that waits excepted.
//
//   FAKE_NCCL_FAULT     "call:FUNCTION:N:RESULT", see fake_env.h, a fault of fake_nccl_faults.cc, or
//       "count", "identity": a communicator says that it has one rank more, or that it is the next one
//       "goes_on", "goes_on_later": what was begun never ends, from the first call on or behind it
//       "error_after_success": an error comes behind a call that succeeded
//       "never_joins", "never_calls": a rank does not come to the communicator, or to a call
//       "dies", "exits", "stops", "stands": it ends, is stopped or does not return at a call
//       "kills_leader", "terminates_leader": it sends its parent a signal
//   FAKE_NCCL_AT        the rank that has the fault (0)
//   FAKE_NCCL_LOST      the rank whose part is lost, or that does not come (the last one)
//   FAKE_NCCL_SOUND_BY  a variable that, when it is 1, leaves the library without its fault
//   FAKE_NCCL_SAYS      its version as ncclGetVersion has it, 23007
//   FAKE_NCCL_HOSTS     1: ranks are on hosts of their own
//   FAKE_NCCL_PIDS      a file to which each rank adds its process's id
#include "fake_nccl.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

#include "fake_env.h"

#define CALL() FAKE_CALL("FAKE_NCCL_FAULT", int)

using fake_nccl::Bytes;
using fake_nccl::Collective;
using fake_nccl::IsFault;

// What real ones say of themselves in their data.
extern const char fake_nccl_text[];
const char fake_nccl_text[] __attribute__((used)) = "NCCL version " FAKE_NCCL_VERSION;

// What a communicator is; opaque to its users.
struct ncclComm {
  int rank = 0, ranks = 1, calls = 0;
  int root = -1;  // the connection to who made the unique id
};

namespace {

constexpr int kSystemError = 2, kInvalidArgument = 4, kInvalidUsage = 5, kRemoteError = 6, kInProgress = 7;

struct Transfer {
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t bytes = 0;
};
int g_depth = 0;
ncclComm* g_comm = nullptr;
std::vector<Transfer> g_transfers;  // of the group that is open, by peer

int Lost(const ncclComm* comm) { return static_cast<int>(FakeNumber("FAKE_NCCL_LOST", comm->ranks - 1)); }

bool Send(int fd, const void* from, std::size_t bytes) {
  const char* const begin = static_cast<const char*>(from);
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t n = send(fd, begin + at, bytes - at, MSG_NOSIGNAL);
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

bool Read(int fd, void* to, std::size_t bytes) {
  return bytes == 0 || recv(fd, to, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}

bool SendBlock(int fd, const Bytes& block) {
  const std::uint64_t size = block.size();
  return Send(fd, &size, sizeof size) && Send(fd, block.data(), block.size());
}

bool ReadBlock(int fd, Bytes* block) {
  std::uint64_t size = 0;
  if (!Read(fd, &size, sizeof size)) return false;
  block->resize(size);
  return Read(fd, block->data(), block->size());
}

// Until a rank leaves: then all are left. Rank 0, with whose process this thread ends, is served last.
void PassOn(const std::vector<int>& ranks) {
  std::vector<Bytes> sent(ranks.size());
  for (;;) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
      if (!ReadBlock(ranks[rank], &sent[rank])) return;
    for (std::size_t rank = ranks.size(); rank-- > 0;)
      for (const Bytes& block : sent)
        if (!SendBlock(ranks[rank], block)) return;
  }
}

// Of one communicator: each rank connects and says which it is, and how many there are.
void Root(int listener) {
  std::vector<int> ranks(1, -1);
  for (std::size_t there = 0; there < ranks.size(); ++there) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    int which[2];
    if (fd < 0 || !Read(fd, which, sizeof which)) abort();
    const int now = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
    ranks.resize(static_cast<std::size_t>(which[1]), -1);
    ranks[static_cast<std::size_t>(which[0])] = fd;
  }
  PassOn(ranks);
  for (const int fd : ranks) close(fd);
  close(listener);
}

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET, address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool Join(ncclComm* comm, const char* id) {
  const sockaddr_in root = Loopback(atoi(id));
  comm->root = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int which[2] = {comm->rank, comm->ranks}, now = 1;
  setsockopt(comm->root, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  return connect(comm->root, reinterpret_cast<const sockaddr*>(&root), sizeof root) == 0 &&
         Send(comm->root, which, sizeof which);
}

// What all ranks sent in this call, by rank. Waits for them; empty: one is gone.
std::vector<Bytes> Exchange(ncclComm* comm, const Bytes& own) {
  if (comm->ranks == 1) return {own};
  ++comm->calls;
  if (!SendBlock(comm->root, own)) return {};
  std::vector<Bytes> all(static_cast<std::size_t>(comm->ranks));
  for (Bytes& block : all)
    if (!ReadBlock(comm->root, &block)) return {};
  return all;
}

void DoNotComeIf(const char* fault, const ncclComm* comm) {
  while (IsFault(fault) && comm->ranks > 1 && comm->rank == Lost(comm)) sleep(1);
}

void EndIf(const ncclComm* comm) {
  if (comm->rank != Lost(comm) || comm->ranks == 1) return;
  if (IsFault("dies")) raise(SIGKILL);
  if (IsFault("stops")) raise(SIGSTOP);
  while (IsFault("stands")) pause();
  if (IsFault("exits")) _exit(3);
  if (IsFault("kills_leader")) kill(getppid(), SIGKILL);
  if (IsFault("terminates_leader")) kill(getppid(), SIGTERM);
}

// A rank has no channel to the harness.
void NoteProcess() {
  int type = 0;
  socklen_t size = sizeof type;
  if (getsockopt(3, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET) abort();
  const char* file = getenv("FAKE_NCCL_PIDS");
  if (!file) return;
  const std::string line = std::to_string(getpid()) + "\n";
  const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (write(fd, line.data(), line.size()) < 0) abort();
  close(fd);
}

int Run(Collective c, const void* send, void* receive, ncclComm* comm) {
  fake_nccl::ChooseFault(c.count);
  if (!comm || (!send && c.Sends() > 0) || (!receive && c.Receives() > 0)) return kInvalidArgument;
  DoNotComeIf("never_calls", comm);
  EndIf(comm);
  c.lost = Lost(comm);
  const auto* const bytes = static_cast<const unsigned char*>(send);
  const std::size_t sent = c.Sends() * c.size();
  const std::vector<Bytes> all = Exchange(comm, sent > 0 ? Bytes(bytes, bytes + sent) : Bytes());
  if (all.empty()) return kRemoteError;
  auto* const to = static_cast<unsigned char*>(receive);
  const bool errs = comm->rank == FakeNumber("FAKE_NCCL_AT", 0);
  return fake_nccl::Deliver(c, all, errs, const_cast<unsigned char*>(bytes), to);
}

Collective Make(Collective::Kind kind, std::size_t count, int type, int op, int root, const ncclComm* comm) {
  Collective c;
  c.kind = kind, c.count = count, c.type = fake_nccl::TypeOf(type), c.op = op, c.root = root;
  if (comm) c.rank = comm->rank, c.ranks = comm->ranks;
  return c;
}

#define RUN(kind, op, root)                              \
  CALL();                                                \
  if (!fake_nccl::TypeOf(type)) return kInvalidArgument; \
  return Run(Make(Collective::kind, count, type, op, root, comm), send, receive, comm)

}  // namespace

extern "C" {

int ncclGetVersion(int* version) {
  CALL();
  fake_nccl::ChooseFault(0);
  *version = static_cast<int>(FakeNumber("FAKE_NCCL_SAYS", FAKE_NCCL_CODE));
  return 0;
}

const char* ncclGetErrorString(int result) { return result == 2 ? "unhandled system error" : "other error"; }
const char* ncclGetLastError(ncclComm*) { return "the fake's last words"; }

int ncclGetUniqueId(cudnn_ci::NcclUniqueId* id) {
  CALL();
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (bind(listener, any, size) != 0 || listen(listener, SOMAXCONN) != 0) return kSystemError;
  getsockname(listener, any, &size);
  std::memset(id, 0, sizeof *id);
  std::snprintf(id->bytes, sizeof id->bytes, "%d", ntohs(address.sin_port));
  std::thread(Root, listener).detach();
  return 0;
}

int ncclCommInitRank(ncclComm** comm, int ranks, cudnn_ci::NcclUniqueId id, int rank) {
  CALL();
  // Real ones refuse a second rank on a GPU unless they are told that it is meant.
  const bool one_gpu = FakeNumber("FAKE_DEVICE_COUNT", 1) == 1 && !FakeIs("FAKE_NCCL_HOSTS", "1");
  if (ranks > 1 && one_gpu && !FakeIs("NCCL_MULTI_RANK_GPU_ENABLE", "1")) return kInvalidUsage;
  if (ranks > 1) NoteProcess();
  *comm = new ncclComm{rank, ranks};
  DoNotComeIf("never_joins", *comm);
  return ranks > 1 && (!Join(*comm, id.bytes) || Exchange(*comm, {}).empty()) ? kRemoteError : 0;
}

#ifndef FAKE_NCCL_OLD
int ncclCommInitRankConfig(ncclComm** comm, int ranks, cudnn_ci::NcclUniqueId id, int rank,
                           cudnn_ci::NcclConfig* config) {
  CALL();
  if (config->size != 24 || config->magic != 0xcafebeef || config->version != 21400) return kInvalidArgument;
  return ncclCommInitRank(comm, ranks, id, rank);
}

int ncclCommSplit(ncclComm* comm, int, int, ncclComm** part, void*) {
  CALL();
  *part = new ncclComm(*comm);
  return 0;
}

int ncclCommFinalize(ncclComm*) {
  CALL();
  return 0;
}
#endif

int ncclCommDestroy(ncclComm* comm) {
  CALL();
  if (comm->root >= 0) close(comm->root);
  delete comm;
  return 0;
}

int ncclCommAbort(ncclComm* comm) {
  CALL();
  return ncclCommDestroy(comm);
}

int ncclCommCount(const ncclComm* comm, int* count) {
  CALL();
  *count = comm->ranks + (IsFault("count") ? 1 : 0);
  return 0;
}

int ncclCommUserRank(const ncclComm* comm, int* rank) {
  CALL();
  *rank = comm->rank + (IsFault("identity") ? 1 : 0);
  return 0;
}

int ncclCommGetAsyncError(const ncclComm* comm, int* state) {
  CALL();
  const bool at = comm && comm->rank == FakeNumber("FAKE_NCCL_AT", 0);
  *state = IsFault("goes_on") && at ? kInProgress : 0;
  if (IsFault("goes_on_later") && at && comm->calls > 1) *state = kInProgress;
  if (IsFault("error_after_success") && at && comm->calls > 1) *state = 6;
  return 0;
}

int ncclAllReduce(const void* send, void* receive, std::size_t count, int type, int op, ncclComm* comm,
                  void*) {
  RUN(kAllReduce, op, 0);
}
int ncclReduce(const void* send, void* receive, std::size_t count, int type, int op, int root, ncclComm* comm,
               void*) {
  RUN(kReduce, op, root);
}
int ncclReduceScatter(const void* send, void* receive, std::size_t count, int type, int op, ncclComm* comm,
                      void*) {
  RUN(kReduceScatter, op, 0);
}
int ncclAllGather(const void* send, void* receive, std::size_t count, int type, ncclComm* comm, void*) {
  RUN(kAllGather, -1, 0);
}
int ncclBroadcast(const void* send, void* receive, std::size_t count, int type, int root, ncclComm* comm,
                  void*) {
  RUN(kBroadcast, -1, root);
}
#ifndef FAKE_NCCL_OLD
int ncclAlltoAll(const void* send, void* receive, std::size_t count, int type, ncclComm* comm, void*) {
  RUN(kAllToAll, -1, 0);
}
int ncclGather(const void* send, void* receive, std::size_t count, int type, int root, ncclComm* comm,
               void*) {
  RUN(kGather, -1, root);
}
int ncclScatter(const void* send, void* receive, std::size_t count, int type, int root, ncclComm* comm,
                void*) {
  RUN(kScatter, -1, root);
}
#endif

int ncclGroupStart() {
  CALL();
  ++g_depth;
  return 0;
}

int ncclSend(const void* send, std::size_t count, int type, int peer, ncclComm* comm, void*) {
  CALL();
  if (g_depth == 0 || !fake_nccl::TypeOf(type)) return kInvalidUsage;
  g_comm = comm;
  g_transfers.resize(static_cast<std::size_t>(comm->ranks));
  g_transfers[static_cast<std::size_t>(peer)].send = send;
  g_transfers[static_cast<std::size_t>(peer)].bytes = count * fake_nccl::TypeOf(type)->size;
  return 0;
}

int ncclRecv(void* receive, std::size_t count, int type, int peer, ncclComm* comm, void*) {
  CALL();
  if (g_depth == 0 || count * fake_nccl::TypeOf(type)->size != g_transfers.at(peer).bytes || comm != g_comm)
    return kInvalidUsage;
  g_transfers[static_cast<std::size_t>(peer)].receive = receive;
  return 0;
}

// A group is an all-to-all of bytes: what goes to each peer lies one behind the other.
int ncclGroupEnd() {
  CALL();
  if (--g_depth > 0 || g_transfers.empty()) return 0;
  const std::vector<Transfer> transfers = std::move(g_transfers);
  g_transfers.clear();
  const std::size_t each = transfers[0].bytes;
  return Run(Make(Collective::kAllToAll, each, 0, -1, 0, g_comm), transfers[0].send, transfers[0].receive,
             g_comm);
}

}  // extern "C"
