#pragma once
#include <string>

// The project's folder, for tests that read its documents and data.
const std::string& project_folder();
