// The ids of the findings of image.symbols, spelled once.
#ifndef CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_FINDINGS_H_
#define CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_FINDINGS_H_

namespace cudnn_ci {

inline constexpr char kLibraryMissingId[] = "library-missing";
inline constexpr char kLibraryOtherMajorId[] = "library-other-major";
inline constexpr char kLibraryDamagedId[] = "library-damaged";
inline constexpr char kSymbolMissingId[] = "symbol-missing";
inline constexpr char kSymbolVersionMissingId[] = "symbol-version-missing";
inline constexpr char kCxxAbiMismatchId[] = "cxx-abi-mismatch";
inline constexpr char kLibraryShadowedId[] = "library-shadowed";
inline constexpr char kLibraryTwoProvidersId[] = "library-two-providers";
inline constexpr char kSymbolsUndecidedId[] = "symbols-undecided";
inline constexpr char kLibraryUnusedUnresolvedId[] = "library-unused-unresolved";

}  // namespace cudnn_ci

#endif  // CUDNN_CI_PLUGINS_IMAGE_SYMBOLS_SYMBOLS_FINDINGS_H_
