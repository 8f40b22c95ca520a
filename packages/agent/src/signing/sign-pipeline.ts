import type { UploadedPipeline } from '@millrace/protocol/pipelines.ts'
import { isMap, type JsonMap } from '../json-map.ts'
import type { SignatureKey } from './keys.ts'
import { signStep } from './sign.ts'
import { readEnv, readMatrix, readPlugins, readSecrets, type Surroundings } from './signed-values.ts'

/** Signs every command step, including those in groups. The upload has the signed form of the values. */
export async function signPipeline(
  pipeline: UploadedPipeline,
  repositoryUrl: string,
  key: SignatureKey,
): Promise<UploadedPipeline> {
  const env = readEnv(pipeline.env) ?? {}
  const shared = readSecrets(pipeline['secrets'])
  const surroundings = { repositoryUrl, env }
  const steps = await Promise.all(pipeline.steps.map((step) => signAny(step, shared, surroundings, key)))
  return { ...pipeline, ...(pipeline.env === undefined ? {} : { env }), steps }
}

type Secrets = ReturnType<typeof readSecrets>

async function signAny(
  step: unknown,
  shared: Secrets,
  surroundings: Surroundings,
  key: SignatureKey,
): Promise<unknown> {
  if (!isMap(step)) return step
  const { steps } = step
  if (Array.isArray(steps)) {
    const inner = await Promise.all(steps.map((each: unknown) => signAny(each, shared, surroundings, key)))
    return { ...step, steps: inner }
  }
  if (isMap(step['command'])) throw new Error('A step inside of `command` cannot be signed: write it out.')
  if (!['command', 'plugins'].some((name) => Object.hasOwn(step, name))) return step
  const plain = writeOut(step, shared)
  return { ...plain, signature: await signStep(plain, surroundings, key) }
}

function writeOut(step: JsonMap, shared: Secrets): JsonMap {
  const { env, plugins, matrix, secrets, ...rest } = step
  const own = readSecrets(secrets)
  const names = new Set(own.map(({ environment_variable: name }) => name))
  const all = [...own, ...shared.filter(({ environment_variable: name }) => !names.has(name))]
  const parts = {
    env: readEnv(env),
    plugins: readPlugins(plugins),
    matrix: readMatrix(matrix),
    secrets: all.length === 0 ? null : all,
  }
  return { ...rest, ...Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== null)) }
}
