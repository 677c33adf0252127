// The walls inside the layers that have rooms, as a function of one #include line.
#ifndef CUDNN_CI_TESTS_LAYERS_ROOM_RULES_H_
#define CUDNN_CI_TESTS_LAYERS_ROOM_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace cudnn_ci {

// A folder of a layer, and the rooms of the same layer that it may include beside itself.
struct Room {
  std::string_view name;  // "model/plan"
  std::vector<std::string_view> may_include;
};

// Each room names rooms above itself only, so there can be no circle.
const std::vector<Room>& Rooms();

// Whether a header lies in a room: "model/plan/plan.h".
bool LiesInARoom(std::string_view include);

// Why the file at `path` may not include `include`, a name such as "model/plan/plan.h"; empty when it may. A
// file of a layer with rooms must lie in one of them. Other layers and other includes are no concern of
// rooms.
std::string RoomProblem(std::string_view path, std::string_view include);

}  // namespace cudnn_ci

#endif  // CUDNN_CI_TESTS_LAYERS_ROOM_RULES_H_
