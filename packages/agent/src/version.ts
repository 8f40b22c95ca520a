import { readFileSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { packageFolder } from './package-folder.ts'

const { version } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
  version: string
}

export const VERSION = version

export const USER_AGENT = `millrace-agent/${VERSION} (${platform()}; ${arch()})`
