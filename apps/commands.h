/* SPDX-License-Identifier: MIT
 *
 * commands.h - the commands of `flynn` that are not exercises. Each gets its own name as argv[0] and returns
 * the exit code.
 */
#pragma once

int command_batch(int argc, char **argv);
int command_ceiling(int argc, char **argv);
int command_compare(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_info(int argc, char **argv);
int command_laws(int argc, char **argv);
int command_list(int argc, char **argv);
int command_report(int argc, char **argv);
int command_show(int argc, char **argv);
int command_slice(int argc, char **argv);
int command_sweep(int argc, char **argv);
int command_taxonomy(int argc, char **argv);
