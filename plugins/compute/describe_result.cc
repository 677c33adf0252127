#include "compute/describe_result.h"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace cudnn_ci {

std::string DescribeWrong(const Judgement& j, const std::string& place, double bound) {
  const double allowed = std::max(bound, j.first_allowed);
  std::ostringstream os;
  os.precision(9);
  os << j.wrong << " of " << j.elements << " elements are wrong; first " << place << ": expected "
     << j.first_expected << ", got ";
  if (std::isnan(j.first_got))
    os << "NaN";
  else
    os << j.first_got;
  os << "; largest error " << j.worst_error
     << (allowed == 0 ? ", and none is allowed" : ", allowed before rounding ");
  if (allowed != 0) os << allowed;
  return os.str();
}

std::string DescribeUnwritten(const Judgement& j, const std::string& place) {
  return std::to_string(j.unwritten) + " of " + std::to_string(j.elements) +
         " elements were never written; first " + place;
}

std::string DescribeDifference(const Difference& difference, const Operand& output,
                               const std::string& place) {
  return std::to_string(difference.elements) + " of " + std::to_string(output.extent.Count()) +
         " elements differ between two runs on the same data; first " + place + ": " +
         BitsText(output.type, difference.bits_before) + ", then " +
         BitsText(output.type, difference.bits_after);
}

std::string OutputPrefix(const Operands& operands, std::size_t output) {
  return operands.outputs.size() > 1 ? operands.outputs[output].name + ": " : "";
}

std::string Short(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

}  // namespace cudnn_ci
