// A report that can be shown to strangers: source files keep their last name, every other absolute path and the names
// of hosts are gone.
#pragma once

#include <string>
#include <string_view>

#include "diagnose/diagnosis.h"

namespace fullbore::report {

// `host` is the name to hide besides the paths, "" for none.
void redact(diagnose::Diagnosis& diagnosis, std::string_view host);

// One text: "/home/ada/train.py" -> "train.py", "/data/patient-7.jpg" -> "<path>", the host's name -> "<host>".
std::string redacted(std::string_view text, std::string_view host);

}  // namespace fullbore::report
