#include "worker/describe.h"

#include <stddef.h>

#include <cctype>
#include <cmath>

#include "base/text.h"

namespace cudnn_ci::worker {
namespace {

std::string Text(const char* s) { return s ? s : ""; }

bool IsName(const std::string& s, bool dashes) {
  if (s.empty() || s.size() > 100) return false;
  for (const char c : s) {
    const bool ok = std::islower(static_cast<unsigned char>(c)) ||
                    std::isdigit(static_cast<unsigned char>(c)) || (dashes ? c == '-' : c == '_');
    if (!ok) return false;
  }
  return dashes || std::islower(static_cast<unsigned char>(s[0]));
}

Status Convert(const cci_param* p, const std::string& where, bool field, ParamInfo* out) {
  if (!CCI_HAS(cci_param, p, fields)) return Error{where + ": a parameter table is too small"};
  out->name = Text(p->name);
  if (!IsName(out->name, false))
    return Error{where + ": parameter name '" + out->name + "' is not [a-z][a-z0-9_]*"};
  if (p->type > CCI_TYPE_SHAPE) return Error{where + ": parameter " + out->name + " has an unknown type"};
  if (out->name == "subject" || out->name == "name")
    return Error{where + ": the parameter name '" + out->name + "' is reserved for case ids"};
  out->type = static_cast<ParamType>(p->type);
  out->summary = Text(p->summary);
  if (p->default_json) out->default_json = p->default_json;
  for (const char* const* v = p->allowed; v && *v; ++v) out->allowed.push_back(*v);
  out->min_i64 = p->min_i64;
  out->max_i64 = p->max_i64;
  if (p->type == CCI_TYPE_SHAPE && field) return Error{where + ": a shape's field cannot be a shape"};
  for (const cci_param* const* f = p->fields; f && *f; ++f) {
    ParamInfo info;
    if (Status s = Convert(*f, where + "." + out->name, true, &info); !s.ok()) return s;
    out->fields.push_back(std::move(info));
  }
  return {};
}

Status Convert(const cci_plugin* plugin, const cci_check* c, CheckInfo* out) {
  if (!CCI_HAS(cci_check, c, run)) return Error{"a check's table is too small"};
  const std::string name = Text(c->name);
  if (!IsName(name, false)) return Error{"check name '" + name + "' is not [a-z][a-z0-9_]*"};
  out->plugin = plugin->name;
  out->name = out->plugin + "." + name;
  if (!c->run) return Error{out->name + " has no run function"};
  if (c->layer > CCI_LAYER_OTHER) return Error{out->name + " has an unknown layer"};
  if (c->devices > CCI_DEVICES_ENVIRONMENT) return Error{out->name + " has an unknown device use"};
  out->summary = Text(c->summary);
  out->layer = static_cast<Layer>(c->layer);
  out->devices = static_cast<Devices>(c->devices);
  out->shareable = (c->flags & CCI_CHECK_SHAREABLE) != 0;
  out->per_subject = (c->flags & CCI_CHECK_PER_SUBJECT) != 0;
  out->disturbs = (c->flags & CCI_CHECK_DISTURBS) != 0;
  out->pooled = (c->flags & CCI_CHECK_POOLED) != 0;
  out->second_opinion = (c->flags & CCI_CHECK_SECOND_OPINION) != 0;
  out->concurrent = (c->flags & CCI_CHECK_CONCURRENT) != 0;
  out->slow_cases = (c->flags & CCI_CHECK_SLOW_CASES) != 0;
  out->validates = ValidateOf(c) != nullptr;
  if (!std::isfinite(c->timeout_s) || c->timeout_s < 0)
    return Error{out->name + " has a timeout that is not a number of seconds"};
  out->timeout_s = c->timeout_s;
  for (const char* const* r = c->prerequisites; r && *r; ++r) out->prerequisites.push_back(*r);
  for (const char* const* k = CCI_HAS(cci_check, c, judges) ? c->judges : nullptr; k && *k; ++k)
    out->judges.push_back(*k);
  for (const cci_param* const* p = c->params; p && *p; ++p) {
    ParamInfo info;
    if (Status s = Convert(*p, out->name, false, &info); !s.ok()) return s;
    out->params.push_back(std::move(info));
  }
  return {};
}

Status Convert(const cci_plugin* plugin, const cci_finding* f, FindingInfo* out) {
  if (!CCI_HAS(cci_finding, f, link)) return Error{"a finding's table is too small"};
  out->slug = Text(f->slug);
  if (!IsName(out->slug, true)) return Error{"finding slug '" + out->slug + "' is not [a-z0-9-]+"};
  if (f->severity > CCI_SEVERITY_NOTE || f->blame > CCI_BLAME_UNDETERMINED)
    return Error{"finding " + out->slug + " has an unknown severity or blame"};
  out->severity = static_cast<Severity>(f->severity);
  out->blame = static_cast<Blame>(f->blame);
  out->summary = Text(f->summary);
  out->remedy = Text(f->remedy);
  out->link = Text(f->link);
  if (CCI_HAS(cci_finding, f, where) && f->command && *f->command) {
    out->where = PlaceOfNumber(f->where);
    if (out->where == Where::kNone)
      return Error{"finding " + out->slug + " has a command for an unknown place"};
    out->command = Text(f->command);
    if (!IsCommand(out->command))
      return Error{"finding " + out->slug +
                   " has a command that is not one line of printable text, at most " +
                   std::to_string(kMostCommand) + " bytes"};
  }
  out->of_result = CCI_HAS(cci_finding, f, flags) && (f->flags & CCI_FINDING_OF_RESULT) != 0;
  if (out->summary.empty() || out->remedy.empty())
    return Error{"finding " + out->slug + " has no summary or no remedy"};
  out->declared_by = plugin->name;
  return {};
}

}  // namespace

Where PlaceOfNumber(uint32_t where) {
  constexpr Where kWhere[] = {Where::kImage, Where::kHost, Where::kMatrix};
  return where <= CCI_WHERE_MATRIX ? kWhere[where] : Where::kNone;
}

const cci_check* FindCheck(const cci_plugin* plugin, const std::string& full_name) {
  const std::string prefix = std::string(plugin->name) + ".";
  if (full_name.compare(0, prefix.size(), prefix) != 0) return nullptr;
  for (const cci_check* const* c = plugin->checks; *c; ++c)
    if ((*c)->name && full_name.compare(prefix.size(), std::string::npos, (*c)->name) == 0) return *c;
  return nullptr;
}

void (*ValidateOf(const cci_check* check))(const cci_host*, cci_case*) {
  return CCI_HAS(cci_check, check, validate) ? check->validate : nullptr;
}

void (*PrepareOf(const cci_check* check))(const cci_host*, cci_case*) {
  return CCI_HAS(cci_check, check, prepare) ? check->prepare : nullptr;
}

Status DescribePlugin(const cci_plugin* plugin, const std::function<void(const wire::FromWorker&)>& send) {
  wire::PluginDescribed described;
  described.info.name = plugin->name;
  described.info.version = plugin->version;
  described.info.summary = Text(plugin->summary);
  described.info.abi_minor = plugin->abi_minor;
  described.info.has_facts = plugin->facts != nullptr;
  described.info.facts_per_subject = (plugin->flags & CCI_PLUGIN_FACTS_PER_SUBJECT) != 0;
  send(described);
  for (const cci_check* const* c = plugin->checks; *c; ++c) {
    wire::CheckDescribed message;
    if (Status s = Convert(plugin, *c, &message.check); !s.ok()) return s;
    send(message);
  }
  for (const cci_finding* const* f = plugin->findings; f && *f; ++f) {
    wire::FindingDescribed message;
    if (Status s = Convert(plugin, *f, &message.finding); !s.ok()) return s;
    send(message);
  }
  send(wire::DescribeEnd{});
  return {};
}

}  // namespace cudnn_ci::worker
