// The user's source lines that a report names, kept in the run folder when the run ends: the script may change later,
// and a stored run is read on machines that never had it.
#pragma once

#include <map>
#include <string>

#include "base/file_reader.h"
#include "diagnose/diagnosis.h"

namespace fullbore::cli {

// source.json: {"/home/ada/train.py": {"52": "for images, labels in loader:"}}. Files that cannot be read are left out.
// `cells`: text by name of what is no file, the cells of a notebook.
std::string source_json(const diagnose::Diagnosis& diagnosis, const base::FileReader& files,
                        const std::map<std::string, std::string>& cells = {});

// Fills the source text of lines that have none. Text that is no such JSON changes nothing.
void add_source_text(diagnose::Diagnosis& diagnosis, const std::string& source_json);

}  // namespace fullbore::cli
