import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { findJobFault } from './check-job.ts'
import { isMap, type JsonMap } from '../json-map.ts'
import type { SignatureKey } from './keys.ts'
import { findSignatureFault, signStep } from './sign.ts'
import { signPipeline } from './sign-pipeline.ts'
import { readUploads } from '../in-job/pipeline/read.ts'
import type { JobSignature, JobStep } from '@millrace/protocol/jobs.ts'
import { systemClock } from '../clock.ts'

interface Vector {
  repository: string
  keys: SignatureKey[]
  signed: { env: Record<string, string>; steps: unknown[] }
}

const folder = new URL('../../test/signatures/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const vectorOf = (algorithm: string) => JSON.parse(read(`${algorithm}.json`)) as Vector
const algorithms = ['EdDSA', 'PS512', 'ES512']

type SignedStep = JsonMap & { label: string; signature: JobSignature }

const isSigned = (step: JsonMap): step is SignedStep => 'signature' in step

const signedSteps = (steps: readonly unknown[]): SignedStep[] =>
  steps.filter(isMap).flatMap((step) => {
    if (Array.isArray(step['steps'])) return signedSteps(step['steps'])
    return isSigned(step) ? [step] : []
  })

const named = (vector: Vector, label: string): SignedStep => {
  const found = signedSteps(vector.signed.steps).find((step) => step.label === label)
  if (found === undefined) throw new Error(`No step is called ${label}.`)
  return found
}

const io = {
  env: {},
  cwd: '/',
  readInput: async () => '',
  hasInput: () => false,
  print: () => {},
  printError: () => {},
  clock: systemClock,
}

const upload = async () => {
  const options = { interpolates: true, base: '', listFile: '' }
  const [pipeline] = await readUploads(io, { name: 'pipeline.yml', text: read('pipeline.yml') }, options)
  if (pipeline === undefined) throw new Error('There is no pipeline.')
  return pipeline
}

const [key] = vectorOf('EdDSA').keys as [SignatureKey]

describe.each(algorithms)('%s', (algorithm) => {
  const vector = vectorOf(algorithm)
  const [own] = vector.keys as [SignatureKey]
  const surroundings = { repositoryUrl: vector.repository, env: vector.signed.env }

  it('verifies every step that the public agent has signed', async () => {
    const steps = signedSteps(vector.signed.steps)
    expect(steps).toHaveLength(10)
    for (const step of steps) {
      const fault = await findSignatureFault(step, step.signature, surroundings, vector.keys)
      expect([step.label, fault]).toEqual([step.label, null])
    }
  })

  it('signs the same fields of the same steps, and verifies its own', async () => {
    const ours = await signPipeline(await upload(), vector.repository, own)
    const theirs = signedSteps(vector.signed.steps)
    for (const [index, step] of signedSteps(ours.steps).entries()) {
      expect([step.label, step.signature.signed_fields]).toEqual([
        theirs[index]?.label,
        theirs[index]?.signature.signed_fields,
      ])
      expect(await findSignatureFault(step, step.signature, surroundings, vector.keys)).toBeNull()
    }
  })
})

it('makes the very signatures of the public agent, where the algorithm has no randomness', async () => {
  const vector = vectorOf('EdDSA')
  const ours = signedSteps((await signPipeline(await upload(), vector.repository, key)).steps)
  expect(ours.map(({ label, signature }) => [label, signature.value])).toEqual(
    signedSteps(vector.signed.steps).map(({ label, signature }) => [label, signature.value]),
  )
})

describe('a signature (abuse case R32)', () => {
  const vector = vectorOf('EdDSA')
  const surroundings = { repositoryUrl: vector.repository, env: vector.signed.env }
  const plain = named(vector, 'plain')
  const faultOf = (step: JsonMap, more: Partial<typeof surroundings> = {}) =>
    findSignatureFault(step, plain.signature, { ...surroundings, ...more }, vector.keys)

  it.each<[string, JsonMap]>([
    ['the command', { command: 'rm -rf /' }],
    ['the variables', { env: { ...(plain['env'] as object), RETRIES: '3' } }],
    ['the plugins', { plugins: ['docker#v1'] }],
    ['the matrix', { matrix: ['a'] }],
    ['secrets that were added', { secrets: ['API_KEY'] }],
    ['a checkout that was added', { checkout: { skip: true } }],
  ])('covers %s', async (_, change) => {
    expect(await faultOf(plain)).toBeNull()
    expect(await faultOf({ ...plain, ...change })).not.toBeNull()
  })

  it('covers the repository and the variables of the pipeline, which must all be there', async () => {
    expect(await faultOf(plain, { repositoryUrl: 'git@example.com:evil/app.git' })).not.toBeNull()
    expect(await faultOf(plain, { env: { ...vector.signed.env, TARGET: 'production' } })).not.toBeNull()
    expect(await faultOf(plain, { env: {} })).toBe('the job has no variable COUNT')
  })

  it('is refused when it covers less than it must, or something unknown', async () => {
    const without = plain.signature.signed_fields.filter((field) => field !== 'command')
    const fault = (signed_fields: string[]) =>
      findSignatureFault(plain, { ...plain.signature, signed_fields }, surroundings, vector.keys)
    expect(await fault(without)).toBe('the signature does not cover command')
    expect(await fault([...plain.signature.signed_fields, 'shape'])).toContain('does not know')
  })

  it('is refused when another key made it, also one of the same name', async () => {
    const others = vectorOf('ES512').keys
    expect(await findSignatureFault(plain, plain.signature, surroundings, others)).toContain('a key that')
    const impostor = { ...key, x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }
    expect(await findSignatureFault(plain, plain.signature, surroundings, [impostor])).not.toBeNull()
  })
})

describe('a signed job (abuse case R32)', () => {
  const vector = vectorOf('EdDSA')
  const jobOf = (step: JsonMap, env: Record<string, string>, permutation?: Record<string, string>) => ({
    id: 'job',
    chunks_max_size_bytes: 1,
    step: step as JobStep,
    env: { ...vector.signed.env, BUILDKITE_REPO: vector.repository, ...env },
    ...(permutation === undefined ? {} : { matrix_permutation: permutation }),
  })
  const matrix = named(vector, 'adjusted matrix')
  const linux = { BUILDKITE_COMMAND: 'test windows 22', OS: 'windows' }

  it('runs what its signed step says, with the values of the matrix filled in', async () => {
    const chosen = { os: 'windows', node: '22' }
    expect(await findJobFault(jobOf(matrix, linux, chosen), vector.keys)).toBeNull()
    const other = { ...linux, BUILDKITE_COMMAND: 'test windows 20' }
    expect(await findJobFault(jobOf(matrix, other, chosen), vector.keys)).toBe('the job runs another command')
    expect(await findJobFault(jobOf(matrix, { ...linux, OS: 'mac' }, chosen), vector.keys)).toContain('OS')
  })

  it.each<[string, Record<string, string>]>([
    ['skipped', { os: 'mac', node: '20' }],
    ['skipped with a reason', { os: 'linux', node: '22' }],
    ['not of the matrix', { os: 'plan9', node: '22' }],
    ['of another dimension', { os: 'linux', arch: 'arm' }],
  ])('is refused with values that are %s', async (_, chosen) => {
    const env = { BUILDKITE_COMMAND: `test ${chosen['os']} ${chosen['node']}`, OS: chosen['os'] ?? '' }
    expect(await findJobFault(jobOf(matrix, env, chosen), vector.keys)).toMatch(/matrix/)
  })

  it('is refused with other plugins than its step has', async () => {
    const step = named(vector, 'plugins')
    const env = (plugins: unknown) => ({
      BUILDKITE_COMMAND: 'make',
      BUILDKITE_PLUGINS: JSON.stringify(plugins),
    })
    expect(await findJobFault(jobOf(step, env(step['plugins'])), vector.keys)).toBeNull()
    expect(await findJobFault(jobOf(step, env([])), vector.keys)).toBe('the job has other plugins')
  })

  it('is refused without a signature', async () => {
    expect(await findJobFault(jobOf({ command: 'true' }, {}), vector.keys)).toBe('the job has no signature')
  })
})

it('signs nothing but what it covers, in canonical form', async () => {
  expect(canonicalJson({ b: [1.0, 1e21, 'é\u2028"'], a: { '\ud83d\ude00': 1, '\ufb33': null } })).toBe(
    '{"a":{"\ud83d\ude00":1,"\ufb33":null},"b":[1,1e+21,"é\u2028\\""]}',
  )
  const { signed_fields } = await signStep({ command: 'x' }, { repositoryUrl: 'r', env: {} }, key)
  expect(signed_fields).toEqual(['command', 'env', 'matrix', 'plugins', 'repository_url'])
})
