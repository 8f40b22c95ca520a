// Abuse case R10: only agents that run trusted builds get a password from the URL of a repository.
import { describe, expect, it } from 'vitest'
import { anAgent, anAgentWorld, type AgentWorld } from '../../../../test/agent-client.ts'
import { useApp } from '../../../../test/app.ts'
import { auditTrail } from '../../../../test/builders.ts'

const app = useApp()

const password = 's3cr3t-of-the-repository'
const address = 'https://git.example.com/acme/app.git'
const withPassword = `https://me:${password}@git.example.com/acme/app.git`

async function aPipelineWith(world: AgentWorld, repository: string) {
  const made = await app.request('POST', `${world.org.path}/pipelines`, {
    token: world.admin.token,
    body: {
      name: 'App',
      cluster_id: world.cluster.id,
      repository,
      configuration: 'steps: [{ command: "echo $BUILDKITE_REPO", if: "pipeline.repository != null" }]',
    },
  })
  expect(made.status).toBe(201)
  return { made, path: `${world.org.path}/pipelines/app` }
}

async function repositoryOfJob(world: AgentWorld, path: string, body: object = {}) {
  const { token } = world.admin
  const built = await app.request('POST', `${path}/builds`, {
    token,
    body: { commit: 'HEAD', branch: 'main', ...body },
  })
  expect(built.status).toBe(201)
  const run = await (await anAgent(app, world.token)).begin()
  const env = await app.request('GET', `${world.org.path}/jobs/${run.id}/env`, { token })
  await run.call('PUT', `jobs/${run.id}/finish`, { body: { exit_status: '0' } })
  return {
    toAgent: run.env.BUILDKITE_REPO,
    shown: (env.body.env as { BUILDKITE_REPO?: unknown }).BUILDKITE_REPO,
  }
}

describe('abuse case R10: userinfo in the address of a repository', () => {
  it('is shown nowhere, and given to agents', async () => {
    const world = await anAgentWorld(app)
    const { made, path } = await aPipelineWith(world, withPassword)
    expect(made.body.repository).toBe(address)
    expect(await repositoryOfJob(world, path)).toEqual({ toAgent: withPassword, shown: address })
    const { token } = world.admin
    const texts = await Promise.all(
      [path, `${world.org.path}/pipelines`, `${path}/builds`, `${path}/builds/1`].map(
        async (url) => (await app.request('GET', url, { token })).text,
      ),
    )
    const audited = await auditTrail(app, world.org, 'PIPELINE_CREATED')
    expect([...texts, JSON.stringify(audited), ...app.logLines].join('\n')).not.toContain(password)
  })

  it('is not given to the builds of forks', async () => {
    const world = await anAgentWorld(app)
    const { path } = await aPipelineWith(world, withPassword)
    const fork = { pull_request_id: 7, pull_request_repository: 'https://git.example.com/mallory/app.git' }
    expect((await repositoryOfJob(world, path, fork)).toAgent).toBe(address)
  })

  it('stays when the address is sent back as it is shown, and goes when another is', async () => {
    const world = await anAgentWorld(app)
    const { path } = await aPipelineWith(world, withPassword)
    const patch = async (body: object) => {
      const answer = await app.request('PATCH', path, { token: world.admin.token, body })
      expect(answer.status).toBe(200)
      return (await repositoryOfJob(world, path)).toAgent
    }
    expect(await patch({ description: 'x' })).toBe(withPassword)
    expect(await patch({ repository: address })).toBe(withPassword)
    expect(await patch({ repository: 'https://evil.example.com/app.git' })).toBe(
      'https://evil.example.com/app.git',
    )
    expect(await patch({ repository: address })).toBe(address)
    expect(await patch({ repository: 'https://token@git.example.com/acme/app.git' })).toBe(
      'https://token@git.example.com/acme/app.git',
    )
  })

  it('does not follow a step to another host', async () => {
    const world = await anAgentWorld(app)
    const { path } = await aPipelineWith(world, withPassword)
    const env = { BUILDKITE_REPO: 'https://evil.example.com/app.git' }
    expect((await repositoryOfJob(world, path, { env })).toAgent).not.toMatch(/s3cr3t.*evil/)
  })
})
