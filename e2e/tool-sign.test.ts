// The public agent signs the steps of a pipeline over GraphQL, and the signed job runs.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { needing } from '../testbed/src/needing.ts'
import { publicAgent, publicAgentLacks } from './conformance/programs.ts'
import { aDirectory, theServer } from './millrace.ts'

const agent = publicAgent()

needing('public-agent', publicAgentLacks).it(
  'tool sign reads and replaces the steps of a pipeline',
  async () => {
    const { url, token } = theServer()
    const folder = aDirectory()
    const [privateKey, publicKey] = [join(folder, 'private.json'), join(folder, 'public.json')]
    const run = (...args: string[]) =>
      execFileSync(agent?.file ?? '', args, { encoding: 'utf8', env: { HOME: folder }, stdio: 'pipe' })
    const keygen = `tool keygen --alg EdDSA --key-id test --private-jwks-file ${privateKey} --public-jwks-file ${publicKey}`
    run(...keygen.split(' '))
    expect(JSON.parse(readFileSync(publicKey, 'utf8'))).toMatchObject({ keys: [{ kid: 'test' }] })

    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const [org] = (await (await fetch(`${url}/v2/organizations`, { headers })).json()) as [{ slug: string }]
    const pipelines = `${url}/v2/organizations/${org.slug}/pipelines`
    const body = {
      name: `Signed ${Date.now()}`,
      repository: 'https://git.example.com/acme/app.git',
      configuration: 'env: {REGION: north}\nsteps:\n  - command: make test\n    key: tests\n',
    }
    const made = await fetch(pipelines, { method: 'POST', headers, body: JSON.stringify(body) })
    const pipeline = (await made.json()) as { slug: string }
    expect(made.status).toBe(201)

    const server = `--graphql-endpoint ${url}/v1/graphql --graphql-token ${token} --organization-slug ${org.slug}`
    const key = `--jwks-file ${privateKey} --jwks-key-id test`
    const sign = `tool sign ${server} --pipeline-slug ${pipeline.slug} ${key}`.split(' ')
    const printed = run(...sign)
    expect(printed).toContain('signed_fields')
    run(...sign, '--update', '--no-confirm')
    const shown = (await (await fetch(`${pipelines}/${pipeline.slug}`, { headers })).json()) as {
      configuration: string
    }
    expect(shown.configuration).toContain('algorithm: EdDSA')
    expect(shown.configuration).toContain('env::REGION')

    const missing = sign.map((word) => (word === pipeline.slug ? 'no-such-pipeline' : word))
    expect(() => run(...missing)).toThrow(/no-such-pipeline/)
  },
)
