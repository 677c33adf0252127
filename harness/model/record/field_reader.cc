#include "model/record/field_reader.h"

namespace cudnn_ci {
namespace {

std::string TextOf(const FieldPlace& place) {
  std::string key = CleanLine(place.key, 60);
  if (!place.outer) return key;
  return TextOf(*place.outer) + (key == "[]" ? "" : ".") + key;
}

}  // namespace

void RefuseField(const FieldPlace& place, const char* why) { throw DecodeError(TextOf(place) + ": " + why); }

void RefuseType(const FieldPlace& place, const char* wanted, const char* found) {
  throw DecodeError(TextOf(place) + ": expected " + wanted + ", found " + found);
}

void RefuseName(const FieldPlace& place, const char* what, const std::string& name) {
  throw DecodeError(TextOf(place) + ": unknown " + what + " \"" + CleanLine(name, 60) + "\"");
}

}  // namespace cudnn_ci
