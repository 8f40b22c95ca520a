// Verifies a job against its signed step: first the signature, then the job's command, plugins and matrix values.

import { fillMatrixIn } from '@millrace/engine/plan/matrix.ts'
import type { Job, JobStep } from '@millrace/protocol/jobs.ts'
import { canonicalJson } from './canonical-json.ts'
import { isMap } from '../json-map.ts'
import type { SignatureKey } from './keys.ts'
import { findSignatureFault } from './sign.ts'
import { outerVariables, readEnv, readMatrix, readPlugins } from './signed-values.ts'

/** Null if the job may run; otherwise the reason for its log. */
export async function findJobFault(job: Job, keys: readonly SignatureKey[]): Promise<string | null> {
  const { step, env } = job
  if (step?.signature === undefined) return 'the job has no signature'
  const surroundings = { repositoryUrl: env['BUILDKITE_REPO'] ?? '', env }
  const fault = await findSignatureFault(step, step.signature, surroundings, keys)
  return fault ?? findPermutationFault(job, step) ?? findDifference(job, step)
}

/** The variables whose values are part of the signature. Call it for a job without a fault. */
export function signedVariables({ step, matrix_permutation: chosen }: Job): ReadonlySet<string> {
  const own = Object.keys(fillMatrixIn(readEnv(step?.env) ?? {}, matrixOf(chosen)))
  const outer = outerVariables(signedFieldsOf(step))
  return new Set([...own, ...outer, ...Object.keys(checkoutVariables(step?.checkout))])
}

/**
 * The variables of a signed `checkout`, except flags of git: the agent never takes dangerous ones. The switches are stronger
 * than variables that the step sets, the others weaker.
 */
function checkoutVariables(checkout: unknown): Record<string, { value: string; isSwitch: boolean }> {
  if (!isMap(checkout)) return {}
  const { skip, submodules, lfs, commit_verification: verification, sparse } = checkout
  const paths = isMap(sparse) ? sparse['paths'] : undefined
  const variables = [
    { name: 'BUILDKITE_SKIP_CHECKOUT', value: skip, isSwitch: true },
    { name: 'BUILDKITE_GIT_SUBMODULES', value: submodules, isSwitch: true },
    { name: 'BUILDKITE_GIT_LFS_ENABLED', value: lfs, isSwitch: true },
    { name: 'BUILDKITE_GIT_COMMIT_VERIFICATION', value: verification, isSwitch: false },
    { name: 'BUILDKITE_GIT_SPARSE_CHECKOUT_PATHS', value: paths, isSwitch: false },
  ].filter(({ value }) => value !== undefined && value !== null)
  return Object.fromEntries(
    variables.map(({ name, value, isSwitch }) => [name, { value: String(value), isSwitch }]),
  )
}

const signedFieldsOf = (step: JobStep | undefined) => step?.signature?.signed_fields ?? []

const matrixOf = (chosen: Job['matrix_permutation']) => (chosen === undefined ? null : (chosen[''] ?? chosen))

/** A signed matrix says which combinations may run. */
function findPermutationFault({ matrix_permutation: chosen = {} }: Job, step: JobStep): string | null {
  const matrix = readMatrix(step.matrix)
  const names = Object.keys(chosen)
  if (matrix === null)
    return names.length === 0 ? null : 'the job has values of a matrix that its step has not'
  const wrong = 'the values of the job are none of the matrix'
  const setup = dimensionsOf(isMap(matrix) ? matrix['setup'] : matrix)
  const known = Object.keys(setup)
  if (names.length !== known.length || names.some((name) => !known.includes(name))) return wrong
  const isBasic = names.every((name) => setup[name]?.includes(chosen[name] ?? ''))
  const adjustments = isMap(matrix) && Array.isArray(matrix['adjustments']) ? matrix['adjustments'] : []
  const matching = adjustments.filter(isMap).filter(({ with: values }) => {
    const combination = isMap(values) ? values : { '': values }
    return names.every((name) => combination[name] === chosen[name])
  })
  if (matching.some(({ skip }) => skip !== undefined)) return 'the matrix leaves the values of the job out'
  return isBasic || matching.length > 0 ? null : wrong
}

function dimensionsOf(setup: unknown): Record<string, string[]> {
  return (isMap(setup) ? setup : { '': setup }) as Record<string, string[]>
}

/** The job's values must equal the step's after matrix interpolation. */
function findDifference({ env, matrix_permutation: chosen }: Job, step: JobStep): string | null {
  const matrix = matrixOf(chosen)
  if (fillMatrixIn(step.command ?? '', matrix) !== (env['BUILDKITE_COMMAND'] ?? ''))
    return 'the job runs another command'
  for (const [name, value] of Object.entries(fillMatrixIn(readEnv(step.env) ?? {}, matrix))) {
    if (!Object.hasOwn(env, name) || env[name] !== value) return `the job has another value of ${name}`
  }
  const written = new Set([...Object.keys(readEnv(step.env) ?? {}), ...outerVariables(signedFieldsOf(step))])
  for (const [name, { value, isSwitch }] of Object.entries(checkoutVariables(step.checkout))) {
    const isOverridden = !isSwitch && written.has(name)
    if (!isOverridden && env[name] !== value) return `the job has another value of ${name}`
  }
  const plugins = readPlugins(fillPlugins(step.plugins, matrix)) ?? []
  return canonicalJson(plugins) === canonicalJson(pluginsOf(env)) ? null : 'the job has other plugins'
}

/** Names of plugins have tokens too. */
const fillPlugins = (plugins: JobStep['plugins'], matrix: Parameters<typeof fillMatrixIn>[1]): unknown =>
  plugins?.map((plugin) =>
    Object.fromEntries(Object.entries(plugin).map((entry) => fillMatrixIn(entry, matrix))),
  )

function pluginsOf(env: Readonly<Record<string, string>>): unknown {
  try {
    return readPlugins(JSON.parse(env['BUILDKITE_PLUGINS'] || '[]')) ?? []
  } catch {
    return null
  }
}
