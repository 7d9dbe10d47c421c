// A worker that was spawned, unlike a forked one, cannot know the number of the loader that it serves and writes 0.
// The seed that torch gave it says which iterator it belongs to; without this its batches would belong to nobody.
#pragma once

#include "record/run.h"

namespace fullbore::record {

// Fills in the loader of the batches, samples and profiles of such workers, where their iterator is on record.
void name_loaders_of_spawned_workers(RankRecords& rank);

}  // namespace fullbore::record
