import { createRequire } from 'node:module'
import { dirname } from 'node:path'

/** Found by the package's name, because in a bundle `import.meta.url` is a file of another folder or package. */
export const packageFolder = dirname(createRequire(import.meta.url).resolve('@millrace/agent/package.json'))
