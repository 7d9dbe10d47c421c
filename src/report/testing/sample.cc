#include "report/testing/sample.h"

namespace fullbore::report::testing {

using namespace diagnose;

namespace {

const Location kLoader{"/home/ada/train.py", 41, "loader = DataLoader(data, batch_size=64, num_workers=0)"};

Cause no_workers() {
  Cause cause;
  cause.cause = "no_workers";
  cause.stage = "decode";
  cause.severity = Severity::kCritical;
  cause.share = 0.612;
  cause.summary = "Every batch is made in the training process, which cannot train meanwhile.";
  cause.where = kLoader;
  cause.evidence = {{"num_workers", 0, "", "DataLoader"},
                    {"making one batch", 98.4, "ms", "hook"},
                    {"of that on CPU", 0.97, "share", "/proc/PID/schedstat"}};
  cause.fix.text = "make batches in 2 worker processes that stay alive between epochs";
  cause.fix.settings = {{"num_workers", "0", "2"}, {"persistent_workers", "False", "True"}};
  cause.fix.where = kLoader;
  cause.fix.diff =
      "--- a/train.py\n+++ b/train.py\n@@ -41,1 +41,1 @@\n"
      "-loader = DataLoader(data, batch_size=64, num_workers=0)\n"
      "+loader = DataLoader(data, batch_size=64, num_workers=2, persistent_workers=True)\n";
  cause.fix.risk = "the same samples in the same order, but another random stream for augmentation";
  cause.fix.next_command = "fullbore run --fix=last -- python train.py";
  cause.gain.max = 2.577;
  cause.why_not = {"pin_memory=True: there is no GPU to copy to"};
  return cause;
}

}  // namespace

Diagnosis no_workers_run() {
  Diagnosis d;
  d.run = "/home/ada/fullbore-runs/20261130T101500-411-k3";
  d.command = "python train.py";
  d.verdict = {"no_workers",
               "decode",
               Severity::kCritical,
               Confidence::kHigh,
               "",
               "The training loop waits 61 % of each step for JPEG decoding in the main process (num_workers=0, "
               "train.py:41); worker processes would make it at most 2.6x faster."};
  d.causes = {no_workers()};
  d.account.step_ms = 163.2;
  d.account.parts = {{"input_wait", {99.8, 0.612}},
                     {"model", {61.9, 0.379}},
                     {"gc", {0.02, 0.0001}},
                     {"other", {0.8, 0.005}},
                     {"unknown", {0.68, 0.004}}};
  d.account.other = {{"copy call", {0.8, 0.005}}};
  d.whole = d.account;
  d.input_wait = {{"read", {5.1, 0.031}, 0.2, std::nullopt, 0.8},
                  {"decode", {80.4, 0.493}, 0.97, 0.02, std::nullopt},
                  {"collate", {14.3, 0.088}, 0.99, std::nullopt, std::nullopt}};
  d.steps.count = 243;
  d.steps.warmup = 20;
  d.steps.mean_ms = 163.2;
  d.steps.sem_ms = 0.8;
  d.steps.p5_ms = 155.0;
  d.steps.p50_ms = 161.0;
  d.steps.p95_ms = 180.5;
  d.steps.p99_ms = 201.3;
  d.steps.wait_mean_ms = 99.8;
  d.steps.samples_per_s = 392.2;
  d.steps.epoch_hours = 0.00142;
  d.loader.where = kLoader;
  d.loader.dataset_type = "torchvision.datasets.folder.ImageFolder";
  d.loader.dataset_length = 2000;
  d.loader.batch_size = 64;
  d.loader.workers = 0;
  d.loader.pin_memory = false;
  d.loader.stage_ms = {{"decode", 1.26}, {"read", 0.08}};
  d.loop_lines = {{{"/home/ada/train.py", 52, "for images, labels in loader:"}, 99.8, 0.612, "wait"},
                  {{"/home/ada/train.py", 54, "    loss = step(images, labels)"}, 61.9, 0.379, "model"},
                  {{"/home/ada/train.py", 55, "    total += loss.item()"}, 1.5, 0.009, "blocking"}};
  d.dataset_lines = {{{"/home/ada/data.py", 18, "image = Image.open(path).convert(\"RGB\")"}, 80.4, 0.493, "decode"},
                     {{"/home/ada/data.py", 19, "return self.transform(image), label"}, 9.2, 0.056, "augment"}};
  d.line_tier = "windows";
  d.system = {{"cpu.usable_cores", 2.0}, {"cpu.tree_share", 0.55}, {"disk.read_mb_per_s", std::nullopt}};
  d.facts = {{"torch", "2.13.0"}};
  d.missing = {{"gpu", "no NVIDIA driver on this machine"}};
  d.overhead = {{"hook_us_per_step", 14.2}, {"collector_cpu_share", 0.004}, {"collector_mib", 21}};
  d.model_hash = "9f1c";
  d.exit_code = 0;
  return d;
}

Diagnosis fixed_run() {
  Diagnosis d = no_workers_run();
  d.run = "/home/ada/fullbore-runs/20261130T101900-502-m8";
  d.command = "python train.py";
  d.verdict = {"compute_bound",
               "",
               Severity::kNone,
               Confidence::kHigh,
               "",
               "Leave the loader alone: the model takes 97 % of each step, a perfect loader would gain at most 1.02x."};
  d.causes.clear();
  d.account.parts = {{"input_wait", {1.3, 0.02}}, {"model", {63.1, 0.97}}, {"unknown", {0.6, 0.01}}};
  d.account.other.clear();
  d.account.step_ms = 65.0;
  d.whole = d.account;
  d.input_wait.clear();
  d.steps.mean_ms = 65.0;
  d.steps.sem_ms = 0.5;
  d.steps.p50_ms = 64.1;
  d.steps.p99_ms = 82.0;
  d.steps.wait_mean_ms = 1.3;
  d.steps.samples_per_s = 984.6;
  d.steps.epoch_hours = 0.000564;
  d.loader.workers = 2;
  d.fix = FixReport{"/home/ada/fullbore-runs/20261130T101500-411-k3",
                    {{kLoader, {"num_workers", "0", "2"}, FixOutcome::kApplied, ""},
                     {kLoader, {"pin_memory", "False", "True"}, FixOutcome::kLeftAlone, "there is no GPU to copy to"}},
                    "the same samples, each once per epoch; augmentation draws from other random numbers",
                    no_workers().fix.diff};
  return d;
}

Diagnosis traced_run() {
  Diagnosis d = fixed_run();
  d.gpu = GpuFacts{.windows = 3,
                   .steps = 17,
                   .seen_ms = 700,
                   .busy = 0.62,
                   .kernels_per_step = 312,
                   .gaps = {0.03, 0.35, 0, 0},
                   .hidden_wait_ms = 4};
  d.gpu->idle = {{"h2d_exposed", 0.3, {0, 0.3, 0, 0}}, {"launch", 0.08, {0.03, 0.05, 0, 0}}};
  d.copies = Copies{.pageable = {}, .pinned = {20, 2e9, 40, 50}, .h2d_ms_per_batch = 2.5, .exposed_share = 0.3};
  return d;
}

Diagnosis short_run() {
  Diagnosis d;
  d.verdict.summary = "Not enough to judge: 4 steps were seen, 20 are needed.";
  d.verdict.confidence = Confidence::kLow;
  d.verdict.confidence_why = "only 4 steady steps";
  d.missing = {{"steps", "the command ended after 4 steps"}};
  d.exit_code = 1;
  return d;
}

}  // namespace fullbore::report::testing
