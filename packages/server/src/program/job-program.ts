// The program of a job's process. In a clone it is bundled with its imports, because Node loads one file in half the time of 75.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentFolder } from '../hosted/runner.ts'

const sources = ['engine', 'protocol', 'agent']
const compiled = 'dist/separate/program.js'

/** A path in the agent's package. */
export function findJobProgram(): string {
  const bundle = nameOfBundle()
  return bundle !== null && existsSync(join(agentFolder, bundle)) ? bundle : compiled
}

/** Where tools/bundle.mjs writes the program as one file; null while the packages are not compiled. */
export function jobBundle(): string | null {
  const name = nameOfBundle()
  return name === null ? null : join(agentFolder, name)
}

/**
 * The name contains a hash of the sources, so an outdated bundle is not found. null in an installed package, where the program
 * is bundled already.
 */
function nameOfBundle(): string | null {
  try {
    const hash = createHash('sha256')
    for (const name of sources) hash.update(readFileSync(join(agentFolder, '..', name, 'dist', '.sources')))
    return `dist/separate/bundled/${hash.digest('hex').slice(0, 32)}.js`
  } catch {
    return null
  }
}
