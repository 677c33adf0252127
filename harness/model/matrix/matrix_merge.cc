#include "model/matrix/matrix_merge.h"

#include <map>
#include <optional>
#include <utility>

namespace cudnn_ci {

namespace {

// "checks" and "waivers": items that an id may name.
class ListMerger {
 public:
  ListMerger(const std::string& key, bool extends, bool complete, std::vector<Problem>* problems)
      : what_(key == "checks" ? "entry" : "waiver"),
        a_(key == "checks" ? "an entry" : "a waiver"),
        extends_(extends),
        complete_(complete),
        problems_(problems) {}

  void Merge(Json::Array list, Json::Array* merged) {
    CheckIds(list);
    const size_t inherited = merged->size();
    std::vector<bool> removed(inherited, false);
    for (Json& item : list) {
      const std::optional<size_t> place = PlaceOf(IdOf(item), *merged, inherited);
      if (IsRemoval(item)) {
        if (!CheckRemoval(item)) continue;
        if (place) {
          removed[*place] = true;
        } else {
          ReportUnknown(item, *merged, inherited);
        }
      } else if (place) {
        (*merged)[*place] = std::move(item);
      } else {
        merged->push_back(std::move(item));
      }
    }
    Json::Array kept;
    for (size_t i = 0; i < merged->size(); ++i) {
      if (i >= inherited || !removed[i]) kept.push_back(std::move((*merged)[i]));
    }
    *merged = std::move(kept);
  }

 private:
  static const std::string* IdOf(const Json& item) {
    const auto* object = std::get_if<Json::Object>(&item.value);
    const Json* id = object == nullptr ? nullptr : Find(*object, "id");
    return id == nullptr ? nullptr : std::get_if<std::string>(&id->value);
  }

  static bool IsRemoval(const Json& item) {
    const auto* object = std::get_if<Json::Object>(&item.value);
    return object != nullptr && Find(*object, "remove") != nullptr;
  }

  static std::optional<size_t> PlaceOf(const std::string* id, const Json::Array& items, size_t count) {
    for (size_t i = 0; id != nullptr && i < count; ++i) {
      const std::string* other = IdOf(items[i]);
      if (other != nullptr && *other == *id) return i;
    }
    return std::nullopt;
  }

  // Of two with the same id the second would take the place of the first, and a check would be lost.
  void CheckIds(const Json::Array& list) {
    std::map<std::string, Position> seen;
    for (const Json& item : list) {
      const std::string* id = IdOf(item);
      if (id == nullptr || id->empty()) continue;
      const auto [first, added] = seen.emplace(*id, item.position);
      if (added) continue;
      AddProblem(problems_, item.position,
                 "the id " + Quote(*id) + " is taken by the " + what_ + " at " + ToString(first->second) +
                     "; choose another");
    }
  }

  bool CheckRemoval(const Json& item) {
    const auto& object = std::get<Json::Object>(item.value);
    const Json& remove = *Find(object, "remove");
    const bool* truth = std::get_if<bool>(&remove.value);
    bool good = truth != nullptr && *truth;
    if (!good) {
      AddProblem(
          problems_, remove.position,
          "\"remove\" must be true, found " + Describe(remove) + "; leave it out to keep the " + what_);
    }
    for (const Json::Member& member : object) {
      if (member.key == "id" || member.key == "remove") continue;
      AddProblem(problems_, member.position,
                 Quote(member.key) + " has no meaning beside \"remove\"; " + a_ +
                     " that is removed holds its \"id\" and nothing else");
      good = false;
    }
    if (IdOf(item) != nullptr) return good;
    AddProblem(problems_, item.position, "\"remove\" needs the \"id\" of the parent's " + what_);
    return false;
  }

  void ReportUnknown(const Json& item, const Json::Array& merged, size_t inherited) {
    if (!complete_) return;
    std::vector<std::string> known;
    for (size_t i = 0; i < inherited; ++i) {
      if (const std::string* id = IdOf(merged[i])) known.push_back(*id);
    }
    const std::string& id = *IdOf(item);
    AddProblem(problems_, item.position,
               "no parent has " + a_ + " with the id " + Quote(id) + " to remove" +
                   (extends_ ? Hint(id, known) : "; this matrix extends none"));
  }

  std::string what_, a_;
  bool extends_, complete_;
  std::vector<Problem>* problems_;
};

Json::Member* FindMember(const std::string& key, Json::Object* object) {
  for (Json::Member& member : *object) {
    if (member.key == key) return &member;
  }
  return nullptr;
}

void Put(Json::Member member, Json::Object* object) {
  if (Json::Member* place = FindMember(member.key, object)) {
    *place = std::move(member);
  } else {
    object->push_back(std::move(member));
  }
}

}  // namespace

void MergeFile(Json::Object file, bool extends, bool complete, Json::Object* merged,
               std::vector<Problem>* problems) {
  for (Json::Member& member : file) {
    Json::Member* place = FindMember(member.key, merged);
    if (auto* list = std::get_if<Json::Array>(&member.value.value)) {
      if (place == nullptr) {
        merged->push_back({member.key, member.position, {Json::Array(), member.value.position}});
        place = &merged->back();
      }
      ListMerger merger(member.key, extends, complete, problems);
      merger.Merge(std::move(*list), &std::get<Json::Array>(place->value.value));
    } else if (auto* section = std::get_if<Json::Object>(&member.value.value);
               section != nullptr && place != nullptr &&
               std::holds_alternative<Json::Object>(place->value.value)) {
      for (Json::Member& inner : *section) Put(std::move(inner), &std::get<Json::Object>(place->value.value));
    } else {
      Put(std::move(member), merged);
    }
  }
}

}  // namespace cudnn_ci
