/* train_binding.h - which field of cairn_train_options an option of the command line sets.
 *
 *     cairn_train_options train = cairn_train_defaults();
 *     cli_train_binding_fill(&options, &train);
 */
#ifndef CAIRN_CLI_TRAIN_BINDING_H
#define CAIRN_CLI_TRAIN_BINDING_H

#include "cli/options.h"
#include "train/trainer.h"

/* Sets every bound field from the options. Texts stay the options'. */
cairn_status cli_train_binding_fill(const cli_options *options, cairn_train_options *train);

/* What cairn_train_defaults() has for an option, as text that reads back to the same value (CLI_DEFAULT_SIZE bytes); false for an option
 * that no field belongs to. */
bool cli_train_binding_default(cli_option_id id, char *text);

#endif
