// The ids of the findings of image.symbols, spelled once.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_FINDINGS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_FINDINGS_H_

namespace cudnn_ci {

inline constexpr char kLibraryMissing[] = "library-missing";
inline constexpr char kLibraryOtherMajor[] = "library-other-major";
inline constexpr char kLibraryDamaged[] = "library-damaged";
inline constexpr char kSymbolMissing[] = "symbol-missing";
inline constexpr char kSymbolVersionMissing[] = "symbol-version-missing";
inline constexpr char kCxxAbiMismatch[] = "cxx-abi-mismatch";
inline constexpr char kLibraryShadowed[] = "library-shadowed";
inline constexpr char kLibraryTwoProviders[] = "library-two-providers";
inline constexpr char kSymbolsUndecided[] = "symbols-undecided";
inline constexpr char kLibraryUnusedUnresolved[] = "library-unused-unresolved";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_FINDINGS_H_
