#include "cli/discovery_options.h"

#include <CLI/CLI.hpp>

#include "cli/option_checks.h"

namespace cudnn_ci {

void AddDiscoveryOptions(CLI::App* app, Options* o) {
  app->add_option("--plugin-dir", o->plugin_dirs, "search this folder for plugins too; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app->add_option("--knowledge", o->knowledge,
                  "a file or folder that adds to what is known of packages, faults and remedies; repeatable")
      ->type_name("DIR|FILE")
      ->check(CheckPath())
      ->allow_extra_args(false);
  app->add_option("--load-timeout", o->load_timeout_s, "seconds a plugin has to load and describe itself")
      ->type_name("S")
      ->check(CheckSeconds());
}

}  // namespace cudnn_ci
