import { existsSync } from 'node:fs'

/** The shell for commands and hooks: bash if the machine has it. */
export const SHELL_PATH = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'
