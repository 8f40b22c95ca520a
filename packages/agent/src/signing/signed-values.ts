// The signed values: the fields of a command step in their canonical form, the repository's address, and the pipeline's
// variables.

import { canonicalPluginSource } from '@millrace/engine/plugin-source.ts'
import { isMap, type JsonMap } from '../json-map.ts'

export interface Surroundings {
  repositoryUrl: string
  /** The pipeline's variables for a signer, the job's for a verifier. */
  env: Readonly<Record<string, string>>
}

export type SignedValues = Record<string, unknown>

/** The signed name of a pipeline variable that the step does not override. */
const ENV_PREFIX = 'env::'

/** All values that a new signature covers. */
export function listSignedValues(step: JsonMap, surroundings: Surroundings): SignedValues {
  const env = readEnv(step['env'])
  const outer = Object.entries(surroundings.env).filter(([name]) => !Object.hasOwn(env ?? {}, name))
  return {
    ...requiredValues(step, surroundings),
    ...Object.fromEntries(outer.map(([name, value]) => [ENV_PREFIX + name, value])),
  }
}

/** The variables outside of the step among the signed fields. */
export function outerVariables(fields: readonly string[]): string[] {
  return fields.filter((field) => field.startsWith(ENV_PREFIX)).map((field) => field.slice(ENV_PREFIX.length))
}

/** The current values of the signed fields, or the reason why a field cannot be checked. */
export function findSignedValues(
  step: JsonMap,
  surroundings: Surroundings,
  fields: readonly string[],
): SignedValues | string {
  const required = requiredValues(step, surroundings)
  const missing = Object.keys(required).filter((field) => !fields.includes(field))
  if (missing.length > 0) return `the signature does not cover ${missing.join(', ')}`
  const optional: SignedValues = { secrets: null, checkout: null, ...required }
  const values: SignedValues = {}
  for (const field of fields) {
    const name = field.startsWith(ENV_PREFIX) ? field.slice(ENV_PREFIX.length) : null
    if (name !== null) {
      const value = Object.hasOwn(surroundings.env, name) ? surroundings.env[name] : undefined
      if (value === undefined) return `the job has no variable ${name}`
      values[field] = value
    } else if (Object.hasOwn(optional, field)) values[field] = optional[field]
    else return `the signature covers ${field}, which this agent does not know`
  }
  return values
}

/** Includes secrets and checkout only if the step has them, so that older signatures stay valid. */
function requiredValues(step: JsonMap, { repositoryUrl }: Surroundings): SignedValues {
  const secrets = readSecrets(step['secrets'])
  const { checkout } = step
  return {
    command: typeof step['command'] === 'string' ? step['command'] : '',
    env: readEnv(step['env']),
    plugins: readPlugins(step['plugins']),
    matrix: readMatrix(step['matrix']),
    repository_url: repositoryUrl,
    ...(secrets.length === 0 ? {} : { secrets }),
    ...(isMap(checkout) && Object.keys(checkout).length > 0 ? { checkout } : {}),
  }
}

/** Null for an empty or absent field: both are signed alike. */
export function readEnv(env: unknown): Record<string, string> | null {
  if (!isMap(env) || Object.keys(env).length === 0) return null
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, textOf(value)]))
}

export function readPlugins(plugins: unknown): JsonMap[] | null {
  const entries: unknown[] = Array.isArray(plugins) ? plugins : isMap(plugins) ? [plugins] : []
  const read = entries.flatMap((entry): JsonMap[] => {
    if (typeof entry === 'string') return [{ [canonicalPluginSource(entry)]: null }]
    if (!isMap(entry)) return []
    return Object.entries(entry).map(([source, config]) => ({
      [canonicalPluginSource(source)]: isEmptyCollection(config) ? null : (config ?? null),
    }))
  })
  return read.length === 0 ? null : read
}

interface SignedSecret {
  key: string
  environment_variable?: string
}

export function readSecrets(secrets: unknown): SignedSecret[] {
  if (isMap(secrets))
    return Object.entries(secrets).map(([name, key]) => ({ key: textOf(key), environment_variable: name }))
  if (!Array.isArray(secrets)) return []
  return secrets.map((secret: unknown) => {
    if (!isMap(secret)) return { key: textOf(secret), environment_variable: textOf(secret) }
    const { key, environment_variable: name } = secret
    return { key: textOf(key), ...(isEmpty(name) ? {} : { environment_variable: textOf(name) }) }
  })
}

/** A matrix that is only a list of values is written as that list. */
export function readMatrix(matrix: unknown): unknown {
  if (Array.isArray(matrix)) return matrix.length === 0 ? null : matrix.map(textOf)
  if (!isMap(matrix) || Object.keys(matrix).length === 0) return null
  const { setup, adjustments, ...rest } = matrix
  const dimensions = Array.isArray(setup) ? setup.map(textOf) : readSetup(setup)
  const adjusted = Array.isArray(adjustments) ? adjustments.map(readAdjustment) : []
  if (Array.isArray(dimensions) && adjusted.length === 0 && Object.keys(rest).length === 0) return dimensions
  return { ...rest, setup: dimensions, ...(adjusted.length === 0 ? {} : { adjustments: adjusted }) }
}

function readSetup(setup: unknown): JsonMap | null {
  if (!isMap(setup)) return null
  return Object.fromEntries(
    Object.entries(setup).map(([name, values]) => [
      name,
      Array.isArray(values) ? values.map(textOf) : [textOf(values)],
    ]),
  )
}

function readAdjustment(adjustment: unknown): unknown {
  if (!isMap(adjustment)) return adjustment
  const { with: combination, skip, ...rest } = adjustment
  const values = isMap(combination)
    ? Object.fromEntries(Object.entries(combination).map(([name, value]) => [name, textOf(value)]))
    : textOf(combination)
  return { ...rest, with: values, ...(isEmpty(skip) ? {} : { skip }) }
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return true
  return isEmptyCollection(value)
}

function isEmptyCollection(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

/** Converts numbers and booleans to the strings that a job sees. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}
