// Words that causes share: numbers, places, commands, and the parts that most findings have in common.
#pragma once

#include <optional>
#include <string>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

std::string percent(double share);                           // "71 %"
std::string factor(double value);                            // "3.4x", "1.04x"
std::string milliseconds(double ms);                         // "0.42 ms", "12 ms", "3.1 s"
std::string cores(double value);                             // "1 core", "1.5 cores"
std::string place(const std::optional<Location>& where);     // "train.py:41", "" if not known
std::string in_place(const std::optional<Location>& where);  // " (train.py:41)", ""
// What a stage is, as the object of "waits for": "decoding", "opening files"; "making samples" for "".
std::string stage_words(const std::string& stage);
// What the loop waits for, of which a stage is the longest part: "batches, above all for decoding (train.py:41),".
std::string batches_for(const std::string& stage, const std::optional<Location>& where = std::nullopt);

// What a summary says of the gain, filled in once that is known: "at most 2.2x faster" for a bound, "about 1.8x faster
// (1.7x to 1.9x)" for a prediction; and " with decoding at half its cost", where it was replayed, else "".
inline constexpr const char* kFasterHere = "{faster}";
inline constexpr const char* kWithHere = "{with}";
std::string with_gain(std::string summary, const Gain& gain);

// A cause with what all have: id, share, severity, and the loader's place.
Cause make_cause(const std::string& id, double share, const Situation& situation);
// The evidence that all waits have in common: waited share, making one batch, on-CPU share, the costliest line.
void add_wait_evidence(Cause& cause, const Situation& situation);
void add_evidence(Cause& cause, const std::string& metric, std::optional<double> value, const std::string& unit,
                  const std::string& source);
// The loader's settings to change, with the diff and the command that tries them.
void set_settings(Cause& cause, const Situation& situation, std::vector<Setting> settings);
// That workers keep the memory which they free: what shows it, the setting, and the words for doing it by hand.
void add_memory_evidence(Cause& cause, const Situation& situation);
Setting keep_freed_memory();
inline constexpr const char* kKeepFreedMemory =
    "let workers keep the memory that they free (worker_init_fn=fullbore.keep_freed_memory)";
// The command that was watched, quoted for a shell.
std::string watched_command(const record::Run& run);
std::string bool_text(bool value);  // as Python writes it

}  // namespace fullbore::diagnose
