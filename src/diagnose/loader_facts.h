// The training loader as it really was: its arguments, its batches, what a sample costs and how busy its workers are.
#pragma once

#include "diagnose/diagnosis.h"
#include "diagnose/makers.h"
#include "diagnose/profile.h"
#include "diagnose/trainer.h"

namespace fullbore::diagnose {

LoaderFacts describe_loader(const record::Run& run, const Trainer& trainer, const Makers& makers,
                            const Profile& profile);

}  // namespace fullbore::diagnose
