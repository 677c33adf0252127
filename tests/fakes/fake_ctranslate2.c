/* What CTranslate2 has of CUDA's libraries: names that it opens when it first needs them, and words that are
 * none. */
const char* const kFakeCtranslate2Names[] = {"libcublas.so.99",  "Library libcudnn.so.98 is not found",
                                             "xlibcurand.so.",   "libcudnn.so.99",
                                             "libcudnn.so.99.1", "libcudart_static.a"};
