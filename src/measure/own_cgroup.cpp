#include "own_cgroup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace oomplan::measure {
namespace {

// A stream would ask for the file's size and buffer; the kernel takes one number a write.
bool move(const std::string& process, const std::string& folder) {
  const int file = ::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool moved = ::write(file, process.data(), process.size()) == static_cast<ssize_t>(process.size());
  ::close(file);
  return moved;
}

}  // namespace

OwnCgroup::OwnCgroup() : from_(cgroup_of_this_process()) {
  const std::string parent = from_ ? folder_for_own("/sys/fs/cgroup", *from_) : "";
  std::string name = parent + "/oomplan-XXXXXX";
  if (parent.empty() || ::mkdtemp(name.data()) == nullptr) return;
  const Cgroup made{name, from_->v1};
  if (::access((name + "/" + peak_file(made)).c_str(), R_OK) == 0)
    own_ = made;
  else
    ::rmdir(name.c_str());
}

OwnCgroup::~OwnCgroup() {
  if (!own_ || ::rmdir(own_->folder.c_str()) == 0) return;
  std::ifstream rest(own_->folder + "/cgroup.procs");
  for (std::string process; rest >> process;) move(process, from_->folder);
  ::rmdir(own_->folder.c_str());
}

bool OwnCgroup::enter() const { return own_ && move("0", own_->folder); }

}  // namespace oomplan::measure
