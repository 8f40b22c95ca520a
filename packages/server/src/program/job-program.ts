// The program of a job's process. It is bundled with its imports as one CommonJS file: Node loads that in half the time of 75
// files, and without starting its loader of ES modules.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentFolder } from '../hosted/runner.ts'

const sources = ['engine', 'protocol', 'agent']
const compiled = 'dist/separate/program.js'
/** In an installed package. */
const packed = 'dist/separate/bundled/program.cjs'

/** A path in the agent's package. */
export function findJobProgram(): string {
  const bundle = nameOfBundle() ?? packed
  return existsSync(join(agentFolder, bundle)) ? bundle : compiled
}

/** Where tools/bundle.mjs writes the program as one file; null while the packages are not compiled. */
export function jobBundle(): string | null {
  const name = nameOfBundle()
  return name === null ? null : join(agentFolder, name)
}

/**
 * The name contains a hash of the sources, so an outdated bundle is not found. null in an installed package, which has no
 * sources.
 */
function nameOfBundle(): string | null {
  try {
    const hash = createHash('sha256')
    for (const name of sources) hash.update(readFileSync(join(agentFolder, '..', name, 'dist', '.sources')))
    return `dist/separate/bundled/${hash.digest('hex').slice(0, 32)}.cjs`
  } catch {
    return null
  }
}
