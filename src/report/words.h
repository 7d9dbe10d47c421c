// The words and number formats that every output of a report shares, so that the same value reads the same everywhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagnose/diagnosis.h"

namespace fullbore::report {

std::string_view word(diagnose::Severity severity);      // "none", "note", "warning", "critical"
std::string_view word(diagnose::Confidence confidence);  // "high", "medium", "low"
std::string_view word(diagnose::FixOutcome outcome);     // "applied", "left alone", "taken back"

std::string milliseconds(double ms);                         // "163.2", "0.84", "2,340"
std::string milliseconds_of(double ms, double step_ms);      // as many decimals as its step has: columns line up
std::string percent(double share);                           // 0.612 -> "61.2 %"
std::string factor(double value);                            // "2.58x"
std::string epoch_time(double hours);                        // "5.1 s", "12.4 min", "3.2 h"
std::string number(double value);                            // three digits or the whole number, "," thousands
std::string with_unit(double value, std::string_view unit);  // number and unit; "%" and "share" as percent
std::string place(const diagnose::Location& where);          // "train.py:41": the last component and the line

std::string spaced(std::string id);  // "input_wait" -> "input wait", for people

// The value of a flat metric of Diagnosis::system, nothing if it was not measured.
std::optional<double> system_value(const diagnose::Diagnosis& diagnosis, std::string_view metric);

}  // namespace fullbore::report
