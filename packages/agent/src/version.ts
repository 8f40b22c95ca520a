import { arch, platform } from 'node:os'

export const VERSION = '0.1.0'

export const USER_AGENT = `millrace-agent/${VERSION} (${platform()}; ${arch()})`
