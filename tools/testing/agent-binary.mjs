// Finds the public agent's program, with which agent conformance is tested too.
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

/** BUILDKITE_AGENT_BIN, or the first on the path; null: none. */
export function findAgentBinary(env = process.env) {
  if (env.BUILDKITE_AGENT_BIN) return resolve(env.BUILDKITE_AGENT_BIN)
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  return folders.map((folder) => join(folder, 'buildkite-agent')).find(isProgram) ?? null
}

export function describeAgentBinary(binary) {
  return binary === null
    ? 'Agent conformance: no buildkite-agent on the PATH or in BUILDKITE_AGENT_BIN, so our own runner alone.'
    : `Agent conformance: our own runner, and ${binary}.`
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
