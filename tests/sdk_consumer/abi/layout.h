/* The layout of plugin.h, as layout.c finds it in the header it is compiled against. Ends with a null name.
 */
#ifndef CUDNN_CI_TESTS_SDK_CONSUMER_ABI_LAYOUT_H_
#define CUDNN_CI_TESTS_SDK_CONSUMER_ABI_LAYOUT_H_

#ifdef __cplusplus
extern "C" {
#endif

struct LayoutEntry {
  const char* name;
  long long offset; /* of a field; the value of an enumerator */
  long long size;   /* of a field */
};
extern const struct LayoutEntry cci_layout_frozen[];
extern const struct LayoutEntry cci_layout_today[];

#ifdef __cplusplus
}
#endif

#endif /* CUDNN_CI_TESTS_SDK_CONSUMER_ABI_LAYOUT_H_ */
