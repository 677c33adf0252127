#include "worker/plugin_call.h"

#include <setjmp.h>
#include <unwind.h>

#include <exception>

#if defined(_LIBCPP_VERSION)
// A plugin brings the C++ runtime that it was built with, mostly GCC's, and its unwinder would walk over our
// frames and call our personality routine with a context that only the unwinder's own functions can read. So
// one frame lies between whose personality routine reads nothing: that it is called at all says that an
// exception has left the plugin.
extern "C" {
__attribute__((visibility("hidden"))) void cudnn_ci_call_plugin(void (*function)(const cci_host*, cci_case*),
                                                                const cci_host* host, cci_case* c);
__attribute__((visibility("hidden"), used)) _Unwind_Reason_Code cudnn_ci_plugin_personality(
    int version, _Unwind_Action actions, uint64_t exception_class, _Unwind_Exception* exception,
    _Unwind_Context* context);
}

// DW_EH_PE_pcrel | DW_EH_PE_sdata4 is 0x1b.
#if defined(__x86_64__)
asm(R"(
  .text
  .hidden cudnn_ci_call_plugin
  .globl cudnn_ci_call_plugin
  .type cudnn_ci_call_plugin, @function
cudnn_ci_call_plugin:
  .cfi_startproc
  .cfi_personality 0x1b, cudnn_ci_plugin_personality
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  callq *%rax
  popq %rbp
  .cfi_def_cfa %rsp, 8
  ret
  .cfi_endproc
  .size cudnn_ci_call_plugin, . - cudnn_ci_call_plugin
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .hidden cudnn_ci_call_plugin
  .globl cudnn_ci_call_plugin
  .type cudnn_ci_call_plugin, %function
cudnn_ci_call_plugin:
  .cfi_startproc
  .cfi_personality 0x1b, cudnn_ci_plugin_personality
  stp x29, x30, [sp, #-16]!
  .cfi_def_cfa_offset 16
  .cfi_offset x29, -16
  .cfi_offset x30, -8
  mov x29, sp
  mov x9, x0
  mov x0, x1
  mov x1, x2
  blr x9
  ldp x29, x30, [sp], #16
  .cfi_def_cfa sp, 0
  .cfi_restore x29
  .cfi_restore x30
  ret
  .cfi_endproc
  .size cudnn_ci_call_plugin, . - cudnn_ci_call_plugin
)");
#else
#error "cudnn_ci_call_plugin is not written for this processor"
#endif
#endif

namespace cudnn_ci::worker {

#if defined(_LIBCPP_VERSION)
namespace {
jmp_buf g_caller;
}

std::optional<std::string> ExceptionOf(void (*function)(const cci_host*, cci_case*), const cci_host* host,
                                       cci_case* c) {
  if (setjmp(g_caller) != 0) return "";
  cudnn_ci_call_plugin(function, host, c);
  return std::nullopt;
}
#else
// GCC's runtime here and in the plugin: what ours catches it can read.
std::optional<std::string> ExceptionOf(void (*function)(const cci_host*, cci_case*), const cci_host* host,
                                       cci_case* c) {
  try {
    function(host, c);
    return std::nullopt;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "";
  }
}
#endif

}  // namespace cudnn_ci::worker

#if defined(_LIBCPP_VERSION)
_Unwind_Reason_Code cudnn_ci_plugin_personality(int, _Unwind_Action, uint64_t, _Unwind_Exception*,
                                                _Unwind_Context*) {
  longjmp(cudnn_ci::worker::g_caller, 1);
}
#endif
