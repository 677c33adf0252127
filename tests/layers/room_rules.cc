#include "room_rules.h"

#include <algorithm>

namespace cudnn_ci {
namespace {

// "model/plan" of "model/plan/plan.h", "model" of "model/plan.h".
std::string_view FolderOf(std::string_view path) { return path.substr(0, path.rfind('/')); }

std::string_view LayerOfRoom(std::string_view room) { return room.substr(0, room.find('/')); }

const Room* FindRoom(std::string_view name) {
  const auto found =
      std::find_if(Rooms().begin(), Rooms().end(), [&](const Room& room) { return room.name == name; });
  return found == Rooms().end() ? nullptr : &*found;
}

bool HasRooms(std::string_view layer) {
  return std::any_of(Rooms().begin(), Rooms().end(),
                     [&](const Room& room) { return LayerOfRoom(room.name) == layer; });
}

}  // namespace

const std::vector<Room>& Rooms() {
  static const std::vector<Room> kRooms = {
      {"image/elf", {}},
      {"image/loader", {"image/elf"}},
      {"image/packages", {}},
      {"image/contents", {"image/elf", "image/loader", "image/packages"}},
      {"model/json", {}},
      {"model/record", {"model/json"}},
      {"model/verdict", {"model/json", "model/record"}},
      {"model/matrix", {"model/json", "model/record"}},
      {"model/knowledge", {"model/json", "model/record", "model/matrix"}},
      {"model/plan", {"model/json", "model/record", "model/verdict", "model/matrix"}},
      {"model/inventory", {"model/record", "model/matrix"}},
      {"model/merge", {"model/record", "model/verdict", "model/matrix", "model/plan"}},
      {"exec/system", {}},
      {"exec/workers", {"exec/system"}},
      {"exec/schedule", {"exec/system", "exec/workers"}},
      {"exec/plugins", {"exec/system", "exec/workers", "exec/schedule"}},
      {"report/text", {}},
      {"report/record", {"report/text"}},
      {"report/formats", {"report/text", "report/record", "report/assets"}},
  };
  return kRooms;
}

bool LiesInARoom(std::string_view include) { return FindRoom(FolderOf(include)) != nullptr; }

std::string RoomProblem(std::string_view path, std::string_view include) {
  constexpr std::string_view kHarness = "harness/";
  if (path.substr(0, kHarness.size()) != kHarness) return "";
  const std::string_view from = FolderOf(path.substr(kHarness.size())), to = FolderOf(include);
  const std::string_view layer = LayerOfRoom(from);
  if (!HasRooms(layer)) return "";
  const Room* room = FindRoom(from);
  if (!room) return "a file of " + std::string(layer) + " lies in one of its rooms";
  if (LayerOfRoom(to) != layer || to == from) return "";
  if (std::find(room->may_include.begin(), room->may_include.end(), to) != room->may_include.end()) return "";
  return std::string(from) + " must not know " + std::string(to);
}

}  // namespace cudnn_ci
