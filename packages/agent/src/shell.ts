import { existsSync } from 'node:fs'

/** For commands and hooks; not every machine has the better one. */
export const SHELL_PATH = existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh'
