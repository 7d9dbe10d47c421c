// Reads one epoch of a folder of pictures and prints how fast batches came.
//
//     image_batches FOLDER [BATCH_SIZE [THREADS]]
#include <fullbore/image_loader.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  namespace image = fullbore::image;
  if (argc < 2) {
    std::fprintf(stderr, "usage: image_batches FOLDER [BATCH_SIZE [THREADS]]\n");
    return 2;
  }
  image::LoaderOptions options;
  options.plan.batch_size = argc > 2 ? static_cast<std::uint32_t>(std::atoi(argv[2])) : 64;
  options.threads = argc > 3 ? std::atoi(argv[3]) : 0;
  options.transform.flip = 0.5;

  auto loader = image::ImageLoader::open(argv[1], options);
  if (!loader) {
    std::fprintf(stderr, "%s\n", loader.error().message.c_str());
    return 1;
  }
  if (auto started = (*loader)->start(0); !started) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  const auto begin = std::chrono::steady_clock::now();
  std::size_t batches = 0, pictures = 0;
  double sum = 0;
  for (;;) {
    const auto batch = (*loader)->next();
    if (!batch) {
      std::fprintf(stderr, "%s\n", batch.error().message.c_str());
      return 1;
    }
    if (!*batch) break;
    const auto* values = reinterpret_cast<const float*>((*batch)->data());  // samples x 3 x 224 x 224
    sum += static_cast<double>(values[0]);
    ++batches;
    pictures += (*batch)->samples();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%zu batches, %zu pictures, %.1f batches/s, %.0f pictures/s on %d threads; first values add up to %.3f\n",
              batches, pictures, static_cast<double>(batches) / seconds.count(),
              static_cast<double>(pictures) / seconds.count(), (*loader)->threads(), sum);
  return 0;
}
