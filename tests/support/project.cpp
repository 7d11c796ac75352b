#include "project.hpp"

const std::string& project_folder() {
  static const std::string folder = OOMPLAN_SOURCE_DIR;
  return folder;
}
