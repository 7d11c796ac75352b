#include "images.hpp"

#include <array>
#include <string>

#include "../../condition.hpp"

namespace oomplan::ingestion::axolotl {

bool sees_images(const Arguments& a) {
  return a.get<std::string>("processor_type").value.has_value() && !a.on("sample_packing");
}

// utils/collators/mm_chat.py: MultiModalChatDataCollator gives whole conversations to the processor, which pads to the
// longest of a batch; nothing cuts them, and pad_to_multiple_of is not read.
void plan_images(const Arguments& a, Draft& draft, const Document& document) {
  if (!sees_images(a)) return;
  const Origin processor = a.get<std::string>("processor_type").origin;
  draft.plan.images.count = {unknown_images, processor};
  draft.plan.images.token_types = {true, processor};
  draft.plan.batch.padding_mask = {draft.plan.batch.micro_batch_size.value > 1, processor};
  derive(draft.plan.batch.padding_mask.origin, "whose collator pads to the longest row of a batch");
  miss(draft, document, "images", {"processor_type"},
       "processor_type: the data decide how many images a row has, and how large they are",
       "--set images=1 (0: text alone); where the model takes any size, or cuts an image in tiles, also image_height "
       "and image_width, in pixels");
  miss(draft, document, "sequence_length", {"processor_type"},
       "processor_type: nothing cuts rows to sequence_len, so they are as long as the data",
       "--set sequence_length=… to the tokens of the longest row, those that stand for its images among them");
}

void plan_frozen_towers(const Arguments& a, TrainingPlan& plan) {
  constexpr std::array<const char*, 9> modules{"vision_tower", "vision_model",          "vision_encoder",
                                               "embed_vision", "multi_modal_projector", "visual",
                                               "audio_tower",  "audio_model",           "embed_audio"};
  if (!a.on("freeze_mm_modules")) return;
  plan.recipe.frozen = {{modules.begin(), modules.end()}, a.get<bool>("freeze_mm_modules").origin};
}

}  // namespace oomplan::ingestion::axolotl
