import { readdirSync, readFileSync } from 'node:fs'
import { exportJWK, generateKeyPair } from 'jose'
import { describe, expect, it } from 'vitest'
import { standardVariables } from '@millrace/engine/environment.ts'
import type { JobStep } from '@millrace/protocol/jobs.ts'
import { anAgent } from '../../test/agent.ts'
import type { SignatureKey } from '../signing/keys.ts'
import { signStep } from '../signing/sign.ts'
import { describeNames, isHarmlessUnsigned } from './unsigned-variables.ts'

const person = { name: 'Ada', email: 'ada@example.com', teams: ['everyone'] }

/** Every variable that the server sets by itself. */
const ofServer = standardVariables(
  {
    kind: 'script',
    label: 'Test',
    command: 'true',
    agents: [],
    artifactPaths: 'out/**/*; *.log',
    cache: null,
    checkout: null,
    concurrency: null,
    env: {},
    image: 'debian',
    matrix: null,
    parallel: { index: 0, total: 2 },
    plugins: [{ source: 'a#v1', config: null }],
    priority: 0,
    secrets: {},
    signature: null,
    timeoutMinutes: 5,
  },
  {
    organization: { id: 'o', slug: 'acme' },
    pipeline: {
      id: 'p',
      slug: 'demo',
      name: 'Demo',
      defaultBranch: 'main',
      repository: 'none',
      provider: 'github',
      teams: ['everyone'],
    },
    cluster: { id: 'c', name: 'Default' },
    build: {
      id: 'b',
      number: 1,
      url: 'http://localhost/acme/demo/builds/1',
      branch: 'main',
      commit: 'HEAD',
      message: 'Hello',
      tag: 'v1',
      source: 'api',
      author: person,
      creator: person,
      pullRequest: { id: '7', baseBranch: 'main', repository: 'none', isDraft: false, labels: ['a'] },
      rebuiltFrom: { id: 'r', number: 1 },
      triggeredFrom: { id: 't', number: 1, pipelineSlug: 'other' },
      mergeQueue: { baseBranch: 'main', baseCommit: 'abc' },
      cleanCheckout: true,
    },
    step: { id: 's', key: 'test' },
    group: { id: 'g', key: 'group', label: 'Group' },
    job: { id: 'j', retriesCount: 0, timeoutMinutes: 5 },
    agent: { id: 'a', name: 'tester', tags: ['queue=default', 'os=linux'], isHosted: false },
    access: null,
    unblocker: { ...person, id: 'u' },
  },
)

/** Every name of the agent protocol that our sources mention, and those with which programs run commands or load code. */
const mentioned = readdirSync(new URL('..', import.meta.url), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .flatMap(
    (name) =>
      readFileSync(new URL(`../${name}`, import.meta.url), 'utf8').match(/BUILDKITE_[A-Z_]*[A-Z]/g) ?? [],
  )
const dangerous = [
  'BASH_ENV BASH_FUNC_echo%% ENV IFS PS4 PROMPT_COMMAND SHELLOPTS PATH HOME SHELL ZDOTDIR XDG_CONFIG_HOME TMPDIR',
  'LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GCONV_PATH GLIBC_TUNABLES',
  'GIT_SSH_COMMAND GIT_SSH GIT_ASKPASS GIT_EXEC_PATH GIT_CONFIG_COUNT GIT_CONFIG_GLOBAL GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0',
  'GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_TEMPLATE_DIR SSH_ASKPASS SSH_AUTH_SOCK PAGER EDITOR VISUAL BROWSER',
  'NODE_OPTIONS NODE_PATH PERL5OPT PERL5LIB PYTHONPATH PYTHONSTARTUP PYTHONHOME RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS',
  'MAKEFLAGS MAKEFILES CC CXX LDFLAGS CFLAGS RUSTC_WRAPPER CARGO_BUILD_RUSTC_WRAPPER GOFLAGS npm_config_script_shell',
  'npm_config_registry PIP_INDEX_URL MAVEN_OPTS GRADLE_OPTS DOCKER_HOST DOCKER_CONFIG KUBECONFIG AWS_PROFILE AWS_CONFIG_FILE',
  'HTTPS_PROXY https_proxy ALL_PROXY SSL_CERT_FILE CURL_HOME CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS ANYTHING_ELSE CI_TOKEN',
  'BUILDKITE_PLUGIN_DOCKER_IMAGE BUILDKITE_SOMETHING_NEW BUILDKITE_REFSPEC constructor __proto__ toString',
].flatMap((line) => line.split(' '))

async function aKey(): Promise<SignatureKey> {
  const { privateKey } = await generateKeyPair('EdDSA', { extractable: true })
  return { ...(await exportJWK(privateKey)), kty: 'OKP', alg: 'EdDSA', kid: 'k' }
}

/** The step with its signature, which also covers variables of the pipeline. */
async function sign(step: JobStep, key: SignatureKey, env: Record<string, string> = {}): Promise<JobStep> {
  return { ...step, signature: await signStep(step, { repositoryUrl: 'none', env }, key) }
}

const skip = { checkout: { skip: true } }
const given = { BUILDKITE_REPO: 'none', BUILDKITE_SKIP_CHECKOUT: 'true' }

describe('the variables of a signed job (abuse case R32)', () => {
  it('are harmless where the server sets them, except the image', () => {
    const others = Object.entries(ofServer).filter(([name, value]) => !isHarmlessUnsigned(name, value))
    expect(others.map(([name]) => name)).toEqual(['BUILDKITE_IMAGE'])
  })

  it('that nothing signs reach it only if they are known to be harmless', async () => {
    const key = await aKey()
    const { server } = await anAgent({ verificationKeys: [key] })
    const hostile = '$(echo UNSIGNED >&2; echo /dev/null)'
    const names = [...new Set([...mentioned, ...dangerous])].filter(
      (name) =>
        !Object.hasOwn(given, name) && !/^BUILDKITE_(COMMAND|PLUGINS|IMAGE|JOB_ID|AGENT_NAME)$/.test(name),
    )
    const command = `"${process.execPath}" -p 'JSON.stringify(process.env)'`
    const id = server.offer(
      { ...Object.fromEntries(names.map((name) => [name, hostile])), ...given, BUILDKITE_COMMAND: command },
      { step: await sign({ command, ...skip }, key) },
    )
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    const log = server.log(id)
    const [printed = ''] = /^\{.*\}$/m.exec(log) ?? []
    const seen = new Map(Object.entries(JSON.parse(printed) as Record<string, string>))
    const reached = names.filter((name) => seen.get(name) === hostile)
    expect(reached.filter((name) => !Object.hasOwn(ofServer, name))).toEqual([])
    expect(reached).toContain('BUILDKITE_BRANCH')
    const line = log.split('\n').find((text) => text.includes('that are not signed were left out'))
    expect(line).toContain('more')
    expect(line).not.toContain('UNSIGNED')
    expect(log.replace(printed, '')).not.toMatch(/^UNSIGNED/m)
  })

  it('are those of the signature, with its checkout', async () => {
    const key = await aKey()
    const { server } = await anAgent({ verificationKeys: [key] })
    const command = 'echo "[$ZONE|$REGION|$BASH_ENV]"'
    const step = await sign({ command, env: { ZONE: '7' }, ...skip }, key, { REGION: 'north' })
    const env = { ...given, BUILDKITE_COMMAND: command, ZONE: '7', REGION: 'north', BASH_ENV: '/nowhere' }
    const good = server.offer(env, { step })
    expect(await server.finished(good)).toMatchObject({ exit_status: '0' })
    expect(server.log(good)).toContain('[7|north|]')
    expect(server.log(good)).toContain('# Variables that are not signed were left out: BASH_ENV\n')
    const { BUILDKITE_SKIP_CHECKOUT: _, ...other } = env
    const bad = server.offer({ ...other, BUILDKITE_SKIP_CHECKOUT: 'false' }, { step })
    expect(await server.finished(bad)).toMatchObject({ signal_reason: 'signature_rejected' })
    expect(server.log(bad)).toContain('another value of BUILDKITE_SKIP_CHECKOUT')
  })

  it('come without files of a cache, which nothing signs', async () => {
    const key = await aKey()
    const { server } = await anAgent({ verificationKeys: [key] })
    const step = await sign({ command: 'true', ...skip }, key)
    const id = server.offer(
      { ...given, BUILDKITE_COMMAND: 'true' },
      { step: { ...step, cache: { paths: ['out'] } } },
    )
    expect(await server.finished(id)).toMatchObject({ exit_status: '0' })
    expect(server.log(id)).toContain('# The job runs without a cache, because no signature covers its files')
  })

  it('do not choose an image, which a hook of the owner would start', async () => {
    const key = await aKey()
    const { server } = await anAgent({ verificationKeys: [key] })
    const step = await sign({ command: 'true', ...skip }, key)
    const id = server.offer({ ...given, BUILDKITE_COMMAND: 'true', BUILDKITE_IMAGE: 'evil' }, { step })
    expect(await server.finished(id)).toMatchObject({ signal_reason: 'agent_refused' })
  })
})

it('shows names of variables without what could change the log', () => {
  expect(describeNames(['A', 'B\u001b[2J\n+++ x'])).toBe('A, B??2J?????x')
  expect(describeNames(Array.from({ length: 60 }, (_, index) => `V${index}`))).toMatch(/V49 and 10 more$/)
})

it.each([
  ['out/**/*;*.log', true],
  ['./out/*', true],
  ['/etc/*', false],
  ['out/*; /etc/*', false],
  ['.//etc/*', false],
  ['out/../../*', false],
  ['out\n/etc/*', false],
])('takes the artifact paths %j unsigned: %s', (paths, isTaken) => {
  expect(isHarmlessUnsigned('BUILDKITE_ARTIFACT_PATHS', paths)).toBe(isTaken)
})
