// What can be told about a command before it runs: that it is no command but a running job, that it is not there, or
// that it will start the training out of our sight.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file_reader.h"

namespace fullbore::observe {

// The file that execvp would run. Fails with the errno that it would give: ENOENT is exit code 127, anything else 126.
base::Expected<std::string> find_program(const std::string& name, std::string_view path);

// Why this is a running job rather than a command ("4711", "train.py"), and what to do instead; "" if it is none.
// Ask only when find_program failed with ENOENT.
std::string running_job(const std::vector<std::string>& command, const base::FileReader& files);

// What to type instead when the command hands the training to a daemon, another machine or a container, where neither
// our environment nor our view of processes reaches; "" otherwise.
std::string lost_environment(const std::vector<std::string>& command);

// True for python with a flag that keeps it from loading the hook (-I, -E, -S), which `flag` then names.
bool ignores_hook(const std::vector<std::string>& command, std::string& flag);

// The command as one line to show or paste; words with blanks or special characters are quoted for a shell.
std::string shell_line(const std::vector<std::string>& command);

}  // namespace fullbore::observe
