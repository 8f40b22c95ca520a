import { describe, expect, it } from 'vitest'
import { aCommand } from '../test/builders.ts'
import { someStandardFacts } from '../test/standard-facts.ts'
import { checkoutVariables, jobEnvironment } from './environment.ts'
import { canonicalPluginSource } from './plugin-source.ts'
import { jobsOf } from './plan/jobs.ts'
import type { Checkout, CommandStep } from './steps/types.ts'
import type { ScriptWork } from './work.ts'

const CHECKOUT: Checkout = {
  skip: null,
  submodules: null,
  lfs: null,
  depth: null,
  flags: {},
  sparsePaths: null,
  sshSecret: null,
  commitVerification: null,
}

function workOf(given: Partial<CommandStep>): ScriptWork {
  const leaf = { id: 's1', position: '0001', step: aCommand('make', given), groupId: null, ignored: null }
  const made = jobsOf(leaf, { mint: () => 'j1', at: 'now', scheduledAt: 'now' })
  const work = made.ok ? made.jobs[0]?.work : undefined
  if (work?.kind !== 'script') throw new Error('Expected a script')
  return work
}

describe('jobEnvironment', () => {
  it('lets each layer beat the one before', () => {
    const env = jobEnvironment({
      stored: { A: 'stored', B: 'stored', C: 'stored', D: 'stored' },
      build: { B: 'build', C: 'build', D: 'build' },
      uploaded: { C: 'uploaded', D: 'uploaded' },
      work: workOf({ env: { D: 'step', CI: 'no' } }),
      standard: someStandardFacts(),
    })
    expect(env).toMatchObject({ A: 'stored', B: 'build', C: 'uploaded', D: 'step', CI: 'true' })
  })

  it('sets what the service knows', () => {
    const env = jobEnvironment({
      stored: {},
      build: {},
      uploaded: {},
      work: workOf({
        label: 'Test',
        image: 'node:24',
        parallelism: 2,
        plugins: [{ source: 'docker#v5', config: { image: 'x' } }],
      }),
      standard: {
        ...someStandardFacts(),
        agent: { id: 'a1', name: 'worker', tags: ['queue=default', 'os-name=linux'], isHosted: false },
      },
    })
    expect(env).toMatchObject({
      BUILDKITE: 'true',
      BUILDKITE_AGENT_META_DATA_OS_NAME: 'linux',
      BUILDKITE_BUILD_CREATOR_TEAMS: 'web',
      BUILDKITE_BUILD_NUMBER: '7',
      BUILDKITE_COMMAND: 'make',
      BUILDKITE_COMPUTE_TYPE: 'self-hosted',
      BUILDKITE_IMAGE: 'node:24',
      BUILDKITE_LABEL: 'Test',
      BUILDKITE_PARALLEL_JOB: '0',
      BUILDKITE_PARALLEL_JOB_COUNT: '2',
      BUILDKITE_PLUGINS: '[{"github.com/buildkite-plugins/docker-buildkite-plugin#v5":{"image":"x"}}]',
      BUILDKITE_PULL_REQUEST: 'false',
      BUILDKITE_RETRY_COUNT: '0',
      BUILDKITE_STEP_KEY: 'test',
      BUILDKITE_TIMEOUT: 'false',
    })
    expect(env).not.toHaveProperty('BUILDKITE_UNBLOCKER')
  })
})

describe('checkoutVariables', () => {
  it('lets switches beat the step and flags yield to it', () => {
    const checkout: Checkout = {
      ...CHECKOUT,
      skip: true,
      lfs: false,
      flags: { clean: '-ffxdq', clone: '-q' },
    }
    const written = { BUILDKITE_SKIP_CHECKOUT: 'false', BUILDKITE_GIT_CLEAN_FLAGS: '-n' }
    expect(checkoutVariables(checkout, written)).toEqual({
      BUILDKITE_SKIP_CHECKOUT: 'true',
      BUILDKITE_GIT_LFS_ENABLED: 'false',
      BUILDKITE_GIT_CLONE_FLAGS: '-q',
    })
  })

  it('adds the depth to whatever flags are in force', () => {
    expect(checkoutVariables({ ...CHECKOUT, depth: 5 }, { BUILDKITE_GIT_CLONE_FLAGS: '-q' })).toEqual({
      BUILDKITE_GIT_CLONE_FLAGS: '-q --depth=5',
      BUILDKITE_GIT_FETCH_FLAGS: '-v --prune --depth=5',
    })
  })
})

describe('canonicalPluginSource', () => {
  it.each([
    ['docker#v1', 'github.com/buildkite-plugins/docker-buildkite-plugin#v1'],
    ['acme/x#v1', 'github.com/acme/x-buildkite-plugin#v1'],
    ['docker', 'github.com/buildkite-plugins/docker-buildkite-plugin'],
    ['example.com/acme/x#v1', 'example.com/acme/x#v1'],
    ['https://example.com/x.git#v1', 'https://example.com/x.git#v1'],
    ['./local', './local'],
    ['/opt/plugin', '/opt/plugin'],
  ])('%s is %s', (source, expected) => {
    expect(canonicalPluginSource(source)).toBe(expected)
  })
})
