/* Launches that are recorded into CUDA graphs, of the fake driver: streams, and graphs whose nodes are names.
 * The fake cuDNN says what it launches (FakeCudaRecord). The fake of an older driver is made without this
 * file. FAKE_CUDA_FAULT counts here, too.
 */
#include <cuda.h>

#include "fake_env.h"

#define CALL() FAKE_CALL("FAKE_CUDA_FAULT", CUresult)

enum { kStreams = 4, kMostLaunches = 80 };

struct Stream {
  int recording, broken, count;
  char names[kMostLaunches][300];
};
static struct Stream streams[kStreams];

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  static int made;
  (void)flags;
  CALL();
  *stream = (CUstream)&streams[made++ % kStreams];
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  struct Stream* s = (struct Stream*)stream;
  CALL();
  if (!s || mode != CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  if (s->recording) return CUDA_ERROR_ILLEGAL_STATE;
  s->recording = 1, s->broken = 0, s->count = 0;
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  struct Stream* s = (struct Stream*)stream;
  *graph = NULL;
  if (!s || !s->recording) return CUDA_ERROR_ILLEGAL_STATE;
  s->recording = 0;
  CALL();
  if (s->broken) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  *graph = (CUgraph)s;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  CALL();
  return graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  struct Stream* s = (struct Stream*)graph;
  CALL();
  size_t given = 0;
  for (; given < *count && given < (size_t)s->count; ++given) nodes[given] = (CUgraphNode)s->names[given];
  *count = given;
  return CUDA_SUCCESS;
}

/* What is called "memset" or "graph" is such a node, and a kernel called "late ..." has no function yet. */
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  const char* name = (const char*)node;
  CALL();
  *type = strcmp(name, "memset") == 0  ? CU_GRAPH_NODE_TYPE_MEMSET
          : strcmp(name, "graph") == 0 ? CU_GRAPH_NODE_TYPE_GRAPH
                                       : CU_GRAPH_NODE_TYPE_KERNEL;
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* params) {
  const int late = strncmp((const char*)node, "late ", 5) == 0;
  CALL();
  memset(params, 0, sizeof *params);
  params->func = late ? NULL : (CUfunction)node;
  params->kern = late ? (CUkernel)((char*)node + 5) : NULL;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  CALL();
  *name = (const char*)function;
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  CALL();
  *name = (const char*)kernel;
  return CUDA_SUCCESS;
}

/* For the fake cuDNN and for tests. Whether a stream is recorded; what is launched in it; a call that ends
 * the recording. */
int FakeCudaRecording(const void* stream);
int FakeCudaRecording(const void* stream) { return stream && ((const struct Stream*)stream)->recording; }
void FakeCudaRecord(void* stream, const char* kernel);
void FakeCudaRecord(void* stream, const char* kernel) {
  struct Stream* s = stream;
  if (s->count < kMostLaunches) snprintf(s->names[s->count++], sizeof s->names[0], "%s", kernel);
}
void FakeCudaBreakRecording(void* stream);
void FakeCudaBreakRecording(void* stream) { ((struct Stream*)stream)->broken = 1; }
